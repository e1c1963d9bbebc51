//===- Products.cpp - products of matrices in tiles -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which nests of a leaf a thread block can compute as tiles whose operands go
// through shared memory, which nests after them stay in registers with them, and
// of what size tiles are.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/LeafGraph/Contractions.h"
#include "ft/Schedule/GPU/Layouts/RowRuns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::schedule;
using Rows = ProductTiles::Rows;

//===----------------------------------------------------------------------===//
// Which nests
//===----------------------------------------------------------------------===//

static int64_t productOf(const Nest &nest, ArrayRef<int> loops) {
  int64_t size = 1;
  for (int loop : loops)
    size *= nest.sizes[loop];
  return size;
}

/// Whether elements of the view are told from its strides alone, and lie in memory as they are computed.
static bool isPlain(const LeafGraph &graph, const ElementView &view) {
  if (!view.terms.empty() || view.hasBorders())
    return false;
  Type element = view.isSplat() ? view.splat.getType() : graph.buffers[view.buffer].elementType;
  return element.isSignlessIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0;
}

/// Whether a factor of a product is such a matrix, with zeros beyond its borders.
static bool isFactor(const LeafGraph &graph, ElementView view) {
  if (view.hasBorders() && !matchPattern(view.outside, m_AnyZeroFloat()) && !matchPattern(view.outside, m_Zero()))
    return false;
  view.borders.clear();
  return isPlain(graph, view);
}

/// The input that a view is of, null where it is of none.
static const InputForm *inputOf(const LeafForm &form, const ElementView &view) {
  if (view.isSplat() || form.graph.buffers[view.buffer].kind != Buffer::Kind::Input)
    return nullptr;
  return &form.inputs[form.graph.buffers[view.buffer].number];
}

static bool countsAlongRows(const LeafForm &form, const ElementView &view) {
  const InputForm *input = inputOf(form, view);
  return input && input->hasIndex;
}

/// The rows of the call are one more digit of m or n, or a batch; false if there is no place for them.
static bool placeRows(const LeafForm &form, const Nest &nest, ProductTiles &product) {
  std::optional<Rows> found;
  for (auto [member, operands] : llvm::zip_equal(nest.members, product.operands)) {
    bool inLhs = form.graph.isBatched(member.reads[operands.first]), inRhs = form.graph.isBatched(member.reads[operands.second]);
    bool isWritten = form.graph.isBatched(member.writes.front());
    Rows own = !isWritten ? Rows::none : inLhs && !inRhs ? Rows::m : inRhs && !inLhs ? Rows::n : Rows::batch;
    if (isWritten != (inLhs || inRhs) || (found && *found != own))
      return false;
    found = own;
  }
  product.rows = *found;
  return true;
}

/// Rows of the call that alone are the columns of a product are its rows: a row times a matrix reads the same whichever factor stands first.
static void turnToRows(ProductTiles &product, MutableArrayRef<Contraction> found) {
  if (product.rows != Rows::n || !product.loops.n.empty())
    return;
  for (auto [own, operands] : llvm::zip_equal(found, product.operands)) {
    std::swap(own.m, own.n);
    std::swap(own.lhs, own.rhs);
    std::swap(own.lhsUnsigned, own.rhsUnsigned);
    operands = {own.lhs, own.rhs};
  }
  product.loops = found.front();
  product.rows = Rows::m;
}

/// The loop of the columns is the outermost of m or n, and the only digit there whose size the call decides.
static bool placeColumns(int splitLoop, ProductTiles &product) {
  product.splitLoop = splitLoop;
  if (splitLoop < 0)
    return true;
  for (auto [loops, rows] : {std::pair(ArrayRef<int>(product.loops.m), Rows::m), {ArrayRef<int>(product.loops.n), Rows::n}})
    if (!loops.empty() && loops.front() == splitLoop)
      return product.rows != rows;
  return false;
}

/// Whether what the member reads and writes lets a tile have it; `why` not.
static bool hasPlainOperands(const LeafForm &form, const NestMember &member, const Contraction &found, std::string &why) {
  const ElementView &lhs = member.reads[found.lhs], &rhs = member.reads[found.rhs];
  for (const ElementView *view : {&lhs, &rhs, &member.inits.front(), &member.writes.front()}) {
    bool fits = view == &lhs || view == &rhs ? isFactor(form.graph, *view) : isPlain(form.graph, *view);
    if (!fits || countsAlongRows(form, *view)) {
      why = "an operand is no matrix of whole bytes at places that strides tell";
      return false;
    }
  }
  for (const ElementView *view : {&lhs, &rhs})
    if (const InputForm *input = inputOf(form, *view); input && input->hasSplat && !fitsAsConstant(input->type)) {
      why = "an operand is one value at some iterations, and too large for a constant";
      return false;
    }
  return true;
}

/// Whether members read, or add to, what others of them write.
static bool readEachOther(const Nest &nest) {
  for (const NestMember &member : nest.members)
    for (const NestMember &other : nest.members)
      for (auto *views : {&other.reads, &other.inits})
        for (const ElementView &view : *views)
          if (&member != &other && view.buffer == member.writes.front().buffer)
            return true;
  return false;
}

/// The types of the products' elements; false where they differ, or an operand is wider than the sum.
static bool findTypes(const LeafForm &form, const Nest &nest, ArrayRef<Contraction> found, ProductTiles &product, std::string &why) {
  for (auto [member, own] : llvm::zip_equal(nest.members, found)) {
    Type lhs = form.graph.buffers[member.reads[own.lhs].buffer].elementType;
    Type rhs = form.graph.buffers[member.reads[own.rhs].buffer].elementType;
    Type sum = leaf::accumulatedType(member, member.accumulators.front().getType());
    bool isSame = own.lhsUnsigned == found.front().lhsUnsigned && own.rhsUnsigned == found.front().rhsUnsigned;
    if (product.sum && (lhs != product.lhs || rhs != product.rhs || sum != product.sum || !isSame)) {
      why = "products of one nest have different types";
      return false;
    }
    product.lhs = lhs, product.rhs = rhs, product.sum = sum;
  }
  for (Type operand : {product.lhs, product.rhs})
    if (operand != product.sum && operand.getIntOrFloatBitWidth() >= product.sum.getIntOrFloatBitWidth()) {
      why = "an operand is wider than the sum";
      return false;
    }
  return true;
}

static void findSweeps(const Nest &nest, ProductTiles &product) {
  auto lhsOf = [&](unsigned member) -> const ElementView & { return nest.members[member].reads[product.operands[member].first]; };
  for (unsigned i = 0; i < nest.members.size(); ++i) {
    auto *found = llvm::find_if(product.sweeps, [&](ArrayRef<unsigned> sweep) { return lhsOf(sweep.front()) == lhsOf(i); });
    if (found == product.sweeps.end())
      product.sweeps.push_back({i});
    else
      found->push_back(i);
  }
}

int64_t ProductTiles::getWidest() const {
  size_t widest = 1;
  for (const SmallVector<unsigned> &sweep : sweeps)
    widest = std::max(widest, sweep.size());
  return int64_t(widest);
}

std::optional<ProductTiles> schedule::matchProduct(const LeafForm &form, unsigned number, const TileContext &context,
                                                   std::string &why) {
  const Nest &nest = form.graph.nests[number];
  SmallVector<Contraction, 0> found = matchContractions(nest);
  if (found.empty()) {
    why = "the nest is no sum of products of two operands";
    return std::nullopt;
  }
  ProductTiles product;
  product.loops = found.front();
  for (auto [member, own] : llvm::zip_equal(nest.members, found)) {
    product.operands.push_back({own.lhs, own.rhs});
    if (!hasPlainOperands(form, member, own, why))
      return std::nullopt;
  }
  if (readEachOther(nest)) {
    why = "one of its products reads what another one writes";
    return std::nullopt;
  }
  if (context.lifted || nest.last) {
    why = "a dimension is lifted into the leaf";
    return std::nullopt;
  }
  if (!form.splits.empty() && form.splits[number].kind == NestSplit::first) {
    why = "one thread block alone computes the nest";
    return std::nullopt;
  }
  bool hasRows = nest.batched && context.maxRows > 1;
  int splitLoop = context.splitLoop < 0 ? -1 : form.splits[number].loop;
  bool isPlaced = !hasRows || placeRows(form, nest, product);
  turnToRows(product, found);
  if (!isPlaced || !placeColumns(splitLoop, product)) {
    why = "rows or columns of the call fit neither side of the product";
    return std::nullopt;
  }
  if (!findTypes(form, nest, found, product, why))
    return std::nullopt;
  findSweeps(nest, product);
  product.sums = int64_t(nest.members.size());
  return product;
}

//===----------------------------------------------------------------------===//
// What stays in registers after a product
//===----------------------------------------------------------------------===//

/// A view of the product's nest as one over its parallel loops.
static ElementView withoutReduced(const Nest &nest, ElementView view) {
  SmallVector<int64_t> strides;
  for (auto [stride, reduced] : llvm::zip_equal(view.strides, nest.reduced))
    if (!reduced)
      strides.push_back(stride);
  view.strides = strides;
  return view;
}

namespace {
/// Takes nests after a product one by one, as long as they meet its tile point by point.
class Fuser {
public:
  Fuser(const LeafForm &form, unsigned number, const ProductTiles &product, const TileContext &context, bool wholeRows, bool joins)
      : form(form), graph(form.graph), nest(graph.nests[number]), product(product), context(context),
        wholeRows(wholeRows && hasWholeRows(form, product)), joins(joins) {
    fused.sums = product.sums;
    for (auto [i, reduced] : llvm::enumerate(nest.reduced))
      if (!reduced) {
        if (int(i) == product.splitLoop)
          splitLoop = int(parallel.size());
        parallel.push_back(nest.sizes[i]);
        alongRow.push_back(llvm::is_contained(product.loops.n, int(i)));
        if (!alongRow.back())
          ofRows.push_back(nest.sizes[i]);
      }
    for (auto [member, operands] : llvm::zip_equal(nest.members, product.operands)) {
      inRegisters.push_back(withoutReduced(nest, member.writes.front()));
      elsewhere.push_back(member.reads[operands.first].buffer);
      elsewhere.push_back(member.reads[operands.second].buffer);
      elsewhere.push_back(member.inits.front().buffer);
    }
  }

  /// Takes all nests from `next` on that it can.
  FusedNests takeFrom(unsigned next, int64_t most) {
    for (; fused.count < most && next < graph.nests.size() && take(next); ++next)
      ++fused.count;
    return fused;
  }

private:
  bool take(unsigned next) {
    const Nest &candidate = graph.nests[next];
    if (llvm::is_contained(candidate.reduced, true) && takeProduct(next))
      return true;
    bool isPointwise = candidate.sizes == parallel && !llvm::is_contained(candidate.reduced, true);
    bool isRow = wholeRows && isRowWise(candidate), reduces = wholeRows && isReductionOfRows(candidate);
    if ((!isPointwise && !isRow && !reduces) || candidate.last || candidate.batched != nest.batched)
      return false;
    if (!form.splits.empty()) {
      const NestSplit &split = form.splits[next];
      if ((split.kind == NestSplit::shared ? split.loop : -1) != splitLoop || split.kind == NestSplit::first)
        return false;
    }
    // Beside a reduction there may be what computes its terms.
    return llvm::all_of(candidate.members, [&](const NestMember &member) {
      return (reduces || !member.isReduction()) && takeMember(member, isRow || member.isReduction());
    });
  }

  /// A product with the same tile, rows and columns, which adds to what is in registers, or to something else that this tile does
  /// not change.
  bool takeProduct(unsigned next) {
    const Nest &candidate = graph.nests[next];
    std::string why;
    std::optional<ProductTiles> other =
        joins && context.lifts == 1 ? matchProduct(form, next, context, why) : std::optional<ProductTiles>();
    if (!form.splits.empty() && form.splits[next].kind != form.splits[&nest - graph.nests.data()].kind)
      return false;
    if (!other || other->rows != product.rows || other->lhs != product.lhs || other->rhs != product.rhs || other->sum != product.sum ||
        candidate.batched != nest.batched || !hasSameLoops(candidate, *other) || ordersOf(candidate, *other) != ordersOf(nest, product))
      return false;
    for (auto [member, operands] : llvm::zip_equal(candidate.members, other->operands)) {
      ElementView init = withoutReduced(candidate, member.inits.front()), result = withoutReduced(candidate, member.writes.front());
      for (const ElementView *view : {&member.reads[operands.first], &member.reads[operands.second]}) {
        if (isWritten(view->buffer))
          return false;
        elsewhere.push_back(view->buffer);
      }
      bool goesOn = llvm::is_contained(inRegisters, init);
      if (!takeRead(init) || llvm::is_contained(elsewhere, result.buffer) || isWritten(result.buffer))
        return false;
      inRegisters.push_back(result);
      fused.sums += !goesOn;
    }
    fused.products.push_back(next);
    return true;
  }
  /// Which operands have adjacent terms. Products of one tile share the memory that operands are staged in.
  static std::pair<bool, bool> ordersOf(const Nest &of, const ProductTiles &product) {
    const Contraction &loops = product.loops;
    const NestMember &member = of.members.front();
    return {isAlongTerms(of, member.reads[size_t(loops.lhs)], loops.m, loops.k),
            isAlongTerms(of, member.reads[size_t(loops.rhs)], loops.n, loops.k)};
  }
  /// Whether the parallel loops of another product are those of this one, in the same order and each of the same digit.
  bool hasSameLoops(const Nest &candidate, const ProductTiles &other) const {
    auto digitsOf = [](const Nest &of, const ProductTiles &product) {
      SmallVector<std::tuple<int64_t, int, bool>> digits;
      for (auto [i, reduced] : llvm::enumerate(of.reduced))
        if (!reduced)
          digits.push_back({of.sizes[i],
                            llvm::is_contained(product.loops.m, int(i))   ? 0
                            : llvm::is_contained(product.loops.n, int(i)) ? 1
                                                                          : 2,
                            int(i) == product.splitLoop});
      return digits;
    };
    return digitsOf(candidate, other) == digitsOf(nest, product);
  }
  /// Rows can be whole in a tile: no thread block, and no other element of the call, has a part of them.
  static bool hasWholeRows(const LeafForm &form, const ProductTiles &product) {
    return form.splits.empty() && product.splitLoop < 0 && product.rows != Rows::n && !product.loops.n.empty();
  }
  bool isReductionOfRows(const Nest &candidate) const {
    return candidate.sizes == parallel && ArrayRef<bool>(candidate.reduced) == ArrayRef<bool>(alongRow);
  }
  bool isRowWise(const Nest &candidate) const {
    return candidate.sizes == ofRows && !llvm::is_contained(candidate.reduced, true);
  }
  static bool canReduce(const NestMember &member) {
    return llvm::all_of(member.combiners, [](Operation *combiner) {
      return combiner && combiner->getNumResults() == 1 && arith::getNeutralElement(combiner);
    });
  }
  /// Whether a value is a flag that an input has in memory: a byte there.
  bool isFlag(const ElementView &view) const {
    if (view.isSplat() || !view.terms.empty() || view.hasBorders())
      return false;
    const Buffer &buffer = graph.buffers[view.buffer];
    return buffer.elementType.isInteger(1) && buffer.kind == Buffer::Kind::Input;
  }
  /// Whether a value may pass from one member to another in registers; flags, too, which are no bytes of memory.
  bool isHandedOn(const ElementView &view) const {
    if (view.isSplat() || !view.terms.empty() || view.hasBorders())
      return isPlain(graph, view);
    const Buffer &buffer = graph.buffers[view.buffer];
    return isPlain(graph, view) || (buffer.elementType.isInteger(1) && buffer.kind == Buffer::Kind::Scratch && !buffer.inMemory);
  }
  bool takeRead(const ElementView &read) {
    // (A number that counts along the rows of the call does so along a side of the tile.)
    if ((!isHandedOn(read) && !isFlag(read)) || (countsAlongRows(form, read) && context.lifts > 1))
      return false;
    ElementView view = viewOverTile(nest, product, read);
    bool known = llvm::is_contained(inRegisters, view);
    if (!known && !view.isSplat() && isWritten(view.buffer))
      return false;
    if (!known && !view.isSplat())
      elsewhere.push_back(view.buffer);
    return true;
  }
  /// `ofRow`: the member has one result for each row.
  bool takeMember(const NestMember &member, bool ofRow) {
    bool readsMemory = llvm::any_of(member.captured, [](const auto &captured) { return !captured.second.isSplat(); });
    if (readsMemory || hasRegions(member) || !canReduce(member))
      return false;
    // Where an element lies its row and column say; columns that thread blocks share have another begin in each.
    if (usesIndices(member) && (member.isReduction() || product.splitLoop >= 0))
      return false;
    if (!llvm::all_of(member.reads, [&](const ElementView &view) { return takeRead(view); }) ||
        !llvm::all_of(member.inits, [&](const ElementView &view) { return takeRead(view); }))
      return false;
    for (const ElementView &write : member.writes) {
      // Other tiles may still read what is there.
      ElementView view = viewOverTile(nest, product, write);
      if (!isHandedOn(view) || llvm::is_contained(elsewhere, view.buffer) || isWritten(view.buffer))
        return false;
      for (auto [stride, inRow] : llvm::zip_equal(view.strides, alongRow))
        if ((stride == 0) != (ofRow && inRow))
          return false;
      inRegisters.push_back(view);
    }
    return true;
  }
  bool isWritten(int buffer) const {
    return llvm::any_of(inRegisters, [&](const ElementView &view) { return view.buffer == buffer; });
  }
  static bool usesIndices(const NestMember &member) {
    return member.body && !member.body->getOps<linalg::IndexOp>().empty();
  }
  static bool hasRegions(const NestMember &member) {
    return member.body && llvm::any_of(*member.body, [](Operation &op) { return op.getNumRegions() != 0; });
  }

  const LeafForm &form;
  const LeafGraph &graph;
  const Nest &nest;
  const ProductTiles &product;
  const TileContext &context;
  bool wholeRows, joins;
  FusedNests fused;
  SmallVector<int64_t> parallel, ofRows; // sizes; without those along a row
  SmallVector<bool> alongRow;            // of the parallel loops
  int splitLoop = -1;
  SmallVector<ElementView> inRegisters;
  SmallVector<int> elsewhere;
};
} // namespace

ElementView schedule::viewOverTile(const Nest &nest, const ProductTiles &product, ElementView view) {
  SmallVector<bool> alongRow;
  for (auto [i, reduced] : llvm::enumerate(nest.reduced))
    if (!reduced)
      alongRow.push_back(llvm::is_contained(product.loops.n, int(i)));
  if (view.isSplat() || view.strides.size() == alongRow.size())
    return view;
  SmallVector<int64_t> strides;
  const int64_t *next = view.strides.begin();
  for (bool inRow : alongRow)
    strides.push_back(inRow ? 0 : *next++);
  view.strides = strides;
  return view;
}

FusedNests schedule::findFused(const LeafForm &form, unsigned number, const ProductTiles &product, const TileContext &context,
                               bool wholeRows, bool joins, int64_t most) {
  return Fuser(form, number, product, context, wholeRows, joins).takeFrom(number + 1, most);
}

SmallVector<int> schedule::keptInRegisters(const LeafForm &form, unsigned number, int64_t fused) {
  const LeafGraph &graph = form.graph;
  SmallVector<bool> isTouched(graph.buffers.size()), isKept(graph.buffers.size());
  auto touch = [](SmallVectorImpl<bool> &set, ArrayRef<ElementView> views) {
    for (const ElementView &view : views)
      if (!view.isSplat())
        set[view.buffer] = true;
  };
  for (auto [i, nest] : llvm::enumerate(graph.nests)) {
    bool isInside = int64_t(i) >= number && int64_t(i) <= number + fused;
    for (const NestMember &member : nest.members) {
      touch(isInside ? isKept : isTouched, member.writes);
      if (isInside)
        continue;
      touch(isTouched, member.reads);
      touch(isTouched, member.inits);
      for (const auto &[value, view] : member.captured)
        touch(isTouched, view);
      for (auto *views : {&member.reads, &member.inits, &member.writes})
        for (const ElementView &view : *views)
          for (const DynamicTerm &term : view.terms)
            isTouched[term.buffer] = true;
    }
  }
  SmallVector<int> kept;
  for (auto [i, buffer] : llvm::enumerate(graph.buffers))
    if (buffer.kind == Buffer::Kind::Scratch && isKept[i] && !isTouched[i])
      kept.push_back(int(i));
  return kept;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::pair<int64_t, int64_t> schedule::extentsOf(const LeafForm &form, unsigned number, const ProductTiles &product,
                                                const TileContext &context) {
  const Nest &nest = form.graph.nests[number];
  auto extent = [&](ArrayRef<int> loops, Rows rows) {
    int64_t size = product.rows == rows ? context.maxRows : 1;
    for (int loop : loops)
      size *= loop == product.splitLoop && context.columnTile ? context.columnTile : nest.sizes[loop];
    return size;
  };
  return {extent(product.loops.m, Rows::m), extent(product.loops.n, Rows::n)};
}

static int64_t bytesOfElement(Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8); }

/// An operand with adjacent terms is staged so.
bool schedule::isAlongTerms(const Nest &nest, const ElementView &view, ArrayRef<int> own, ArrayRef<int> terms) {
  if (view.strides[terms.back()] == 1)
    return true;
  return own.empty() || view.strides[own.back()] != 1;
}

static StagedOperands stageOperands(const LeafForm &form, unsigned number, const ProductTiles &product) {
  const Nest &nest = form.graph.nests[number];
  const NestMember &member = nest.members.front();
  const Contraction &loops = product.loops;
  ArrayRef<int64_t> block = product.attribute.getBlock();
  int64_t step = product.attribute.getStep(), stages = product.attribute.getStages();
  // Rows whose terms are adjacent begin in different banks; so do all rows of which fragments are read.
  auto stage = [&](Type element, int64_t own, bool alongTerms) {
    if (product.attribute.getWgmma()) { // a tile of a channel
      int64_t shape[] = {alongTerms ? own : step, alongTerms ? step : own};
      return tile::SharedType::get(element.getContext(), shape, element, /*pad=*/0, /*stages=*/1, tile::groupSwizzle);
    }
    bool spread = alongTerms || product.attribute.getMma();
    int64_t pad = spread ? std::max<int64_t>(tile::accessBytes / bytesOfElement(element), 1) : 0;
    int64_t shape[] = {alongTerms ? own : step, alongTerms ? step : own};
    return tile::SharedType::get(element.getContext(), shape, element, pad, stages);
  };
  StagedOperands staged;
  staged.lhsTransposed = !isAlongTerms(nest, member.reads[loops.lhs], loops.m, loops.k);
  staged.rhsTransposed = isAlongTerms(nest, member.reads[loops.rhs], loops.n, loops.k);
  staged.lhs = stage(product.lhs, block[0], !staged.lhsTransposed);
  staged.rhs = stage(product.rhs, block[1] * product.getWidest(), staged.rhsTransposed);
  return staged;
}

tile::SharedType StagedOperands::rhsOf(int64_t products, int64_t columns) const {
  SmallVector<int64_t> shape(rhs.getShape());
  shape[rhsTransposed ? 0 : 1] = products * columns;
  return tile::SharedType::get(rhs.getContext(), shape, rhs.getElementType(), rhs.getPad(), rhs.getStages(), rhs.getSwizzle());
}

StagedOperands::Part StagedOperands::partOf(tile::SharedType rhs, int64_t products) const {
  SmallVector<int64_t> shape(rhs.getShape());
  int64_t &columns = shape[rhsTransposed ? 0 : 1], all = columns;
  columns /= products;
  // Beside a part's columns lie those of the others: free for it. Its rows are a stage's next ones: as many more stages.
  if (rhs.getSwizzle())
    return Part{rhs, 0, 0, 1};
  int64_t pad = rhs.getPad() + (rhsTransposed ? 0 : all - columns);
  int64_t stages = rhs.getStages() * (rhsTransposed ? products : 1);
  auto type = tile::SharedType::get(rhs.getContext(), shape, rhs.getElementType(), pad, stages);
  return rhsTransposed ? Part{type, 0, 1, products} : Part{type, columns, 0, 1};
}

/// Whether a tile of so many columns, which so many threads share, holds rows of `size` whole in the lanes of a warp.
static bool holdsRows(int64_t size, int64_t columns, int64_t across, int64_t threads, bool mma) {
  bool isWarp = mma ? across == 4 : across <= tile::warpThreads && llvm::isPowerOf2_64(uint64_t(across));
  return columns >= size && isWarp && threads % tile::warpThreads == 0;
}

namespace {
/// Chooses the tile of a product for blocks of so many threads.
class ProductChooser {
public:
  ProductChooser(const LeafForm &form, unsigned number, const ProductTiles &product, const TileContext &context,
                 const Machine &machine)
      : form(form), number(number), product(product), context(context), machine(machine), planning(machine.gpu), nest(form.graph.nests[number]),
        sums(product.sums) {
    std::tie(m, n) = extentsOf(form, number, product, context);
    k = productOf(nest, product.loops.k);
  }

  /// The cheapest tile; with `wholeRows` of those that hold rows whole in the lanes of a warp, nothing if there is none.
  tile::ProductAttr choose(const FusedNests &behind, bool wholeRows = false) {
    rowsInWarps = wholeRows;
    sums = behind.sums;
    int64_t fused = behind.count;
    if (usesMatrixUnits(product, machine)) {
      if (tile::ProductAttr attribute = chooseFragments(fused))
        return attribute;
      if (wholeRows) // not at the price of the matrix units
        return nullptr;
    }
    double best = 0;
    const int64_t most = registersOfSums(product, machine, context.threads, context.resident, fused > 0, context.alone);
    int64_t block[2] = {}, thread[2] = {};
    for (int64_t rows = 1; rows <= mostThreadRows; rows *= 2)
      for (int64_t columns = 1; columns <= mostThreadColumns; columns *= 2)
        for (int64_t down = 1; down <= context.threads; down *= 2) {
          if (context.threads % down != 0 || rows * columns * words() * sums > most || rows * columns * sums > mostOwnSums ||
              !mayHave(context.threads / down, columns, /*mma=*/false))
            continue;
          double cost = costOf(rows, columns, down * rows, context.threads / down * columns);
          if (best != 0 && cost >= best)
            continue;
          best = cost;
          block[0] = down * rows;
          block[1] = context.threads / down * columns;
          thread[0] = rows;
          thread[1] = columns;
        }
    if (best == 0)
      return nullptr;
    bestCost = best;
    int64_t step = stepOf(termsOfRead);
    return tile::ProductAttr::get(product.sum.getContext(), block, thread, step, k > step ? 2 : 1, /*mma=*/false, fused);
  }

  /// The same for warp groups: all threads beneath each other, with all columns that a block has; nothing where these or the rows don't fill it.
  tile::ProductAttr chooseGroups(const FusedNests &behind) {
    using P = tile::ProductAttr;
    const int64_t fused = behind.count;
    const int64_t groups = context.threads / tile::PipelineAttr::groupThreads, rows = groups * P::groupRows;
    if (context.threads % tile::PipelineAttr::groupThreads != 0 || groups > tile::PipelineAttr::mostComputers)
      return nullptr;
    // (Several products may go on from the same sums.)
    int64_t together = behind.sums;
    for (unsigned joined : behind.products)
      together = std::max(together, int64_t(form.graph.nests[joined].members.size()));
    const int64_t unit = columnUnitOfGroups(nest, product);
    const int64_t columns = std::min<int64_t>(int64_t(llvm::alignTo(n, unit)), P::mostGroupColumns / together / unit * unit);
    const int64_t own[] = {2, columns / warpColumns};
    if (termsOfGroups(form, number, behind) < P::groupStep * planning.productLongSteps) // a few steps fill no pipeline
      return nullptr;
    if (columns == 0 || m < rows || n < P::groupColumnUnit || own[0] * own[1] * together > mostOwnSums)
      return nullptr;
    return P::get(product.sum.getContext(), ArrayRef<int64_t>{rows, columns}, own, P::groupStep, /*stages=*/1, /*mma=*/false, /*wgmma=*/true, /*joined=*/false,
                  /*carried=*/false, fused, tile::BlockedAttr(), tile::MoveAttr(), tile::MoveAttr(), tile::ReadsAttr(), ArrayRef<int64_t>());
  }

  /// The same for warps that multiply fragments; nothing where threads are no whole warps.
  tile::ProductAttr chooseFragments(int64_t fused) {
    int64_t warps = context.threads / (warpRows * warpColumns), block[2] = {}, thread[2] = {};
    if (context.threads % (warpRows * warpColumns) != 0)
      return nullptr;
    double best = 0;
    const int64_t most = registersOfSums(product, machine, context.threads, context.resident, fused > 0, context.alone);
    for (int64_t rows = 2; rows <= mostFragmentRows; rows *= 2)
      for (int64_t columns = 2; columns <= mostFragmentColumns; columns *= 2)
        for (int64_t down = 1; down <= warps; down *= 2) {
          if (warps % down != 0 || rows * columns * sums > most || rows * columns * sums > mostOwnSums || !mayHave(warps / down * warpColumns, columns, /*mma=*/true))
            continue;
          double cost = costOf(rows, columns, down * warpRows * rows, warps / down * warpColumns * columns);
          if (best != 0 && cost >= best)
            continue;
          best = cost;
          block[0] = down * warpRows * rows;
          block[1] = warps / down * warpColumns * columns;
          thread[0] = rows;
          thread[1] = columns;
        }
    if (best == 0)
      return nullptr;
    bestCost = best;
    int64_t step = stepOf(tile::ProductAttr::fragmentTerms);
    return tile::ProductAttr::get(product.sum.getContext(), block, thread, step, stagesOf(block, step, fused), /*mma=*/true, fused);
  }

  /// Of the tile chosen last: the products of a tile, this one and those joined, in seconds of the whole machine.
  double seconds(const FusedNests &behind) const { return bestCost * double(k) * double(nest.members.size() + behind.products.size()); }
  /// What it takes to leave so many results in memory, and to read them again.
  double secondsOfResults(int64_t results) const {
    const Machine::Level *cache = machine.findLevel("l2");
    double bytes = 2 * double(m) * double(n) * double(results) * double(bytesOfElement(product.sum));
    return cache && cache->readBytesPerSecond > 0 ? bytes / cache->readBytesPerSecond : 0;
  }

private:
  /// Terms that a thread reads of an operand at a time, 16 bytes of f32.
  static constexpr int64_t termsOfRead = 4;
  /// How a fragment's accumulator lies in the lanes of a warp.
  static constexpr int64_t warpRows = 8, warpColumns = 4;
  /// Bounds of the search; together they have the sums that a thread's registers hold, which bounds it closer.
  static constexpr int64_t mostThreadRows = 16, mostThreadColumns = mostOwnSums / mostThreadRows;
  static constexpr int64_t mostFragmentRows = 8, mostFragmentColumns = mostOwnSums / mostFragmentRows;
  int64_t elementBytes() const { return std::max(bytesOfElement(product.lhs), bytesOfElement(product.rhs)); }
  int64_t words() const { return std::max<int64_t>(bytesOfElement(product.sum) / 4, 1); }
  /// Terms of a step: a power of two, at least so many. A long sum takes twice as many in a step and waits half as often: leaves that are
  /// such a product keep little else in shared memory.
  int64_t stepOf(int64_t least) const {
    auto most = int64_t(llvm::bit_floor(uint64_t(std::max(planning.productStepBytes / elementBytes(), least))));
    if (k >= planning.productLongSteps * most)
      most *= 2;
    return std::clamp<int64_t>(int64_t(llvm::PowerOf2Ceil(uint64_t(k))), least, most);
  }
  /// Stages of a step's operands: two, or as many as there is room for where no other thread block computes while this one waits for the common
  /// cache, whose latency is longer than a step.
  int64_t stagesOf(ArrayRef<int64_t> block, int64_t step, int64_t fused) const {
    SmallVector<int> inRegisters = keptInRegisters(form, number, fused);
    int64_t room = context.stageBytes;
    for (auto [i, buffer] : llvm::enumerate(form.graph.buffers))
      if (buffer.kind == Buffer::Kind::Scratch && buffer.inMemory && !llvm::is_contained(inRegisters, int(i)))
        room -= buffer.numElements * bytesOfElement(buffer.elementType) * (buffer.batched ? context.maxRows : 1);
    int64_t own = elementBytes(), sides[] = {block[0], block[1] * product.getWidest()}, bytes = 0;
    for (int64_t side : sides) // (either side may be padded: `stageOperands`)
      bytes += std::max(side * (step * own + tile::accessBytes), step * (side * own + tile::accessBytes));
    int64_t most = std::clamp<int64_t>(room / bytes, 2, mostStages);
    return std::min<int64_t>(llvm::divideCeil(k, step), most);
  }
  /// Whether so many threads side by side, with so many columns each, do what is asked of rows.
  bool mayHave(int64_t across, int64_t columns, bool mma) const {
    if (product.getWidest() > 1 && across * columns * bytesOfElement(product.rhs) % tile::accessBytes != 0)
      return false;
    return !rowsInWarps || holdsRows(n, across * columns, across, context.threads, mma);
  }
  /// Multiply-adds, padding included.
  double costOf(int64_t rows, int64_t columns, int64_t blockRows, int64_t blockColumns) const {
    double work = double(llvm::alignTo(m, blockRows)) * double(llvm::alignTo(n, blockColumns));
    // What products side by side share is read once for all of them.
    int64_t widest = product.getWidest();
    return work * secondsInTiles(product, machine, {rows, columns * widest, blockRows, blockColumns * widest});
  }

  const LeafForm &form;
  unsigned number;
  const ProductTiles &product;
  const TileContext &context;
  const Machine &machine;
  const Machine::GpuPlanning &planning;
  const Nest &nest;
  /// More steps ahead hide no more: they take a stage each, and the first ones come later.
  static constexpr int64_t mostStages = 4;
  int64_t m = 1, n = 1, k = 1, sums = 1;
  double bestCost = 0;
  bool rowsInWarps = false;
};
} // namespace

bool schedule::fitsMatrixUnits(const ProductTiles &product) {
  return isHalf(product.lhs) && product.lhs == product.rhs && product.sum.isF32();
}

bool schedule::hasGroups(const Machine &machine) {
  return machine.rates.bf16MmaFlops > machine.rates.f32Flops && llvm::is_contained(machine.targets, "sm_90a"); // whose PTX alone has wgmma
}

/// Whether neighbours along an axis lie at one distance, from the first to the last.
static bool isOneRun(const Nest &nest, const ElementView &view, ArrayRef<int> loops) {
  int64_t next = 0; // the distance of the loop outside
  for (int loop : llvm::reverse(loops)) {
    if (nest.sizes[loop] == 1)
      continue;
    if (view.strides[loop] <= 0 || (next != 0 && view.strides[loop] != next))
      return false;
    next = view.strides[loop] * nest.sizes[loop];
  }
  return true;
}

bool schedule::fitsTensorMap(const LeafForm &form, const Nest &nest, const ElementView &view, ArrayRef<int> own, ArrayRef<int> terms) {
  if (!inputOf(form, view) || view.hasBorders() || !view.terms.empty())
    return false;
  const Buffer &buffer = form.graph.buffers[view.buffer];
  const int64_t unit = tile::accessBytes / bytesOfElement(buffer.elementType);
  if (buffer.batched && buffer.numElements % unit != 0)
    return false;
  unsigned adjacent = 0;
  for (ArrayRef<int> loops : {own, terms}) {
    if (!isOneRun(nest, view, loops))
      return false;
    for (int loop : loops) {
      const int64_t stride = view.strides[loop];
      const bool isAdjacent = stride == 1 && loop == loops.back();
      adjacent += isAdjacent;
      if (!isAdjacent && stride % unit != 0)
        return false;
    }
  }
  return adjacent == 1 && view.offset % unit == 0;
}

bool schedule::fitsGroups(const LeafForm &form, unsigned number, const ProductTiles &product) {
  const Nest &nest = form.graph.nests[number];
  const Contraction &loops = product.loops;
  // Right operands are of one kind: those of products with a left operand in common are parts of a tile.
  if (!fitsMatrixUnits(product) || product.rows == Rows::batch)
    return false;
  const NestMember &first = nest.members.front();
  return llvm::all_of(llvm::zip_equal(nest.members, product.operands), [&](const auto &own) {
    const auto &[member, operands] = own;
    const ElementView &lhs = member.reads[size_t(operands.first)], &rhs = member.reads[size_t(operands.second)];
    return fitsTensorMap(form, nest, lhs, loops.m, loops.k) && fitsTensorMap(form, nest, rhs, loops.n, loops.k) &&
           isAlongTerms(nest, rhs, loops.n, loops.k) == isAlongTerms(nest, first.reads[size_t(loops.rhs)], loops.n, loops.k);
  });
}

int64_t schedule::columnUnitOfGroups(const Nest &nest, const ProductTiles &product) {
  if (product.getWidest() == 1)
    return tile::ProductAttr::groupColumnUnit;
  // A part of a tile is whole slabs, or whole eights of rows.
  const bool alongTerms = isAlongTerms(nest, nest.members.front().reads[size_t(product.loops.rhs)], product.loops.n, product.loops.k);
  return alongTerms ? tile::ProductAttr::groupColumnUnit : tile::groupSwizzle / bytesOfElement(product.rhs);
}

bool schedule::usesMatrixUnits(const ProductTiles &product, const Machine &machine) {
  return fitsMatrixUnits(product) && machine.rates.bf16MmaFlops > machine.rates.f32Flops;
}

/// Whether the leaf is a product and what is computed with it: nothing else needs all threads of a block.
static bool isAllFused(const LeafForm &form, unsigned number, const FusedNests &behind) {
  return number == 0 && size_t(behind.count) + 1 == form.graph.nests.size();
}

int64_t schedule::termsOfGroups(const LeafForm &form, unsigned number, const FusedNests &behind) {
  auto termsOf = [&](unsigned nest) {
    int64_t terms = 1;
    for (auto [size, reduced] : llvm::zip_equal(form.graph.nests[nest].sizes, form.graph.nests[nest].reduced))
      terms *= reduced ? size : 1;
    return terms;
  };
  int64_t terms = termsOf(number);
  for (unsigned joined : behind.products)
    terms += termsOf(joined);
  return terms;
}

bool schedule::isAllOfGroups(const LeafForm &form, unsigned number, const ProductTiles &product, const FusedNests &behind, const TileContext &context) {
  if (!isAllFused(form, number, behind))
    return false;
  return llvm::all_of(behind.products, [&](unsigned next) {
    std::string why;
    std::optional<ProductTiles> other = matchProduct(form, next, context, why);
    return other && fitsGroups(form, next, *other);
  });
}

tile::ProductAttr schedule::chooseProduct(const LeafForm &form, unsigned number, const TileContext &context,
                                          const Machine &machine) {
  if (!context.products || !llvm::isPowerOf2_64(uint64_t(context.threads)))
    return nullptr;
  std::string why;
  std::optional<ProductTiles> product = matchProduct(form, number, context, why);
  if (!product)
    return nullptr;
  auto [m, n] = extentsOf(form, number, *product, context);
  // Fewer elements leave threads idle, which slices of sums use better; few terms are not worth the way.
  int64_t least = machine.gpu.productSide / 4;
  if (m * n < context.threads * least || std::min(m, n) < least || productOf(form.graph.nests[number], product->loops.k) < least)
    return nullptr;
  ProductChooser chooser(form, number, *product, context, machine);
  // (A block that shares its SM leaves its loader no room.)
  if (context.groups && hasGroups(machine) && context.resident == 1 && fitsGroups(form, number, *product)) {
    FusedNests behind = findFused(form, number, *product, context);
    if (tile::ProductAttr attribute = isAllOfGroups(form, number, *product, behind, context) ? chooser.chooseGroups(behind) : nullptr)
      return attribute;
  }
  FusedNests fused = findFused(form, number, *product, context), withRows = findFused(form, number, *product, context, /*wholeRows=*/true);
  if (withRows.count > fused.count)
    if (tile::ProductAttr attribute = chooser.choose(withRows, /*wholeRows=*/true))
      return attribute;
  tile::ProductAttr together = chooser.choose(fused);
  if (fused.sums == product->sums)
    return together;
  // More sums in a thread leave smaller tiles: what this costs against bringing the others' results from memory.
  double secondsTogether = together ? chooser.seconds(fused) : std::numeric_limits<double>::infinity();
  tile::ProductAttr apart = chooser.choose(findFused(form, number, *product, context, /*wholeRows=*/false, /*joins=*/false));
  double secondsApart = apart ? chooser.seconds(fused) + chooser.secondsOfResults(fused.sums) : std::numeric_limits<double>::infinity();
  return secondsTogether <= secondsApart ? together : apart;
}

std::string schedule::checkJoined(tile::ProductAttr joined, tile::ProductAttr with) {
  std::string wrong;
  llvm::raw_string_ostream os(wrong);
  if (joined.getBlock() != with.getBlock() || joined.getThread() != with.getThread() || joined.getStep() != with.getStep() ||
      joined.getStages() != with.getStages() || joined.getMma() != with.getMma() || joined.getWgmma() != with.getWgmma() || joined.getResult() != with.getResult())
    os << "a joined product has the tile of the one that it is computed with, " << with << "; found " << joined;
  return wrong;
}

FailureOr<ProductTiles> schedule::readProduct(tile::ProductAttr attribute, const LeafForm &form, unsigned number,
                                              const TileContext &context, std::string &wrong) {
  std::optional<ProductTiles> product = matchProduct(form, number, context, wrong);
  if (!product)
    return failure();
  if (attribute.getNumThreads() != context.threads) {
    wrong = "the tile is for " + std::to_string(attribute.getNumThreads()) + " threads, the block has " +
            std::to_string(context.threads);
    return failure();
  }
  if (attribute.usesMatrixUnits() && !fitsMatrixUnits(*product)) {
    wrong = "mma multiplies f16 or bf16, both operands alike, and adds up to f32";
    return failure();
  }
  if (attribute.getWgmma() && !fitsGroups(form, number, *product)) {
    wrong = "wgmma multiplies matrices that TMA can bring, all of one order: an axis of each is adjacent, other strides are multiples of 16 bytes";
    return failure();
  }
  int64_t across = attribute.getBlock()[1] / attribute.getThread()[1];
  bool wholeRows = holdsRows(extentsOf(form, number, *product, context).second, attribute.getBlock()[1], across,
                             context.threads, attribute.usesMatrixUnits());
  int64_t most = findFused(form, number, *product, context, wholeRows, /*joins=*/true).count;
  FusedNests behind = findFused(form, number, *product, context, wholeRows, /*joins=*/true, attribute.getFused());
  product->sums = behind.sums;
  int64_t own = attribute.getThread()[0] * attribute.getThread()[1] * product->sums;
  if (own > mostOwnSums) {
    wrong = "a thread keeps at most " + std::to_string(mostOwnSums) + " elements in registers, found " + std::to_string(own);
    return failure();
  }
  if (product->getWidest() > 1 && attribute.getBlock()[1] * bytesOfElement(product->rhs) % tile::accessBytes != 0) {
    wrong = "products side by side have columns of a multiple of " + std::to_string(tile::accessBytes) + " bytes, found " +
            std::to_string(attribute.getBlock()[1]) + " columns";
    return failure();
  }
  if (attribute.getFused() > most) {
    wrong = "fused = " + std::to_string(attribute.getFused()) + ": " + std::to_string(most) +
            " nests after it meet the tile point by point" + (wholeRows ? " or row by row" : "");
    return failure();
  }
  product->attribute = attribute;
  product->joined = behind.products;
  product->staged = stageOperands(form, number, *product);
  product->inRegisters = keptInRegisters(form, number, attribute.getFused());
  return *product;
}
