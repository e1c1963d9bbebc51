//===- CollapsePairs.cpp - two lengths as one -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of lengths is no Presburger term. But where every access uses a pair of
// dimensions of lengths A and B alike, as one dimension (arguments that are only
// flattened, results that are only split), the pair is one dimension of a fresh
// length, and nothing needs to know that it is A * B. The memory is the same.
//
//===----------------------------------------------------------------------===//

#include "CollapsePairs.h"

#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Support/LinearForm.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toetdg;

namespace {
/// Rewrites one function for one pair of names.
class PairCollapser {
public:
  PairCollapser(func::FuncOp function, StringAttr a, StringAttr b) : function(function), a(a), b(b) {}

  /// False where an access takes the pair apart; the function is then in between.
  bool run();

private:
  bool isPair(ListType list) const {
    return list.getDepth() >= 2 && list.getLengths()[0] == LengthAttr::get(a) && list.getLengths()[1] == LengthAttr::get(b);
  }
  /// The list with the pair as one dimension.
  ListType merged(ListType list) const {
    SmallVector<LengthAttr> lengths = {LengthAttr::get(product)};
    lengths.append(list.getLengths().begin() + 2, list.getLengths().end());
    return ListType::get(list.getContext(), lengths, list.getElement());
  }
  bool mergeSplits();
  bool mergeArguments();
  /// A * B becomes the fresh name.
  LengthAttr rename(LengthAttr length) const;
  AffineExpr rename(AffineExpr expr, unsigned posA, unsigned posB, unsigned posProduct) const;
  void renameAll();
  void renameTables();
  bool isBound(LengthAttr length) const {
    return llvm::all_of(length.getNames(), [&](StringAttr name) { return llvm::is_contained(bound, name); });
  }
  bool isAllBound();

  func::FuncOp function;
  StringAttr a, b, product;
  SmallVector<StringAttr> bound; // names that the arguments bind, afterwards
};
} // namespace

/// Splits by B of lists of length A * B whose result is only returned or joined again.
bool PairCollapser::mergeSplits() {
  SmallVector<SplitOp> splits;
  function.walk([&](SplitOp split) {
    if (isPair(cast<ListType>(split.getResult().getType())))
      splits.push_back(split);
  });
  FunctionType type = function.getFunctionType();
  SmallVector<Type> results(type.getResults());
  for (SplitOp split : splits) {
    for (OpOperand &use : llvm::make_early_inc_range(split.getResult().getUses())) {
      if (isa<func::ReturnOp>(use.getOwner())) {
        results[use.getOperandNumber()] = split.getInput().getType();
        use.set(split.getInput());
      } else if (auto flatten = dyn_cast<FlattenOp>(use.getOwner())) {
        flatten.getResult().replaceAllUsesWith(split.getInput());
        flatten.erase();
      } else {
        return false;
      }
    }
    split.erase();
  }
  function.setFunctionType(FunctionType::get(function.getContext(), type.getInputs(), results));
  return true;
}

bool PairCollapser::mergeArguments() {
  for (BlockArgument argument : function.getArguments()) {
    auto list = dyn_cast<ListType>(argument.getType());
    if (!list || !isPair(list))
      continue;
    if (!llvm::all_of(argument.getUsers(), [](Operation *user) { return isa<FlattenOp>(user); }))
      return false;
    argument.setType(merged(list));
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
      user->getResult(0).replaceAllUsesWith(argument);
      user->erase();
    }
  }
  SmallVector<Type> inputs(function.getBody().front().getArgumentTypes());
  function.setFunctionType(FunctionType::get(function.getContext(), inputs, function.getResultTypes()));
  return true;
}

AffineExpr PairCollapser::rename(AffineExpr expr, unsigned posA, unsigned posB, unsigned posProduct) const {
  MLIRContext *context = expr.getContext();
  std::optional<LinearForm> form = LinearForm::get(expr);
  if (!form)
    return expr;
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (auto &[monomial, coefficient] : form->terms) {
    unsigned countA = 0, countB = 0;
    AffineExpr term = getAffineConstantExpr(coefficient, context);
    for (AffineExpr atom : monomial) {
      if (atom == getAffineSymbolExpr(posA, context))
        ++countA;
      else if (atom == getAffineSymbolExpr(posB, context))
        ++countB;
      else if (auto binary = dyn_cast<AffineBinaryOpExpr>(atom))
        term = term * getAffineBinaryOpExpr(binary.getKind(), rename(binary.getLHS(), posA, posB, posProduct),
                                            rename(binary.getRHS(), posA, posB, posProduct));
      else
        term = term * atom;
    }
    // N * N counts as one name only.
    unsigned pairs = posA == posB ? countA / 2 : std::min(countA, countB);
    countA -= posA == posB ? 2 * pairs : pairs;
    countB -= posA == posB ? 0 : pairs;
    auto multiply = [&](unsigned position, unsigned times) {
      for (unsigned i = 0; i < times; ++i)
        term = term * getAffineSymbolExpr(position, context);
    };
    multiply(posA, countA);
    multiply(posB, countB);
    multiply(posProduct, pairs);
    sum = sum + term;
  }
  return sum;
}

LengthAttr PairCollapser::rename(LengthAttr length) const {
  if (length.getRagged() || !llvm::is_contained(length.getNames(), a) || !llvm::is_contained(length.getNames(), b))
    return length;
  SmallVector<StringAttr> all(length.getNames());
  all.push_back(product);
  auto position = [&](StringAttr name) { return static_cast<unsigned>(llvm::find(all, name) - all.begin()); };
  return LengthAttr::get(length.getContext(), all,
                         rename(length.exprOver(all), position(a), position(b), position(product)));
}

void PairCollapser::renameAll() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](LengthAttr length) -> std::optional<Attribute> { return rename(length); });
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

/// What a function says of lengths, of those that it still has.
void PairCollapser::renameTables() {
  MLIRContext *context = function.getContext();
  if (auto bounds = function->getAttrOfType<BoundsAttr>("ft.bounds")) {
    SmallVector<LengthAttr> kept;
    bool positiveA = false, positiveB = false;
    for (LengthAttr bound : bounds.getNonNegative()) {
      if (isBound(bound))
        kept.push_back(bound);
      positiveA |= bound == LengthAttr::get(a) - 1;
      positiveB |= bound == LengthAttr::get(b) - 1;
    }
    if (positiveA && positiveB)
      kept.push_back(LengthAttr::get(product) - 1);
    function->setAttr("ft.bounds", BoundsAttr::get(context, kept));
  }
  for (StringRef table : {"ft.lengths", "ft.typical"}) {
    auto values = function->getAttrOfType<DictionaryAttr>(table);
    if (!values)
      continue;
    NamedAttrList kept;
    for (NamedAttribute value : values)
      if (llvm::is_contained(bound, value.getName()))
        kept.append(value);
    auto va = values.getAs<IntegerAttr>(a), vb = values.getAs<IntegerAttr>(b);
    int64_t number;
    if (va && vb && !__builtin_mul_overflow(va.getInt(), vb.getInt(), &number))
      kept.append(product, IntegerAttr::get(va.getType(), number));
    function->setAttr(table, kept.getDictionary(context));
  }
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    if (auto index = function.getArgAttrOfType<IndexAttr>(i, "ft.gen"))
      if (!isBound(index.getLo()) || !isBound(index.getHi()))
        function.removeArgAttr(i, "ft.gen");
}

/// Whether every name that is left belongs to an argument.
bool PairCollapser::isAllBound() {
  bool ok = true;
  AttrTypeWalker walker;
  walker.addWalk([&](LengthAttr length) { ok &= length.getRagged() || isBound(length); });
  function.walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      walker.walk(type);
  });
  return ok;
}

bool PairCollapser::run() {
  // A fresh name that tells where it comes from.
  SmallVector<StringAttr> taken = getBoundNames(function.getArgumentTypes());
  std::string name = (a.getValue() + "_" + b.getValue()).str();
  while (llvm::is_contained(taken, StringAttr::get(function.getContext(), name)))
    name += "_";
  product = StringAttr::get(function.getContext(), name);
  if (!mergeSplits() || !mergeArguments())
    return false;
  renameAll();
  bound = getBoundNames(function.getArgumentTypes());
  if (!llvm::is_contained(bound, product))
    return false;
  renameTables();
  if (!isAllBound())
    return false;
  // A flatten or split that is left says A * B where its operands say otherwise.
  ScopedDiagnosticHandler silent(function.getContext(), [](Diagnostic &) { return success(); });
  return succeeded(verify(function));
}

func::FuncOp toetdg::collapsePairs(func::FuncOp function) {
  for (;;) {
    // The first pair of names that some flatten joins.
    SmallVector<std::pair<StringAttr, StringAttr>> pairs;
    function.walk([&](FlattenOp flatten) {
      auto list = cast<ListType>(flatten.getInput().getType());
      StringAttr a = list.getLengths()[0].getSingleName(), b = list.getLengths()[1].getSingleName();
      if (a && b && !llvm::is_contained(pairs, std::make_pair(a, b)))
        pairs.push_back({a, b});
    });
    bool changed = false;
    for (auto [a, b] : pairs) {
      func::FuncOp copy = function.clone();
      if (!PairCollapser(copy, a, b).run()) {
        copy.erase();
        continue;
      }
      function->getBlock()->getOperations().insert(function->getIterator(), copy);
      function.erase();
      function = copy;
      changed = true;
      break;
    }
    if (!changed)
      return function;
  }
}
