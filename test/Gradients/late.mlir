// Gradients of weights that are made outside of loops: of elements of a list, in nested operators, also at lengths 0 and 1.
//
// RUN: %python %ft_src/scripts/gradients.py --build %ft_build --dims "N=2,D=3,L=4" --dims "N=0,D=1,L=3" --dims "N=3,D=2,L=0" --dims "N=1,D=0,L=1" %s | FileCheck %s
// RUN: %python %ft_src/scripts/gradients.py --build %ft_build --engine=cpu --dims "N=3,D=2,L=17" %s | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=late},canonicalize,cse)' | FileCheck %s --check-prefix=OUTSIDE
// CHECK: 0 wrong

!x = tensor<1x3xf32>
!w = tensor<3x3xf32>

// No list of weights leaves the loop over L, and products are summed where they are made.
// OUTSIDE-LABEL: func.func @late_backward
// OUTSIDE:         ft.foldr {{.*}} init ({{.*}} : tensor<1x3xf32>) -> tensor<1x3xf32>, {{(!ft.list<.L(, 2)?., tensor<1x3xf32>>(, )?)+}} {
// OUTSIDE:         ft.transpose
// OUTSIDE:         ft.reduce
// OUTSIDE:           linalg.generic
// OUTSIDE:         } combine
func.func @late(%xss: !ft.list<[N, L], !x>, %wss: !ft.list<[D, 3], !w>, %u: !w) -> !ft.list<[N, D, L], !x>
    attributes {ft.lengths = {N = 2 : i64, D = 3 : i64, L = 4 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %r = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, D, L], !x> {
    %hss = ft.scanl (%ws = %wss : !ft.list<[D, 3], !w>) init (%below = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
      %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
        %two = ft.slice %ws[0 to 2] : !ft.list<[3], !w>
        %last = ft.at %ws[2] : !ft.list<[3], !w>
        %gs = ft.map (%w = %two : !ft.list<[2], !w>) -> !ft.list<[2], !x> {
          %g = linalg.matmul ins(%x, %w : !x, !w) outs(%zero : !x) -> !x
          ft.yield %g : !x
        }
        %a = ft.at %gs[0] : !ft.list<[2], !x>
        %b = ft.at %gs[1] : !ft.list<[2], !x>
        %hu = linalg.matmul ins(%h, %u : !x, !w) outs(%a : !x) -> !x
        %hw = linalg.matmul ins(%h, %last : !x, !w) outs(%b : !x) -> !x
        %t = math.tanh %hu : !x
        %s = math.sin %hw : !x
        %m = arith.mulf %t, %s : !x
        ft.yield %m : !x
      }
      ft.yield %hs : !ft.list<[L], !x>
    }
    ft.yield %hss : !ft.list<[D, L], !x>
  }
  return %r : !ft.list<[N, D, L], !x>
}
