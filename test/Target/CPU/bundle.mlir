// Programs compiled ahead for classes of processors: results are those of the interpreter, at lengths other than
// those that they were compiled with, also with one thread.
// REQUIRES: numpy
// RUN: ft-translate --mlir-to-bundle --target=cpu %s -o %t.ftb
// RUN: ft-run %s --entry=sums --engine=interpret --seed=3 --dim N=5 --dim L=13 --out=%t.want.npy
// RUN: ft-run %t.ftb --entry=sums --seed=3 --dim N=5 --dim L=13 --expect=%t.want.npy | FileCheck %s
// RUN: env FT_NUM_THREADS=1 %ft_bin/ft-run %t.ftb --entry=sums --seed=3 --dim N=5 --dim L=13 --expect=%t.want.npy | FileCheck %s
// RUN: ft-run %s --entry=sums --engine=interpret --seed=3 --dim N=1 --dim L=1 --out=%t.one.npy
// RUN: ft-run %t.ftb --entry=sums --seed=3 --dim N=1 --dim L=1 --expect=%t.one.npy | FileCheck %s
// CHECK: equal

// Also for the class with fewer registers alone, with a buffer between two kernels and with constants.
// RUN: ft-translate --mlir-to-bundle --target=x86-64-v3 %s -o %t.v3.ftb
// RUN: ft-run %s --entry=between --engine=interpret --seed=3 --dim N=7 --out=%t.between.npy
// RUN: ft-run %t.v3.ftb --entry=between --seed=3 --dim N=7 --expect=%t.between.npy | FileCheck %s

// RUN: ft-run %s --entry=pick --engine=interpret --dim N=5 --dim M=4 --out=%t.pick.npy
// RUN: ft-run %t.ftb --entry=pick --dim N=5 --dim M=4 --expect=%t.pick.npy | FileCheck %s
// An index that is out of range is found, and nothing else.
// RUN: %python -c "import numpy; numpy.save(r'%t.index.npy', numpy.array([0, 1, 9, 2], dtype='i4'))"
// RUN: not ft-run %t.ftb --entry=pick --dim N=5 --dim M=4 --arg=%t.index.npy 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: {{.*}}bundle.mlir:[[@LINE+38]]:{{[0-9]+}}: index 9 is out of range [0, 5), in entry "pick"

// Bounds of the program hold for what was compiled ahead, too.
// RUN: not ft-run %t.ftb --entry=between --dim N=1 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: error: entry "between": needs N - 2 >= 0, found N = 1

!x = tensor<3xf32>

func.func @sums(%xss: !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
  %ones = arith.constant dense<[1.0, -1.0, 0.5]> : !x
  %ys = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %s = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%a = %ones : !x) -> !ft.list<[L], !x> {
      %b = arith.mulf %a, %ones : !x
      %c = arith.addf %b, %x : !x
      ft.yield %c : !x
    }
    ft.yield %s : !ft.list<[L], !x>
  }
  return %ys : !ft.list<[N, L], !x>
}

// Reads the whole of a fold: two kernels.
func.func @between(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> attributes {ft.bounds = #ft.bounds<"N >= 2">} {
  %zero = arith.constant dense<0.0> : !x
  %sum = ft.foldl (%x = %xs : !ft.list<[N], !x>) init (%a = %zero : !x) -> !x {
    %b = arith.addf %a, %x : !x
    ft.yield %b : !x
  }
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %y = arith.subf %x, %sum : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}

func.func @pick(%index: !ft.list<[M], tensor<i32>> {ft.gen = #ft.index<0, N>}, %xs: !ft.list<[N], !x>)
    -> !ft.list<[M], !x> {
  %picked = ft.gather %xs[%index] : !ft.list<[N], !x>, !ft.list<[M], tensor<i32>>
  %ys = ft.map (%x = %picked : !ft.list<[M], !x>) -> !ft.list<[M], !x> {
    %y = arith.addf %x, %x : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[M], !x>
}
