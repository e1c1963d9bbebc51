// RUN: ft-translate --etdg-to-tensor-expressions %s | FileCheck %s --match-full-lines --strict-whitespace
// RUN: ft-translate --etdg-to-json %s | FileCheck %s --check-prefix=JSON
// RUN: ft-translate --etdg-to-html %s | FileCheck %s --check-prefix=HTML
// RUN: sed 's/"compute_intensive": 3,/"compute_intensive": 50,/' %S/../machines/h200.json > %t.json
// RUN: ft-translate --etdg-to-tensor-expressions %s --machine=%t.json | FileCheck %s --check-prefix=FIFTY
// RUN: not ft-translate --etdg-to-tensor-expressions %s --machine=edge 2>&1 | FileCheck %s --check-prefix=ARRAY

// ARRAY: error: machine 'edge' has no 'planning.compute_intensive'

// Souffle (ASPLOS'24), Fig. 2: TE0, TE2 and TE4 are products, TE1 and TE3 work element by element; O0 is shared by TE1 and TE3. Of
// 64 * 64 * 64 multiply-adds, two operations each, 3 * 64 * 64 elements are read or written: 42.67 operations for each. The zeros
// that a sum begins with are no statement.
// CHECK:tensor expressions of @fig2
// CHECK-NEXT:  TE0: r1 [map] (i): linalg.generic: one-relies-on-many, compute-intensive, 42.67 operations for each element
// CHECK-NEXT:    R0 = {O0[i, j] -> {I0[i, rk], [0 <= rk < 64]}, 0 <= i < 64, 0 <= j < 64}
// CHECK-NEXT:    R0 = {O0[i, j] -> {I1[rk, j], [0 <= rk < 64]}, 0 <= i < 64, 0 <= j < 64}
// CHECK-NEXT:    R0 = {O0[i, j] -> K0[i, j], 0 <= i < 64, 0 <= j < 64}, M = {{\[\[}}1, 0], [0, 1]], c = [0, 0]
// CHECK-NEXT:  TE1: r2 [map] (i): linalg.generic: one-relies-on-one, memory-intensive, 2.00 operations for each element
// CHECK-NEXT:    R1 = {O1[i, j] -> O0[i, j], 0 <= i < 64, 0 <= j < 64}, M = {{\[\[}}1, 0], [0, 1]], c = [0, 0]
// CHECK-NEXT:  TE2: r4 [map] (i): linalg.generic: one-relies-on-many, compute-intensive, 42.67 operations for each element
// CHECK-NEXT:    R2 = {O2[i, j] -> {O1[i, rk], [0 <= rk < 64]}, 0 <= i < 64, 0 <= j < 64}
// CHECK-NEXT:    R2 = {O2[i, j] -> {I2[rk, j], [0 <= rk < 64]}, 0 <= i < 64, 0 <= j < 64}
// CHECK-NEXT:    R2 = {O2[i, j] -> K1[i, j], 0 <= i < 64, 0 <= j < 64}, M = {{\[\[}}1, 0], [0, 1]], c = [0, 0]
// CHECK-NEXT:  TE3: r5 [map] (i): arith.addf: one-relies-on-one, memory-intensive, 0.33 operations for each element
// CHECK-NEXT:    R3 = {O3[i, j] -> O0[i, j], 0 <= i < 64, 0 <= j < 64}, M = {{\[\[}}1, 0], [0, 1]], c = [0, 0]
// CHECK-NEXT:    R3 = {O3[i, j] -> O2[i, j], 0 <= i < 64, 0 <= j < 64}, M = {{\[\[}}1, 0], [0, 1]], c = [0, 0]
// CHECK-NEXT:  TE4: r7 [map] (i): linalg.generic: one-relies-on-many, compute-intensive, 56.89 operations for each element
// CHECK-NEXT:    R4 = {O4[i, j] -> {O3[i, rk], [0 <= rk < 64]}, 0 <= i < 64, 0 <= j < 256}
// CHECK-NEXT:    R4 = {O4[i, j] -> {I3[rk, j], [0 <= rk < 64]}, 0 <= i < 64, 0 <= j < 256}
// CHECK-NEXT:    R4 = {O4[i, j] -> K2[i, j], 0 <= i < 64, 0 <= j < 256}, M = {{\[\[}}1, 0], [0, 1]], c = [0, 0]
// CHECK-NEXT:  I0: 16384 bytes, live TE0 .. TE0
// CHECK-NEXT:  I1: 16384 bytes, live TE0 .. TE0
// CHECK-NEXT:  I2: 16384 bytes, live TE2 .. TE2
// CHECK-NEXT:  I3: 65536 bytes, live TE4 .. TE4
// CHECK-NEXT:  K0: 16384 bytes, live TE0 .. TE0
// CHECK-NEXT:  O0: 16384 bytes, live TE0 .. TE3, shared by {TE1, TE3}, temporal reuse
// CHECK-NEXT:  O1: 16384 bytes, live TE1 .. TE2
// CHECK-NEXT:  K1: 16384 bytes, live TE2 .. TE2
// CHECK-NEXT:  O2: 16384 bytes, live TE2 .. TE3
// CHECK-NEXT:  O3: 16384 bytes, live TE3 .. TE4
// CHECK-NEXT:  K2: 65536 bytes, live TE4 .. TE4
// CHECK-NEXT:  O4: 65536 bytes, live TE4 .. TE4
// CHECK-NEXT:  TE0 -> TE1 by O0: identity
// CHECK-NEXT:  TE1 -> TE2 by O1: block-diagonal
// CHECK-NEXT:  TE0 -> TE3 by O0: identity
// CHECK-NEXT:  TE2 -> TE3 by O2: identity
// CHECK-NEXT:  TE3 -> TE4 by O3: block-diagonal

// JSON: "tensorExpressions": {
// JSON: "operations": 524288,
// JSON-NEXT: "elements": 12288,
// JSON-NEXT: "computeIntensive": true,
// JSON: "relation": "{O1[i, j] -> O0[i, j], 0 <= i < 64, 0 <= j < 64}",
// JSON-NEXT: "reliance": "one-relies-on-one",
// JSON-NEXT: "M": [
// JSON: "name": "O0",
// JSON: "live": [
// JSON-NEXT: 0,
// JSON-NEXT: 3
// JSON: "temporalReuse": true
// JSON: "edges": [
// JSON: "tiles": "block-diagonal"

// HTML: <details><summary>Tensor expressions</summary><pre>tensor expressions of @fig2
// HTML: TE1 -&gt; TE2 by O1: block-diagonal

// FIFTY: TE0: {{.*}}, memory-intensive, 42.67
// FIFTY: TE4: {{.*}}, compute-intensive, 56.89

func.func @fig2(%I0: tensor<64x64xf32>, %W0: tensor<64x64xf32>, %W2: tensor<64x64xf32>, %W4: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %O0 = linalg.matmul ins(%I0, %W0 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %O1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%O0 : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%x: f32, %old: f32):
    %n = arith.negf %x : f32
    %p = math.exp %n : f32
    %q = arith.addf %p, %one : f32
    %r = arith.divf %one, %q : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %O2 = linalg.matmul ins(%O1, %W2 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %O3 = arith.addf %O0, %O2 : tensor<64x64xf32>
  %e4 = tensor.empty() : tensor<64x256xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<64x256xf32>) -> tensor<64x256xf32>
  %O4 = linalg.matmul ins(%O3, %W4 : tensor<64x64xf32>, tensor<64x256xf32>) outs(%z4 : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %O4 : tensor<64x256xf32>
}
