/*===- PortableC.c - the compiler by its table of functions -------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                       */
#include "ft-c/PortableApi.h"

#include "CTests.h"

#include <string.h>

/* What was published stays where it is. A failure here is a change of the major version. */
typedef int structs_keep_their_layout
    [sizeof(FtPlace) == 16 && offsetof(FtDiagnostic, remark_kind) == 80 && sizeof(FtCompilerOptions) == 40 &&
             sizeof(FtLength) == 16 && offsetof(FtScheduleOptions, cpu_candidate) == 48 &&
             offsetof(FtCompileOptions, cancel) == 80 && offsetof(FtCompileOptions, rounding) == 88 && sizeof(FtTensor) == 48 && sizeof(FtLoadOptions) == 16 &&
             offsetof(FtEntryInfo, variant) == 32 && offsetof(FtArgumentInfo, strided_dims) == 36 &&
             offsetof(FtCallOptions, flags) == 32 && sizeof(FtKernels) == 32
         ? 1
         : -1];
typedef int table_keeps_its_order[offsetof(FtApi, abi_version) == 16 && offsetof(FtApi, call) == 16 + 19 * 8 &&
                                          offsetof(FtApi, module_copy_from) == 16 + 24 * 8 &&
                                          offsetof(FtApi, compiler_create) == 16 + 25 * 8 &&
                                          offsetof(FtApi, program_figure) == 16 + 41 * 8 &&
                                          offsetof(FtApi, ragged_fill) == 16 + 43 * 8
                                      ? 1
                                      : -1];

static const char text[] =
    "func.func @negate(%xs: !ft.list<[L], tensor<f32>>) -> !ft.list<[L], tensor<f32>> {\n"
    "  %ys = ft.map (%x = %xs : !ft.list<[L], tensor<f32>>) -> !ft.list<[L], tensor<f32>> {\n"
    "    %y = arith.negf %x : tensor<f32>\n"
    "    ft.yield %y : tensor<f32>\n"
    "  }\n"
    "  return %ys : !ft.list<[L], tensor<f32>>\n"
    "}\n";

const char *testPortableTable(void) {
  const FtApi *ft = ft_api(FT_API_VERSION_MAJOR);
  FtCompiler *compiler = NULL;
  FtProgram *program = NULL;
  FtModule *module = NULL;
  FtEntry *entry = NULL;
  FtTensor x, y;
  const FtTensor *tensors[2];
  int64_t length = 3;
  _Alignas(16) float in[3] = {1, -2, 3};
  _Alignas(16) float out[3] = {0, 0, 0};
  CHECK(ft && ft->major_version == FT_API_VERSION_MAJOR && ft->minor_version >= FT_API_VERSION_MINOR);
  CHECK(FT_API_HAS(ft, program_figure) && ft->struct_size >= sizeof(FtApi));
  CHECK(!ft_api(FT_API_VERSION_MAJOR + 1) && !ft_api(0));
  CHECK(ft->abi_version() == FT_ABI_VERSION);
  CHECK(ft->compiler_create(NULL, &compiler) == FT_OK);
  CHECK(ft->compile_text(compiler, text, sizeof text - 1, "negate.mlir", NULL, &program) == FT_OK);
  CHECK(ft->program_load(program, NULL, &module) == FT_OK);
  CHECK(ft->module_entry(module, NULL, &entry) == FT_OK);
  memset(&x, 0, sizeof x);
  x.data = in;
  x.device.type = FT_CPU;
  x.ndim = 1;
  x.dtype.code = 2;
  x.dtype.bits = 32;
  x.dtype.lanes = 1;
  x.shape = &length;
  y = x;
  y.data = out;
  tensors[0] = &x;
  tensors[1] = &y;
  if (ft->call(entry, tensors, 2, NULL) != FT_OK)
    return ft->last_error();
  CHECK(out[0] == -1 && out[1] == 2 && out[2] == -3);
  CHECK(ft->call(entry, tensors, 1, NULL) == FT_INVALID_ARGUMENT && ft->last_error()[0] != 0);
  ft->module_release(module);
  ft->program_release(program);
  ft->compiler_release(compiler);
  return NULL;
}
