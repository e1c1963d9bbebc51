/*===- ModuleC.c - modules that C has built, compiled -------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                       */
#include "ft-c/Module.h"

#include "CTests.h"
#include "MlirC.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

static MlirNamedAttribute named(MlirContext context, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, string(name)), value);
}

/* An operation at the end of a block; `result` may be null. Gives its result. */
static MlirValue add(MlirBlock block, MlirLocation here, const char *name, MlirType result, intptr_t count,
                     MlirValue *operands, MlirRegion *region, MlirAttribute segments) {
  MlirOperationState state = mlirOperationStateGet(string(name), here);
  MlirOperation made;
  MlirValue none = {NULL};
  MlirNamedAttribute attribute;
  if (!mlirTypeIsNull(result))
    mlirOperationStateAddResults(&state, 1, &result);
  mlirOperationStateAddOperands(&state, count, operands);
  if (region)
    mlirOperationStateAddOwnedRegions(&state, 1, region);
  if (!mlirAttributeIsNull(segments)) {
    attribute = named(mlirLocationGetContext(here), "operandSegmentSizes", segments);
    mlirOperationStateAddAttributes(&state, 1, &attribute);
  }
  made = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(block, made);
  return mlirTypeIsNull(result) ? none : mlirOperationGetResult(made, 0);
}

/* @twice maps x -> x + x over a list of L tensors. `length` may be another than the list's. */
static MlirModule build(World *w, const char *length) {
  MlirType null = {NULL};
  MlirAttribute no = {NULL}, name = mlirFTLengthAttrGetNamed(w->context, string(length));
  MlirModule module = mlirModuleCreateEmpty(w->here);
  int64_t two = 2;
  int32_t sizes[2] = {1, 0};
  MlirType element = mlirRankedTensorTypeGet(1, &two, mlirF32TypeGet(w->context), no);
  MlirAttribute bound = mlirFTLengthAttrGetNamed(w->context, string("L"));
  MlirType list = mlirFTListTypeGetChecked(w->here, 1, &bound, element);
  MlirType result = mlirFTListTypeGetChecked(w->here, 1, &name, element);
  MlirType function = mlirFunctionTypeGet(w->context, 1, &list, 1, &result);
  MlirBlock body = mlirBlockCreate(1, &list, &w->here), inner = mlirBlockCreate(1, &element, &w->here);
  MlirRegion region = mlirRegionCreate(), innerRegion = mlirRegionCreate();
  MlirValue operands[2], value;
  MlirOperationState state = mlirOperationStateGet(string("func.func"), w->here);
  MlirNamedAttribute attributes[2];

  operands[0] = operands[1] = mlirBlockGetArgument(inner, 0);
  value = add(inner, w->here, "arith.addf", element, 2, operands, NULL, no);
  add(inner, w->here, "ft.yield", null, 1, &value, NULL, mlirDenseI32ArrayGet(w->context, 2, sizes));
  mlirRegionAppendOwnedBlock(innerRegion, inner);
  value = mlirBlockGetArgument(body, 0);
  value = add(body, w->here, "ft.map", result, 1, &value, &innerRegion, no);
  add(body, w->here, "func.return", null, 1, &value, NULL, no);
  mlirRegionAppendOwnedBlock(region, body);
  attributes[0] = named(w->context, "sym_name", mlirStringAttrGet(w->context, string("twice")));
  attributes[1] = named(w->context, "function_type", mlirTypeAttrGet(function));
  mlirOperationStateAddAttributes(&state, 2, attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(module), mlirOperationCreate(&state));
  return module;
}

typedef struct Said {
  int errors;
  int line;
  char file[64];
  char text[512];
} Said;

static void takeDiagnostic(const FtDiagnostic *diagnostic, void *user) {
  Said *said = (Said *)user;
  if (diagnostic->severity != FT_ERROR || said->errors++)
    return;
  strncpy(said->text, diagnostic->message, sizeof said->text - 1);
  if (diagnostic->num_places) {
    said->line = diagnostic->places[0].line;
    strncpy(said->file, diagnostic->places[0].file, sizeof said->file - 1);
  }
}

static FtCompiler *makeCompiler(Said *said) {
  FtCompilerOptions options;
  FtCompiler *compiler = NULL;
  memset(said, 0, sizeof *said);
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.diagnostic = takeDiagnostic;
  options.user = said;
  ft_compiler_create(&options, &compiler);
  return compiler;
}

static const char *runTwice(FtProgram *program) {
  FtModule *module = NULL;
  FtEntry *entry = NULL;
  FtTensor x, y;
  const FtTensor *tensors[2];
  int64_t shape[2] = {3, 2};
  _Alignas(16) float in[6] = {1, 2, 3, 4, 5, 6};
  _Alignas(16) float out[6];
  int i;
  CHECK(ft_program_load(program, NULL, &module) == FT_OK);
  CHECK(ft_module_entry(module, "twice", &entry) == FT_OK);
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
  CHECK(ft_call(entry, tensors, 2, NULL) == FT_OK);
  for (i = 0; i < 6; ++i)
    CHECK(out[i] == 2 * in[i]);
  ft_module_release(module);
  return NULL;
}

const char *testBuiltModule(void) {
  World w;
  Said said;
  MlirModule module;
  FtCompiler *compiler = makeCompiler(&said);
  FtSource *source = NULL;
  FtProgram *program = NULL;
  const char *failed;
  openWorld(&w);
  module = build(&w, "L");
  CHECK(ft_source_from_module(compiler, module, &source) == FT_OK);
  /* The module is the caller's again, and its context too. */
  mlirModuleDestroy(module);
  closeWorld(&w);
  CHECK(strcmp(ft_source_entry_name(source, 0), "twice") == 0 && !ft_source_entry_name(source, 1));
  CHECK(ft_compile(source, NULL, &program) == FT_OK);
  failed = runTwice(program);
  ft_program_release(program);
  ft_source_release(source);
  CHECK(ft_source_from_module(NULL, module, &source) == FT_INVALID_ARGUMENT);
  module.ptr = NULL;
  CHECK(ft_source_from_module(compiler, module, &source) == FT_INVALID_ARGUMENT && !source);
  ft_compiler_release(compiler);
  return failed;
}

/* What is wrong is found where it was built, and said to the compiler's callback alone. */
const char *testInvalidModule(void) {
  World w;
  Said said;
  FtCompiler *compiler = makeCompiler(&said);
  FtSource *source = NULL;
  MlirModule module;
  openWorld(&w);
  module = build(&w, "M");
  CHECK(ft_source_from_module(compiler, module, &source) == FT_INVALID_PROGRAM && !source);
  CHECK(said.errors > 0 && said.line == 3 && strcmp(said.file, "here.c") == 0);
  CHECK(strstr(ft_last_error(), "here.c:3:7: error: "));
  CHECK(w.said[0] == 0);
  mlirModuleDestroy(module);
  closeWorld(&w);
  ft_compiler_release(compiler);
  return NULL;
}

/* A dialect that the compiler does not know. */
const char *testModuleOfAnotherDialect(void) {
  World w;
  Said said;
  FtCompiler *compiler = makeCompiler(&said);
  FtSource *source = NULL;
  MlirModule module;
  MlirOperationState state;
  openWorld(&w);
  mlirContextSetAllowUnregisteredDialects(w.context, true);
  module = mlirModuleCreateEmpty(w.here);
  state = mlirOperationStateGet(string("other.thing"), w.here);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(module), mlirOperationCreate(&state));
  CHECK(ft_source_from_module(compiler, module, &source) == FT_INVALID_PROGRAM && !source);
  CHECK(said.errors > 0 && strstr(ft_last_error(), "other"));
  mlirModuleDestroy(module);
  closeWorld(&w);
  ft_compiler_release(compiler);
  return NULL;
}
