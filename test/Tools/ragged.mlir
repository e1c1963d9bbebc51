// Ragged lists: generated, written, read again, compared; refused by the graph where nothing pads them
// (ragged-cpu.mlir).
//
// RUN: rm -rf %t && mkdir %t
// RUN: ft-run %s --engine=interpret --compare=truth --seed=4 --out=%t/sums.npy --out=%t/scaled.npy --out=%t/offsets.npy | FileCheck %s
// RUN: ft-run %s --engine=interpret --compare=truth --dim N=0 | FileCheck %s --check-prefix=EMPTY
// RUN: ft-run %s --engine=interpret --dim r=0 | FileCheck %s --check-prefix=NONE
//
// The results are arguments again: values, then lengths, then offsets.
// RUN: ft-run %s --engine=interpret --arg=%t/scaled.npy --arg=%t/sums.npy --arg=%t/offsets.npy --out=%t/again.npy | FileCheck %s --check-prefix=AGAIN
// RUN: %python -c "import numpy as n, sys; o, v, s = (n.load(p) for p in sys.argv[1:]); print(all(n.allclose(v[o[i]:o[i+1]].sum(0), s[i]) for i in range(len(s))), len(o), len(v) == o[-1])" %t/offsets.npy %t/scaled.npy %t/again.npy | FileCheck %s --check-prefix=NUMPY
//
// RUN: not ft-run %s --engine=interpret --arg=%t/scaled.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not ft-run %s --engine=interpret --arg=%t/sums.npy --arg=%t/sums.npy --arg=%t/offsets.npy 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not ft-run %s --engine=interpret --arg=%t/scaled.npy --arg=%t/sums.npy --arg=%t/sums.npy 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not ft-run %s --engine=interpret --arg=%t/scaled.npy --arg=%t/sums.npy --arg=%t/offsets.npy --dim N=5 2>&1 | FileCheck %s --check-prefix=LENGTH
// RUN: not ft-opt %s --convert-ft-to-etdg 2>&1 | FileCheck %s --check-prefix=GRAPH

// CHECK: result 0 4x2xf32: equal
// CHECK: result 1 [[T:[0-9]+]]x2xf32: equal
// CHECK: result 2 5xi64: equal
// EMPTY: result 0 0x2xf32
// EMPTY: result 1 0x2xf32
// EMPTY: result 2 1xi64
// NONE: result 1 0x2xf32
// AGAIN: result 0 4x2xf32
// NUMPY: True 5 True
// MISSING: ragged.mlir:[[#@LINE+9]]:{{[0-9]+}}: error: argument 0 is given by '{{.*}}scaled.npy': expected the offsets of ragged(r), too, as a further --arg
// WRONG: ragged.mlir:[[#@LINE+8]]:{{[0-9]+}}: error: argument 0: expected {{[0-9]+}}x2xf32, found 4x2xf32
// TYPE: ragged.mlir:[[#@LINE+7]]:{{[0-9]+}}: error: the offsets of ragged(r): {{.*}}: wrong element type: expected ?xi64, found 4x2xf32
// LENGTH: ragged.mlir:[[#@LINE+6]]:{{[0-9]+}}: error: two lengths for 'N': 5 from --dim, 4
// GRAPH: ragged.mlir:[[#@LINE+8]]:{{[0-9]+}}: error: uses the ragged list !ft.list<[N, ragged(r)], tensor<2xf32>>: ragged levels are interpreted, but have no affine domain

!x = tensor<2xf32>
!r = !ft.list<[N, ragged(r)], !x>

func.func @sums(%xss: !r, %ns: !ft.list<[N], !x>) -> (!ft.list<[N], !x>, !r)
    attributes {ft.lengths = {N = 4 : i64, r = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %s, %d = ft.map (%xs, %n = %xss, %ns : !r, !ft.list<[N], !x>) -> !ft.list<[N], !x>, !r {
    %sum = ft.foldl (%x = %xs : !ft.list<[ragged(r)], !x>) init (%a = %zero : !x) -> !x {
      %u = arith.addf %a, %x : !x
      ft.yield %u : !x
    }
    %same = ft.map (%x = %xs : !ft.list<[ragged(r)], !x>) -> !ft.list<[ragged(r)], !x> {
      %u = arith.addf %x, %zero : !x
      ft.yield %u : !x
    }
    ft.yield %sum, %same : !x, !ft.list<[ragged(r)], !x>
  }
  return %s, %d : !ft.list<[N], !x>, !r
}
