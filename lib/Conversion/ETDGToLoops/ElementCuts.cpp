//===- ElementCuts.cpp - boxes of an element with the same pieces ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A piece that tests dimensions of the element (a border, a part of a concatenation) cuts their
// ranges. In each box between cuts the test is decided, and what is put together there
// is a loop without conditions. Example: `{e0 <= 4: %a[e0], e0 >= 5: %b[e0 - 5]}` of 19
// scalars is the boxes [0, 5) of `%a` and [5, 19) of `%b`.
//
//===----------------------------------------------------------------------===//
#include "ElementCuts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toloops;

/// More boxes are not worth the code: conditions are then asked at each scalar.
static constexpr unsigned mostBoxes = 32;

namespace {
/// A constraint on one dimension of the element alone: factor * e + rest >= 0, or = 0.
struct Test {
  unsigned dim;
  int64_t factor, rest;
  bool isEquality;

  bool holds(int64_t e) const { return isEquality ? factor * e + rest == 0 : factor * e + rest >= 0; }
};
} // namespace

static std::optional<Test> getTest(AffineExpr expr, bool isEquality, unsigned first, unsigned rank) {
  for (unsigned e = 0; e < rank; ++e) {
    AffineExpr dim = getAffineDimExpr(first + e, expr.getContext());
    if (!expr.isFunctionOfDim(first + e))
      continue;
    AffineExpr zero = getAffineConstantExpr(0, expr.getContext());
    auto rest = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(expr.replace(dim, zero), first + rank, 0));
    auto step = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(expr - expr.replace(dim, dim - 1), first + rank, 0));
    if (!rest || !step || step.getValue() == 0)
      return std::nullopt;
    return Test{e, step.getValue(), rest.getValue(), isEquality};
  }
  return std::nullopt;
}

/// Where the answer to a test changes.
static void addCuts(const Test &test, int64_t extent, SmallVectorImpl<int64_t> &cuts) {
  for (int64_t e = 1; e < extent; ++e)
    if (test.holds(e) != test.holds(e - 1))
      cuts.push_back(e);
}

/// The pieces in a box, with the tests that it decides left out of their sets.
static SmallVector<etdg::PieceAttr> piecesIn(ArrayRef<etdg::PieceAttr> pieces, ArrayRef<int64_t> begin, unsigned first) {
  SmallVector<etdg::PieceAttr> left;
  for (etdg::PieceAttr piece : pieces) {
    IntegerSet set = piece.getSet().getValue();
    SmallVector<AffineExpr> constraints;
    SmallVector<bool> eqs;
    bool isEmpty = false;
    for (auto [expr, eq] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
      if (std::optional<Test> test = getTest(expr, eq, first, begin.size())) {
        isEmpty |= !test->holds(begin[test->dim]);
        continue;
      }
      constraints.push_back(expr);
      eqs.push_back(eq);
    }
    if (isEmpty)
      continue;
    if (constraints.empty()) {
      constraints.push_back(getAffineConstantExpr(0, set.getContext()));
      eqs.push_back(true);
    }
    auto rest = IntegerSet::get(set.getNumDims(), set.getNumSymbols(), constraints, eqs);
    left.push_back(etdg::PieceAttr::get(piece.getContext(), IntegerSetAttr::get(rest), piece.getKind(), piece.getOperand(),
                                        piece.getMap(), piece.getGathers(), piece.getValue()));
  }
  return left;
}

SmallVector<ElementBox> toloops::cutElement(ArrayRef<etdg::PieceAttr> pieces, ArrayRef<int64_t> shape, unsigned numDims) {
  unsigned rank = shape.size();
  SmallVector<SmallVector<int64_t>> cuts(rank);
  for (etdg::PieceAttr piece : pieces) {
    IntegerSet set = piece.getSet().getValue();
    for (auto [expr, eq] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
      if (std::optional<Test> test = getTest(expr, eq, numDims, rank))
        addCuts(*test, shape[test->dim], cuts[test->dim]);
  }
  uint64_t count = 1;
  for (auto [d, at] : llvm::enumerate(cuts)) {
    llvm::sort(at);
    at.erase(llvm::unique(at), at.end());
    count = llvm::SaturatingMultiply<uint64_t>(count, at.size() + 1);
    at.push_back(shape[d]);
  }
  if (count > mostBoxes)
    return {ElementBox{SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(shape), SmallVector<etdg::PieceAttr>(pieces)}};
  SmallVector<ElementBox> boxes;
  SmallVector<unsigned> number(rank, 0);
  for (uint64_t box = 0; box < count; ++box) {
    ElementBox &made = boxes.emplace_back();
    uint64_t rest = box;
    for (unsigned d = rank; d-- > 0;) {
      number[d] = rest % cuts[d].size();
      rest /= cuts[d].size();
    }
    for (unsigned d = 0; d < rank; ++d) {
      made.begin.push_back(number[d] == 0 ? 0 : cuts[d][number[d] - 1]);
      made.end.push_back(cuts[d][number[d]]);
    }
    made.pieces = piecesIn(pieces, made.begin, numDims);
  }
  return boxes;
}

bool toloops::testsElement(IntegerSet set, unsigned first) {
  for (AffineExpr expr : set.getConstraints())
    for (unsigned d = first; d < set.getNumDims(); ++d)
      if (expr.isFunctionOfDim(d))
        return true;
  return false;
}
