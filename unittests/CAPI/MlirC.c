/*===- MlirC.c - what several tests in C need of MLIR ------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                       */
#include "MlirC.h"

#include <string.h>

typedef struct Text {
  char data[1 << 16];
  size_t size;
} Text;

static void append(MlirStringRef piece, void *user) {
  Text *text = (Text *)user;
  size_t room = sizeof text->data - 1 - text->size;
  size_t size = piece.length < room ? piece.length : room;
  memcpy(text->data + text->size, piece.data, size);
  text->size += size;
  text->data[text->size] = 0;
}

static MlirLogicalResult take(MlirDiagnostic diagnostic, void *user) {
  World *world = (World *)user;
  static Text text; /* diagnostics come one at a time in these tests */
  memset(&text, 0, sizeof text);
  mlirDiagnosticPrint(diagnostic, append, &text);
  memcpy(world->said, text.data, sizeof world->said - 1); /* the buffer is longer */
  return mlirLogicalResultSuccess();
}

MlirStringRef string(const char *text) { return mlirStringRefCreateFromCString(text); }

void openWorld(World *world) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  memset(world, 0, sizeof *world);
  mlirFTRegisterAllDialects(registry);
  world->context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__ft__(), world->context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__etdg__(), world->context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__tssa__(), world->context);
  mlirContextAttachDiagnosticHandler(world->context, take, world, NULL);
  world->here = mlirLocationFileLineColGet(world->context, string("here.c"), 3, 7);
}

void closeWorld(World *world) { mlirContextDestroy(world->context); }

bool printsType(MlirType type, const char *text) {
  Text found;
  found.size = 0;
  mlirTypePrint(type, append, &found);
  return strcmp(found.data, text) == 0;
}

bool printsAttribute(MlirAttribute attribute, const char *text) {
  Text found;
  found.size = 0;
  mlirAttributePrint(attribute, append, &found);
  return strcmp(found.data, text) == 0;
}

const char *moduleText(MlirModule module) {
  static Text text;
  text.size = 0;
  text.data[0] = 0;
  mlirOperationPrint(mlirModuleGetOperation(module), append, &text);
  return text.data;
}
