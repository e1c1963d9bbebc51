// Scans with lags inside each other: the range of a loop of the grid depends on one that stands inside of a third.
//
// RUN: ft-run %s --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %s --engine=emulate --dim L=1 --compare=interpret | FileCheck %s
// RUN: ft-run %s --engine=emulate --dim L=11 --plan-seed=3 --compare=interpret | FileCheck %s
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s -o /dev/null
// CHECK: {{^equal$}}
!x = tensor<7xf32>
func.func @f(%ws: !ft.list<[8], !x>, %xs: !ft.list<[L], !x>) -> !ft.list<[8, L], !x> attributes {ft.lengths = {L = 6 : i64}} {
  %a = arith.constant dense<3.0> : !x
  %hs, %r = ft.scanl (%w = %ws : !ft.list<[8], !x>) init (%s = %a : !x) lag 2 {
    %5 = ft.scanl (%y = %xs : !ft.list<[L], !x>) init (%t = %a : !x) lag 3 {
      %n = arith.mulf %t, %a : !x
      ft.yield %n : !x
    }
    %6 = arith.subf %s, %w : !x
    ft.yield %6 : !x emit %5 : !ft.list<[L], !x>
  }
  return %r : !ft.list<[8, L], !x>
}
