//===- MergeCoordinates.cpp - dimensions lined up for a merge -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/Transforms/MergeCoordinates.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

using namespace mlir;
using namespace mlir::etdg;
using ft::OperatorKind;

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

static bool isZero(AffineExpr expr) { return !expr || expr == 0; }

Coordinates::Coordinates(BlockOp given) : block(given) {
  for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
    own.push_back({d, 1, {}});
  symbols = block.getSymbolNames();
  domain = block.getDomainSet();
}

bool Coordinates::keepsOrder() const {
  for (auto [d, o] : llvm::enumerate(own))
    if (o.dim != d || o.sign != 1)
      return false;
  return true;
}

bool Coordinates::isIdentity() const {
  return keepsOrder() && llvm::all_of(own, [](const Own &o) { return isZero(o.offset); });
}

StringRef Coordinates::getName(unsigned ownDim) const {
  BlockOp b = block;
  return b.getDimNames()[b.getNumAncestors() + own[ownDim].dim].getValue();
}

SmallVector<StringAttr> Coordinates::getDimNames() const {
  BlockOp b = block;
  SmallVector<StringAttr> old = b.getDimNames(), names(old);
  for (auto [d, o] : llvm::enumerate(own))
    names[b.getNumAncestors() + d] = old[b.getNumAncestors() + o.dim];
  return names;
}

BlockRemap Coordinates::getRemap() const {
  BlockOp b = block;
  MLIRContext *context = b.getContext();
  unsigned numAncestors = b.getNumAncestors();
  BlockRemap remap;
  remap.dims = getDimNames();
  remap.numAncestors = numAncestors;
  remap.symbols = symbols;
  remap.exprs.resize(b.getNumDims());
  for (unsigned d = 0; d < numAncestors; ++d)
    remap.exprs[d] = getAffineDimExpr(d, context);
  for (auto [d, o] : llvm::enumerate(own)) {
    remap.operators.push_back(b.getOperator(o.dim));
    AffineExpr value = getAffineDimExpr(numAncestors + d, context);
    if (!isZero(o.offset))
      value = value - o.offset;
    remap.exprs[numAncestors + o.dim] = value * o.sign;
  }
  return remap;
}

void Coordinates::setDomain() {
  BlockRemap remap = getRemap();
  BlockBuilder builder = BlockBuilder::from(block);
  SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : remap.exprs)
    exprs.push_back(builder.importExpr(expr, symbols));
  symbols = builder.symbols;
  for (Own &o : own)
    if (!isZero(o.offset))
      o.offset = BlockBuilder(builder).importExpr(o.offset, remap.symbols);
  domain =
      canonicalizeSet(remapSet(builder.domain, exprs, remap.dims.size(), builder.symbols.size()));
}

AffineMap Coordinates::translate(AffineMap map, ArrayRef<StringAttr> mapSymbols,
                                 SmallVectorImpl<StringAttr> &names) const {
  BlockBuilder joined;
  joined.symbols.assign(names.begin(), names.end());
  BlockRemap remap = getRemap();
  SmallVector<AffineExpr> exprs, results;
  for (AffineExpr expr : remap.exprs)
    exprs.push_back(joined.importExpr(expr, symbols));
  for (unsigned d = exprs.size(); d < map.getNumDims(); ++d)
    exprs.push_back(getAffineDimExpr(d, map.getContext()));
  for (AffineExpr result : map.getResults())
    results.push_back(joined.importExpr(result, mapSymbols).replaceDims(exprs));
  names.assign(joined.symbols.begin(), joined.symbols.end());
  for (AffineExpr &result : results)
    result = canonicalizeExpr(result, map.getNumDims(), names.size());
  return AffineMap::get(map.getNumDims(), names.size(), results, map.getContext());
}

std::optional<LinearExpr> Coordinates::getRow(SetBuilder &set, unsigned ownDim,
                                              unsigned offset) const {
  const Own &o = own[ownDim];
  LinearExpr row = set.variable(offset + BlockOp(block).getNumAncestors() + o.dim);
  row *= o.sign;
  if (!isZero(o.offset)) {
    std::optional<LinearExpr> shift = set.flatten(o.offset, symbols);
    if (!shift)
      return std::nullopt;
    row += *shift;
  }
  return row;
}

bool Coordinates::operator==(const Coordinates &other) const {
  if (block != other.block || own.size() != other.own.size())
    return false;
  for (auto [x, y] : llvm::zip_equal(own, other.own)) {
    if (x.dim != y.dim || x.sign != y.sign || isZero(x.offset) != isZero(y.offset))
      return false;
    if (!isZero(x.offset) && (x.offset != y.offset || symbols != other.symbols))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// What the maps name
//===----------------------------------------------------------------------===//

namespace {
/// `coefficient · own dimension + rest`, the rest over ancestors and symbols.
struct Term {
  unsigned dim;
  int64_t coefficient;
  AffineExpr rest;
};

/// Own dimension `a` of the producer is `sign · b + offset` of the consumer.
struct Match {
  unsigned a, b;
  int64_t sign;
  AffineExpr offset;
};
} // namespace

/// An index that names one own dimension of a block around the access.
static std::optional<Term> getTerm(AffineExpr index, BlockOp block) {
  LinearForm form = LinearForm::of(index);
  std::optional<Term> term;
  for (auto [atom, coefficient] : form.terms) {
    auto dim = dyn_cast<AffineDimExpr>(atom);
    if (!dim) {
      // A symbol; what is not linear names nothing.
      if (!isa<AffineSymbolExpr>(atom))
        return std::nullopt;
      continue;
    }
    if (dim.getPosition() < block.getNumAncestors())
      continue;
    if (term || dim.getPosition() >= block.getNumDims() || (coefficient != 1 && coefficient != -1))
      return std::nullopt;
    term =
        Term{static_cast<unsigned>(dim.getPosition() - block.getNumAncestors()), coefficient, {}};
  }
  if (term)
    term->rest =
        index.replace(getAffineDimExpr(block.getNumAncestors() + term->dim, index.getContext()),
                      getAffineConstantExpr(0, index.getContext()));
  return term;
}

static SmallVector<Match> matchDims(BlockOp a, BlockOp b, const Flow &flow, BlockBuilder &joined) {
  SmallVector<Match> matches;
  AffineMap written = flow.write.map, read = flow.read.map;
  unsigned depth = flow.write.getBufferType().getDepth();
  BlockOp writer = flow.write.block, reader = flow.read.block;
  for (unsigned p = 0; p < depth; ++p) {
    if (flow.read.getGather(p))
      continue;
    std::optional<Term> x = getTerm(written.getResult(p), a), y = getTerm(read.getResult(p), b);
    if (!x || !y ||
        llvm::any_of(matches, [&](const Match &m) { return m.a == x->dim || m.b == y->dim; }))
      continue;
    // cx · a + rx = cy · b + ry
    AffineExpr offset = (joined.importExpr(y->rest, reader.getSymbolNames()) -
                         joined.importExpr(x->rest, writer.getSymbolNames())) *
                        x->coefficient;
    offset = canonicalizeExpr(offset, joined.dims.size(), joined.symbols.size());
    if (LinearForm::of(offset).getLastDim() >= 0)
      continue;
    matches.push_back({x->dim, y->dim, x->coefficient * y->coefficient, offset});
  }
  llvm::sort(matches, [](const Match &m, const Match &n) { return m.a < n.a; });
  return matches;
}

/// The matched dimensions first, in the order of `matches`, then the others.
static std::pair<Coordinates, Coordinates> lineUp(BlockOp a, BlockOp b, ArrayRef<Match> matches,
                                                  ArrayRef<StringAttr> symbols) {
  std::pair<Coordinates, Coordinates> both{Coordinates(a), Coordinates(b)};
  SmallVector<Coordinates::Own> ownA, ownB;
  for (const Match &m : matches) {
    auto constant = dyn_cast<AffineConstantExpr>(m.offset);
    // Coordinates grow, so that what starts at 0 does not begin below.
    if (m.sign == 1 && constant && constant.getValue() < 0) {
      ownA.push_back({m.a, 1, getAffineConstantExpr(-constant.getValue(), a.getContext())});
      ownB.push_back({m.b, 1, {}});
      continue;
    }
    ownA.push_back({m.a, 1, {}});
    ownB.push_back({m.b, m.sign, isZero(m.offset) ? AffineExpr() : m.offset});
  }
  auto addRest = [](BlockOp block, SmallVectorImpl<Coordinates::Own> &own) {
    for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
      if (llvm::none_of(own, [&](const Coordinates::Own &o) { return o.dim == d; }))
        own.push_back({d, 1, {}});
  };
  addRest(a, ownA);
  addRest(b, ownB);
  both.first.own.assign(ownA.begin(), ownA.end());
  both.second.own.assign(ownB.begin(), ownB.end());
  both.first.symbols.assign(symbols.begin(), symbols.end());
  both.second.symbols.assign(symbols.begin(), symbols.end());
  both.first.setDomain();
  both.second.setDomain();
  return both;
}

/// How many flows say how the dimensions may lie, and how many ways are looked at.
static constexpr unsigned maxFlows = 8, maxWays = 4;

SmallVector<std::pair<Coordinates, Coordinates>, 0> etdg::findCoordinates(BlockOp a, BlockOp b,
                                                                          ArrayRef<Flow> flows) {
  SmallVector<std::pair<Coordinates, Coordinates>, 0> found;
  auto add = [&](ArrayRef<Match> matches, ArrayRef<StringAttr> symbols) {
    if (matches.empty() || found.size() >= maxWays)
      return;
    auto both = lineUp(a, b, matches, symbols);
    // A region that combines belongs to the innermost dimension that may be cut.
    for (Coordinates *c : {&both.first, &both.second})
      if (!c->keepsOrder() && !c->block.getCombine().empty())
        return;
    if ((both.first.isIdentity() && both.second.isIdentity()) || llvm::is_contained(found, both))
      return;
    found.push_back(std::move(both));
  };
  for (const Flow &flow : flows.take_front(maxFlows)) {
    BlockBuilder joined;
    joined.dims = a.getDimNames();
    SmallVector<Match> matches = matchDims(a, b, flow, joined);
    if (matches.empty())
      continue;
    auto isMap = [&](const Match &m) {
      return a.getOperator(m.a) == OperatorKind::Map && b.getOperator(m.b) == OperatorKind::Map;
    };
    // Maps outermost; then with the producer's dimensions as they stand.
    SmallVector<Match> mapsFirst(matches);
    llvm::sort(mapsFirst, [&](const Match &m, const Match &n) {
      return isMap(m) != isMap(n) ? isMap(m) : m.a < n.a;
    });
    add(mapsFirst, joined.symbols);
    SmallVector<Match> prefix;
    for (const Match &m : matches) {
      if (m.a != prefix.size())
        break;
      prefix.push_back(m);
    }
    add(prefix, joined.symbols);
    // With the consumer's.
    llvm::sort(matches, [](const Match &m, const Match &n) { return m.b < n.b; });
    prefix.clear();
    for (const Match &m : matches) {
      if (m.b != prefix.size())
        break;
      prefix.push_back(m);
    }
    add(prefix, joined.symbols);
  }
  return found;
}
