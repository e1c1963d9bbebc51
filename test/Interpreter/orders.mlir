// Every order gives the same numbers, and what a graph declares wrongly fails in
// the declared order alone.
//
// RUN: ft-run %s --entry=scan --engine=interpret --order=dataflow --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=scan --engine=interpret --order=random --seed=3 --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=scan --engine=interpret --order=declared --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=scan --engine=interpret --order=declared --dim L=1 --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=scan --engine=interpret --order=declared --dim L=0 --compare=interpret | FileCheck %s
// CHECK: equal
//
// RUN: ft-run %s --entry=planted --engine=interpret --order=dataflow --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=planted --engine=interpret --order=random --compare=interpret | FileCheck %s
// RUN: not ft-run %s --entry=planted --engine=interpret --order=declared --seed=1 2>&1 | FileCheck %s --check-prefix=PLANTED
// RUN: not ft-run %s --entry=planted --engine=interpret --order=declared --seed=2 2>&1 | FileCheck %s --check-prefix=PLANTED
// PLANTED: orders.mlir:[[#]]:[[#]]: error: @rest at (i = {{[1-4]}}) reads %ys[{{[0-3]}}]
// PLANTED: orders.mlir:[[#]]:[[#]]: note: the buffer is here
//
// RUN: not ft-run %s --entry=skewed --engine=interpret --order=declared 2>&1 | FileCheck %s --check-prefix=SKEWED
// RUN: ft-run %s --entry=skewed --engine=interpret --order=dataflow --compare=interpret | FileCheck %s
// SKEWED: error: @rest at (i = 4) reads %ys[3] before it is written in the declared order

!x = tensor<i32>
!b = !etdg.buffer<[L], !x>

etdg.graph @scan(%xs: !b) -> !b attributes {ft.lengths = {L = 5 : i64}} {
  %ys = etdg.buffer {name_hint = "ys"} : !b
  etdg.nest {
    etdg.block @first [scanl] (i) in [0, min(1, L)) reads (%x = %xs[i] : !x, %s = splat 1 : i32 : !x) writes (%ys[i]) {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !b, !b
    etdg.block @rest [scanl] (i) in [1, L) reads (%x = %xs[i] : !x, %s = %ys[i - 1] : !x) writes (%ys[i]) {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !b, !b
  }
  etdg.return %ys : !b
}

// The same with `map` where `scanl` belongs.
etdg.graph @planted(%xs: !b) -> !b attributes {ft.lengths = {L = 5 : i64}} {
  %ys = etdg.buffer {name_hint = "ys"} : !b
  etdg.nest {
    etdg.block @first [map] (i) in [0, min(1, L)) reads (%x = %xs[i] : !x, %s = splat 1 : i32 : !x) writes (%ys[i]) {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !b, !b
    etdg.block @rest [map] (i) in [1, L) reads (%x = %xs[i] : !x, %s = %ys[i - 1] : !x) writes (%ys[i]) {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !b, !b
  }
  etdg.return %ys : !b
}

// The same with a schedule that runs backwards.
etdg.graph @skewed(%xs: !b) -> !b attributes {ft.lengths = {L = 5 : i64}} {
  %ys = etdg.buffer {name_hint = "ys"} : !b
  etdg.nest schedule <map = affine_map<(i) -> (-i)>, loops = [<dimension = 0, kind = sequential>]> {
    etdg.block @first [scanl] (i) in [0, min(1, L)) reads (%x = %xs[i] : !x, %s = splat 1 : i32 : !x) writes (%ys[i]) {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !b, !b
    etdg.block @rest [scanl] (i) in [1, L) reads (%x = %xs[i] : !x, %s = %ys[i - 1] : !x) writes (%ys[i]) {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !b, !b
  }
  etdg.return %ys : !b
}
