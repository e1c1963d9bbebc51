// What begins and continues a convolution has the rows that it has, and is one leaf with it, which reads the image
// and pads it itself: no padded copy is in memory, of the graph or of the leaf.
// RUN: ft-opt %s --ft-compile="to=coarsen" | FileCheck %s
// Filters are rows of the product by a window that they share; images each have a window of their own.
// RUN: env FT_NUM_THREADS=2 ft-opt %s --ft-compile="to=schedule machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=ROWS
// No memory but that of arguments and results, on either target.
// RUN: ft-opt %s --ft-compile="to=storage machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=STORAGE
// RUN: ft-opt %s --ft-compile="to=tile machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=LOOPS --implicit-check-not=memref.alloc --implicit-check-not="loops.buffer intermediate"
// RUN: ft-opt %s --ft-compile="to=tile machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=PANEL
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" | ft-opt --convert-etdg-to-loops=target=sm_90a --cse | FileCheck %s --check-prefix=LOOPS --implicit-check-not=loops.alloc --implicit-check-not="loops.buffer intermediate"
// RUN: ft-run %s --entry=channels_first --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=channels_last --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=many_filters --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=signal --compare=interpret | FileCheck %s --check-prefix=EQUAL

// EQUAL: equal

// CHECK-LABEL: etdg.graph @channels_first
// CHECK: etdg.block @{{.*}} [map, map] (i, j) in [0, 3) x [0, 6)
// CHECK-NEXT: reads (%[[X:.*]] = elem (e0, e1, e2) %arg0[i, e0, e1, e2] : tensor<5x7x9xf32>,
// CHECK-NOT: etdg.block
// CHECK:     linalg.fill
// CHECK:     %[[P:.*]] = tensor.pad %[[X]] low[0, 1, 1] high[0, 1, 1]
// CHECK:     linalg.generic {{.*}} ins(%[[P]],
// CHECK:     arith.maximumf
// CHECK-NOT: etdg.block
// CHECK: etdg.return
func.func @channels_first(%x: tensor<3x5x7x9xf32>, %w: tensor<6x5x3x3xf32>, %bias: tensor<6xf32>) -> tensor<3x6x4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<3x5x7x9xf32> to tensor<3x5x9x11xf32>
  %e = tensor.empty() : tensor<3x6x4x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x6x4x5xf32>) -> tensor<3x6x4x5xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%p, %w : tensor<3x5x9x11xf32>, tensor<6x5x3x3xf32>) outs(%f : tensor<3x6x4x5xf32>) -> tensor<3x6x4x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, f, h, w) -> (n, f, h, w)>, affine_map<(n, f, h, w) -> (f)>, affine_map<(n, f, h, w) -> (n, f, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r, %bias : tensor<3x6x4x5xf32>, tensor<6xf32>) outs(%e : tensor<3x6x4x5xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<3x6x4x5xf32>
  return %y : tensor<3x6x4x5xf32>
}

// ROWS-LABEL: etdg.graph @many_filters
// ROWS: etdg.block @{{.*}} [map, map] (i, j) in [0, 8) x [0, 48)
// ROWS: schedule <map = #{{.*}}, loops = [<dimension = 0, kind = parallel, level = core, mapping = dynamic>, <dimension = 1, {{.*}}level = rows>] target = "cpu">
// STORAGE-LABEL: etdg.graph @many_filters
// STORAGE-COUNT-1: etdg.buffer : !etdg.buffer<[8, 48], tensor<17x19xf32>>
// STORAGE-NOT: etdg.buffer :
// STORAGE: etdg.return
// Every second column is put next to the others for one tile of columns, not for the image.
// PANEL-LABEL: loops.program @channels_first
// PANEL: layouts [#loops.product<{{.*}} columns = 64, {{.*}}panel = 1>, {{.*}}#loops.scratch<value = 1, once, offset = 0, bytes = 11520>]
// LOOPS-LABEL: loops.program @many_filters
// LOOPS: loops.leaf {{.*}} ins(%{{.*}}, %{{.*}} : memref<?x32x17x19xf32, {{.*}}>, memref<?x32x5x5xf32, {{.*}}>)
// LOOPS: tensor.pad %{{.*}} low[0, 2, 2] high[0, 2, 2]
func.func @many_filters(%x: tensor<8x32x17x19xf32>, %w: tensor<48x32x5x5xf32>) -> tensor<8x48x17x19xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 2, 2] high[0, 0, 2, 2] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<8x32x17x19xf32> to tensor<8x32x21x23xf32>
  %e = tensor.empty() : tensor<8x48x17x19xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x48x17x19xf32>) -> tensor<8x48x17x19xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<8x32x21x23xf32>, tensor<48x32x5x5xf32>) outs(%f : tensor<8x48x17x19xf32>) -> tensor<8x48x17x19xf32>
  return %r : tensor<8x48x17x19xf32>
}

// CHECK-LABEL: etdg.graph @channels_last
// CHECK: etdg.block @{{.*}} [] () //
// CHECK-NEXT: reads (%x = elem (e0, e1, e2, e3) %arg0[e0, e1, e2, e3] : tensor<1x7x6x5xf32>
// CHECK: tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK-NOT: etdg.block
// CHECK: math.tanh
// CHECK-NOT: etdg.block
// CHECK: etdg.return
func.func @channels_last(%x: tensor<1x7x6x5xf32>, %w: tensor<3x3x5x4xf32>) -> tensor<1x7x6x4xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x7x6x5xf32> to tensor<1x9x8x5xf32>
  %e = tensor.empty() : tensor<1x7x6x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x7x6x4xf32>) -> tensor<1x7x6x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<1x9x8x5xf32>, tensor<3x3x5x4xf32>) outs(%f : tensor<1x7x6x4xf32>) -> tensor<1x7x6x4xf32>
  %t = math.tanh %r : tensor<1x7x6x4xf32>
  return %t : tensor<1x7x6x4xf32>
}

// What many read, and what a reduction reads, keeps the rows that it has alone.
// CHECK-LABEL: etdg.graph @signal
// CHECK: etdg.block @[[EXP:.*]] [map, map] (i, j) in [0, 2) x [0, 13)
// CHECK: math.exp
// CHECK: etdg.block
func.func @signal(%x: tensor<2x13x7xf32>, %w: tensor<3x7x5xf32>) -> (tensor<2x13x7xf32>, tensor<2x11x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = math.exp %x : tensor<2x13x7xf32>
  %e = tensor.empty() : tensor<2x11x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x11x5xf32>) -> tensor<2x11x5xf32>
  %r = linalg.conv_1d_nwc_wcf ins(%p, %w : tensor<2x13x7xf32>, tensor<3x7x5xf32>) outs(%f : tensor<2x11x5xf32>) -> tensor<2x11x5xf32>
  return %p, %r : tensor<2x13x7xf32>, tensor<2x11x5xf32>
}
