//===- FleetOps.td - All operations of the fleet dialect -------*- tablegen -*-===//
//
// The one file that tablegen reads.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_FLEET_FLEETOPS_TD
#define FLEET_DIALECT_FLEET_FLEETOPS_TD

include "fleet/Dialect/Fleet/FleetElementwiseOps.td"
include "fleet/Dialect/Fleet/FleetNetworkOps.td"
include "fleet/Dialect/Fleet/FleetProgramOps.td"
include "fleet/Dialect/Fleet/FleetShapeOps.td"

#endif // FLEET_DIALECT_FLEET_FLEETOPS_TD
