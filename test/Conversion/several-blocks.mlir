// A function of several basic blocks is refused by whatever takes functions apart, in any order of
// passes, and by the programs that run it; never its first block alone taken for the whole.
//
// RUN: split-file %s %t
//
// RUN: not ft-opt %t/branch.mlir --convert-ft-to-etdg 2>&1 | FileCheck %s --check-prefix=LISTS
// RUN: not ft-opt %t/loop.mlir --convert-ft-to-etdg 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not ft-opt %t/branch.mlir --ft-compile=to=etdg 2>&1 | FileCheck %s --check-prefix=LISTS
// RUN: not ft-run %t/branch.mlir --engine=interpret 2>&1 | FileCheck %s --check-prefix=LISTS
// RUN: not ft-run %t/branch.mlir --engine=cpu 2>&1 | FileCheck %s --check-prefix=LISTS
// RUN: not ft-run %t/loop.mlir --engine=cpu --dim N=3 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not ft-translate --mlir-to-ptx %t/branch.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=LISTS
// RUN: not ft-translate --mlir-to-bundle %t/branch.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=LISTS
// RUN: not ft-translate --mlir-to-llvmir %t/loop.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not ls %t/out
// LISTS: branch.mlir:3:1: error: {{.*}}(V5) must have one block
// LISTS: branch.mlir:5:3: note: the first block ends here
// LOOP: loop.mlir:3:1: error: {{.*}}(V5) must have one block{{.*}}found 2 blocks
//
// What leaves such functions alone says so, or has nothing to do with them.
// RUN: ft-opt %t/tensors.mlir --convert-scf-to-etdg 2>&1 | FileCheck %s --check-prefix=SCF
// RUN: not ft-opt %t/tensors.mlir --convert-linalg-to-etdg 2>&1 | FileCheck %s --check-prefix=LINALG
// SCF: tensors.mlir:1:1: warning: 'tensors' is not raised to a graph: has several basic blocks
// LINALG: tensors.mlir:1:1: error: {{.*}}(V5) must have one block
// RUN: ft-opt %t/branch.mlir --canonicalize --ft-inline --cse | FileCheck %s --check-prefix=KEPT
// KEPT: cf.cond_br

// A callee, and a switch.
// RUN: not ft-opt %t/callee.mlir --ft-compile=to=etdg 2>&1 | FileCheck %s --check-prefix=CALLEE
// RUN: not ft-run %t/callee.mlir --engine=cpu 2>&1 | FileCheck %s --check-prefix=CALLEE
// RUN: not ft-run %t/switch.mlir --engine=cpu 2>&1 | FileCheck %s --check-prefix=SWITCH
// CALLEE: callee.mlir:12:8: error: {{.*}}the callee must have one block that ends in 'func.return'
// SWITCH: switch.mlir:2:1: error: {{.*}}(V5) must have one block

//--- branch.mlir
!x = tensor<2xf32>
!l = !ft.list<[N], !x>
func.func @branch(%v: !l, %c: tensor<i1>) -> !l attributes {ft.lengths = {N = 3 : i64}} {
  %k = tensor.extract %c[] : tensor<i1>
  cf.cond_br %k, ^twice, ^zero
^twice:
  %a = ft.map (%x = %v : !l) -> !l {
    %y = arith.addf %x, %x : !x
    ft.yield %y : !x
  }
  return %a : !l
^zero:
  %b = ft.map (%x = %v : !l) -> !l {
    %y = arith.subf %x, %x : !x
    ft.yield %y : !x
  }
  return %b : !l
}
//--- loop.mlir
!x = tensor<2xf32>
!l = !ft.list<[N], !x>
func.func @loop(%v: !l) -> !l {
  %b = ft.map (%x = %v : !l) -> !l {
    %y = arith.addf %x, %x : !x
    ft.yield %y : !x
  }
  cf.br ^again(%b : !l)
^again(%w: !l):
  cf.br ^again(%w : !l)
}
//--- tensors.mlir
func.func @tensors(%x: tensor<4xf32>, %k: tensor<i1>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c = tensor.extract %k[] : tensor<i1>
  cf.cond_br %c, ^a, ^b
^a:
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%o = %x) -> tensor<4xf32> {
    %e = tensor.extract %x[%i] : tensor<4xf32>
    %n = tensor.insert %e into %o[%i] : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  return %r : tensor<4xf32>
^b:
  return %x : tensor<4xf32>
}
//--- callee.mlir
!l = !ft.list<[N], tensor<2xf32>>
func.func private @chosen(%v: !l, %c: tensor<i1>) -> !l {
  %k = tensor.extract %c[] : tensor<i1>
  cf.cond_br %k, ^same, ^last
^same:
  return %v : !l
^last:
  %r = ft.reverse %v : !l
  return %r : !l
}
func.func @outer(%v: !l, %c: tensor<i1>) -> !l attributes {ft.lengths = {N = 3 : i64}} {
  %r = func.call @chosen(%v, %c) : (!l, tensor<i1>) -> !l
  return %r : !l
}
//--- switch.mlir
!l = !ft.list<[N], tensor<2xf32>>
func.func @switch(%v: !l, %c: tensor<i32>) -> !l attributes {ft.lengths = {N = 3 : i64}} {
  %k = tensor.extract %c[] : tensor<i32>
  cf.switch %k : i32, [
    default: ^same,
    1: ^last
  ]
^same:
  return %v : !l
^last:
  %r = ft.reverse %v : !l
  return %r : !l
}
