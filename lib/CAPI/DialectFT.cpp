//===- DialectFT.cpp - the dialect ft, in C -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft-c/Dialects.h"

#include "MlirObjects.h"

#include "ft/Dialect/FT/IR/FT.h"
#include "ft/InitAll.h"

#include "mlir/CAPI/Registration.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::capi;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(FT, ft, FTDialect)

void mlirFTRegisterAllDialects(MlirDialectRegistry registry) { mlir::ft::registerAllDialects(*unwrap(registry)); }

static_assert(int(Boundary::Wrap) == MlirFTBoundaryWrap && int(Boundary::None) == MlirFTBoundaryNone,
              "the enumerations agree");

static LengthAttr asLength(MlirAttribute attribute) { return dyn_cast_or_null<LengthAttr>(unwrap(attribute)); }
static BoundsAttr asBounds(MlirAttribute attribute) { return cast<BoundsAttr>(unwrap(attribute)); }
static ListType asList(MlirType type) { return cast<ListType>(unwrap(type)); }

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

bool mlirFTAttributeIsALength(MlirAttribute attribute) { return isAnA<LengthAttr>(attribute); }

MlirAttribute mlirFTLengthAttrGetConstant(MlirContext context, int64_t value) {
  return wrap(LengthAttr::get(unwrap(context), value));
}

MlirAttribute mlirFTLengthAttrGetNamed(MlirContext context, MlirStringRef name) {
  return wrap(LengthAttr::get(StringAttr::get(unwrap(context), unwrap(name))));
}

MlirAttribute mlirFTLengthAttrGetRagged(MlirContext context, MlirStringRef name) {
  return wrap(LengthAttr::getRagged(StringAttr::get(unwrap(context), unwrap(name))));
}

MlirAttribute mlirFTLengthAttrGet(MlirContext context, intptr_t numNames, const MlirStringRef *names,
                                  MlirAffineExpr expression) {
  AffineExpr expr = unwrap(expression);
  if (!expr || numNames < 0 || (numNames > 0 && !names))
    return wrap(Attribute());
  bool isKnown = true;
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    isKnown &= !isa<AffineDimExpr>(part) && (!symbol || symbol.getPosition() < numNames);
  });
  if (!isKnown)
    return wrap(Attribute());
  SmallVector<StringAttr> all;
  for (intptr_t i = 0; i < numNames; ++i)
    all.push_back(StringAttr::get(unwrap(context), unwrap(names[i])));
  return wrap(LengthAttr::get(unwrap(context), all, expr));
}

MlirAttribute mlirFTLengthAttrAdd(MlirAttribute a, MlirAttribute b) { return wrap(asLength(a) + asLength(b)); }
MlirAttribute mlirFTLengthAttrSubtract(MlirAttribute a, MlirAttribute b) { return wrap(asLength(a) - asLength(b)); }
MlirAttribute mlirFTLengthAttrMultiply(MlirAttribute a, MlirAttribute b) { return wrap(asLength(a) * asLength(b)); }

MlirAttribute mlirFTLengthAttrFloorDiv(MlirAttribute length, int64_t divisor) {
  return divisor < 1 ? wrap(Attribute()) : wrap(asLength(length).floorDiv(divisor));
}

MlirAttribute mlirFTLengthAttrCeilDiv(MlirAttribute length, int64_t divisor) {
  return divisor < 1 ? wrap(Attribute()) : wrap(asLength(length).ceilDiv(divisor));
}

bool mlirFTLengthAttrIsRagged(MlirAttribute length) { return asLength(length).getRagged(); }

bool mlirFTLengthAttrIsConstant(MlirAttribute length, int64_t *value) {
  std::optional<int64_t> constant = asLength(length).getConstant();
  if (constant && value)
    *value = *constant;
  return constant.has_value();
}

intptr_t mlirFTLengthAttrGetNumNames(MlirAttribute length) { return intptr_t(asLength(length).getNames().size()); }

MlirStringRef mlirFTLengthAttrGetName(MlirAttribute length, intptr_t position) {
  return wrap(asLength(length).getNames()[size_t(position)].getValue());
}

MlirAffineExpr mlirFTLengthAttrGetExpression(MlirAttribute length) { return wrap(asLength(length).getExpr()); }

//===----------------------------------------------------------------------===//
// Other attributes
//===----------------------------------------------------------------------===//

bool mlirFTAttributeIsABounds(MlirAttribute attribute) { return isAnA<BoundsAttr>(attribute); }

MlirAttribute mlirFTBoundsAttrGet(MlirContext context, intptr_t count, const MlirAttribute *lengths) {
  std::optional<SmallVector<LengthAttr>> all = unwrapAll<LengthAttr>(count, lengths);
  return all ? wrap(BoundsAttr::get(unwrap(context), *all)) : wrap(Attribute());
}

intptr_t mlirFTBoundsAttrGetNumLengths(MlirAttribute bounds) {
  return intptr_t(asBounds(bounds).getNonNegative().size());
}

MlirAttribute mlirFTBoundsAttrGetLength(MlirAttribute bounds, intptr_t position) {
  return wrap(asBounds(bounds).getNonNegative()[size_t(position)]);
}

bool mlirFTAttributeIsABoundary(MlirAttribute attribute) { return isAnA<BoundaryAttr>(attribute); }

MlirAttribute mlirFTBoundaryAttrGet(MlirContext context, MlirFTBoundary boundary) {
  std::optional<Boundary> value = symbolizeBoundary(uint32_t(boundary));
  return value ? wrap(BoundaryAttr::get(unwrap(context), *value)) : wrap(Attribute());
}

MlirFTBoundary mlirFTBoundaryAttrGetValue(MlirAttribute boundary) {
  return MlirFTBoundary(cast<BoundaryAttr>(unwrap(boundary)).getValue());
}

bool mlirFTAttributeIsANormal(MlirAttribute attribute) { return isAnA<NormalAttr>(attribute); }

MlirAttribute mlirFTNormalAttrGet(MlirContext context, double scale) {
  return wrap(NormalAttr::get(unwrap(context), scale));
}

double mlirFTNormalAttrGetScale(MlirAttribute normal) { return cast<NormalAttr>(unwrap(normal)).getScale(); }

bool mlirFTAttributeIsAUniform(MlirAttribute attribute) { return isAnA<UniformAttr>(attribute); }

MlirAttribute mlirFTUniformAttrGet(MlirContext context, double lo, double hi) {
  return wrap(UniformAttr::get(unwrap(context), lo, hi));
}

double mlirFTUniformAttrGetLo(MlirAttribute uniform) { return cast<UniformAttr>(unwrap(uniform)).getLo(); }
double mlirFTUniformAttrGetHi(MlirAttribute uniform) { return cast<UniformAttr>(unwrap(uniform)).getHi(); }

bool mlirFTAttributeIsAnIndex(MlirAttribute attribute) { return isAnA<IndexAttr>(attribute); }

MlirAttribute mlirFTIndexAttrGet(MlirAttribute lo, MlirAttribute hi) {
  LengthAttr from = asLength(lo), to = asLength(hi);
  return from && to ? wrap(IndexAttr::get(from.getContext(), from, to)) : wrap(Attribute());
}

MlirAttribute mlirFTIndexAttrGetLo(MlirAttribute index) {
  return wrap(cast<mlir::ft::IndexAttr>(unwrap(index)).getLo());
}
MlirAttribute mlirFTIndexAttrGetHi(MlirAttribute index) {
  return wrap(cast<mlir::ft::IndexAttr>(unwrap(index)).getHi());
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

bool mlirFTTypeIsAList(MlirType type) { return isAnA<ListType>(type); }

MlirType mlirFTListTypeGetChecked(MlirLocation location, intptr_t depth, const MlirAttribute *lengths,
                                  MlirType element) {
  std::optional<SmallVector<LengthAttr>> all = unwrapAll<LengthAttr>(depth, lengths);
  if (!all)
    return refuseType(location, "the lengths of a list are #ft.len attributes");
  if (mlirTypeIsNull(element))
    return refuseType(location, "a list needs the type of its element, found null");
  Location loc = unwrap(location);
  return wrap(ListType::getChecked([&] { return emitError(loc); }, loc.getContext(), ArrayRef(*all), unwrap(element)));
}

MlirTypeID mlirFTListTypeGetTypeID(void) { return wrap(ListType::getTypeID()); }
intptr_t mlirFTListTypeGetDepth(MlirType list) { return intptr_t(asList(list).getDepth()); }

MlirAttribute mlirFTListTypeGetLength(MlirType list, intptr_t position) {
  return wrap(asList(list).getLengths()[size_t(position)]);
}

MlirType mlirFTListTypeGetElement(MlirType list) { return wrap(asList(list).getElement()); }
MlirType mlirFTListTypeGetPeeled(MlirType list) { return wrap(asList(list).getPeeled()); }
