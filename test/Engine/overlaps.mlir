// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three blocks one after the other, through two buffers that are put into one slot: the second block reads one of them and writes the other, and its leaf
// says so. What looks at the same element alone is computed in place; what turns it reads all of it before it writes, on both targets.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/same.mlir --ft-compile="from=reorder to=schedule target=cpu machine=%S/../machines/cpu.json" | sed 's/\(%buf\|%buf_0\) = etdg.buffer :/\1 = etdg.buffer {etdg.slot = 0 : i64} :/' | ft-opt --convert-etdg-to-loops > %t/same.cpu
// RUN: ft-opt %t/turned.mlir --ft-compile="from=reorder to=schedule target=cpu machine=%S/../machines/cpu.json" | sed 's/\(%buf\|%buf_0\) = etdg.buffer :/\1 = etdg.buffer {etdg.slot = 0 : i64} :/' | ft-opt --convert-etdg-to-loops > %t/turned.cpu
// RUN: ft-opt %t/same.mlir --ft-compile="from=reorder to=schedule target=sm_90a" | sed 's/\(%buf\|%buf_0\) = etdg.buffer :/\1 = etdg.buffer {etdg.slot = 0 : i64} :/' | ft-opt --convert-etdg-to-loops=target=sm_90a > %t/same.gpu
// RUN: ft-opt %t/turned.mlir --ft-compile="from=reorder to=schedule target=sm_90a" | sed 's/\(%buf\|%buf_0\) = etdg.buffer :/\1 = etdg.buffer {etdg.slot = 0 : i64} :/; s/layouts = \[[^]]*\]//' | ft-opt --convert-etdg-to-loops=target=sm_90a | sed 's/ layouts \[.*\] {/ {/' > %t/turned.gpu
// RUN: FileCheck %s --input-file=%t/same.cpu
// RUN: FileCheck %s --input-file=%t/turned.cpu
// RUN: FileCheck %s --input-file=%t/same.gpu
// RUN: FileCheck %s --input-file=%t/turned.gpu
// CHECK: loops.buffer intermediate slot 0
// CHECK: loops.buffer intermediate slot 0
// CHECK: func.func @{{.*}}_k0(
// CHECK: loops.leaf {{.*}} overlaps []
// CHECK: func.func @{{.*}}_k1(
// CHECK: loops.leaf {{.*}} overlaps [#loops.overlap<output = 0, input = 0, in_place>]

// RUN: ft-run %t/same.mlir --loops=%t/same.cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %t/turned.mlir --loops=%t/turned.cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-opt %t/same.gpu --loops-decide-for-gpu --convert-loops-to-gpu > %t/same.kernels
// RUN: ft-run %t/same.mlir --engine=emulate --kernels=%t/same.kernels --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-opt %t/turned.gpu --loops-decide-for-gpu --convert-loops-to-gpu > %t/turned.kernels
// RUN: ft-run %t/turned.mlir --engine=emulate --kernels=%t/turned.kernels --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

// In place nothing is copied: the leaf's function has no memory of its own. What is turned has.
// RUN: ft-opt %t/same.cpu --loops-decide-for-cpu="machine=%S/../machines/cpu.json" | FileCheck %s --check-prefix=PLACE
// PLACE: overlaps [#loops.overlap<output = 0, input = 0, in_place>] layouts [#loops.lanes<{{[^>]*}}>, #loops.joined<with = 0>] {
// RUN: ft-opt %t/turned.cpu --loops-decide-for-cpu="machine=%S/../machines/cpu.json" | FileCheck %s --check-prefix=LAST
// LAST: overlaps [#loops.overlap<output = 0, input = 0, in_place>] layouts [{{.*}}] scratch [#loops.scratch<value = 0, rows,

// So is what says nothing of overlaps, or says that they may be any.
// RUN: sed 's/overlaps \[[^]]*\]//' %t/same.cpu > %t/nothing.cpu
// RUN: ft-opt %t/nothing.cpu --loops-decide-for-cpu="machine=%S/../machines/cpu.json" | FileCheck %s --check-prefix=NOTHING
// NOTHING: loops.leaf {{.*}} scratch [#loops.scratch<value = 0, rows,
// RUN: ft-run %t/same.mlir --loops=%t/nothing.cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/in_place>/any>/' %t/turned.cpu > %t/any.cpu
// RUN: ft-run %t/turned.mlir --loops=%t/any.cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/overlaps \[[^]]*\]//' %t/turned.gpu | ft-opt --loops-decide-for-gpu --convert-loops-to-gpu > %t/nothing.kernels
// RUN: ft-run %t/turned.mlir --engine=emulate --kernels=%t/nothing.kernels --compare=interpret | FileCheck %s --check-prefix=EQUAL

// That they are apart is no answer.
// RUN: sed 's/overlaps \[[^]]*\]/overlaps []/' %t/turned.cpu | not ft-opt 2>&1 | FileCheck %s --check-prefix=APART
// RUN: sed 's/overlaps \[[^]]*\]/overlaps []/' %t/turned.gpu | not ft-opt 2>&1 | FileCheck %s --check-prefix=APART
// APART: error: 'loops.launch' op gives arguments 1 and 2 one memory, and a leaf says that its output 0 does not overlap its input 0 (loops_launch3)

//--- same.mlir
!b = !etdg.buffer<[L], tensor<40x40xf32>>
etdg.graph @same(%x: !b) -> !b attributes {ft.lengths = {L = 5 : i64}} {
  %a = etdg.buffer : !b
  %c = etdg.buffer : !b
  %r = etdg.buffer : !b
  etdg.block @b0 [map] (i) in [0, L) reads (%v = %x[i] : tensor<40x40xf32>) writes (%a[i]) {
    %n = arith.addf %v, %v : tensor<40x40xf32>
    etdg.yield %n : tensor<40x40xf32>
  } : !b, !b
  etdg.block @b1 [map] (i) in [0, L) reads (%v = %a[i] : tensor<40x40xf32>) writes (%c[i]) {
    %n = arith.mulf %v, %v : tensor<40x40xf32>
    %m = arith.subf %n, %v : tensor<40x40xf32>
    etdg.yield %m : tensor<40x40xf32>
  } : !b, !b
  etdg.block @b2 [map] (i) in [0, L) reads (%v = %c[i] : tensor<40x40xf32>) writes (%r[i]) {
    %n = arith.addf %v, %v : tensor<40x40xf32>
    etdg.yield %n : tensor<40x40xf32>
  } : !b, !b
  etdg.return %r : !b
}
//--- turned.mlir
!b = !etdg.buffer<[L], tensor<40x40xf32>>
etdg.graph @turned(%x: !b) -> !b attributes {ft.lengths = {L = 5 : i64}} {
  %a = etdg.buffer : !b
  %c = etdg.buffer : !b
  %r = etdg.buffer : !b
  etdg.block @b0 [map] (i) in [0, L) reads (%v = %x[i] : tensor<40x40xf32>) writes (%a[i]) {
    %n = arith.addf %v, %v : tensor<40x40xf32>
    etdg.yield %n : tensor<40x40xf32>
  } : !b, !b
  etdg.block @b1 [map] (i) in [0, L) reads (%v = %a[i] : tensor<40x40xf32>) writes (%c[i]) {
    %e = tensor.empty() : tensor<40x40xf32>
    %t = linalg.transpose ins(%v : tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) permutation = [1, 0]
    %n = arith.subf %v, %t : tensor<40x40xf32>
    etdg.yield %n : tensor<40x40xf32>
  } : !b, !b
  etdg.block @b2 [map] (i) in [0, L) reads (%v = %c[i] : tensor<40x40xf32>) writes (%r[i]) {
    %n = arith.addf %v, %v : tensor<40x40xf32>
    etdg.yield %n : tensor<40x40xf32>
  } : !b, !b
  etdg.return %r : !b
}
