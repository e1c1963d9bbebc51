// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of several tiles that stay in registers from the first iteration of a loop to the last, where a user says so: a call's last rows fill some of them, which others don't
// compute then. One iteration, several, none.
//
// RUN: ft-opt %s "--ft-compile=to=tile target=sm_90a machine=%S/../../machines/h200.json" --remarks-filter="gpu.*" -o %t.mlir 2> %t.remarks
// RUN: grep keep-sums %t.remarks | FileCheck %s --check-prefix=REMARK
// REMARK: Missed] keep-sums{{.*}}input 2 goes through memory at each iteration: it is 3 tiles of a product, of which a thread would have all at a time
// RUN: sed '/linalg.matmul/,/loops.syncs/ s/loops.syncs = [^}]*/loops.kept = [#loops.kept<output = 0, input = 2, last>]/' %t.mlir | sed 's/loops.syncs = [^}]*//' | ft-opt --loops-place-syncs --convert-loops-to-gpu -o %t.kernels.mlir
// RUN: FileCheck %s --input-file=%t.kernels.mlir
// RUN: %ft_bin/ft-run %s --machine=%S/../../machines/h200.json --engine=emulate --target=sm_90a --kernels=%t.kernels.mlir --multiprocessors=3 --dim=M=2 --dim=N=3 --dim=K=5 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --machine=%S/../../machines/h200.json --engine=emulate --target=sm_90a --kernels=%t.kernels.mlir --multiprocessors=3 --dim=M=1 --dim=N=5 --dim=K=1 --seed=2 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --machine=%S/../../machines/h200.json --engine=emulate --target=sm_90a --kernels=%t.kernels.mlir --multiprocessors=3 --dim=M=1 --dim=N=1 --dim=K=0 --seed=3 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --machine=%S/../../machines/h200.json --engine=interpret-tile --target=sm_90a --kernels=%t.kernels.mlir --multiprocessors=3 --dim=M=1 --dim=N=3 --dim=K=3 --seed=4 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}) -> (!tile.registers<

!a = tensor<40x24xf32>
!b = tensor<24x56xf32>
!c = tensor<40x56xf32>
func.func @blocks(%as: !ft.list<[M, K], !a>, %bs: !ft.list<[N, K], !b> {ft.gen = #ft.normal<0.2>}) -> !ft.list<[M, N], !c>
    attributes {ft.lengths = {M = 3 : i64, N = 2 : i64, K = 7 : i64}} {
  %zero = arith.constant dense<0.0> : !c
  %cs = ft.map (%a = %as : !ft.list<[M, K], !a>) -> !ft.list<[M, N], !c> {
    %row = ft.map (%b = %bs : !ft.list<[N, K], !b>) -> !ft.list<[N], !c> {
      %c = ft.reduce (%x, %y = %a, %b : !ft.list<[K], !a>, !ft.list<[K], !b>) init (%acc = %zero : !c) -> !c {
        %sum = linalg.matmul ins(%x, %y : !a, !b) outs(%acc : !c) -> !c
        ft.yield %sum : !c
      } combine (%p, %q) {
        %pq = arith.addf %p, %q : !c
        ft.yield %pq : !c
      }
      ft.yield %c : !c
    }
    ft.yield %row : !ft.list<[N], !c>
  }
  return %cs : !ft.list<[M, N], !c>
}
