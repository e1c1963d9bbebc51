//===- CollapsePairs.cpp - two lengths as one -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of lengths is no Presburger term. But where every access uses a pair of
// dimensions of lengths A and B alike, as one dimension (lists that are flattened
// before anything looks at their elements, at any depth; results that are only split),
// the pair is one dimension of a fresh length, and nothing needs to know that it is
// A * B. The memory is the same.
//
// The pair becomes one dimension in every type at once; whether all accesses agree is
// then a question for the verifiers.
//
//===----------------------------------------------------------------------===//

#include "CollapsePairs.h"
#include "StrideGroups.h"

#include "ft/Conversion/FTToETDG/FTToETDG.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Support/QuasiPolynomial.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toetdg;

namespace {
/// Rewrites one function for one pair of names.
class PairCollapser {
public:
  PairCollapser(func::FuncOp function, LengthAttr first, StringAttr b)
      : function(function), first(first), a(first.getSingleName()), b(b),
        factor(first.getConstant().value_or(1)) {}

  /// False where an access takes the pair apart; the function is then in between.
  bool run();
  /// Where it is taken apart, if that is known.
  std::optional<Location> getWhere() const { return where; }

private:
  /// Where the pair stands among the dimensions, if it does.
  std::optional<unsigned> findPair(ListType list) const;
  /// The list with the pair as one dimension.
  ListType merged(ListType list, unsigned at) const;
  bool mergeAccess(Operation *op);
  bool eraseJoins();
  void joinStrides();
  void note();
  /// A * B becomes the fresh name.
  LengthAttr rename(LengthAttr length) const;
  AffineExpr rename(AffineExpr expr, unsigned posA, unsigned posB, unsigned posProduct) const;
  void renameAll();
  void renameTables();
  bool isBound(LengthAttr length) const {
    return llvm::all_of(length.getNames(),
                        [&](StringAttr name) { return llvm::is_contained(bound, name); });
  }
  Operation *findUnbound();
  bool fail(Location at) {
    where = at;
    return false;
  }

  func::FuncOp function;
  LengthAttr first; // A: a name, or a constant
  StringAttr a, b, product;
  int64_t factor;                // a constant A, else 1
  SmallVector<StringAttr> bound; // names that the arguments bind, afterwards
  std::optional<Location> where;
};
} // namespace

std::optional<unsigned> PairCollapser::findPair(ListType list) const {
  ArrayRef<LengthAttr> lengths = list.getLengths();
  for (unsigned i = 0; i + 1 < lengths.size(); ++i)
    if (lengths[i] == first && lengths[i + 1] == LengthAttr::get(b))
      return i;
  return std::nullopt;
}

ListType PairCollapser::merged(ListType list, unsigned at) const {
  SmallVector<LengthAttr> lengths(list.getLengths());
  lengths.erase(lengths.begin() + at);
  lengths[at] = LengthAttr::get(product);
  return ListType::get(list.getContext(), lengths, list.getElement());
}

/// What says of dimensions by number, or means the outer one of the pair where it would also
/// fit their product. All else that takes the pair apart does not verify afterwards.
bool PairCollapser::mergeAccess(Operation *op) {
  if (!isa<ReverseOp, TransposeOp>(op))
    return true;
  std::optional<unsigned> at = findPair(cast<ListType>(op->getOperand(0).getType()));
  if (!at)
    return true;
  auto transpose = dyn_cast<TransposeOp>(op);
  if (!transpose)
    return *at != 0;
  SmallVector<int64_t> permutation;
  ArrayRef<int64_t> old = transpose.getPermutation();
  for (unsigned i = 0; i < old.size(); ++i) {
    if (old[i] == *at && (i + 1 == old.size() ? *at + 1 != old.size() : old[i + 1] != *at + 1))
      return false;
    if (old[i] == *at + 1) {
      if (i == 0 || old[i - 1] != *at)
        return false;
      continue;
    }
    permutation.push_back(old[i] > *at ? old[i] - 1 : old[i]);
  }
  transpose.setPermutation(permutation);
  return true;
}

/// Joins and cuts of the pair: both sides are the same list now.
bool PairCollapser::eraseJoins() {
  bool any = false;
  function.walk([&](Operation *op) {
    if (!isa<FlattenOp, SplitOp>(op) || op->getOperand(0).getType() != op->getResult(0).getType())
      return;
    any = true;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
  return any;
}

/// By strides, both dimensions of a pair lie by the inner one's: the entry asks calls for it.
void PairCollapser::joinStrides() {
  for (BlockArgument argument : function.getArguments()) {
    StrideGroups strides(argument);
    auto list = dyn_cast<ListType>(argument.getType());
    bool any = false;
    for (std::optional<unsigned> at; list && (at = findPair(list)); list = merged(list, *at))
      if (*at < strides.size()) {
        strides.join(*at);
        any = true;
      }
    if (any)
      strides.write();
  }
}

AffineExpr PairCollapser::rename(AffineExpr expr, unsigned posA, unsigned posB,
                                 unsigned posProduct) const {
  MLIRContext *context = expr.getContext();
  std::optional<QuasiPolynomial> form = QuasiPolynomial::get(expr);
  if (!form)
    return expr;
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (auto &[monomial, coefficient] : form->terms) {
    unsigned countA = 0, countB = 0;
    AffineExpr term = getAffineConstantExpr(1, context);
    for (AffineExpr atom : monomial) {
      if (a && atom == getAffineSymbolExpr(posA, context))
        ++countA;
      else if (atom == getAffineSymbolExpr(posB, context))
        ++countB;
      else if (auto binary = dyn_cast<AffineBinaryOpExpr>(atom))
        term = term * getAffineBinaryOpExpr(binary.getKind(),
                                            rename(binary.getLHS(), posA, posB, posProduct),
                                            rename(binary.getRHS(), posA, posB, posProduct));
      else
        term = term * atom;
    }
    // N * N counts as one name only.
    unsigned pairs = a == b ? countA / 2 : std::min(countA, countB);
    int64_t rest = coefficient;
    if (!a)
      for (pairs = 0; pairs < countB && rest % factor == 0; ++pairs)
        rest /= factor;
    term = term * rest;
    countA -= !a ? 0 : a == b ? 2 * pairs : pairs;
    countB -= a == b ? 0 : pairs;
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
  if (length.getRagged() || (a && !llvm::is_contained(length.getNames(), a)) ||
      !llvm::is_contained(length.getNames(), b))
    return length;
  SmallVector<StringAttr> all(length.getNames());
  all.push_back(product);
  auto position = [&](StringAttr name) {
    return static_cast<unsigned>(llvm::find(all, name) - all.begin());
  };
  return LengthAttr::get(
      length.getContext(), all,
      rename(length.exprOver(all), a ? position(a) : 0, position(b), position(product)));
}

void PairCollapser::renameAll() {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](LengthAttr length) -> std::optional<Attribute> { return rename(length); });
  replacer.addReplacement([&](ListType list) -> std::optional<Type> {
    while (std::optional<unsigned> at = findPair(list))
      list = merged(list, *at);
    return list;
  });
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

/// What a table says of `a * b` (`factor * b` where the pair's outer length is a number) by what it says
/// of each: an integer, or [least, greatest]; null where that is nothing.
static Attribute multiplyLengths(Attribute a, Attribute b, bool hasA, int64_t factor) {
  if (!b || (hasA && !a))
    return {};
  if (auto number = dyn_cast<IntegerAttr>(b)) {
    auto other = dyn_cast_or_null<IntegerAttr>(a);
    int64_t result;
    if ((hasA && !other) || __builtin_mul_overflow(hasA ? other.getInt() : factor, number.getInt(), &result))
      return {};
    return IntegerAttr::get(number.getType(), result);
  }
  auto range = dyn_cast<ArrayAttr>(b), other = dyn_cast_or_null<ArrayAttr>(a);
  if (!range || (hasA && (!other || other.size() != range.size())))
    return {};
  SmallVector<Attribute> results;
  for (auto [i, end] : llvm::enumerate(range))
    if (Attribute result = multiplyLengths(hasA ? other[i] : nullptr, end, hasA, factor))
      results.push_back(result);
  return results.size() == range.size() ? ArrayAttr::get(range.getContext(), results) : nullptr;
}

/// What a function says of lengths, of those that it still has.
void PairCollapser::renameTables() {
  MLIRContext *context = function.getContext();
  if (auto bounds = function->getAttrOfType<BoundsAttr>(ft::names::bounds)) {
    SmallVector<LengthAttr> kept;
    bool positiveA = false, positiveB = false;
    for (LengthAttr bound : bounds.getNonNegative()) {
      if (isBound(bound))
        kept.push_back(bound);
      positiveA |= !a || bound == first - 1;
      positiveB |= bound == LengthAttr::get(b) - 1;
    }
    if (positiveA && positiveB)
      kept.push_back(LengthAttr::get(product) - 1);
    if (kept.empty())
      function->removeAttr(ft::names::bounds);
    else
      function->setAttr(ft::names::bounds, BoundsAttr::get(context, kept));
  }
  for (StringRef table : {ft::names::lengths, ft::names::typical}) {
    auto values = function->getAttrOfType<DictionaryAttr>(table);
    if (!values)
      continue;
    NamedAttrList kept;
    for (NamedAttribute value : values)
      if (llvm::is_contained(bound, value.getName()))
        kept.append(value);
    if (Attribute both = multiplyLengths(a ? values.get(a) : nullptr, values.get(b), bool(a), factor))
      kept.append(product, both);
    function->setAttr(table, kept.getDictionary(context));
  }
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    if (auto index = function.getArgAttrOfType<IndexAttr>(i, ft::names::gen))
      if (!isBound(index.getLo()) || !isBound(index.getHi()))
        function.removeArgAttr(i, ft::names::gen);
}

/// An operation that has a name which no argument binds any more.
Operation *PairCollapser::findUnbound() {
  bool ok = true;
  AttrTypeWalker walker;
  walker.addWalk([&](LengthAttr length) { ok &= length.getRagged() || isBound(length); });
  Operation *found = nullptr;
  // Regions first: the function's own type comes last.
  function.walk([&](Operation *op) {
    if (found)
      return;
    walker.walk(op->getAttrDictionary());
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      walker.walk(type);
    if (!ok)
      found = op;
  });
  return found;
}

/// For the code that calls the graph with the program's lengths.
void PairCollapser::note() {
  Builder builder(function.getContext());
  NamedAttrList products;
  if (auto before = function->getAttrOfType<DictionaryAttr>(etdg::names::merged))
    products.append(before.getValue());
  products.append(product,
                  builder.getArrayAttr({a ? Attribute(a) : builder.getI64IntegerAttr(factor), b}));
  function->setAttr(etdg::names::merged, products.getDictionary(function.getContext()));
}

bool PairCollapser::run() {
  // A fresh name that tells where it comes from.
  SmallVector<StringAttr> taken = getBoundNames(function.getArgumentTypes());
  std::string name =
      a ? (a.getValue() + "_" + b.getValue()).str() : (b.getValue() + "_" + Twine(factor)).str();
  while (llvm::is_contained(taken, StringAttr::get(function.getContext(), name)))
    name += "_";
  product = StringAttr::get(function.getContext(), name);
  joinStrides();
  Operation *apart = nullptr;
  function.walk([&](Operation *op) { apart = apart || mergeAccess(op) ? apart : op; });
  if (apart)
    return fail(apart->getLoc());
  renameAll();
  if (!eraseJoins())
    return false;
  bound = getBoundNames(function.getArgumentTypes());
  if (!llvm::is_contained(bound, product))
    return false;
  renameTables();
  note();
  if (Operation *op = findUnbound())
    return fail(op->getLoc());
  // What took the pair apart says A or B where its operands say A * B, or the other way round.
  ScopedDiagnosticHandler silent(function.getContext(), [&](Diagnostic &diagnostic) {
    if (!where && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      where = diagnostic.getLocation();
    return success();
  });
  return succeeded(verify(function));
}

bool toetdg::rewriteCopy(func::FuncOp &function, llvm::function_ref<bool(func::FuncOp)> rewrite) {
  func::FuncOp copy = function.clone();
  if (!rewrite(copy)) {
    copy.erase();
    return false;
  }
  function->getBlock()->getOperations().insert(function->getIterator(), copy);
  function.erase();
  function = copy;
  return true;
}

func::FuncOp toetdg::collapsePairs(func::FuncOp function) {
  for (;;) {
    // The first pair of names that some flatten joins.
    SmallVector<std::pair<LengthAttr, StringAttr>> pairs;
    function.walk([&](FlattenOp flatten) {
      auto list = cast<ListType>(flatten.getInput().getType());
      LengthAttr a = list.getLengths()[0];
      StringAttr b = list.getLengths()[1].getSingleName();
      if ((a.getSingleName() || a.getConstant().value_or(0) >= 2) && b &&
          !llvm::is_contained(pairs, std::make_pair(a, b)))
        pairs.push_back({a, b});
    });
    bool changed = false;
    for (auto [a, b] : pairs) {
      std::optional<Location> where;
      changed = rewriteCopy(function, [&, a = a, b = b](func::FuncOp copy) {
        PairCollapser collapser(copy, a, b);
        bool isDone = collapser.run();
        where = collapser.getWhere();
        return isDone;
      });
      if (changed)
        break;
      // For the one who refuses the flatten.
      if (where)
        function.walk([&, a = a, b = b](FlattenOp flatten) {
          auto list = cast<ListType>(flatten.getInput().getType());
          if (list.getLengths()[0] == a && list.getLengths()[1] == LengthAttr::get(b))
            flatten->setDiscardableAttr(takenApartName, *where);
        });
    }
    if (!changed)
      return function;
  }
}
