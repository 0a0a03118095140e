// RUN: fleet-opt %S/Inputs/mlp.mlir --fleet-add-loss --fleet-autodiff --fleet-gradient-merge --fleet-optimizer=name=momentum -o %t
// RUN: fleet-opt %t --fleet-apply-strategy="dp=2 mp=2" | FileCheck %s --check-prefix=MP
// RUN: fleet-opt %t --fleet-apply-strategy="dp=2 sharding=4 order=sharding,dp,pp,sep,mp" | FileCheck %s --check-prefix=ZERO
// RUN: fleet-opt %t --fleet-apply-strategy="mp=2 pins=net.0.weight=[{},{}]" | FileCheck %s --check-prefix=PIN
// RUN: not fleet-opt %t --fleet-apply-strategy="mp=5" 2>&1 | FileCheck %s --check-prefix=HEADS
// RUN: not fleet-opt %t --fleet-apply-strategy="dp=3" 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not fleet-opt %t --fleet-apply-strategy="mp=2 pins=net.9=[{mp}]" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not fleet-opt %t --fleet-apply-strategy="mp=2 pins=net.0.bias=[{xp}]" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not fleet-opt %t --fleet-apply-strategy="mp=2 pins=net.0.bias=mp" 2>&1 | FileCheck %s --check-prefix=FORM

// Column, then row: the first weight by its outputs, the second by its inputs; state follows.
// MP: fleet.mesh @mesh ["dp" = 2, "pp" = 1, "sharding" = 1, "sep" = 1, "mp" = 2]
// MP: {fleet.input = "x", fleet.sharding = #fleet.sharding<@mesh, [{dp}, {}]>}
// MP-SAME: {fleet.param = "net.0.weight", fleet.sharding = #fleet.sharding<@mesh, [{}, {mp}]>}
// MP-SAME: {fleet.param = "net.0.bias", fleet.sharding = #fleet.sharding<@mesh, [{mp}]>}
// MP-SAME: {fleet.param = "net.2.weight", fleet.sharding = #fleet.sharding<@mesh, [{mp}, {}]>}
// MP-SAME: {fleet.of = "net.0.weight", fleet.sharding = #fleet.sharding<@mesh, [{}, {mp}]>, fleet.state = "velocity"}

// Parameters stay whole, state is cut along the outermost dimension that divides, the batch over both data axes.
// ZERO: fleet.mesh @mesh ["sharding" = 4, "dp" = 2, "pp" = 1, "sep" = 1, "mp" = 1]
// ZERO: {fleet.input = "x", fleet.sharding = #fleet.sharding<@mesh, [{dp, sharding}, {}]>}
// ZERO-SAME: {fleet.param = "net.0.weight", fleet.sharding = #fleet.sharding<@mesh, [{}, {}]>}
// ZERO-SAME: {fleet.of = "net.0.weight", fleet.sharding = #fleet.sharding<@mesh, [{sharding}, {}]>, fleet.state = "velocity"}

// A pin goes before: the first layer stays whole, and the second is cut over the classes of the loss.
// PIN: {fleet.param = "net.0.weight", fleet.sharding = #fleet.sharding<@mesh, [{}, {}]>}
// PIN-SAME: {fleet.param = "net.2.weight", fleet.sharding = #fleet.sharding<@mesh, [{}, {mp}]>}

// HEADS: error: mp_degree 5 does not divide 32, a size of 'tensor<8x32xf32>' on the way of parameter 'net.0.weight' (heads or columns)
// BATCH: error: batch 8 does not split over dp_degree 3 x sharding_degree 1 x 1 micro-batches
// NAME: error: sharding of 'net.9': no parameter, input or value has that name
// AXIS: error: sharding of 'net.0.bias': mesh @mesh has no axis 'xp'
// FORM: error: sharding of 'net.0.bias': cannot read 'mp', expected a form like [{dp}, {mp}]
