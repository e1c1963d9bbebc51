// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments whose callers give strides of list dimensions: both engines take them from the call. (Other strides than
// dense ones: python/tests/test_strides.py.)
//
// RUN: split-file %s %t.d
// RUN: ft-run %t.d/good.mlir --entry=rnn --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %t.d/good.mlir --entry=rnn --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %t.d/good.mlir --entry=sums --engine=cpu --compare=interpret --dim N=7 --dim M=13 | FileCheck %s
// RUN: ft-run %t.d/good.mlir --entry=sums --engine=emulate --compare=interpret --dim N=7 --dim M=13 | FileCheck %s
// CHECK: {{^}}equal
//
// The strides are arguments of the kernels.
// RUN: ft-translate %t.d/good.mlir --mlir-to-bundle --target=x86-64-v3,sm_90a -o %t.ftb
// RUN: grep -a -o '"strided_dims":[0-9]*' %t.ftb | FileCheck %s --check-prefix=PLAN
// PLAN: "strided_dims":2
//
// Two lists that are one to the program lie by one stride, which calls must give; a list that is cut by a length lies by its own.
// RUN: ft-opt %t.d/flat.mlir --ft-compile="to=etdg" | FileCheck %s --check-prefix=FLAT
// FLAT: etdg.graph @flat(%{{.*}}: !etdg.buffer<[N_M], tensor<2xf32>> {ft.strided = 1 : i64, ft.strides = [array<i64: 0, 1>]})
// RUN: ft-run %t.d/flat.mlir --engine=cpu --compare=interpret --dim N=7 --dim M=13 | FileCheck %s
// RUN: ft-run %t.d/flat.mlir --engine=emulate --compare=interpret --dim N=7 --dim M=13 | FileCheck %s
// RUN: ft-translate %t.d/flat.mlir --mlir-to-bundle --target=x86-64-v3,sm_90a -o %t.flat.ftb
// RUN: grep -a -o '"text":"dimensions[^}]*' %t.flat.ftb | FileCheck %s --check-prefix=GAP
// RUN: grep -a -o '"kind":"integer","value":."add",."stride":.0,0.*' %t.flat.ftb | FileCheck %s --check-prefix=STEP
// STEP: "value":["add",{"stride":[0,0]},["mul",["sub",{"stride":[0,1]},{"stride":[0,0]}]
// STEP-SAME: "target":"sm_90a"
// STEP-SAME: "value":["add",{"stride":[0,0]},["mul",["sub",{"stride":[0,1]},{"stride":[0,0]}]
// GAP: dimensions 0 to 1 of \"{{.*}}\" to follow each other in memory
// RUN: ft-opt %t.d/cut.mlir --ft-compile="to=etdg" | FileCheck %s --check-prefix=CUT
// CUT: etdg.graph @cut(%{{.*}}: !etdg.buffer<[N_cut, K], tensor<2xf32>> {ft.strided = 2 : i64, ft.strides = [array<i64: 0>, array<i64: 0>]}
// RUN: ft-run %t.d/cut.mlir --engine=cpu --compare=interpret --dim N=21 --dim K=7 | FileCheck %s
// RUN: ft-run %t.d/cut.mlir --engine=emulate --compare=interpret --dim N=21 --dim K=7 | FileCheck %s
// A graph by itself is called with its own dimensions.
// RUN: ft-opt %t.d/flat.mlir --ft-compile="to=etdg" -o %t.graph.mlir
// RUN: ft-run %t.graph.mlir --engine=cpu --compare=interpret --dim N_M=91 | FileCheck %s
// What a program says of itself is not believed: the conversion alone knows what it joined.
// RUN: sed 's/{ft.strided = 2 : i64}/{ft.strided = 2 : i64, ft.strides = [array<i64: 0>, array<i64: 1, 2, 3>]}/' %t.d/flat.mlir > %t.said.mlir
// RUN: ft-run %t.said.mlir --engine=cpu --compare=interpret --dim N=7 --dim M=13 | FileCheck %s
// RUN: not ft-opt %t.d/groups.mlir 2>&1 | FileCheck %s --check-prefix=GROUPS
// GROUPS: error: 'ft.strides' of argument 0 must list the caller's dimensions in order, array<i64: ...> for each of 'ft.strided', found [array<i64: 1>]
// RUN: not ft-opt %t.d/deep.mlir 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: error: 'ft.strided' of argument 0: expected a list of at least 3 dimensions, found '!ft.list<[N, M], tensor<2xf32>>'
// RUN: not ft-opt %t.d/zero.mlir 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: 'ft.strided' of argument 0 must be a positive i64, the number of dimensions with strides, found 0 : i64
// RUN: not ft-opt %t.d/tensor.mlir 2>&1 | FileCheck %s --check-prefix=TENSOR
// TENSOR: error: 'ft.strided' of argument 0: expected a list of at least 1 dimensions, found 'tensor<2xf32>'

//--- good.mlir
!x = tensor<1x16xf32>
!w = tensor<16x16xf32>

func.func @rnn(%xss: !ft.list<[N, L], !x> {ft.strided = 2 : i64}, %w: !w) -> !ft.list<[N, L], !x>
    attributes {ft.lengths = {N = 3 : i64, L = 6 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %ys = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %y = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      %t = math.tanh %y : !x
      ft.yield %t : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %ys : !ft.list<[N, L], !x>
}

!s = tensor<i32>
func.func @sums(%xss: !ft.list<[N, M], !s> {ft.strided = 1 : i64}, %ys: !ft.list<[M], !s> {ft.strided = 1 : i64}) -> !ft.list<[N], !s> {
  %zero = arith.constant dense<0> : !s
  %r = ft.map (%xs = %xss : !ft.list<[N, M], !s>) -> !ft.list<[N], !s> {
    %sum = ft.foldl (%x, %y = %xs, %ys : !ft.list<[M], !s>, !ft.list<[M], !s>) init (%a = %zero : !s) -> !s {
      %p = arith.muli %x, %y : !s
      %b = arith.addi %a, %p : !s
      ft.yield %b : !s
    }
    ft.yield %sum : !s
  }
  return %r : !ft.list<[N], !s>
}

//--- flat.mlir
!x = tensor<2xf32>
func.func @flat(%xs: !ft.list<[N, M], !x> {ft.strided = 2 : i64}) -> !ft.list<[N * M], !x> {
  %ys = ft.flatten %xs : !ft.list<[N, M], !x>
  %zs = ft.map (%y = %ys : !ft.list<[N * M], !x>) -> !ft.list<[N * M], !x> {
    %z = arith.addf %y, %y : !x
    ft.yield %z : !x
  }
  return %zs : !ft.list<[N * M], !x>
}
//--- cut.mlir
!x = tensor<2xf32>
func.func @cut(%xs: !ft.list<[N], !x> {ft.strided = 1 : i64}, %ks: !ft.list<[K], !x>) -> !ft.list<[floordiv(N, K)], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %zero = arith.constant dense<0.0> : !x
  %ys = ft.split %xs by K : !ft.list<[N], !x>
  %zs = ft.map (%y = %ys : !ft.list<[floordiv(N, K), K], !x>) -> !ft.list<[floordiv(N, K)], !x> {
    %s = ft.foldl (%v = %y : !ft.list<[K], !x>) init (%a = %zero : !x) -> !x {
      %z = arith.addf %a, %v : !x
      ft.yield %z : !x
    }
    ft.yield %s : !x
  }
  return %zs : !ft.list<[floordiv(N, K)], !x>
}
//--- deep.mlir
func.func @deep(%xs: !ft.list<[N, M], tensor<2xf32>> {ft.strided = 3 : i64}) { return }
//--- zero.mlir
func.func @zero(%xs: !ft.list<[N, M], tensor<2xf32>> {ft.strided = 0 : i64}) { return }
//--- tensor.mlir
func.func @one(%x: tensor<2xf32> {ft.strided = 1 : i64}) { return }
//--- groups.mlir
func.func private @groups(!ft.list<[N], tensor<2xf32>> {ft.strided = 1 : i64, ft.strides = [array<i64: 1>]})
