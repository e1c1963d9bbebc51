// Pieces of a list or tensor: side by side, with a gap, overlapping, one in another; what is stopped.
// RUN: %python %ft_src/scripts/gradients.py --build %ft_build --dims "L=2,M=3" --dims "L=7,M=5" %s | FileCheck %s
// CHECK: 0 wrong
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=apart},canonicalize,cse)' | FileCheck %s --check-prefix=APART
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=gates},canonicalize,cse)' | FileCheck %s --check-prefix=GATES
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=stopped},canonicalize,cse)' | FileCheck %s --check-prefix=STOPPED

!x = tensor<3xf32>

// Places that do not overlap: one concatenation, no addition.
// APART-LABEL: func.func @apart_backward
// APART-NOT: arith.addf
// APART: ft.concat
// APART-NOT: arith.addf
// APART: return
func.func @apart(%xs: !ft.list<[L], !x>) -> (!x, !ft.list<[floordiv(L, 2)], !x>) attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %a = ft.at %xs[0] : !ft.list<[L], !x>
  %s = ft.slice %xs[1 to floordiv(L, 2) + 1] : !ft.list<[L], !x>
  %m = ft.map (%x = %s : !ft.list<[floordiv(L, 2)], !x>) -> !ft.list<[floordiv(L, 2)], !x> {
    %e = math.sin %x : !x
    ft.yield %e : !x
  }
  %b = math.exp %a : !x
  return %b, %m : !x, !ft.list<[floordiv(L, 2)], !x>
}

func.func @overlapping(%xs: !ft.list<[L], !x>) -> (!ft.list<[L - 1], !x>, !ft.list<[L - 1], !x>, !x) attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %a = ft.slice %xs[0 to L - 1] : !ft.list<[L], !x>
  %b = ft.slice %xs[1 to L] : !ft.list<[L], !x>
  %c = ft.at %xs[-1] : !ft.list<[L], !x>
  %d = ft.at %xs[1] : !ft.list<[L], !x>
  %e = arith.mulf %c, %d : !x
  return %a, %b, %e : !ft.list<[L - 1], !x>, !ft.list<[L - 1], !x>, !x
}

// GATES-LABEL: func.func @gates_backward
// GATES: tensor.insert_slice
// GATES: tensor.insert_slice
// GATES-NOT: arith.addf
// GATES: return
func.func @gates(%x: tensor<6xf32>) -> !x {
  %a = tensor.extract_slice %x[0] [3] [1] : tensor<6xf32> to !x
  %b = tensor.extract_slice %x[3] [3] [1] : tensor<6xf32> to !x
  %c = arith.mulf %a, %b : !x
  return %c : !x
}

func.func @shared(%x: tensor<6xf32>) -> !x {
  %a = tensor.extract_slice %x[0] [3] [1] : tensor<6xf32> to !x
  %b = tensor.extract_slice %x[2] [3] [1] : tensor<6xf32> to !x
  %c = arith.mulf %a, %b : !x
  return %c : !x
}

// x · stop(x): the gradient is x, not 2x.
// STOPPED-LABEL: func.func @stopped_backward
// STOPPED: arith.mulf
// STOPPED-NOT: arith.addf
// STOPPED: return
func.func private @stopped(%x: !x) -> !x {
  %s = ft.stop_gradient %x : !x
  %y = arith.mulf %x, %s : !x
  return %y : !x
}
