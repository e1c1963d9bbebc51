// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions in bodies become selections: on scalars of a linalg body, on tensors, inside each other,
// with divisions and elements that the side not taken must not touch.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: {{^}}4 programs, {{[1-9][0-9]+}} runs, 0 failures
// RUN: ft-translate --mlir-to-ptx --target=sm_80 %s | FileCheck %s --check-prefix=PTX
// PTX-COUNT-4: .visible .entry
// RUN: ft-opt %s --ft-compile=to=ft | FileCheck %s --check-prefix=SELECT
// SELECT-NOT: scf.if
// SELECT-COUNT-5: arith.select
// SELECT-NOT: scf.if

!x = tensor<5xf32>
!i = tensor<5xi32>
#id = affine_map<(d0) -> (d0)>

func.func @scalars(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %r = ft.map (%x = %xs : !ft.list<[N], !x>) {
    %e = tensor.empty() : !x
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : !x) outs(%e : !x) {
    ^bb0(%a: f32, %o: f32):
      %z = arith.constant 0.0 : f32
      %c = arith.cmpf ogt, %a, %z : f32
      %k = scf.if %c -> f32 {
        %s = math.sqrt %a : f32
        scf.yield %s : f32
      } else {
        %n = arith.negf %a : f32
        scf.yield %n : f32
      }
      linalg.yield %k : f32
    } -> !x
    ft.yield %y : !x
  }
  return %r : !ft.list<[N], !x>
}

func.func @tensors(%xs: !ft.list<[N], !x>, %cs: !ft.list<[N], tensor<i32>>, %w: tensor<5x5xf32>) -> !ft.list<[N], !x> {
  %none = arith.constant dense<0.0> : !x
  %r = ft.scanl (%x, %c = %xs, %cs : !ft.list<[N], !x>, !ft.list<[N], tensor<i32>>) init (%h = %none : !x) {
    %s = tensor.extract %c[] : tensor<i32>
    %z = arith.constant 0 : i32
    %p = arith.cmpi sgt, %s, %z : i32
    %y = scf.if %p -> !x {
      %a = linalg.vecmat ins(%h, %w : !x, tensor<5x5xf32>) outs(%x : !x) -> !x
      %t = math.tanh %a : !x
      scf.yield %t : !x
    } else {
      scf.yield %h : !x
    }
    ft.yield %y : !x
  }
  return %r : !ft.list<[N], !x>
}

// Quotients where the divisor is not 0, remainders where it is negative.
func.func @guarded(%as: !ft.list<[N], !i>, %bs: !ft.list<[N], !i> {ft.gen = #ft.uniform<-2, 2>}) -> !ft.list<[N], !i> {
  %r = ft.map (%x, %z = %as, %bs : !ft.list<[N], !i>, !ft.list<[N], !i>) {
    %e = tensor.empty() : !i
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %z : !i, !i) outs(%e : !i) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %zero = arith.constant 0 : i32
      %c = arith.cmpi ne, %b, %zero : i32
      %k = scf.if %c -> i32 {
        %negative = arith.cmpi slt, %b, %zero : i32
        %h = scf.if %negative -> i32 {
          %q = arith.remsi %a, %b : i32
          scf.yield %q : i32
        } else {
          %q = arith.divsi %a, %b : i32
          scf.yield %q : i32
        }
        scf.yield %h : i32
      } else {
        scf.yield %a : i32
      }
      linalg.yield %k : i32
    } -> !i
    ft.yield %y : !i
  }
  return %r : !ft.list<[N], !i>
}

// An element where the index points into the tensor.
func.func @looked_up(%xs: !ft.list<[N], !x>, %is: !ft.list<[N], !i> {ft.gen = #ft.uniform<-3, 8>}) -> !ft.list<[N], !x> {
  %r = ft.map (%x, %i = %xs, %is : !ft.list<[N], !x>, !ft.list<[N], !i>) {
    %e = tensor.empty() : !x
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%i : !i) outs(%e : !x) {
    ^bb0(%a: i32, %o: f32):
      %five = arith.constant 5 : i32
      %none = arith.constant -1.0 : f32
      %c = arith.cmpi ult, %a, %five : i32
      %k = scf.if %c -> f32 {
        %at = arith.index_cast %a : i32 to index
        %v = tensor.extract %x[%at] : !x
        scf.yield %v : f32
      } else {
        scf.yield %none : f32
      }
      linalg.yield %k : f32
    } -> !x
    ft.yield %y : !x
  }
  return %r : !ft.list<[N], !x>
}
