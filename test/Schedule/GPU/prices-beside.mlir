// Nests of a kernel that don't wait for each other share its thread blocks: a nest with tasks for which SMs are idle takes no longer than alone, and no less.
//
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-schedule-for-gpu{machine=%S/../../machines/h200.json},etdg-price-for-gpu{machine=%S/../../machines/h200.json}))" --remarks-filter="gpu" -o /dev/null 2>&1 | FileCheck %s

// CHECK: price | {{.*}}Remark="[[LONG:[1-9][0-9]*]].{{[0-9]}} us: 0 steps and 0 barriers
// CHECK: price | {{.*}}Remark="[[LONG]].{{[0-9]}} us: 0 steps and 0 barriers
// CHECK: price-of-all
// What has no iterations to deal one thread block computes, one after the other.
// CHECK: price | {{.*}}Remark="[[ONE:[1-9][0-9]*]].{{[0-9]}} us: 0 steps and 0 barriers
// CHECK: price-of-all | {{.*}} us"
// CHECK-NOT: Remark="[[ONE]].
// CHECK: price-of-all

!s = tensor<8xf32>
!l = tensor<40000xf32>
!o = tensor<f32>
!short = !etdg.buffer<[8], !s>
!long = !etdg.buffer<[2], !l>
!sums = !etdg.buffer<[2], !o>
#row = affine_map<(d) -> (d)>
#all = affine_map<(d) -> ()>

etdg.graph @alone(%ys: !long) -> !sums {
  %z = etdg.buffer : !sums
  etdg.block @long [map] (i) in [0, 2) reads (%y = %ys[i] : !l) writes (%z[i]) {
    %zero = arith.constant dense<0.0> : !o
    %e = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["reduction"]} ins(%y : !l) outs(%zero : !o) {
    ^bb0(%a: f32, %sum: f32):
      %s = arith.addf %sum, %a : f32
      linalg.yield %s : f32
    } -> !o
    etdg.yield %e : !o
  } : !long, !sums
  etdg.return %z : !sums
}

etdg.graph @beside(%xs: !short, %ys: !long) -> (!short, !sums) {
  %t = etdg.buffer : !short
  %z = etdg.buffer : !sums
  etdg.kernel {
    etdg.block @short [map] (i) in [0, 8) reads (%x = %xs[i] : !s) writes (%t[i]) {
      %e = math.absf %x : !s
      etdg.yield %e : !s
    } : !short, !short
    etdg.block @long [map] (i) in [0, 2) reads (%y = %ys[i] : !l) writes (%z[i]) {
      %zero = arith.constant dense<0.0> : !o
      %e = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["reduction"]} ins(%y : !l) outs(%zero : !o) {
      ^bb0(%a: f32, %sum: f32):
        %s = arith.addf %sum, %a : f32
        linalg.yield %s : f32
      } -> !o
      etdg.yield %e : !o
    } : !long, !sums
  }
  etdg.return %t, %z : !short, !sums
}

etdg.graph @one(%a: !etdg.buffer<[], !l>) -> !etdg.buffer<[], !o> {
  %z = etdg.buffer : !etdg.buffer<[], !o>
  etdg.block @sum [] () reads (%y = %a[] : !l) writes (%z[]) {
    %zero = arith.constant dense<0.0> : !o
    %e = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["reduction"]} ins(%y : !l) outs(%zero : !o) {
    ^bb0(%in: f32, %sum: f32):
      %s = arith.addf %sum, %in : f32
      linalg.yield %s : f32
    } -> !o
    etdg.yield %e : !o
  } : !etdg.buffer<[], !l>, !etdg.buffer<[], !o>
  etdg.return %z : !etdg.buffer<[], !o>
}

etdg.graph @two(%a: !etdg.buffer<[], !l>, %b: !etdg.buffer<[], !l>) -> (!etdg.buffer<[], !o>, !etdg.buffer<[], !o>) {
  %y = etdg.buffer : !etdg.buffer<[], !o>
  %z = etdg.buffer : !etdg.buffer<[], !o>
  etdg.kernel {
    etdg.block @first [] () reads (%v = %a[] : !l) writes (%y[]) {
      %zero = arith.constant dense<0.0> : !o
      %e = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["reduction"]} ins(%v : !l) outs(%zero : !o) {
      ^bb0(%in: f32, %sum: f32):
        %s = arith.addf %sum, %in : f32
        linalg.yield %s : f32
      } -> !o
      etdg.yield %e : !o
    } : !etdg.buffer<[], !l>, !etdg.buffer<[], !o>
    etdg.block @second [] () reads (%v = %b[] : !l) writes (%z[]) {
      %zero = arith.constant dense<0.0> : !o
      %e = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["reduction"]} ins(%v : !l) outs(%zero : !o) {
      ^bb0(%in: f32, %sum: f32):
        %s = arith.addf %sum, %in : f32
        linalg.yield %s : f32
      } -> !o
      etdg.yield %e : !o
    } : !etdg.buffer<[], !l>, !etdg.buffer<[], !o>
  }
  etdg.return %y, %z : !etdg.buffer<[], !o>, !etdg.buffer<[], !o>
}
