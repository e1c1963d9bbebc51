// Phases are left out of bundles and PTX as in ft-run: without `reorder` the scan
// stays on one thread block for each task, with it the layers advance together.
//
// RUN: ft-translate --mlir-to-ptx --target=sm_90a --gpu-steps=always %s | FileCheck %s --check-prefix=ALL
// RUN: ft-translate --mlir-to-ptx --target=sm_90a --gpu-steps=always --skip=reorder %s | FileCheck %s --check-prefix=SKIP
// RUN: env FT_NO_PTXAS=1 ft-translate --mlir-to-bundle --target=sm_90a --gpu-steps=always --skip=coarsen,reorder %s | FileCheck %s --check-prefix=BUNDLE
// RUN: ft-translate --mlir-to-ptx --target=sm_90a --gpu-steps=always --ft-validate=off %s | FileCheck %s --check-prefix=ALL
// RUN: not ft-translate --mlir-to-ptx --skip=etdg %s 2>&1 | FileCheck %s --check-prefix=WRONG

// ALL: .visible .entry stacked_k0(
// ALL: atom.add.acq_rel.gpu
// SKIP: .visible .entry stacked_k0
// SKIP-NOT: atom.add.acq_rel.gpu
// BUNDLE: "cooperative":{{ ?}}false
// BUNDLE-NOT: "cooperative":{{ ?}}true
// WRONG: error: --skip=etdg: expected coarsen, reorder, partition or storage

!x = tensor<1x8xf32>

func.func @stacked(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %d = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %l = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%left = %zero : !x) -> !ft.list<[L], !x> {
      %p = arith.mulf %x, %w : !x
      %q = arith.addf %p, %left : !x
      ft.yield %q : !x
    }
    ft.yield %l : !ft.list<[L], !x>
  }
  return %d : !ft.list<[D, L], !x>
}
