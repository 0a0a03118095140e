// RUN: fleet-opt %S/Inputs/mlp.mlir --fleet-add-loss --fleet-autodiff --fleet-gradient-merge --fleet-clip --fleet-optimizer --fleet-apply-strategy="dp=2 mp=2" --fleet-propagate-sharding | FileCheck %s

// The table of docs/levels.md: a weight gradient is a term of a sum over dp inside, and reduced once behind.
// CHECK: fleet.accumulate
// CHECK: fleet.dot_general {{.*}}fleet.shardings = [#fleet.sharding<@mesh, [{dp}, {mp}]>]{{.*}} -> tensor<8x32xf32>
// CHECK: fleet.dot_general {{.*}}fleet.shardings = [#fleet.sharding<@mesh, [{dp}, {}]>]{{.*}} -> tensor<8x4xf32>
// CHECK: fleet.cross_entropy {{.*}}fleet.shardings = [#fleet.sharding<@mesh, [], unreduced sum {dp}>, #fleet.sharding<@mesh, [{dp}]>]
// CHECK: fleet.dot_general {{.*}}fleet.shardings = [#fleet.sharding<@mesh, [{mp}, {}], unreduced sum {dp}>]{{.*}} -> tensor<32x4xf32>
// CHECK: fleet.reduce sum {{.*}}fleet.shardings = [#fleet.sharding<@mesh, [{mp}], unreduced sum {dp}>]
// CHECK: fleet.dot_general {{.*}}fleet.shardings = [#fleet.sharding<@mesh, [{}, {mp}], unreduced sum {dp}>]{{.*}} -> tensor<16x32xf32>
// CHECK: } 
// CHECK: fleet.reduce sum {{.*}}fleet.shardings = [#fleet.sharding<@mesh, [], unreduced sum {mp}>]
// CHECK: fleet.sum {{.*}}fleet.shardings = [#fleet.sharding<@mesh, []{{.*}}
