//===- Checks.cpp - what the validator asks of sets -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each question is put as sets of counterexamples that must be empty. Only
// accesses that share a buffer are compared.
//
//===----------------------------------------------------------------------===//
#include "Checks.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/Variants.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;

//===----------------------------------------------------------------------===//
// T9: the interface
//===----------------------------------------------------------------------===//

/// What the lengths satisfy at every call, each at least 0.
static SmallVector<ft::LengthAttr> getConstraints(GraphOp graph) {
  SmallVector<ft::LengthAttr> constraints;
  if (auto bounds = graph->getAttrOfType<ft::BoundsAttr>(ft::names::bounds))
    llvm::append_range(constraints, bounds.getNonNegative());
  if (auto checks = graph->getAttrOfType<ArrayAttr>(etdg::names::checks))
    for (Attribute check : checks)
      if (auto entry = dyn_cast<DictionaryAttr>(check))
        if (auto bounds = entry.getAs<ft::BoundsAttr>("holds"))
          llvm::append_range(constraints, bounds.getNonNegative());
  graph.walk([&](AssumeOp assume) {
    auto length = ft::LengthAttr::get(assume.getLengthAttr());
    if (auto lower = length - assume.getLo())
      constraints.push_back(lower);
    if (auto upper = ft::LengthAttr::get(graph.getContext(), assume.getHi()) - length)
      constraints.push_back(upper);
  });
  return constraints;
}

GraphSnapshot GraphSnapshot::take(GraphOp graph) {
  return {graph.getFunctionType(), getConstraints(graph)};
}

void Checks::checkInterface() {
  if (!options.before)
    return;
  if (options.before->type != graph.getFunctionType()) {
    std::string message;
    llvm::raw_string_ostream(message)
        << "the graph was " << options.before->type << " and is " << graph.getFunctionType();
    report({graph, "T9", message, "", std::nullopt, ""});
  }
  for (ft::LengthAttr constraint : getConstraints(graph))
    if (!llvm::is_contained(options.before->constraints, constraint))
      report(
          {graph, "T9",
           "the graph asks " + constraint.str() + " >= 0 of its lengths, which it did not before",
           "", std::nullopt, ""});
}

//===----------------------------------------------------------------------===//
// T5, T6, T7: regions, pieces, bounds
//===----------------------------------------------------------------------===//

void Checks::checkNest(ArrayRef<BlockOp> nest) {
  SmallVector<std::optional<Conjunction>, 0> domains;
  for (BlockOp block : nest)
    domains.push_back(model.getDomain(block));
  for (unsigned i = 0; i < nest.size(); ++i)
    for (unsigned j = i + 1; j < nest.size() && !isDone(); ++j) {
      BlockOp a = nest[i], b = nest[j];
      if (!domains[i] || !domains[j])
        continue; // a leaf inside is reported
      Conjunction both = *domains[i];
      // Their locals are different ones.
      unsigned numDims = a.getNumDims(), from = model.getNumShared() + numDims;
      unsigned shift = both.getNumVars() - from;
      auto move = [&](const Row &row) {
        Row moved = Row::number(row.constant);
        moved.overflow |= row.overflow;
        for (auto [v, c] : llvm::enumerate(row.coefficients))
          if (c)
            moved.add(v < from ? v : v + shift, c);
        return moved;
      };
      for (const Row &row : domains[j]->getEqs())
        both.addEq(move(row));
      for (const Row &row : domains[j]->getGes())
        both.addGe(move(row));
      if (domains[j]->isFalse())
        continue;
      expectEmpty(both, b, [&] {
        Shown shown{both, {}, a.getDimNames()};
        for (unsigned d = 0; d < numDims; ++d)
          shown.variables.push_back(model.getNumShared() + d);
        report({b, "T5", "shares iterations with " + describeBlock(a) + " of the same nest",
                sample(shown), a.getLoc(), "the other block is here"});
      });
    }
}

void Checks::checkPieces(BlockOp block, ArrayAttr reads, TypeRange types, StringRef what) {
  for (auto [i, read] : llvm::enumerate(reads.getAsRange<ReadAttr>())) {
    ArrayRef<PieceAttr> pieces = read.getPieces();
    if (isDone() || (pieces.size() == 1 && isUniverse(pieces.front().getSet().getValue())))
      continue;
    SmallVector<int64_t> shape;
    if (read.getElementRank() && i < types.size())
      llvm::append_range(shape, cast<RankedTensorType>(types[i]).getShape());
    unsigned numPoint = block.getNumDims() + shape.size();
    std::optional<Conjunction> domain = model.getDomain(block, shape);
    SmallVector<Conjunction, 0> sets;
    for (PieceAttr piece : pieces)
      if (auto set = model.getPieceSet(block, piece.getSet().getValue(), numPoint))
        sets.push_back(std::move(*set));
    if (!domain || sets.size() != pieces.size()) {
      report({block, "T0", (what + " " + Twine(i) + ": a piece is no Presburger set").str(), "",
              std::nullopt, ""});
      continue;
    }
    SmallVector<StringAttr> names = block.getDimNames();
    for (unsigned e = 0; e < shape.size(); ++e)
      names.push_back(StringAttr::get(block.getContext(), "e" + Twine(e)));
    SmallVector<unsigned> variables;
    for (unsigned v = 0; v < numPoint; ++v)
      variables.push_back(model.getNumShared() + v);
    unsigned firstLocal = model.getNumShared() + numPoint;
    bool plain = domain->getNumVars() == firstLocal;
    for (Conjunction &set : sets)
      plain &= set.getNumVars() == firstLocal;
    unsigned numSymbols = model.getSpace().size();
    auto overlap = [&](unsigned a, unsigned b, std::string example) {
      report(
          {block, "T6",
           (what + " " + Twine(i) + ": pieces " + Twine(a) + " and " + Twine(b) + " overlap").str(),
           std::move(example), std::nullopt, ""});
    };
    auto uncovered = [&](std::string example) {
      report({block, "T6", (what + " " + Twine(i) + ": no piece covers part of the domain").str(),
              std::move(example), std::nullopt, ""});
    };
    bool overflows = domain->hasOverflow();
    for (const Conjunction &set : sets)
      overflows |= set.hasOverflow();
    if (overflows) {
      reportOpen(block);
      continue;
    }
    // Each has its own locals: as sets over the point they are told apart.
    presburger::IntegerPolyhedron all = domain->toPolyhedron(variables, numSymbols);
    SmallVector<presburger::IntegerPolyhedron, 0> polys;
    for (const Conjunction &set : sets)
      polys.push_back(set.toPolyhedron(variables, numSymbols));
    for (unsigned a = 0; a < sets.size(); ++a)
      for (unsigned b = a + 1; b < sets.size(); ++b) {
        if (plain) {
          Conjunction both = *domain;
          both.add(sets[a]);
          both.add(sets[b]);
          if (both.isProvedEmpty())
            continue;
        }
        presburger::IntegerPolyhedron both(all.intersect(polys[a]).intersect(polys[b]));
        if (etdg::isEmpty(both))
          continue;
        auto point = findSample(both);
        overlap(a, b, point ? sampleToString(*point, names, model.getSpace()) : "");
      }
    if ((plain && isProvedCovered(*domain, sets)) || isCovered(all, polys))
      continue;
    auto point = findSample(subtract(all, polys));
    uncovered(point ? sampleToString(*point, names, model.getSpace()) : "");
  }
}

void Checks::checkBounds(const Access &access) {
  auto type = cast<BufferType>(access.buffer.getType());
  unsigned numOwner = access.cell.size() - type.getDepth();
  auto check = [&](const Row &index, const Row &size, unsigned d, const Twine &length) {
    auto outside = [&](const Row &slack, const Twine &how) {
      if (isDone() || access.set.states(slack))
        return;
      Conjunction set = access.set;
      set.addNegated(slack);
      expectEmpty(set, opOf(access), [&] {
        report(
            {opOf(access), "T7",
             (access.describe() + " is out of bounds: index " + Twine(d) + " may be " + how).str(),
             sample(show(set, access)), access.buffer.getLoc(),
             describeBuffer(access.buffer) + " is here"});
      });
    };
    outside(index, "negative");
    Row slack = size.minus(index);
    slack.addConstant(-1);
    outside(slack, "at least the length " + length);
  };
  for (unsigned d = 0; d < type.getDepth(); ++d) {
    ft::LengthAttr length = type.getLengths()[d];
    // What data chooses is in range: that is checked when it runs.
    const std::optional<Row> &size = access.lengths[d];
    if (!size)
      continue;
    check(access.cell[numOwner + d], *size, d, "'" + length.str() + "'");
  }
  for (auto [d, row] : llvm::enumerate(access.scalar))
    if (d < type.getElementRank())
      check(row, Row::number(type.getElement().getDimSize(d)), type.getDepth() + d,
            Twine(type.getElement().getDimSize(d)));
}

//===----------------------------------------------------------------------===//
// T2, T3, T4: dependences and cover
//===----------------------------------------------------------------------===//

void Checks::checkSingle(const Image &a, const Image &b) {
  const bool isSelf = &a == &b;
  // The element determines the iteration: there is only one.
  if (isSelf && a.numRest == 0)
    return;
  Conjunction both = model.getFacts(*a.write);
  SmallVector<Row> cell;
  for (unsigned i = 0; i < a.numCell; ++i)
    cell.push_back(Row::variable(both.addVar()));
  Placed x = model.place(a, cell, both), y = model.place(b, cell, both);
  auto clash = [&](const Conjunction &set) {
    expectEmpty(set, opOf(*b.write), [&] {
      Shown shown{set, {}, {}};
      showPoint(shown, *b.write, y.point);
      showPoint(shown, *a.write, x.point);
      for (auto [i, name] : llvm::enumerate(b.write->names))
        shown.names[i] = name;
      report({opOf(*b.write), "T3",
              b.write->describe() + " writes an element of " + describeBuffer(b.write->buffer) +
                  " that " + (isSelf ? "another iteration" : whose(*a.write)) + " writes too",
              sample(shown), a.write->leaf->block->getLoc(), "the other write is here"});
    });
  };
  if (!isSelf)
    return clash(both);
  // Two different points; either order of the pair is the same pair.
  for (auto [p, q] : llvm::zip(x.point, y.point)) {
    Conjunction less = both;
    less.addNegated(q.minus(p));
    if (!less.isProvedEmpty())
      clash(less);
  }
}

void Checks::reportUncovered(const Access &read, ArrayRef<Conjunction> covers) {
  SmallVector<unsigned> dims;
  for (unsigned i = 0; i < read.numPoint; ++i)
    dims.push_back(model.getNumShared() + i);
  unsigned numSymbols = model.getSpace().size();
  bool overflows = read.set.hasOverflow();
  SmallVector<presburger::IntegerPolyhedron, 0> polys;
  for (const Conjunction &cover : covers) {
    overflows |= cover.hasOverflow();
    presburger::IntegerPolyhedron poly = cover.toPolyhedron(dims, numSymbols);
    // Locals that equalities fix disappear.
    polys.push_back(projectOut(std::move(poly), dims.size(), dims.size()));
  }
  if (overflows)
    return reportOpen(opOf(read));
  presburger::IntegerPolyhedron all = read.set.toPolyhedron(dims, numSymbols);
  if (isCovered(all, polys))
    return;
  if (model.hasProducts() &&
      model.forEachCase(read.set, [&](const Conjunction &part) { return isCovered(part.toPolyhedron(dims, numSymbols), polys); }))
    return;
  auto point = findSample(subtract(all, polys));
  report({opOf(read), "T4",
          (read.kind == Access::Result ? "no block writes an element of the result "
                                       : read.describe() + " reads an element of ") +
              describeBuffer(read.buffer) +
              (read.kind == Access::Result ? "" : " that no block writes"),
          point ? sampleToString(*point, read.names, model.getSpace()) : "", read.buffer.getLoc(),
          "the buffer is here"});
}

/// `the parallel loop 'k' (level core)`
static std::string describeLoop(const Step &step, StringRef what) {
  std::string text = ("the " + what + "loop '" + step.name + "'").str();
  return step.level == LoopLevel::None ? text : text + " (level " + stringifyLoopLevel(step.level).str() + ")";
}

/// What a read does by the order instead of coming after the write.
static std::string describe(const NotBefore &found) {
  if (found.isSame())
    return "in the very iteration that writes it";
  bool isLoop = found.at->kind == Step::Key;
  if (found.unwaited != LoopLevel::None) {
    StringRef unit = found.unwaited == LoopLevel::Core ? "core" : found.unwaited == LoopLevel::Grid ? "thread block" : "unit";
    StringRef sync = found.unwaited == LoopLevel::Core ? "cores" : stringifyLoopLevel(found.unwaited);
    return ("that another " + unit + " writes, and units do not wait in between: expected " +
            (isLoop ? "sync = " + sync + " on " + describeLoop(*found.at, "") + ", or on one inside"
                    : "before = " + sync + " on this nest, or on one between the two"))
        .str();
  }
  if (found.unordered)
    return isLoop ? "while another iteration of " + describeLoop(*found.at, "parallel ") + " writes it"
                  : "while another block of the nest writes it";
  return isLoop ? "in " + describeLoop(*found.at, "") + " before it is written" : "before it is written";
}

void Checks::checkRead(const Access &read, ArrayRef<Image> images) {
  SmallVector<Conjunction, 0> covers;
  bool plain = true;
  for (const Image &image : images) {
    if (isDone())
      return;
    Conjunction pair = read.set;
    Placed write = model.place(image, read.cell, pair);
    if (pair.isFalse())
      continue;
    plain &= image.numRest == 0;
    covers.push_back(pair);
    if (!read.leaf)
      continue;
    forEachNotBefore(pair, {image.write->leaf, write.keys}, {read.leaf, read.keys},
                     [&](const NotBefore &found) {
                       return expectEmpty(found.set, opOf(read), [&] {
                         Shown shown = show(found.set, read);
                         showPoint(shown, *image.write, write.point);
                         bool isUnwaited = found.unwaited != LoopLevel::None;
                         report({opOf(read), isUnwaited ? "T13" : "T2",
                                 read.describe() + " reads an element of " +
                                     describeBuffer(read.buffer) + " " + describe(found),
                                 sample(shown), image.write->leaf->block->getLoc(),
                                 "it is written here, " + whose(*image.write)});
                       });
                     });
  }
  if (isDone() || (plain && isProvedCovered(read.set, covers)))
    return;
  reportUncovered(read, covers);
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

void Checks::checkBuffer(Value buffer) {
  ArrayRef<std::unique_ptr<Access>> writes = model.getWrites(buffer),
                                    reads = model.getReads(buffer);
  for (ArrayRef<std::unique_ptr<Access>> accesses : {writes, reads})
    for (const std::unique_ptr<Access> &access : accesses)
      checkBounds(*access);
  auto op = buffer.getDefiningOp<BufferOp>();
  if (!op || isDone())
    return;
  SmallVector<Image, 0> images;
  for (const std::unique_ptr<Access> &write : writes)
    images.push_back(model.getImage(*write));
  for (unsigned i = 0; i < images.size(); ++i)
    for (unsigned j = i; j < images.size() && !isDone(); ++j)
      checkSingle(images[i], images[j]);
  for (const std::unique_ptr<Access> &read : reads)
    checkRead(*read, images);
  if (op.keepsAllPlanes())
    return;
  ArrayRef<int64_t> live = *op.getLive();
  for (const std::unique_ptr<Access> &read : reads)
    for (const Image &write : images)
      for (const Image &clobber : images)
        if (!isDone())
          checkLive(*read, write, clobber, live);
}

LogicalResult Checks::run() {
  if (graph.isExternal())
    return success();
  checkInterface();
  bool built = model.build([&](Operation *op, StringRef number, const Twine &message) {
    report({op, number, message.str(), "", std::nullopt, ""});
  });
  // Without an order there is nothing to ask.
  if (!built)
    return failure();
  for (ArrayRef<BlockOp> nest : model.getNests())
    checkNest(nest);
  for (const std::unique_ptr<Leaf> &leaf : model.getLeaves()) {
    BlockOp block = leaf->block;
    checkPieces(block, block.getReads(), block.getBody().getArgumentTypes(), "read");
    if (!block.getIdentity().empty() && !block.getCombine().empty())
      checkPieces(block, block.getIdentity(), block.getCombine().getArgumentTypes(), "identity");
  }
  for (Value buffer : model.getBuffers())
    checkBuffer(buffer);
  for (const std::unique_ptr<Leaf> &leaf : model.getLeaves())
    checkPlacements(*leaf);
  for (const std::unique_ptr<Leaf> &leaf : model.getLeaves())
    checkHanded(*leaf);
  for (const std::unique_ptr<Leaf> &leaf : model.getLeaves())
    checkCut(leaf->block);
  checkSlots();
  checkInPlace();
  checkEdges();
  auto results = dyn_cast<ReturnOp>(graph.getBody().front().back());
  for (Value buffer : results ? results.getOperands() : ValueRange()) {
    std::optional<Access> result = model.getResult(buffer);
    if (!result) {
      report({graph, "T0", "a length of a result is not quasi-affine", "", std::nullopt, ""});
      continue;
    }
    SmallVector<Image, 0> images;
    for (const std::unique_ptr<Access> &write : model.getWrites(buffer))
      images.push_back(model.getImage(*write));
    checkRead(*result, images);
    if (auto op = buffer.getDefiningOp<BufferOp>(); op && !op.keepsAllPlanes())
      report({graph, "T8",
              "the result " + describeBuffer(buffer) + " keeps all its planes, `live` says fewer",
              "", buffer.getLoc(), "the buffer is here"});
  }
  return success(numErrors == 0);
}

LogicalResult etdg::validateGraph(GraphOp graph, const ValidateOptions &options) {
  if (graph.isExternal())
    return Checks(graph, options).run();
  return forEachChoice(graph, [&](GraphOp chosen) { return Checks(chosen, options).run(); });
}
