// RUN: ft-translate --etdg-to-sharding %s | FileCheck %s

!x = tensor<4xf32>

// The begin of a shard is no begin of a list: as many are needed there as conditions tell apart, though what is read lies nearer.
// CHECK-LABEL: sharding of @borders
// CHECK: N: halo
// CHECK: ranks run the program on shards of N, with 4 before and 2 after
etdg.graph @borders(%xs: !etdg.buffer<[N], !x>) -> (!etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>) {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  %zs = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @r0 [map] (i) in [0, N)
      reads (%a = {i >= 4: %xs[i - 1], i <= 3: splat 0.0 : f32} : !x, %b = {i + 3 <= N: %xs[i + 1], i + 2 >= N: splat 0.0 : f32} : !x)
      writes (%ys[i], %zs[i]) {
    etdg.yield %a, %b : !x, !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys, %zs : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
}

// Parity of an index is no border.
// CHECK-LABEL: sharding of @parity
// CHECK: N: halo
// CHECK-NOT: ranks run
etdg.graph @parity(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @r0 [map] (i) in [0, N)
      reads (%a = {i >= 1 and mod(i, 2) = 0: %xs[i - 1], mod(i, 2) = 1: splat 0.0 : f32, i = 0: splat 0.0 : f32} : !x)
      writes (%ys[i]) {
    etdg.yield %a : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}
