// Operations that become a few plainer ones in a graph (PlainForms.cpp): the interpreter has each by its definition.
//
// RUN: ft-run %s --entry=forall --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=grid --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=affine --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=bounds --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=pack --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=padded --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=unpack --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=gather --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=picked --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=place --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=narrow --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=forall --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=affine --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=pack --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=gather --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=narrow --engine=emulate --compare=interpret | FileCheck %s
// CHECK: {{^equal$}}
//
// RUN: ft-opt %s --convert-scf-to-etdg --convert-linalg-to-etdg | FileCheck %s --check-prefix=GRAPH
// GRAPH-NOT: affine.for
// GRAPH-NOT: linalg.pack
// GRAPH-NOT: linalg.unpack
// GRAPH-NOT: tensor.gather
// GRAPH-NOT: {{[^0-9]i(3|5|12)[^0-9]}}

// Iterations see the array as it was before the loop.
func.func @forall(%a: tensor<8x16xf32>, %init: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %r = scf.forall (%i) in (8) shared_outs(%o = %init) -> (tensor<8x16xf32>) {
    %x = tensor.extract_slice %a[%i, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<1x16xf32>
    %y = arith.addf %x, %x : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<8x16xf32>
    }
  }
  return %r : tensor<8x16xf32>
}

func.func @grid(%init: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %r = scf.forall (%i, %j) = (0, 2) to (6, 10) step (2, 3) shared_outs(%o = %init) -> (tensor<6x10xf32>) {
    %x = tensor.extract_slice %o[%i, 0] [2, 2] [1, 1] : tensor<6x10xf32> to tensor<2x2xf32>
    %y = arith.mulf %x, %x : tensor<2x2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, %j] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<6x10xf32>
    }
  }
  return %r : tensor<6x10xf32>
}

func.func @affine(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %r = affine.for %i = 1 to 6 iter_args(%s = %x) -> (tensor<6x4xf32>) {
    %k = affine.apply affine_map<(d0) -> (d0 - 1)>(%i)
    %a = tensor.extract_slice %s[%k, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<1x4xf32>
    %b = tensor.extract_slice %s[%i, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<1x4xf32>
    %c = arith.addf %a, %b : tensor<1x4xf32>
    %u = tensor.insert_slice %c into %s[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<6x4xf32>
    affine.yield %u : tensor<6x4xf32>
  }
  return %r : tensor<6x4xf32>
}

// Bounds of several results, and a step.
func.func @bounds(%x: tensor<7x7xf32>) -> tensor<7x7xf32> {
  %r = affine.for %i = 0 to 7 step 2 iter_args(%s = %x) -> (tensor<7x7xf32>) {
    %q = affine.for %j = max affine_map<(d0) -> (d0 - 3, 0)>(%i) to min affine_map<(d0) -> (d0 + 2, 7)>(%i) iter_args(%t = %s) -> (tensor<7x7xf32>) {
      %a = tensor.extract_slice %x[%j, %i] [1, 1] [1, 1] : tensor<7x7xf32> to tensor<1x1xf32>
      %b = arith.addf %a, %a : tensor<1x1xf32>
      %u = tensor.insert_slice %b into %t[%i, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<7x7xf32>
      affine.yield %u : tensor<7x7xf32>
    }
    affine.yield %q : tensor<7x7xf32>
  }
  return %r : tensor<7x7xf32>
}

func.func @pack(%x: tensor<6x8xf32>) -> tensor<3x2x2x4xf32> {
  %e = tensor.empty() : tensor<3x2x2x4xf32>
  %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<6x8xf32> -> tensor<3x2x2x4xf32>
  return %p : tensor<3x2x2x4xf32>
}

// Tiles that do not divide, in another order.
func.func @padded(%x: tensor<5x7xf32>) -> tensor<2x3x4x2xf32> {
  %z = arith.constant 9.0 : f32
  %e = tensor.empty() : tensor<2x3x4x2xf32>
  %p = linalg.pack %x padding_value(%z : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 2] into %e : tensor<5x7xf32> -> tensor<2x3x4x2xf32>
  return %p : tensor<2x3x4x2xf32>
}

func.func @unpack(%x: tensor<2x3x4x2xf32>) -> tensor<5x7xf32> {
  %e = tensor.empty() : tensor<5x7xf32>
  %p = linalg.unpack %x outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 2] into %e : tensor<2x3x4x2xf32> -> tensor<5x7xf32>
  return %p : tensor<5x7xf32>
}

// Rows, of which the gathered dimension stays as one element.
func.func @gather(%x: tensor<7x5xf32>, %i: tensor<2x3x1xi32> {ft.gen = #ft.index<0, 7>}) -> tensor<2x3x1x5xf32> {
  %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<7x5xf32>, tensor<2x3x1xi32>) -> tensor<2x3x1x5xf32>
  return %g : tensor<2x3x1x5xf32>
}

// Two dimensions, dropped.
func.func @picked(%x: tensor<4x3x4xf32>, %i: tensor<6x2xi64> {ft.gen = #ft.index<0, 4>}) -> tensor<6x3xf32> {
  %g = tensor.gather %x[%i] gather_dims([0, 2]) : (tensor<4x3x4xf32>, tensor<6x2xi64>) -> tensor<6x3xf32>
  return %g : tensor<6x3xf32>
}

func.func @place(%x: tensor<3x4xi32>) -> tensor<5x4xi32> {
  %q = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    %t = arith.index_cast %j : index to i32
    tensor.yield %t : i32
  } : tensor<3x4xi32> to tensor<5x4xi32>
  return %q : tensor<5x4xi32>
}

// Products of numbers of 5 bits, which wrap, summed in 12 bits; the sum of a named operation wraps in 3.
func.func @narrow(%x: tensor<4x6xi8>, %y: tensor<6x3xi8>) -> (tensor<4x3xi16>, tensor<4x3xi8>) {
  %a = arith.trunci %x : tensor<4x6xi8> to tensor<4x6xi5>
  %b = arith.trunci %y : tensor<6x3xi8> to tensor<6x3xi5>
  %z = arith.constant dense<-2040> : tensor<4x3xi12>
  %p = linalg.matmul ins(%a, %b : tensor<4x6xi5>, tensor<6x3xi5>) outs(%z : tensor<4x3xi12>) -> tensor<4x3xi12>
  %w = arith.extui %p : tensor<4x3xi12> to tensor<4x3xi16>
  %c = arith.trunci %x : tensor<4x6xi8> to tensor<4x6xi3>
  %d = arith.trunci %y : tensor<6x3xi8> to tensor<6x3xi3>
  %zero = arith.constant dense<-3> : tensor<4x3xi3>
  %q = linalg.matmul ins(%c, %d : tensor<4x6xi3>, tensor<6x3xi3>) outs(%zero : tensor<4x3xi3>) -> tensor<4x3xi3>
  %v = arith.extsi %q : tensor<4x3xi3> to tensor<4x3xi8>
  return %w, %v : tensor<4x3xi16>, tensor<4x3xi8>
}
