// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tasks share the columns of a leaf, after the bar, where points and rows are too few for the cores, or a
// right-hand side is too large for a cache.
//
// A vector times a matrix: 1024 columns are 512 for each of 2 threads.
// RUN: env FT_NUM_THREADS=2 ft-opt %s --ft-compile="to=schedule machine=%S/../../machines/cpu.json" | FileCheck %s
// CHECK-LABEL: etdg.graph @vector(
// CHECK: schedule <map = #{{.*}}, loops = [<dimension = 0, tile = 512, kind = parallel, level = core, mapping = dynamic>] columns = 1024 target = "cpu">
// Three rows on two cores: both read each weight once.
// CHECK-LABEL: etdg.graph @few_rows(
// CHECK: schedule <map = #{{.*}}, loops = [<dimension = 0, tile = ?, most = {{[0-9]+}}, kind = parallel, level = core, mapping = dynamic>, <dimension = 1, tile = 512, kind = parallel, level = core, mapping = dynamic>, <dimension = 0, most = {{[0-9]+}}, kind = parallel, level = rows>] columns = 997 target = "cpu">
// Many rows, weights of 1 MiB: calls have many rows and 256 columns.
// CHECK-LABEL: etdg.graph @many_rows(
// CHECK: tile = ?, most = {{[1-9][0-9][0-9]+}}, {{.*}} <dimension = 1, tile = 256, {{.*}} columns = 512 target = "cpu">
// What asks for its column keeps all.
// CHECK-LABEL: etdg.graph @asks(
// CHECK-NOT: columns
// CHECK: etdg.return
//
// Every way to share them, at odd tiles, beside the reference, for integers bit for bit; and the same programs on a GPU.
// RUN: %python %S/Inputs/columns.py %ft_bin/ft-run %s | FileCheck %s --check-prefix=RUNS
// RUNS: {{[1-9][0-9]*}} programs, {{[1-9][0-9]*}} runs, 0 failures
//
// A hand-written tile decides the loops that are emitted.
// RUN: ft-opt %s --ft-compile="to=schedule machine=%S/../../machines/cpu.json" | sed 's/tile = 512, kind/tile = 37, kind/' > %t.mlir
// RUN: %ft_bin/ft-run %t.mlir --entry=vector --engine=cpu --compare=interpret --bench | FileCheck %s --check-prefix=HAND
// HAND: vector_k0: columns 37 of 1024
// HAND: equal
//
// Few rows take a large right-hand side in blocks of k, all columns of a block before the next; halves, whose sums
// are wider than the results, and what many rows copy into panels, take k at once.
// RUN: ft-opt %s --ft-compile="to=target machine=%S/../../machines/cpu.json" | FileCheck %s --check-prefix=BLOCKS
// BLOCKS-DAG: ft.product = "{{[0-9]+}}x1031;{{.*}} panel {{[0-9]+}} block 32 {{.*}} i32
// BLOCKS-DAG: ft.product = "{{[0-9]+}}x1031;{{.*}} panel {{[0-9]+}} block 0 {{.*}} f16
//
// On a GPU the SMs share them, too.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a" | FileCheck %s --check-prefix=GPU
// GPU-LABEL: etdg.graph @wide(
// GPU: mapping = {{.*}} columns = 2048

func.func @vector(%x: tensor<1031xf32>, %w: tensor<1031x1024xf32>) -> tensor<1024xf32> {
  %z = arith.constant dense<0.0> : tensor<1024xf32>
  %y = linalg.vecmat ins(%x, %w : tensor<1031xf32>, tensor<1031x1024xf32>) outs(%z : tensor<1024xf32>) -> tensor<1024xf32>
  return %y : tensor<1024xf32>
}

func.func @few_rows(%x: tensor<3x511xf32>, %w: tensor<511x997xf32>, %b: tensor<997xf32>) -> tensor<3x997xf32> {
  %z = arith.constant dense<0.0> : tensor<3x997xf32>
  %e = tensor.empty() : tensor<3x997xf32>
  %p = linalg.matmul ins(%x, %w : tensor<3x511xf32>, tensor<511x997xf32>) outs(%z : tensor<3x997xf32>) -> tensor<3x997xf32>
  %bs = linalg.broadcast ins(%b : tensor<997xf32>) outs(%e : tensor<3x997xf32>) dimensions = [0]
  %s = arith.addf %p, %bs : tensor<3x997xf32>
  %t = math.tanh %s : tensor<3x997xf32>
  return %t : tensor<3x997xf32>
}

func.func @many_rows(%x: tensor<193x520xf32>, %w: tensor<520x512xf32>) -> tensor<193x512xf32> {
  %z = arith.constant dense<0.5> : tensor<193x512xf32>
  %y = linalg.matmul ins(%x, %w : tensor<193x520xf32>, tensor<520x512xf32>) outs(%z : tensor<193x512xf32>) -> tensor<193x512xf32>
  %t = arith.mulf %y, %y : tensor<193x512xf32>
  return %t : tensor<193x512xf32>
}

#v = affine_map<(n, k) -> (k)>
#kn = affine_map<(n, k) -> (k, n)>
#n = affine_map<(n, k) -> (n)>
func.func @asks(%x: tensor<509xi32>, %w: tensor<509x1021xi32>) -> tensor<1021xi32> {
  %z = arith.constant dense<1> : tensor<1021xi32>
  %y = linalg.generic {indexing_maps = [#v, #kn, #n], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<509xi32>, tensor<509x1021xi32>) outs(%z : tensor<1021xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %p = arith.muli %a, %b : i32
    %q = arith.muli %p, %c : i32
    %s = arith.addi %o, %q : i32
    linalg.yield %s : i32
  } -> tensor<1021xi32>
  return %y : tensor<1021xi32>
}

func.func @wide(%x: tensor<1x517xf32>, %w: tensor<517x2048xf32>) -> tensor<1x2048xf32> {
  %z = arith.constant dense<0.0> : tensor<1x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1x517xf32>, tensor<517x2048xf32>) outs(%z : tensor<1x2048xf32>) -> tensor<1x2048xf32>
  return %y : tensor<1x2048xf32>
}

func.func @integers(%x: tensor<1x127xi32>, %w: tensor<127x509xi32>) -> tensor<1x509xi32> {
  %z = arith.constant dense<7> : tensor<1x509xi32>
  %y = linalg.matmul ins(%x, %w : tensor<1x127xi32>, tensor<127x509xi32>) outs(%z : tensor<1x509xi32>) -> tensor<1x509xi32>
  %t = arith.addi %y, %y : tensor<1x509xi32>
  return %t : tensor<1x509xi32>
}

func.func @halves(%x: tensor<2x127xf16>, %w: tensor<127x131xf16>) -> tensor<2x131xf16> {
  %z = arith.constant dense<0.0> : tensor<2x131xf16>
  %y = linalg.matmul ins(%x, %w : tensor<2x127xf16>, tensor<127x131xf16>) outs(%z : tensor<2x131xf16>) -> tensor<2x131xf16>
  return %y : tensor<2x131xf16>
}

func.func @bfloats(%x: tensor<113xbf16>, %w: tensor<113x257xbf16>) -> tensor<257xbf16> {
  %z = arith.constant dense<0.0> : tensor<257xbf16>
  %y = linalg.vecmat ins(%x, %w : tensor<113xbf16>, tensor<113x257xbf16>) outs(%z : tensor<257xbf16>) -> tensor<257xbf16>
  return %y : tensor<257xbf16>
}

func.func @doubles(%w: tensor<151x89xf64>, %x: tensor<89xf64>) -> tensor<151xf64> {
  %z = arith.constant dense<0.0> : tensor<151xf64>
  %y = linalg.matvec ins(%w, %x : tensor<151x89xf64>, tensor<89xf64>) outs(%z : tensor<151xf64>) -> tensor<151xf64>
  return %y : tensor<151xf64>
}

func.func @number(%x: tensor<1009xi64>, %y: tensor<1009xi64>) -> tensor<i64> {
  %z = arith.constant dense<0> : tensor<i64>
  %d = linalg.dot ins(%x, %y : tensor<1009xi64>, tensor<1009xi64>) outs(%z : tensor<i64>) -> tensor<i64>
  return %d : tensor<i64>
}

func.func @elements(%x: tensor<1009xf32>, %y: tensor<1009xf32>) -> tensor<1009xf32> {
  %s = arith.mulf %x, %y : tensor<1009xf32>
  %t = math.exp %s : tensor<1009xf32>
  %u = arith.addf %t, %x : tensor<1009xf32>
  return %u : tensor<1009xf32>
}

// A normalisation needs its whole row.
func.func @row(%x: tensor<1x509xf32>) -> tensor<1x509xf32> {
  %e = tensor.empty() : tensor<1x509xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<1x509xf32>) outs(%e : tensor<1x509xf32>) -> tensor<1x509xf32>
  return %y : tensor<1x509xf32>
}

// Columns of weights that lie the other way round.
#k2 = affine_map<(i, n, k) -> (i, k)>
#nk = affine_map<(i, n, k) -> (n, k)>
#in = affine_map<(i, n, k) -> (i, n)>
func.func @turned(%x: tensor<1x67xi32>, %w: tensor<139x67xi32>) -> tensor<1x139xi32> {
  %z = arith.constant dense<0> : tensor<1x139xi32>
  %y = linalg.generic {indexing_maps = [#k2, #nk, #in], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x67xi32>, tensor<139x67xi32>) outs(%z : tensor<1x139xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  } -> tensor<1x139xi32>
  return %y : tensor<1x139xi32>
}

// One size after the other at which nothing is left over, or everything is.
func.func @one_column(%x: tensor<5x7xi32>, %w: tensor<7x1xi32>) -> tensor<5x1xi32> {
  %z = arith.constant dense<0> : tensor<5x1xi32>
  %y = linalg.matmul ins(%x, %w : tensor<5x7xi32>, tensor<7x1xi32>) outs(%z : tensor<5x1xi32>) -> tensor<5x1xi32>
  return %y : tensor<5x1xi32>
}

// Rows whose right-hand side is copied into panels, with a remainder of columns and of rows.
func.func @panels(%x: tensor<61x1031xf32>, %w: tensor<1031x331xf32>, %b: tensor<61x331xf32>) -> tensor<61x331xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<61x1031xf32>, tensor<1031x331xf32>) outs(%b : tensor<61x331xf32>) -> tensor<61x331xf32>
  return %y : tensor<61x331xf32>
}
func.func @panels_of_halves(%x: tensor<29x1031xf16>, %w: tensor<1031x521xf16>) -> tensor<29x521xf16> {
  %z = arith.constant dense<0.0> : tensor<29x521xf16>
  %y = linalg.matmul ins(%x, %w : tensor<29x1031xf16>, tensor<1031x521xf16>) outs(%z : tensor<29x521xf16>) -> tensor<29x521xf16>
  return %y : tensor<29x521xf16>
}
func.func @panels_of_integers(%x: tensor<25x1031xi32>, %w: tensor<1031x331xi32>) -> tensor<25x331xi32> {
  %z = arith.constant dense<0> : tensor<25x331xi32>
  %y = linalg.matmul ins(%x, %w : tensor<25x1031xi32>, tensor<1031x331xi32>) outs(%z : tensor<25x331xi32>) -> tensor<25x331xi32>
  return %y : tensor<25x331xi32>
}

// The same by few rows: blocks of k, the last one shorter, that begin with what the sums begin with.
func.func @blocks(%x: tensor<17x1031xi32>, %w: tensor<1031x331xi32>, %b: tensor<17x331xi32>) -> tensor<17x331xi32> {
  %y = linalg.matmul ins(%x, %w : tensor<17x1031xi32>, tensor<1031x331xi32>) outs(%b : tensor<17x331xi32>) -> tensor<17x331xi32>
  return %y : tensor<17x331xi32>
}
func.func @blocks_of_doubles(%x: tensor<1x521xf64>, %w: tensor<521x307xf64>) -> tensor<1x307xf64> {
  %z = arith.constant dense<0.25> : tensor<1x307xf64>
  %y = linalg.matmul ins(%x, %w : tensor<1x521xf64>, tensor<521x307xf64>) outs(%z : tensor<1x307xf64>) -> tensor<1x307xf64>
  return %y : tensor<1x307xf64>
}
// An element's own rows, beside those of the list.
func.func @blocks_of_elements(%xs: !ft.list<[7], tensor<5x1031xi32>>, %w: tensor<1031x331xi32>) -> !ft.list<[7], tensor<5x331xi32>> {
  %z = arith.constant dense<3> : tensor<5x331xi32>
  %ys = ft.map (%x = %xs : !ft.list<[7], tensor<5x1031xi32>>) -> !ft.list<[7], tensor<5x331xi32>> {
    %y = linalg.matmul ins(%x, %w : tensor<5x1031xi32>, tensor<1031x331xi32>) outs(%z : tensor<5x331xi32>) -> tensor<5x331xi32>
    ft.yield %y : tensor<5x331xi32>
  }
  return %ys : !ft.list<[7], tensor<5x331xi32>>
}
