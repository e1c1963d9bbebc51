/*===- DialectsC.c - types and attributes, from C ----------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                       */
#include "CTests.h"
#include "MlirC.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

/* A test that ends early leaves its context: the process is at its end then. */

const char *testLengths(void) {
  World w;
  int64_t value = 0;
  MlirStringRef names[2];
  MlirAttribute n, five, length, ragged;
  openWorld(&w);
  n = mlirFTLengthAttrGetNamed(w.context, string("N"));
  five = mlirFTLengthAttrGetConstant(w.context, 5);
  CHECK(mlirFTAttributeIsALength(n) && mlirFTAttributeIsALength(five));
  CHECK(!mlirFTAttributeIsALength(mlirStringAttrGet(w.context, string("N"))));
  CHECK(!mlirFTAttributeIsALength(mlirAttributeGetNull()));
  CHECK(printsAttribute(mlirFTLengthAttrSubtract(n, five), "#ft.len<N - 5>"));
  /* Equal lengths are one attribute. */
  length = mlirFTLengthAttrAdd(mlirFTLengthAttrAdd(n, five), n);
  CHECK(mlirAttributeEqual(
      length, mlirFTLengthAttrAdd(mlirFTLengthAttrMultiply(mlirFTLengthAttrGetConstant(w.context, 2), n), five)));
  CHECK(!mlirFTLengthAttrIsConstant(length, &value) && mlirFTLengthAttrGetNumNames(length) == 1);
  CHECK(mlirStringRefEqual(mlirFTLengthAttrGetName(length, 0), string("N")));
  CHECK(mlirFTLengthAttrIsConstant(five, &value) && value == 5);
  CHECK(mlirFTLengthAttrIsConstant(five, NULL));
  CHECK(printsAttribute(mlirFTLengthAttrFloorDiv(n, 2), "#ft.len<floordiv(N, 2)>"));
  CHECK(printsAttribute(mlirFTLengthAttrCeilDiv(n, 2), "#ft.len<ceildiv(N, 2)>"));
  /* What makes no length gives null. */
  CHECK(mlirAttributeIsNull(mlirFTLengthAttrFloorDiv(n, 0)));
  CHECK(mlirAttributeIsNull(mlirFTLengthAttrCeilDiv(n, -1)));
  ragged = mlirFTLengthAttrGetRagged(w.context, string("words"));
  CHECK(mlirFTLengthAttrIsRagged(ragged) && !mlirFTLengthAttrIsRagged(n));
  CHECK(mlirAttributeIsNull(mlirFTLengthAttrAdd(ragged, five)));
  CHECK(mlirAttributeIsNull(mlirFTLengthAttrAdd(mlirAttributeGetNull(), five)));
  CHECK(mlirAttributeIsNull(mlirFTLengthAttrMultiply(mlirFTLengthAttrGetConstant(w.context, INT64_MAX), five)));
  /* By an expression; names are sorted, and those that do not occur go. */
  names[0] = string("Z");
  names[1] = string("A");
  length = mlirFTLengthAttrGet(w.context, 2, names,
                               mlirAffineAddExprGet(mlirAffineSymbolExprGet(w.context, 1),
                                                    mlirAffineConstantExprGet(w.context, 1)));
  CHECK(printsAttribute(length, "#ft.len<A + 1>") && mlirFTLengthAttrGetNumNames(length) == 1);
  CHECK(mlirAffineExprIsAAdd(mlirFTLengthAttrGetExpression(length)));
  CHECK(mlirAttributeIsNull(mlirFTLengthAttrGet(w.context, 2, names, mlirAffineSymbolExprGet(w.context, 2))));
  CHECK(mlirAttributeIsNull(mlirFTLengthAttrGet(w.context, 2, names, mlirAffineDimExprGet(w.context, 0))));
  closeWorld(&w);
  return NULL;
}

const char *testListTypes(void) {
  World w;
  MlirAttribute lengths[2];
  MlirType element, list;
  int64_t shape[2] = {1, 512};
  openWorld(&w);
  lengths[0] = mlirFTLengthAttrGetNamed(w.context, string("N"));
  lengths[1] = mlirFTLengthAttrSubtract(mlirFTLengthAttrGetNamed(w.context, string("L")),
                                        mlirFTLengthAttrGetConstant(w.context, 2));
  element = mlirRankedTensorTypeGet(2, shape, mlirF32TypeGet(w.context), mlirAttributeGetNull());
  list = mlirFTListTypeGetChecked(w.here, 2, lengths, element);
  CHECK(printsType(list, "!ft.list<[N, L - 2], tensor<1x512xf32>>"));
  CHECK(mlirFTTypeIsAList(list) && !mlirFTTypeIsAList(element));
  CHECK(mlirTypeIDEqual(mlirTypeGetTypeID(list), mlirFTListTypeGetTypeID()));
  CHECK(mlirFTListTypeGetDepth(list) == 2);
  CHECK(mlirAttributeEqual(mlirFTListTypeGetLength(list, 1), lengths[1]));
  CHECK(mlirTypeEqual(mlirFTListTypeGetElement(list), element));
  CHECK(printsType(mlirFTListTypeGetPeeled(list), "!ft.list<[L - 2], tensor<1x512xf32>>"));
  CHECK(mlirTypeEqual(list, mlirTypeParseGet(w.context, string("!ft.list<[N, L - 2], tensor<1x512xf32>>"))));
  /* What makes no list says why. */
  CHECK(mlirTypeIsNull(mlirFTListTypeGetChecked(w.here, 0, NULL, element)) && strstr(w.said, "(T1)"));
  CHECK(mlirTypeIsNull(mlirFTListTypeGetChecked(w.here, 1, lengths, mlirF32TypeGet(w.context))));
  CHECK(strstr(w.said, "(T2)"));
  CHECK(mlirTypeIsNull(mlirFTListTypeGetChecked(w.here, 2, NULL, element)) && strstr(w.said, "#ft.len"));
  lengths[0] = mlirFTLengthAttrGetConstant(w.context, -4);
  CHECK(mlirTypeIsNull(mlirFTListTypeGetChecked(w.here, 1, lengths, element)) && strstr(w.said, "(T3)"));
  lengths[0] = mlirStringAttrGet(w.context, string("N"));
  CHECK(mlirTypeIsNull(mlirFTListTypeGetChecked(w.here, 1, lengths, element)) && strstr(w.said, "#ft.len"));
  closeWorld(&w);
  return NULL;
}

const char *testOtherAttributes(void) {
  World w;
  MlirAttribute l, bounds, one;
  openWorld(&w);
  l = mlirFTLengthAttrSubtract(mlirFTLengthAttrGetNamed(w.context, string("L")),
                               mlirFTLengthAttrGetConstant(w.context, 5));
  bounds = mlirFTBoundsAttrGet(w.context, 1, &l);
  CHECK(printsAttribute(bounds, "#ft.bounds<\"L >= 5\">") && mlirFTAttributeIsABounds(bounds));
  CHECK(mlirFTBoundsAttrGetNumLengths(bounds) == 1 && mlirAttributeEqual(mlirFTBoundsAttrGetLength(bounds, 0), l));
  CHECK(mlirAttributeIsNull(mlirFTBoundsAttrGet(w.context, 1, &bounds)));
  one = mlirFTBoundaryAttrGet(w.context, MlirFTBoundaryMirror);
  CHECK(mlirFTAttributeIsABoundary(one) && mlirFTBoundaryAttrGetValue(one) == MlirFTBoundaryMirror);
  CHECK(mlirAttributeIsNull(mlirFTBoundaryAttrGet(w.context, (MlirFTBoundary)77)));
  one = mlirFTNormalAttrGet(w.context, 0.5);
  CHECK(mlirFTAttributeIsANormal(one) && mlirFTNormalAttrGetScale(one) == 0.5);
  one = mlirFTUniformAttrGet(w.context, -1, 2);
  CHECK(mlirFTAttributeIsAUniform(one) && mlirFTUniformAttrGetLo(one) == -1 && mlirFTUniformAttrGetHi(one) == 2);
  one = mlirFTIndexAttrGet(mlirFTLengthAttrGetConstant(w.context, 0), l);
  CHECK(mlirFTAttributeIsAnIndex(one) && mlirAttributeEqual(mlirFTIndexAttrGetHi(one), l));
  CHECK(mlirFTLengthAttrIsConstant(mlirFTIndexAttrGetLo(one), NULL));
  CHECK(mlirAttributeIsNull(mlirFTIndexAttrGet(one, l)));
  closeWorld(&w);
  return NULL;
}

const char *testBuffers(void) {
  World w;
  MlirAttribute length;
  MlirType element, buffer;
  int64_t shape[1] = {7}, dynamic;
  openWorld(&w);
  length = mlirFTLengthAttrGetNamed(w.context, string("D"));
  element = mlirRankedTensorTypeGet(1, shape, mlirF32TypeGet(w.context), mlirAttributeGetNull());
  buffer = mlirETDGBufferTypeGetChecked(w.here, 1, &length, element);
  CHECK(printsType(buffer, "!etdg.buffer<[D], tensor<7xf32>>") && mlirETDGTypeIsABuffer(buffer));
  CHECK(mlirTypeIDEqual(mlirTypeGetTypeID(buffer), mlirETDGBufferTypeGetTypeID()));
  CHECK(mlirETDGBufferTypeGetDepth(buffer) == 1 && mlirAttributeEqual(mlirETDGBufferTypeGetLength(buffer, 0), length));
  CHECK(mlirTypeEqual(mlirETDGBufferTypeGetElement(buffer), element));
  CHECK(!mlirTypeIsNull(mlirETDGBufferTypeGetChecked(w.here, 0, NULL, element)));
  dynamic = mlirShapedTypeGetDynamicSize();
  element = mlirRankedTensorTypeGet(1, &dynamic, mlirF32TypeGet(w.context), mlirAttributeGetNull());
  CHECK(mlirTypeIsNull(mlirETDGBufferTypeGetChecked(w.here, 1, &length, element)) && strstr(w.said, "static shape"));
  CHECK(mlirTypeIsNull(mlirETDGBufferTypeGetChecked(w.here, 1, &length, mlirF32TypeGet(w.context))));
  CHECK(strstr(w.said, "ranked tensor"));
  closeWorld(&w);
  return NULL;
}

const char *testAccesses(void) {
  World w;
  MlirAffineExpr d, constraint;
  MlirAffineMap map;
  MlirIntegerSet set;
  MlirAttribute gather, pieces[3], read, write;
  bool equality = false;
  openWorld(&w);
  d = mlirAffineDimExprGet(w.context, 0);
  map = mlirAffineMapGet(w.context, 1, 0, 1, &d);
  constraint = d;
  set = mlirIntegerSetGet(w.context, 1, 0, 1, &constraint, &equality);
  gather = mlirETDGGatherAttrGet(0, 2, map);
  CHECK(mlirETDGAttributeIsAGather(gather) && mlirETDGGatherAttrGetPosition(gather) == 0);
  CHECK(mlirETDGGatherAttrGetOperand(gather) == 2 && mlirAffineMapEqual(mlirETDGGatherAttrGetMap(gather), map));
  pieces[0] = mlirETDGPieceAttrGetBuffer(set, 1, map, 1, &gather);
  CHECK(mlirETDGAttributeIsAPiece(pieces[0]));
  CHECK(mlirETDGPieceAttrGetKind(pieces[0]) == MlirETDGSourceKindBuffer && mlirETDGPieceAttrGetOperand(pieces[0]) == 1);
  CHECK(mlirETDGPieceAttrGetNumGathers(pieces[0]) == 1);
  CHECK(mlirAttributeEqual(mlirETDGPieceAttrGetGather(pieces[0], 0), gather));
  CHECK(mlirIntegerSetEqual(mlirETDGPieceAttrGetSet(pieces[0]), set));
  CHECK(mlirAffineMapEqual(mlirETDGPieceAttrGetMap(pieces[0]), map));
  CHECK(mlirAttributeIsNull(mlirETDGPieceAttrGetValue(pieces[0])));
  CHECK(mlirAttributeIsNull(mlirETDGPieceAttrGetBuffer(set, 1, map, 1, &pieces[0])));
  pieces[1] = mlirETDGPieceAttrGetSplat(set, mlirFloatAttrDoubleGet(w.context, mlirF32TypeGet(w.context), 2.5));
  CHECK(mlirETDGPieceAttrGetKind(pieces[1]) == MlirETDGSourceKindSplat);
  CHECK(mlirFloatAttrGetValueDouble(mlirETDGPieceAttrGetValue(pieces[1])) == 2.5);
  CHECK(mlirAttributeIsNull(mlirETDGPieceAttrGetSplat(set, mlirUnitAttrGet(w.context))));
  pieces[2] = mlirETDGPieceAttrGetIndex(set, d);
  CHECK(mlirETDGPieceAttrGetKind(pieces[2]) == MlirETDGSourceKindIndex);
  read = mlirETDGReadAttrGet(w.context, 3, pieces, 0);
  CHECK(mlirETDGAttributeIsARead(read) && mlirETDGReadAttrGetNumPieces(read) == 3);
  CHECK(mlirAttributeEqual(mlirETDGReadAttrGetPiece(read, 2), pieces[2]) && mlirETDGReadAttrGetElementRank(read) == 0);
  CHECK(mlirAttributeIsNull(mlirETDGReadAttrGet(w.context, 1, &read, 0)));
  write = mlirETDGWriteAttrGet(4, map);
  CHECK(mlirETDGAttributeIsAWrite(write) && mlirETDGWriteAttrGetOperand(write) == 4);
  CHECK(mlirAffineMapEqual(mlirETDGWriteAttrGetMap(write), map));
  closeWorld(&w);
  return NULL;
}

const char *testSchedules(void) {
  World w;
  MlirETDGLoop loop = {1, MLIR_ETDG_ANY_TILE, 64, 1, MlirETDGLoopKindParallel, MlirETDGLoopLevelCore, MlirETDGIterationMappingDynamic,
                       MlirETDGSyncKindNone};
  MlirETDGLoop points = {0, 1, 0, 1, MlirETDGLoopKindSequential, MlirETDGLoopLevelNone, MlirETDGIterationMappingNone,
                         MlirETDGSyncKindCores};
  MlirETDGSchedule schedule;
  MlirAffineExpr rows[2];
  MlirAttribute loops[2], placement, made;
  int64_t weight = 3;
  openWorld(&w);
  loops[0] = mlirETDGLoopAttrGetChecked(w.here, &points);
  loops[1] = mlirETDGLoopAttrGetChecked(w.here, &loop);
  CHECK(mlirETDGAttributeIsALoop(loops[1]));
  CHECK(memcmp(&loop, &(MlirETDGLoop){0}, sizeof loop) != 0);
  CHECK(mlirETDGLoopAttrGetValue(loops[1]).tile == MLIR_ETDG_ANY_TILE);
  CHECK(mlirETDGLoopAttrGetValue(loops[1]).most == 64 && mlirETDGLoopAttrGetValue(loops[1]).level == MlirETDGLoopLevelCore);
  CHECK(mlirETDGLoopAttrGetValue(loops[1]).mapping == MlirETDGIterationMappingDynamic);
  CHECK(mlirETDGLoopAttrGetValue(loops[0]).sync == MlirETDGSyncKindCores);
  placement = mlirETDGPlacementAttrGet(w.context, 0, 1, string("shared"), 2);
  CHECK(mlirETDGAttributeIsAPlacement(placement) && mlirETDGPlacementAttrGetStages(placement) == 2);
  CHECK(mlirETDGPlacementAttrGetRead(placement) == 0 && mlirETDGPlacementAttrGetLoop(placement) == 1);
  CHECK(mlirStringRefEqual(mlirETDGPlacementAttrGetLevel(placement), string("shared")));
  CHECK(mlirAttributeIsNull(mlirETDGPlacementAttrGet(w.context, 0, 1, string("attic"), 2)));
  rows[0] = mlirAffineAddExprGet(mlirAffineDimExprGet(w.context, 0), mlirAffineDimExprGet(w.context, 1));
  rows[1] = mlirAffineDimExprGet(w.context, 0);
  memset(&schedule, 0, sizeof schedule);
  schedule.map = mlirAffineMapGet(w.context, 2, 0, 2, rows);
  schedule.numLoops = 2;
  schedule.loops = loops;
  schedule.numPlacements = 1;
  schedule.placements = &placement;
  schedule.before = MlirETDGSyncKindGrid;
  schedule.numWeights = 1;
  schedule.weights = &weight;
  schedule.target = string("cpu");
  made = mlirETDGScheduleAttrGetChecked(w.here, &schedule);
  CHECK(mlirETDGAttributeIsASchedule(made) && mlirETDGScheduleAttrGetNumLoops(made) == 2);
  CHECK(mlirAttributeEqual(mlirETDGScheduleAttrGetLoop(made, 1), loops[1]));
  CHECK(mlirAffineMapEqual(mlirETDGScheduleAttrGetMap(made), schedule.map));
  CHECK(mlirETDGScheduleAttrGetNumPlacements(made) == 1);
  CHECK(mlirAttributeEqual(mlirETDGScheduleAttrGetPlacement(made, 0), placement));
  CHECK(mlirETDGScheduleAttrGetBefore(made) == MlirETDGSyncKindGrid && mlirETDGScheduleAttrGetColumns(made) == 0);
  CHECK(mlirAttributeIsNull(mlirETDGScheduleAttrGetBlock(made)));
  CHECK(mlirETDGScheduleAttrGetNumWeights(made) == 1 && mlirETDGScheduleAttrGetWeight(made, 0) == 3);
  CHECK(mlirStringRefEqual(mlirETDGScheduleAttrGetTarget(made), string("cpu")));
  /* The thread blocks of a GPU. */
  schedule.block = mlirETDGThreadBlockAttrGetChecked(w.here, 256, 2, 1024);
  schedule.columns = 64;
  CHECK(mlirETDGAttributeIsAThreadBlock(schedule.block) && mlirETDGThreadBlockAttrGetThreads(schedule.block) == 256);
  CHECK(mlirETDGThreadBlockAttrGetResident(schedule.block) == 2 && mlirETDGThreadBlockAttrGetShared(schedule.block) == 1024);
  made = mlirETDGScheduleAttrGetChecked(w.here, &schedule);
  CHECK(mlirAttributeEqual(mlirETDGScheduleAttrGetBlock(made), schedule.block) && mlirETDGScheduleAttrGetColumns(made) == 64);
  CHECK(mlirAttributeIsNull(mlirETDGThreadBlockAttrGetChecked(w.here, 0, 1, 0)));
  schedule.block = placement;
  CHECK(mlirAttributeIsNull(mlirETDGScheduleAttrGetChecked(w.here, &schedule)) && strstr(w.said, "#etdg.thread_block"));
  memset(&schedule.block, 0, sizeof schedule.block);
  /* What makes no loop or schedule says why. */
  loop.kind = MlirETDGLoopKindSequential;
  CHECK(mlirAttributeIsNull(mlirETDGLoopAttrGetChecked(w.here, &loop)) && strstr(w.said, "only a parallel loop"));
  loop.kind = (MlirETDGLoopKind)99;
  CHECK(mlirAttributeIsNull(mlirETDGLoopAttrGetChecked(w.here, &loop)) && strstr(w.said, "enumeration"));
  CHECK(mlirAttributeIsNull(mlirETDGLoopAttrGetChecked(w.here, NULL)));
  schedule.numLoops = 1;
  CHECK(mlirAttributeIsNull(mlirETDGScheduleAttrGetChecked(w.here, &schedule)) && strstr(w.said, "dimension 1"));
  schedule.loops = &placement;
  CHECK(mlirAttributeIsNull(mlirETDGScheduleAttrGetChecked(w.here, &schedule)) && strstr(w.said, "#etdg.loop"));
  closeWorld(&w);
  return NULL;
}

const char *testMutableTensors(void) {
  World w;
  MlirType tensor;
  MlirAttribute step;
  int64_t shape[2], numbers[2] = {0, 3};
  openWorld(&w);
  shape[0] = 4;
  shape[1] = mlirShapedTypeGetDynamicSize();
  tensor = mlirTSSAMutableTensorTypeGetChecked(w.here, 2, shape, mlirF32TypeGet(w.context));
  CHECK(printsType(tensor, "!tssa.tensor<4x?xf32>") && mlirTSSATypeIsAMutableTensor(tensor));
  CHECK(mlirTypeIDEqual(mlirTypeGetTypeID(tensor), mlirTSSAMutableTensorTypeGetTypeID()));
  CHECK(mlirTSSAMutableTensorTypeGetRank(tensor) == 2 && mlirTSSAMutableTensorTypeGetSize(tensor, 1) == shape[1]);
  CHECK(mlirTypeIsAF32(mlirTSSAMutableTensorTypeGetElement(tensor)));
  CHECK(printsType(mlirTSSAMutableTensorTypeGetValueType(tensor), "tensor<4x?xf32>"));
  CHECK(mlirTypeIsNull(mlirTSSAMutableTensorTypeGetChecked(w.here, 2, shape, mlirNoneTypeGet(w.context))));
  CHECK(strstr(w.said, "(T1)"));
  shape[0] = -4;
  CHECK(mlirTypeIsNull(mlirTSSAMutableTensorTypeGetChecked(w.here, 2, shape, mlirF32TypeGet(w.context))));
  CHECK(strstr(w.said, "-4"));
  step = mlirTSSAStepAttrGet(w.context, MlirTSSAStepKindSelect, 2, numbers);
  CHECK(mlirTSSAAttributeIsAStep(step) && mlirTSSAStepAttrGetKind(step) == MlirTSSAStepKindSelect);
  CHECK(mlirTSSAStepAttrGetNumNumbers(step) == 2 && mlirTSSAStepAttrGetNumber(step, 1) == 3);
  CHECK(mlirAttributeIsNull(mlirTSSAStepAttrGet(w.context, (MlirTSSAStepKind)50, 2, numbers)));
  closeWorld(&w);
  return NULL;
}
