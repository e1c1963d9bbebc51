// What items of a kernel read of each other: its shared loops say what is written before (V4).
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-verify))' --split-input-file --verify-diagnostics -o %t.mlir
// RUN: ft-opt %s --split-input-file -o %t.all.mlir && sed '/^\/\/ -----/,$d' %t.all.mlir > %t.first.mlir
// RUN: ft-opt %t.first.mlir --pass-pipeline='builtin.module(etdg.graph(etdg-validate,etdg-storage,etdg-validate))' -o /dev/null
// RUN: ft-run %t.first.mlir --engine=interpret --order=declared --compare=interpret --dim L=7
// RUN: ft-run %t.first.mlir --engine=cpu --compare=interpret --dim L=1
// RUN: ft-run %t.first.mlir --engine=cpu --compare=interpret --dim L=127

#t = affine_map<(k) -> (k)>
!x = tensor<1xi32>
// Each nest needs the other: a[k] needs b[k - 1], which needs a[k - 1]. Only in step is there an order.
etdg.graph @coupled(%xs: !etdg.buffer<[L], !x>) -> (!etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>) {
  %a = etdg.buffer : !etdg.buffer<[L], !x>
  %b = etdg.buffer : !etdg.buffer<[L], !x>
  etdg.kernel shared 1 {
    etdg.block @p [scanl] (k) in [0, L)
        reads (%x = %xs[k] : !x, %s = {k >= 1: %b[k - 1], k = 0: splat 1 : i32} : !x)
        writes (%a[k]) schedule <map = #t, loops = [<dimension = 0, kind = sequential>]> {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
    etdg.block @q [scanl] (k) in [0, L)
        reads (%x = %a[k] : !x, %s = {k >= 1: %b[k - 1], k = 0: splat 2 : i32} : !x)
        writes (%b[k]) schedule <map = #t, loops = [<dimension = 0, kind = sequential>]> {
      %y = arith.subi %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  }
  etdg.return %a, %b : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
}

// -----
#t = affine_map<(k) -> (k)>
!x = tensor<1xi32>
// The second reads one step ahead of the first.
etdg.graph @ahead(%xs: !etdg.buffer<[L], !x>) -> (!etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>) {
  %a = etdg.buffer : !etdg.buffer<[L], !x>
  %b = etdg.buffer : !etdg.buffer<[L], !x>
  etdg.kernel shared 1 {
    // expected-note @+1 {{it is written here, write 0 of block @p}}
    etdg.block @p [scanl] (k) in [0, L)
        reads (%x = %xs[k] : !x, %s = {k >= 1: %b[k - 1], k = 0: splat 1 : i32} : !x)
        writes (%a[k]) schedule <map = #t, loops = [<dimension = 0, kind = sequential>]> {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
    // expected-error @+1 {{(V4) read 0 reads an element of a buffer of type !etdg.buffer<[L], tensor<1xi32>> before it is written; for example at L = 2, k = 0}}
    etdg.block @q [scanl] (k) in [0, L)
        reads (%x = {k + 1 < L: %a[k + 1], k + 1 = L: splat 0 : i32} : !x, %s = {k >= 1: %b[k - 1], k = 0: splat 2 : i32} : !x)
        writes (%b[k]) schedule <map = #t, loops = [<dimension = 0, kind = sequential>]> {
      %y = arith.subi %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  }
  etdg.return %a, %b : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
}

// -----
#t = affine_map<(k) -> (k)>
!x = tensor<1xi32>
// Nothing is shared: the first would have to wait for all of the second.
etdg.graph @one_after_the_other(%xs: !etdg.buffer<[L], !x>) -> (!etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>) {
  %a = etdg.buffer : !etdg.buffer<[L], !x>
  %b = etdg.buffer : !etdg.buffer<[L], !x>
  etdg.kernel shared 0 {
    // expected-error @+1 {{(V4) read 1 reads an element of a buffer of type !etdg.buffer<[L], tensor<1xi32>> before it is written; for example at L = 2, k = 1}}
    etdg.block @p [scanl] (k) in [0, L)
        reads (%x = %xs[k] : !x, %s = {k >= 1: %b[k - 1], k = 0: splat 1 : i32} : !x)
        writes (%a[k]) schedule <map = #t, loops = [<dimension = 0, kind = sequential>]> {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
    // expected-note @+1 {{it is written here, write 0 of block @q}}
    etdg.block @q [scanl] (k) in [0, L)
        reads (%x = %a[k] : !x, %s = {k >= 1: %b[k - 1], k = 0: splat 2 : i32} : !x)
        writes (%b[k]) schedule <map = #t, loops = [<dimension = 0, kind = sequential>]> {
      %y = arith.subi %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  }
  etdg.return %a, %b : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
}
