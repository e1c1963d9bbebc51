//===- Finish.cpp - operators, planes, regions ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dimensions carry a dependence is asked of the finished graph: the others
// are maps. Of a value that only the next iteration reads few planes are kept, and
// its dimension is a fold. Scans split where a read of what the nest itself writes
// has several pieces, as those of `ft` do at their first iterations (FT §4.4).
//
//===----------------------------------------------------------------------===//
#include "Raiser.h"

#include "ft/Analysis/Accesses.h"
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Support/NamedAffine.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

static constexpr unsigned maxRegions = 16;

/// The nest, or the block that stands alone.
static Operation *itemOf(etdg::BlockOp block) {
  etdg::NestOp nest = block.getNest();
  return nest ? nest.getOperation() : block.getOperation();
}

static SmallVector<etdg::BlockOp> blocksOf(Operation *item) {
  if (auto block = dyn_cast<etdg::BlockOp>(item))
    return {block};
  return llvm::to_vector(item->getRegion(0).front().getOps<etdg::BlockOp>());
}

static void setOperator(etdg::BlockOp block, unsigned own, OperatorKind kind) {
  SmallVector<Attribute> operators(block.getOperators().begin(), block.getOperators().end());
  operators[own] = StringAttr::get(block.getContext(), stringifyOperatorKind(kind));
  block.setOperatorsAttr(ArrayAttr::get(block.getContext(), operators));
}

void Raiser::findOperators() {
  etdg::SymbolSpace space(graph);
  etdg::GraphAccesses accesses(graph);
  for (Value buffer : accesses.getBuffers())
    for (const etdg::Access &constWrite : accesses.getWrites(buffer))
      for (const etdg::Access &constRead : accesses.getReads(buffer)) {
        etdg::Access write = constWrite, read = constRead;
        unsigned offset = read.getPointSize();
        for (const etdg::Precedence &order : etdg::getPrecedence(write.block, read.block)) {
          if (!order.strict)
            continue;
          etdg::BlockOp owner = read.block;
          while (owner.getNumAncestors() > order.equal)
            owner = owner.getParentBlock();
          auto &carriers = carried[{itemOf(owner), order.equal}];
          if (llvm::is_contained(carriers, buffer))
            continue;
          etdg::SetBuilder pair(space, offset + write.getPointSize());
          if (failed(etdg::addPoint(pair, read)) || failed(etdg::addPoint(pair, write, offset)))
            continue;
          auto planeR = etdg::getPlane(pair, read), planeW = etdg::getPlane(pair, write, offset);
          if (failed(planeR) || failed(planeW))
            continue;
          for (auto [x, y] : llvm::zip(*planeR, *planeW)) {
            if (!x || !y)
              continue;
            etdg::LinearExpr difference = *y;
            difference *= -1;
            difference += *x;
            pair.add(difference, true);
          }
          etdg::addPrecedence(pair, order, offset, 0);
          if (!etdg::isEmpty(pair.get()))
            carriers.push_back(buffer);
        }
      }
  graph.walk([&](etdg::BlockOp block) {
    for (unsigned own = 0; own < block.getNumOwnDims(); ++own)
      if (carried.lookup({itemOf(block), block.getNumAncestors() + own}).empty())
        setOperator(block, own, OperatorKind::Map);
  });
}

/// Tries with one plane, then two; the verifier says what is enough.
void Raiser::chooseLive() {
  SmallVector<std::pair<etdg::BufferOp, unsigned>> candidates;
  for (Home &home : homes) {
    auto op = home.buffer ? home.buffer.getDefiningOp<etdg::BufferOp>() : etdg::BufferOp();
    if (!op || !home.planes)
      continue;
    unsigned prefix = home.prefix;
    for (unsigned d = 0; d < prefix; ++d) {
      // The planes of a dimension that carries the buffer.
      for (auto &[where, buffers] : carried)
        if (where.second == home.scope->depth + d && llvm::is_contained(buffers, home.buffer)) {
          candidates.push_back({op, d});
          break;
        }
    }
  }
  if (candidates.empty() || candidates.size() > 24)
    return;
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  auto set = [&](etdg::BufferOp op, unsigned d, int64_t planes) {
    SmallVector<int64_t> live(op.getResult().getType().getDepth(), -1);
    if (op.getLive())
      live.assign(op.getLive()->begin(), op.getLive()->end());
    live[d] = planes;
    if (llvm::all_of(live, [](int64_t p) { return p < 0; }))
      op.removeLiveAttr();
    else
      op.setLiveAttr(builder.getDenseI64ArrayAttr(live));
  };
  if (failed(etdg::verifyGraph(graph)))
    return;
  for (auto &[op, d] : candidates)
    set(op, d, 1);
  if (succeeded(etdg::verifyGraph(graph)))
    return;
  for (auto &[op, d] : candidates)
    set(op, d, -1);
  for (auto &[op, d] : candidates)
    for (int64_t planes : {1, 2, -1}) {
      set(op, d, planes);
      if (planes < 0 || succeeded(etdg::verifyGraph(graph)))
        break;
    }
}

void Raiser::nameFolds() {
  graph.walk([&](etdg::BlockOp block) {
    for (unsigned own = 0; own < block.getNumOwnDims(); ++own) {
      unsigned dim = block.getNumAncestors() + own;
      auto it = carried.find({itemOf(block), dim});
      if (it == carried.end() || it->second.empty())
        continue;
      bool folds = llvm::all_of(it->second, [&](Value buffer) {
        auto op = buffer.getDefiningOp<etdg::BufferOp>();
        return op && op.getLive() &&
               llvm::any_of(*op.getLive(), [](int64_t planes) { return planes > 0; });
      });
      if (folds)
        setOperator(block, own, OperatorKind::FoldL);
    }
  });
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

namespace {
/// Clones blocks with a smaller domain: pieces that never apply go.
struct RegionCloner {
  const Sets &sets;
  MLIRContext *context;
  std::function<IntegerSet(ArrayRef<Constraint>, unsigned)> makeSet;

  AffineExpr align(AffineExpr expr, ArrayRef<StringAttr> symbols) const {
    return ft::alignSymbols(expr, symbols, sets.getNames());
  }
  Conjunction toConjunction(IntegerSet set, ArrayRef<StringAttr> symbols) const {
    Conjunction result;
    if (etdg::isUniverse(set))
      return result;
    for (unsigned i = 0; i < set.getNumConstraints(); ++i)
      result.push_back({align(set.getConstraint(i), symbols), set.isEq(i)});
    return result;
  }
  AffineMap align(AffineMap map, ArrayRef<StringAttr> symbols) const {
    SmallVector<AffineExpr> results;
    for (AffineExpr e : map.getResults())
      results.push_back(align(e, symbols));
    return AffineMap::get(map.getNumDims(), sets.getNames().size(), results, context);
  }

  etdg::BlockOp clone(OpBuilder &builder, etdg::BlockOp old, const Conjunction &domain,
                      const Conjunction &ancestors, StringRef name, IRMapping &mapping) const {
    SmallVector<StringAttr> symbols = old.getSymbolNames();
    etdg::BlockBuilder spec;
    spec.name = name.str();
    for (unsigned own = 0; own < old.getNumOwnDims(); ++own)
      spec.operators.push_back(old.getOperator(own));
    spec.dims = old.getDimNames();
    spec.numAncestors = old.getNumAncestors();
    spec.symbols.assign(sets.getNames().begin(), sets.getNames().end());
    spec.domain = makeSet(sets.reduce(domain, ancestors), old.getNumDims());
    for (Value buffer : old.getBuffers())
      spec.buffers.push_back(mapping.lookupOrDefault(buffer));
    for (auto [i, read] : llvm::enumerate(old.getReads().getAsRange<etdg::ReadAttr>())) {
      Conjunction known(domain);
      SmallVector<etdg::PieceAttr> pieces;
      unsigned size = old.getNumDims() + read.getElementRank();
      if (read.getElementRank())
        for (auto [d, extent] : llvm::enumerate(
                 cast<RankedTensorType>(old.getBody().getArgument(i).getType()).getShape())) {
          AffineExpr e = sets.dim(old.getNumDims() + d);
          known.push_back({e});
          known.push_back({-e + extent - 1});
        }
      for (etdg::PieceAttr piece : read.getPieces()) {
        std::optional<Conjunction> when =
            sets.simplify(toConjunction(piece.getSet().getValue(), symbols), known);
        if (!when)
          continue;
        SmallVector<etdg::GatherAttr> gathers;
        for (etdg::GatherAttr gather : piece.getGathers())
          gathers.push_back(etdg::GatherAttr::get(
              context, gather.getPosition(), gather.getOperand(),
              AffineMapAttr::get(align(gather.getMap().getValue(), symbols))));
        pieces.push_back(etdg::PieceAttr::get(
            context, IntegerSetAttr::get(makeSet(*when, size)), piece.getKind(), piece.getOperand(),
            AffineMapAttr::get(align(piece.getMap().getValue(), symbols)), gathers,
            piece.getValue()));
      }
      if (pieces.empty()) // never runs here
        pieces.push_back(etdg::PieceAttr::getSplat(
            makeSet({}, size),
            cast<TypedAttr>(builder.getZeroAttr(
                cast<RankedTensorType>(old.getBody().getArgument(i).getType()).getElementType()))));
      spec.reads.push_back(etdg::ReadAttr::get(context, pieces, read.getElementRank()));
    }
    for (etdg::WriteAttr write : old.getWrites().getAsRange<etdg::WriteAttr>())
      spec.writes.push_back(
          etdg::WriteAttr::get(context, write.getOperand(),
                               AffineMapAttr::get(align(write.getMap().getValue(), symbols))));
    etdg::BlockOp block = spec.build(builder, old.getLoc(), old.getBody().getArgumentTypes());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block.getBody().front());
    mapping.map(old.getBody().getArguments(), block.getBody().getArguments());
    for (Operation &op : old.getBody().front())
      cloneChild(builder, &op, domain, mapping);
    return block;
  }

  void cloneChild(OpBuilder &builder, Operation *op, const Conjunction &domain,
                  IRMapping &mapping) const {
    if (auto nest = dyn_cast<etdg::NestOp>(op)) {
      auto copy = etdg::NestOp::create(builder, op->getLoc(), etdg::ScheduleAttr());
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(builder.createBlock(&copy.getBody()));
      for (Operation &child : nest.getBody().front())
        cloneChild(builder, &child, domain, mapping);
      if (copy.getBody().front().empty())
        copy.erase();
      return;
    }
    auto child = dyn_cast<etdg::BlockOp>(op);
    if (!child) {
      builder.clone(*op, mapping);
      return;
    }
    Conjunction inner(domain);
    llvm::append_range(inner, toConjunction(child.getDomainSet(), child.getSymbolNames()));
    if (!sets.isEmpty(inner))
      clone(builder, child, inner, domain, child.getBlockName().value_or(""), mapping);
  }
};
} // namespace

void Raiser::splitNest(ArrayRef<etdg::BlockOp> nest) {
  RegionCloner cloner{*sets, context,
                      [&](ArrayRef<Constraint> c, unsigned n) { return makeSet(c, n); }};
  llvm::DenseSet<Value> written;
  for (etdg::BlockOp block : nest)
    const_cast<etdg::BlockOp &>(block).walk([&](etdg::BlockOp inner) {
      for (etdg::WriteAttr write : inner.getWrites().getAsRange<etdg::WriteAttr>())
        written.insert(inner.getBuffers()[write.getOperand()]);
    });
  for (etdg::BlockOp block : nest) {
    unsigned size = block.getNumDims(), first = block.getNumAncestors();
    Conjunction ancestors, domain;
    for (etdg::BlockOp b = block; b; b = b.getParentBlock()) {
      Conjunction own = cloner.toConjunction(b.getDomainSet(), b.getSymbolNames());
      llvm::append_range(domain, own);
      if (b != block)
        llvm::append_range(ancestors, own);
    }
    SmallVector<Conjunction> regions = {domain};
    block.walk([&](etdg::BlockOp inner) {
      SmallVector<StringAttr> symbols = inner.getSymbolNames();
      for (etdg::ReadAttr read : inner.getReads().getAsRange<etdg::ReadAttr>()) {
        if (read.getPieces().size() < 2)
          continue;
        bool reads = false, here = true, scans = false;
        SmallVector<Conjunction> cuts;
        for (etdg::PieceAttr piece : read.getPieces()) {
          if (piece.getKind() == etdg::SourceKind::Buffer)
            reads |= written.contains(inner.getBuffers()[piece.getOperand()]);
          Conjunction when = cloner.toConjunction(piece.getSet().getValue(), symbols);
          for (const Constraint &c : when)
            c.expr.walk([&](AffineExpr e) {
              if (auto d = dyn_cast<AffineDimExpr>(e)) {
                here &= d.getPosition() < size;
                scans |= d.getPosition() >= first && d.getPosition() < size &&
                         block.getOperator(d.getPosition() - first) == OperatorKind::ScanL;
              }
            });
          cuts.push_back(when);
        }
        if (!reads || !here || !scans)
          continue;
        SmallVector<Conjunction> next;
        bool known = true;
        for (const Conjunction &region : regions) {
          SmallVector<Conjunction> parts;
          for (const Conjunction &cut : cuts)
            if (!sets->isEmpty(region, cut)) {
              parts.push_back(region);
              llvm::append_range(parts.back(), cut);
            }
          // A child that runs under a condition says nothing of the other iterations.
          if (inner != block) {
            FailureOr<SmallVector<Conjunction>> rest = sets->subtract(region, parts);
            known &= succeeded(rest);
            if (known)
              llvm::append_range(parts, *rest);
          }
          llvm::append_range(next, parts);
        }
        if (known && next.size() <= maxRegions)
          regions = std::move(next);
      }
    });
    if (regions.size() < 2)
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(block);
    for (const Conjunction &region : regions) {
      IRMapping mapping;
      cloner.clone(builder, block, region, ancestors, "r" + std::to_string(numBlocks++), mapping);
    }
    block.erase();
  }
}

void Raiser::splitRegions() {
  SmallVector<etdg::NestOp> nests;
  graph.walk<WalkOrder::PostOrder>([&](etdg::NestOp nest) { nests.push_back(nest); });
  for (etdg::NestOp nest : nests)
    splitNest(blocksOf(nest));
  // Names in textual order.
  unsigned number = 0;
  graph.walk<WalkOrder::PreOrder>([&](etdg::BlockOp block) {
    block.setBlockNameAttr(builder.getStringAttr("r" + std::to_string(number++)));
  });
}

LogicalResult Raiser::finish() {
  findOperators();
  chooseLive();
  nameFolds();
  splitRegions();
  return success();
}
