//===- Chunks.cpp - checkpoints of folds and scans ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     %s = ft.foldl (%x = %xs : [L]) init (%h = %h0) {ft.checkpoint = [K]}
//
// becomes
//
//     %m = ft.foldl (%c = %chunks : [floordiv(L, K), K]) init (%h = %h0) {
//       %n = ft.foldl (%x = %c : [K]) init (%g = %h) {ft.saved = false}
//     }
//
//     %s = ft.foldl (%x = %rest : [mod(L, K)]) init (%h = %m) {ft.saved = false}
//
// What is saved are then the states between chunks; those of one chunk are computed again before the chunk is reversed.
// From the right, the rest is taken first. A scan emits its states, and lists of chunks are flattened.
//
//===----------------------------------------------------------------------===//
#include "Differentiate.h"

#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

namespace {
class Chunks {
public:
  Chunks(ComputeOp op, int64_t size, ArrayRef<int64_t> smaller);
  void run();

private:
  /// The fold over `lists` from `inits`: its states, then the lists that it emits.
  SmallVector<Value> fold(OpBuilder &at, ValueRange lists, ValueRange inits);
  SmallVector<Value> foldChunks(ValueRange inits);
  SmallVector<Value> foldRest(ValueRange inits);
  void replace(ArrayRef<Value> chunks, ArrayRef<Value> rest);

  ComputeOp op;
  OpBuilder b;
  Location loc;
  int64_t size;
  ArrayRef<int64_t> smaller;
  LengthAttr length, whole; // of the list, and of its whole chunks
  OperatorKind kind;
  unsigned numStates;
};
} // namespace

Chunks::Chunks(ComputeOp op, int64_t size, ArrayRef<int64_t> smaller)
    : op(op), b(op), loc(op.getLoc()), size(size), smaller(smaller), length(op.getLength()),
      whole(length.floorDiv(size) * LengthAttr::get(op.getContext(), size)),
      kind(op.isRight() ? OperatorKind::FoldR : OperatorKind::FoldL), numStates(op.getNumStates()) {}

SmallVector<Value> Chunks::fold(OpBuilder &at, ValueRange lists, ValueRange inits) {
  LengthAttr own = cast<ListType>(lists.front().getType()).getLength();
  YieldOp yield = op.getYield();
  SmallVector<Value> emitted;
  if (op.isScan())
    llvm::append_range(emitted, yield.getValues());
  llvm::append_range(emitted, yield.getEmits());
  SmallVector<Type> types(inits.getTypes());
  for (Value value : emitted)
    types.push_back(ListType::wrap(own, value.getType()));
  ComputeOp made = createCompute(at, loc, kind, types, lists, inits);
  IRMapping mapping;
  op.getBody().cloneInto(&made.getBody(), mapping);
  YieldOp old = made.getYield();
  OpBuilder end(old);
  SmallVector<Value> values(old.getValues()), emits;
  for (Value value : emitted)
    emits.push_back(mapping.lookupOrDefault(value));
  YieldOp::create(end, old.getLoc(), values, emits);
  old.erase();
  made->setDiscardableAttr(mlir::ft::names::saved, b.getBoolAttr(false));
  if (!smaller.empty())
    made->setDiscardableAttr(mlir::ft::names::checkpoint, b.getI64ArrayAttr(smaller));
  return made->getResults();
}

SmallVector<Value> Chunks::foldChunks(ValueRange inits) {
  SmallVector<Value> lists;
  LengthAttr zero = LengthAttr::get(op.getContext(), 0), chunk = LengthAttr::get(op.getContext(), size);
  for (Value list : op.getLists()) {
    Value part = whole == length ? list : SliceOp::create(b, loc, list, zero, whole).getResult();
    lists.push_back(SplitOp::create(b, loc, part, chunk));
  }
  auto *block = new Block();
  for (Value init : inits)
    block->addArgument(init.getType(), loc);
  for (Value list : lists)
    block->addArgument(cast<ListType>(list.getType()).getPeeled(), loc);
  OpBuilder inner(op.getContext());
  inner.setInsertionPointToEnd(block);
  SmallVector<Value> given =
      fold(inner, block->getArguments().drop_front(numStates), block->getArguments().take_front(numStates));
  ArrayRef<Value> all(given);
  YieldOp::create(inner, loc, all.take_front(numStates), all.drop_front(numStates));
  SmallVector<Type> types(inits.getTypes());
  for (Value value : all.drop_front(numStates))
    types.push_back(ListType::wrap(length.floorDiv(size), value.getType()));
  ComputeOp outer = createCompute(b, loc, kind, types, lists, inits);
  outer.getBody().push_back(block);
  SmallVector<Value> results(outer->getResults());
  for (Value &list : MutableArrayRef(results).drop_front(numStates))
    list = FlattenOp::create(b, loc, list);
  return results;
}

SmallVector<Value> Chunks::foldRest(ValueRange inits) {
  SmallVector<Value> lists;
  for (Value list : op.getLists())
    lists.push_back(SliceOp::create(b, loc, list, whole, length));
  return fold(b, lists, inits);
}

void Chunks::run() {
  SmallVector<Value> inits(op.getInits()), chunks, rest;
  bool hasRest = whole != length;
  auto statesOf = [&](ArrayRef<Value> results) { return results.take_front(numStates); };
  if (op.isRight()) {
    if (hasRest)
      rest = foldRest(inits);
    chunks = foldChunks(hasRest ? ValueRange(statesOf(rest)) : ValueRange(inits));
  } else {
    chunks = foldChunks(inits);
    if (hasRest)
      rest = foldRest(statesOf(chunks));
  }
  replace(chunks, rest);
}

void Chunks::replace(ArrayRef<Value> chunks, ArrayRef<Value> rest) {
  ArrayRef<Value> last = rest.empty() || op.isRight() ? chunks : rest;
  unsigned first = op.isScan() ? numStates : 0; // of a scan the final states are no results
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    Value with = last[first + i];
    if (first + i >= numStates && !rest.empty())
      with = ConcatOp::create(b, loc, ValueRange{chunks[first + i], rest[first + i]});
    if (with.getType() != result.getType())
      with = CastOp::create(b, loc, result.getType(), with);
    result.replaceAllUsesWith(with);
  }
  op->erase();
}

/// Why the iterations of an operator are not divided; empty where they are.
static std::string whyWhole(ComputeOp op, int64_t size) {
  if (op.isMap())
    return "a map carries no states";
  if (op.isScan() && op.getLagOrOne().getConstant() != 1)
    return "its states are of several iterations (lag)";
  if (std::optional<int64_t> length = op.getLength().getConstant(); length && *length <= size)
    return "its iterations are one chunk";
  return "";
}

void differentiate::makeChunks(func::FuncOp function) {
  // From the outside inwards: chunks of chunks are found in what was made.
  while (true) {
    ComputeOp found;
    function.walk<WalkOrder::PreOrder>([&](ComputeOp op) {
      if (op->hasAttr(mlir::ft::names::checkpoint))
        found = op;
      return found ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!found)
      return;
    SmallVector<int64_t> sizes;
    for (Attribute size : cast<ArrayAttr>(found->removeDiscardableAttr(mlir::ft::names::checkpoint)))
      sizes.push_back(cast<IntegerAttr>(size).getInt());
    std::string why = whyWhole(found, sizes.front());
    if (why.empty())
      Chunks(found, sizes.front(), ArrayRef(sizes).drop_front()).run();
    else
      remark::missed(found.getLoc(), remark::RemarkOpts::name("checkpoint").category("gradients"))
          << ("all states are saved: " + why);
  }
}
