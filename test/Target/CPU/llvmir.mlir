// LLVM IR that LLVM's own verifier takes, of all functions in one module.
// RUN: ft-translate --mlir-to-llvmir --target=x86-64-v3 %s -o %t.ll
// RUN: %llvm_bin/opt -passes=verify -S %t.ll | FileCheck %s --check-prefix=CPU
// RUN: ft-translate --mlir-to-llvmir --target=sm_80 %s | %llvm_bin/opt -passes=verify -S | FileCheck %s --check-prefix=GPU
// RUN: ft-translate --mlir-to-llvmir %s | %llvm_bin/llc -filetype=null
// RUN: ft-translate --mlir-to-assembly --target=x86-64-v3 %s -o %t.s
// RUN: FileCheck %s --check-prefix=ASSEMBLY --input-file=%t.s
// RUN: ft-translate --mlir-to-assembly %s | %llvm_bin/llvm-mc -filetype=null
// RUN: ft-translate --mlir-to-assembly --target=sm_80 %s | FileCheck %s --check-prefix=PTX
// RUN: not ft-translate --mlir-to-assembly --target=sparc %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: ft-translate --mlir-to-ptx --target=sm_80 %s | FileCheck %s --check-prefix=PTX
// RUN: not ft-translate --mlir-to-llvmir --target=sparc %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not ft-translate --mlir-to-ptx --target=cpu %s 2>&1 | FileCheck %s --check-prefix=PTXTARGET

// CPU-DAG: define void @a_k0_launch(ptr
// CPU-DAG: define void @b_k0_launch(ptr
// CPU-DAG: declare void @ft_parallel_for(
// CPU: "target-cpu"="x86-64-v3"
// GPU: target triple = "nvptx64-nvidia-cuda"
// GPU: define ptx_kernel void @a
// GPU: define ptx_kernel void @b
// ASSEMBLY: .file{{.*}}llvmir.mlir"
// One header for all kernels, as ptxas wants it.
// PTX: .version
// PTX: .visible .entry a
// PTX-NOT: .version
// PTX: .visible .entry b
// TARGET: error: --target=sparc: expected sm_80, sm_90a, cpu,
// PTXTARGET: error: --target=cpu: expected sm_80 or sm_90a

!x = tensor<4xf32>
func.func @a(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : !x
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    // Instructions stand under the lines of the source that they come from.
    // ASSEMBLY: .loc 1 [[#@LINE+2]] 10
    // ASSEMBLY-NEXT: vaddps
    %y = arith.addf %x, %c : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
func.func @b(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %c = arith.constant dense<[1.0, 5.0, 3.0, 4.0]> : !x
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %y = arith.mulf %x, %c : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
