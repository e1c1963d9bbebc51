//===- FTAccessOps.cpp - shift, slice, window, gather, … ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types and verification of the array access operators (FT §4.2).
//
// What concerns operands and attributes alone is checked where result types are
// inferred; what concerns the bounds of the function is checked by the verifier.
//
//===----------------------------------------------------------------------===//
#include "FTDetail.h"
#include "ft/Dialect/FT/IR/FT.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;

//===----------------------------------------------------------------------===//
// Result types
//===----------------------------------------------------------------------===//

namespace {
/// The place where inference reports, and what it has found so far.
struct Inference {
  std::optional<Location> loc;
  StringRef op;
  SmallVectorImpl<Type> &results;

  template <typename... Args>
  LogicalResult refuse(Args &&...args) const {
    return emitOptionalError(loc, "'", op, "' op ", std::forward<Args>(args)...);
  }

  /// The only result is a list of `lengths` over `value`.
  LogicalResult finish(ArrayRef<LengthAttr> lengths, Type value) const {
    SmallVector<LengthAttr> all(lengths);
    if (llvm::is_contained(all, LengthAttr()))
      return refuse("needs lengths that are not ragged and fit 63 bits");
    if (auto list = dyn_cast<ListType>(value)) {
      llvm::append_range(all, list.getLengths());
      value = list.getElement();
    }
    MLIRContext *context = value.getContext();
    auto emitError = [&] {
      return mlir::emitError(loc ? *loc : UnknownLoc::get(context)) << "'" << op << "' op ";
    };
    // Without a location the caller wants no diagnostics.
    if (!loc && failed(ListType::verify([&] { return InFlightDiagnostic(); }, all, value)))
      return failure();
    ListType type = ListType::getChecked(emitError, context, ArrayRef<LengthAttr>(all), value);
    if (!type)
      return failure();
    results.push_back(type);
    return success();
  }
};
} // namespace

/// Defines `OP::inferReturnTypes` around a body that sees `op`, the adaptor, and `infer`.
#define FT_INFER(OP)                                                                               \
  static LogicalResult infer##OP(OP::Adaptor op, const Inference &infer);                          \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location> location,              \
                                     ValueRange operands, DictionaryAttr attributes,               \
                                     OpaqueProperties properties, RegionRange regions,             \
                                     SmallVectorImpl<Type> &results) {                             \
    return infer##OP(Adaptor(operands, attributes, properties, regions),                           \
                     {location, getOperationName(), results});                                     \
  }                                                                                                \
  static LogicalResult infer##OP(OP::Adaptor op, const Inference &infer)

static ListType listOf(Value value) { return dyn_cast<ListType>(value.getType()); }

/// Inference runs on operands that no verifier has seen.
#define FT_REQUIRE_LIST(VALUE)                                                                     \
  ListType list = listOf(VALUE);                                                                   \
  if (!list)                                                                                       \
  return infer.refuse("expects a list, found ", (VALUE).getType())

FT_INFER(ShiftOp) {
  FT_REQUIRE_LIST(op.getInput());
  if (op.getFill().getType() != list.getPeeled()) // S1
    return infer.refuse("(S1) 'fill' must have the type of the elements ", list.getPeeled(),
                        ", found ", op.getFill().getType());
  return infer.finish({}, list);
}

FT_INFER(ReverseOp) {
  FT_REQUIRE_LIST(op.getInput());
  return infer.finish({}, list);
}

FT_INFER(SliceOp) {
  FT_REQUIRE_LIST(op.getInput());
  LengthAttr n = list.getLength(), lo = op.getLo(), hi = op.getHi();
  if (n.getRagged() || lo.getRagged() || hi.getRagged())
    return infer.refuse("(L1) a ragged dimension ", n.str(), " cannot be sliced");
  lo = resolveIndex(lo, n);
  hi = resolveIndex(hi, n);
  LengthAttr length = hi - lo;
  if (length && length.isConstant() && *length.getConstant() < 0) // L1
    return infer.refuse("(L1) ", lo.str(), " to ", hi.str(), " ends before it begins");
  return infer.finish(length, list.getPeeled());
}

FT_INFER(StrideOp) {
  FT_REQUIRE_LIST(op.getInput());
  int64_t start = op.getStart(), step = op.getStep();
  if (step < 1 || start < 0) // D1
    return infer.refuse("(D1) 'step' must be at least 1 and 'from' at least 0, found ", step,
                        " and ", start);
  if (list.getLength().getRagged() && (start != 0 || step != 1))
    return infer.refuse("(D2) a ragged dimension ", list.getLength().str(), " has no stride");
  LengthAttr rest = list.getLength() - start;
  if (!rest)
    return infer.refuse("(D2) start ", start, " does not fit the length ", list.getLength().str());
  if (rest.isConstant() && *rest.getConstant() < 0) // D2
    return infer.refuse("(D2) start ", start, " is beyond the length ", list.getLength().str());
  return infer.finish(rest.ceilDiv(step), list.getPeeled());
}

/// A constant below 1, which no name can mend.
static bool isBelowOne(LengthAttr length) {
  std::optional<int64_t> constant = length.getConstant();
  return constant && *constant < 1;
}

/// What a window spans, where W1 may hold; null where it does not fit.
static LengthAttr getExtentOf(LengthAttr size, LengthAttr dilation) {
  LengthAttr extent = (size - 1) * dilation;
  if (!extent || extent.getConstant() == std::numeric_limits<int64_t>::max())
    return nullptr;
  return extent;
}

LengthAttr WindowOp::getDilationOrOne() {
  LengthAttr dilation = getDilationAttr();
  return dilation ? dilation : LengthAttr::get(getContext(), 1);
}

LengthAttr WindowOp::getExtent() {
  if (isBelowOne(getSize()) || isBelowOne(getDilationOrOne()))
    return nullptr;
  return getExtentOf(getSize(), getDilationOrOne());
}

LengthAttr WindowOp::getOverhangLow() {
  if (getBoundary() == Boundary::None)
    return LengthAttr::get(getContext(), 0);
  return (getSize() - 1).floorDiv(2) * getDilationOrOne();
}

FT_INFER(WindowOp) {
  FT_REQUIRE_LIST(op.getInput());
  // The parser infers before default values are there.
  LengthAttr n = list.getLength(), size = op.getSize(), dilation = op.getDilationAttr();
  int64_t step = op.getStepAttr() ? op.getStepAttr().getInt() : 1;
  dilation = dilation ? dilation : LengthAttr::get(n.getContext(), 1);
  if (size.getRagged() || dilation.getRagged())
    return infer.refuse("(W1) 'size' and 'dilation' must not be ragged");
  if (isBelowOne(size) || step < 1 || isBelowOne(dilation)) // W1
    return infer.refuse("(W1) 'size', 'step' and 'dilation' must be at least 1, found ", size.str(),
                        ", ", step, " and ", dilation.str());
  LengthAttr extent = getExtentOf(size, dilation);
  if (!extent)
    return infer.refuse("(W1) the extent of a window does not fit 63 bits");
  if (n.getRagged())
    return infer.refuse("(W2) a ragged dimension ", n.str(), " has no windows");
  LengthAttr windows = n.ceilDiv(step);
  if (!op.getBoundaryAttr() || op.getBoundary() == Boundary::None) {
    LengthAttr room = n - (extent + 1);
    if (!room || (room.isConstant() && *room.getConstant() < -1)) // W2
      return infer.refuse("(W2) a window over ", (extent + 1).str(),
                          " elements does not fit the length ", n.str());
    windows = room.floorDiv(step) + 1;
  }
  return infer.finish({windows, size}, list.getPeeled());
}

/// A rank 0 tensor of integers or indices (G1, I1).
static bool isIndexTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && tensor.getElementType().isIntOrIndex();
}

FT_INFER(GatherOp) {
  FT_REQUIRE_LIST(op.getInput());
  Type indices = op.getIndices().getType();
  auto indexList = dyn_cast<ListType>(indices);
  if (!isIndexTensor(indexList ? indexList.getElement() : indices)) // G1
    return infer.refuse(
        "(G1) indices must be tensor<iN> or tensor<index>, or a list of such, found ", indices);
  if (indexList)
    return infer.finish(indexList.getLengths(), list.getPeeled());
  infer.results.push_back(list.getPeeled());
  return success();
}

FT_INFER(ZipOp) {
  if (op.getInputs().empty()) // Z1
    return infer.refuse("(Z1) needs at least one list");
  SmallVector<Type> members;
  LengthAttr length;
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    FT_REQUIRE_LIST(input);
    if (!length)
      length = list.getLength();
    if (list.getLength() != length) // Z1
      return infer.refuse("(Z1) all lists must have the same outermost length: list 0 has ",
                          length.str(), ", list ", index, " has ", list.getLength().str());
    members.push_back(list.getPeeled());
  }
  return infer.finish(length, TupleType::get(length.getContext(), members));
}

FT_INFER(GetOp) {
  Type type = op.getInput().getType();
  auto list = dyn_cast<ListType>(type);
  auto tuple = dyn_cast<TupleType>(list ? list.getElement() : type);
  if (!tuple)
    return infer.refuse("expects a tuple or a list of tuples, found ", type);
  int64_t index = op.getIndex();
  if (index < 0 || index >= static_cast<int64_t>(tuple.size())) // E1
    return infer.refuse("(E1) index ", index, " is not below the number of members ", tuple.size());
  if (list)
    return infer.finish(list.getLengths(), tuple.getType(index));
  infer.results.push_back(tuple.getType(index));
  return success();
}

FT_INFER(AtOp) {
  FT_REQUIRE_LIST(op.getInput());
  infer.results.push_back(list.getPeeled());
  return success();
}

FT_INFER(ConcatOp) {
  if (op.getInputs().empty()) // K1
    return infer.refuse("(K1) needs at least one list");
  LengthAttr length;
  Type peeled;
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    FT_REQUIRE_LIST(input);
    if (!peeled)
      peeled = list.getPeeled();
    if (list.getPeeled() != peeled) // K1
      return infer.refuse("(K1) all lists must have the same elements: list 0 has ", peeled,
                          ", list ", index, " has ", list.getPeeled());
    length = index == 0 ? list.getLength() : length ? length + list.getLength() : length;
  }
  return infer.finish(length, peeled);
}

FT_INFER(FlattenOp) {
  FT_REQUIRE_LIST(op.getInput());
  if (list.getDepth() < 2 || list.hasRagged()) // F1
    return infer.refuse(
        "(F1) needs at least two programmable dimensions, none of them ragged, found ", list);
  ArrayRef<LengthAttr> lengths = list.getLengths();
  SmallVector<LengthAttr> flat{lengths[0] * lengths[1]};
  llvm::append_range(flat, lengths.drop_front(2));
  return infer.finish(flat, list.getElement());
}

FT_INFER(SplitOp) {
  FT_REQUIRE_LIST(op.getInput());
  LengthAttr n = list.getLength(), inner = op.getInner();
  if (n.getRagged() || inner.getRagged())
    return infer.refuse("(P1) a ragged dimension cannot be split");
  if (inner.isConstant() && *inner.getConstant() < 1) // P1
    return infer.refuse("(P1) the inner length must be at least 1, found ", inner.str());
  return infer.finish({n.floorDiv(inner), inner}, list.getPeeled());
}

FT_INFER(TransposeOp) {
  FT_REQUIRE_LIST(op.getInput());
  ArrayRef<int64_t> permutation = op.getPermutation();
  llvm::SmallBitVector seen(permutation.size());
  for (int64_t dim : permutation)
    if (dim >= 0 && dim < static_cast<int64_t>(permutation.size()))
      seen.set(dim);
  if (permutation.size() > list.getDepth() || !seen.all()) // X1
    return infer.refuse("(X1) expects a permutation of at most ", list.getDepth(),
                        " dimensions, found [", permutation, "]");
  if (list.hasRagged()) // X1
    return infer.refuse("(X1) a list with a ragged dimension cannot be transposed: ", list);
  SmallVector<LengthAttr> lengths(list.getLengths());
  for (auto [to, from] : llvm::enumerate(permutation))
    lengths[to] = list.getLengths()[from];
  return infer.finish(lengths, list.getElement());
}

FT_INFER(RepeatOp) {
  Type type = op.getValue().getType();
  if (!isValueType(type))
    return infer.refuse("expects a list, a static tensor or a tuple of these, found ", type);
  return infer.finish(op.getCount(), type);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// Names in attributes are bound like those in types.
static LogicalResult verifyAttributeNames(Operation *op, ArrayRef<LengthAttr> lengths) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (!function)
    return success();
  SmallVector<StringAttr> bound = getNamesAt(op);
  for (LengthAttr length : lengths)
    if (failed(ft::detail::verifyNames(length, bound, function, [&] { return op->emitOpError(); })))
      return failure();
  return success();
}

LogicalResult SliceOp::verify() {
  if (failed(verifyAttributeNames(*this, {getLo(), getHi()})))
    return failure();
  LengthAttr n = cast<ListType>(getInput().getType()).getLength();
  LengthAttr lo = resolveIndex(getLo(), n), hi = resolveIndex(getHi(), n);
  if (!lo || !hi || n.getRagged())
    return success(); // refused where the type is inferred
  if (failed(ft::detail::verifyNonNegative(*this, lo, "(L1) start " + lo.str(),
                                           "is before the list")) ||
      failed(ft::detail::verifyNonNegative(*this, hi - lo, "(L1) " + lo.str() + " to " + hi.str(),
                                           "ends before it begins")))
    return failure();
  return ft::detail::verifyNonNegative(*this, n - hi, "(L1) end " + hi.str(),
                                       "is beyond the length " + n.str());
}

LogicalResult StrideOp::verify() {
  LengthAttr n = cast<ListType>(getInput().getType()).getLength();
  if (getStart() <= 0 || n.getRagged())
    return success(); // refused where the type is inferred, but for 0
  return ft::detail::verifyNonNegative(*this, n - getStart(),
                                       "(D2) start " + Twine(getStart()), // D2
                                       "is beyond the length " + n.str());
}

LogicalResult ShiftOp::verify() {
  if (getOffset().getRagged())
    return emitOpError("shifts by the ragged length ") << getOffset().str();
  return verifyAttributeNames(*this, getOffset());
}

LogicalResult WindowOp::verify() {
  LengthAttr n = cast<ListType>(getInput().getType()).getLength();
  LengthAttr size = getSize(), dilation = getDilationOrOne(), extent = getExtent();
  if (failed(verifyAttributeNames(*this, {size, dilation})))
    return failure();
  if (n.getRagged() || !extent)
    return success(); // refused where the type is inferred
  auto isPositive = [&](StringRef what, LengthAttr value) { // W1
    return ft::detail::verifyNonNegative(*this, value - 1, "(W1) " + what + " " + value.str(),
                                         "must be at least 1");
  };
  if (failed(isPositive("size", size)) || failed(isPositive("dilation", dilation)))
    return failure();
  if (getBoundary() == Boundary::Zero)
    return success();
  if (getBoundary() == Boundary::None) // W2
    // One element less is room for no window, and a list of none.
    return ft::detail::verifyNonNegative(
        *this, n - extent, "(W2) a window over " + (extent + 1).str() + " elements",
        "does not fit the length " + n.str());
  // What the last window sees beyond the end depends on n and the step; the
  // bound is that of step 1.
  LengthAttr low = getOverhangLow(), one = LengthAttr::get(getContext(), 1);
  SmallVector<LengthAttr> least{one};
  if (getBoundary() != Boundary::Clamp) {
    int64_t more = getBoundary() == Boundary::Mirror ? 1 : 0;
    least = {low + more, extent - low + more};
    // Of constants the larger one says it all.
    if (least[0].isConstant() && least[1].isConstant())
      least = {*least[0].getConstant() < *least[1].getConstant() ? least[1] : least[0]};
  }
  std::string what = ("(W3) boundary '" + stringifyBoundary(getBoundary()) + "'").str();
  for (LengthAttr needed : least)
    if (failed(ft::detail::verifyNonNegative(*this, n - needed, what, // W3
                                             "needs a length of at least " + needed.str() +
                                                 ", found " + n.str())))
      return failure();
  return success();
}

LogicalResult AtOp::verify() {
  if (failed(verifyAttributeNames(*this, getIndex())))
    return failure();
  LengthAttr n = cast<ListType>(getInput().getType()).getLength();
  if (n.getRagged() || getIndex().getRagged())
    return emitOpError("(A1) index ")
           << getIndex().str() << " cannot be checked against a ragged dimension";
  LengthAttr index = resolveIndex(getIndex(), n);
  if (!index)
    return emitOpError("(A1) index ") << getIndex().str() << " does not fit the length " << n.str();
  std::string what = "(A1) index " + getIndex().str();
  if (failed(ft::detail::verifyNonNegative(*this, index, what,
                                           "is before the list of length " + n.str())))
    return failure();
  return ft::detail::verifyNonNegative(*this, n - index - 1, what,
                                       "is not below the length " + n.str());
}

LogicalResult SplitOp::verify() {
  if (failed(verifyAttributeNames(*this, getInner())))
    return failure();
  if (getInner().getRagged())
    return success(); // refused where the type is inferred
  return ft::detail::verifyNonNegative(*this, getInner() - 1,
                                       "(P1) inner length " + getInner().str(), // P1
                                       "must be at least 1");
}

LogicalResult RepeatOp::verify() {
  if (failed(verifyAttributeNames(*this, getCount())))
    return failure();
  return ft::detail::verifyNonNegative(*this, getCount(), "(R1) count " + getCount().str(), // R1
                                       "must not be negative");
}

LogicalResult IotaOp::verify() {
  auto list = cast<ListType>(getResult().getType());
  if (list.getDepth() != 1 || !isIndexTensor(list.getElement())) // I1
    return emitOpError("(I1) expects one dimension of tensor<iN> or tensor<index>, found ") << list;
  return ft::detail::verifyNonNegative(
      *this, list.getLength(), "(I1) length " + list.getLength().str(), "must not be negative");
}

LogicalResult CastOp::verify() {
  auto from = cast<ListType>(getInput().getType()), to = cast<ListType>(getResult().getType());
  if (from.getDepth() != to.getDepth() || from.getElement() != to.getElement()) // Q1
    return emitOpError("(Q1) changes lengths only: expected the depth and elements of ")
           << from << ", found " << to;
  for (auto [index, a, b] : llvm::enumerate(from.getLengths(), to.getLengths())) {
    if (a.getRagged() != b.getRagged()) // Q1
      return emitOpError("(Q1) dimension ")
             << index << " is ragged on one side only: " << a.str() << " and " << b.str();
    if (a.isConstant() && b.isConstant() && a != b) // Q1
      return emitOpError("(Q1) dimension ")
             << index << " can never be equal: " << a.str() << " and " << b.str();
  }
  return success();
}
