// The validator follows each phase; off, it says so; a failure leaves the graph in a file.
// RUN: ft-opt %s --ft-compile="from=etdg to=storage skip=reorder" 2>&1 | FileCheck %s --check-prefix=ON
// RUN: ft-opt %s --ft-compile="from=etdg to=storage skip=reorder validate=off" 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: not ft-opt %s --ft-compile="validate=maybe" 2>&1 | FileCheck %s --check-prefix=BAD
// ON-NOT: validate=off
// ON: etdg.graph @race
// ON-NOT: validate=off
// OFF: remark: validate=off: the schedules and storage of this program are not proved
// BAD: error: ft-compile: validate: expected on or off, found 'maybe'

// RUN: sed -e 's/kind = sequential/kind = parallel/' %s > %t.mlir
// RUN: not ft-opt %t.mlir --ft-compile="from=reorder to=reorder" 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not ft-opt %t.mlir --ft-compile="from=etdg to=schedule" 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: sed -e 's/kind = parallel/kind = parallel, level = core/' %t.mlir | not ft-opt --ft-compile="from=schedule to=target" 2>&1 | FileCheck %s --check-prefix=LEVEL

// A schedule that something wrote is theirs to mend.
// PHASE: pipeline.mlir.tmp.mlir:[[#]]:[[#]]: error: the schedule breaks a dependence: (T2) block @r: read 1, piece 1 reads an element of a buffer of type !etdg.buffer<[L], tensor<1xf32>> while another iteration of the parallel loop 'k' writes it; for example at L = 2, k = 1, k' = 0
// PHASE: note: it is written here, write 0 of block @r
// PHASE-NOT: {{internal error|bug in the compiler}}
// LEVEL: error: the schedule breaks a dependence: (T2) {{.*}} while another iteration of the parallel loop 'k' (level core) writes it
// LEVEL-NOT: {{internal error|bug in the compiler}}

// What a phase makes of a graph is the compiler's: here, a pass that a user calls one.
// RUN: not ft-opt %t.mlir --etdg-validate-phase=phase=reorder 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: error: internal error: after phase 'reorder': (T2) block @r: read 1, piece 1 reads an element
// OWN: note: this is a bug in the compiler; the graph is in {{.*}}ft-validate{{.*}}.mlir

// RUN: not ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-validate{reproducer=%t.rep.mlir}))"
// RUN: not ft-opt %t.rep.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-validate{reproducer=none}))" 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: internal error: (T2) block @r: read 1, piece 1 reads an element
// AGAIN-NOT: the graph is in
etdg.graph @race(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  etdg.block @r [scanl] (k) in [0, L)
      reads (%x = %xs[k] : tensor<1xf32>, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[k - 1]} : tensor<1xf32>)
      writes (%ys[k]) schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, kind = sequential>]> {
    %y = arith.addf %x, %s : tensor<1xf32>
    etdg.yield %y : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
}
