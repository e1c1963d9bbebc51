/*===- rpn.c - a compiler in C that embeds FractalTensor ---------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                       */
/*                                                                               */
/*   rpn 'x x * 1 +' 1 2 3                                                       */
/*                                                                               */
/* A language of one expression in reverse Polish notation over the element x:   */
/* MLIR's C interface builds the body of an `ft.map` from it, FractalTensor      */
/* compiles the module and runs it. Prints one result for each number. With      */
/* --print it prints the program, lowered by a pass pipeline, instead.           */
/*===-------------------------------------------------------------------------===*/
#include "ft-c/Dialects.h"
#include "ft-c/Module.h"
#include "ft-c/Passes.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MlirStringRef string(const char *text) { return mlirStringRefCreateFromCString(text); }

static MlirNamedAttribute named(MlirContext context, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, string(name)), value);
}

/*===-- building --------------------------------------------------------------===*/

/* What an operation is made of; zeros are none of a kind. */
typedef struct Parts {
  const char *name;
  MlirType result;
  intptr_t numOperands;
  MlirValue operands[2];
  intptr_t numAttributes;
  MlirNamedAttribute attributes[2];
  MlirBlock body; /* the only block of the only region */
} Parts;

/* Appends the operation to a block and gives its result, if it has one. */
static MlirValue append(MlirBlock block, MlirLocation here, const Parts *parts) {
  MlirOperationState state = mlirOperationStateGet(string(parts->name), here);
  MlirValue none = {NULL};
  if (!mlirTypeIsNull(parts->result))
    mlirOperationStateAddResults(&state, 1, &parts->result);
  mlirOperationStateAddOperands(&state, parts->numOperands, parts->operands);
  mlirOperationStateAddAttributes(&state, parts->numAttributes, parts->attributes);
  if (!mlirBlockIsNull(parts->body)) {
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, parts->body);
    mlirOperationStateAddOwnedRegions(&state, 1, &region);
  }
  MlirOperation made = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(block, made);
  return mlirTypeIsNull(parts->result) ? none : mlirOperationGetResult(made, 0);
}

/* The name of a token's operation, or NULL. */
static const char *operationOf(char token) {
  switch (token) {
  case '+':
    return "arith.addf";
  case '-':
    return "arith.subf";
  case '*':
    return "arith.mulf";
  case '/':
    return "arith.divf";
  default:
    return NULL;
  }
}

/* The value of an expression, at the end of `block`; null after an error, which says its column. */
static MlirValue translate(MlirContext context, MlirBlock block, MlirType element, const char *text) {
  enum { depth = 64 };
  MlirValue stack[depth], null = {NULL};
  int height = 0;
  for (const char *at = text; *at;) {
    MlirLocation here = mlirLocationFileLineColGet(context, string("expression"), 1, (unsigned)(at - text + 1));
    const char *operation = operationOf(*at);
    char *end = NULL;
    Parts parts = {0};
    if (isspace((unsigned char)*at)) {
      ++at;
      continue;
    }
    if (height == depth) {
      mlirEmitError(here, "expected at most 64 values at once");
      return null;
    }
    if (*at == 'x') {
      stack[height++] = mlirBlockGetArgument(block, 0);
      ++at;
      continue;
    }
    parts.result = element;
    if (operation && (at[1] == 0 || isspace((unsigned char)at[1]))) {
      if (height < 2) {
        mlirEmitError(here, "expected two values before an operator");
        return null;
      }
      height -= 2;
      parts.name = operation;
      parts.numOperands = 2;
      parts.operands[0] = stack[height];
      parts.operands[1] = stack[height + 1];
      ++at;
    } else {
      double value = strtod(at, &end);
      if (end == at) {
        mlirEmitError(here, "expected x, a number, +, -, * or /");
        return null;
      }
      at = end;
      MlirAttribute scalar = mlirFloatAttrDoubleGet(context, mlirShapedTypeGetElementType(element), value);
      parts.name = "arith.constant";
      parts.numAttributes = 1;
      parts.attributes[0] = named(context, "value", mlirDenseElementsAttrSplatGet(element, scalar));
    }
    stack[height++] = append(block, here, &parts);
  }
  if (height == 1)
    return stack[0];
  mlirEmitError(mlirLocationFileLineColGet(context, string("expression"), 1, (unsigned)strlen(text) + 1),
                height ? "expected an operator: more than one value is left" : "expected an expression");
  return null;
}

/* func @each(%xs : list<[N], f32>) { map over %xs by the expression }; null after an error. */
static MlirModule build(MlirContext context, const char *expression) {
  MlirLocation here = mlirLocationFileLineColGet(context, string("expression"), 1, 1);
  MlirAttribute length = mlirFTLengthAttrGetNamed(context, string("N"));
  MlirType element = mlirRankedTensorTypeGet(0, NULL, mlirF32TypeGet(context), mlirAttributeGetNull());
  MlirType list = mlirFTListTypeGetChecked(here, 1, &length, element);
  MlirBlock body = mlirBlockCreate(1, &list, &here), inner = mlirBlockCreate(1, &element, &here);
  MlirModule module = mlirModuleCreateEmpty(here);
  int32_t segments[2] = {1, 0}; /* one value that goes on, none that is emitted beside it */

  MlirValue value = translate(context, inner, element, expression);
  if (mlirValueIsNull(value)) {
    mlirBlockDestroy(inner);
    mlirBlockDestroy(body);
    mlirModuleDestroy(module);
    return (MlirModule){NULL};
  }
  Parts yield = {.name = "ft.yield", .numOperands = 1, .operands = {value}, .numAttributes = 1};
  yield.attributes[0] = named(context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 2, segments));
  append(inner, here, &yield);
  Parts map = {.name = "ft.map", .result = list, .numOperands = 1, .body = inner};
  map.operands[0] = mlirBlockGetArgument(body, 0);
  value = append(body, here, &map);
  Parts give = {.name = "func.return", .numOperands = 1, .operands = {value}};
  append(body, here, &give);
  Parts function = {.name = "func.func", .numAttributes = 2, .body = body};
  function.attributes[0] = named(context, "sym_name", mlirStringAttrGet(context, string("each")));
  function.attributes[1] = named(context, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(context, 1, &list, 1, &list)));
  append(mlirModuleGetBody(module), here, &function);
  return module;
}

/*===-- printing --------------------------------------------------------------===*/

static void writeText(MlirStringRef text, void *stream) { fwrite(text.data, 1, text.length, (FILE *)stream); }

/* Runs a pipeline over the module, by its text, and prints what it made. */
static int lowerAndPrint(MlirModule module) {
  mlirRegisterFTAllPasses();
  MlirPassManager manager = mlirPassManagerCreate(mlirModuleGetContext(module));
  int failed = mlirLogicalResultIsFailure(mlirOpPassManagerAddPipeline(
                   mlirPassManagerGetAsOpPassManager(manager), string("ft-compile{to=etdg}"), writeText, stderr)) ||
               mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module)));
  if (!failed) {
    mlirOperationPrint(mlirModuleGetOperation(module), writeText, stdout);
    printf("\n");
  }
  mlirPassManagerDestroy(manager);
  return failed;
}

/*===-- running ---------------------------------------------------------------===*/

/* Prints "place: error: message" and what explains it. */
static void printDiagnostic(const FtDiagnostic *diagnostic, void *user) {
  static const char *const kinds[] = {"note", "warning", "error", "remark"};
  (void)user;
  if (diagnostic->num_places)
    fprintf(stderr, "%s:%d:%d: ", diagnostic->places[0].file, (int)diagnostic->places[0].line,
            (int)diagnostic->places[0].column);
  fprintf(stderr, "%s: %s\n", kinds[diagnostic->severity & 3], diagnostic->message);
  for (int32_t i = 0; i < diagnostic->num_notes; ++i)
    printDiagnostic(&diagnostic->notes[i], user);
}

static FtTensor makeTensor(float *data, int64_t *length) {
  FtTensor tensor = {0};
  tensor.data = data;
  tensor.device.type = FT_CPU;
  tensor.ndim = 1;
  tensor.dtype.code = 2; /* float */
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = length;
  return tensor;
}

/* Compiles the module, for this processor, and calls it; the code serves every length. */
static FtStatus run(MlirModule module, float *numbers, float *results, int64_t count) {
  FtCompiler *compiler = NULL;
  FtSource *source = NULL;
  FtProgram *program = NULL;
  FtModule *loaded = NULL;
  FtEntry *entry = NULL;
  FtCompilerOptions options = {0};
  options.struct_size = sizeof options;
  options.diagnostic = printDiagnostic;
  FtStatus status = ft_compiler_create(&options, &compiler);
  if (status == FT_OK)
    status = ft_source_from_module(compiler, module, &source);
  if (status == FT_OK)
    status = ft_compile(source, NULL, &program);
  if (status == FT_OK)
    status = ft_program_load(program, NULL, &loaded);
  if (status == FT_OK)
    status = ft_module_entry(loaded, "each", &entry);
  if (status == FT_OK) {
    FtTensor in = makeTensor(numbers, &count), out = makeTensor(results, &count);
    const FtTensor *tensors[2] = {&in, &out};
    status = ft_call(entry, tensors, 2, NULL);
  }
  if (status != FT_OK)
    fprintf(stderr, "error: %s\n", ft_last_error());
  ft_module_release(loaded);
  ft_program_release(program);
  ft_source_release(source);
  ft_compiler_release(compiler);
  return status;
}

static MlirLogicalResult printMlirDiagnostic(MlirDiagnostic diagnostic, void *user) {
  MlirLocation here = mlirDiagnosticGetLocation(diagnostic);
  (void)user;
  if (mlirLocationIsAFileLineColRange(here))
    fprintf(stderr, "expression:%d:%d: ", mlirLocationFileLineColRangeGetStartLine(here),
            mlirLocationFileLineColRangeGetStartColumn(here));
  fprintf(stderr, "error: ");
  mlirDiagnosticPrint(diagnostic, writeText, stderr);
  fprintf(stderr, "\n");
  return mlirLogicalResultSuccess();
}

static MlirContext makeContext(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirFTRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextGetOrLoadDialect(context, string("arith"));
  mlirContextGetOrLoadDialect(context, string("func"));
  mlirContextGetOrLoadDialect(context, string("ft"));
  mlirContextAttachDiagnosticHandler(context, printMlirDiagnostic, NULL, NULL);
  return context;
}

/* Numbers of the command line; NULL after an error. */
static float *readNumbers(int count, char **texts) {
  float *numbers = malloc((size_t)count * sizeof *numbers + 1);
  for (int i = 0; numbers && i < count; ++i) {
    char *end = NULL;
    numbers[i] = strtof(texts[i], &end);
    if (end == texts[i] || *end) {
      fprintf(stderr, "error: expected a number, found '%s'\n", texts[i]);
      free(numbers);
      return NULL;
    }
  }
  return numbers;
}

int main(int argc, char **argv) {
  int print = argc > 1 && strcmp(argv[1], "--print") == 0;
  const char *expression = argv[1 + print];
  int count = argc - 2 - print, status = 1;
  if (argc < 2 + print || (!print && count < 1)) {
    fprintf(stderr, "usage: rpn [--print] 'x x * 1 +' NUMBER...\n");
    return 2;
  }
  MlirContext context = makeContext();
  MlirModule module = build(context, expression);
  if (!mlirModuleIsNull(module) && print) {
    status = lowerAndPrint(module);
  } else if (!mlirModuleIsNull(module)) {
    float *numbers = readNumbers(count, argv + 2), *results = calloc((size_t)count, sizeof *results);
    if (numbers && results && run(module, numbers, results, count) == FT_OK) {
      for (int i = 0; i < count; ++i)
        printf("%s%g", i ? " " : "", (double)results[i]);
      printf("\n");
      status = 0;
    }
    free(numbers);
    free(results);
  }
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return status;
}
