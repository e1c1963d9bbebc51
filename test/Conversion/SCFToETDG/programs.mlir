// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops as one writes them, over triangles, planes and intervals, with ends that are data.
//
// RUN: %python %S/Inputs/loops.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 5 programs, {{[1-9][0-9]*}} runs, 0 failures

// Forward substitution, column by column: a triangle of sums with a division.
func.func @substitute(%l: tensor<?x?xf64> {etdg.dims = ["N", "N"], ft.gen = #ft.uniform<1.0, 2.0>}, %b: tensor<?xf64> {etdg.dims = ["N"]}) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %b, %c0 : tensor<?xf64>
  %x = scf.for %i = %c0 to %n step %c1 iter_args(%x0 = %b) -> tensor<?xf64> {
    %s0 = tensor.extract %b[%i] : tensor<?xf64>
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%a = %s0) -> f64 {
      %lij = tensor.extract %l[%i, %j] : tensor<?x?xf64>
      %xj = tensor.extract %x0[%j] : tensor<?xf64>
      %p = arith.mulf %lij, %xj : f64
      %d = arith.subf %a, %p : f64
      scf.yield %d : f64
    }
    %lii = tensor.extract %l[%i, %i] : tensor<?x?xf64>
    %q = arith.divf %s, %lii : f64
    %x1 = tensor.insert %q into %x0[%i] : tensor<?xf64>
    scf.yield %x1 : tensor<?xf64>
  }
  return %x : tensor<?xf64>
}
// Jacobi steps over a plane, borders kept.
func.func @jacobi(%a: tensor<?x?xf32> {etdg.dims = ["H", "W"]}, %init: tensor<?x?x?xf32> {etdg.dims = ["T", "H", "W"]}) -> tensor<?x?x?xf32> attributes {ft.bounds = #ft.bounds<"H >= 3", "W >= 3", "T >= 1">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %q = arith.constant 0.25 : f32
  %h = tensor.dim %a, %c0 : tensor<?x?xf32>
  %w = tensor.dim %a, %c1 : tensor<?x?xf32>
  %t = tensor.dim %init, %c0 : tensor<?x?x?xf32>
  %h1 = arith.subi %h, %c1 : index
  %w1 = arith.subi %w, %c1 : index
  %r = scf.for %k = %c1 to %t step %c1 iter_args(%u = %init) -> tensor<?x?x?xf32> {
    %km = arith.subi %k, %c1 : index
    %v = scf.for %i = %c1 to %h1 step %c1 iter_args(%u1 = %u) -> tensor<?x?x?xf32> {
      %v1 = scf.for %j = %c1 to %w1 step %c1 iter_args(%u2 = %u1) -> tensor<?x?x?xf32> {
        %im = arith.subi %i, %c1 : index
        %ip = arith.addi %i, %c1 : index
        %jm = arith.subi %j, %c1 : index
        %jp = arith.addi %j, %c1 : index
        %n = tensor.extract %u2[%km, %im, %j] : tensor<?x?x?xf32>
        %s = tensor.extract %u2[%km, %ip, %j] : tensor<?x?x?xf32>
        %e = tensor.extract %u2[%km, %i, %jm] : tensor<?x?x?xf32>
        %o = tensor.extract %u2[%km, %i, %jp] : tensor<?x?x?xf32>
        %f = tensor.extract %a[%i, %j] : tensor<?x?xf32>
        %ns = arith.addf %n, %s : f32
        %eo = arith.addf %e, %o : f32
        %sum = arith.addf %ns, %eo : f32
        %m = arith.mulf %sum, %q : f32
        %y = arith.addf %m, %f : f32
        %w2 = tensor.insert %y into %u2[%k, %i, %j] : tensor<?x?x?xf32>
        scf.yield %w2 : tensor<?x?x?xf32>
      }
      scf.yield %v1 : tensor<?x?x?xf32>
    }
    scf.yield %v : tensor<?x?x?xf32>
  }
  return %r : tensor<?x?x?xf32>
}
// Matrix chain: an interval table, diagonal after diagonal, minima over where to cut.
func.func @chain(%p: tensor<?xi64> {etdg.dims = ["N"], ft.gen = #ft.index<1, 9>}, %m0: tensor<?x?xi64> {etdg.dims = ["N", "N"], ft.gen = #ft.index<0, 1>}) -> tensor<?x?xi64> attributes {ft.bounds = #ft.bounds<"N >= 2">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %big = arith.constant 1000000 : i64
  %n = tensor.dim %p, %c0 : tensor<?xi64>
  %r = scf.for %len = %c2 to %n step %c1 iter_args(%m = %m0) -> tensor<?x?xi64> {
    %last = arith.subi %n, %len : index
    %r1 = scf.for %i = %c0 to %last step %c1 iter_args(%m1 = %m) -> tensor<?x?xi64> {
      %j = arith.addi %i, %len : index
      %pi = tensor.extract %p[%i] : tensor<?xi64>
      %pj = tensor.extract %p[%j] : tensor<?xi64>
      %i1 = arith.addi %i, %c1 : index
      %best = scf.for %k = %i1 to %j step %c1 iter_args(%b = %big) -> i64 {
        %l = tensor.extract %m1[%i, %k] : tensor<?x?xi64>
        %q = tensor.extract %m1[%k, %j] : tensor<?x?xi64>
        %pk = tensor.extract %p[%k] : tensor<?xi64>
        %pp = arith.muli %pi, %pj : i64
        %ppp = arith.muli %pp, %pk : i64
        %s = arith.addi %l, %q : i64
        %t = arith.addi %s, %ppp : i64
        %u = arith.minsi %b, %t : i64
        scf.yield %u : i64
      }
      %m2 = tensor.insert %best into %m1[%i, %j] : tensor<?x?xi64>
      scf.yield %m2 : tensor<?x?xi64>
    }
    scf.yield %r1 : tensor<?x?xi64>
  }
  return %r : tensor<?x?xi64>
}
// Steps until a vector's norm is small, or a bound.
func.func @power(%a: tensor<9x9xf32> {ft.gen = #ft.normal<0.3>}, %x: tensor<9xf32>, %steps: tensor<?xf32> {etdg.dims = ["T"]}) -> (tensor<9xf32>, tensor<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %eps = arith.constant 0.05 : f32
  %z = arith.constant dense<0.0> : tensor<9xf32>
  %zs = arith.constant dense<0.0> : tensor<f32>
  %t = tensor.dim %steps, %c0 : tensor<?xf32>
  %r:3 = scf.while (%i = %c0, %v = %x, %go = %true) : (index, tensor<9xf32>, i1) -> (index, tensor<9xf32>, i1) {
    %in = arith.cmpi slt, %i, %t : index
    %c = arith.andi %in, %go : i1
    scf.condition(%c) %i, %v, %go : index, tensor<9xf32>, i1
  } do {
  ^bb0(%i: index, %v: tensor<9xf32>, %go: i1):
    %y = linalg.matvec ins(%a, %v : tensor<9x9xf32>, tensor<9xf32>) outs(%z : tensor<9xf32>) -> tensor<9xf32>
    %h = math.tanh %y : tensor<9xf32>
    %d = arith.subf %h, %v : tensor<9xf32>
    %dd = arith.mulf %d, %d : tensor<9xf32>
    %s = linalg.reduce { arith.addf } ins(%dd : tensor<9xf32>) outs(%zs : tensor<f32>) dimensions = [0]
    %e = tensor.extract %s[] : tensor<f32>
    %g = arith.cmpf ogt, %e, %eps : f32
    %i1 = arith.addi %i, %c1 : index
    scf.yield %i1, %h, %g : index, tensor<9xf32>, i1
  }
  %ri = arith.index_cast %r#0 : index to i64
  %rt = tensor.from_elements %ri : tensor<i64>
  return %r#1, %rt : tensor<9xf32>, tensor<i64>
}
// Floyd–Warshall over whole rows.
func.func @paths(%d: tensor<11x11xf32> {ft.gen = #ft.uniform<0.1, 9.0>}) -> tensor<11x11xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 11 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%m = %d) -> tensor<11x11xf32> {
    %row = tensor.extract_slice %m[%k, 0] [1, 11] [1, 1] : tensor<11x11xf32> to tensor<11xf32>
    %col = tensor.extract_slice %m[0, %k] [11, 1] [1, 1] : tensor<11x11xf32> to tensor<11xf32>
    %e = tensor.empty() : tensor<11x11xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m, %row, %col : tensor<11x11xf32>, tensor<11xf32>, tensor<11xf32>) outs(%e : tensor<11x11xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %s = arith.addf %b, %c : f32
      %q = arith.minimumf %a, %s : f32
      linalg.yield %q : f32
    } -> tensor<11x11xf32>
    scf.yield %y : tensor<11x11xf32>
  }
  return %r : tensor<11x11xf32>
}
