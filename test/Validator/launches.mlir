// (T14) Launches that begin before those before them have ended: what a kernel touches before it has waited none of these writes, and each path waits.
//
// RUN: ft-opt %s --ft-compile="to=threads target=sm_90a skip=coarsen" -o %t.mlir
// RUN: ft-opt %t.mlir --validate-launches -o /dev/null
// RUN: ft-opt %s --ft-compile="to=pipeline target=sm_90a skip=coarsen" | ft-opt --validate-launches -o /dev/null
//
// Two buffers lie in one place of the workspace: the first kernel writes one, the second the other.
// RUN: sed '/llvm.func @chain_k1(/,/llvm.return/{/griddepcontrol *wait/d}' %t.mlir | not ft-opt --validate-launches=phase=threads 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: :{{[0-9]+}}:{{[0-9]+}}: error: internal error: after phase 'threads': (T14) a path of kernel @chain_k1 ends without griddepcontrol wait, and its launch overlaps that of kernel @chain_k0:
// NEVER: note: kernel @chain_k0 is here
// NEVER-NOT: error:
//
// A wait on one path is none.
// RUN: sed '/llvm.func @chain_k1(/,/llvm.return/{s/nvvm.griddepcontrol *wait/%%way = arith.cmpi eq, %%arg3, %%arg0 : i64 scf.if %%way { nvvm.griddepcontrol wait }/}' %t.mlir | not ft-opt --validate-launches=given 2>&1 | FileCheck %s --check-prefix=WAY
// WAY: :{{[0-9]+}}:{{[0-9]+}}: error: (T14) a path of kernel @chain_k1 ends without griddepcontrol wait
// RUN: sed '/llvm.func @chain_k1(/,/llvm.return/{s/nvvm.griddepcontrol *wait/%%way = arith.cmpi eq, %%arg3, %%arg0 : i64 scf.if %%way { nvvm.griddepcontrol wait } else { nvvm.griddepcontrol wait }/}' %t.mlir | ft-opt --validate-launches -o /dev/null
//
// What the launch before writes is not read early, nor is what is in its place.
// RUN: sed '/llvm.func @chain_k1(/,/llvm.return/{s/nvvm.griddepcontrol *wait/%%early = llvm.load %%arg1 : !llvm.ptr<1> -> f32 nvvm.griddepcontrol wait/}' %t.mlir | not ft-opt --validate-launches 2>&1 | FileCheck %s --check-prefix=READ
// READ: error: internal error: (T14) kernel @chain_k1 reads buffer 3 of the workspace before it has waited (griddepcontrol wait) for kernel @chain_k0, which may still be in flight and writes it
// READ: note: kernel @chain_k0 writes it here
// RUN: sed '/llvm.func @chain_k1(/,/llvm.return/{s/nvvm.griddepcontrol *wait/%%early = llvm.load %%arg2 : !llvm.ptr<1> -> f32 nvvm.griddepcontrol wait/}' %t.mlir | not ft-opt --validate-launches 2>&1 | FileCheck %s --check-prefix=SLOT
// SLOT: error: internal error: (T14) kernel @chain_k1 reads buffer 4 of the workspace before it has waited (griddepcontrol wait) for kernel @chain_k0, which may still be in flight and writes buffer 3 of the workspace in the same memory
//
// A weight may be read early: nothing of the call writes it.
// RUN: sed '/llvm.func @chain_k0_v1(/,/llvm.return/{s/nvvm.griddepcontrol *wait/%%early = llvm.load %%arg2 : !llvm.ptr<1> -> f32 nvvm.griddepcontrol wait/}' %t.mlir | ft-opt --validate-launches -o /dev/null
// It is written early by no kernel: one before reads it.
// RUN: sed '/llvm.func @chain_k0_v1(/,/llvm.return/{s/nvvm.griddepcontrol *wait/llvm.store %%arg0, %%arg2 : i64, !llvm.ptr<1> nvvm.griddepcontrol wait/}' %t.mlir | not ft-opt --validate-launches 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: internal error: (T14) kernel @chain_k0_v1 writes 'argument1' before it has waited (griddepcontrol wait) for kernel @chain_k0, which may still be in flight and reads it

!r = tensor<64xf32>
func.func @chain(%xs: !ft.list<[N], !r>, %ws: tensor<64x64xf32>) -> !ft.list<[N], !r> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !r>) {
    %z = arith.constant dense<0.0> : !r
    %y = linalg.vecmat ins(%x, %ws : !r, tensor<64x64xf32>) outs(%z : !r) -> !r
    ft.yield %y : !r
  }
  %s = ft.map (%x = %ys : !ft.list<[N], !r>) {
    %y = math.tanh %x : !r
    ft.yield %y : !r
  }
  %t = ft.map (%x = %s : !ft.list<[N], !r>) {
    %z = arith.constant dense<0.0> : !r
    %y = linalg.vecmat ins(%x, %ws : !r, tensor<64x64xf32>) outs(%z : !r) -> !r
    ft.yield %y : !r
  }
  return %t : !ft.list<[N], !r>
}
