// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands beside a recurrence and is short (its last state, the rows of the result that it does not write) runs in its
// kernel: one launch. A barrier stands where a nest reads what another one wrote, and nowhere else. One thread block runs
// @alone's recurrence without waiting for others in its steps. What is long keeps a launch of its own, and is passed.
// Short nests without a recurrence share a launch, too: those of @apart don't wait for each other.
//
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// PTX-NOT: .entry
// PTX: .entry last_k0(
// PTX-NOT: .entry
// PTX: .entry alone_k0(
// PTX-COUNT-1: atom.add.acq_rel.gpu.global.u32
// PTX-NOT: atom.add
// PTX: .entry long_k0{{.*}}(
// PTX-COUNT-1: atom.add.acq_rel.gpu.global.u32
// PTX: .entry long_k1(
// PTX-NOT: atom.add
// PTX-NOT: .entry
// PTX: .entry apart_k0(
// PTX-NOT: atom.add
// PTX-NOT: .entry
// PTX: .entry behind_k0(
// PTX-COUNT-1: atom.add.acq_rel.gpu.global.u32
// PTX-NOT: atom.add
// PTX-NOT: .entry
// PTX: .entry bounded_k0(
// PTX-NOT: .entry
// PTX: .entry open_k0{{.*}}(
// PTX: .entry open_k1{{.*}}(
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a" | FileCheck %s
// RUN: ft-run %s --entry=last --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=alone --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=long --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=apart --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=behind --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=bounded --dim=N=13 --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=bounded --dim=N=0 --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!x = tensor<16xf32>
!w = tensor<16x16xf32>
#row = affine_map<(d0, d1) -> (d1)>
#weights = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: @last
// CHECK: etdg.kernel {
// CHECK-NOT: etdg.kernel
func.func @last(%xs: tensor<7x16xf32>, %w: !w, %old: tensor<11x16xf32>) -> (!x, tensor<11x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant dense<0.0> : !x
  %h, %all = scf.for %i = %c0 to %c7 step %c1 iter_args(%h = %zero, %all = %old) -> (!x, tensor<11x16xf32>) {
    %x = tensor.extract_slice %xs[%i, 0] [1, 16] [1, 1] : tensor<7x16xf32> to !x
    %m = linalg.generic {indexing_maps = [#weights, #row, #sum], iterator_types = ["parallel", "reduction"]} ins(%w, %h : !w, !x) outs(%x : !x) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
    } -> !x
    %next = math.tanh %m : !x
    %put = tensor.insert_slice %next into %all[%i, 0] [1, 16] [1, 1] : !x into tensor<11x16xf32>
    scf.yield %next, %put : !x, tensor<11x16xf32>
  }
  return %h, %all : !x, tensor<11x16xf32>
}

// The sum needs all of the state: columns are not shared.
// CHECK-LABEL: @alone
// CHECK: etdg.kernel {
// CHECK-NEXT: schedule <map = {{.*}}, loops = [<dimension = 0, kind = sequential>]
// CHECK: before = grid
func.func @alone(%xs: tensor<7x16xf32>) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x
  %none = arith.constant dense<0.0> : tensor<f32>
  %h, %k = scf.for %i = %c0 to %c7 step %c1 iter_args(%h = %zero, %k = %one) -> (!x, !x) {
    %x = tensor.extract_slice %xs[%i, 0] [1, 16] [1, 1] : tensor<7x16xf32> to !x
    %m = arith.addf %h, %x : !x
    %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%m : !x) outs(%none : tensor<f32>) {
    ^bb0(%a: f32, %c: f32):
      %p = arith.addf %a, %c : f32
      linalg.yield %p : f32
    } -> tensor<f32>
    %e = tensor.empty() : !x
    %next = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%m, %s : !x, tensor<f32>) outs(%e : !x) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %q = arith.addf %a, %b : f32
      %t = math.tanh %q : f32
      linalg.yield %t : f32
    } -> !x
    %o = arith.mulf %k, %next : !x
    scf.yield %next, %o : !x, !x
  }
  %both = arith.addf %h, %k : !x
  return %both : !x
}

// CHECK-LABEL: @long
// CHECK: etdg.kernel {
// CHECK: etdg.nest
// CHECK: etdg.block @r2 []
// CHECK: etdg.block @r1 [map] (i) in [0, 8192)
// CHECK-NOT: etdg.kernel
func.func @long(%xs: tensor<7x16xf32>, %big: tensor<8192x16xf32>) -> (!x, tensor<8192x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant dense<0.0> : !x
  %h = scf.for %i = %c0 to %c7 step %c1 iter_args(%h = %zero) -> (!x) {
    %x = tensor.extract_slice %xs[%i, 0] [1, 16] [1, 1] : tensor<7x16xf32> to !x
    %m = arith.addf %h, %x : !x
    %next = math.tanh %m : !x
    scf.yield %next : !x
  }
  %double = arith.addf %big, %big : tensor<8192x16xf32>
  return %h, %double : !x, tensor<8192x16xf32>
}

// CHECK-LABEL: etdg.graph @apart
// CHECK: etdg.kernel {
// CHECK-NOT: before = grid
// CHECK-LABEL: etdg.graph @behind
// CHECK: etdg.kernel {
// CHECK: before = grid
func.func @apart(%x: tensor<12x8xf32>, %w: tensor<8x8xf32>, %y: tensor<7x5xf32>) -> (tensor<12x8xf32>, tensor<7x5xf32>) {
  %z = arith.constant dense<0.0> : tensor<12x8xf32>
  %e = tensor.empty() : tensor<7x5xf32>
  %p = linalg.matmul ins(%x, %w : tensor<12x8xf32>, tensor<8x8xf32>) outs(%z : tensor<12x8xf32>) -> tensor<12x8xf32>
  %q = linalg.tanh ins(%y : tensor<7x5xf32>) outs(%e : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %p, %q : tensor<12x8xf32>, tensor<7x5xf32>
}

func.func @behind(%a: tensor<12x12xf32>, %x: tensor<12x8xf32>, %w: tensor<8x8xf32>) -> tensor<12x8xf32> {
  %z = arith.constant dense<0.0> : tensor<12x8xf32>
  %k = linalg.matmul ins(%x, %w : tensor<12x8xf32>, tensor<8x8xf32>) outs(%z : tensor<12x8xf32>) -> tensor<12x8xf32>
  %s = linalg.matmul ins(%a, %k : tensor<12x12xf32>, tensor<12x8xf32>) outs(%z : tensor<12x8xf32>) -> tensor<12x8xf32>
  return %s : tensor<12x8xf32>
}

// Lengths that the call decides are short where bounds say so; and nests with a body are, where all of it is.
func.func @bounded(%x: tensor<?x8xf32> {etdg.dims = ["N", ""]}, %y: tensor<7x5xf32>) -> (tensor<?x8xf32>, tensor<7x5xf32>) attributes {ft.bounds = #ft.bounds<"N <= 50">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %e = tensor.empty() : tensor<7x5xf32>
  %p = linalg.exp ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) -> tensor<?x8xf32>
  %q = linalg.tanh ins(%y : tensor<7x5xf32>) outs(%e : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %p, %q : tensor<?x8xf32>, tensor<7x5xf32>
}

func.func @open(%x: tensor<?x8xf32> {etdg.dims = ["N", ""]}, %y: tensor<7x5xf32>) -> (tensor<?x8xf32>, tensor<7x5xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %e = tensor.empty() : tensor<7x5xf32>
  %p = linalg.exp ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) -> tensor<?x8xf32>
  %q = linalg.tanh ins(%y : tensor<7x5xf32>) outs(%e : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %p, %q : tensor<?x8xf32>, tensor<7x5xf32>
}
