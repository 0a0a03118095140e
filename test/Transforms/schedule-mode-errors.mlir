// RUN: not fleet-opt %s --fleet-schedule=mode=ZB-V 2>&1 | FileCheck %s
// CHECK: error: schedule mode 'ZB-V' is not known, expected 1F1B or F-then-B

fleet.mesh @mesh ["pp" = 1]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 1 {
}
