//===- Finish.cpp - operators, planes, regions ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dimensions carry a dependence is asked of the finished graph: the others
// are maps. Of a value that only the next iteration reads few planes are kept, and
// its dimension is a fold. Scans split where a read of what the nest itself writes
// has several pieces, as those of `ft` do at their first iterations (FT §4.4).
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Write/PlanWriter.h"

#include "ft/Analysis/Accesses.h"
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Support/NamedAffine.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

static constexpr unsigned maxRegions = 16;

namespace {
class GraphFinisher {
public:
  GraphFinisher(etdg::GraphOp graph, const RaisingSets &sets, ArrayRef<IterationPlanes> planes, unsigned numBlocks)
      : graph(graph), sets(sets), planes(planes), builder(graph.getContext()), numBlocks(numBlocks) {}

  void finish() {
    findOperators();
    chooseLive();
    nameFolds();
    splitRegions();
  }

private:
  using Carriers = SmallVector<Value>;

  void findOperators();
  void addCarried(etdg::SymbolSpace &space, Value buffer, etdg::Access write, etdg::Access read);
  bool isCarried(etdg::SymbolSpace &space, etdg::Access write, etdg::Access read, const etdg::Precedence &order);
  SmallVector<std::pair<etdg::BufferOp, unsigned>> carriedPlanes();
  void chooseLive();
  void nameFolds();
  void splitRegions();
  void splitNest(ArrayRef<etdg::BlockOp> nest);
  void splitBlock(etdg::BlockOp block, const llvm::DenseSet<Value> &written);
  SmallVector<Conjunction> regionsOf(etdg::BlockOp block, const Conjunction &domain,
                                     const llvm::DenseSet<Value> &written);

  etdg::GraphOp graph;
  const RaisingSets &sets;
  ArrayRef<IterationPlanes> planes;
  OpBuilder builder;
  unsigned numBlocks;
  /// Buffers by which a dimension of a nest (or lone block) carries a dependence.
  llvm::MapVector<std::pair<Operation *, unsigned>, Carriers> carried;
};
} // namespace

/// The nest, or the block that stands alone.
static Operation *itemOf(etdg::BlockOp block) {
  etdg::NestOp nest = block.getNest();
  return nest ? nest.getOperation() : block.getOperation();
}

static void setOperator(etdg::BlockOp block, unsigned own, OperatorKind kind) {
  SmallVector<Attribute> operators(block.getOperators().begin(), block.getOperators().end());
  operators[own] = StringAttr::get(block.getContext(), stringifyOperatorKind(kind));
  block.setOperatorsAttr(ArrayAttr::get(block.getContext(), operators));
}

/// Whether a write reaches a read in an order of their iterations, for some lengths.
bool GraphFinisher::isCarried(etdg::SymbolSpace &space, etdg::Access write, etdg::Access read,
                              const etdg::Precedence &order) {
  unsigned offset = read.getPointSize();
  etdg::SetBuilder pair(space, offset + write.getPointSize());
  if (failed(etdg::addPoint(pair, read)) || failed(etdg::addPoint(pair, write, offset)))
    return false;
  auto planeR = etdg::getPlane(pair, read), planeW = etdg::getPlane(pair, write, offset);
  if (failed(planeR) || failed(planeW))
    return false;
  for (auto [x, y] : llvm::zip(*planeR, *planeW)) {
    if (!x || !y)
      continue;
    etdg::LinearExpr difference = *y;
    difference *= -1;
    difference += *x;
    pair.add(difference, true);
  }
  etdg::addPrecedence(pair, order, offset, 0);
  return !etdg::isEmpty(pair.get());
}

/// Adds the buffer to what the dimensions carry between a write and a read of it.
void GraphFinisher::addCarried(etdg::SymbolSpace &space, Value buffer, etdg::Access write, etdg::Access read) {
  for (const etdg::Precedence &order : etdg::getPrecedence(write.block, read.block)) {
    if (!order.strict)
      continue;
    etdg::BlockOp owner = read.block;
    while (owner.getNumAncestors() > order.equal)
      owner = owner.getParentBlock();
    Carriers &carriers = carried[{itemOf(owner), order.equal}];
    if (!llvm::is_contained(carriers, buffer) && isCarried(space, write, read, order))
      carriers.push_back(buffer);
  }
}

void GraphFinisher::findOperators() {
  etdg::SymbolSpace space(graph);
  etdg::GraphAccesses accesses(graph);
  for (Value buffer : accesses.getBuffers())
    for (const etdg::Access &write : accesses.getWrites(buffer))
      for (const etdg::Access &read : accesses.getReads(buffer))
        addCarried(space, buffer, write, read);
  graph.walk([&](etdg::BlockOp block) {
    for (unsigned own = 0; own < block.getNumOwnDims(); ++own)
      if (carried.lookup({itemOf(block), block.getNumAncestors() + own}).empty())
        setOperator(block, own, OperatorKind::Map);
  });
}

/// Dimensions of buffers that are iterations of a dimension that carries the buffer.
SmallVector<std::pair<etdg::BufferOp, unsigned>> GraphFinisher::carriedPlanes() {
  SmallVector<std::pair<etdg::BufferOp, unsigned>> found;
  for (auto [buffer, first, count] : planes)
    for (unsigned d = 0; d < count; ++d) {
      auto carries = [&, dim = first + d, value = buffer.getResult()](auto &entry) {
        return entry.first.second == dim && llvm::is_contained(entry.second, value);
      };
      if (llvm::any_of(carried, carries))
        found.push_back({buffer, d});
    }
  return found;
}

/// Tries with one plane, then two; the verifier says what is enough.
void GraphFinisher::chooseLive() {
  SmallVector<std::pair<etdg::BufferOp, unsigned>> candidates = carriedPlanes();
  if (candidates.empty() || candidates.size() > 24)
    return;
  ScopedDiagnosticHandler quiet(graph.getContext(), [](Diagnostic &) { return success(); });
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

void GraphFinisher::nameFolds() {
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
  const RaisingSets &sets;
  MLIRContext *context;

  IntegerSet makeSet(ArrayRef<Constraint> constraints, unsigned numDims) const {
    return graphwriter::makeSet(context, numDims, sets.getNames().size(), constraints);
  }

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

  /// The read of `type` where `domain` holds.
  etdg::ReadAttr cloneRead(etdg::ReadAttr read, RankedTensorType type, unsigned numDims, const Conjunction &domain,
                           ArrayRef<StringAttr> symbols) const {
    Conjunction known(domain);
    SmallVector<etdg::PieceAttr> pieces;
    unsigned size = numDims + read.getElementRank();
    if (read.getElementRank())
      for (auto [d, extent] : llvm::enumerate(type.getShape())) {
        AffineExpr e = sets.dim(numDims + d);
        known.push_back({e});
        known.push_back({-e + extent - 1});
      }
    for (etdg::PieceAttr piece : read.getPieces()) {
      std::optional<Conjunction> when = sets.simplify(toConjunction(piece.getSet().getValue(), symbols), known);
      if (!when)
        continue;
      SmallVector<etdg::GatherAttr> gathers;
      for (etdg::GatherAttr gather : piece.getGathers())
        gathers.push_back(etdg::GatherAttr::get(context, gather.getPosition(), gather.getOperand(),
                                                AffineMapAttr::get(align(gather.getMap().getValue(), symbols))));
      pieces.push_back(etdg::PieceAttr::get(context, IntegerSetAttr::get(makeSet(*when, size)), piece.getKind(),
                                            piece.getOperand(),
                                            AffineMapAttr::get(align(piece.getMap().getValue(), symbols)), gathers,
                                            piece.getValue()));
    }
    if (pieces.empty()) // never runs here
      pieces.push_back(etdg::PieceAttr::getSplat(
          makeSet({}, size), cast<TypedAttr>(Builder(context).getZeroAttr(type.getElementType()))));
    return etdg::ReadAttr::get(context, pieces, read.getElementRank());
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
    for (auto [i, read] : llvm::enumerate(old.getReads().getAsRange<etdg::ReadAttr>()))
      spec.reads.push_back(cloneRead(read, cast<RankedTensorType>(old.getBody().getArgument(i).getType()),
                                     old.getNumDims(), domain, symbols));
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

/// The conditions of a read's pieces, where the nest itself writes what it reads, and where a scan's iteration
/// decides; none else.
static SmallVector<Conjunction> cutsOf(etdg::BlockOp block, etdg::BlockOp inner, etdg::ReadAttr read,
                                       const RegionCloner &cloner, const llvm::DenseSet<Value> &written) {
  if (read.getPieces().size() < 2)
    return {};
  unsigned size = block.getNumDims(), first = block.getNumAncestors();
  bool reads = false, here = true, scans = false;
  SmallVector<Conjunction> cuts;
  for (etdg::PieceAttr piece : read.getPieces()) {
    if (piece.getKind() == etdg::SourceKind::Buffer)
      reads |= written.contains(inner.getBuffers()[piece.getOperand()]);
    cuts.push_back(cloner.toConjunction(piece.getSet().getValue(), inner.getSymbolNames()));
    for (const Constraint &c : cuts.back())
      c.expr.walk([&](AffineExpr e) {
        if (auto d = dyn_cast<AffineDimExpr>(e)) {
          here &= d.getPosition() < size;
          scans |= d.getPosition() >= first && d.getPosition() < size &&
                   block.getOperator(d.getPosition() - first) == OperatorKind::ScanL;
        }
      });
  }
  return reads && here && scans ? cuts : SmallVector<Conjunction>();
}

/// Each region cut by the conditions; none where that can't be told or where they would be too many.
static std::optional<SmallVector<Conjunction>> cutRegions(const RaisingSets &sets, ArrayRef<Conjunction> regions,
                                                          ArrayRef<Conjunction> cuts, bool withRest) {
  SmallVector<Conjunction> next;
  for (const Conjunction &region : regions) {
    SmallVector<Conjunction> parts;
    for (const Conjunction &cut : cuts)
      if (!sets.isEmpty(region, cut)) {
        parts.push_back(region);
        llvm::append_range(parts.back(), cut);
      }
    if (withRest) {
      FailureOr<SmallVector<Conjunction>> rest = sets.subtract(region, parts);
      if (failed(rest))
        return std::nullopt;
      llvm::append_range(parts, *rest);
    }
    llvm::append_range(next, parts);
  }
  return next.size() <= maxRegions ? std::optional(next) : std::nullopt;
}

SmallVector<Conjunction> GraphFinisher::regionsOf(etdg::BlockOp block, const Conjunction &domain,
                                                  const llvm::DenseSet<Value> &written) {
  RegionCloner cloner{sets, graph.getContext()};
  SmallVector<Conjunction> regions = {domain};
  block.walk([&](etdg::BlockOp inner) {
    for (etdg::ReadAttr read : inner.getReads().getAsRange<etdg::ReadAttr>()) {
      SmallVector<Conjunction> cuts = cutsOf(block, inner, read, cloner, written);
      if (cuts.empty())
        continue;
      // A child that runs under a condition says nothing of the other iterations.
      if (auto next = cutRegions(sets, regions, cuts, /*withRest=*/inner != block))
        regions = std::move(*next);
    }
  });
  return regions;
}

void GraphFinisher::splitBlock(etdg::BlockOp block, const llvm::DenseSet<Value> &written) {
  RegionCloner cloner{sets, graph.getContext()};
  Conjunction ancestors, domain;
  for (etdg::BlockOp b = block; b; b = b.getParentBlock()) {
    Conjunction own = cloner.toConjunction(b.getDomainSet(), b.getSymbolNames());
    llvm::append_range(domain, own);
    if (b != block)
      llvm::append_range(ancestors, own);
  }
  SmallVector<Conjunction> regions = regionsOf(block, domain, written);
  if (regions.size() < 2)
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(block);
  for (const Conjunction &region : regions) {
    IRMapping mapping;
    cloner.clone(builder, block, region, ancestors, "r" + std::to_string(numBlocks++), mapping);
  }
  block.erase();
}

void GraphFinisher::splitNest(ArrayRef<etdg::BlockOp> nest) {
  llvm::DenseSet<Value> written;
  for (etdg::BlockOp block : nest)
    block.walk([&](etdg::BlockOp inner) {
      for (etdg::WriteAttr write : inner.getWrites().getAsRange<etdg::WriteAttr>())
        written.insert(inner.getBuffers()[write.getOperand()]);
    });
  for (etdg::BlockOp block : nest)
    splitBlock(block, written);
}

void GraphFinisher::splitRegions() {
  SmallVector<etdg::NestOp> nests;
  graph.walk<WalkOrder::PostOrder>([&](etdg::NestOp nest) { nests.push_back(nest); });
  for (etdg::NestOp nest : nests)
    splitNest(etdg::blocksOf(nest));
  // Names in textual order.
  unsigned number = 0;
  graph.walk<WalkOrder::PreOrder>([&](etdg::BlockOp block) {
    block.setBlockNameAttr(builder.getStringAttr("r" + std::to_string(number++)));
  });
}

void mlir::ft::raising::finishGraph(etdg::GraphOp graph, const RaisingSets &sets, ArrayRef<IterationPlanes> planes,
                                    unsigned numBlocks) {
  GraphFinisher(graph, sets, planes, numBlocks).finish();
}
