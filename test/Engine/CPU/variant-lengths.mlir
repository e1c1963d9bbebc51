// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each variant is planned for lengths at which it runs: one row's columns are shared out, of many rows the rows are.
//
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-schedule-for-cpu{machine=%S/../../machines/cpu.json threads=2},etdg-validate))" | FileCheck %s
// Where the call's lengths are known they are those of all variants.
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-schedule-for-cpu{machine=%S/../../machines/cpu.json threads=2 lengths=N=1}))" | FileCheck %s --check-prefix=KNOWN

!x = tensor<1x512xf32>
!w = tensor<512x512xf32>

// CHECK-LABEL: etdg.graph @rows
// CHECK: etdg.variants when <[N] below 2> {
// CHECK: etdg.block @few
// CHECK: loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, tile = {{[0-9]+}}, kind = parallel, level = core, mapping = block>] columns = 512
// CHECK: } else {
// CHECK: etdg.block @many
// CHECK: loops = [<dimension = 0, tile = ?, {{.*}}<dimension = 0, most = {{[0-9]+}}, kind = parallel, level = rows>]
// KNOWN: etdg.block @few
// KNOWN: loops = [<dimension = 0, kind = sequential, sync = cores>
// KNOWN: etdg.block @many
// KNOWN: loops = [<dimension = 0, kind = sequential, sync = cores>
etdg.graph @rows(%xs: !etdg.buffer<[N], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N], !x> attributes {ft.lengths = {N = 256 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.variants when <[N] below 2> {
    etdg.block @few [map] (i) in [0, N) reads (%x = %xs[i] : !x, %m = %w[] : !w) writes (%ys[i]) {
      %zero = arith.constant dense<0.0> : !x
      %y = linalg.matmul ins(%x, %m : !x, !w) outs(%zero : !x) -> !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N], !x>
  } else {
    etdg.block @many [map] (i) in [0, N) reads (%x = %xs[i] : !x, %m = %w[] : !w) writes (%ys[i]) {
      %zero = arith.constant dense<0.0> : !x
      %y = linalg.matmul ins(%x, %m : !x, !w) outs(%zero : !x) -> !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N], !x>
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}
