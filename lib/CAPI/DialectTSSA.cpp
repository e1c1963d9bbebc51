//===- DialectTSSA.cpp - the dialect tssa, in C ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft-c/Dialects.h"

#include "MlirObjects.h"

#include "ft/Dialect/TSSA/IR/TSSA.h"

#include "mlir/CAPI/Registration.h"

using namespace mlir;
using namespace mlir::tssa;
using namespace mlir::ft::capi;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(TSSA, tssa, TSSADialect)

static_assert(int(StepKind::AsStrided) == MlirTSSAStepKindAsStrided, "the enumerations agree");

static MutableTensorType asTensor(MlirType type) { return cast<MutableTensorType>(unwrap(type)); }
static StepAttr asStep(MlirAttribute attribute) { return cast<StepAttr>(unwrap(attribute)); }

bool mlirTSSATypeIsAMutableTensor(MlirType type) { return isAnA<MutableTensorType>(type); }

MlirType mlirTSSAMutableTensorTypeGetChecked(MlirLocation location, intptr_t rank, const int64_t *shape,
                                             MlirType element) {
  if (rank < 0 || (rank > 0 && !shape))
    return refuseType(location, "the shape of a mutable tensor is NULL, or its rank is negative");
  if (mlirTypeIsNull(element))
    return refuseType(location, "a mutable tensor needs the type of its elements, found null");
  ArrayRef<int64_t> sizes(shape, size_t(rank));
  for (int64_t size : sizes)
    if (size < 0 && !ShapedType::isDynamic(size))
      return refuseType(location, "a size of a mutable tensor is negative: " + Twine(size));
  Location loc = unwrap(location);
  return wrap(
      MutableTensorType::getChecked([&] { return emitError(loc); }, loc.getContext(), sizes, unwrap(element)));
}

MlirTypeID mlirTSSAMutableTensorTypeGetTypeID(void) { return wrap(MutableTensorType::getTypeID()); }
intptr_t mlirTSSAMutableTensorTypeGetRank(MlirType tensor) { return intptr_t(asTensor(tensor).getRank()); }

int64_t mlirTSSAMutableTensorTypeGetSize(MlirType tensor, intptr_t dimension) {
  return asTensor(tensor).getShape()[size_t(dimension)];
}

MlirType mlirTSSAMutableTensorTypeGetElement(MlirType tensor) { return wrap(asTensor(tensor).getElementType()); }
MlirType mlirTSSAMutableTensorTypeGetValueType(MlirType tensor) { return wrap(asTensor(tensor).getValueType()); }

bool mlirTSSAAttributeIsAStep(MlirAttribute attribute) { return isAnA<StepAttr>(attribute); }

MlirAttribute mlirTSSAStepAttrGet(MlirContext context, MlirTSSAStepKind kind, intptr_t count, const int64_t *numbers) {
  std::optional<StepKind> known = symbolizeStepKind(uint32_t(kind));
  if (!known || count < 0 || (count > 0 && !numbers))
    return wrap(Attribute());
  return wrap(StepAttr::get(unwrap(context), *known, ArrayRef<int64_t>(numbers, size_t(count))));
}

MlirTSSAStepKind mlirTSSAStepAttrGetKind(MlirAttribute step) { return MlirTSSAStepKind(asStep(step).getKind()); }
intptr_t mlirTSSAStepAttrGetNumNumbers(MlirAttribute step) { return intptr_t(asStep(step).getNumbers().size()); }

int64_t mlirTSSAStepAttrGetNumber(MlirAttribute step, intptr_t position) {
  return asStep(step).getNumbers()[size_t(position)];
}
