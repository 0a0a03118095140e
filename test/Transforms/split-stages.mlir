// RUN: fleet-opt %S/Inputs/mlp.mlir --fleet-add-loss --fleet-autodiff --fleet-gradient-merge --fleet-optimizer --fleet-apply-strategy="pp=2" --fleet-propagate-sharding -o %t
// RUN: fleet-opt %t --fleet-split-stages="starts=net.2.weight" | FileCheck %s
// RUN: fleet-opt %t --fleet-split-stages | FileCheck %s --check-prefix=COST
// RUN: not fleet-opt %t --fleet-split-stages="starts=net.7.weight" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not fleet-opt %t --fleet-split-stages="starts=net.0.weight" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not fleet-opt %t --fleet-split-stages="starts=net.2.weight,net.2.weight" 2>&1 | FileCheck %s --check-prefix=COUNT

// A backward operation stands where the operation that it differentiates does.
// CHECK: fleet.relu {{.*}}fleet.stage = 0 : i64
// CHECK: fleet.dot_general {{.*}}fleet.origin = 4 : i64, fleet.phase = #fleet.phase<forward>{{.*}}fleet.stage = 1 : i64
// CHECK: fleet.cross_entropy_grad {{.*}}fleet.stage = 1 : i64
// CHECK: fleet.dot_general {{.*}}fleet.origin = 4 : i64, fleet.phase = #fleet.phase<backward_input>{{.*}}fleet.stage = 1 : i64
// CHECK: fleet.select {{.*}}fleet.stage = 0 : i64

// COST: fleet.stage = 0 : i64
// COST: fleet.stage = 1 : i64

// NAME: error: stage start 'net.7.weight' is no parameter or value of the forward program
// ORDER: error: stage start 'net.0.weight' does not come after the start of the stage before
// COUNT: error: pp_degree 2 needs 1 stage starts, got 2
