// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What warps of fragments leave in memory whose pieces change places, and the code that else reads and writes it: the next product, loop nests, reductions,
// iterations that follow.
//
// (Launches are so dear there that no product is cut into shares, whose join is another one.)
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/; s/"launch": 3.875e-6/"launch": 1.0/; s/"boundary": 6.5e-7/"boundary": 1.0/' %S/../../machines/h200.json > %t.json
// RUN: %python %S/Inputs/emulate.py --multiprocessors=1,12 --machine=%t.json %ft_bin/ft-run %s 4 | FileCheck %s
// CHECK: 7 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// The same by the definitions of operations on tiles.
// RUN: %python %S/Inputs/emulate.py --machine=%t.json --interpret-tile %ft_bin/ft-run %s:chain,short,reduced 2 | FileCheck %s --check-prefix=MEANING
// MEANING: 3 of them on tiles
// MEANING: 3 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// Which of their memory is swizzled: rows of 64 halves begin in the same banks, also those of 96 and of 256, rows of 40 do not.
// (What is read again is verified: swizzled memory begins and ends with lines. Warp groups would keep chains in registers: this is sm_80.)
// RUN: ft-opt %s --ft-compile="to=tile target=sm_80 machine=%S/../../machines/a100.json" | ft-opt | FileCheck %s --check-prefix=CHOSEN
// CHOSEN-LABEL: func.func @chain_k0(
// CHOSEN: loops.alloc {{.*}} in <shared, offset = {{[0-9]+}}, swizzled>
// CHOSEN-LABEL: func.func @short_k0(
// CHOSEN: places [#loops.place<value = {{[0-9]+}} in shared at {{[0-9]+}}, bytes = {{[0-9]+}}, swizzled>
// CHOSEN-LABEL: func.func @wide_k0(
// CHOSEN: swizzled>
// CHOSEN-LABEL: func.func @apart_k0(
// CHOSEN-NOT: swizzled
// CHOSEN-LABEL: func.func @reduced_k0(
// CHOSEN: swizzled>
// CHOSEN-LABEL: func.func @floats_k0(
// CHOSEN-NOT: swizzled

// Sums that go from one iteration to the next, after a state that fills no line, and a product of what another one left.
!x = tensor<64x64xf16>
!k = tensor<20xf16>
func.func @chain(%xs: !ft.list<[M], !x>, %as: !ft.list<[N], !x>, %bs: !ft.list<[N], !x>, %ks: !ft.list<[N], !k>) -> (!ft.list<[M], !k>, !ft.list<[M], !x>) {
  %zero = arith.constant dense<0.0> : !x
  %none = arith.constant dense<0.0> : !k
  %r:2 = ft.map (%x = %xs : !ft.list<[M], !x>) -> !ft.list<[M], !k>, !ft.list<[M], !x> {
    %s:2 = ft.reduce (%a, %b, %k = %as, %bs, %ks : !ft.list<[N], !x>, !ft.list<[N], !x>, !ft.list<[N], !k>) init (%h, %c = %none, %zero : !k, !x) -> !k, !x {
      %m = arith.addf %h, %k : !k
      %p = linalg.matmul ins(%x, %a : !x, !x) outs(%zero : !x) -> !x
      %q = linalg.matmul ins(%p, %b : !x, !x) outs(%c : !x) -> !x
      ft.yield %m, %q : !k, !x
    } combine (%h0, %c0, %h1, %c1) {
      %hs = arith.addf %h0, %h1 : !k
      %cs = arith.addf %c0, %c1 : !x
      ft.yield %hs, %cs : !k, !x
    }
    ft.yield %s#0, %s#1 : !k, !x
  }
  return %r#0, %r#1 : !ft.list<[M], !k>, !ft.list<[M], !x>
}

// Twelve rows of a point: where the next point's begin is no multiple of eight lines.
!s = tensor<12x64xf16>
func.func @short(%xs: !ft.list<[M], !s>, %a: !x, %b: !x) -> !ft.list<[M], !s> {
  %zero = arith.constant dense<0.0> : !s
  %r = ft.map (%x = %xs : !ft.list<[M], !s>) {
    %p = linalg.matmul ins(%x, %a : !s, !x) outs(%zero : !s) -> !s
    %f = math.tanh %p : !s
    %q = linalg.matmul ins(%f, %b : !s, !x) outs(%p : !s) -> !s
    ft.yield %q : !s
  }
  return %r : !ft.list<[M], !s>
}

// The same where iterations follow each other, so that the next point's rows lie two planes after.
func.func @planes(%xs: !ft.list<[M], !s>, %as: !ft.list<[N], !x>, %bs: !ft.list<[N], !x>) -> !ft.list<[M], !s> {
  %zero = arith.constant dense<0.0> : !s
  %r = ft.map (%x = %xs : !ft.list<[M], !s>) {
    %s = ft.reduce (%a, %b = %as, %bs : !ft.list<[N], !x>, !ft.list<[N], !x>) init (%c = %zero : !s) -> !s {
      %p = linalg.matmul ins(%x, %a : !s, !x) outs(%zero : !s) -> !s
      %f = math.tanh %p : !s
      %q = linalg.matmul ins(%f, %b : !s, !x) outs(%c : !s) -> !s
      ft.yield %q : !s
    } combine (%p, %q) {
      %t = arith.addf %p, %q : !s
      ft.yield %t : !s
    }
    ft.yield %s : !s
  }
  return %r : !ft.list<[M], !s>
}

// Rows of 96 and of 256.
!v = tensor<40x96xf16>
!w = tensor<40x256xf16>
func.func @wide(%xs: !ft.list<[M], !v>, %a: tensor<96x256xf16>, %b: tensor<256x96xf16>) -> !ft.list<[M], !v> {
  %zv = arith.constant dense<0.0> : !v
  %zw = arith.constant dense<0.0> : !w
  %r = ft.map (%x = %xs : !ft.list<[M], !v>) {
    %p = linalg.matmul ins(%x, %a : !v, tensor<96x256xf16>) outs(%zw : !w) -> !w
    %q = linalg.matmul ins(%p, %b : !w, tensor<256x96xf16>) outs(%zv : !v) -> !v
    %t = linalg.matmul ins(%q, %a : !v, tensor<96x256xf16>) outs(%p : !w) -> !w
    %u = linalg.matmul ins(%t, %b : !w, tensor<256x96xf16>) outs(%q : !v) -> !v
    ft.yield %u : !v
  }
  return %r : !ft.list<[M], !v>
}

// Rows of 80 bytes begin in different banks as they are.
!n = tensor<64x40xf16>
func.func @apart(%xs: !ft.list<[M], !n>, %a: tensor<40x40xf16>) -> !ft.list<[M], !n> {
  %zero = arith.constant dense<0.0> : !n
  %r = ft.map (%x = %xs : !ft.list<[M], !n>) {
    %p = linalg.matmul ins(%x, %a : !n, tensor<40x40xf16>) outs(%zero : !n) -> !n
    %q = linalg.matmul ins(%p, %a : !n, tensor<40x40xf16>) outs(%zero : !n) -> !n
    ft.yield %q : !n
  }
  return %r : !ft.list<[M], !n>
}

// Loop nests that are computed with no product read it: sums of columns, a transposed one, an element of each row.
func.func @reduced(%xs: !ft.list<[M], !x>, %a: !x) -> (!ft.list<[M], tensor<64xf16>>, !ft.list<[M], !x>, !ft.list<[M], tensor<64xf16>>) {
  %zero = arith.constant dense<0.0> : !x
  %z = arith.constant dense<0.0> : tensor<64xf16>
  %r:3 = ft.map (%x = %xs : !ft.list<[M], !x>) -> !ft.list<[M], tensor<64xf16>>, !ft.list<[M], !x>, !ft.list<[M], tensor<64xf16>> {
    %p = linalg.matmul ins(%x, %a : !x, !x) outs(%zero : !x) -> !x
    %c = linalg.reduce {arith.addf} ins(%p : !x) outs(%z : tensor<64xf16>) dimensions = [0]
    %t = linalg.transpose ins(%p : !x) outs(%zero : !x) permutation = [1, 0]
    %e = tensor.extract_slice %p[0, 5] [64, 1] [1, 1] : !x to tensor<64xf16>
    ft.yield %c, %t, %e : tensor<64xf16>, !x, tensor<64xf16>
  }
  return %r#0, %r#1, %r#2 : !ft.list<[M], tensor<64xf16>>, !ft.list<[M], !x>, !ft.list<[M], tensor<64xf16>>
}

// Products without fragments stay as they are.
!f = tensor<64x64xf32>
func.func @floats(%xs: !ft.list<[M], !f>, %a: !f) -> !ft.list<[M], !f> {
  %zero = arith.constant dense<0.0> : !f
  %r = ft.map (%x = %xs : !ft.list<[M], !f>) {
    %p = linalg.matmul ins(%x, %a : !f, !f) outs(%zero : !f) -> !f
    %q = linalg.matmul ins(%p, %a : !f, !f) outs(%zero : !f) -> !f
    ft.yield %q : !f
  }
  return %r : !ft.list<[M], !f>
}
