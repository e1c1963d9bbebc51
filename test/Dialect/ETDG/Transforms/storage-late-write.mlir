// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer that is written once more after its last read keeps its slot until then: what nothing reads would overwrite
// what a user does.
//
// RUN: ft-opt %s --etdg-storage | FileCheck %s
// RUN: ft-run %s --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!row = tensor<4xf32>
!rows = !etdg.buffer<[9], !row>

// CHECK-LABEL: etdg.graph @late
// CHECK: etdg.buffer {etdg.slot = 0 : i64}
// CHECK: etdg.buffer {etdg.slot = 1 : i64}
etdg.graph @late(%x: !rows) -> (!rows, !rows) {
  %first = etdg.buffer : !rows
  %second = etdg.buffer : !rows
  %r = etdg.buffer : !rows
  %q = etdg.buffer : !rows
  etdg.block @written [map] (i) in [0, 5) reads (%a = %x[i] : !row) writes (%first[i]) {
    %y = arith.addf %a, %a : !row
    etdg.yield %y : !row
  } : !rows, !rows
  etdg.block @read [map] (i) in [0, 9) reads (%a = {i <= 4: %first[i], i >= 5: %x[i]} : !row) writes (%r[i]) {
    %y = math.exp %a : !row
    etdg.yield %y : !row
  } : !rows, !rows, !rows
  etdg.block @other [map] (i) in [0, 9) reads (%a = %x[i] : !row) writes (%second[i]) {
    %y = arith.mulf %a, %a : !row
    etdg.yield %y : !row
  } : !rows, !rows
  etdg.block @late [map] (i) in [5, 9) reads (%a = %x[i] : !row) writes (%first[i]) {
    %y = math.tanh %a : !row
    etdg.yield %y : !row
  } : !rows, !rows
  etdg.block @end [map] (i) in [0, 9) reads (%a = %second[8 - i] : !row) writes (%q[i]) {
    %y = arith.addf %a, %a : !row
    etdg.yield %y : !row
  } : !rows, !rows
  etdg.return %r, %q : !rows, !rows
}
