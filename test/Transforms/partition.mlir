// RUN: fleet-opt %S/Inputs/mlp.mlir --fleet-add-loss --fleet-autodiff --fleet-gradient-merge=micro-batches=2 --fleet-clip=global-norm=0.5 --fleet-optimizer=name=adamw --canonicalize -o %t.step
// RUN: fleet-opt %t.step --fleet-apply-strategy="dp=2 mp=2" --fleet-propagate-sharding --fleet-partition -o %t.mp
// RUN: FileCheck %s --input-file=%t.mp
// RUN: fleet-interp %t.step --random --steps 3 --compare %t.mp
// RUN: fleet-opt %t.step --fleet-apply-strategy="dp=2 sharding=2" --fleet-propagate-sharding --fleet-partition -o %t.zero
// RUN: FileCheck %s --input-file=%t.zero --check-prefix=ZERO
// RUN: fleet-interp %t.step --random --steps 3 --compare %t.zero
// RUN: fleet-opt %t.step --fleet-apply-strategy="mp=4 pins=net.0.weight=[{mp:0},{mp:1}]" --fleet-propagate-sharding --fleet-partition -o %t.pin
// RUN: fleet-interp %t.step --random --steps 3 --compare %t.pin

// One all_reduce of activations forward, none backward (the input has no gradient); gradients once, behind the micro-batches.
// CHECK: fleet.accumulate
// CHECK: fleet.all_reduce sum %{{.*}} axes = {mp} {{.*}} tensor<2x4xf32>
// CHECK-NOT: fleet.all_reduce
// CHECK: fleet.yield
// CHECK: fleet.all_reduce sum {{.*}} axes = {dp}
// CHECK: fleet.all_reduce sum {{.*}} axes = {mp} {{.*}} tensor<f32>

// ZeRO stage 1: terms of the gradient are scattered over the axis that cuts the state, and parameters gathered after the update.
// ZERO: fleet.reduce_scatter sum {{.*}} axes = {sharding}
// ZERO: fleet.shard_slice
// ZERO: fleet.adam {{.*}}tensor<8x32xf32>
// ZERO: fleet.all_gather {{.*}} axes = {sharding}
