// What elements of a list are given by several loops is summed over the outer one: of what makes it, where that is less.
// RUN: %python %ft_src/scripts/gradients.py --build %ft_build --dims "L=0,N=1" --dims "L=3,N=2" --options "" --options save=all %s | FileCheck %s
// CHECK: 0 wrong
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=scores},canonicalize,cse)' | FileCheck %s --check-prefix=LESS
// One number for each pair leaves the loops, not the gradient of an element for each.
// LESS: func.func @scores_backward
// LESS-NOT: !ft.list<[N, L], tensor<3xf32>>
// LESS: return

!x = tensor<3xf32>
!s = tensor<f32>

func.func @scores(%qs: !ft.list<[N], !x>, %ks: !ft.list<[L], !x>) -> !ft.list<[N, L], !s> {
  %zero = arith.constant dense<0.0> : !s
  %os = ft.map (%q = %qs : !ft.list<[N], !x>) -> !ft.list<[N, L], !s> {
    %es = ft.map (%k = %ks : !ft.list<[L], !x>) -> !ft.list<[L], !s> {
      %t = linalg.dot ins(%q, %k : !x, !x) outs(%zero : !s) -> !s
      %e = math.sin %t : !s
      ft.yield %e : !s
    }
    ft.yield %es : !ft.list<[L], !s>
  }
  return %os : !ft.list<[N, L], !s>
}

// A sum, whose cotangent is no state: the same for all elements.
func.func @weighted(%qs: !ft.list<[N], !x>, %ks: !ft.list<[L], !x>) -> !ft.list<[N], !x> {
  %zero = arith.constant dense<0.0> : !s
  %none = arith.constant dense<0.0> : !x
  %os = ft.map (%q = %qs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %o = ft.reduce (%k = %ks : !ft.list<[L], !x>) init (%sum = %none : !x) -> !x {
      %t = linalg.dot ins(%q, %k : !x, !x) outs(%zero : !s) -> !s
      %e = math.sin %t : !s
      %empty = tensor.empty() : !x
      %b = linalg.broadcast ins(%e : !s) outs(%empty : !x) dimensions = [0]
      %w = arith.mulf %b, %k : !x
      %n = arith.addf %sum, %w : !x
      ft.yield %n : !x
    }
    ft.yield %o : !x
  }
  return %os : !ft.list<[N], !x>
}
