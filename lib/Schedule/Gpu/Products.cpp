//===- Products.cpp - products of matrices in tiles -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which nests of a leaf a block of threads can compute as tiles whose operands go
// through shared memory, which nests behind them stay in registers with them, and
// of what size tiles are.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/LeafGraph/Contractions.h"
#include "ft/Schedule/RowRuns.h"

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
static bool isPlain(const LeafGraph &graph, const View &view) {
  if (!view.terms.empty() || view.hasBorders())
    return false;
  Type element = view.isSplat() ? view.splat.getType() : graph.buffers[view.buffer].elementType;
  return element.isSignlessIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0;
}

/// Whether a factor of a product is such a matrix, with zeros beyond its borders.
static bool isFactor(const LeafGraph &graph, View view) {
  if (view.hasBorders() && !matchPattern(view.outside, m_AnyZeroFloat()) && !matchPattern(view.outside, m_Zero()))
    return false;
  view.borders.clear();
  return isPlain(graph, view);
}

/// The input that a view is of, null where it is of none.
static const InputForm *inputOf(const LeafForm &form, const View &view) {
  if (view.isSplat() || form.graph.buffers[view.buffer].kind != Buffer::Kind::Input)
    return nullptr;
  return &form.inputs[form.graph.buffers[view.buffer].number];
}

static bool countsAlongRows(const LeafForm &form, const View &view) {
  const InputForm *input = inputOf(form, view);
  return input && input->hasIndex;
}

/// The rows of the call are one more digit of m or n, or a batch; false if there is no place for them.
static bool placeRows(const LeafForm &form, const Nest &nest, ProductTiles &product) {
  const Member &member = nest.members.front();
  bool inLhs = form.graph.isBatched(member.reads[product.loops.lhs]);
  bool inRhs = form.graph.isBatched(member.reads[product.loops.rhs]);
  if (!form.graph.isBatched(member.writes.front()))
    return !inLhs && !inRhs;
  product.rows = inLhs && !inRhs ? Rows::m : inRhs && !inLhs ? Rows::n : Rows::batch;
  return inLhs || inRhs;
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

std::optional<ProductTiles> schedule::matchProduct(const LeafForm &form, unsigned number, const TileContext &context,
                                                   std::string &why) {
  const Nest &nest = form.graph.nests[number];
  std::optional<Contraction> found = matchContraction(nest);
  if (!found) {
    why = "the nest is no sum of products of two operands";
    return std::nullopt;
  }
  ProductTiles product;
  product.loops = *found;
  const Member &member = nest.members.front();
  const View &lhs = member.reads[found->lhs], &rhs = member.reads[found->rhs];
  for (const View *view : {&lhs, &rhs, &member.inits.front(), &member.writes.front()}) {
    bool fits = view == &lhs || view == &rhs ? isFactor(form.graph, *view) : isPlain(form.graph, *view);
    if (!fits || countsAlongRows(form, *view)) {
      why = "an operand is no matrix of whole bytes at places that strides tell";
      return std::nullopt;
    }
  }
  for (const View *view : {&lhs, &rhs})
    if (const InputForm *input = inputOf(form, *view); input && input->hasSplat && !fitsAsConstant(input->type)) {
      why = "an operand is one value at some iterations, and too large for a constant";
      return std::nullopt;
    }
  if (nest.guard) {
    why = "a flag leaves the nest out at run time";
    return std::nullopt;
  }
  if (context.lifted || nest.last) {
    why = "a dimension is lifted into the leaf";
    return std::nullopt;
  }
  if (!form.splits.empty() && form.splits[number].kind == NestSplit::first) {
    why = "one block of threads alone computes the nest";
    return std::nullopt;
  }
  bool hasRows = nest.batched && context.maxRows > 1;
  int splitLoop = context.splitLoop < 0 ? -1 : form.splits[number].loop;
  if ((hasRows && !placeRows(form, nest, product)) || !placeColumns(splitLoop, product)) {
    why = "rows or columns of the call fit neither side of the product";
    return std::nullopt;
  }
  product.lhs = form.graph.buffers[lhs.buffer].elementType;
  product.rhs = form.graph.buffers[rhs.buffer].elementType;
  Type sum = member.accumulators.front().getType();
  product.sum = isHalf(sum) ? Float32Type::get(sum.getContext()) : sum;
  for (Type operand : {product.lhs, product.rhs})
    if (operand != product.sum && operand.getIntOrFloatBitWidth() >= product.sum.getIntOrFloatBitWidth()) {
      why = "an operand is wider than the sum";
      return std::nullopt;
    }
  return product;
}

//===----------------------------------------------------------------------===//
// What stays in registers behind a product
//===----------------------------------------------------------------------===//

/// A view of the product's nest as one over its parallel loops.
static View withoutReduced(const Nest &nest, View view) {
  SmallVector<int64_t> strides;
  for (auto [stride, reduced] : llvm::zip_equal(view.strides, nest.reduced))
    if (!reduced)
      strides.push_back(stride);
  view.strides = strides;
  return view;
}

namespace {
/// Takes nests behind a product one by one, as long as they meet its tile point by point.
class Fuser {
public:
  Fuser(const LeafForm &form, unsigned number, const ProductTiles &product, bool wholeRows)
      : form(form), graph(form.graph), nest(graph.nests[number]), product(product),
        wholeRows(wholeRows && hasWholeRows(form, product)) {
    for (auto [i, reduced] : llvm::enumerate(nest.reduced))
      if (!reduced) {
        if (int(i) == product.splitLoop)
          splitLoop = int(parallel.size());
        parallel.push_back(nest.sizes[i]);
        alongRow.push_back(llvm::is_contained(product.loops.n, int(i)));
        if (!alongRow.back())
          ofRows.push_back(nest.sizes[i]);
      }
    const Member &member = nest.members.front();
    inRegisters.push_back(withoutReduced(nest, member.writes.front()));
    elsewhere.push_back(member.reads[product.loops.lhs].buffer);
    elsewhere.push_back(member.reads[product.loops.rhs].buffer);
    elsewhere.push_back(member.inits.front().buffer);
  }

  bool take(unsigned next) {
    const Nest &candidate = graph.nests[next];
    bool isPointwise = candidate.sizes == parallel && !llvm::is_contained(candidate.reduced, true);
    bool isRow = wholeRows && isRowWise(candidate), reduces = wholeRows && isReductionOfRows(candidate);
    if ((!isPointwise && !isRow && !reduces) || candidate.last || candidate.guard || candidate.batched != nest.batched)
      return false;
    if (!form.splits.empty()) {
      const NestSplit &split = form.splits[next];
      if ((split.kind == NestSplit::shared ? split.loop : -1) != splitLoop || split.kind == NestSplit::first)
        return false;
    }
    // Beside a reduction there may be what computes its terms.
    return llvm::all_of(candidate.members, [&](const Member &member) {
      return (reduces || !member.isReduction()) && takeMember(member, isRow || member.isReduction());
    });
  }

private:
  /// Rows can be whole in a tile: no block of threads, and no other element of the call, has a part of them.
  static bool hasWholeRows(const LeafForm &form, const ProductTiles &product) {
    return form.splits.empty() && product.splitLoop < 0 && product.rows != Rows::n && !product.loops.n.empty();
  }
  bool isReductionOfRows(const Nest &candidate) const {
    return candidate.sizes == parallel && ArrayRef<bool>(candidate.reduced) == ArrayRef<bool>(alongRow);
  }
  bool isRowWise(const Nest &candidate) const {
    return candidate.sizes == ofRows && !llvm::is_contained(candidate.reduced, true);
  }
  static bool canReduce(const Member &member) {
    return llvm::all_of(member.combiners, [](Operation *combiner) {
      return combiner && combiner->getNumResults() == 1 && arith::getNeutralElement(combiner);
    });
  }
  bool takeRead(const View &read) {
    if (!isPlain(graph, read) || countsAlongRows(form, read))
      return false;
    View view = viewOverTile(nest, product, read);
    bool known = llvm::is_contained(inRegisters, view);
    if (!known && !view.isSplat() && isWritten(view.buffer))
      return false;
    if (!known && !view.isSplat())
      elsewhere.push_back(view.buffer);
    return true;
  }
  /// `ofRow`: the member has one result for each row.
  bool takeMember(const Member &member, bool ofRow) {
    if (!member.captured.empty() || usesIndices(member) || !canReduce(member))
      return false;
    if (!llvm::all_of(member.reads, [&](const View &view) { return takeRead(view); }) ||
        !llvm::all_of(member.inits, [&](const View &view) { return takeRead(view); }))
      return false;
    for (const View &write : member.writes) {
      // Other tiles may still read what is there.
      View view = viewOverTile(nest, product, write);
      if (!isPlain(graph, view) || llvm::is_contained(elsewhere, view.buffer) || isWritten(view.buffer))
        return false;
      for (auto [stride, inRow] : llvm::zip_equal(view.strides, alongRow))
        if ((stride == 0) != (ofRow && inRow))
          return false;
      inRegisters.push_back(view);
    }
    return true;
  }
  bool isWritten(int buffer) const {
    return llvm::any_of(inRegisters, [&](const View &view) { return view.buffer == buffer; });
  }
  static bool usesIndices(const Member &member) {
    return member.body && llvm::any_of(*member.body, [](Operation &op) { return isa<linalg::IndexOp>(op) || op.getNumRegions() != 0; });
  }

  const LeafForm &form;
  const LeafGraph &graph;
  const Nest &nest;
  const ProductTiles &product;
  bool wholeRows;
  SmallVector<int64_t> parallel, ofRows; // sizes; without those along a row
  SmallVector<bool> alongRow;            // of the parallel loops
  int splitLoop = -1;
  SmallVector<View> inRegisters;
  SmallVector<int> elsewhere;
};
} // namespace

View schedule::viewOverTile(const Nest &nest, const ProductTiles &product, View view) {
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

int64_t schedule::countFused(const LeafForm &form, unsigned number, const ProductTiles &product, bool wholeRows) {
  Fuser fuser(form, number, product, wholeRows);
  unsigned next = number + 1;
  while (next < form.graph.nests.size() && fuser.take(next))
    ++next;
  return int64_t(next - number) - 1;
}

SmallVector<int> schedule::keptInRegisters(const LeafForm &form, unsigned number, int64_t fused) {
  const LeafGraph &graph = form.graph;
  SmallVector<bool> isTouched(graph.buffers.size()), isKept(graph.buffers.size());
  auto touch = [](SmallVectorImpl<bool> &set, ArrayRef<View> views) {
    for (const View &view : views)
      if (!view.isSplat())
        set[view.buffer] = true;
  };
  for (auto [i, nest] : llvm::enumerate(graph.nests)) {
    bool isInside = int64_t(i) >= number && int64_t(i) <= number + fused;
    for (const Member &member : nest.members) {
      touch(isInside ? isKept : isTouched, member.writes);
      if (isInside)
        continue;
      touch(isTouched, member.reads);
      touch(isTouched, member.inits);
      for (const auto &[value, view] : member.captured)
        touch(isTouched, view);
      for (auto *views : {&member.reads, &member.inits, &member.writes})
        for (const View &view : *views)
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

/// Whether an operand's elements are adjacent along its terms: then it is staged so.
static bool isAlongTerms(const Nest &nest, const View &view, ArrayRef<int> own, ArrayRef<int> terms) {
  if (view.strides[terms.back()] == 1)
    return true;
  return own.empty() || view.strides[own.back()] != 1;
}

static StagedOperands stageOperands(const LeafForm &form, unsigned number, const ProductTiles &product) {
  const Nest &nest = form.graph.nests[number];
  const Member &member = nest.members.front();
  const Contraction &loops = product.loops;
  ArrayRef<int64_t> block = product.attribute.getBlock();
  int64_t step = product.attribute.getStep(), stages = product.attribute.getStages();
  // Rows whose terms are adjacent begin in different banks; so do all rows of which fragments are read.
  auto stage = [&](Type element, int64_t own, bool alongTerms) {
    bool spread = alongTerms || product.attribute.getMma();
    int64_t pad = spread ? std::max<int64_t>(tile::accessBytes / bytesOfElement(element), 1) : 0;
    int64_t shape[] = {alongTerms ? own : step, alongTerms ? step : own};
    return tile::SharedType::get(element.getContext(), shape, element, pad, stages);
  };
  StagedOperands staged;
  staged.lhsTransposed = !isAlongTerms(nest, member.reads[loops.lhs], loops.m, loops.k);
  staged.rhsTransposed = isAlongTerms(nest, member.reads[loops.rhs], loops.n, loops.k);
  staged.lhs = stage(product.lhs, block[0], !staged.lhsTransposed);
  staged.rhs = stage(product.rhs, block[1], staged.rhsTransposed);
  return staged;
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
      : product(product), context(context), machine(machine), planning(machine.gpu), nest(form.graph.nests[number]) {
    std::tie(m, n) = extentsOf(form, number, product, context);
    k = productOf(nest, product.loops.k);
  }

  /// The cheapest tile; with `wholeRows` of those that hold rows whole in the lanes of a warp, nothing if there is none.
  tile::ProductAttr choose(int64_t fused, bool wholeRows = false) {
    rowsInWarps = wholeRows;
    if (usesMatrixUnits(product, machine))
      if (tile::ProductAttr attribute = chooseFragments(fused))
        return attribute;
    double best = 0;
    int64_t sides[] = {1, 2, 4, 8}, block[2] = {}, thread[2] = {};
    for (int64_t rows : sides)
      for (int64_t columns : sides)
        for (int64_t down = 1; down <= context.threads; down *= 2) {
          if (context.threads % down != 0 || rows * columns * words() > mostWords() ||
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
    int64_t step = stepOf(termsOfRead);
    return tile::ProductAttr::get(product.sum.getContext(), block, thread, step, k > step ? 2 : 1, /*mma=*/false, fused);
  }

  /// The same for warps that multiply fragments; nothing where threads are no whole warps.
  tile::ProductAttr chooseFragments(int64_t fused) {
    int64_t warps = context.threads / (warpRows * warpColumns), block[2] = {}, thread[2] = {};
    if (context.threads % (warpRows * warpColumns) != 0)
      return nullptr;
    double best = 0;
    for (int64_t rows = 2; rows <= mostFragmentRows; rows *= 2)
      for (int64_t columns = 2; columns <= mostFragmentColumns; columns *= 2)
        for (int64_t down = 1; down <= warps; down *= 2) {
          if (warps % down != 0 || rows * columns > mostWords() || !mayHave(warps / down * warpColumns, columns, /*mma=*/true))
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
    int64_t step = stepOf(tile::ProductAttr::fragmentTerms);
    int64_t stages = std::min<int64_t>(llvm::divideCeil(k, step), 2);
    return tile::ProductAttr::get(product.sum.getContext(), block, thread, step, stages, /*mma=*/true, fused);
  }

private:
  /// Terms that a thread reads of an operand at a time, 16 bytes of f32.
  static constexpr int64_t termsOfRead = 4;
  /// How a fragment's accumulator lies in the lanes of a warp.
  static constexpr int64_t warpRows = 8, warpColumns = 4;
  /// Bounds of the search; together they have the sums that a thread's registers hold, which bounds it closer.
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
  /// Registers for sums: half of those that a thread has where two blocks of threads share a multiprocessor.
  int64_t mostWords() const {
    return machine.occupancy.registersPerUnit / (2 * std::max(context.threads, planning.blockThreads.back())) / 2;
  }
  /// Whether so many threads side by side, with so many columns each, do what is asked of rows.
  bool mayHave(int64_t across, int64_t columns, bool mma) const {
    return !rowsInWarps || holdsRows(n, across * columns, across, context.threads, mma);
  }
  /// Multiply-adds, padding included.
  double costOf(int64_t rows, int64_t columns, int64_t blockRows, int64_t blockColumns) const {
    double work = double(llvm::alignTo(m, blockRows)) * double(llvm::alignTo(n, blockColumns));
    return work * secondsInTiles(product, machine, {rows, columns, blockRows, blockColumns});
  }

  const ProductTiles &product;
  const TileContext &context;
  const Machine &machine;
  const Machine::GpuPlanning &planning;
  const Nest &nest;
  int64_t m = 1, n = 1, k = 1;
  bool rowsInWarps = false;
};
} // namespace

bool schedule::fitsMatrixUnits(const ProductTiles &product) {
  return isHalf(product.lhs) && product.lhs == product.rhs && product.sum.isF32();
}

bool schedule::usesMatrixUnits(const ProductTiles &product, const Machine &machine) {
  return fitsMatrixUnits(product) && machine.rates.bf16MmaFlops > machine.rates.f32Flops;
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
  int64_t fused = countFused(form, number, *product), withRows = countFused(form, number, *product, /*wholeRows=*/true);
  if (withRows > fused)
    if (tile::ProductAttr attribute = chooser.choose(withRows, /*wholeRows=*/true))
      return attribute;
  return chooser.choose(fused);
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
  if (attribute.getMma() && !fitsMatrixUnits(*product)) {
    wrong = "mma multiplies f16 or bf16, both operands alike, and adds up to f32";
    return failure();
  }
  int64_t own = attribute.getThread()[0] * attribute.getThread()[1];
  if (own > mostOwnSums) {
    wrong = "a thread keeps at most " + std::to_string(mostOwnSums) + " elements in registers, found " + std::to_string(own);
    return failure();
  }
  int64_t across = attribute.getBlock()[1] / attribute.getThread()[1];
  bool wholeRows = holdsRows(extentsOf(form, number, *product, context).second, attribute.getBlock()[1], across,
                             context.threads, attribute.getMma());
  if (int64_t most = countFused(form, number, *product, wholeRows); attribute.getFused() > most) {
    wrong = "fused = " + std::to_string(attribute.getFused()) + ": " + std::to_string(most) +
            " nests behind it meet the tile point by point" + (wholeRows ? " or row by row" : "");
    return failure();
  }
  product->attribute = attribute;
  product->staged = stageOperands(form, number, *product);
  product->inRegisters = keptInRegisters(form, number, attribute.getFused());
  return *product;
}
