//===- FTUnroll.cpp - layers with lengths of their own --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `for d in [1, 2, 4]`: the body once for each value, with the value in the place of d.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/FT/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTUNROLL
#include "ft/Dialect/FT/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

// Layers inside layers multiply.
static constexpr size_t maxUnrolled = 1 << 20;

/// `length` with `value` in the place of `name`.
static LengthAttr substitute(LengthAttr length, StringAttr name, int64_t value) {
  const auto *found = llvm::find(length.getNames(), name);
  if (length.getRagged() || found == length.getNames().end())
    return length;
  MLIRContext *context = length.getContext();
  AffineExpr symbol = getAffineSymbolExpr(found - length.getNames().begin(), context);
  return LengthAttr::get(context, length.getNames(),
                         length.getExpr().replace(symbol, getAffineConstantExpr(value, context)));
}

namespace {
/// Puts the layers of one operator before it.
class Unroller {
public:
  explicit Unroller(ComputeOp op) : op(op), builder(op), name(op.getLayerName()) {}

  LogicalResult run() {
    int64_t count = op.getLayerValues().size();
    elements.resize(op->getNumResults(), SmallVector<Value>(count));
    SmallVector<Value> states(op.getInits());
    int64_t first = 0;
    if (!op.isMap() && states.empty()) {
      // The first elements are the first states.
      for (Value list : op.getLists())
        states.push_back(elementOf(list, placeOf(0)));
      history.push_back(states);
      keep(placeOf(0), states, {});
      first = 1;
    }
    for (int64_t step = first; step < count; ++step)
      if (failed(addLayer(step, states)))
        return failure();
    replaceResults(history.empty() ? states : history.back());
    return success();
  }

private:
  int64_t placeOf(int64_t step) const {
    ComputeOp self = op;
    int64_t count = self.getLayerValues().size();
    return self.isRight() ? count - 1 - step : step;
  }

  Value elementOf(Value list, int64_t place) {
    return AtOp::create(builder, op.getLoc(), list, LengthAttr::get(op.getContext(), place));
  }

  /// What a layer makes for the lists of results.
  void keep(int64_t place, ValueRange states, ValueRange emits) {
    for (auto [i, value] : llvm::enumerate(llvm::concat<Value>(llvm::to_vector(states), llvm::to_vector(emits))))
      elements[i][place] = value;
  }

  LogicalResult addLayer(int64_t step, ArrayRef<Value> inits) {
    int64_t place = placeOf(step), lag = *op.getLagOrOne().getConstant();
    bool isEarly = step < lag || op.isMap();
    SmallVector<Value> states(isEarly ? inits : ArrayRef<Value>(history[step - lag]));
    IRMapping mapping;
    mapping.map(op.getStateArgs(), states);
    for (auto [argument, list] : llvm::zip_equal(op.getElementArgs(), op.getLists()))
      mapping.map(argument, elementOf(list, place));
    int64_t value = op.getLayerValues()[place];
    for (Operation &inner : op.getBody().front().without_terminator())
      if (failed(refuseCalls(&inner)) || failed(specialize(builder.clone(inner, mapping), value)))
        return failure();
    YieldOp yield = op.getYield();
    auto mapped = [&](ValueRange values) {
      return llvm::map_to_vector(values, [&](Value v) { return mapping.lookupOrDefault(v); });
    };
    SmallVector<Value> made = mapped(yield.getValues()), emits = mapped(yield.getEmits());
    keep(place, made, emits);
    if (!op.isMap())
      history.push_back(std::move(made));
    return success();
  }

  /// The value in the place of the name, in attributes and types; negative lengths are no types.
  LogicalResult specialize(Operation *copy, int64_t value) {
    LengthAttr negative;
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](LengthAttr length) -> std::optional<std::pair<Attribute, WalkResult>> {
      return std::make_pair(Attribute(substitute(length, name, value)), WalkResult::skip());
    });
    replacer.addReplacement([&](ListType list) -> std::optional<std::pair<Type, WalkResult>> {
      SmallVector<LengthAttr> lengths;
      for (LengthAttr length : list.getLengths()) {
        lengths.push_back(substitute(length, name, value));
        if (lengths.back().getConstant().value_or(0) < 0) {
          negative = length;
          return std::make_pair(Type(list), WalkResult::skip());
        }
      }
      // A tuple's lists, too.
      Type element = replacer.replace(list.getElement());
      return std::make_pair(Type(ListType::get(list.getContext(), lengths, element)), WalkResult::skip());
    });
    replacer.recursivelyReplaceElementsIn(copy, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    if (!negative)
      return success();
    InFlightDiagnostic diag = copy->emitError()
                              << "has a type of length " << negative.str() << ", which is negative for "
                              << name.getValue() << " = " << value;
    diag.attachNote(op.getLoc()) << "the values are here";
    return diag;
  }

  /// A callee has names of its own, and its types are those of the call.
  LogicalResult refuseCalls(Operation *inner) {
    WalkResult walked = inner->walk([&](func::CallOp call) {
      bool dependent = false;
      AttrTypeWalker walker;
      walker.addWalk([&](LengthAttr length) { dependent |= llvm::is_contained(length.getNames(), name); });
      for (Type type : llvm::concat<const Type>(call->getOperandTypes(), call->getResultTypes()))
        walker.walk(type);
      if (!dependent)
        return WalkResult::advance();
      InFlightDiagnostic diag = call.emitOpError("has a type with the length '")
                                << name.getValue() << "', which is a number in each layer: the callee "
                                << "would be another function in each";
      diag.attachNote(op.getLoc()) << "the values are here";
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }

  void replaceResults(ArrayRef<Value> last) {
    LengthAttr one = LengthAttr::get(op.getContext(), 1);
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      if (op.isFold() && i < op.getNumStates()) {
        result.replaceAllUsesWith(last[i]);
        continue;
      }
      SmallVector<Value> parts;
      for (Value element : elements[i])
        parts.push_back(RepeatOp::create(builder, op.getLoc(), element, one));
      result.replaceAllUsesWith(ConcatOp::create(builder, op.getLoc(), parts));
    }
    op->erase();
  }

  ComputeOp op;
  OpBuilder builder;
  StringAttr name;
  std::vector<SmallVector<Value>> history; // states after each step
  std::vector<SmallVector<Value>> elements; // of each result, by place
};

struct FTUnroll : ft::impl::FTUnrollBase<FTUnroll> {
  void runOnOperation() override {
    // Inner ones first: what they become is copied with the outer ones' bodies.
    SmallVector<ComputeOp> layered;
    getOperation().walk([&](ComputeOp op) {
      if (op.getLayerName())
        layered.push_back(op);
    });
    size_t copied = 0;
    for (ComputeOp op : layered) {
      size_t inside = 0;
      op->walk([&](Operation *) { ++inside; });
      copied += inside * op.getLayerValues().size();
      if (copied > maxUnrolled) {
        op.emitOpError("makes the program too large: unrolling copied more than ") << maxUnrolled << " operations";
        return signalPassFailure();
      }
      if (failed(Unroller(op).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
