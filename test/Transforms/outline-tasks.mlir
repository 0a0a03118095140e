// RUN: fleet-opt %S/Inputs/mlp.mlir --fleet-add-loss --fleet-autodiff --fleet-gradient-merge=micro-batches=2 --fleet-clip=global-norm=0.5 --fleet-optimizer=name=momentum --canonicalize -o %t.step
// RUN: fleet-opt %t.step --fleet-apply-strategy="dp=2 pp=2" --fleet-propagate-sharding --fleet-split-stages="starts=net.2.weight" --fleet-partition --canonicalize --cse --fleet-outline-tasks -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: fleet-interp %t.step --random --steps 3 --compare %t

// CHECK: fleet.program @stage0 on @mesh stage = 0 micro_batches = 2
// CHECK: fleet.slot activation @[[A:.*]] : tensor<2x32xf32> per_micro_batch {fleet.to_stages = array<i64: 1>}
// CHECK: fleet.slot activation @[[G:.*]] : tensor<2x32xf32> per_micro_batch from_stage = 1
// CHECK: fleet.task @forward forward reads({{.*}}@x : tensor<2x16xf32>
// CHECK: fleet.task @backward backward_input
// Each stage adds up its own squares and gets the other's.
// CHECK: fleet.task @update_0 update
// CHECK: fleet.task @update_1 update
// CHECK: fleet.program @stage1 on @mesh stage = 1 micro_batches = 2
// CHECK: fleet.slot output @out_loss
// The count of labels is taken where the loss is, over all data-parallel ranks.
// CHECK: fleet.task @prologue prologue reads({{.*}}@labels : tensor<4xi64>)
// CHECK: fleet.all_reduce sum {{.*}} axes = {dp}
