// RUN: fleet-opt %s --fleet-add-loss --fleet-autodiff --fleet-gradient-merge=micro-batches=2 --fleet-clip=global-norm=0.1 --fleet-optimizer=name=adamw --canonicalize -o %t.step
// RUN: fleet-opt %t.step --fleet-apply-strategy="dp=2 pp=2" --fleet-propagate-sharding --fleet-split-stages="starts=m" --fleet-partition --canonicalize --cse --fleet-outline-tasks -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: fleet-interp %t.step --random --steps 3 --compare %t
// RUN: fleet-opt %t.step --fleet-apply-strategy="sharding=2 pp=2" --fleet-propagate-sharding --fleet-split-stages="starts=m" --fleet-partition --canonicalize --cse --fleet-outline-tasks -o %t.zero
// RUN: fleet-interp %t.step --random --steps 3 --compare %t.zero

// A tied embedding on two stages: both hold it, exchange the terms of its gradient before they reduce, and make the same update.
// CHECK: fleet.program @stage0
// CHECK-DAG: fleet.slot gradient @[[OURS:.*]] : tensor<6x4xf32> {fleet.to_stages = array<i64: 1>}
// CHECK-DAG: fleet.slot parameter @wte
// CHECK-DAG: fleet.slot gradient @[[THEIRS:.*]] : tensor<6x4xf32> from_stage = 1
// CHECK: fleet.program @stage1
// CHECK: fleet.slot parameter @wte
module attributes {fleet.level = 1 : i32, fleet.schedule = {kind = "constant", lr = 5.0e-2 : f64}} {
  func.func @model(%ids: tensor<8xi64> {fleet.input = "ids", fleet.range = [0, 6]}, %wte: tensor<6x4xf32> {fleet.param = "wte"},
                   %m: tensor<4x4xf32> {fleet.param = "m"}) -> (tensor<8x6xf32> {fleet.output = "logits"}) {
    %0 = fleet.gather %wte, %ids : (tensor<6x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
    %1 = fleet.dot_general %0, %m contract = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %2 = fleet.tanh %1 : tensor<8x4xf32>
    %3 = fleet.dot_general %2, %wte contract = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    return %3 : tensor<8x6xf32>
  }
}
