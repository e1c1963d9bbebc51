// Kernels and the kinds of edges, by mode; what each computes, thread by thread.
//
// RUN: ft-opt %s --ft-compile="to=partition target=sm_90a machine=%S/../machines/h200.json partition=boundary" | FileCheck %s --check-prefix=BOUNDARY
// RUN: ft-opt %s --ft-compile="to=partition target=sm_90a machine=%S/../machines/h200.json partition=souffle" --remarks-filter=partition 2>%t.souffle | FileCheck %s --check-prefix=SOUFFLE
// RUN: FileCheck %s --check-prefix=CUT < %t.souffle
// RUN: ft-opt %s --ft-compile="to=partition target=sm_90a machine=%S/../machines/h200.json partition=cost" --remarks-filter=partition 2>%t.cost | FileCheck %s --check-prefix=COST
// RUN: FileCheck %s --check-prefix=PRICES < %t.cost
// RUN: ft-run %s --entry=f --engine=emulate --partition=boundary --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=f --engine=emulate --partition=souffle --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=f --engine=emulate --partition=cost --compare=interpret | FileCheck %s --check-prefix=EQUAL
//
// What a phase printed goes on as if it never had been.
// RUN: ft-opt %s --ft-compile="to=partition target=sm_90a machine=%S/../machines/h200.json partition=souffle" -o %t.cut.mlir
// RUN: ft-opt %t.cut.mlir --ft-compile="from=partition to=storage target=sm_90a machine=%S/../machines/h200.json" -o %t.resumed.mlir
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a machine=%S/../machines/h200.json partition=souffle" -o %t.whole.mlir
// RUN: diff %t.resumed.mlir %t.whole.mlir
//
// RUN: not ft-opt %s --ft-compile="to=partition target=sm_90a partition=all" 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not ft-opt %s --ft-compile="to=partition partition=cost" 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not ft-run %s --entry=f --engine=emulate --partition=all 2>&1 | FileCheck %s --check-prefix=ASKED

// MODE: error: ft-compile: partition: expected boundary, souffle or cost, found 'all'
// CPU: error: ft-compile: partition: a CPU runs each nest as a parallel region; expected a GPU as target, found 'cpu'
// ASKED: ft-run: error: --partition=all: expected boundary, souffle or cost

// EQUAL: equal

// Each nest is a kernel, and reads behind a boundary.

// BOUNDARY: etdg.graph @f
// BOUNDARY-SAME: etdg.partitioned = "boundary"
// BOUNDARY: etdg.kernel attributes {etdg.edges = []} {
// BOUNDARY: etdg.number = 0
// BOUNDARY: etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 1, kind = kernel>]} {
// BOUNDARY: etdg.number = 1
// BOUNDARY: etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 2, kind = kernel>, #etdg.edge<from = 1, to = 2, kind = kernel>]} {
// BOUNDARY: etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 1, to = 3, kind = kernel>]} {
// BOUNDARY-NOT: kind = "grid"

// All of it fits one wave: one kernel, with barriers where a nest needs another one.
// SOUFFLE: etdg.graph @f
// SOUFFLE-SAME: etdg.partitioned = "souffle"
// SOUFFLE: etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 1, kind = grid>, #etdg.edge<from = 0, to = 2, kind = grid>, #etdg.edge<from = 1, to = 2, kind = grid>, #etdg.edge<from = 1, to = 3, kind = grid>]} {
// SOUFFLE-NOT: etdg.kernel
// Of so long a list the second product begins a kernel: with it there are more thread blocks than are resident.
// SOUFFLE: etdg.graph @large
// SOUFFLE: etdg.kernel
// SOUFFLE: etdg.kernel
// CUT: cut | Category:partition | Reason="compute-intensive: {{[0-9]+}} thread blocks of {{[0-9]+}} registers and {{[0-9]+}} bytes of shared memory are no one wave"

// Barriers cost more than boundaries here, and the second product, which the last nest does not wait for, keeps its tiles.
// COST: etdg.partitioned = "cost"
// COST: etdg.kernel attributes {etdg.edges = []} {
// COST: etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 1, kind = kernel>]} {
// COST: etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 2, kind = kernel>, #etdg.edge<from = 1, to = 2, kind = kernel>]} {
// COST: etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 1, to = 3, kind = kernel>]} {
// PRICES: partition | Category:partition | Reason="4 kernels of 4 nests, boundaries: boundaries {{[0-9.]+}} us, short nests beside a recurrence {{[0-9.]+}} us, groups by price {{[0-9.]+}} us; unlike groups priced: {{[0-9]+}}"

!x = tensor<1x16xf32>

// A product, what follows it element by element, a sum over the list, and two nests that need neither.
func.func @f(%xs: !ft.list<[N], !x>, %w: tensor<16x16xf32>, %u: tensor<16x16xf32>) -> (!ft.list<[N], !x>, !x, !ft.list<[N], !x>)
    attributes {ft.lengths = {N = 40}} {
  %zero = arith.constant dense<0.0> : !x
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %p = linalg.matmul ins(%x, %w : !x, tensor<16x16xf32>) outs(%zero : !x) -> !x
    ft.yield %p : !x
  }
  %s = ft.fold (%y = %ys : !ft.list<[N], !x>) init (%a = %zero : !x) -> !x {
    %t = arith.addf %a, %y : !x
    ft.yield %t : !x
  }
  %zs = ft.map (%y = %ys : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %d = arith.subf %y, %s : !x
    %q = linalg.matmul ins(%d, %u : !x, tensor<16x16xf32>) outs(%zero : !x) -> !x
    ft.yield %q : !x
  }
  %vs = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %e = math.exp %x : !x
    ft.yield %e : !x
  }
  return %zs, %s, %vs : !ft.list<[N], !x>, !x, !ft.list<[N], !x>
}

func.func @large(%xs: !ft.list<[N], !x>, %w: tensor<16x16xf32>, %u: tensor<16x16xf32>) -> (!ft.list<[N], !x>, !x, !ft.list<[N], !x>)
    attributes {ft.lengths = {N = 1000000}} {
  %zero = arith.constant dense<0.0> : !x
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %p = linalg.matmul ins(%x, %w : !x, tensor<16x16xf32>) outs(%zero : !x) -> !x
    ft.yield %p : !x
  }
  %s = ft.fold (%y = %ys : !ft.list<[N], !x>) init (%a = %zero : !x) -> !x {
    %t = arith.addf %a, %y : !x
    ft.yield %t : !x
  }
  %zs = ft.map (%y = %ys : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %d = arith.subf %y, %s : !x
    %q = linalg.matmul ins(%d, %u : !x, tensor<16x16xf32>) outs(%zero : !x) -> !x
    ft.yield %q : !x
  }
  %vs = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %e = math.exp %x : !x
    ft.yield %e : !x
  }
  return %zs, %s, %vs : !ft.list<[N], !x>, !x, !ft.list<[N], !x>
}
