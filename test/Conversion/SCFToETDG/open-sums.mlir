// Sums over sizes that a call binds become loops over these (OpenSums.cpp), which are raised as others are.
//
// RUN: ft-run %s --entry=product --dim M=3 --dim K=4 --dim N=5 --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=product --dim M=1 --dim K=17 --dim N=1 --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=product --dim M=7 --dim K=13 --dim N=2 --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=layer --dim M=3 --dim K=11 --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=rows --dim M=5 --dim K=9 --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=places --dim M=4 --dim K=6 --engine=cpu --compare=interpret | FileCheck %s
// CHECK: {{^equal$}}
//
// RUN: ft-opt %s --convert-scf-to-etdg | FileCheck %s --check-prefix=GRAPH
// GRAPH: etdg.graph @product
// GRAPH: [map, map, foldl]

func.func @product(%a: tensor<?x?xf32> {etdg.dims = ["M", "K"]}, %b: tensor<?x?xf32> {etdg.dims = ["K", "N"]}) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%i : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

// One side is static, and the product goes on.
func.func @layer(%a: tensor<?x?xf32> {etdg.dims = ["M", "K"]}, %b: tensor<?x6xf32> {etdg.dims = ["K"]}) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x6xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<?x6xf32>) -> tensor<?x6xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x6xf32>) outs(%i : tensor<?x6xf32>) -> tensor<?x6xf32>
  %t = math.tanh %p : tensor<?x6xf32>
  %r = arith.addf %t, %p : tensor<?x6xf32>
  return %r : tensor<?x6xf32>
}

// The largest of each row.
func.func @rows(%a: tensor<?x?xf32> {etdg.dims = ["M", "K"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %z = arith.constant -1.0e30 : f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %p = linalg.reduce { arith.maximumf } ins(%a : tensor<?x?xf32>) outs(%i : tensor<?xf32>) dimensions = [1]
  return %p : tensor<?xf32>
}

// Numbers times their places.
func.func @places(%a: tensor<?x?xf32> {etdg.dims = ["M", "K"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x?xf32>) outs(%i : tensor<?xf32>) {
  ^bb0(%x: f32, %s: f32):
    %k = linalg.index 1 : index
    %n = arith.index_cast %k : index to i32
    %f = arith.sitofp %n : i32 to f32
    %q = arith.mulf %x, %f : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %p : tensor<?xf32>
}
