//===- MergeLeaves.cpp - leaves joined and taken apart --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two leaves at the same points become one whose body is both bodies; a leaf of
// several statements becomes one leaf for each (FT §5.1, operation node lowering,
// without scalar loops; docs/optimiser.md, What merges).
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

namespace {
/// What becomes of the reads of `b` where `a` and `b` are one leaf.
struct LeafJoin {
  /// The builder of `a`, over the symbols and operands of both.
  BlockBuilder merged;
  SmallVector<ReadAttr> reads;   // of b
  SmallVector<WriteAttr> writes; // of b
  /// For each read of b: the write of a that gives its value.
  SmallVector<std::optional<unsigned>> fromWrite;
  std::string why;

  bool plan(BlockOp a, BlockOp b);
};
} // namespace

/// Whether the maps give different elements at every point.
static bool isAlwaysDifferent(AffineMap x, AffineMap y) {
  for (auto [p, q] : llvm::zip(x.getResults(), y.getResults())) {
    LinearForm difference = LinearForm::of(p - q);
    if (difference.terms.empty() && difference.constant != 0)
      return true;
  }
  return false;
}

bool LeafJoin::plan(BlockOp a, BlockOp b) {
  auto refuse = [&](const Twine &reason) {
    why = reason.str();
    return false;
  };
  if (!a.isLeaf() || !b.isLeaf())
    return refuse("one is no leaf");
  if (a->getBlock() != b->getBlock() || a.getNumAncestors() != b.getNumAncestors() ||
      a.getOperators() != b.getOperators())
    return refuse("their dimensions differ");
  if (!a.getCombine().empty() || !b.getCombine().empty())
    return refuse("one combines partial states");
  merged = BlockBuilder::from(a);
  BlockBuilder other = BlockBuilder::from(b);
  BlockImporter importer(merged, other);
  if (importer.set(other.domain) != canonicalizeSet(merged.domain))
    return refuse("their domains differ");
  SmallVector<unsigned> written;
  for (ReadAttr read : other.reads) {
    read = importer.read(read);
    std::optional<unsigned> from;
    for (auto [w, write] : llvm::enumerate(merged.writes)) {
      for (PieceAttr piece : read.getPieces()) {
        if (piece.getKind() != SourceKind::Buffer)
          continue;
        for (GatherAttr gather : piece.getGathers())
          if (gather.getOperand() == write.getOperand())
            return refuse("an index comes from the other");
        if (piece.getOperand() != write.getOperand())
          continue;
        AffineMap map = piece.getMap().getValue(), writeMap = write.getMap().getValue();
        if (read.getElementRank() == 0 && piece.getGathers().empty()) {
          if (read.getPieces().size() == 1 && map == writeMap) {
            from = w;
            continue;
          }
          if (isAlwaysDifferent(map, writeMap))
            continue;
        }
        return refuse("a read is not the element that the other writes at this point");
      }
    }
    reads.push_back(read);
    fromWrite.push_back(from);
  }
  for (WriteAttr write : other.writes)
    writes.push_back(importer.write(write));
  return true;
}

bool etdg::canMergeLeaves(BlockOp a, BlockOp b, std::string *why) {
  LeafJoin join;
  bool can = join.plan(a, b);
  if (why)
    *why = join.why;
  return can;
}

/// `cell` of `cell_1`: statements of a leaf that was split.
static StringRef getStatementBase(BlockOp block) {
  auto [base, number] = block.getBlockName().value_or("").rsplit('_');
  return number.empty() || !llvm::all_of(number, llvm::isDigit) ? StringRef() : base;
}

/// Whether nothing but the two touches a buffer of the merged block, and it is read as a value only: it is gone.
static bool isGone(const BlockBuilder &spec, int64_t operand, BlockOp a, BlockOp b) {
  Value buffer = spec.buffers[operand];
  if (!buffer.getDefiningOp<BufferOp>())
    return false;
  for (Operation *user : buffer.getUsers())
    if (user != a && user != b)
      return false;
  for (ReadAttr read : spec.reads)
    for (PieceAttr piece : read.getPieces()) {
      if (piece.getKind() == SourceKind::Buffer && piece.getOperand() == operand)
        return false;
      for (GatherAttr gather : piece.getGathers())
        if (gather.getOperand() == operand)
          return false;
    }
  return true;
}

/// The bodies one after the other: a's results stand for what b reads of them, the others of b's reads are those at `slot`.
static void joinBodies(BlockOp a, BlockOp b, BlockOp merged, const LeafJoin &join, unsigned numReadsA, ArrayRef<unsigned> slot,
                       ArrayRef<unsigned> keptYields) {
  OpBuilder builder(merged);
  Block &body = merged.getBody().front(), &bodyA = a.getBody().front(),
        &bodyB = b.getBody().front();
  Operation *yieldA = bodyA.getTerminator(), *yieldB = bodyB.getTerminator();
  SmallVector<Value> valuesA(yieldA->getOperands());
  for (unsigned i = 0; i < numReadsA; ++i)
    bodyA.getArgument(i).replaceAllUsesWith(body.getArgument(i));
  for (Value &value : valuesA)
    if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == &bodyA)
      value = body.getArgument(argument.getArgNumber());
  for (unsigned i = 0; i < join.reads.size(); ++i) {
    Value value = join.fromWrite[i] ? valuesA[*join.fromWrite[i]] : body.getArgument(slot[i]);
    bodyB.getArgument(i).replaceAllUsesWith(value);
  }
  SmallVector<Value> all(valuesA);
  llvm::append_range(all, yieldB->getOperands());
  yieldA->erase();
  yieldB->erase();
  body.getOperations().splice(body.end(), bodyA.getOperations());
  body.getOperations().splice(body.end(), bodyB.getOperations());
  builder.setInsertionPointToEnd(&body);
  YieldOp::create(builder, b.getLoc(),
                  llvm::map_to_vector(keptYields, [&](unsigned i) { return all[i]; }));
}

BlockOp etdg::mergeLeaves(BlockOp a, BlockOp b) {
  LeafJoin join;
  if (!join.plan(a, b))
    return {};
  BlockBuilder &spec = join.merged;
  StringRef base = getStatementBase(b);
  if (!base.empty() && (base == getStatementBase(a) || base == a.getBlockName().value_or("")))
    spec.name = base.str();
  unsigned numReadsA = spec.reads.size();
  SmallVector<Type> types(a.getBody().getArgumentTypes());
  SmallVector<unsigned> slot; // of each read of b
  for (auto [i, read] : llvm::enumerate(join.reads)) {
    Type type = b.getBody().getArgument(i).getType();
    unsigned at = 0;
    if (!join.fromWrite[i]) {
      for (; at < spec.reads.size(); ++at)
        if (spec.reads[at] == read && types[at] == type)
          break;
      if (at == spec.reads.size()) {
        spec.reads.push_back(read);
        types.push_back(type);
      }
    }
    slot.push_back(at);
  }
  SmallVector<Value> gone;
  SmallVector<WriteAttr> allWrites(spec.writes);
  llvm::append_range(allWrites, join.writes);
  SmallVector<WriteAttr> keptWrites;
  SmallVector<unsigned> keptYields;
  for (auto [i, write] : llvm::enumerate(allWrites)) {
    if (isGone(spec, write.getOperand(), a, b)) {
      gone.push_back(spec.buffers[write.getOperand()]);
      continue;
    }
    keptWrites.push_back(write);
    keptYields.push_back(i);
  }
  if (keptWrites.empty()) {
    keptWrites.push_back(allWrites.back());
    keptYields.push_back(allWrites.size() - 1);
    llvm::erase(gone, spec.buffers[allWrites.back().getOperand()]);
  }
  spec.writes = keptWrites;

  OpBuilder builder(b);
  BlockOp merged = spec.build(builder, b.getLoc(), types);
  joinBodies(a, b, merged, join, numReadsA, slot, keptYields);
  a.erase();
  b.erase();
  for (Value buffer : gone)
    if (buffer.use_empty())
      if (Operation *def = buffer.getDefiningOp())
        def->erase();
  return merged;
}

//===----------------------------------------------------------------------===//
// Flattening
//===----------------------------------------------------------------------===//

static bool mayReassociate(BlockOp block) {
  for (unsigned d = 0; d < block.getNumOwnDims(); ++d) {
    ft::OperatorKind kind = block.getOperator(d);
    if (kind == ft::OperatorKind::Reduce || kind == ft::OperatorKind::Fold ||
        kind == ft::OperatorKind::Scan)
      return true;
  }
  return false;
}

BlockOp etdg::flattenBlock(BlockOp block) {
  if (block.isLeaf())
    return block;
  Block &body = block.getBody().front();
  BlockOp child;
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (isa<BufferOp, ConstantOp>(op) && op.use_empty()) {
      op.erase();
      continue;
    }
    if (!isa<BlockOp>(op) || child)
      return block;
    child = cast<BlockOp>(op);
  }
  // The blocks of a nest keep their number of dimensions.
  if (!child || (block.getNest() && child.getNumOwnDims() != 0))
    return block;
  // The innermost dimension that may be cut keeps its region.
  if (!block.getCombine().empty() && (!child.getCombine().empty() || mayReassociate(child)))
    return block;
  BlockBuilder spec = BlockBuilder::from(child), outer = BlockBuilder::from(block);
  BlockImporter importer(spec, outer);
  unsigned numDims = spec.dims.size(), numSymbols = spec.symbols.size();
  SmallVector<AffineExpr> same;
  for (unsigned d = 0; d < outer.dims.size(); ++d)
    same.push_back(getAffineDimExpr(d, block.getContext()));
  spec.domain =
      intersect(remapSet(importer.set(outer.domain), same, numDims, numSymbols), spec.domain);
  spec.numAncestors = outer.numAncestors;
  spec.operators.insert(spec.operators.begin(), outer.operators.begin(), outer.operators.end());
  spec.name = outer.name;
  if (!block.getCombine().empty()) {
    for (ReadAttr read : outer.identity)
      spec.identity.push_back(transformRead(
          read,
          [&](AffineMap map, int64_t) {
            AffineMap wide = importer.map(map);
            return remapMap(wide, same, numDims, numSymbols);
          },
          [&](IntegerSet set) { return remapSet(importer.set(set), same, numDims, numSymbols); },
          [&](int64_t operand) { return importer.operand(operand); }));
    child.getCombine().takeBody(block.getCombine());
  }
  child->moveBefore(block);
  if (child.getNumOwnDims() == 0) {
    child->setDiscardableAttrs(block->getDiscardableAttrDictionary());
    if (ScheduleAttr schedule = block.getScheduleAttr())
      child.setScheduleAttr(schedule);
    else
      child.removeScheduleAttr();
  } else {
    child.removeScheduleAttr();
  }
  spec.assign(child);
  block.erase();
  return child;
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// Constants, empty tensors and scalars: repeated in each leaf, buffers hold tensors.
static bool isRepeated(Operation &op) {
  if (op.hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op))
    return true;
  return op.getNumResults() > 0 && isMemoryEffectFree(&op) &&
         llvm::all_of(op.getResultTypes(), [](Type t) { return t.isIntOrIndexOrFloat(); });
}

namespace {
/// Where a value of the body is found by other statements.
struct Place {
  Value buffer;
  AffineMap map;
};

class LeafSplitter {
public:
  explicit LeafSplitter(BlockOp leaf) : leaf(leaf), builder(leaf), spec(BlockBuilder::from(leaf)) {}
  unsigned run();

private:
  void placeResults();
  void require(Value value, llvm::SetVector<Value> &reads, llvm::SetVector<Operation *> &repeated);
  void emit(Operation *statement, ArrayRef<unsigned> writes);

  BlockOp leaf;
  OpBuilder builder;
  BlockBuilder spec;
  llvm::MapVector<Value, Place> places;
  llvm::DenseMap<Operation *, SmallVector<unsigned>> writesOf;
  unsigned count = 0;            // leaves made
  SmallVector<unsigned> commits; // writes that a leaf at the end makes
};
} // namespace

void LeafSplitter::require(Value value, llvm::SetVector<Value> &reads,
                           llvm::SetVector<Operation *> &repeated) {
  Operation *def = value.getDefiningOp();
  if (!def || !isRepeated(*def)) {
    reads.insert(value);
    return;
  }
  if (def->getBlock() != &leaf.getBody().front() || repeated.contains(def))
    return;
  for (Value operand : def->getOperands())
    require(operand, reads, repeated);
  llvm::SetVector<Value> above;
  getUsedValuesDefinedAbove(def->getRegions(), above);
  for (Value operand : above)
    require(operand, reads, repeated);
  repeated.insert(def);
}

/// A value that is yielded is where it is written; any other that is used by
/// another statement gets a buffer of this iteration.
void LeafSplitter::placeResults() {
  AffineMap nothing = AffineMap::get(spec.dims.size(), spec.symbols.size(), {}, leaf.getContext());
  Block &body = leaf.getBody().front();
  auto createBuffer = [&](Value value) {
    auto type = BufferType::get(leaf.getContext(), {}, cast<RankedTensorType>(value.getType()));
    Value buffer = BufferOp::create(builder, leaf.getLoc(), type, nullptr, nullptr);
    places[value] = {buffer, nothing};
  };
  for (auto [i, value] : llvm::enumerate(leaf.getYield().getOperands())) {
    Operation *def = value.getDefiningOp();
    auto buffer = leaf.getBuffers()[leaf.getWrite(i).getOperand()].getDefiningOp<BufferOp>();
    // Of planes that take each other's place, all are read before one is written.
    if (!def || isRepeated(*def) || !buffer.keepsAllPlanes()) {
      commits.push_back(i);
      continue;
    }
    writesOf[def].push_back(i);
    places.insert({value, {buffer.getResult(), leaf.getWrite(i).getMap().getValue()}});
  }
  for (Operation &op : body.without_terminator())
    if (!isRepeated(op))
      for (Value result : op.getResults())
        if (!places.contains(result) && !result.use_empty())
          createBuffer(result);
}

/// A leaf for one statement, or for none: what `writes` yield is copied.
void LeafSplitter::emit(Operation *statement, ArrayRef<unsigned> writes) {
  llvm::SetVector<Value> reads;
  llvm::SetVector<Operation *> repeated;
  BlockBuilder part;
  part.dims = spec.dims;
  part.numAncestors = spec.numAncestors;
  part.operators = spec.operators;
  part.symbols = spec.symbols;
  part.domain = spec.domain;
  SmallVector<Value> yields;
  if (statement) {
    for (Value operand : statement->getOperands())
      require(operand, reads, repeated);
    llvm::SetVector<Value> above;
    getUsedValuesDefinedAbove(statement->getRegions(), above);
    for (Value operand : above)
      require(operand, reads, repeated);
    for (Value result : statement->getResults()) {
      auto it = places.find(result);
      bool isPrivate = it != places.end() && it->second.map.getNumResults() == 0 &&
                       !llvm::is_contained(leaf.getBuffers(), it->second.buffer);
      if (!isPrivate)
        continue;
      part.writes.push_back(WriteAttr::get(leaf.getContext(), part.operandFor(it->second.buffer),
                                           AffineMapAttr::get(it->second.map)));
      yields.push_back(result);
    }
  }
  for (unsigned i : writes) {
    Value value = leaf.getYield().getOperand(i);
    if (!statement)
      require(value, reads, repeated);
    WriteAttr write = leaf.getWrite(i);
    part.writes.push_back(WriteAttr::get(
        leaf.getContext(), part.operandFor(leaf.getBuffers()[write.getOperand()]), write.getMap()));
    yields.push_back(value);
  }
  if (part.writes.empty())
    return; // nothing needs it
  SmallVector<Type> types;
  for (Value value : reads) {
    types.push_back(value.getType());
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == &leaf.getBody().front()) {
      part.reads.push_back(transformRead(
          spec.reads[argument.getArgNumber()], [](AffineMap map, int64_t) { return map; },
          [](IntegerSet set) { return set; },
          [&](int64_t operand) { return part.operandFor(spec.buffers[operand]); }));
      continue;
    }
    const Place &place = places[value];
    part.reads.push_back(ReadAttr::get(
        leaf.getContext(),
        PieceAttr::getBuffer(getUniverse(leaf.getContext(), spec.dims.size(), spec.symbols.size()),
                             part.operandFor(place.buffer), place.map),
        0));
  }
  Location loc = statement ? statement->getLoc() : leaf.getLoc();
  part.name = spec.name.empty() ? "" : spec.name + "_" + std::to_string(count);
  BlockOp block = part.build(builder, loc, types);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block.getBody().front());
  IRMapping mapping;
  mapping.map(reads.getArrayRef(), block.getBody().getArguments());
  for (Operation *op : repeated)
    builder.clone(*op, mapping);
  if (statement)
    builder.clone(*statement, mapping);
  YieldOp::create(builder, loc, llvm::map_to_vector(yields, [&](Value value) {
                    return mapping.lookupOrDefault(value);
                  }));
}

unsigned LeafSplitter::run() {
  placeResults();
  SmallVector<Operation *> statements;
  for (Operation &op : leaf.getBody().front().without_terminator())
    if (!isRepeated(op))
      statements.push_back(&op);
  for (Operation *op : statements) {
    emit(op, writesOf.lookup(op));
    ++count;
  }
  if (!commits.empty()) {
    emit(nullptr, commits);
    ++count;
  }
  leaf.erase();
  return count;
}

unsigned etdg::splitLeaf(BlockOp leaf) {
  if (!leaf.isLeaf())
    return 1;
  unsigned statements = 0;
  for (Operation &op : leaf.getBody().front().without_terminator()) {
    if (isRepeated(op))
      continue;
    ++statements;
    // What is no tensor of static shape has no buffer.
    for (Type type : op.getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape())
        return 1;
    }
  }
  if (statements <= 1)
    return 1;
  // Siblings of zero dimensions stand in a block; elsewhere they get one.
  if (leaf.getNumOwnDims() != 0 || !isa<BlockOp>(leaf->getParentOp()))
    splitOuterDims(leaf, leaf.getNumOwnDims());
  return LeafSplitter(leaf).run();
}
