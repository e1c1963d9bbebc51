// The greatest or least element: of what is computed of elements, of tensors by elements, in a softmax; of no element.
// RUN: %python %ft_src/scripts/gradients.py --build %ft_build --dims "L=0,N=1" --dims "L=1,N=2" --dims "L=7,N=3" %s | FileCheck %s
// CHECK: {{^[1-9][0-9]*}} checked, 0 wrong{{$}}
// Neither direction has an order: what was a fold is maps and sums.
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=softmax},canonicalize,cse)' | FileCheck %s --check-prefix=ORDER
// ORDER-LABEL: func.func @softmax_backward
// ORDER-NOT: ft.fold
// ORDER-NOT: ft.scan
// ORDER-LABEL: func.func @flash
// Elements that are computed again may round in another way, so the greatest is taken of them again. Of saved ones it is the result.
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=squared},canonicalize,cse)' | FileCheck %s --check-prefix=AGAIN
// AGAIN: func.func @squared_backward({{.*}}ft.residuals = ["argument 0"]
// AGAIN: arith.mulf
// AGAIN: ft.reduce
// AGAIN: arith.maximumf
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=squared save=all},canonicalize,cse)' | FileCheck %s --check-prefix=SAVED
// SAVED: func.func @squared_backward({{.*}}ft.residuals = ["saved 0", "result 0"
// SAVED-NOT: arith.maximumf %s

!x = tensor<3xf32>
!s = tensor<f32>

func.func @least(%xs: !ft.list<[L], !x>, %h0: !x, %c: !x) -> !x {
  %m = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) -> !x {
    %p = arith.mulf %x, %c : !x
    %t = math.sin %p : !x
    %n = arith.minimumf %t, %s : !x
    ft.yield %n : !x
  }
  return %m : !x
}

func.func @softmax(%qs: !ft.list<[N], !x>, %ks: !ft.list<[L], !x>, %vs: !ft.list<[L], !s>) -> !ft.list<[N], !s> {
  %os = ft.map (%q = %qs : !ft.list<[N], !x>) -> !ft.list<[N], !s> {
    %zero = arith.constant dense<0.0> : !s
    %low = arith.constant dense<-9.0> : !s
    %m = ft.reduce (%k = %ks : !ft.list<[L], !x>) init (%s = %low : !s) -> !s {
      %t = linalg.dot ins(%q, %k : !x, !x) outs(%zero : !s) -> !s
      %n = arith.maximumf %s, %t : !s
      ft.yield %n : !s
    } combine (%a, %b) {
      %n = arith.maximumf %a, %b : !s
      ft.yield %n : !s
    }
    %es = ft.map (%k = %ks : !ft.list<[L], !x>) -> !ft.list<[L], !s> {
      %t = linalg.dot ins(%q, %k : !x, !x) outs(%zero : !s) -> !s
      %d = arith.subf %t, %m : !s
      %e = math.exp %d : !s
      ft.yield %e : !s
    }
    %l = ft.reduce (%e = %es : !ft.list<[L], !s>) init (%s = %zero : !s) -> !s {
      %n = arith.addf %s, %e : !s
      ft.yield %n : !s
    }
    %o = ft.reduce (%e, %v = %es, %vs : !ft.list<[L], !s>, !ft.list<[L], !s>) init (%s = %zero : !s) -> !s {
      %p = arith.mulf %e, %v : !s
      %n = arith.addf %s, %p : !s
      ft.yield %n : !s
    } combine (%a, %b) {
      %n = arith.addf %a, %b : !s
      ft.yield %n : !s
    }
    %one = arith.constant dense<1.0> : !s
    %safe = arith.addf %l, %one : !s
    %r = arith.divf %o, %safe : !s
    ft.yield %r : !s
  }
  return %os : !ft.list<[N], !s>
}

// Sums that follow a running maximum: the same, from a fold whose states wait for each other.
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=flash},canonicalize,cse)' | FileCheck %s --check-prefix=FLASH
// FLASH-LABEL: func.func @flash_backward
// FLASH-NOT: ft.foldl
// FLASH-NOT: ft.foldr
// FLASH-LABEL: func.func private @other
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
!q = tensor<2x3xf32>
!p = tensor<2x2xf32>
!r = tensor<2xf32>
func.func @flash(%qs: !ft.list<[N], !q>, %ks: !ft.list<[L], !q>, %vs: !ft.list<[L], !q>) -> (!ft.list<[N], !q>, !ft.list<[N], !r>) {
  %os, %ms = ft.map (%q = %qs : !ft.list<[N], !q>) -> !ft.list<[N], !q>, !ft.list<[N], !r> {
    %low = arith.constant dense<-9.0> : !r
    %one = arith.constant dense<1.0> : !r
    %zo = arith.constant dense<0.5> : !q
    %zp = arith.constant dense<0.0> : !p
    %mf, %sf, %of = ft.foldl (%k, %v = %ks, %vs : !ft.list<[L], !q>, !ft.list<[L], !q>) init (%m, %s, %o = %low, %one, %zo : !r, !r, !q) -> !r, !r, !q {
      %st = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !q, !q) outs(%zp : !p) -> !p
      %m1 = linalg.reduce { arith.maximumf } ins(%st : !p) outs(%m : !r) dimensions = [1]
      %pe = tensor.empty() : !p
      %mb = linalg.broadcast ins(%m1 : !r) outs(%pe : !p) dimensions = [1]
      %d = arith.subf %st, %mb : !p
      %p = math.exp %d : !p
      %dm = arith.subf %m, %m1 : !r
      %fix = math.exp %dm : !r
      %s0 = arith.mulf %s, %fix : !r
      %s1 = linalg.reduce { arith.addf } ins(%p : !p) outs(%s0 : !r) dimensions = [1]
      %oe = tensor.empty() : !q
      %fixb = linalg.broadcast ins(%fix : !r) outs(%oe : !q) dimensions = [1]
      %o0 = arith.mulf %o, %fixb : !q
      %o1 = linalg.matmul ins(%p, %v : !p, !q) outs(%o0 : !q) -> !q
      ft.yield %m1, %s1, %o1 : !r, !r, !q
    }
    %e = tensor.empty() : !q
    %sfb = linalg.broadcast ins(%sf : !r) outs(%e : !q) dimensions = [1]
    %r = arith.divf %of, %sfb : !q
    ft.yield %r, %mf : !q, !r
  }
  return %os, %ms : !ft.list<[N], !q>, !ft.list<[N], !r>
}

// What does not follow the maximum stays a fold: the exponent is squared.
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=other},canonicalize,cse)' | FileCheck %s --check-prefix=OTHER
// OTHER-LABEL: func.func @other_backward
// OTHER: ft.foldr
func.func private @other(%xs: !ft.list<[L], !s>) -> !s {
  %low = arith.constant dense<-9.0> : !s
  %one = arith.constant dense<1.0> : !s
  %m, %s = ft.foldl (%x = %xs : !ft.list<[L], !s>) init (%m, %s = %low, %one : !s, !s) -> !s, !s {
    %m1 = arith.maximumf %m, %x : !s
    %d = arith.subf %x, %m1 : !s
    %p = math.exp %d : !s
    %pp = arith.mulf %p, %p : !s
    %dm = arith.subf %m, %m1 : !s
    %fix = math.exp %dm : !s
    %s0 = arith.mulf %s, %fix : !s
    %s1 = arith.addf %s0, %pp : !s
    ft.yield %m1, %s1 : !s, !s
  }
  return %s : !s
}

func.func @squared(%xs: !ft.list<[L], !x>) -> !x {
  %low = arith.constant dense<-9.0> : !x
  %ys = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %y = arith.mulf %x, %x : !x
    ft.yield %y : !x
  }
  %m = ft.reduce (%y = %ys : !ft.list<[L], !x>) init (%s = %low : !x) -> !x {
    %t = arith.maximumf %s, %y : !x
    ft.yield %t : !x
  }
  return %m : !x
}

// o / s and m + log s are the same for each maximum: nothing is compared with it. A sum by itself is not.
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=online},canonicalize,cse)' | FileCheck %s --check-prefix=FREE
// FREE-LABEL: func.func @online_backward
// FREE-NOT: arith.cmpf
// FREE-LABEL: func.func @partial(
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=partial},canonicalize,cse)' | FileCheck %s --check-prefix=BOUND
// BOUND: func.func @partial_backward
// BOUND: arith.cmpf oeq
func.func @online(%xss: !ft.list<[L], tensor<3x4xf32>>, %vs: !ft.list<[L], tensor<4x3xf32>>) -> (tensor<3x3xf32>, !x) {
  %low = arith.constant dense<-9.0> : !x
  %one = arith.constant dense<1.0> : !x
  %none = arith.constant dense<0.0> : tensor<3x3xf32>
  %m, %s, %o = ft.foldl (%x, %v = %xss, %vs : !ft.list<[L], tensor<3x4xf32>>, !ft.list<[L], tensor<4x3xf32>>) init (%m, %s, %o = %low, %one, %none : !x, !x, tensor<3x3xf32>) -> !x, !x, tensor<3x3xf32> {
    %m1 = linalg.reduce { arith.maximumf } ins(%x : tensor<3x4xf32>) outs(%m : !x) dimensions = [1]
    %e = tensor.empty() : tensor<3x4xf32>
    %mb = linalg.broadcast ins(%m1 : !x) outs(%e : tensor<3x4xf32>) dimensions = [1]
    %d = arith.subf %x, %mb : tensor<3x4xf32>
    %p = math.exp %d : tensor<3x4xf32>
    %dm = arith.subf %m, %m1 : !x
    %fix = math.exp %dm : !x
    %s0 = arith.mulf %s, %fix : !x
    %s1 = linalg.reduce { arith.addf } ins(%p : tensor<3x4xf32>) outs(%s0 : !x) dimensions = [1]
    %oe = tensor.empty() : tensor<3x3xf32>
    %fb = linalg.broadcast ins(%fix : !x) outs(%oe : tensor<3x3xf32>) dimensions = [1]
    %o0 = arith.mulf %o, %fb : tensor<3x3xf32>
    %o1 = linalg.matmul ins(%p, %v : tensor<3x4xf32>, tensor<4x3xf32>) outs(%o0 : tensor<3x3xf32>) -> tensor<3x3xf32>
    ft.yield %m1, %s1, %o1 : !x, !x, tensor<3x3xf32>
  }
  %e = tensor.empty() : tensor<3x3xf32>
  %sb = linalg.broadcast ins(%s : !x) outs(%e : tensor<3x3xf32>) dimensions = [1]
  %r = arith.divf %o, %sb : tensor<3x3xf32>
  %log = math.log %s : !x
  %lse = arith.addf %m, %log : !x
  return %r, %lse : tensor<3x3xf32>, !x
}

// The quotient's rows are divided by other rows' sums, so that the maximum stays in it.
func.func @partial(%xss: !ft.list<[L], tensor<3x4xf32>>, %vs: !ft.list<[L], tensor<4x3xf32>>) -> tensor<3x3xf32> {
  %low = arith.constant dense<-9.0> : !x
  %one = arith.constant dense<1.0> : !x
  %none = arith.constant dense<0.0> : tensor<3x3xf32>
  %m, %s, %o = ft.foldl (%x, %v = %xss, %vs : !ft.list<[L], tensor<3x4xf32>>, !ft.list<[L], tensor<4x3xf32>>) init (%m, %s, %o = %low, %one, %none : !x, !x, tensor<3x3xf32>) -> !x, !x, tensor<3x3xf32> {
    %m1 = linalg.reduce { arith.maximumf } ins(%x : tensor<3x4xf32>) outs(%m : !x) dimensions = [1]
    %e = tensor.empty() : tensor<3x4xf32>
    %mb = linalg.broadcast ins(%m1 : !x) outs(%e : tensor<3x4xf32>) dimensions = [1]
    %d = arith.subf %x, %mb : tensor<3x4xf32>
    %p = math.exp %d : tensor<3x4xf32>
    %dm = arith.subf %m, %m1 : !x
    %fix = math.exp %dm : !x
    %s0 = arith.mulf %s, %fix : !x
    %s1 = linalg.reduce { arith.addf } ins(%p : tensor<3x4xf32>) outs(%s0 : !x) dimensions = [1]
    %oe = tensor.empty() : tensor<3x3xf32>
    %fb = linalg.broadcast ins(%fix : !x) outs(%oe : tensor<3x3xf32>) dimensions = [1]
    %o0 = arith.mulf %o, %fb : tensor<3x3xf32>
    %o1 = linalg.matmul ins(%p, %v : tensor<3x4xf32>, tensor<4x3xf32>) outs(%o0 : tensor<3x3xf32>) -> tensor<3x3xf32>
    ft.yield %m1, %s1, %o1 : !x, !x, tensor<3x3xf32>
  }
  %e = tensor.empty() : tensor<3x3xf32>
  %sb = linalg.broadcast ins(%s : !x) outs(%e : tensor<3x3xf32>) dimensions = [0]
  %r = arith.divf %o, %sb : tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// Factors that don't telescope with the terms: of another base, or broadcast along another dimension. These stay folds.
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=bases},canonicalize,cse)' | FileCheck %s --check-prefix=BASES
// BASES-LABEL: func.func @bases_backward
// BASES: ft.foldr
func.func @bases(%xs: !ft.list<[L], !x>) -> !x {
  %low = arith.constant dense<-9.0> : !x
  %one = arith.constant dense<1.0> : !x
  %m, %s = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%m, %s = %low, %one : !x, !x) -> !x, !x {
    %m1 = arith.maximumf %m, %x : !x
    %d = arith.subf %x, %m1 : !x
    %p = math.exp %d : !x
    %dm = arith.subf %m, %m1 : !x
    %fix = math.exp2 %dm : !x
    %s0 = arith.mulf %s, %fix : !x
    %s1 = arith.addf %s0, %p : !x
    ft.yield %m1, %s1 : !x, !x
  }
  return %s : !x
}

// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=crossed},canonicalize,cse)' | FileCheck %s --check-prefix=CROSSED
// CROSSED-LABEL: func.func @crossed_backward
// CROSSED: ft.foldr
func.func @crossed(%xs: !ft.list<[L], tensor<3x3xf32>>) -> tensor<3x3xf32> {
  %low = arith.constant dense<-9.0> : !x
  %none = arith.constant dense<0.0> : tensor<3x3xf32>
  %m, %s = ft.foldl (%x = %xs : !ft.list<[L], tensor<3x3xf32>>) init (%m, %s = %low, %none : !x, tensor<3x3xf32>) -> !x, tensor<3x3xf32> {
    %m1 = linalg.reduce { arith.maximumf } ins(%x : tensor<3x3xf32>) outs(%m : !x) dimensions = [1]
    %e = tensor.empty() : tensor<3x3xf32>
    %mb = linalg.broadcast ins(%m1 : !x) outs(%e : tensor<3x3xf32>) dimensions = [1]
    %d = arith.subf %x, %mb : tensor<3x3xf32>
    %p = math.exp %d : tensor<3x3xf32>
    %dm = arith.subf %m, %m1 : !x
    %fix = math.exp %dm : !x
    %fb = linalg.broadcast ins(%fix : !x) outs(%e : tensor<3x3xf32>) dimensions = [0]
    %s0 = arith.mulf %s, %fb : tensor<3x3xf32>
    %s1 = arith.addf %s0, %p : tensor<3x3xf32>
    ft.yield %m1, %s1 : !x, tensor<3x3xf32>
  }
  return %s : tensor<3x3xf32>
}
