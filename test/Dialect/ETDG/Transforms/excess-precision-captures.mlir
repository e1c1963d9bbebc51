// The body of a structured operation takes numbers from outside of it, which widening makes anew.
// RUN: ft-run %s --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=coarsen" | FileCheck %s --check-prefix=WIDE
// CHECK: {{^}}equal
// WIDE: %[[N:.*]] = arith.constant 8.000000e+00 : f32
// WIDE: arith.divf %{{.*}}, %[[N]] : f32
#row = affine_map<(d0) -> (d0)>
#sum = affine_map<(d0) -> ()>
#one = affine_map<() -> ()>
func.func @mean(%x: tensor<8xf16>) -> tensor<8xf16> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 8.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["reduction"]} ins(%x : tensor<8xf16>) outs(%z : tensor<f32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    %n = arith.addf %o, %w : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %h = tensor.empty() : tensor<f16>
  %m = linalg.generic {indexing_maps = [#one, #one], iterator_types = []} ins(%s : tensor<f32>) outs(%h : tensor<f16>) {
  ^bb0(%a: f32, %o: f16):
    %d = arith.divf %a, %count : f32
    %r = arith.truncf %d : f32 to f16
    linalg.yield %r : f16
  } -> tensor<f16>
  %t = tensor.empty() : tensor<8xf16>
  %y = linalg.generic {indexing_maps = [#row, #sum, #row], iterator_types = ["parallel"]} ins(%x, %m : tensor<8xf16>, tensor<f16>) outs(%t : tensor<8xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %v = arith.extf %a : f16 to f32
    %w = arith.extf %b : f16 to f32
    %d = arith.subf %v, %w : f32
    %r = arith.truncf %d : f32 to f16
    linalg.yield %r : f16
  } -> tensor<8xf16>
  return %y : tensor<8xf16>
}
