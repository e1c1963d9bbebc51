// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that may be cut, tuples, calls, bodies of several types, in programs
// that no example has.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 8 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

#row = affine_map<(m, n) -> (m)>
#mn = affine_map<(m, n) -> (m, n)>
#nm = affine_map<(m, n) -> (n, m)>

!l = tensor<i64>
!x = tensor<1x6xf32>
!w = tensor<6x6xf32>
!s = tensor<f32>
!t = tensor<i1>

// A linear recurrence h = a h + b as a scan that may be cut: its states are pairs.
func.func @linear_recurrence(%as: !ft.list<[L], !x> {ft.gen = #ft.uniform<0.2, 0.9>}, %bs: !ft.list<[L], !x>) -> !ft.list<[L], !x> {
  %one = arith.constant dense<1.0> : !x
  %z = arith.constant dense<0.0> : !x
  %a, %h = ft.scan (%ai, %bi = %as, %bs : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%p, %q = %one, %z : !x, !x)
      -> !ft.list<[L], !x>, !ft.list<[L], !x> {
    %pa = arith.mulf %p, %ai : !x
    %qa = arith.mulf %q, %ai : !x
    %qb = arith.addf %qa, %bi : !x
    ft.yield %pa, %qb : !x, !x
  }
  return %h : !ft.list<[L], !x>
}

// A reduce whose states are lists, with a combine: kept in order by the graph.
func.func @histogram(%xs: !ft.list<[L], !l> {ft.gen = #ft.index<0, 5>}) -> !ft.list<[5], !l> {
  %z = arith.constant dense<0> : !l
  %one = arith.constant dense<1> : !l
  %zeros = ft.repeat %z times 5 : !l
  %bins = ft.iota : !ft.list<[5], !l>
  %h = ft.reduce (%x = %xs : !ft.list<[L], !l>) init (%now = %zeros : !ft.list<[5], !l>) -> !ft.list<[5], !l> {
    %n = ft.map (%c, %b = %now, %bins : !ft.list<[5], !l>, !ft.list<[5], !l>) -> !ft.list<[5], !l> {
      %eq = arith.cmpi eq, %x, %b : !l
      %inc = arith.extui %eq : !t to !l
      %m = arith.addi %c, %inc : !l
      ft.yield %m : !l
    }
    ft.yield %n : !ft.list<[5], !l>
  } combine (%p, %q) {
    %n = ft.map (%c, %d = %p, %q : !ft.list<[5], !l>, !ft.list<[5], !l>) -> !ft.list<[5], !l> {
      %m = arith.addi %c, %d : !l
      ft.yield %m : !l
    }
    ft.yield %n : !ft.list<[5], !l>
  } identity (%zeros : !ft.list<[5], !l>)
  return %h : !ft.list<[5], !l>
}

// Tuples among arguments and results of calls, two levels deep.
func.func private @cell(%hc: tuple<!x, !x>, %x: !x, %w: !w) -> (!x, !x) {
  %h = ft.get %hc[0] : tuple<!x, !x>
  %c = ft.get %hc[1] : tuple<!x, !x>
  %g = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
  %t = math.tanh %g : !x
  %c1 = arith.addf %c, %t : !x
  %h1 = math.tanh %c1 : !x
  return %h1, %c1 : !x, !x
}
func.func private @layer(%hcs: !ft.list<[L], tuple<!x, !x>>, %w: !w) -> (!ft.list<[L], !x>, !ft.list<[L], !x>) {
  %a, %b = ft.map (%hc = %hcs : !ft.list<[L], tuple<!x, !x>>) -> !ft.list<[L], !x>, !ft.list<[L], !x> {
    %h = ft.get %hc[0] : tuple<!x, !x>
    %p, %q = func.call @cell(%hc, %h, %w) : (tuple<!x, !x>, !x, !w) -> (!x, !x)
    ft.yield %p, %q : !x, !x
  }
  return %a, %b : !ft.list<[L], !x>, !ft.list<[L], !x>
}
func.func @tuples_through_calls(%hs: !ft.list<[L], !x>, %cs: !ft.list<[L], !x>, %w: !w {ft.gen = #ft.normal<0.3>})
    -> (!ft.list<[L], !x>, !ft.list<[L], !x>) {
  %z = ft.zip %hs, %cs : !ft.list<[L], !x>, !ft.list<[L], !x>
  %a, %b = func.call @layer(%z, %w) : (!ft.list<[L], tuple<!x, !x>>, !w) -> (!ft.list<[L], !x>, !ft.list<[L], !x>)
  return %a, %b : !ft.list<[L], !x>, !ft.list<[L], !x>
}

// Tuples among arguments and results: an array for each member. What the first one
// holds goes back as a list of tuples.
func.func @tuple_arguments(%t: tuple<!ft.list<[L], !x>, !x>, %ps: !ft.list<[L], tuple<!x, !ft.list<[M], !s>>>)
    -> (!ft.list<[L], tuple<!x, !x>>, !ft.list<[L], !s>) {
  %xs = ft.get %t[0] : tuple<!ft.list<[L], !x>, !x>
  %c = ft.get %t[1] : tuple<!ft.list<[L], !x>, !x>
  %z = arith.constant dense<0.0> : !s
  %a, %b, %s = ft.map (%x, %p = %xs, %ps : !ft.list<[L], !x>, !ft.list<[L], tuple<!x, !ft.list<[M], !s>>>)
      -> !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !s> {
    %y = ft.get %p[0] : tuple<!x, !ft.list<[M], !s>>
    %m = ft.get %p[1] : tuple<!x, !ft.list<[M], !s>>
    %sum = ft.foldl (%e = %m : !ft.list<[M], !s>) init (%acc = %z : !s) -> !s {
      %n = arith.addf %acc, %e : !s
      ft.yield %n : !s
    }
    %p1 = arith.mulf %x, %c : !x
    %q1 = arith.addf %y, %c : !x
    ft.yield %p1, %q1, %sum : !x, !x, !s
  }
  %r = ft.zip %a, %b : !ft.list<[L], !x>, !ft.list<[L], !x>
  return %r, %s : !ft.list<[L], tuple<!x, !x>>, !ft.list<[L], !s>
}

// Positions inside a tensor; generics with two results, one of them reduced.
func.func @generic_bodies(%xs: !ft.list<[L], tensor<4x6xf32>>)
    -> (!ft.list<[L], tensor<4x6xf32>>, !ft.list<[L], tensor<6x4xf32>>, !ft.list<[L], tensor<4xf32>>, !ft.list<[L], tensor<4xf32>>) {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %y, %v, %r, %q = ft.map (%x = %xs : !ft.list<[L], tensor<4x6xf32>>)
      -> !ft.list<[L], tensor<4x6xf32>>, !ft.list<[L], tensor<6x4xf32>>, !ft.list<[L], tensor<4xf32>>, !ft.list<[L], tensor<4xf32>> {
    %e = tensor.empty() : tensor<4x6xf32>
    %t = tensor.empty() : tensor<6x4xf32>
    %m:2 = linalg.generic {indexing_maps = [#mn, #mn, #nm], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x6xf32>) outs(%e, %t : tensor<4x6xf32>, tensor<6x4xf32>) {
    ^bb0(%a: f32, %old: f32, %other: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %ij = arith.subi %j, %i : index
      %ji = arith.index_cast %ij : index to i32
      %jf = arith.sitofp %ji : i32 to f32
      %p = arith.mulf %a, %jf : f32
      %n = arith.negf %a : f32
      linalg.yield %p, %n : f32, f32
    } -> (tensor<4x6xf32>, tensor<6x4xf32>)
    %s:2 = linalg.generic {indexing_maps = [#mn, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4x6xf32>) outs(%z, %z : tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%a: f32, %sum: f32, %squares: f32):
      %j = linalg.index 1 : index
      %ji = arith.index_cast %j : index to i32
      %jf = arith.sitofp %ji : i32 to f32
      %p = arith.mulf %a, %jf : f32
      %s1 = arith.addf %sum, %p : f32
      %aa = arith.mulf %a, %a : f32
      %s2 = arith.maximumf %squares, %aa : f32
      linalg.yield %s1, %s2 : f32, f32
    } -> (tensor<4xf32>, tensor<4xf32>)
    ft.yield %m#0, %m#1, %s#0, %s#1 : tensor<4x6xf32>, tensor<6x4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %y, %v, %r, %q : !ft.list<[L], tensor<4x6xf32>>, !ft.list<[L], tensor<6x4xf32>>, !ft.list<[L], tensor<4xf32>>, !ft.list<[L], tensor<4xf32>>
}

// Slices of tensors, joined again the other way round (rotary embeddings).
func.func @rotary(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x> {
  %n = ft.iota : !ft.list<[L], !l>
  %y = ft.map (%x, %i = %xs, %n : !ft.list<[L], !x>, !ft.list<[L], !l>) -> !ft.list<[L], !x> {
    %f = arith.sitofp %i : !l to !s
    %third = arith.constant dense<0.3> : !s
    %angle = arith.mulf %f, %third : !s
    %c = math.cos %angle : !s
    %s = math.sin %angle : !s
    %lo = tensor.extract_slice %x[0, 0] [1, 3] [1, 1] : !x to tensor<1x3xf32>
    %hi = tensor.extract_slice %x[0, 3] [1, 3] [1, 1] : !x to tensor<1x3xf32>
    %e = tensor.empty() : tensor<1x3xf32>
    %cb = linalg.broadcast ins(%c : !s) outs(%e : tensor<1x3xf32>) dimensions = [0, 1]
    %sb = linalg.broadcast ins(%s : !s) outs(%e : tensor<1x3xf32>) dimensions = [0, 1]
    %lc = arith.mulf %lo, %cb : tensor<1x3xf32>
    %hs = arith.mulf %hi, %sb : tensor<1x3xf32>
    %a = arith.subf %lc, %hs : tensor<1x3xf32>
    %ls = arith.mulf %lo, %sb : tensor<1x3xf32>
    %hc = arith.mulf %hi, %cb : tensor<1x3xf32>
    %b = arith.addf %ls, %hc : tensor<1x3xf32>
    %o = tensor.concat dim(1) %a, %b : (tensor<1x3xf32>, tensor<1x3xf32>) -> !x
    ft.yield %o : !x
  }
  return %y : !ft.list<[L], !x>
}

// Types mix: indices decide between lists, f16 in and f32 out.
func.func @mixed(%hs: !ft.list<[L], tensor<5xf16>>, %pick: !ft.list<[L], !l> {ft.gen = #ft.index<0, 2>}) -> !ft.list<[L], tensor<5xf32>> {
  %y = ft.map (%h, %p = %hs, %pick : !ft.list<[L], tensor<5xf16>>, !ft.list<[L], !l>) -> !ft.list<[L], tensor<5xf32>> {
    %f = arith.extf %h : tensor<5xf16> to tensor<5xf32>
    %e = math.exp %f : tensor<5xf32>
    %zero = arith.constant dense<0> : !l
    %is = arith.cmpi eq, %p, %zero : !l
    %be = tensor.empty() : tensor<5xi1>
    %isb = linalg.broadcast ins(%is : !t) outs(%be : tensor<5xi1>) dimensions = [0]
    %r = arith.select %isb, %f, %e : tensor<5xi1>, tensor<5xf32>
    ft.yield %r : tensor<5xf32>
  }
  return %y : !ft.list<[L], tensor<5xf32>>
}

// A scan whose combine works on pairs, inside a scan that may be cut as well.
func.func @scan_of_scans(%xss: !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
  %z = arith.constant dense<0.0> : !x
  %zl = ft.repeat %z times L : !x
  %r = ft.scanl (%xs = %xss : !ft.list<[N, L], !x>) init (%up = %zl : !ft.list<[L], !x>) -> !ft.list<[N, L], !x> {
    %sum = ft.scan (%x = %xs : !ft.list<[L], !x>) init (%a = %z : !x) -> !ft.list<[L], !x> {
      %n = arith.addf %a, %x : !x
      ft.yield %n : !x
    }
    %both = ft.map (%u, %s = %up, %sum : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %n = arith.addf %u, %s : !x
      ft.yield %n : !x
    }
    ft.yield %both : !ft.list<[L], !x>
  }
  return %r : !ft.list<[N, L], !x>
}
