//===- TensorParallel.h - Megatron's shardings found, not told -*- C++ -*-===//
//
// Where to cut parameters over the model-parallel axis when the user says nothing but the degree.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_ANALYSIS_TENSORPARALLEL_H
#define FLEET_ANALYSIS_TENSORPARALLEL_H

#include "fleet/Analysis/Propagation.h"

namespace fleet {

/// Cuts parameters of `func` over `axis` (Shoeybi et al., 2019), running `propagation` after each decision. A library
/// call on a parameter is cut by columns when the cut dimension flows, untouched by anything that needs it whole, to a
/// contraction with another parameter (which propagation then cuts by rows) or to a loss that combines sharded classes. A
/// lookup table is cut by rows when it has more elements than what is looked up. Fails, with an error at the operation,
/// when a cut would be right but the degree does not divide a size on its way (a head count), and when nothing can be
/// cut at all.
llvm::LogicalResult seedTensorParallel(mlir::FunctionOpInterface func,
                                       Propagation &propagation,
                                       llvm::StringRef axis);

} // namespace fleet

#endif // FLEET_ANALYSIS_TENSORPARALLEL_H
