//===- Accesses.cpp - the elements that a graph touches, as rows ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of domains, pieces and maps to rows, through the bridge of `Sets.h`.
//
//===----------------------------------------------------------------------===//
#include "Model.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;

std::string Access::describe() const {
  if (kind == Result)
    return "the result";
  std::string text = (kind == Write ? "write " : kind == Identity ? "identity " : "read ");
  text += std::to_string(index);
  if (piece)
    text += ", piece " + std::to_string(piece);
  return kind == GatherIndex ? "the gather of " + text : text;
}

std::string etdg::validator::describeBlock(BlockOp block) {
  if (auto name = block.getBlockName())
    return ("block @" + *name).str();
  return "block";
}

std::string etdg::validator::describeBuffer(Value buffer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    os << "argument " << argument.getArgNumber();
  else if (auto op = buffer.getDefiningOp<BufferOp>(); op && op.getNameHint())
    os << "buffer '" << *op.getNameHint() << "'";
  else
    os << "a buffer of type " << buffer.getType();
  return text;
}

//===----------------------------------------------------------------------===//
// From text to rows
//===----------------------------------------------------------------------===//

/// Collects rows over [shared | point | locals]. The bridge's variables are the
/// point, the symbols, the locals of facts, then further locals.
class Model::Flattener {
public:
  Flattener(const Model &model, const Group &group, unsigned numPoint)
      : model(model), group(group), numPoint(numPoint), builder(group.part.makeSet(numPoint)) {}

  /// None where the expression is no quasi-affine one.
  std::optional<Row> flatten(AffineExpr expr, ArrayRef<StringAttr> symbols) {
    std::optional<LinearExpr> linear = builder.flatten(expr, symbols);
    if (!linear || linear->overflow)
      return std::nullopt;
    Row row = Row::number(linear->constant);
    for (auto [v, c] : llvm::enumerate(linear->coefficients))
      if (c)
        row.add(columnOf(v), c);
    return row;
  }
  bool add(IntegerSet set, ArrayRef<StringAttr> symbols) {
    if (isUniverse(set))
      return true;
    for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
      std::optional<Row> row = flatten(set.getConstraint(i), symbols);
      if (!row)
        return false;
      if (set.isEq(i))
        rows.addEq(*row);
      else
        rows.addGe(*row);
    }
    return true;
  }
  bool addDomain(BlockOp block) {
    for (BlockOp b = block; b; b = b.getParentBlock())
      if (!add(b.getDomainSet(), b.getSymbolNames()))
        return false;
    return true;
  }
  Row point(unsigned i) const { return Row::variable(model.numShared + i); }
  /// 0 ≤ row < length
  bool addRange(const Row &row, ft::LengthAttr length) {
    std::optional<Row> upper = flatten(length.getExpr(), length.getNames());
    if (!upper)
      return false;
    rows.addGe(row);
    upper->addScaled(row, -1);
    upper->addConstant(-1);
    rows.addGe(*upper);
    return true;
  }
  void addRange(const Row &row, int64_t size) {
    rows.addGe(row);
    Row upper = row.negated();
    upper.addConstant(size - 1);
    rows.addGe(upper);
  }

  /// The facts, what was added, and the meaning of the locals.
  Conjunction finish() {
    Conjunction result = group.facts;
    const presburger::IntegerPolyhedron &poly = builder.get();
    result.reserveVars(columnOf(poly.getNumVars()));
    auto toRow = [&](ArrayRef<llvm::DynamicAPInt> wide) {
      Row row = Row::number(int64_t(wide.back()));
      for (auto [v, c] : llvm::enumerate(wide.drop_back()))
        if (c != 0)
          row.add(columnOf(v), int64_t(c));
      return row;
    };
    for (unsigned i = group.numEqs; i < poly.getNumEqualities(); ++i)
      result.addEq(toRow(poly.getEquality(i)));
    for (unsigned i = group.numGes; i < poly.getNumInequalities(); ++i)
      result.addGe(toRow(poly.getInequality(i)));
    result.add(rows);
    return result;
  }

private:
  unsigned columnOf(unsigned v) const {
    if (v < numPoint)
      return model.numShared + v;
    unsigned shared = group.variables.size(), i = v - numPoint;
    return i < shared ? group.variables[i] : model.numShared + numPoint + i - shared;
  }

  const Model &model;
  const Group &group;
  unsigned numPoint;
  SetBuilder builder;
  Conjunction rows;
};

Model::Model(GraphOp graph) : graph(graph), symbols(graph) {
  buildGroups();
  collectProducts();
}

void Model::buildGroups() {
  // Symbols, then blocks, then buffers.
  SmallVector<BlockOp> blocks;
  llvm::MapVector<Value, unsigned> bufferNumbers;
  auto addBuffer = [&](Value value) {
    if (isa<BufferType>(value.getType()))
      bufferNumbers.try_emplace(value, bufferNumbers.size());
  };
  llvm::for_each(graph.getBody().getArguments(), addBuffer);
  graph.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), addBuffer);
    if (auto block = dyn_cast<BlockOp>(op))
      blocks.push_back(block);
  });
  const SymbolSpace &space = symbols.getSpace();
  unsigned numSymbols = space.size(), firstBuffer = numSymbols + blocks.size();
  llvm::IntEqClasses classes(firstBuffer + bufferNumbers.size());
  auto joinSymbols = [&](const llvm::SmallBitVector &used, int with) {
    for (unsigned v : used.set_bits()) {
      classes.join(with < 0 ? v : with, v);
      with = with < 0 ? v : with;
    }
  };
  for (ft::LengthAttr fact : space.getFacts()) {
    llvm::SmallBitVector used(numSymbols);
    symbols.collect(fact.getExpr(), fact.getNames(), used);
    joinSymbols(used, -1);
  }
  for (auto &[buffer, number] : bufferNumbers) {
    llvm::SmallBitVector used(numSymbols);
    symbols.collect(cast<BufferType>(buffer.getType()), used);
    joinSymbols(used, firstBuffer + number);
  }
  for (auto [i, block] : llvm::enumerate(blocks)) {
    llvm::SmallBitVector used(numSymbols);
    symbols.collect(block, used);
    joinSymbols(used, numSymbols + i);
    for (Value buffer : block.getBuffers())
      classes.join(numSymbols + i, firstBuffer + bufferNumbers.lookup(buffer));
  }
  classes.compress();
  SmallVector<llvm::SmallBitVector> members(classes.getNumClasses(),
                                            llvm::SmallBitVector(numSymbols));
  for (unsigned v = 0; v < numSymbols; ++v)
    members[classes[v]].set(v);
  for (auto [i, block] : llvm::enumerate(blocks))
    groupOfBlock[block] = classes[numSymbols + i];
  for (auto &[buffer, number] : bufferNumbers)
    groupOfBuffer[buffer] = classes[firstBuffer + number];

  numShared = numSymbols;
  for (const llvm::SmallBitVector &used : members) {
    Group &group = groups.emplace_back(symbols.restrictTo(used));
    SetBuilder builder = group.part.makeSet(0);
    const presburger::IntegerPolyhedron &poly = builder.get();
    for (StringAttr name : group.part.space.getNames())
      group.variables.push_back(*space.find(name.getValue()));
    while (group.variables.size() < poly.getNumVars())
      group.variables.push_back(numShared++);
    group.numEqs = poly.getNumEqualities();
    group.numGes = poly.getNumInequalities();
    auto toRow = [&](ArrayRef<llvm::DynamicAPInt> wide) {
      Row row = Row::number(int64_t(wide.back()));
      for (auto [v, c] : llvm::enumerate(wide.drop_back()))
        if (c != 0)
          row.add(group.variables[v], int64_t(c));
      return row;
    };
    for (unsigned i = 0; i < group.numEqs; ++i)
      group.facts.addEq(toRow(poly.getEquality(i)));
    for (unsigned i = 0; i < group.numGes; ++i)
      group.facts.addGe(toRow(poly.getInequality(i)));
  }
  for (Group &group : groups)
    group.facts.reserveVars(numShared);
}

Conjunction Model::getFacts() const {
  Conjunction all;
  all.reserveVars(numShared);
  for (const Group &group : groups)
    all.add(group.facts);
  return all;
}

const Conjunction &Model::getFacts(const Access &access) const {
  return groupOf(access.buffer).facts;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static void notPresburger(Model::Report report, BlockOp block) {
  report(block, "T0",
         "a set, map or schedule is not quasi-affine: a dimension is multiplied or divided by a "
         "length, or a number is larger than 2^60");
}

unsigned Model::getNumOwnerDims(Value buffer) const {
  Operation *def = buffer.getDefiningOp();
  BlockOp owner = def ? def->getParentOfType<BlockOp>() : BlockOp();
  return owner ? owner.getNumDims() : 0;
}

std::optional<Conjunction> Model::getDomain(BlockOp block, ArrayRef<int64_t> elementShape) {
  unsigned numDims = block.getNumDims();
  Flattener flat(*this, groupOf(block), numDims + elementShape.size());
  if (!flat.addDomain(block))
    return std::nullopt;
  for (auto [i, size] : llvm::enumerate(elementShape))
    flat.addRange(flat.point(numDims + i), size);
  return flat.finish();
}

std::optional<Conjunction> Model::getPieceSet(BlockOp block, IntegerSet set, unsigned numPoint) {
  Flattener flat(*this, groupOf(block), numPoint);
  if (!flat.add(set, block.getSymbolNames()))
    return std::nullopt;
  return flat.finish();
}

bool Model::addAccess(Leaf &leaf, Access::Kind kind, unsigned index, unsigned piece,
                      int64_t operand, AffineMap map, IntegerSet set, ArrayRef<GatherAttr> gathers,
                      ArrayRef<int64_t> elementShape, Report report) {
  BlockOp block = leaf.block;
  SmallVector<StringAttr> symbols = block.getSymbolNames();
  auto access = std::make_unique<Access>();
  access->kind = kind;
  access->leaf = &leaf;
  access->buffer = block.getBuffers()[operand];
  access->index = index;
  access->piece = piece;
  access->names = block.getDimNames();
  auto type = cast<BufferType>(access->buffer.getType());
  unsigned numDims = block.getNumDims(), depth = type.getDepth();
  SmallVector<int> gatheredAt(map.getNumResults(), -1);
  unsigned numGathered = 0;
  for (GatherAttr gather : gathers)
    if (gather.getPosition() < static_cast<int64_t>(depth) && gatheredAt[gather.getPosition()] < 0)
      gatheredAt[gather.getPosition()] = numDims + elementShape.size() + numGathered++;
    else if (gather.getPosition() >= static_cast<int64_t>(depth))
      gatheredAt[gather.getPosition()] = INT_MAX; // data picks a scalar of the element
  access->numPoint = numDims + elementShape.size() + numGathered;
  access->gathers = numGathered != 0;
  Builder names(block.getContext());
  for (unsigned i = 0; i < elementShape.size(); ++i)
    access->names.push_back(names.getStringAttr("e" + Twine(i)));
  for (int at : gatheredAt)
    if (at >= 0 && at != INT_MAX)
      access->names.push_back(
          names.getStringAttr("index " + Twine(at - numDims - elementShape.size())));

  Flattener flat(*this, groupOf(block), access->numPoint);
  bool ok = flat.addDomain(block);
  for (auto [i, size] : llvm::enumerate(elementShape))
    flat.addRange(flat.point(numDims + i), size);
  if (set)
    ok &= flat.add(set, symbols);
  for (unsigned i = 0, e = getNumOwnerDims(access->buffer); i < e; ++i)
    access->cell.push_back(flat.point(i));
  for (unsigned d = 0; d < map.getNumResults() && ok; ++d) {
    if (gatheredAt[d] == INT_MAX)
      continue;
    if (gatheredAt[d] >= 0) {
      access->cell.push_back(flat.point(gatheredAt[d]));
      access->lengths.push_back(std::nullopt);
      ok &= flat.addRange(access->cell.back(), type.getLengths()[d]);
      continue;
    }
    std::optional<Row> row = flat.flatten(map.getResult(d), symbols);
    ok &= row.has_value();
    if (d < depth) {
      ft::LengthAttr length = type.getLengths()[d];
      access->lengths.push_back(flat.flatten(length.getExpr(), length.getNames()));
      ok &= access->lengths.back().has_value();
      if (row)
        access->cell.push_back(*row);
    } else if (row) {
      access->scalar.push_back(*row);
    }
  }
  for (AffineExpr key : leaf.keys) {
    if (!ok)
      break;
    std::optional<Row> row = flat.flatten(key, {});
    ok &= row.has_value();
    if (row)
      access->keys.push_back(*row);
  }
  if (!ok) {
    notPresburger(report, block);
    return false;
  }
  access->set = flat.finish();
  OfBuffer &of = accesses[access->buffer];
  (kind == Access::Write ? of.writes : of.reads).push_back(std::move(access));
  return true;
}

bool Model::addReads(Leaf &leaf, ArrayAttr reads, TypeRange types, Access::Kind kind,
                     Report report) {
  for (auto [i, read] : llvm::enumerate(reads.getAsRange<ReadAttr>())) {
    SmallVector<int64_t> shape;
    if (read.getElementRank() && i < types.size())
      llvm::append_range(shape, cast<RankedTensorType>(types[i]).getShape());
    for (auto [p, piece] : llvm::enumerate(read.getPieces())) {
      if (piece.getKind() != SourceKind::Buffer)
        continue;
      IntegerSet set = piece.getSet().getValue();
      if (!addAccess(leaf, kind, i, p, piece.getOperand(), piece.getMap().getValue(), set,
                     piece.getGathers(), shape, report))
        return false;
      for (GatherAttr gather : piece.getGathers())
        if (!addAccess(leaf, Access::GatherIndex, i, p, gather.getOperand(),
                       gather.getMap().getValue(), set, {}, shape, report))
          return false;
    }
  }
  return true;
}

bool Model::addAccesses(Leaf &leaf, Report report) {
  BlockOp block = leaf.block;
  if (!addReads(leaf, block.getReads(), block.getBody().getArgumentTypes(), Access::Read, report))
    return false;
  if (!block.getIdentity().empty() && !block.getCombine().empty() &&
      !addReads(leaf, block.getIdentity(), block.getCombine().getArgumentTypes(), Access::Identity,
                report))
    return false;
  for (auto [i, write] : llvm::enumerate(block.getWrites().getAsRange<WriteAttr>()))
    if (!addAccess(leaf, Access::Write, i, 0, write.getOperand(), write.getMap().getValue(),
                   IntegerSet(), {}, {}, report))
      return false;
  return true;
}

std::optional<Access> Model::getResult(Value buffer) {
  auto type = cast<BufferType>(buffer.getType());
  Access access;
  access.kind = Access::Result;
  access.leaf = nullptr;
  access.buffer = buffer;
  access.numPoint = type.getDepth();
  Flattener flat(*this, groupOf(buffer), access.numPoint);
  for (auto [d, length] : llvm::enumerate(type.getLengths())) {
    access.cell.push_back(flat.point(d));
    access.names.push_back(StringAttr::get(buffer.getContext(), "index " + Twine(d)));
    if (!flat.addRange(flat.point(d), length))
      return std::nullopt;
  }
  access.set = flat.finish();
  return access;
}

ArrayRef<std::unique_ptr<Access>> Model::getWrites(Value buffer) const {
  auto it = accesses.find(buffer);
  return it == accesses.end() ? ArrayRef<std::unique_ptr<Access>>() : it->second.writes;
}

ArrayRef<std::unique_ptr<Access>> Model::getReads(Value buffer) const {
  auto it = accesses.find(buffer);
  return it == accesses.end() ? ArrayRef<std::unique_ptr<Access>>() : it->second.reads;
}

//===----------------------------------------------------------------------===//
// Writes as sets of elements
//===----------------------------------------------------------------------===//

Image Model::getImage(const Access &write) const {
  Image image;
  image.write = &write;
  image.numCell = write.cell.size();
  // [shared | cell | point | locals], the elements being equal to the map's results.
  unsigned shift = image.numCell;
  auto move = [&](const Row &row) {
    Row moved = Row::number(row.constant);
    moved.overflow |= row.overflow;
    for (auto [v, c] : llvm::enumerate(row.coefficients))
      if (c)
        moved.add(v < numShared ? v : v + shift, c);
    return moved;
  };
  Conjunction set;
  unsigned numVars = write.set.getNumVars() + shift;
  set.reserveVars(numVars);
  for (const Row &row : write.set.getEqs())
    set.addEq(move(row));
  for (const Row &row : write.set.getGes())
    set.addGe(move(row));
  if (write.set.isFalse())
    set.addGe(Row::number(-1));
  for (auto [i, row] : llvm::enumerate(write.cell)) {
    Row equal = move(row);
    equal.add(numShared + i, -1);
    set.addEq(equal);
  }
  SmallVector<Row> tracked;
  for (unsigned i = 0; i < write.numPoint; ++i)
    tracked.push_back(move(Row::variable(numShared + i)));
  for (const Row &row : write.keys)
    tracked.push_back(move(row));
  SmallVector<unsigned> solved = set.eliminate(numShared + shift, numVars, tracked);
  // Renumber what is left.
  SmallVector<unsigned> column(numVars, 0);
  unsigned next = numShared + shift;
  for (unsigned v = 0; v < numVars; ++v)
    column[v] = v < numShared + shift ? v : llvm::is_contained(solved, v) ? 0 : next++;
  image.numRest = next - numShared - shift;
  auto renumber = [&](const Row &row) {
    Row moved = Row::number(row.constant);
    moved.overflow |= row.overflow;
    for (auto [v, c] : llvm::enumerate(row.coefficients))
      if (c)
        moved.add(column[v], c);
    return moved;
  };
  image.set.reserveVars(next);
  for (const Row &row : set.getEqs())
    image.set.addEq(renumber(row));
  for (const Row &row : set.getGes())
    image.set.addGe(renumber(row));
  if (set.isFalse())
    image.set.addGe(Row::number(-1));
  if (set.hasOverflow()) {
    Row lost;
    lost.overflow = true;
    image.set.addGe(lost);
  }
  for (auto [i, row] : llvm::enumerate(tracked))
    (i < write.numPoint ? image.point : image.keys).push_back(renumber(row));
  return image;
}

Placed Model::place(const Image &image, ArrayRef<Row> cell, Conjunction &target) const {
  unsigned rest = target.getNumVars();
  target.reserveVars(rest + image.numRest);
  auto compose = [&](const Row &row) {
    Row result = Row::number(row.constant);
    result.overflow |= row.overflow;
    for (auto [v, c] : llvm::enumerate(row.coefficients)) {
      if (!c)
        continue;
      if (v < numShared)
        result.add(v, c);
      else if (v < numShared + image.numCell)
        result.addScaled(cell[v - numShared], c);
      else
        result.add(rest + v - numShared - image.numCell, c);
    }
    return result;
  };
  for (const Row &row : image.set.getEqs())
    target.addEq(compose(row));
  for (const Row &row : image.set.getGes())
    target.addGe(compose(row));
  if (image.set.isFalse())
    target.addGe(Row::number(-1));
  if (image.set.hasOverflow()) {
    Row lost;
    lost.overflow = true;
    target.addGe(lost);
  }
  Placed placed;
  for (const Row &row : image.point)
    placed.point.push_back(compose(row));
  for (const Row &row : image.keys)
    placed.keys.push_back(compose(row));
  return placed;
}
