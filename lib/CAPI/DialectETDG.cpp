//===- DialectETDG.cpp - the dialect etdg, in C ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft-c/Dialects.h"

#include "MlirObjects.h"

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "mlir/CAPI/Registration.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::ft::capi;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(ETDG, etdg, ETDGDialect)

static_assert(int(SourceKind::Index) == MlirETDGSourceKindIndex, "the enumerations agree");
static_assert(int(LoopKind::Associative) == MlirETDGLoopKindAssociative, "the enumerations agree");
static_assert(int(LoopLevel::Lifted) == MlirETDGLoopLevelLifted, "the enumerations agree");
static_assert(int(IterationMapping::Static) == MlirETDGIterationMappingStatic, "the enumerations agree");
static_assert(int(SyncKind::Kernel) == MlirETDGSyncKindKernel, "the enumerations agree");
static_assert(LoopAttr::anyTile == MLIR_ETDG_ANY_TILE, "the numbers agree");

template <class T>
static T as(MlirAttribute attribute) {
  return cast<T>(unwrap(attribute));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

bool mlirETDGTypeIsABuffer(MlirType type) { return isAnA<BufferType>(type); }

MlirType mlirETDGBufferTypeGetChecked(MlirLocation location, intptr_t depth, const MlirAttribute *lengths,
                                      MlirType element) {
  std::optional<SmallVector<ft::LengthAttr>> all = unwrapAll<ft::LengthAttr>(depth, lengths);
  if (!all)
    return refuseType(location, "the lengths of a buffer are #ft.len attributes");
  auto tensor = dyn_cast_or_null<RankedTensorType>(unwrap(element));
  if (!tensor)
    return refuseType(location, "the element of a buffer is a ranked tensor");
  Location loc = unwrap(location);
  return wrap(BufferType::getChecked([&] { return emitError(loc); }, loc.getContext(), ArrayRef(*all), tensor));
}

MlirTypeID mlirETDGBufferTypeGetTypeID(void) { return wrap(BufferType::getTypeID()); }
intptr_t mlirETDGBufferTypeGetDepth(MlirType buffer) { return intptr_t(cast<BufferType>(unwrap(buffer)).getDepth()); }

MlirAttribute mlirETDGBufferTypeGetLength(MlirType buffer, intptr_t position) {
  return wrap(cast<BufferType>(unwrap(buffer)).getLengths()[size_t(position)]);
}

MlirType mlirETDGBufferTypeGetElement(MlirType buffer) { return wrap(cast<BufferType>(unwrap(buffer)).getElement()); }

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

bool mlirETDGAttributeIsAGather(MlirAttribute attribute) { return isAnA<GatherAttr>(attribute); }

MlirAttribute mlirETDGGatherAttrGet(int64_t position, int64_t operand, MlirAffineMap map) {
  AffineMap value = unwrap(map);
  return wrap(GatherAttr::get(value.getContext(), position, operand, AffineMapAttr::get(value)));
}

int64_t mlirETDGGatherAttrGetPosition(MlirAttribute gather) { return as<GatherAttr>(gather).getPosition(); }
int64_t mlirETDGGatherAttrGetOperand(MlirAttribute gather) { return as<GatherAttr>(gather).getOperand(); }
MlirAffineMap mlirETDGGatherAttrGetMap(MlirAttribute gather) { return wrap(as<GatherAttr>(gather).getMap().getValue()); }

bool mlirETDGAttributeIsAPiece(MlirAttribute attribute) { return isAnA<PieceAttr>(attribute); }

MlirAttribute mlirETDGPieceAttrGetBuffer(MlirIntegerSet set, int64_t operand, MlirAffineMap map, intptr_t numGathers,
                                         const MlirAttribute *gathers) {
  std::optional<SmallVector<GatherAttr>> all = unwrapAll<GatherAttr>(numGathers, gathers);
  return all ? wrap(PieceAttr::getBuffer(unwrap(set), operand, unwrap(map), *all)) : wrap(Attribute());
}

MlirAttribute mlirETDGPieceAttrGetSplat(MlirIntegerSet set, MlirAttribute value) {
  auto typed = dyn_cast_or_null<TypedAttr>(unwrap(value));
  return typed ? wrap(PieceAttr::getSplat(unwrap(set), typed)) : wrap(Attribute());
}

MlirAttribute mlirETDGPieceAttrGetIndex(MlirIntegerSet set, MlirAffineExpr value) {
  return wrap(PieceAttr::getIndex(unwrap(set), unwrap(value)));
}

MlirETDGSourceKind mlirETDGPieceAttrGetKind(MlirAttribute piece) {
  return MlirETDGSourceKind(as<PieceAttr>(piece).getKind());
}

MlirIntegerSet mlirETDGPieceAttrGetSet(MlirAttribute piece) { return wrap(as<PieceAttr>(piece).getSet().getValue()); }
int64_t mlirETDGPieceAttrGetOperand(MlirAttribute piece) { return as<PieceAttr>(piece).getOperand(); }
MlirAffineMap mlirETDGPieceAttrGetMap(MlirAttribute piece) { return wrap(as<PieceAttr>(piece).getMap().getValue()); }

intptr_t mlirETDGPieceAttrGetNumGathers(MlirAttribute piece) {
  return intptr_t(as<PieceAttr>(piece).getGathers().size());
}

MlirAttribute mlirETDGPieceAttrGetGather(MlirAttribute piece, intptr_t position) {
  return wrap(as<PieceAttr>(piece).getGathers()[size_t(position)]);
}

MlirAttribute mlirETDGPieceAttrGetValue(MlirAttribute piece) { return wrap(as<PieceAttr>(piece).getValue()); }

bool mlirETDGAttributeIsARead(MlirAttribute attribute) { return isAnA<ReadAttr>(attribute); }

MlirAttribute mlirETDGReadAttrGet(MlirContext context, intptr_t numPieces, const MlirAttribute *pieces,
                                  int64_t elementRank) {
  std::optional<SmallVector<PieceAttr>> all = unwrapAll<PieceAttr>(numPieces, pieces);
  return all && elementRank >= 0 ? wrap(ReadAttr::get(unwrap(context), *all, elementRank)) : wrap(Attribute());
}

intptr_t mlirETDGReadAttrGetNumPieces(MlirAttribute read) { return intptr_t(as<ReadAttr>(read).getPieces().size()); }

MlirAttribute mlirETDGReadAttrGetPiece(MlirAttribute read, intptr_t position) {
  return wrap(as<ReadAttr>(read).getPieces()[size_t(position)]);
}

int64_t mlirETDGReadAttrGetElementRank(MlirAttribute read) { return as<ReadAttr>(read).getElementRank(); }

bool mlirETDGAttributeIsAWrite(MlirAttribute attribute) { return isAnA<WriteAttr>(attribute); }

MlirAttribute mlirETDGWriteAttrGet(int64_t operand, MlirAffineMap map) {
  AffineMap value = unwrap(map);
  return wrap(WriteAttr::get(value.getContext(), operand, AffineMapAttr::get(value)));
}

int64_t mlirETDGWriteAttrGetOperand(MlirAttribute write) { return as<WriteAttr>(write).getOperand(); }
MlirAffineMap mlirETDGWriteAttrGetMap(MlirAttribute write) { return wrap(as<WriteAttr>(write).getMap().getValue()); }

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

bool mlirETDGAttributeIsALoop(MlirAttribute attribute) { return isAnA<LoopAttr>(attribute); }

MlirAttribute mlirETDGLoopAttrGetChecked(MlirLocation location, const MlirETDGLoop *loop) {
  if (!loop)
    return refuseAttribute(location, "a loop needs a description, found NULL");
  std::optional<LoopKind> kind = symbolizeLoopKind(uint32_t(loop->kind));
  std::optional<LoopLevel> level = symbolizeLoopLevel(uint32_t(loop->level));
  std::optional<IterationMapping> mapping = symbolizeIterationMapping(uint32_t(loop->mapping));
  std::optional<SyncKind> sync = symbolizeSyncKind(uint32_t(loop->sync));
  if (!kind || !level || !mapping || !sync)
    return refuseAttribute(location, "the kind, level, mapping or sync of a loop is none of its enumeration");
  Location loc = unwrap(location);
  return wrap(LoopAttr::getChecked([&] { return emitError(loc); }, loc.getContext(), loop->dimension, loop->tile,
                                   loop->most, loop->unit, *kind, *level, *mapping, *sync));
}

MlirETDGLoop mlirETDGLoopAttrGetValue(MlirAttribute loop) {
  auto value = as<LoopAttr>(loop);
  return {value.getDimension(),
          value.getTile(),
          value.getMost(),
          value.getUnit(),
          MlirETDGLoopKind(value.getKind()),
          MlirETDGLoopLevel(value.getLevel()),
          MlirETDGIterationMapping(value.getMapping()),
          MlirETDGSyncKind(value.getSync())};
}

bool mlirETDGAttributeIsAPlacement(MlirAttribute attribute) { return isAnA<PlacementAttr>(attribute); }

MlirAttribute mlirETDGPlacementAttrGet(MlirContext context, int64_t read, int64_t loop, MlirStringRef level,
                                       int64_t stages) {
  std::optional<MemoryLevel> memory = symbolizeMemoryLevel(unwrap(level));
  if (!memory || read < 0 || loop < 0 || stages < 1)
    return MlirAttribute{nullptr};
  return wrap(PlacementAttr::get(unwrap(context), read, loop, *memory, stages));
}

int64_t mlirETDGPlacementAttrGetRead(MlirAttribute placement) { return as<PlacementAttr>(placement).getRead(); }
int64_t mlirETDGPlacementAttrGetLoop(MlirAttribute placement) { return as<PlacementAttr>(placement).getLoop(); }
int64_t mlirETDGPlacementAttrGetStages(MlirAttribute placement) { return as<PlacementAttr>(placement).getStages(); }

MlirStringRef mlirETDGPlacementAttrGetLevel(MlirAttribute placement) {
  return wrap(stringifyMemoryLevel(as<PlacementAttr>(placement).getLevel()));
}

bool mlirETDGAttributeIsAThreadBlock(MlirAttribute attribute) { return isAnA<ThreadBlockAttr>(attribute); }

MlirAttribute mlirETDGThreadBlockAttrGetChecked(MlirLocation location, int64_t threads, int64_t resident, int64_t shared) {
  Location loc = unwrap(location);
  return wrap(ThreadBlockAttr::getChecked([&] { return emitError(loc); }, loc.getContext(), threads, resident, shared,
                                          ThreadBlockAttr::usualSums));
}

int64_t mlirETDGThreadBlockAttrGetThreads(MlirAttribute block) { return as<ThreadBlockAttr>(block).getThreads(); }

int64_t mlirETDGThreadBlockAttrGetResident(MlirAttribute block) { return as<ThreadBlockAttr>(block).getResident(); }

int64_t mlirETDGThreadBlockAttrGetShared(MlirAttribute block) { return as<ThreadBlockAttr>(block).getShared(); }

bool mlirETDGAttributeIsASchedule(MlirAttribute attribute) { return isAnA<ScheduleAttr>(attribute); }

MlirAttribute mlirETDGScheduleAttrGetChecked(MlirLocation location, const MlirETDGSchedule *schedule) {
  if (!schedule || mlirAffineMapIsNull(schedule->map))
    return refuseAttribute(location, "a schedule needs a description with a map, found NULL");
  std::optional<SmallVector<LoopAttr>> loops = unwrapAll<LoopAttr>(schedule->numLoops, schedule->loops);
  std::optional<SmallVector<PlacementAttr>> placements =
      unwrapAll<PlacementAttr>(schedule->numPlacements, schedule->placements);
  std::optional<SyncKind> before = symbolizeSyncKind(uint32_t(schedule->before));
  if (!loops || !placements || !before)
    return refuseAttribute(location, "the loops of a schedule are #etdg.loop, its placements #etdg.placement, and "
                                     "'before' is one of its enumeration");
  if (schedule->numWeights < 0 || (schedule->numWeights > 0 && !schedule->weights))
    return refuseAttribute(location, "the weights of a schedule are NULL, or their number is negative");
  if (!mlirAttributeIsNull(schedule->block) && !mlirETDGAttributeIsAThreadBlock(schedule->block))
    return refuseAttribute(location, "the block of a schedule is #etdg.thread_block, or null");
  Location loc = unwrap(location);
  StringRef target = schedule->target.data ? unwrap(schedule->target) : StringRef();
  return wrap(ScheduleAttr::getChecked(
      [&] { return emitError(loc); }, loc.getContext(), AffineMapAttr::get(unwrap(schedule->map)), ArrayRef(*loops),
      ArrayRef(*placements), *before, ArrayRef<int64_t>(schedule->weights, size_t(schedule->numWeights)),
      mlirAttributeIsNull(schedule->block) ? ThreadBlockAttr() : cast<ThreadBlockAttr>(unwrap(schedule->block)), schedule->columns,
      target.empty() ? StringAttr() : StringAttr::get(loc.getContext(), target)));
}

MlirAffineMap mlirETDGScheduleAttrGetMap(MlirAttribute schedule) {
  return wrap(as<ScheduleAttr>(schedule).getMap().getValue());
}

intptr_t mlirETDGScheduleAttrGetNumLoops(MlirAttribute schedule) {
  return intptr_t(as<ScheduleAttr>(schedule).getLoops().size());
}

MlirAttribute mlirETDGScheduleAttrGetLoop(MlirAttribute schedule, intptr_t position) {
  return wrap(as<ScheduleAttr>(schedule).getLoops()[size_t(position)]);
}

intptr_t mlirETDGScheduleAttrGetNumPlacements(MlirAttribute schedule) {
  return intptr_t(as<ScheduleAttr>(schedule).getPlacements().size());
}

MlirAttribute mlirETDGScheduleAttrGetPlacement(MlirAttribute schedule, intptr_t position) {
  return wrap(as<ScheduleAttr>(schedule).getPlacements()[size_t(position)]);
}

MlirETDGSyncKind mlirETDGScheduleAttrGetBefore(MlirAttribute schedule) {
  return MlirETDGSyncKind(as<ScheduleAttr>(schedule).getBefore());
}

intptr_t mlirETDGScheduleAttrGetNumWeights(MlirAttribute schedule) {
  return intptr_t(as<ScheduleAttr>(schedule).getWeights().size());
}

int64_t mlirETDGScheduleAttrGetWeight(MlirAttribute schedule, intptr_t position) {
  return as<ScheduleAttr>(schedule).getWeights()[size_t(position)];
}

MlirAttribute mlirETDGScheduleAttrGetBlock(MlirAttribute schedule) { return wrap(as<ScheduleAttr>(schedule).getBlock()); }

int64_t mlirETDGScheduleAttrGetColumns(MlirAttribute schedule) { return as<ScheduleAttr>(schedule).getColumns(); }

MlirStringRef mlirETDGScheduleAttrGetTarget(MlirAttribute schedule) {
  StringAttr target = as<ScheduleAttr>(schedule).getTarget();
  return wrap(target ? target.getValue() : StringRef(""));
}
