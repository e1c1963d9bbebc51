// A loop in order with a product of one row: cores share the columns of the product at each step, and wait after it. Where
// a second product takes all columns of the first, the step is several leaves; what a flag ends costs no products there.
// RUN: env FT_NUM_THREADS=2 ft-opt %s --ft-compile="to=schedule machine=%S/../../machines/cpu.json" | FileCheck %s
// RUN: env FT_NUM_THREADS=2 ft-opt %s --mlir-disable-threading --ft-compile="to=schedule machine=%S/../../machines/cpu.json" --remarks-filter="cpu" --remark-policy=all 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: env FT_NUM_THREADS=2 ft-run %s --entry=one_product --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: env FT_NUM_THREADS=3 ft-run %s --entry=one_product --compare=interpret --order=random --seed=3 | FileCheck %s --check-prefix=EQUAL
// RUN: env FT_NUM_THREADS=2 ft-run %s --entry=two_products --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: env FT_NUM_THREADS=3 ft-run %s --entry=two_products --compare=interpret --order=random --seed=5 | FileCheck %s --check-prefix=EQUAL
// RUN: env FT_NUM_THREADS=2 ft-run %s --entry=until --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: env FT_NUM_THREADS=3 ft-run %s --entry=until --compare=interpret --order=random --seed=7 | FileCheck %s --check-prefix=EQUAL
// RUN: env FT_NUM_THREADS=3 ft-run %s --entry=two_products --compare=interpret --plan-seed=3 | FileCheck %s --check-prefix=EQUAL

// Sequences beside each other: cores have some columns of each row, and of both regions, which begin from zeros and go on.
// RUN: env FT_NUM_THREADS=2 ft-run %s --entry=sequences --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: env FT_NUM_THREADS=3 ft-run %s --entry=sequences --compare=interpret --dim=N=5 --order=random --seed=11 | FileCheck %s --check-prefix=EQUAL
// RUN: env FT_NUM_THREADS=2 ft-opt %s --ft-compile="to=schedule machine=%S/../../machines/cpu.json" | sed 's/columns = 512/columns = 500/' > %t.rows.mlir
// RUN: not ft-opt %t.rows.mlir --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: env FT_NUM_THREADS=2 ft-opt %s --ft-compile="to=schedule machine=%S/../../machines/cpu.json" | sed 's/\(tile = ?, most = [0-9]*, kind = parallel\)>/\1, level = core, mapping = block>/' | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=LEVEL
// COUNT: error: the CPU engine can't run the schedule's loop over the columns (level core): column c of what the leaf computes does not depend on column c alone, or it doesn't have the columns; found columns = 500
// LEVEL: error: the CPU engine can't run the schedule's loop over i (level core): the cores share the columns outside of it, expected no level

// A schedule by hand: fewer columns, and what is refused.
// RUN: env FT_NUM_THREADS=2 ft-opt %s --ft-compile="to=schedule machine=%S/../../machines/cpu.json" | sed 's/tile = 384, kind/tile = 96, kind/' > %t.mlir
// RUN: ft-run %t.mlir --entry=one_product --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-opt %t.mlir --convert-etdg-to-loops | FileCheck %s --check-prefix=LOOPS
// RUN: env FT_NUM_THREADS=2 ft-opt %s --ft-compile="to=schedule machine=%S/../../machines/cpu.json" | sed 's/tile = 384, kind = parallel, level = core, mapping = block/tile = 384, kind = parallel, level = core, mapping = dynamic/' | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=TURN

// EQUAL: equal
// LOOPS: loops.leaf {{.*}} tile 96 of 768
// LOOPS: loops.sync cores
// TURN: error: the CPU engine can't run the schedule's loop over the columns (level core): iterations are mapped dynamically where they are a box and no core waits; expected mapping = block

// CHECK-LABEL: etdg.graph @one_product
// CHECK: loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, tile = 384, kind = parallel, level = core, mapping = block>] columns = 768 target = "cpu"
func.func @one_product(%x: tensor<20x1x768xi32>, %w: tensor<768x768xi32>, %h: tensor<1x768xi32>) -> tensor<1x768xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %e = tensor.empty() : tensor<1x768xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x768xi32>) -> tensor<1x768xi32>
  %r = scf.for %t = %c0 to %c20 step %c1 iter_args(%s = %h) -> tensor<1x768xi32> {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 1, 768] [1, 1, 1] : tensor<20x1x768xi32> to tensor<1x768xi32>
    %p = linalg.matmul ins(%s, %w : tensor<1x768xi32>, tensor<768x768xi32>) outs(%f : tensor<1x768xi32>) -> tensor<1x768xi32>
    %a = arith.addi %p, %xt : tensor<1x768xi32>
    %n = arith.xori %a, %s : tensor<1x768xi32>
    scf.yield %n : tensor<1x768xi32>
  }
  return %r : tensor<1x768xi32>
}

// CHECK-LABEL: etdg.graph @two_products
// CHECK: etdg.kernel shared 1
// CHECK: etdg.block @r0_0
// CHECK: mapping = block>] columns = 512 target = "cpu"
// CHECK: etdg.block @r0_1
// CHECK: mapping = block>] before = cores columns = 700 target = "cpu"
// REMARK: divide-steps {{.*}}Reason="products of one step that need each other whole are 3 nests, whose columns the cores share"
func.func @two_products(%x: tensor<11x1x512xi32>, %w: tensor<512x512xi32>, %v: tensor<512x700xi32>, %h: tensor<1x512xi32>) -> (tensor<1x512xi32>, tensor<11xi32>) {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c11 = arith.constant 11 : index
  %e = tensor.empty() : tensor<1x512xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x512xi32>) -> tensor<1x512xi32>
  %ev = tensor.empty() : tensor<1x700xi32>
  %fv = linalg.fill ins(%zero : i32) outs(%ev : tensor<1x700xi32>) -> tensor<1x700xi32>
  %eo = tensor.empty() : tensor<11xi32>
  %e1 = tensor.empty() : tensor<1xi32>
  %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<1xi32>) -> tensor<1xi32>
  %r:2 = scf.for %t = %c0 to %c11 step %c1 iter_args(%s = %h, %o = %eo) -> (tensor<1x512xi32>, tensor<11xi32>) {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 1, 512] [1, 1, 1] : tensor<11x1x512xi32> to tensor<1x512xi32>
    %p = linalg.matmul ins(%s, %w : tensor<1x512xi32>, tensor<512x512xi32>) outs(%f : tensor<1x512xi32>) -> tensor<1x512xi32>
    %n = arith.addi %p, %xt : tensor<1x512xi32>
    %q = linalg.matmul ins(%n, %v : tensor<1x512xi32>, tensor<512x700xi32>) outs(%fv : tensor<1x700xi32>) -> tensor<1x700xi32>
    %m = linalg.reduce ins(%q : tensor<1x700xi32>) outs(%f1 : tensor<1xi32>) dimensions = [1]
      (%in: i32, %acc: i32) {
        %k = arith.maxsi %in, %acc : i32
        linalg.yield %k : i32
      }
    %on = tensor.insert_slice %m into %o[%t] [1] [1] : tensor<1xi32> into tensor<11xi32>
    scf.yield %n, %on : tensor<1x512xi32>, tensor<11xi32>
  }
  return %r#0, %r#1 : tensor<1x512xi32>, tensor<11xi32>
}

// What the first product hands on is only looked at while the flag holds: it is handed on under the flag.
// CHECK-LABEL: etdg.graph @until
// CHECK: etdg.block @r0_0
// CHECK: %[[GOING:.*]] = tensor.extract %{{.*}}[] : tensor<i1>
// CHECK: %[[HANDED:.*]] = arith.select %{{.*}}, %{{.*}}, %{{cst.*}} : tensor<1x512xi32>
// CHECK: etdg.yield {{.*}}%[[HANDED]]
// CHECK: etdg.block @r0_1
func.func @until(%x: tensor<13x1x512xi32>, %w: tensor<512x512xi32>, %v: tensor<512x700xi32>, %h: tensor<1x512xi32>) -> (tensor<1x512xi32>, tensor<1xi32>) {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c13 = arith.constant 13 : index
  %true = arith.constant dense<true> : tensor<i1>
  %e = tensor.empty() : tensor<1x512xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x512xi32>) -> tensor<1x512xi32>
  %ev = tensor.empty() : tensor<1x700xi32>
  %fv = linalg.fill ins(%zero : i32) outs(%ev : tensor<1x700xi32>) -> tensor<1x700xi32>
  %e1 = tensor.empty() : tensor<1xi32>
  %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<1xi32>) -> tensor<1xi32>
  %r:3 = scf.for %t = %c0 to %c13 step %c1 iter_args(%s = %h, %o = %f1, %g = %true) -> (tensor<1x512xi32>, tensor<1xi32>, tensor<i1>) {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 1, 512] [1, 1, 1] : tensor<13x1x512xi32> to tensor<1x512xi32>
    %going = tensor.extract %g[] : tensor<i1>
    %p = linalg.matmul ins(%s, %w : tensor<1x512xi32>, tensor<512x512xi32>) outs(%f : tensor<1x512xi32>) -> tensor<1x512xi32>
    %n = arith.addi %p, %xt : tensor<1x512xi32>
    %q = linalg.matmul ins(%n, %v : tensor<1x512xi32>, tensor<512x700xi32>) outs(%fv : tensor<1x700xi32>) -> tensor<1x700xi32>
    %m = linalg.reduce ins(%q : tensor<1x700xi32>) outs(%f1 : tensor<1xi32>) dimensions = [1]
      (%in: i32, %acc: i32) {
        %k = arith.xori %in, %acc : i32
        linalg.yield %k : i32
      }
    %last = tensor.extract %m[%c0] : tensor<1xi32>
    %odd = arith.trunci %last : i32 to i1
    %still = arith.andi %going, %odd : i1
    %gn = tensor.from_elements %still : tensor<i1>
    %sn = arith.select %going, %n, %s : tensor<1x512xi32>
    %on = arith.select %going, %m, %o : tensor<1xi32>
    scf.yield %sn, %on, %gn : tensor<1x512xi32>, tensor<1xi32>, tensor<i1>
  }
  return %r#0, %r#1 : tensor<1x512xi32>, tensor<1xi32>
}

// CHECK-LABEL: etdg.graph @sequences
// CHECK: etdg.nest schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 2, tile = 256, kind = parallel, level = core, mapping = block>, <dimension = 1, tile = ?, most = [[MOST:[0-9]+]], kind = parallel>, <dimension = 1, most = [[MOST]], kind = parallel, level = rows>] columns = 512 target = "cpu">
// CHECK: etdg.block @r0
// CHECK: etdg.block @r1
func.func @sequences(%xss: !ft.list<[N, L], tensor<1x512xi32>>, %w: tensor<512x512xi32>, %v: tensor<512x512xi32>) -> !ft.list<[N, L], tensor<1x512xi32>>
    attributes {ft.lengths = {N = 4 : i64, L = 12 : i64}} {
  %zero = arith.constant dense<0> : tensor<1x512xi32>
  %hss = ft.map (%xs = %xss : !ft.list<[N, L], tensor<1x512xi32>>) -> !ft.list<[N, L], tensor<1x512xi32>> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], tensor<1x512xi32>>) init (%h = %zero : tensor<1x512xi32>) -> !ft.list<[L], tensor<1x512xi32>> {
      %p = linalg.matmul ins(%h, %w : tensor<1x512xi32>, tensor<512x512xi32>) outs(%x : tensor<1x512xi32>) -> tensor<1x512xi32>
      %q = linalg.matmul ins(%h, %v : tensor<1x512xi32>, tensor<512x512xi32>) outs(%x : tensor<1x512xi32>) -> tensor<1x512xi32>
      %n = arith.xori %p, %q : tensor<1x512xi32>
      ft.yield %n : tensor<1x512xi32>
    }
    ft.yield %hs : !ft.list<[L], tensor<1x512xi32>>
  }
  return %hss : !ft.list<[N, L], tensor<1x512xi32>>
}
