/*===- PlainC.c - the compiler from C --------------------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*                                                                             */
/* Text in, numbers out, by nothing but C: what ft-c/Compiler.h shows.         */
/*===-----------------------------------------------------------------------===*/
#include "ft-c/Compiler.h"

#include <string.h>

static const char text[] =
    "func.func @running_sum(%xs: !ft.list<[L], tensor<2xf32>>) -> !ft.list<[L], tensor<2xf32>> {\n"
    "  %zero = arith.constant dense<0.0> : tensor<2xf32>\n"
    "  %r = ft.scanl (%x = %xs : !ft.list<[L], tensor<2xf32>>) init (%s = %zero : tensor<2xf32>)\n"
    "      -> !ft.list<[L], tensor<2xf32>> {\n"
    "    %n = arith.addf %s, %x : tensor<2xf32>\n"
    "    ft.yield %n : tensor<2xf32>\n"
    "  }\n"
    "  return %r : !ft.list<[L], tensor<2xf32>>\n"
    "}\n";

FtStatus runPlainC(const char *program_text, const char *target, float *in, float *out, int64_t length) {
  FtCompiler *compiler = NULL;
  FtProgram *program = NULL;
  FtModule *module = NULL;
  FtEntry *entry = NULL;
  FtCompileOptions options;
  FtTensor x, y;
  const FtTensor *tensors[2];
  int64_t shape[2];
  FtStatus status;

  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.target = target;
  status = ft_compiler_create(NULL, &compiler);
  if (status == FT_OK)
    status = ft_compile_text(compiler, program_text ? program_text : text,
                             program_text ? strlen(program_text) : sizeof text - 1, "sum.mlir", &options, &program);
  if (status == FT_OK)
    status = ft_program_load(program, NULL, &module);
  if (status == FT_OK)
    status = ft_module_entry(module, NULL, &entry);
  if (status == FT_OK) {
    shape[0] = length;
    shape[1] = 2;
    memset(&x, 0, sizeof x);
    x.data = in;
    x.device.type = FT_CPU;
    x.ndim = 2;
    x.dtype.code = 2;
    x.dtype.bits = 32;
    x.dtype.lanes = 1;
    x.shape = shape;
    y = x;
    y.data = out;
    tensors[0] = &x;
    tensors[1] = &y;
    status = ft_call(entry, tensors, 2, NULL);
  }
  ft_module_release(module);
  ft_program_release(program);
  ft_compiler_release(compiler);
  return status;
}
