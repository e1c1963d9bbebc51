// RUN: ft-run %s --engine=emulate --target=sm_90a --compare=interpret --dim A=5 --dim B=3 | FileCheck %s
// RUN: ft-run %s --engine=emulate --target=sm_80 --compare=interpret --dim A=1 --dim B=1 | FileCheck %s
// RUN: ft-run %s --engine=emulate --target=sm_90a --compare=interpret --dim A=7 --dim B=127 | FileCheck %s
// RUN: ft-run %s --engine=emulate --target=sm_90a --compare=interpret --dim A=129 --dim B=1 | FileCheck %s
// RUN: ft-run %s --schedule-for=sm_90a --compare=interpret --dim A=75 --dim B=27 | FileCheck %s

// The rows of a thread block are a dimension of the block around; the blocks inside stand on parts of them, which may end
// within what one thread block takes.

// CHECK-NOT: differ
// CHECK: {{^}}equal

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> ()>
etdg.graph @parts(%a: !etdg.buffer<[A], tensor<4xf32>>, %b: !etdg.buffer<[B], tensor<4xf32>>) -> !etdg.buffer<[A + B], tensor<4xf32>> {
  %buf = etdg.buffer : !etdg.buffer<[A + B], tensor<4xf32>>
  etdg.block @rows [map] (i) in [0, A + B) {
    %p = etdg.buffer : !etdg.buffer<[], tensor<4xf32>>
    %q = etdg.buffer : !etdg.buffer<[], tensor<4xf32>>
    etdg.block @first [] (i |) where i <= A - 1
        reads (%x = %a[i] : tensor<4xf32>) writes (%p[]) {
      %y = math.sin %x : tensor<4xf32>
      etdg.yield %y : tensor<4xf32>
    } : !etdg.buffer<[A], tensor<4xf32>>, !etdg.buffer<[], tensor<4xf32>>
    etdg.block @rest [] (i |) where i >= A
        reads (%x = %b[i - A] : tensor<4xf32>) writes (%q[]) {
      %y = math.cos %x : tensor<4xf32>
      etdg.yield %y : tensor<4xf32>
    } : !etdg.buffer<[B], tensor<4xf32>>, !etdg.buffer<[], tensor<4xf32>>
    etdg.block @both [] (i |)
        reads (%x = {i >= A: %q[], i <= A - 1: %p[]} : tensor<4xf32>) writes (%buf[i]) {
      etdg.yield %x : tensor<4xf32>
    } : !etdg.buffer<[], tensor<4xf32>>, !etdg.buffer<[], tensor<4xf32>>, !etdg.buffer<[A + B], tensor<4xf32>>
  }
  etdg.return %buf : !etdg.buffer<[A + B], tensor<4xf32>>
}
