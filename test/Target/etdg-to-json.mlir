// RUN: ft-translate %s --etdg-to-json | FileCheck %s
// RUN: ft-translate %s --etdg-to-json --dim=N=5 --dim=K=7 | FileCheck %s --check-prefix=DIM
// RUN: not ft-translate %s --etdg-to-json --dim=N=-5 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: ft-translate --etdg-to-html %examples/stacked_rnn.mlir | FileCheck %s --check-prefix=ORDER
// RUN: ft-translate %s --etdg-to-dot | FileCheck %s --check-prefix=DOT

// BAD: error: expected a length as NAME=VALUE with VALUE at least 0, found 'N=-5'

// Loops of a schedule are over expressions of the block's dimensions.
// ORDER: "order":[{"over":"j + k","kind":"sequential"},{"over":"j","kind":"parallel"},{"over":"i","kind":"parallel"}]

// A graph block counts one dimension, its fold one, the product two that are no
// units: m is 1.
// CHECK: "format": 1
// CHECK: "name": "f"
// CHECK: "symbols": [
// CHECK-NEXT: "K",
// CHECK-NEXT: "N"
// CHECK: "bounds": [
// CHECK-NEXT: "K >= 1"
// CHECK: "lengths": {
// CHECK-NEXT: "N": 3
// CHECK: "depth": 3,
// CHECK-NEXT: "dimension": 4,
// CHECK-NEXT: "topLevelBlocks": 1,
// CHECK-NEXT: "nests": 1,
// CHECK-NEXT: "blocks": 3,
// CHECK-NEXT: "copyBlocks": 1,

// CHECK: "kind": "argument",
// CHECK: "expression": "32 * K",
// CHECK-NEXT: "value": null
// CHECK: "name": "s",
// CHECK: "owner": 0,
// CHECK-NEXT: "live": [
// CHECK-NEXT: 1
// CHECK: "expression": "32 * K",
// CHECK: "liveBytes": {
// CHECK-NEXT: "expression": "32",
// CHECK-NEXT: "value": 32
// CHECK: "internalLive": {
// CHECK-NEXT: "expression": "32",

// DIM: "K": 7,
// DIM-NEXT: "N": 5
// DIM: "expression": "32 * K",
// DIM-NEXT: "value": 224

// CHECK: "id": 0,
// CHECK: "name": "outer",
// CHECK-NEXT: "line":
// CHECK-NEXT: "kind": "graph",
// CHECK: "domain": "i >= 0 and i + 1 <= N"
// CHECK: "id": 1,
// CHECK-NEXT: "name": "sum",
// CHECK-NEXT: "parent": 0,
// CHECK-NEXT: "line":
// CHECK-NEXT: "kind": "leaf",
// CHECK-NEXT: "operators": [
// CHECK-NEXT: "foldl"
// CHECK: "dims": [
// CHECK-NEXT: "i",
// CHECK-NEXT: "k"
// CHECK: "ancestors": 1,
// CHECK: "where": "k = 0",
// CHECK-NEXT: "source": "splat",
// CHECK-NEXT: "value": "0.000000e+00 : f32"
// CHECK: "where": "k >= 1",
// CHECK-NEXT: "source": "buffer",
// CHECK-NEXT: "buffer": 3,
// CHECK-NEXT: "map": [
// CHECK-NEXT: "k - 1"
// CHECK: "op": "linalg.matmul",
// CHECK-NEXT: "operators": [
// CHECK-NEXT: "map",
// CHECK-NEXT: "map",
// CHECK-NEXT: "reduce"
// CHECK: "sizes": [
// CHECK-NEXT: 1,
// CHECK-NEXT: 8,
// CHECK-NEXT: 8
// CHECK: "id": 2,
// CHECK: "name": "last",
// CHECK-NEXT: "parent": 0,
// CHECK-NEXT: "line":
// CHECK-NEXT: "kind": "copy",

// DOT: digraph "f" {
// DOT: label="xs\n!etdg.buffer<[K], tensor<1x8xf32>>"
// DOT: subgraph cluster_g0_{{[0-9]+}} {
// DOT-NEXT: label="outer [map] (i)\ni >= 0 and i + 1 <= N";
// DOT: label="sum [foldl] (i | k)\nk >= 0 and k + 1 <= K\nlinalg.matmul"
// DOT: label="last [] (i)\ntrue\ncopy"
// DOT: -> {{.*}} [label="k >= 1: [k - 1]"]
!x = tensor<1x8xf32>
!w = tensor<8x8xf32>
etdg.graph @f(%xs: !etdg.buffer<[K], !x>, %ws: !etdg.buffer<[N], !w>) -> !etdg.buffer<[N], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {N = 3 : i64}} {
  %y = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @outer [map] (i) in [0, N) {
    %s = etdg.buffer live [1] {name_hint = "s"} : !etdg.buffer<[K], !x>
    etdg.block @sum [foldl] (i | k) in [0, K)
        reads (%x = %xs[k] : !x, %w = %ws[i] : !w, %t = {k = 0: splat 0.0 : f32, k >= 1: %s[k - 1]} : !x)
        writes (%s[k]) {
      %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%t : !x) -> !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[K], !x>, !etdg.buffer<[N], !w>, !etdg.buffer<[K], !x>
    etdg.block @last [] (i |) reads (%x = %s[K - 1] : !x) writes (%y[i]) {
      etdg.yield %x : !x
    } : !etdg.buffer<[K], !x>, !etdg.buffer<[N], !x>
  }
  etdg.return %y : !etdg.buffer<[N], !x>
}
