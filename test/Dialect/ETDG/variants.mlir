// One of several ways to compute the same, chosen by the call's lengths.
//
// RUN: ft-opt %s | ft-opt | FileCheck %s
// RUN: ft-opt %s --mlir-print-op-generic | ft-opt | FileCheck %s
// RUN: ft-opt %s --etdg-verify --etdg-validate --etdg-storage | FileCheck %s
// CHECK-LABEL: etdg.graph @f
// CHECK: etdg.variants when <[N, L - 1] or [L] below 4> {
// CHECK: sync = grid
// CHECK: } else {
// CHECK-NOT: sync = grid
// CHECK: etdg.return

// Both are in the launch plan, and lengths on either side of the guard take one each.
// RUN: env FT_NO_PTXAS=1 ft-translate --mlir-to-bundle --target=sm_90a %s | FileCheck %s --check-prefix=PLAN
// PLAN: "step":"branch"
// PLAN: "otherwise":[
// RUN: %ft_bin/ft-run %s --entry=f --engine=emulate --dim N=2 --dim L=9 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=f --engine=emulate --dim N=9 --dim L=3 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal
//
// The interpreter takes any of them in an order that is drawn, each being right for all lengths.
// RUN: %ft_bin/ft-run %s --entry=f --engine=interpret --order=declared --seed=1 --dim N=9 --dim L=5 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=f --engine=interpret --order=declared --seed=2 --dim N=9 --dim L=5 --compare=interpret | FileCheck %s --check-prefix=EQUAL
//
// Each of them is proved: here the second shares out what runs in order.
// RUN: sed 's/level = grid>, <dimension = 1, kind = sequential>/level = grid>, <dimension = 1, kind = parallel>/' %s | not ft-opt --etdg-validate=reproducer=none 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: internal error{{.*}}(T2)

!x = tensor<1x8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> attributes {ft.lengths = {N = 9 : i64, L = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.variants when <[N, L - 1] or [L] below 4> {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 1, kind = sequential, sync = grid>, <dimension = 0, kind = parallel, level = grid>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  } else {
    etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
        reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 65536>> {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// Several lengths at once: a guard of which each bound has to hold, for the code that runs it. (Variants differ in what they compute, so that
// one sees which of them ran: no engine may rely on that.)
// CHECK-LABEL: etdg.graph @several
// CHECK: etdg.variants when <[N] below 4 and [L] from 3> {
// RUN: %ft_bin/ft-run %s --entry=several --engine=cpu --dim N=3 --dim L=3 --out=%t.3.3.npy
// RUN: %ft_bin/ft-run %s --entry=several --engine=cpu --dim N=3 --dim L=2 --out=%t.3.2.npy
// RUN: %ft_bin/ft-run %s --entry=several --engine=cpu --dim N=4 --dim L=3 --out=%t.4.3.npy
// RUN: %ft_bin/ft-run %s --entry=several --engine=interpret --order=dataflow --dim N=3 --dim L=3 --out=%t.i.3.3.npy
// RUN: %ft_bin/ft-run %s --entry=several --engine=interpret --order=dataflow --dim N=3 --dim L=2 --out=%t.i.3.2.npy
// RUN: %ft_bin/ft-run %s --entry=several --engine=interpret --order=dataflow --dim N=4 --dim L=3 --out=%t.i.4.3.npy
// RUN: %python -c "import numpy, sys; [print(n, sorted(set(numpy.load(sys.argv[1] + '.' + n + '.npy').ravel().tolist()))) for n in sys.argv[2:]]" %t 3.3 3.2 4.3 i.3.3 i.3.2 i.4.3 | FileCheck %s --check-prefix=RAN
// RAN: {{^}}3.3 [1]
// RAN-NEXT: {{^}}3.2 [2]
// RAN-NEXT: {{^}}4.3 [2]
// RAN-NEXT: {{^}}i.3.3 [1]
// RAN-NEXT: {{^}}i.3.2 [2]
// RAN-NEXT: {{^}}i.4.3 [2]

!y = tensor<4xi32>

etdg.graph @several(%xs: !etdg.buffer<[N, L], !y>) -> !etdg.buffer<[N, L], !y> attributes {ft.lengths = {N = 9 : i64, L = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !y>
  etdg.variants when <[N] below 4 and [L] from 3> {
    etdg.block @few [map, map] (i, k) in [0, N) x [0, L) reads (%x = %xs[i, k] : !y) writes (%ys[i, k]) {
      %y = arith.constant dense<1> : !y
      etdg.yield %y : !y
    } : !etdg.buffer<[N, L], !y>, !etdg.buffer<[N, L], !y>
  } else {
    etdg.block @many [map, map] (i, k) in [0, N) x [0, L) reads (%x = %xs[i, k] : !y) writes (%ys[i, k]) {
      %y = arith.constant dense<2> : !y
      etdg.yield %y : !y
    } : !etdg.buffer<[N, L], !y>, !etdg.buffer<[N, L], !y>
  }
  etdg.return %ys : !etdg.buffer<[N, L], !y>
}
