/*===- Dialects.h - the dialects ft, etdg and tssa, in C ------------*- C -*-===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      */
/*                                                                              */
/* What these dialects add to MLIR's C interface (mlir-c/): handles, types and  */
/* attributes, in MLIR's own manner. Operations are made by mlirOperationCreate,*/
/* with the names and attributes that their documentation gives.                */
/*                                                                              */
/* What holds for all of it:                                                    */
/* - A function with a location returns a null object where its arguments make  */
/*   none, and says why in a diagnostic at that location. One without a         */
/*   location can't fail, unless its comment says when it gives null.           */
/* - ...Get<Part> is for objects for which ...IsA... is true.                   */
/* - MLIR is not stable: this header belongs to one version of FractalTensor    */
/*   and of MLIR. ft-c/PortableApi.h lists what is stable.                      */
/*===------------------------------------------------------------------------===*/
#ifndef FT_C_DIALECTS_H
#define FT_C_DIALECTS_H

#include "mlir-c/AffineMap.h"
#include "mlir-c/IR.h"
#include "mlir-c/IntegerSet.h"

/* A caller may give any number where one of these is asked for, and is told: C++ has to know that any number can come. */
#ifdef __cplusplus
#define MLIR_FT_ENUM : int
#else
#define MLIR_FT_ENUM
#endif

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(FT, ft);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(ETDG, etdg);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(TSSA, tssa);

/* All three, with their interfaces, and the upstream dialects that their bodies and lowerings use. */
MLIR_CAPI_EXPORTED void mlirFTRegisterAllDialects(MlirDialectRegistry registry);

/*===-- ft: lengths -----------------------------------------------------------===*/

/* #ft.len<...>: a quasi-affine expression over named lengths. Equal lengths are the same attribute. */
MLIR_CAPI_EXPORTED bool mlirFTAttributeIsALength(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTLengthAttrGetConstant(MlirContext context, int64_t value);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTLengthAttrGetNamed(MlirContext context, MlirStringRef name);
/* ragged(name): lists at this level have lengths of their own. */
MLIR_CAPI_EXPORTED MlirAttribute mlirFTLengthAttrGetRagged(MlirContext context, MlirStringRef name);
/* `expression` has symbols alone; symbol i stands for names[i]. Null where it has dimensions, or more symbols. */
MLIR_CAPI_EXPORTED MlirAttribute mlirFTLengthAttrGet(MlirContext context, intptr_t numNames, const MlirStringRef *names,
                                                     MlirAffineExpr expression);
/* Null where one is ragged, a divisor is not positive, or a constant leaves 63 bits. */
MLIR_CAPI_EXPORTED MlirAttribute mlirFTLengthAttrAdd(MlirAttribute a, MlirAttribute b);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTLengthAttrSubtract(MlirAttribute a, MlirAttribute b);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTLengthAttrMultiply(MlirAttribute a, MlirAttribute b);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTLengthAttrFloorDiv(MlirAttribute length, int64_t divisor);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTLengthAttrCeilDiv(MlirAttribute length, int64_t divisor);
MLIR_CAPI_EXPORTED bool mlirFTLengthAttrIsRagged(MlirAttribute length);
/* Whether no name occurs; then `value` (which may be NULL) becomes the length. */
MLIR_CAPI_EXPORTED bool mlirFTLengthAttrIsConstant(MlirAttribute length, int64_t *value);
MLIR_CAPI_EXPORTED intptr_t mlirFTLengthAttrGetNumNames(MlirAttribute length);
/* Sorted. */
MLIR_CAPI_EXPORTED MlirStringRef mlirFTLengthAttrGetName(MlirAttribute length, intptr_t position);
/* Over symbols, one for each name. */
MLIR_CAPI_EXPORTED MlirAffineExpr mlirFTLengthAttrGetExpression(MlirAttribute length);

/* #ft.bounds<...>: lengths that are at least 0 at every call. Null where one of them is no #ft.len. */
MLIR_CAPI_EXPORTED bool mlirFTAttributeIsABounds(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTBoundsAttrGet(MlirContext context, intptr_t count, const MlirAttribute *lengths);
MLIR_CAPI_EXPORTED intptr_t mlirFTBoundsAttrGetNumLengths(MlirAttribute bounds);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTBoundsAttrGetLength(MlirAttribute bounds, intptr_t position);

/*===-- ft: other attributes --------------------------------------------------===*/

/* What a window sees outside of the list. */
typedef enum MlirFTBoundary MLIR_FT_ENUM {
  MlirFTBoundaryNone = 0,
  MlirFTBoundaryZero = 1,
  MlirFTBoundaryClamp = 2,
  MlirFTBoundaryMirror = 3,
  MlirFTBoundaryWrap = 4
} MlirFTBoundary;

MLIR_CAPI_EXPORTED bool mlirFTAttributeIsABoundary(MlirAttribute attribute);
/* Null for a value that is none of these. */
MLIR_CAPI_EXPORTED MlirAttribute mlirFTBoundaryAttrGet(MlirContext context, MlirFTBoundary boundary);
MLIR_CAPI_EXPORTED MlirFTBoundary mlirFTBoundaryAttrGetValue(MlirAttribute boundary);

/* How a test fills an argument (`ft.gen`): normally distributed around 0; uniform, floats in [lo, hi), integers
   in [lo, hi]; integers in [lo, hi), the ends being lengths (null where one of these is none). */
MLIR_CAPI_EXPORTED bool mlirFTAttributeIsANormal(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTNormalAttrGet(MlirContext context, double scale);
MLIR_CAPI_EXPORTED double mlirFTNormalAttrGetScale(MlirAttribute normal);
MLIR_CAPI_EXPORTED bool mlirFTAttributeIsAUniform(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTUniformAttrGet(MlirContext context, double lo, double hi);
MLIR_CAPI_EXPORTED double mlirFTUniformAttrGetLo(MlirAttribute uniform);
MLIR_CAPI_EXPORTED double mlirFTUniformAttrGetHi(MlirAttribute uniform);
MLIR_CAPI_EXPORTED bool mlirFTAttributeIsAnIndex(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTIndexAttrGet(MlirAttribute lo, MlirAttribute hi);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTIndexAttrGetLo(MlirAttribute index);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTIndexAttrGetHi(MlirAttribute index);

/*===-- ft: lists -------------------------------------------------------------===*/

/* !ft.list<[N, L - 2], tensor<1x512xf32>>: programmable dimensions, outermost first, then the element. */
MLIR_CAPI_EXPORTED bool mlirFTTypeIsAList(MlirType type);
MLIR_CAPI_EXPORTED MlirType mlirFTListTypeGetChecked(MlirLocation location, intptr_t depth, const MlirAttribute *lengths,
                                                     MlirType element);
MLIR_CAPI_EXPORTED MlirTypeID mlirFTListTypeGetTypeID(void);
MLIR_CAPI_EXPORTED intptr_t mlirFTListTypeGetDepth(MlirType list);
MLIR_CAPI_EXPORTED MlirAttribute mlirFTListTypeGetLength(MlirType list, intptr_t position);
MLIR_CAPI_EXPORTED MlirType mlirFTListTypeGetElement(MlirType list);
/* What a compute operator passes to its region: a list with one dimension less, or the element. */
MLIR_CAPI_EXPORTED MlirType mlirFTListTypeGetPeeled(MlirType list);

/*===-- etdg: buffers and accesses --------------------------------------------===*/

/* !etdg.buffer<[N, D], tensor<1x512xf32>> */
MLIR_CAPI_EXPORTED bool mlirETDGTypeIsABuffer(MlirType type);
MLIR_CAPI_EXPORTED MlirType mlirETDGBufferTypeGetChecked(MlirLocation location, intptr_t depth,
                                                         const MlirAttribute *lengths, MlirType element);
MLIR_CAPI_EXPORTED MlirTypeID mlirETDGBufferTypeGetTypeID(void);
MLIR_CAPI_EXPORTED intptr_t mlirETDGBufferTypeGetDepth(MlirType buffer);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGBufferTypeGetLength(MlirType buffer, intptr_t position);
MLIR_CAPI_EXPORTED MlirType mlirETDGBufferTypeGetElement(MlirType buffer);

/* #etdg.gather: result `position` of a piece's map is what operand `operand` holds at `map`. */
MLIR_CAPI_EXPORTED bool mlirETDGAttributeIsAGather(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGGatherAttrGet(int64_t position, int64_t operand, MlirAffineMap map);
MLIR_CAPI_EXPORTED int64_t mlirETDGGatherAttrGetPosition(MlirAttribute gather);
MLIR_CAPI_EXPORTED int64_t mlirETDGGatherAttrGetOperand(MlirAttribute gather);
MLIR_CAPI_EXPORTED MlirAffineMap mlirETDGGatherAttrGetMap(MlirAttribute gather);

typedef enum MlirETDGSourceKind MLIR_FT_ENUM {
  MlirETDGSourceKindBuffer = 0,
  MlirETDGSourceKindSplat = 1,
  MlirETDGSourceKindIndex = 2
} MlirETDGSourceKind;

/* #etdg.piece: where (`set`), and from what source. Null where a gather is none, or the splat's value has no type. */
MLIR_CAPI_EXPORTED bool mlirETDGAttributeIsAPiece(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGPieceAttrGetBuffer(MlirIntegerSet set, int64_t operand, MlirAffineMap map,
                                                            intptr_t numGathers, const MlirAttribute *gathers);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGPieceAttrGetSplat(MlirIntegerSet set, MlirAttribute value);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGPieceAttrGetIndex(MlirIntegerSet set, MlirAffineExpr value);
MLIR_CAPI_EXPORTED MlirETDGSourceKind mlirETDGPieceAttrGetKind(MlirAttribute piece);
MLIR_CAPI_EXPORTED MlirIntegerSet mlirETDGPieceAttrGetSet(MlirAttribute piece);
MLIR_CAPI_EXPORTED int64_t mlirETDGPieceAttrGetOperand(MlirAttribute piece);
MLIR_CAPI_EXPORTED MlirAffineMap mlirETDGPieceAttrGetMap(MlirAttribute piece);
MLIR_CAPI_EXPORTED intptr_t mlirETDGPieceAttrGetNumGathers(MlirAttribute piece);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGPieceAttrGetGather(MlirAttribute piece, intptr_t position);
/* Of a splat, else null. */
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGPieceAttrGetValue(MlirAttribute piece);

/* #etdg.read: disjoint pieces that cover a block's domain; `elementRank` dimensions of the element follow those of
   the block. Null where a piece is none, or elementRank is negative. */
MLIR_CAPI_EXPORTED bool mlirETDGAttributeIsARead(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGReadAttrGet(MlirContext context, intptr_t numPieces,
                                                     const MlirAttribute *pieces, int64_t elementRank);
MLIR_CAPI_EXPORTED intptr_t mlirETDGReadAttrGetNumPieces(MlirAttribute read);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGReadAttrGetPiece(MlirAttribute read, intptr_t position);
MLIR_CAPI_EXPORTED int64_t mlirETDGReadAttrGetElementRank(MlirAttribute read);

/* #etdg.write: element `map(point)` of buffer operand `operand`. */
MLIR_CAPI_EXPORTED bool mlirETDGAttributeIsAWrite(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGWriteAttrGet(int64_t operand, MlirAffineMap map);
MLIR_CAPI_EXPORTED int64_t mlirETDGWriteAttrGetOperand(MlirAttribute write);
MLIR_CAPI_EXPORTED MlirAffineMap mlirETDGWriteAttrGetMap(MlirAttribute write);

/*===-- etdg: schedules -------------------------------------------------------===*/

typedef enum MlirETDGLoopKind MLIR_FT_ENUM {
  MlirETDGLoopKindSequential = 0,
  MlirETDGLoopKindParallel = 1,
  MlirETDGLoopKindVector = 2,
  MlirETDGLoopKindUnroll = 3,
  MlirETDGLoopKindAssociative = 4
} MlirETDGLoopKind;

typedef enum MlirETDGLoopLevel MLIR_FT_ENUM {
  MlirETDGLoopLevelNone = 0,
  MlirETDGLoopLevelGrid = 1,
  MlirETDGLoopLevelCluster = 2,
  MlirETDGLoopLevelBlock = 3,
  MlirETDGLoopLevelWarp = 4,
  MlirETDGLoopLevelThread = 5,
  MlirETDGLoopLevelCore = 6,
  MlirETDGLoopLevelRows = 7,
  MlirETDGLoopLevelListedRows = 8,
  MlirETDGLoopLevelLifted = 9
} MlirETDGLoopLevel;

typedef enum MlirETDGIterationMapping MLIR_FT_ENUM {
  MlirETDGIterationMappingNone = 0,
  MlirETDGIterationMappingDynamic = 1,
  MlirETDGIterationMappingCyclic = 2,
  MlirETDGIterationMappingBlock = 3,
  MlirETDGIterationMappingStatic = 4
} MlirETDGIterationMapping;

typedef enum MlirETDGSyncKind MLIR_FT_ENUM {
  MlirETDGSyncKindNone = 0,
  MlirETDGSyncKindBlock = 1,
  MlirETDGSyncKindCluster = 2,
  MlirETDGSyncKindFlag = 3,
  MlirETDGSyncKindGrid = 4,
  MlirETDGSyncKindCores = 5,
  MlirETDGSyncKindKernel = 6
} MlirETDGSyncKind;

/* What #etdg.loop says. A loop over the points of dimension d, in order, is {d, 1, 0, 1} with zeros after. */
typedef struct MlirETDGLoop {
  int64_t dimension; /* a row of the schedule's map */
  int64_t tile;      /* iterations that one of this loop stands for; MLIR_ETDG_ANY_TILE: `?` */
  int64_t most;      /* of `?`: at most so many; 0: no limit */
  int64_t unit;      /* of `?`: multiples of this; 1: any */
  MlirETDGLoopKind kind;
  MlirETDGLoopLevel level; /* what runs the iterations of a parallel loop */
  MlirETDGIterationMapping mapping; /* how they are mapped to it */
  MlirETDGSyncKind sync;   /* who waits after each iteration of a sequential loop */
} MlirETDGLoop;
#define MLIR_ETDG_ANY_TILE INT64_MIN

MLIR_CAPI_EXPORTED bool mlirETDGAttributeIsALoop(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGLoopAttrGetChecked(MlirLocation location, const MlirETDGLoop *loop);
MLIR_CAPI_EXPORTED MlirETDGLoop mlirETDGLoopAttrGetValue(MlirAttribute loop);

/* #etdg.placement: at loop `loop`, read `read` is staged in a memory (one of the words that are printed: "shared"), in so many
   stages. Null where that is no memory, a number is negative, or there is no stage. */
MLIR_CAPI_EXPORTED bool mlirETDGAttributeIsAPlacement(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGPlacementAttrGet(MlirContext context, int64_t read, int64_t loop,
                                                          MlirStringRef level, int64_t stages);
MLIR_CAPI_EXPORTED int64_t mlirETDGPlacementAttrGetRead(MlirAttribute placement);
MLIR_CAPI_EXPORTED int64_t mlirETDGPlacementAttrGetLoop(MlirAttribute placement);
MLIR_CAPI_EXPORTED MlirStringRef mlirETDGPlacementAttrGetLevel(MlirAttribute placement);
MLIR_CAPI_EXPORTED int64_t mlirETDGPlacementAttrGetStages(MlirAttribute placement);

/* #etdg.thread_block: threads of a block of a GPU; how many blocks an SM is to hold at once, at least 1;
   bytes of shared memory that a block may take. NULL with a diagnostic where a number is out of range. */
MLIR_CAPI_EXPORTED bool mlirETDGAttributeIsAThreadBlock(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGThreadBlockAttrGetChecked(MlirLocation location, int64_t threads, int64_t resident,
                                                                  int64_t shared);
MLIR_CAPI_EXPORTED int64_t mlirETDGThreadBlockAttrGetThreads(MlirAttribute block);
MLIR_CAPI_EXPORTED int64_t mlirETDGThreadBlockAttrGetResident(MlirAttribute block);
MLIR_CAPI_EXPORTED int64_t mlirETDGThreadBlockAttrGetShared(MlirAttribute block);

/* What #etdg.schedule says; it binds, and is proved. */
typedef struct MlirETDGSchedule {
  MlirAffineMap map; /* T·i + o */
  intptr_t numLoops;
  const MlirAttribute *loops; /* #etdg.loop, outermost first */
  intptr_t numPlacements;
  const MlirAttribute *placements; /* #etdg.placement */
  MlirETDGSyncKind before;         /* who waits before the nest begins */
  intptr_t numWeights;
  const int64_t *weights; /* of a nest's regions: how much work a point is */
  MlirAttribute block;    /* #etdg.thread_block of a GPU, or a null attribute: not said */
  int64_t columns;        /* of the leaves, which a loop after the map's dimensions deals out; 0: none */
  MlirStringRef target;   /* the engine it was completed for; empty: none */
} MlirETDGSchedule;

MLIR_CAPI_EXPORTED bool mlirETDGAttributeIsASchedule(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGScheduleAttrGetChecked(MlirLocation location, const MlirETDGSchedule *schedule);
MLIR_CAPI_EXPORTED MlirAffineMap mlirETDGScheduleAttrGetMap(MlirAttribute schedule);
MLIR_CAPI_EXPORTED intptr_t mlirETDGScheduleAttrGetNumLoops(MlirAttribute schedule);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGScheduleAttrGetLoop(MlirAttribute schedule, intptr_t position);
MLIR_CAPI_EXPORTED intptr_t mlirETDGScheduleAttrGetNumPlacements(MlirAttribute schedule);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGScheduleAttrGetPlacement(MlirAttribute schedule, intptr_t position);
MLIR_CAPI_EXPORTED MlirETDGSyncKind mlirETDGScheduleAttrGetBefore(MlirAttribute schedule);
MLIR_CAPI_EXPORTED intptr_t mlirETDGScheduleAttrGetNumWeights(MlirAttribute schedule);
MLIR_CAPI_EXPORTED int64_t mlirETDGScheduleAttrGetWeight(MlirAttribute schedule, intptr_t position);
MLIR_CAPI_EXPORTED MlirAttribute mlirETDGScheduleAttrGetBlock(MlirAttribute schedule); /* null: not said */
MLIR_CAPI_EXPORTED int64_t mlirETDGScheduleAttrGetColumns(MlirAttribute schedule);
MLIR_CAPI_EXPORTED MlirStringRef mlirETDGScheduleAttrGetTarget(MlirAttribute schedule);

/*===-- tssa: mutable tensors and their views ---------------------------------===*/

/* !tssa.tensor<4x?xf32>; a size that is not known is mlirShapedTypeGetDynamicSize(). */
MLIR_CAPI_EXPORTED bool mlirTSSATypeIsAMutableTensor(MlirType type);
MLIR_CAPI_EXPORTED MlirType mlirTSSAMutableTensorTypeGetChecked(MlirLocation location, intptr_t rank,
                                                                const int64_t *shape, MlirType element);
MLIR_CAPI_EXPORTED MlirTypeID mlirTSSAMutableTensorTypeGetTypeID(void);
MLIR_CAPI_EXPORTED intptr_t mlirTSSAMutableTensorTypeGetRank(MlirType tensor);
MLIR_CAPI_EXPORTED int64_t mlirTSSAMutableTensorTypeGetSize(MlirType tensor, intptr_t dimension);
MLIR_CAPI_EXPORTED MlirType mlirTSSAMutableTensorTypeGetElement(MlirType tensor);
/* The ranked tensor that it holds. */
MLIR_CAPI_EXPORTED MlirType mlirTSSAMutableTensorTypeGetValueType(MlirType tensor);

typedef enum MlirTSSAStepKind MLIR_FT_ENUM {
  MlirTSSAStepKindSelect = 0,
  MlirTSSAStepKindSlice = 1,
  MlirTSSAStepKindNarrow = 2,
  MlirTSSAStepKindPermute = 3,
  MlirTSSAStepKindReshape = 4,
  MlirTSSAStepKindSqueeze = 5,
  MlirTSSAStepKindUnsqueeze = 6,
  MlirTSSAStepKindExpand = 7,
  MlirTSSAStepKindDiagonal = 8,
  MlirTSSAStepKindUnfold = 9,
  MlirTSSAStepKindAsStrided = 10
} MlirTSSAStepKind;

/* One view operator and its numbers; mlirShapedTypeGetDynamicSize() for each that is an operand. Null for a kind
   that is none of these. */
MLIR_CAPI_EXPORTED bool mlirTSSAAttributeIsAStep(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mlirTSSAStepAttrGet(MlirContext context, MlirTSSAStepKind kind, intptr_t count,
                                                     const int64_t *numbers);
MLIR_CAPI_EXPORTED MlirTSSAStepKind mlirTSSAStepAttrGetKind(MlirAttribute step);
MLIR_CAPI_EXPORTED intptr_t mlirTSSAStepAttrGetNumNumbers(MlirAttribute step);
MLIR_CAPI_EXPORTED int64_t mlirTSSAStepAttrGetNumber(MlirAttribute step, intptr_t position);

#ifdef __cplusplus
}
#endif

#endif /* FT_C_DIALECTS_H */
