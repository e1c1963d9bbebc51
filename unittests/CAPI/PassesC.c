/*===- PassesC.c - passes and pipelines, from C -------------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                       */
#include "ft-c/Passes.h"

#include "CTests.h"
#include "MlirC.h"

#include <string.h>

static const char program[] =
    "func.func @double(%xs: !ft.list<[N], tensor<4xf32>>) -> !ft.list<[N], tensor<4xf32>> {\n"
    "  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<4xf32>>) -> !ft.list<[N], tensor<4xf32>> {\n"
    "    %y = arith.addf %x, %x : tensor<4xf32>\n"
    "    ft.yield %y : tensor<4xf32>\n"
    "  }\n"
    "  return %ys : !ft.list<[N], tensor<4xf32>>\n"
    "}\n";

static void takeError(MlirStringRef text, void *user) {
  char *said = (char *)user;
  strncat(said, text.data, text.length < 900 - strlen(said) ? text.length : 0);
}

/* One pass of each group; what tablegen makes for the others is the same. */
const char *testEachPassIsMade(void) {
  World w;
  MlirPassManager manager;
  openWorld(&w);
  manager = mlirPassManagerCreate(w.context);
  mlirPassManagerAddOwnedPass(manager, mlirCreateFTFTInline());
  mlirPassManagerAddOwnedPass(manager, mlirCreateTSSATSSAFunctionalize());
  mlirPassManagerAddOwnedPass(manager, mlirCreateFTConversionConvertFTToETDG());
  mlirOpPassManagerAddOwnedPass(mlirPassManagerGetNestedUnder(manager, string("etdg.graph")),
                                mlirCreateETDGETDGReorder());
  mlirOpPassManagerAddOwnedPass(mlirPassManagerGetNestedUnder(manager, string("etdg.graph")),
                                mlirCreateFTScheduleETDGChooseSchedule());
  mlirPassManagerAddOwnedPass(manager, mlirCreateFTValidatorETDGValidatePhase());
  mlirPassManagerAddOwnedPass(manager, mlirCreateFTPipelinesFTVerifyPhase());
  mlirPassManagerDestroy(manager);
  closeWorld(&w);
  return NULL;
}

const char *testPassesByFunction(void) {
  World w;
  MlirModule module;
  MlirPassManager manager;
  openWorld(&w);
  module = mlirModuleCreateParse(w.context, string(program));
  CHECK(!mlirModuleIsNull(module));
  manager = mlirPassManagerCreate(w.context);
  mlirPassManagerAddOwnedPass(manager, mlirCreateFTConversionConvertFTToETDG());
  CHECK(mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))));
  CHECK(strstr(moduleText(module), "etdg.graph @double"));
  mlirPassManagerDestroy(manager);
  mlirModuleDestroy(module);
  closeWorld(&w);
  return NULL;
}

const char *testPipelineByText(void) {
  World w;
  MlirModule module;
  MlirPassManager manager;
  char said[1024] = "";
  mlirRegisterFTAllPasses();
  mlirRegisterFTAllPasses(); /* again, as another part of a program may */
  openWorld(&w);
  module = mlirModuleCreateParse(w.context, string(program));
  CHECK(!mlirModuleIsNull(module));
  manager = mlirPassManagerCreate(w.context);
  CHECK(mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
      mlirPassManagerGetAsOpPassManager(manager), string("ft-compile{to=storage target=cpu}"), takeError, said)));
  CHECK(mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))));
  CHECK(strstr(moduleText(module), "schedule <map"));
  /* What the pipeline remembers for its proofs is no part of the result. */
  CHECK(!strstr(moduleText(module), "etdg.snapshots"));
  mlirPassManagerDestroy(manager);
  mlirModuleDestroy(module);
  closeWorld(&w);
  return NULL;
}

const char *testWrongPipeline(void) {
  World w;
  MlirPassManager manager;
  MlirModule module;
  char said[1024] = "";
  mlirRegisterFTAllPasses();
  openWorld(&w);
  manager = mlirPassManagerCreate(w.context);
  CHECK(mlirLogicalResultIsFailure(mlirOpPassManagerAddPipeline(mlirPassManagerGetAsOpPassManager(manager),
                                                                string("ft-nothing"), takeError, said)));
  CHECK(strstr(said, "ft-nothing"));
  mlirPassManagerDestroy(manager);
  /* Options that make no pipeline are an error when it runs. */
  manager = mlirPassManagerCreate(w.context);
  module = mlirModuleCreateParse(w.context, string(program));
  CHECK(mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
      mlirPassManagerGetAsOpPassManager(manager), string("ft-compile{to=nowhere}"), takeError, said)));
  CHECK(mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))));
  CHECK(strstr(w.said, "ft-compile: to: expected one of input"));
  mlirPassManagerDestroy(manager);
  mlirModuleDestroy(module);
  closeWorld(&w);
  return NULL;
}
