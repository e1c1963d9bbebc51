// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop that ends on data, whose steps are divided among units: the kernel says which value ends it, and units leave it
// together. Steps after the end copy and fill, and nothing waits in them.
//
// RUN: sed 's/LIMIT/4/' %s > %t.mlir
// RUN: ft-opt %t.mlir --ft-compile="to=schedule target=sm_90a" > %t.gpu.mlir
// RUN: FileCheck %s --check-prefix=EXIT < %t.gpu.mlir
// RUN: ft-opt %t.mlir --ft-compile="to=schedule target=cpu" | FileCheck %s --check-prefix=EXIT
// EXIT: etdg.kernel shared 1 exit <nest = [[nest:[0-9]+]], write = [[write:[0-9]+]]>
//
// RUN: ft-opt %t.gpu.mlir --etdg-storage "--convert-etdg-to-loops=target=sm_90a" --cse | FileCheck %s --check-prefix=LOOPS
// LOOPS-LABEL: func.func @steps_k
// LOOPS: %[[end:.*]] = scf.while (%[[i:.*]] = %c0{{.*}}) : (index) -> index {
// LOOPS: %[[left:.*]] = memref.load %{{.*}} : memref<?xi1>
// LOOPS-NEXT: scf.yield %[[left]] : i1
// LOOPS: scf.condition(%{{.*}}) %[[i]] : index
// LOOPS: linalg.matmul
// LOOPS: loops.sync{{ +}}grid
// LOOPS: scf.yield
// LOOPS: loops.sync{{ +}}grid
// LOOPS: scf.for %{{.*}} = %[[end]] to %c9
// LOOPS-NOT: linalg.matmul
// LOOPS-NOT: loops.sync
// LOOPS: return
//
// At each step, the last one among them, and where it never ends.
// RUN: sed 's/LIMIT/1/' %s > %t.mlir
// RUN: ft-run %t.mlir --entry=steps --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %t.mlir --entry=steps --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/LIMIT/2/' %s > %t.mlir
// RUN: ft-run %t.mlir --entry=steps --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %t.mlir --entry=steps --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/LIMIT/4/' %s > %t.mlir
// RUN: ft-run %t.mlir --entry=steps --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %t.mlir --entry=steps --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/LIMIT/8/' %s > %t.mlir
// RUN: ft-run %t.mlir --entry=steps --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %t.mlir --entry=steps --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/LIMIT/9/' %s > %t.mlir
// RUN: ft-run %t.mlir --entry=steps --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %t.mlir --entry=steps --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/LIMIT/20/' %s > %t.mlir
// RUN: ft-run %t.mlir --entry=steps --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %t.mlir --entry=steps --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL-COUNT-3: equal
//
// An exit that is none is refused.
// RUN: sed 's/exit <nest = [0-9]*, write = [0-9]*>/exit <nest = 7, write = 0>/' %t.gpu.mlir | not ft-opt 2>&1 | FileCheck %s --check-prefix=NEST
// NEST: error: 'etdg.kernel' op (M2) the exit is of nest 7, expected one of the {{[0-9]}} here
// RUN: sed 's/exit <nest = \([0-9]*\), write = [0-9]*>/exit <nest = \1, write = 9>/' %t.gpu.mlir | not ft-opt 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: 'etdg.kernel' op (M2) the exit is result 9 of its nest, which has {{[0-9]}}

func.func @steps(%w: tensor<256x256xi32>, %x: tensor<9x1x256xi32>) -> (tensor<9x256xi32>, tensor<1x256xi32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1 : i32
  %limit = arith.constant LIMIT : i32
  %true = arith.constant true
  %zero = arith.constant dense<0> : tensor<1x256xi32>
  %none = arith.constant dense<0> : tensor<i32>
  %rows = arith.constant dense<-7> : tensor<9x256xi32>
  %r:5 = scf.while (%going = %true, %i = %c0, %h = %zero, %n = %none, %out = %rows) : (i1, index, tensor<1x256xi32>, tensor<i32>, tensor<9x256xi32>) -> (i1, index, tensor<1x256xi32>, tensor<i32>, tensor<9x256xi32>) {
    scf.condition(%going) %going, %i, %h, %n, %out : i1, index, tensor<1x256xi32>, tensor<i32>, tensor<9x256xi32>
  } do {
  ^bb0(%was: i1, %i: index, %h: tensor<1x256xi32>, %n: tensor<i32>, %out: tensor<9x256xi32>):
    %row = tensor.extract_slice %x[%i, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<9x1x256xi32> to tensor<1x256xi32>
    %p = linalg.matmul ins(%h, %w : tensor<1x256xi32>, tensor<256x256xi32>) outs(%row : tensor<1x256xi32>) -> tensor<1x256xi32>
    %flat = tensor.collapse_shape %p [[0, 1]] : tensor<1x256xi32> into tensor<256xi32>
    %o = tensor.insert_slice %flat into %out[%i, 0] [1, 256] [1, 1] : tensor<256xi32> into tensor<9x256xi32>
    %had = tensor.extract %n[] : tensor<i32>
    %has = arith.addi %had, %one : i32
    %count = tensor.from_elements %has : tensor<i32>
    // (The count waits for all columns of the step.)
    %most = linalg.reduce ins(%flat : tensor<256xi32>) outs(%none : tensor<i32>) dimensions = [0]
      (%a: i32, %b: i32) {
        %m = arith.maxsi %a, %b : i32
        linalg.yield %m : i32
      }
    %top = tensor.extract %most[] : tensor<i32>
    %never = arith.constant -1 : i32
    %large = arith.cmpi sgt, %top, %never : i32
    %few = arith.cmpi slt, %has, %limit : i32
    %goes = arith.andi %large, %few : i1
    %next = arith.addi %i, %c1 : index
    %inside = arith.cmpi slt, %next, %c9 : index
    %on = arith.andi %goes, %inside : i1
    scf.yield %on, %next, %p, %count, %o : i1, index, tensor<1x256xi32>, tensor<i32>, tensor<9x256xi32>
  }
  return %r#4, %r#2, %r#3 : tensor<9x256xi32>, tensor<1x256xi32>, tensor<i32>
}
