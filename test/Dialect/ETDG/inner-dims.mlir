// What a leaf's widest operation iterates over prints after a bar, in a comment: unit
// dimensions are dropped, names taken by the block are left out, and the text parses.
//
// RUN: ft-opt %s | FileCheck %s
// RUN: ft-opt %s | ft-opt --verify-roundtrip | FileCheck %s

// CHECK: etdg.block @product [map] (n) in [0, N) // [.. | map, reduce] (.. | o, p) in [0, 5) x [0, 4)
// CHECK-NEXT: reads
// CHECK: etdg.block @sum [map] (n) in [0, N){{$}}
etdg.graph @f(%xs: !etdg.buffer<[N], tensor<1x4xf32>>, %w: !etdg.buffer<[], tensor<4x5xf32>>)
    -> (!etdg.buffer<[N], tensor<1x5xf32>>, !etdg.buffer<[N], tensor<1x4xf32>>) {
  %ys = etdg.buffer : !etdg.buffer<[N], tensor<1x5xf32>>
  %zs = etdg.buffer : !etdg.buffer<[N], tensor<1x4xf32>>
  etdg.block @product [map] (n) in [0, N)
      reads (%x = %xs[n] : tensor<1x4xf32>, %v = %w[] : tensor<4x5xf32>, %z = splat 0.0 : f32 : tensor<1x5xf32>)
      writes (%ys[n]) {
    %b = tensor.empty() : tensor<1x5xf32>
    %y = linalg.matmul ins(%x, %v : tensor<1x4xf32>, tensor<4x5xf32>) outs(%z : tensor<1x5xf32>) -> tensor<1x5xf32>
    %e = linalg.exp ins(%y : tensor<1x5xf32>) outs(%b : tensor<1x5xf32>) -> tensor<1x5xf32>
    etdg.yield %e : tensor<1x5xf32>
  } : !etdg.buffer<[N], tensor<1x4xf32>>, !etdg.buffer<[], tensor<4x5xf32>>, !etdg.buffer<[N], tensor<1x5xf32>>
  etdg.block @sum [map] (n) in [0, N)
      reads (%x = %xs[n] : tensor<1x4xf32>)
      writes (%zs[n]) {
    %y = arith.addf %x, %x : tensor<1x4xf32>
    etdg.yield %y : tensor<1x4xf32>
  } : !etdg.buffer<[N], tensor<1x4xf32>>, !etdg.buffer<[N], tensor<1x4xf32>>
  etdg.return %ys, %zs : !etdg.buffer<[N], tensor<1x5xf32>>, !etdg.buffer<[N], tensor<1x4xf32>>
}
