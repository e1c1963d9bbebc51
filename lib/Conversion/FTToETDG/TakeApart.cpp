//===- TakeApart.cpp - one length as two ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of N * M elements that is cut into pieces of M would be read at n * M + m, which
// is not affine. Where nothing else is done with the dimension, it is two dimensions in every type, the
// cut is nothing, and the memory is the same: the other way round from CollapsePairs. A list of L
// elements that is cut into pieces of C gets a fresh name for L / C.
//
// Both dimensions replace the one in every type at once; operators that act on the one are refused
// here, all else that does not agree by the verifiers.
//
//===----------------------------------------------------------------------===//

#include "CollapsePairs.h"
#include "StrideGroups.h"

#include "ft/Conversion/FTToETDG/FTToETDG.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toetdg;

namespace {
/// Rewrites one function for one length and what it is cut by.
class Cutter {
public:
  Cutter(func::FuncOp function, LengthAttr whole, LengthAttr inner)
      : function(function), whole(whole), inner(inner) {}
  /// False where something else is done with the dimension; the function is then in between.
  bool run();

private:
  bool choosePieces();
  /// No type: of an operation without operands.
  bool isWhole(Type type) const {
    auto list = dyn_cast_or_null<ListType>(type);
    return list && list.getLength() == whole;
  }
  bool actsOnWhole(Operation *op) const;
  void cutStrides();
  LengthAttr rename(LengthAttr length) const;
  ListType cut(ListType list) const;
  void replaceTypes();
  void renameTables();

  func::FuncOp function;
  LengthAttr whole, inner, pieces;
  StringAttr before, fresh; // L, where it becomes fresh * inner
};
} // namespace

/// How many pieces there are: a quotient without remainder, or a fresh name.
bool Cutter::choosePieces() {
  pieces = whole.floorDiv(inner);
  if (pieces && pieces * inner == whole)
    return true;
  before = whole.getSingleName();
  if (!before || llvm::is_contained(inner.getNames(), before))
    return false;
  SmallVector<StringAttr> taken = getBoundNames(function.getArgumentTypes());
  std::string name = before.str() + "_cut";
  while (llvm::is_contained(taken, StringAttr::get(function.getContext(), name)))
    name += "_";
  fresh = StringAttr::get(function.getContext(), name);
  pieces = LengthAttr::get(fresh);
  return true;
}

/// Whether an operator means the dimension itself, which it would no longer find. What joins and cuts
/// it so is nothing afterwards, and a member of a tuple is one at any depth.
bool Cutter::actsOnWhole(Operation *op) const {
  if (auto split = dyn_cast<SplitOp>(op))
    return isWhole(split.getInput().getType()) && split.getInner() != inner;
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    auto list = cast<ListType>(transpose.getInput().getType());
    return llvm::is_contained(list.getLengths().take_front(transpose.getPermutation().size()),
                              whole);
  }
  if (isa<FlattenOp, GetOp, func::ReturnOp, YieldOp>(op))
    return false;
  if (auto compute = dyn_cast<ComputeOp>(op))
    return compute.getLength() == whole;
  if (!isa_and_nonnull<FTDialect>(op->getDialect()))
    return false;
  return isWhole(op->getOperandTypes().empty() ? Type() : op->getOperand(0).getType()) ||
         llvm::any_of(op->getResultTypes(), [&](Type type) { return isWhole(type); });
}

/// Where a caller says by a stride where the dimension lies, it lies so by its pieces, too.
void Cutter::cutStrides() {
  for (BlockArgument argument : function.getArguments()) {
    StrideGroups strides(argument);
    auto list = dyn_cast<ListType>(argument.getType());
    bool any = false;
    // From the innermost, so that the others keep their places.
    for (unsigned d = list ? std::min<unsigned>(strides.size(), list.getDepth()) : 0; d-- > 0;)
      if (list.getLengths()[d] == whole) {
        strides.cut(d);
        any = true;
      }
    if (any)
      strides.write();
  }
}

LengthAttr Cutter::rename(LengthAttr length) const {
  if (!before || length.getRagged() || !llvm::is_contained(length.getNames(), before))
    return length;
  LengthAttr product = pieces * inner;
  SmallVector<StringAttr> all(length.getNames());
  for (StringAttr name : product.getNames())
    if (!llvm::is_contained(all, name))
      all.push_back(name);
  unsigned at = llvm::find(all, before) - all.begin();
  AffineExpr expr = length.exprOver(all).replace(
      getAffineSymbolExpr(at, length.getContext()), product.exprOver(all));
  return LengthAttr::get(length.getContext(), all, expr);
}

ListType Cutter::cut(ListType list) const {
  SmallVector<LengthAttr> lengths;
  for (LengthAttr length : list.getLengths()) {
    if (length == whole)
      lengths.push_back(pieces);
    lengths.push_back(length == whole ? inner : rename(length));
  }
  return ListType::get(list.getContext(), lengths, list.getElement());
}

void Cutter::replaceTypes() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](ListType list) -> std::optional<std::pair<Type, WalkResult>> {
    ListType changed = cut(list);
    // A tuple's lists, too.
    Type element = replacer.replace(changed.getElement());
    return std::make_pair(
        Type(ListType::get(list.getContext(), changed.getLengths(), element)), WalkResult::skip());
  });
  replacer.addReplacement(
      [&](LengthAttr length) -> std::optional<Attribute> { return rename(length); });
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

/// Values of lengths that callers give or that are typical: of the fresh name instead.
void Cutter::renameTables() {
  if (!before)
    return;
  MLIRContext *context = function.getContext();
  for (StringRef table : {ft::names::lengths, ft::names::typical}) {
    auto values = function->getAttrOfType<DictionaryAttr>(table);
    if (!values)
      continue;
    NamedAttrList kept;
    for (NamedAttribute value : values)
      if (value.getName() != before)
        kept.append(value);
    auto lookup = [&](StringAttr name) -> std::optional<int64_t> {
      auto value = values.getAs<IntegerAttr>(name);
      return value ? std::optional(value.getInt()) : std::nullopt;
    };
    std::optional<int64_t> all = lookup(before), one = inner.evaluate(lookup);
    if (all && one && *one > 0)
      kept.append(fresh, IntegerAttr::get(IntegerType::get(context, 64), *all / *one));
    function->setAttr(table, kept.getDictionary(context));
  }
}

bool Cutter::run() {
  if (!choosePieces())
    return false;
  bool isAlone = true;
  function.walk([&](Operation *op) { isAlone &= op == function || !actsOnWhole(op); });
  if (!isAlone)
    return false;
  cutStrides();
  MLIRContext *context = function.getContext();
  // Who calls the graph cuts as well.
  NamedAttrList known;
  if (auto merged = function->getAttrOfType<DictionaryAttr>(etdg::names::merged))
    known.append(merged.getValue());
  if (before)
    known.append(fresh, ArrayAttr::get(context, {before, LengthAttr(inner),
                                                 StringAttr::get(context, "floordiv")}));
  renameTables();
  function->removeAttr(etdg::names::merged);
  replaceTypes();
  function->setAttr(etdg::names::merged, known.getDictionary(context));
  function.walk([&](Operation *op) {
    if (!isa<FlattenOp, SplitOp>(op) || op->getOperand(0).getType() != op->getResult(0).getType())
      return;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
  ScopedDiagnosticHandler silent(context, [](Diagnostic &) { return success(); });
  return succeeded(verify(function));
}

func::FuncOp toetdg::takeApart(func::FuncOp function) {
  for (;;) {
    SmallVector<std::pair<LengthAttr, LengthAttr>> cuts;
    function.walk([&](SplitOp split) {
      LengthAttr whole = cast<ListType>(split.getInput().getType()).getLength();
      if (!split.getInner().isConstant() &&
          !llvm::is_contained(cuts, std::make_pair(whole, split.getInner())))
        cuts.push_back({whole, split.getInner()});
    });
    // (A cut that is made changes which ones there are.)
    if (llvm::none_of(cuts, [&](auto &cut) {
          return rewriteCopy(function, [&](func::FuncOp copy) { return Cutter(copy, cut.first, cut.second).run(); });
        }))
      return function;
  }
}
