// Which rows of a leaf one call computes: a decision of the phase storage, which the loops obey, and which is refused where accesses don't allow it.
//
// RUN: ft-opt %s --etdg-choose-leaf-rows | FileCheck %s
// RUN: ft-opt %s --etdg-choose-leaf-rows --remarks-filter="storage" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TOLD --implicit-check-not=remark:
// RUN: ft-opt %s --etdg-choose-leaf-rows | ft-opt --etdg-choose-leaf-rows | FileCheck %s --check-prefix=SAME
// SAME-LABEL: etdg.graph @even
// SAME: etdg.block @even
// SAME: attributes {etdg.rows = #etdg.rows<at_once>}
// SAME-LABEL: etdg.graph @window
// SAME: etdg.block @window
// SAME: attributes {etdg.rows = #etdg.rows<runs>}
//
// The phase storage does it for either target, also where its planes are left out.
// RUN: ft-opt %s --ft-compile="from=schedule to=storage skip=storage" | FileCheck %s --check-prefix=SAME
//
// The loops are those that are said, here by a hand that changes the word. Without a word rows are computed at once where they can be, else one by one.
// RUN: ft-opt %s --etdg-choose-leaf-rows --convert-etdg-to-loops --cse | FileCheck %s --check-prefixes=LOOPS,CHOSEN
// RUN: ft-opt %s --etdg-choose-leaf-rows | sed 's/<at_once>/<one_by_one>/; s/<runs>/<one_by_one>/' | ft-opt --convert-etdg-to-loops --cse \
// RUN:   | FileCheck %s --check-prefixes=LOOPS,SINGLE
// RUN: ft-opt %s --etdg-choose-leaf-rows | sed 's/<at_once>/<runs>/' | ft-opt --convert-etdg-to-loops --cse | FileCheck %s --check-prefixes=LOOPS,RUNS
// RUN: ft-opt %s --convert-etdg-to-loops --cse | FileCheck %s --check-prefixes=LOOPS,OPEN
//
// What accesses don't allow is no wrong code.
// RUN: ft-opt %s --etdg-choose-leaf-rows | sed 's/<runs>/<at_once>/' | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=PIECES
// RUN: ft-opt %s --etdg-choose-leaf-rows | sed 's/<runs>/<at_once>/' | not ft-opt --etdg-choose-leaf-rows 2>&1 | FileCheck %s --check-prefix=PIECES
// PIECES: error: rows of this leaf, along i, can't be computed as 'etdg.rows' says: read 1 has other pieces at other rows; expected runs or one_by_one, found at_once
// RUN: ft-opt %s --etdg-choose-leaf-rows | sed '/block @gathered/,/yield/s/<one_by_one>/<runs>/' | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=DATA
// DATA: error: rows of this leaf, along i, can't be computed as 'etdg.rows' says: read 0 is where data of the row say; expected one_by_one, found runs
// RUN: sed 's/ schedule #points/& attributes {etdg.rows = #etdg.rows<at_once>}/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/ schedule #points/& attributes {etdg.rows = #etdg.rows<at_once>}/' %s | not ft-opt --etdg-choose-leaf-rows 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: 'etdg.rows' says which rows one call computes, and no loop around this leaf has the level rows or listed_rows

#rows = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = ?, most = 8, kind = parallel, level = core, mapping = dynamic>, <dimension = 0, most = 8, kind = parallel, level = rows>] target = "cpu">
#listed = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = ?, most = 8, kind = parallel, level = core, mapping = block>, <dimension = 0, most = 8, kind = parallel, level = listed_rows>] target = "cpu">
#points = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = dynamic>] target = "cpu">
!x = tensor<1x4xf32>

// CHECK-LABEL: etdg.graph @even
// CHECK: etdg.block @even
// CHECK: attributes {etdg.rows = #etdg.rows<at_once>}
// LOOPS-LABEL: func.func @even_k0(
// CHOSEN: loops.leaf rows(%{{.*}}) most 8
// OPEN: loops.leaf rows(%{{.*}}) most 8
// SINGLE: scf.for
// SINGLE: loops.leaf rows(%c1{{.*}}) most 1
// RUNS: scf.while
// RUNS: loops.leaf rows(%{{.*}}) most 8
etdg.graph @even(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @even [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) schedule #rows {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// TOLD: remark: {{.*}}leaf-rows{{.*}}rows are computed in runs: read 1 has other pieces at other rows
// CHECK-LABEL: etdg.graph @window
// CHECK: etdg.block @window
// CHECK: attributes {etdg.rows = #etdg.rows<runs>}
// LOOPS-LABEL: func.func @window_k0(
// CHOSEN: scf.while
// CHOSEN: loops.leaf rows(%{{.*}}) most 8
// RUNS: scf.while
// OPEN: scf.for
// OPEN: loops.leaf rows(%c1{{.*}}) most 1
// SINGLE: scf.for
// SINGLE: loops.leaf rows(%c1{{.*}}) most 1
etdg.graph @window(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @window [map] (i) in [0, N) reads (%x = %xs[i] : !x, %before = {i = 0: splat 0.0 : f32, i >= 1: %xs[i - 1]} : !x) writes (%ys[i]) schedule #rows {
    %y = arith.addf %x, %before : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// Rows that go around three planes are runs of three at most; with all planes they are one.
// TOLD: remark: {{.*}}leaf-rows{{.*}}rows are computed in runs: write 0 goes around the planes that are kept
// CHECK-LABEL: etdg.graph @planes
// CHECK: etdg.block @planes
// CHECK: attributes {etdg.rows = #etdg.rows<runs>}
// CHECK: etdg.block @listed
// CHECK: attributes {etdg.rows = #etdg.rows<at_once>}
// RUN: sed 's/ live \[3\]//' %s | ft-opt --etdg-choose-leaf-rows | FileCheck %s --check-prefix=ALL
// ALL: etdg.block @planes
// ALL: attributes {etdg.rows = #etdg.rows<at_once>}
etdg.graph @planes(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %s = etdg.buffer live [3] : !etdg.buffer<[N], !x>
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @planes [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%s[i]) schedule #rows {
    etdg.yield %x : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.block @listed [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) schedule #listed {
    etdg.yield %x : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// Elements with gaps are read where they are, but not by a list, which has an address for each row alone.
// TOLD: remark: {{.*}}leaf-rows{{.*}}rows are computed one by one: read 0 is put together of scalars for each row
// CHECK-LABEL: etdg.graph @gaps
// CHECK: etdg.block @strided
// CHECK: attributes {etdg.rows = #etdg.rows<at_once>}
// CHECK: etdg.block @gaps
// CHECK: attributes {etdg.rows = #etdg.rows<one_by_one>}
etdg.graph @gaps(%xs: !etdg.buffer<[N], tensor<4x3xf32>>) -> (!etdg.buffer<[N], tensor<3x4xf32>>, !etdg.buffer<[N], tensor<3x4xf32>>) {
  %ys = etdg.buffer : !etdg.buffer<[N], tensor<3x4xf32>>
  %zs = etdg.buffer : !etdg.buffer<[N], tensor<3x4xf32>>
  etdg.block @strided [map] (i) in [0, N) reads (%x = elem (a, b) %xs[i, b, a] : tensor<3x4xf32>) writes (%ys[i]) schedule #rows {
    etdg.yield %x : tensor<3x4xf32>
  } : !etdg.buffer<[N], tensor<4x3xf32>>, !etdg.buffer<[N], tensor<3x4xf32>>
  etdg.block @gaps [map] (i) in [0, N) reads (%x = elem (a, b) %xs[i, b, a] : tensor<3x4xf32>) writes (%zs[i]) schedule #listed {
    etdg.yield %x : tensor<3x4xf32>
  } : !etdg.buffer<[N], tensor<4x3xf32>>, !etdg.buffer<[N], tensor<3x4xf32>>
  etdg.return %ys, %zs : !etdg.buffer<[N], tensor<3x4xf32>>, !etdg.buffer<[N], tensor<3x4xf32>>
}

// TOLD: remark: {{.*}}leaf-rows{{.*}}rows are computed one by one: read 0 is where data of the row say
// CHECK-LABEL: etdg.graph @data
// CHECK: etdg.block @gathered
// CHECK: attributes {etdg.rows = #etdg.rows<one_by_one>}
// CHECK: etdg.block @single
// CHECK-NOT: etdg.rows
// CHECK: etdg.return
etdg.graph @data(%xs: !etdg.buffer<[M], !x>, %idx: !etdg.buffer<[N], tensor<i64>>) -> (!etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>) {
  %zs = etdg.buffer : !etdg.buffer<[N], !x>
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @gathered [map] (i) in [0, N) reads (%x = %xs[%idx[i]] : !x) writes (%zs[i]) schedule #rows {
    etdg.yield %x : !x
  } : !etdg.buffer<[M], !x>, !etdg.buffer<[N], tensor<i64>>, !etdg.buffer<[N], !x>
  etdg.block @single [map] (i) in [0, N) reads (%z = %zs[i] : !x) writes (%ys[i]) schedule #points {
    etdg.yield %z : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %zs, %ys : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
}
