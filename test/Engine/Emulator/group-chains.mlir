// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of products in the registers of warp groups: attention with a running maximum and sum, with a bias and a soft cap, and two products
// with a function between them, at sizes that are no multiple of a tile. Small integers are exact.
// RUN: sed 's/: 132/: 1/' %S/../../machines/h200.json > %t.json
// RUN: %python %S/Inputs/chains.py %ft_bin/ft-run %s %t.json | FileCheck %s
// CHECK: 8 runs, 0 wrong
//
// Each of them is computed so: no value of a leaf goes through shared memory.
// RUN: ft-opt %s --ft-compile="to=tile target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=TILES
// TILES: layouts [#tile.chain<rows = 128>]
//
// The left operand that a loop keeps is fetched before it, and what comes and goes shares one channel. Halves that a product takes are in registers.
// RUN: ft-opt %s --ft-compile="to=pipeline target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=ROLES
// ROLES-LABEL: llvm.func @attention_k0
// ROLES: scf.while
// ROLES: tile.start_fetch
// ROLES: scf.for
// ROLES: tile.start_fetch
// ROLES: tile.start_fetch
// ROLES-NOT: tile.start_fetch
// ROLES: tile.start_mma {{.*}} : !tile.registers<128x128xf32, {{.*}}>, !tile.registers<128x48xf16, {{.*}}>, !tile.shared<48x128xf16, swizzle = 128, stages = 1>
// ROLES-LABEL: llvm.func @gelu_k0

// Heads that are 64 wide have no border, and their loop is rotated: the first keys come before it, and the last values after it.
// RUN: ft-opt %S/../../../examples/flash_attention.mlir --type=q="tensor<16x64xf16>" --type=k="tensor<16x64xf16>" --type=v="tensor<16x64xf16>" --type=o="tensor<16x64xf16>" --type=p="tensor<16x16xf16>" --type=r="tensor<16xf16>" --type=s="tensor<f16>" --ft-compile="to=pipeline target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=ROTATED
// ROTATED: scf.while
// ROTATED-COUNT-2: tile.start_fetch
// ROTATED: scf.for
// ROTATED-COUNT-2: tile.start_fetch
// ROTATED: tile.start_fetch
// RUN: ft-run %S/../../../examples/flash_attention.mlir --type=q="tensor<16x64xf16>" --type=k="tensor<16x64xf16>" --type=v="tensor<16x64xf16>" --type=o="tensor<16x64xf16>" --type=p="tensor<16x16xf16>" --type=r="tensor<16xf16>" --type=s="tensor<f16>" --engine=emulate --compare=interpret --target=sm_90a --multiprocessors=1 --machine=%t.json --dim=B=1 --dim=H=1 --dim=Q=3 --dim=K=11

// Rows of several elements of the list, whose numbers a mask compares with those of the keys.
// RUN: sed 's/^\(!.* = tensor<[0-9x]*\)f32/\1f16/; s/L = 4/L = 32/' %examples/flash_attention_causal.mlir > %t.causal.mlir
// RUN: ft-run %t.causal.mlir --engine=emulate --compare=interpret --target=sm_90a --multiprocessors=3 --machine=%S/../../machines/h200.json --dim=B=1 --dim=H=1 --dim=L=7
// RUN: ft-run %t.causal.mlir --engine=interpret-tile --compare=interpret --target=sm_90a --multiprocessors=3 --machine=%S/../../machines/h200.json --dim=B=1 --dim=H=2 --dim=L=5
//
// Numbers of joined keys are computed where elements are, two apart as well: no thread of the loop waits for them.
// RUN: ft-opt %t.causal.mlir --ft-compile="to=tile target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: scf.for
// NUMBERS: loops.splat {{.*}} step {{.*}} elements 1 rows 4 : index -> memref<?xi64>
// NUMBERS: loops.splat {{.*}} step {{.*}} elements 1 rows 4 : index -> memref<?xi64>
// NUMBERS-NOT: memref.store
// NUMBERS-NOT: loops.sync
// NUMBERS: loops.leaf
// RUN: sed 's/%blocks = ft.iota : !ft.list<\[L\]/%numbers = ft.iota : !ft.list<[2 * L]/; s/%osss = ft.map/%blocks = ft.stride %numbers from 0 step 2 : !ft.list<[2 * L], !i>\n  %osss = ft.map/' %t.causal.mlir > %t.twice.mlir
// RUN: ft-run %t.twice.mlir --engine=emulate --compare=interpret --target=sm_90a --multiprocessors=3 --machine=%S/../../machines/h200.json --dim=B=1 --dim=H=1 --dim=L=6

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

!q = tensor<16x72xf16>
!k = tensor<40x72xf16>
!p = tensor<16x40xf16>
!r = tensor<16xf16>

// Keys are rows of other lengths than queries, heads 72 wide; scores have a bias and a soft cap.
func.func @attention(%qs: !ft.list<[Q], !q> {ft.gen = #ft.normal<1.0>}, %ks: !ft.list<[K], !k> {ft.gen = #ft.normal<1.0>},
                     %vs: !ft.list<[K], !k> {ft.gen = #ft.normal<1.0>}, %bias: !p {ft.gen = #ft.normal<1.0>}) -> !ft.list<[Q], !q>
    attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-3.0e4> : !r
  %zr = arith.constant dense<0.0> : !r
  %zo = arith.constant dense<0.0> : !q
  %zp = arith.constant dense<0.0> : !p
  %scale = arith.constant dense<0.117> : !p
  %cap = arith.constant dense<20.0> : !p
  %os = ft.map (%q = %qs : !ft.list<[Q], !q>) -> !ft.list<[Q], !q> {
    %mf, %sf, %of = ft.foldl (%k, %v = %ks, %vs : !ft.list<[K], !k>, !ft.list<[K], !k>) init (%m, %s, %o = %low, %zr, %zo : !r, !r, !q) -> !r, !r, !q {
      %st = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%q, %k : !q, !k) outs(%zp : !p) -> !p
      %sc = arith.mulf %st, %scale : !p
      %sb = arith.addf %sc, %bias : !p
      %sd = arith.divf %sb, %cap : !p
      %sh = math.tanh %sd : !p
      %sx = arith.mulf %sh, %cap : !p
      %m1 = linalg.reduce { arith.maximumf } ins(%sx : !p) outs(%m : !r) dimensions = [1]
      %pe = tensor.empty() : !p
      %mb = linalg.broadcast ins(%m1 : !r) outs(%pe : !p) dimensions = [1]
      %d = arith.subf %sx, %mb : !p
      %p = math.exp %d : !p
      %dm = arith.subf %m, %m1 : !r
      %fix = math.exp %dm : !r
      %s0 = arith.mulf %s, %fix : !r
      %s1 = linalg.reduce { arith.addf } ins(%p : !p) outs(%s0 : !r) dimensions = [1]
      %oe = tensor.empty() : !q
      %fb = linalg.broadcast ins(%fix : !r) outs(%oe : !q) dimensions = [1]
      %o0 = arith.mulf %o, %fb : !q
      %o1 = linalg.matmul ins(%p, %v : !p, !k) outs(%o0 : !q) -> !q
      ft.yield %m1, %s1, %o1 : !r, !r, !q
    }
    %e = tensor.empty() : !q
    %sfb = linalg.broadcast ins(%sf : !r) outs(%e : !q) dimensions = [1]
    %out = arith.divf %of, %sfb : !q
    ft.yield %out : !q
  }
  return %os : !ft.list<[Q], !q>
}

// Two products with a function between them, in bf16.
func.func @gelu(%x: tensor<77x64xbf16> {ft.gen = #ft.normal<1.0>}, %w: tensor<64x96xbf16> {ft.gen = #ft.normal<0.1>},
                %u: tensor<96x64xbf16> {ft.gen = #ft.normal<0.1>}) -> tensor<77x64xbf16> {
  %half = arith.constant 0.5 : bf16
  %one = arith.constant 1.0 : bf16
  %root = arith.constant 0.707 : bf16
  %zh = arith.constant dense<0.0> : tensor<77x96xbf16>
  %zy = arith.constant dense<0.0> : tensor<77x64xbf16>
  %h = linalg.matmul ins(%x, %w : tensor<77x64xbf16>, tensor<64x96xbf16>) outs(%zh : tensor<77x96xbf16>) -> tensor<77x96xbf16>
  %e = tensor.empty() : tensor<77x96xbf16>
  %g = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<77x96xbf16>) outs(%e : tensor<77x96xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %s = arith.mulf %a, %root : bf16
    %f = math.erf %s : bf16
    %t = arith.addf %f, %one : bf16
    %c = arith.mulf %a, %half : bf16
    %y = arith.mulf %c, %t : bf16
    linalg.yield %y : bf16
  } -> tensor<77x96xbf16>
  %y = linalg.matmul ins(%g, %u : tensor<77x96xbf16>, tensor<96x64xbf16>) outs(%zy : tensor<77x64xbf16>) -> tensor<77x64xbf16>
  return %y : tensor<77x64xbf16>
}

// Three products in a chain, in a loop that adds them up; exact.
!x = tensor<32x64xf16>
!w = tensor<64x64xf16>
func.func @three(%xs: !ft.list<[N], !x>, %ws: !ft.list<[K], !w>,
                 %us: !ft.list<[K], !w>) -> !ft.list<[N], !x> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %z = arith.constant dense<0.0> : !x
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %y = ft.foldl (%w, %u = %ws, %us : !ft.list<[K], !w>, !ft.list<[K], !w>) init (%s = %z : !x) -> !x {
      %a = linalg.matmul ins(%x, %w : !x, !w) outs(%z : !x) -> !x
      %r = arith.maximumf %a, %z : !x
      %b = linalg.matmul ins(%r, %u : !x, !w) outs(%z : !x) -> !x
      %s1 = arith.addf %s, %b : !x
      ft.yield %s1 : !x
    }
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
