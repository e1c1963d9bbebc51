// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code in a bundle comes from whatever `ptxas` is on the path: one that works on several kernels at once, or an
// older one, which is asked again without. Each plan has its own; one that is refused leaves the text alone, and says so.
//
// RUN: rm -rf %t && mkdir -p %t && cp %S/Inputs/old-ptxas %t/ptxas
// RUN: env PATH=%t:/usr/bin:/bin %ft_bin/ft-translate --mlir-to-bundle --target=sm_80,sm_90a %s -o %t/old.ftb 2>&1 | count 0
// RUN: grep -a -o "assembled -arch=sm_[0-9a]*" %t/old.ftb | FileCheck %s --check-prefix=CODE
// CODE: assembled -arch=sm_80
// CODE-NEXT: assembled -arch=sm_90a
// CODE-NOT: assembled
//
// RUN: env PATH=%t:/usr/bin:/bin FAKE_REFUSES=1 %ft_bin/ft-translate --mlir-to-bundle --target=sm_90a %s -o %t/refused.ftb 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: assemblers.mlir:{{[0-9]+}}:{{[0-9]+}}: warning: ptxas refuses the kernels: fatal: no such instruction
// RUN: not grep -a "assembled" %t/refused.ftb
// RUN: grep -a -c "entry f_k0" %t/refused.ftb | FileCheck %s --check-prefix=TEXT
// TEXT: {{^}}1{{$}}

func.func @f(%xs: !ft.list<[N], tensor<4xf32>>) -> !ft.list<[N], tensor<4xf32>> {
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<4xf32>>) -> !ft.list<[N], tensor<4xf32>> {
    %y = arith.addf %x, %x : tensor<4xf32>
    ft.yield %y : tensor<4xf32>
  }
  return %ys : !ft.list<[N], tensor<4xf32>>
}
