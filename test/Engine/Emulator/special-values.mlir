// Elementary functions in f32 where they have no number, none that is finite, or 0, beside the interpreter's; the quotient of a logistic
// function, which a GPU computes without a branch, at the ends of its range, too.
//
// RUN: %python -c "import numpy as np; np.save('%t.npy', np.array([-1, np.inf, -np.inf, np.nan, 0, 1, -2, 88.5, -88.5, 200, -200, 1e-30, -1e-30, 3e38, -3e38, 0.5], 'f4'))"
// RUN: ft-run %s --engine=emulate --compare=interpret --arg=%t.npy | FileCheck %s
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s | FileCheck %s --check-prefix=PTX
// CHECK-COUNT-8: equal:
// CHECK: {{^equal$}}

// Branches would keep a thread from computing several of them at a time.
// PTX-NOT: div.rn
// PTX-NOT: rcp.rn

!x = tensor<16xf32>

func.func @f(%x: !x) -> (!x, !x, !x, !x, !x, !x, !x, !x) {
  %one = arith.constant dense<1.0> : !x
  %half = arith.constant dense<-0.5> : !x
  %log1p = math.log1p %x : !x
  %log = math.log %x : !x
  %exp = math.exp %x : !x
  %expm1 = math.expm1 %x : !x
  %tanh = math.tanh %x : !x
  %erf = math.erf %x : !x
  %negative = arith.negf %x : !x
  %power = math.exp %negative : !x
  %sum = arith.addf %power, %one : !x
  %logistic = arith.divf %one, %sum : !x
  %scaled = arith.divf %half, %sum : !x
  return %log1p, %log, %exp, %expm1, %tanh, %erf, %logistic, %scaled : !x, !x, !x, !x, !x, !x, !x, !x
}
