// The call's lengths choose among variants on the CPU, too: a branch of the program, and of the launch plan.
//
// RUN: ft-opt %s --convert-etdg-to-loops | FileCheck %s
// CHECK-LABEL: loops.program @choose lengths ["N"]
// CHECK: %[[n:.*]] = loops.length "N"
// CHECK: loops.variants [#etdg.guard<[N] below 4>, #etdg.guard<[N] below 16>] {
// CHECK-NEXT: loops.launch @choose_k0(
// CHECK-NEXT: {{^ *}, {$}}
// CHECK-NEXT: loops.launch @choose_k1(
// CHECK-NEXT: {{^ *}, {$}}
// CHECK-NEXT: loops.launch @choose_k2(
// CHECK-NEXT: {{^ *}$}}
// Each has the loops of its own schedule.
// CHECK: func.func @choose_k0(
// CHECK: scf.forall
// CHECK: func.func @choose_k1(
// CHECK: loops.chunks {{.*}} most 3 level <core, dynamic>
// CHECK: func.func @choose_k2(
// CHECK: loops.chunks {{.*}} most 5 level <core, dynamic>
//
// (They differ in what they compute, so that one sees which of them ran: no engine may rely on that.)
// RUN: %ft_bin/ft-run %s --entry=choose --engine=cpu --dim N=3 --out=%t.3.npy
// RUN: %ft_bin/ft-run %s --entry=choose --engine=cpu --dim N=4 --out=%t.4.npy
// RUN: %ft_bin/ft-run %s --entry=choose --engine=cpu --dim N=15 --out=%t.15.npy --order=random --seed=5
// RUN: %ft_bin/ft-run %s --entry=choose --engine=cpu --dim N=16 --out=%t.16.npy
// RUN: %python -c "import numpy, sys; [print(n, sorted(set(numpy.load(sys.argv[1] + '.' + n + '.npy').ravel().tolist()))) for n in sys.argv[2:]]" %t 3 4 15 16 | FileCheck %s --check-prefix=RAN
// RAN: {{^}}3 [1]
// RAN-NEXT: {{^}}4 [2]
// RAN-NEXT: 15 [2]
// RAN-NEXT: 16 [3]
//
// A variant that the engine can't run is refused, whichever it is.
// RUN: sed 's/level = core>\]/level = grid>]/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: the CPU engine can't run the schedule's loop over i (level grid)

!x = tensor<4xi32>

etdg.graph @choose(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> attributes {ft.lengths = {N = 9 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.variants when <[N] below 4> {
    etdg.block @few [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core>]> {
      %y = arith.constant dense<1> : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  } else when <[N] below 16> {
    etdg.block @some [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = ?, most = 3, kind = parallel, level = core, mapping = dynamic>, <dimension = 0, most = 3, kind = parallel, level = rows>]> {
      %y = arith.constant dense<2> : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  } else {
    etdg.block @many [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = ?, most = 5, kind = parallel, level = core, mapping = dynamic>, <dimension = 0, most = 5, kind = parallel, level = rows>]> {
      %y = arith.constant dense<3> : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}
