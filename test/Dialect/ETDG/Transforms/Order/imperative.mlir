// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over tensors of dynamic size as one writes them by hand, raised, and the order that
// they get. Integers: the same bit for bit before and after.
//
// RUN: ft-opt %s --ft-compile="to=reorder target=sm_80" --remarks-filter=reorder -o /dev/null 2>&1 | FileCheck %s
// RUN: ft-opt %s --ft-compile=to=etdg -o %t.mlir
// RUN: ft-run %t.mlir --entry=forward --engine=cpu --compare=interpret --dim N=7
// RUN: ft-run %t.mlir --entry=forward --engine=interpret --order=declared --to=tile --compare=interpret --dim N=5
// RUN: ft-run %t.mlir --entry=pascal --engine=cpu --compare=interpret --dim N=7
// RUN: ft-run %t.mlir --entry=pascal --engine=interpret --order=declared --to=tile --compare=interpret --dim N=5
// RUN: ft-run %t.mlir --entry=seidel --engine=cpu --compare=interpret --dim N=7 --dim T=13
// RUN: ft-run %t.mlir --entry=seidel --engine=interpret --order=declared --to=tile --compare=interpret --dim N=5 --dim T=6
// RUN: ft-run %t.mlir --entry=lcs --engine=cpu --compare=interpret --dim S=7 --dim T=13
// RUN: ft-run %t.mlir --entry=lcs --engine=interpret --order=declared --to=tile --compare=interpret --dim S=5 --dim T=6
// RUN: ft-run %t.mlir --entry=two_apart --engine=cpu --compare=interpret --dim N=7
// RUN: ft-run %t.mlir --entry=two_apart --engine=interpret --order=declared --to=tile --compare=interpret --dim N=5
// RUN: ft-run %t.mlir --entry=triangle_layers --engine=cpu --compare=interpret --dim D=7 --dim L=13
// RUN: ft-run %t.mlir --entry=triangle_layers --engine=interpret --order=declared --to=tile --compare=interpret --dim D=5 --dim L=6
// RUN: ft-run %t.mlir --entry=ring --engine=cpu --compare=interpret --dim L=7
// RUN: ft-run %t.mlir --entry=ring --engine=interpret --order=declared --to=tile --compare=interpret --dim L=5
// RUN: ft-run %t.mlir --entry=knapsack --engine=cpu --compare=interpret --dim S=7 --dim W=13
// RUN: ft-run %t.mlir --entry=knapsack --engine=interpret --order=declared --to=tile --compare=interpret --dim S=5 --dim W=6
// RUN: ft-run %t.mlir --entry=chain --engine=cpu --compare=interpret --dim N=7
// RUN: ft-run %t.mlir --entry=chain --engine=interpret --order=declared --to=tile --compare=interpret --dim N=5

!x = tensor<4xi32>

// Forward substitution: row i folds all x before it.
func.func @forward(%a: tensor<?x?xi32> {etdg.dims = ["N", "N"]}, %b: tensor<?xi32> {etdg.dims = ["N"]}) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %N = tensor.dim %b, %c0 : tensor<?xi32>
  %e = tensor.empty(%N) : tensor<?xi32>
  %r = scf.for %i = %c0 to %N step %c1 iter_args(%x = %e) -> tensor<?xi32> {
    %bi = tensor.extract %b[%i] : tensor<?xi32>
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%acc = %bi) -> i32 {
      %aij = tensor.extract %a[%i, %j] : tensor<?x?xi32>
      %xj = tensor.extract %x[%j] : tensor<?xi32>
      %p = arith.muli %aij, %xj : i32
      %q = arith.subi %acc, %p : i32
      scf.yield %q : i32
    }
    %x1 = tensor.insert %s into %x[%i] : tensor<?xi32>
    scf.yield %x1 : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}

// Pascal's triangle: a row is a map of the one before.
func.func @pascal(%n: tensor<?xi32> {etdg.dims = ["N"]}) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %N = tensor.dim %n, %c0 : tensor<?xi32>
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %e = tensor.empty(%N, %N) : tensor<?x?xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = scf.for %i = %c0 to %N step %c1 iter_args(%x = %f) -> tensor<?x?xi32> {
    %i1 = arith.addi %i, %c1 : index
    %row = scf.for %j = %c0 to %i1 step %c1 iter_args(%y = %x) -> tensor<?x?xi32> {
      %isFirst = arith.cmpi eq, %j, %c0 : index
      %isLast = arith.cmpi eq, %j, %i : index
      %edge = arith.ori %isFirst, %isLast : i1
      %v = scf.if %edge -> i32 {
        scf.yield %one : i32
      } else {
        %im = arith.subi %i, %c1 : index
        %jm = arith.subi %j, %c1 : index
        %a = tensor.extract %y[%im, %jm] : tensor<?x?xi32>
        %b = tensor.extract %y[%im, %j] : tensor<?x?xi32>
        %s = arith.addi %a, %b : i32
        scf.yield %s : i32
      }
      %y1 = tensor.insert %v into %y[%i, %j] : tensor<?x?xi32>
      scf.yield %y1 : tensor<?x?xi32>
    }
    scf.yield %row : tensor<?x?xi32>
  }
  return %r : tensor<?x?xi32>
}

// Gauss-Seidel in place: a cell takes its new left and its old right neighbour.
// CHECK: remark: {{.*}} transform {{.*}}"2 * i + j sequential, i parallel"{{.*}}steps-after="N + 2 * T - 4"
func.func @seidel(%x0: tensor<?xi32> {etdg.dims = ["N"]}, %t: tensor<?xi32> {etdg.dims = ["T"]}) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : i32
  %N = tensor.dim %x0, %c0 : tensor<?xi32>
  %T = tensor.dim %t, %c0 : tensor<?xi32>
  %Nm = arith.subi %N, %c1 : index
  %r = scf.for %k = %c0 to %T step %c1 iter_args(%x = %x0) -> tensor<?xi32> {
    %s = scf.for %i = %c1 to %Nm step %c1 iter_args(%y = %x) -> tensor<?xi32> {
      %im = arith.subi %i, %c1 : index
      %ip = arith.addi %i, %c1 : index
      %a = tensor.extract %y[%im] : tensor<?xi32>
      %b = tensor.extract %y[%i] : tensor<?xi32>
      %c = tensor.extract %y[%ip] : tensor<?xi32>
      %p = arith.muli %a, %c2 : i32
      %q = arith.addi %p, %b : i32
      %u = arith.subi %q, %c : i32
      %y1 = tensor.insert %u into %y[%i] : tensor<?xi32>
      scf.yield %y1 : tensor<?xi32>
    }
    scf.yield %s : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}

// Longest common subsequence: three neighbours in a table.
// CHECK: remark: {{.*}} transform {{.*}}"i + j sequential, i parallel"{{.*}}steps-after="S + T - 1"
func.func @lcs(%a: tensor<?xi32> {etdg.dims = ["S"]}, %b: tensor<?xi32> {etdg.dims = ["T"]}) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %S = tensor.dim %a, %c0 : tensor<?xi32>
  %T = tensor.dim %b, %c0 : tensor<?xi32>
  %e = tensor.empty(%S, %T) : tensor<?x?xi32>
  %r = scf.for %i = %c0 to %S step %c1 iter_args(%x = %e) -> tensor<?x?xi32> {
    %row = scf.for %j = %c0 to %T step %c1 iter_args(%y = %x) -> tensor<?x?xi32> {
      %i0 = arith.cmpi eq, %i, %c0 : index
      %j0 = arith.cmpi eq, %j, %c0 : index
      %im = arith.subi %i, %c1 : index
      %jm = arith.subi %j, %c1 : index
      %up = scf.if %i0 -> i32 { scf.yield %z : i32 } else { %v = tensor.extract %y[%im, %j] : tensor<?x?xi32>  scf.yield %v : i32 }
      %left = scf.if %j0 -> i32 { scf.yield %z : i32 } else { %v = tensor.extract %y[%i, %jm] : tensor<?x?xi32>  scf.yield %v : i32 }
      %ij = arith.ori %i0, %j0 : i1
      %diag = scf.if %ij -> i32 { scf.yield %z : i32 } else { %v = tensor.extract %y[%im, %jm] : tensor<?x?xi32>  scf.yield %v : i32 }
      %ai = tensor.extract %a[%i] : tensor<?xi32>
      %bj = tensor.extract %b[%j] : tensor<?xi32>
      %eq = arith.cmpi eq, %ai, %bj : i32
      %d1 = arith.addi %diag, %one : i32
      %m = arith.maxsi %up, %left : i32
      %m1 = arith.maxsi %m, %d1 : i32
      %v = arith.select %eq, %m1, %m : i32
      %y1 = tensor.insert %v into %y[%i, %j] : tensor<?x?xi32>
      scf.yield %y1 : tensor<?x?xi32>
    }
    scf.yield %row : tensor<?x?xi32>
  }
  return %r : tensor<?x?xi32>
}

// Each element needs the one two before: two chains.
// CHECK: remark: {{.*}} transform {{.*}}steps-after="ceildiv(N, 2) - 1"
func.func @two_apart(%b: tensor<?xi32> {etdg.dims = ["N"]}) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %N = tensor.dim %b, %c0 : tensor<?xi32>
  %r = scf.for %i = %c2 to %N step %c1 iter_args(%x = %b) -> tensor<?xi32> {
    %im = arith.subi %i, %c2 : index
    %v = tensor.extract %x[%im] : tensor<?xi32>
    %w = tensor.extract %x[%i] : tensor<?xi32>
    %s = arith.addi %v, %w : i32
    %x1 = tensor.insert %s into %x[%i] : tensor<?xi32>
    scf.yield %x1 : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}

// Layer l begins at time l.
// CHECK: remark: {{.*}} transform {{.*}}"i + j sequential, i parallel"{{.*}}steps-after="D + L - 1"
func.func @triangle_layers(%xs: tensor<?x4xi32> {etdg.dims = ["L", ""]}, %ws: tensor<?x4xi32> {etdg.dims = ["D", ""]}) -> tensor<?x?x4xi32> attributes {ft.bounds = #ft.bounds<"L >= D">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %L = tensor.dim %xs, %c0 : tensor<?x4xi32>
  %D = tensor.dim %ws, %c0 : tensor<?x4xi32>
  %z = arith.constant dense<0> : !x
  %zi = arith.constant 0 : i32
  %e = tensor.empty(%D, %L) : tensor<?x?x4xi32>
  %f = linalg.fill ins(%zi : i32) outs(%e : tensor<?x?x4xi32>) -> tensor<?x?x4xi32>
  %r = scf.for %l = %c0 to %D step %c1 iter_args(%hs = %f) -> tensor<?x?x4xi32> {
    %w = tensor.extract_slice %ws[%l, 0] [1, 4] [1, 1] : tensor<?x4xi32> to !x
    %q:2 = scf.for %t = %l to %L step %c1 iter_args(%h1 = %hs, %s = %z) -> (tensor<?x?x4xi32>, !x) {
      %first = arith.cmpi eq, %l, %c0 : index
      %x = scf.if %first -> !x {
        %x0 = tensor.extract_slice %xs[%t, 0] [1, 4] [1, 1] : tensor<?x4xi32> to !x
        scf.yield %x0 : !x
      } else {
        %lm = arith.subi %l, %c1 : index
        %x1 = tensor.extract_slice %h1[%lm, %t, 0] [1, 1, 4] [1, 1, 1] : tensor<?x?x4xi32> to !x
        scf.yield %x1 : !x
      }
      %a = arith.muli %x, %w : !x
      %n = arith.subi %a, %s : !x
      %h2 = tensor.insert_slice %n into %h1[%l, %t, 0] [1, 1, 4] [1, 1, 1] : !x into tensor<?x?x4xi32>
      scf.yield %h2, %n : tensor<?x?x4xi32>, !x
    }
    scf.yield %q#0 : tensor<?x?x4xi32>
  }
  return %r : tensor<?x?x4xi32>
}

// A ring buffer of 3 cells, written at t mod 3: three chains.
// CHECK: remark: {{.*}} transform {{.*}}steps-after="ceildiv(L, 3)"
func.func @ring(%xs: tensor<?xi32> {etdg.dims = ["L"]}) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %L = tensor.dim %xs, %c0 : tensor<?xi32>
  %z = arith.constant dense<0> : tensor<3xi32>
  %e = tensor.empty(%L) : tensor<?xi32>
  %r:2 = scf.for %t = %c0 to %L step %c1 iter_args(%o = %e, %ring = %z) -> (tensor<?xi32>, tensor<3xi32>) {
    %p = arith.remui %t, %c3 : index
    %old = tensor.extract %ring[%p] : tensor<3xi32>
    %x = tensor.extract %xs[%t] : tensor<?xi32>
    %s = arith.subi %x, %old : i32
    %ring1 = tensor.insert %s into %ring[%p] : tensor<3xi32>
    %o1 = tensor.insert %s into %o[%t] : tensor<?xi32>
    scf.yield %o1, %ring1 : tensor<?xi32>, tensor<3xi32>
  }
  return %r#0 : tensor<?xi32>
}

// Items of weight 3: a row is a map of the one before.
func.func @knapsack(%v: tensor<?xi32> {etdg.dims = ["S"]}, %w: tensor<?xi32> {etdg.dims = ["W"]}) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0 : i32
  %S = tensor.dim %v, %c0 : tensor<?xi32>
  %W = tensor.dim %w, %c0 : tensor<?xi32>
  %r = scf.for %i = %c0 to %S step %c1 iter_args(%t = %w) -> tensor<?xi32> {
    %e = tensor.empty(%W) : tensor<?xi32>
    %vi = tensor.extract %v[%i] : tensor<?xi32>
    %row = scf.for %j = %c0 to %W step %c1 iter_args(%n = %e) -> tensor<?xi32> {
      %old = tensor.extract %t[%j] : tensor<?xi32>
      %ok = arith.cmpi sge, %j, %c3 : index
      %take = scf.if %ok -> i32 {
        %jm = arith.subi %j, %c3 : index
        %q = tensor.extract %t[%jm] : tensor<?xi32>
        %s = arith.addi %q, %vi : i32
        scf.yield %s : i32
      } else { scf.yield %old : i32 }
      %m = arith.maxsi %old, %take : i32
      %n1 = tensor.insert %m into %n[%j] : tensor<?xi32>
      scf.yield %n1 : tensor<?xi32>
    }
    scf.yield %row : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}

// Matrix chain by lengths: a fold over the places to cut, whose range both loops around it set.
func.func @chain(%p: tensor<?xi32> {etdg.dims = ["N"]}) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %big = arith.constant 1000000 : i32
  %z = arith.constant 0 : i32
  %N = tensor.dim %p, %c0 : tensor<?xi32>
  %e = tensor.empty(%N, %N) : tensor<?x?xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = scf.for %len = %c1 to %N step %c1 iter_args(%t = %f) -> tensor<?x?xi32> {
    %n = arith.subi %N, %len : index
    %row = scf.for %i = %c0 to %n step %c1 iter_args(%u = %t) -> tensor<?x?xi32> {
      %j = arith.addi %i, %len : index
      %pi = tensor.extract %p[%i] : tensor<?xi32>
      %best = scf.for %k = %i to %j step %c1 iter_args(%b = %big) -> i32 {
        %k1 = arith.addi %k, %c1 : index
        %l = tensor.extract %u[%i, %k] : tensor<?x?xi32>
        %q = tensor.extract %u[%k1, %j] : tensor<?x?xi32>
        %s = arith.addi %l, %q : i32
        %s1 = arith.addi %s, %pi : i32
        %m = arith.minsi %b, %s1 : i32
        scf.yield %m : i32
      }
      %u1 = tensor.insert %best into %u[%i, %j] : tensor<?x?xi32>
      scf.yield %u1 : tensor<?x?xi32>
    }
    scf.yield %row : tensor<?x?xi32>
  }
  return %r : tensor<?x?xi32>
}
