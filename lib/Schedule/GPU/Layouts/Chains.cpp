//===- Chains.cpp - leaves that are chains of products ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/GPU/Layouts/Chains.h"

#include "ft/Analysis/LeafGraph/Contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::schedule;
using Rows = ProductTiles::Rows;
using Kind = ChainNest::Kind;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// A view of a product over its loops of rows and these others, which are columns.
static ChainPlace placeOver(const ElementView &view, ArrayRef<int> rows, ArrayRef<int> columns, int space) {
  ChainPlace place{space, view.buffer, view.offset, {}, {}};
  for (int loop : rows)
    place.rows.push_back(view.strides[size_t(loop)]);
  for (int loop : columns)
    place.columns.push_back(view.strides[size_t(loop)]);
  if (llvm::all_of(place.columns, [](int64_t stride) { return stride == 0; })) {
    place.space = ChainPlace::ofRows;
    place.columns.clear();
  }
  return place;
}

static bool isPlain(const ElementView &view) { return !view.isSplat() && view.terms.empty() && !view.hasBorders(); }

std::optional<ChainPlace> ChainPlan::placeOf(const LeafGraph &graph, unsigned nest, const ElementView &view) const {
  if (!isPlain(view))
    return std::nullopt;
  const ChainNest &own = nests[nest];
  SmallVector<int> rows, columns;
  if (own.kind == Kind::product) {
    const Contraction &loops = own.product->loops;
    if (llvm::any_of(loops.k, [&](int loop) { return view.strides[size_t(loop)] != 0; }))
      return std::nullopt;
    rows.assign(loops.m.begin(), loops.m.end());
    columns.assign(loops.n.begin(), loops.n.end());
    llvm::sort(rows);
    llvm::sort(columns);
  } else {
    for (size_t loop = 0; loop < graph.nests[nest].sizes.size(); ++loop)
      (own.space >= 0 && spaces[size_t(own.space)].alongRow[loop] ? columns : rows).push_back(int(loop));
  }
  return placeOver(view, rows, columns, own.space);
}

int64_t ChainPlan::words() const {
  constexpr int64_t threads = tile::PipelineAttr::groupThreads, rows = tile::ProductAttr::groupRows;
  int64_t words = 0;
  for (const ChainSpace &space : spaces)
    words += space.padded * rows / threads;
  int64_t halves = 0; // of the largest left operand, beside what it is made of
  for (const ChainNest &nest : nests)
    if (nest.left)
      halves = std::max(halves, spaces[size_t(nest.left->space)].padded * rows / threads / 2);
  return words + halves;
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

namespace {
/// Takes the nests of a leaf one by one.
class ChainPlanner {
public:
  ChainPlanner(const LeafForm &form, const TileContext &context, std::string &why) : form(form), graph(form.graph), context(context), why(why) {}
  std::optional<ChainPlan> run(int64_t rows);

private:
  bool fail(unsigned nest, StringRef text) {
    why = "loop nest " + std::to_string(nest) + ": " + text.str();
    return false;
  }
  bool takeProduct(unsigned number);
  bool takeLeft(unsigned number, ChainNest &nest, ProductTiles &product);
  bool findSpace(unsigned number, const Contraction &loops, int &space);
  bool classify(unsigned number);
  bool takeMember(unsigned number, const NestMember &member);
  bool takeRead(unsigned number, const ElementView &view);
  bool takeWrite(unsigned number, const ElementView &view, int space);
  bool isWritten(int buffer) const {
    return llvm::any_of(known, [&](const ChainPlace &place) { return place.buffer == buffer; });
  }
  bool hasProducts() const {
    return llvm::any_of(graph.nests, [](const Nest &nest) { return !matchContractions(nest).empty(); });
  }
  void findSpacesOfRows();
  void pad();
  bool stage(int64_t rows);

  const LeafForm &form;
  const LeafGraph &graph;
  const TileContext &context;
  std::string &why;
  ChainPlan plan;
  SmallVector<ChainPlace> known;  // in registers
  SmallVector<int> elsewhere;     // buffers that are read from memory
  std::optional<Rows> rowsOfCall;
};
} // namespace

/// The space of a product's result; false where its rows are others than those of the products before.
bool ChainPlanner::findSpace(unsigned number, const Contraction &loops, int &space) {
  const Nest &nest = graph.nests[number];
  ChainSpace own;
  SmallVector<int64_t> rows;
  for (auto [loop, reduced] : llvm::enumerate(nest.reduced)) {
    if (reduced)
      continue;
    own.sizes.push_back(nest.sizes[loop]);
    own.alongRow.push_back(llvm::is_contained(loops.n, int(loop)));
    if (own.alongRow.back())
      own.columns *= nest.sizes[loop];
    else
      rows.push_back(nest.sizes[loop]);
  }
  if (plan.spaces.empty())
    plan.rowSizes = rows;
  if (rows != plan.rowSizes)
    return fail(number, "its product has other rows than the one before");
  auto *found = llvm::find_if(plan.spaces, [&](const ChainSpace &other) { return other.sizes == own.sizes; });
  if (found != plan.spaces.end() && found->alongRow != own.alongRow)
    return fail(number, "its rows are columns of another product");
  space = int(found - plan.spaces.begin());
  if (found == plan.spaces.end())
    plan.spaces.push_back(std::move(own));
  return true;
}

/// The left operand is a tile that is known, or comes by TMA.
bool ChainPlanner::takeLeft(unsigned number, ChainNest &nest, ProductTiles &product) {
  const NestMember &member = graph.nests[number].members.front();
  const ElementView &lhs = member.reads[size_t(product.loops.lhs)];
  SmallVector<int> rows(product.loops.m), terms(product.loops.k);
  llvm::sort(rows);
  llvm::sort(terms);
  SmallVector<int64_t> sizes;
  for (int loop : terms)
    sizes.push_back(graph.nests[number].sizes[size_t(loop)]);
  if (isPlain(lhs))
    for (auto [s, space] : llvm::enumerate(plan.spaces)) {
      SmallVector<int64_t> columns;
      for (auto [size, isColumn] : llvm::zip_equal(space.sizes, space.alongRow))
        if (isColumn)
          columns.push_back(size);
      if (ChainPlace place = placeOver(lhs, rows, terms, int(s)); columns == sizes && llvm::is_contained(known, place)) {
        nest.left = place;
        return true;
      }
    }
  if (!lhs.isSplat() && isWritten(lhs.buffer))
    return fail(number, "its left operand is no tile of what the leaf computes before");
  if (!fitsTensorMap(form, graph.nests[number], lhs, product.loops.m, product.loops.k))
    return fail(number, "TMA can't bring its left operand");
  elsewhere.push_back(lhs.buffer);
  return true;
}

bool ChainPlanner::takeProduct(unsigned number) {
  std::optional<ProductTiles> product = matchProduct(form, number, context, why);
  if (!product)
    return false;
  const Nest &nest = graph.nests[number];
  const Contraction &loops = product->loops;
  if (!fitsMatrixUnits(*product) || product->operands.size() != 1 || !loops.batch.empty() || loops.n.empty() || loops.k.empty() ||
      (loops.m.empty() && product->rows != Rows::m))
    return fail(number, "it is not one product of halves that adds up in f32");
  if (product->rows != (context.maxRows > 1 ? Rows::m : Rows::none))
    return fail(number, "rows of the call are no rows of its result");
  ChainNest own;
  own.kind = Kind::product;
  if (!findSpace(number, loops, own.space) || !takeLeft(number, own, *product))
    return false;
  const NestMember &member = nest.members.front();
  const ElementView &rhs = member.reads[size_t(loops.rhs)];
  if (!fitsTensorMap(form, nest, rhs, loops.n, loops.k) || isWritten(rhs.buffer))
    return fail(number, "TMA can't bring its right operand");
  elsewhere.push_back(rhs.buffer);
  own.product = std::make_shared<ProductTiles>(std::move(*product));
  plan.nests.push_back(std::move(own));
  return takeRead(number, member.inits.front()) && takeWrite(number, member.writes.front(), plan.nests[number].space);
}

bool ChainPlanner::takeRead(unsigned number, const ElementView &view) {
  if (view.isSplat())
    return true;
  std::optional<ChainPlace> place = plan.placeOf(graph, number, view);
  if (!place)
    return fail(number, "it reads what lies at no rows and columns of a tile");
  if (llvm::is_contained(known, *place))
    return true;
  if (isWritten(view.buffer) || graph.buffers[size_t(view.buffer)].kind == Buffer::Kind::Scratch)
    return fail(number, "it reads other elements than those that a tile has");
  Type element = graph.buffers[size_t(view.buffer)].elementType;
  const bool isFlag = element.isInteger(1); // (a byte in memory)
  if (!isFlag && (!element.isSignlessIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0))
    return fail(number, "it reads elements that are no whole bytes");
  elsewhere.push_back(view.buffer);
  return true;
}

bool ChainPlanner::takeWrite(unsigned number, const ElementView &view, int space) {
  std::optional<ChainPlace> place = plan.placeOf(graph, number, view);
  if (!place || isWritten(view.buffer) || llvm::is_contained(elsewhere, view.buffer))
    return fail(number, "it writes what is no tile of rows and columns");
  if (place->space != space)
    return fail(number, "it writes what is no tile of rows and columns");
  known.push_back(*place);
  return true;
}

bool ChainPlanner::takeMember(unsigned number, const NestMember &member) {
  bool readsMemory = llvm::any_of(member.captured, [](const auto &captured) { return !captured.second.isSplat(); });
  bool hasRegions = member.body && llvm::any_of(*member.body, [](Operation &op) { return op.getNumRegions() != 0; });
  bool usesIndices = member.body && !member.body->getOps<linalg::IndexOp>().empty();
  bool reduces = llvm::all_of(member.combiners, [](Operation *combiner) {
    return combiner && combiner->getNumResults() == 1 && arith::getNeutralElement(combiner);
  });
  if (readsMemory || hasRegions || !reduces || (usesIndices && (member.isReduction() || plan.nests[number].kind == Kind::rows)))
    return fail(number, "its body is no computation of elements alone");
  auto read = [&](const ElementView &view) { return takeRead(number, view); };
  return llvm::all_of(member.reads, read) && llvm::all_of(member.inits, read) &&
         llvm::all_of(member.writes, [&](const ElementView &view) {
           return takeWrite(number, view, member.isReduction() ? int(ChainPlace::ofRows) : plan.nests[number].space); // (beside a reduction there may be its terms)
         });
}

/// A nest that is no product has the loops of a space, or those of rows.
bool ChainPlanner::classify(unsigned number) {
  const Nest &nest = graph.nests[number];
  ChainNest own;
  auto *found = llvm::find_if(plan.spaces, [&](const ChainSpace &space) { return space.sizes == nest.sizes; });
  if (found != plan.spaces.end()) {
    own.space = int(found - plan.spaces.begin());
    bool reduces = llvm::is_contained(nest.reduced, true);
    own.kind = reduces ? Kind::reduction : Kind::points;
    if (reduces && ArrayRef<bool>(nest.reduced) != ArrayRef<bool>(found->alongRow))
      return fail(number, "it reduces along other loops than a row's");
  } else if (nest.sizes == plan.rowSizes && !llvm::is_contained(nest.reduced, true)) {
    own.kind = Kind::rows;
    own.space = ChainPlace::ofRows;
  } else {
    return fail(number, "its loops are those of no product");
  }
  plan.nests.push_back(std::move(own));
  return true;
}

/// Without products the outermost loop of all nests is over rows, and all others are over columns.
void ChainPlanner::findSpacesOfRows() {
  if (graph.nests.front().sizes.empty())
    return;
  plan.rowSizes = {graph.nests.front().sizes.front()};
  for (const Nest &nest : graph.nests) {
    ChainSpace own;
    own.sizes = nest.sizes;
    for (auto [loop, size] : llvm::enumerate(nest.sizes)) {
      own.alongRow.push_back(loop > 0);
      own.columns *= loop > 0 ? size : 1;
    }
    bool isKnown = llvm::any_of(plan.spaces, [&](const ChainSpace &other) { return other.sizes == own.sizes; });
    if (nest.sizes.size() > 1 && nest.sizes.front() == plan.rowSizes.front() && !isKnown)
      plan.spaces.push_back(std::move(own));
  }
}

/// Columns of tiles: in units of a slab where TMA brings right operands row by row, else what terms of the next product come in.
void ChainPlanner::pad() {
  using P = tile::ProductAttr;
  for (auto [s, space] : llvm::enumerate(plan.spaces)) {
    int64_t unit = hasProducts() ? P::fragmentTerms : P::groupColumnUnit;
    for (auto [number, nest] : llvm::enumerate(plan.nests))
      if (nest.product && nest.space == int(s)) {
        const ElementView &rhs = graph.nests[number].members.front().reads[size_t(nest.product->loops.rhs)];
        if (!isAlongTerms(graph.nests[number], rhs, nest.product->loops.n, nest.product->loops.k))
          unit = P::groupColumnUnit;
      }
    space.padded = int64_t(llvm::alignTo(space.columns, unit));
  }
}

/// Tiles of operands in shared memory.
bool ChainPlanner::stage(int64_t rows) {
  using P = tile::ProductAttr;
  constexpr int64_t mostTerms = 4 * P::groupStep; // of a step: others come one after the other
  for (auto [number, nest] : llvm::enumerate(plan.nests)) {
    if (!nest.product)
      continue;
    auto product = std::make_shared<ProductTiles>(*nest.product);
    const Contraction &loops = product->loops;
    const NestMember &member = graph.nests[number].members.front();
    int64_t terms = 1;
    for (int loop : loops.k)
      terms *= graph.nests[number].sizes[size_t(loop)];
    const auto all = int64_t(llvm::alignTo(terms, P::groupStep));
    const int64_t step = nest.left ? plan.spaces[size_t(nest.left->space)].padded : all <= mostTerms ? all : P::groupStep;
    auto tileOf = [&](Type element, int64_t own, bool alongTerms) {
      int64_t shape[] = {alongTerms ? own : step, alongTerms ? step : own};
      return tile::SharedType::get(element.getContext(), shape, element, /*pad=*/0, /*stages=*/1, tile::groupSwizzle);
    };
    StagedOperands &staged = product->staged;
    staged.lhsTransposed = !nest.left && !isAlongTerms(graph.nests[number], member.reads[size_t(loops.lhs)], loops.m, loops.k);
    staged.rhsTransposed = isAlongTerms(graph.nests[number], member.reads[size_t(loops.rhs)], loops.n, loops.k);
    if (staged.rhsTransposed && step % P::groupStep != 0)
      return fail(unsigned(number), "rows of its right operand are no multiple of 128 bytes long");
    if (!nest.left)
      staged.lhs = tileOf(product->lhs, rows, !staged.lhsTransposed);
    staged.rhs = tileOf(product->rhs, plan.spaces[size_t(nest.space)].padded, staged.rhsTransposed);
    nest.product = std::move(product);
  }
  return true;
}

std::optional<ChainPlan> ChainPlanner::run(int64_t rows) {
  if (!form.splits.empty() || context.lifts > 1) {
    why = "thread blocks share its columns, or it computes several iterations at once";
    return std::nullopt;
  }
  // Spaces first: what is computed before a product may have its columns.
  for (auto [i, nest] : llvm::enumerate(graph.nests))
    if (SmallVector<Contraction, 0> found = matchContractions(nest); found.size() == 1) {
      int space = 0;
      if (!findSpace(unsigned(i), found.front(), space))
        return std::nullopt;
    }
  if (plan.spaces.empty())
    findSpacesOfRows();
  pad();
  for (auto [i, nest] : llvm::enumerate(graph.nests)) {
    auto number = unsigned(i);
    if (nest.last || (context.maxRows > 1 && !nest.batched)) {
      fail(number, "it is not computed for each row of the call");
      return std::nullopt;
    }
    bool isProduct = !matchContractions(nest).empty();
    if (isProduct ? !takeProduct(number)
                  : !classify(number) || !llvm::all_of(nest.members, [&](const NestMember &member) { return takeMember(number, member); }))
      return std::nullopt;
  }
  if (hasProducts() && llvm::none_of(plan.nests, [](const ChainNest &nest) { return nest.left.has_value(); })) {
    why = "no product takes what another one has left in registers";
    return std::nullopt;
  }
  pad();
  plan.mostRows = context.maxRows;
  for (int64_t size : plan.rowSizes)
    plan.mostRows *= size;
  if (plan.mostRows > rows) {
    why = "it has " + std::to_string(plan.mostRows) + " rows, its warp groups " + std::to_string(rows);
    return std::nullopt;
  }
  if (llvm::any_of(plan.spaces, [](const ChainSpace &space) { return space.padded > tile::ProductAttr::mostGroupColumns; })) {
    why = "a product has more columns than a warp group multiplies";
    return std::nullopt;
  }
  const int64_t ofTile = std::min(rows, tile::PipelineAttr::mostComputers * tile::ProductAttr::groupRows);
  if (!stage(ofTile))
    return std::nullopt;
  plan.attribute = tile::ChainAttr::get(form.module.get().getContext(), ofTile);
  return std::move(plan);
}

std::optional<ChainPlan> schedule::planChain(const LeafForm &form, const TileContext &context, int64_t rows, std::string &why) {
  return ChainPlanner(form, context, why).run(rows);
}

bool schedule::fitsRegisters(const ChainPlan &plan, int64_t groups, const Machine &machine) {
  using P = tile::PipelineAttr;
  const int64_t own = (machine.occupancy.registersPerUnit / P::groupThreads - P::leastRegisters) / groups;
  return plan.words() + machine.gpu.fusedRegisters <= std::min(own, machine.occupancy.registersPerThread);
}

tile::ChainAttr schedule::chooseChain(const LeafForm &form, const TileContext &context, const Machine &machine) {
  using P = tile::PipelineAttr;
  const int64_t groups = context.threads / P::groupThreads;
  if (!context.products || !context.groups || !hasGroups(machine) || context.resident != 1 || context.alone || context.threads % P::groupThreads != 0 ||
      groups < 1 || groups > P::mostComputers)
    return nullptr;
  std::string why;
  std::optional<ChainPlan> plan = planChain(form, context, groups * tile::ProductAttr::groupRows, why);
  bool hasProducts = plan && llvm::any_of(plan->nests, [](const ChainNest &nest) { return bool(nest.product); });
  return hasProducts && fitsRegisters(*plan, groups, machine) ? plan->attribute : nullptr;
}
