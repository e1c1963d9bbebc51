//===- SpreadRows.cpp - rows of whole tensors as iterations ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `etdg-spread-rows`: statements on whole tensors get the iteration space that a
// program over lists of their rows would have. See docs/etdg.md.
//
//===----------------------------------------------------------------------===//
#include "SpreadRows.h"

#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Machine/FindMachine.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGSPREADROWS
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

/// Constants, empty tensors and scalars are made wherever they are used.
static bool isRepeated(Operation &op) {
  if (op.hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op))
    return true;
  return op.getNumResults() > 0 && isMemoryEffectFree(&op) &&
         llvm::all_of(op.getResultTypes(), [](Type t) { return t.isIntOrIndexOrFloat(); });
}

static SmallVector<Operation *> statementsOf(BlockOp leaf) {
  SmallVector<Operation *> statements;
  for (Operation &op : leaf.getBody().front().without_terminator())
    if (!isRepeated(op))
      statements.push_back(&op);
  return statements;
}

/// A leaf of the graph's own body that runs once, and writes buffers of one tensor each.
static bool isWhole(BlockOp block) {
  if (!block.isLeaf() || block.getNumDims() != 0 || !block.getCombine().empty() || block.getSchedule() ||
      !isa<GraphOp>(block->getParentOp()) || !isUniverse(block.getDomainSet()))
    return false;
  return llvm::all_of(block.getWrites().getAsRange<WriteAttr>(), [&](WriteAttr write) {
    Value buffer = block.getBuffers()[write.getOperand()];
    return cast<BufferType>(buffer.getType()).getDepth() == 0 && buffer.getDefiningOp<BufferOp>();
  });
}

/// Says what the machine's numbers decide of a leaf with rows.
static void explainTakenApart(BlockOp leaf, unsigned statements, double gain, double cost, const ft::Machine &machine) {
  if (gain <= 0)
    return;
  auto opts = remark::RemarkOpts::name("spread-rows").category("coarsen");
  auto remark = gain > cost ? remark::passed(leaf.getLoc(), opts) : remark::missed(leaf.getLoc(), opts);
  if (!remark)
    return;
  auto nanoseconds = [](double seconds) { return int64_t(std::ceil(seconds * 1e9)); };
  remark << remark::reason("{0} statements of {1} {2}: rows on {3} units gain {4} ns, blocks by themselves cost {5} ns", statements, describeBlock(leaf),
                           gain > cost ? "are taken apart" : "stay one leaf", machine.units, nanoseconds(gain), nanoseconds(cost));
}

/// Whether what the rows of a leaf's statements gain on all units is more than it costs that those
/// without rows run by themselves, between them.
static bool isWorthTakingApart(BlockOp leaf, ArrayRef<Operation *> statements, const ft::Machine &machine) {
  double gain = 0;
  unsigned without = 0;
  for (Operation *op : statements) {
    RowSpace space = getRowSpace(op);
    int64_t points = space.points, inner = space.getInnerPoints(space.lengths.size());
    if (space.lengths.empty() || points <= inner) {
      ++without;
      continue;
    }
    bool reduces = points > cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
    double rate = reduces ? machine.productFlops() / 2 : machine.elementwise();
    gain += points / rate * (1 - 1.0 / std::min<int64_t>(machine.units, points / inner));
  }
  const double cost = (without + 1) * machine.itemSeconds();
  explainTakenApart(leaf, unsigned(statements.size()), gain, cost, machine);
  return gain > cost;
}

/// Splits a leaf of several statements, where that pays, into the graph's own body.
static SmallVector<BlockOp> takeApart(BlockOp leaf, const ft::Machine &machine) {
  SmallVector<Operation *> statements = statementsOf(leaf);
  if (statements.size() <= 1 || !isWorthTakingApart(leaf, statements, machine))
    return {leaf};
  Operation *before = leaf->getPrevNode();
  Block *body = leaf->getBlock();
  if (splitLeaf(leaf) <= 1)
    return {leaf};
  auto around = cast<BlockOp>(before ? before->getNextNode() : &body->front());
  SmallVector<BlockOp> leaves;
  for (Operation &op : llvm::make_early_inc_range(around.getBody().front().without_terminator())) {
    op.moveBefore(around);
    if (auto made = dyn_cast<BlockOp>(op))
      leaves.push_back(made);
  }
  around.erase();
  return leaves;
}

static Statement describe(BlockOp leaf) {
  Statement statement;
  statement.block = leaf;
  SmallVector<Operation *> statements = statementsOf(leaf);
  ValueRange yields = leaf.getYield().getOperands();
  if (statements.size() == 1 && llvm::all_of(yields, [&](Value v) { return v.getDefiningOp() == statements.front(); })) {
    statement.op = statements.front();
    statement.space = getRowSpace(statement.op);
  } else if (statements.empty()) {
    statement.space = getCopySpace(yields.getTypes(), leaf.getContext());
  }
  return statement;
}

/// Statements that came from one leaf and stayed whole are one again where nothing stands between.
static void joinAgain(ArrayRef<BlockOp> leaves) {
  BlockOp open;
  for (BlockOp leaf : leaves) {
    bool joins = open && leaf.getNumDims() == 0;
    for (Operation *op = joins ? open->getNextNode() : nullptr; joins && op != leaf; op = op->getNextNode())
      joins = isa<BufferOp, ConstantOp>(op);
    if (joins && canMergeLeaves(open, leaf))
      open = mergeLeaves(open, leaf);
    else
      open = leaf.getNumDims() == 0 ? leaf : BlockOp();
  }
}

/// The number of leading dimensions that all readers of an argument take as rows.
static unsigned commonDepth(Value buffer) {
  std::optional<unsigned> depth;
  for (Operation *user : llvm::SetVector<Operation *>(buffer.user_begin(), buffer.user_end())) {
    auto block = dyn_cast<BlockOp>(user);
    if (!block)
      return 0;
    SmallVector<ReadAttr> reads(block.getReads().getAsRange<ReadAttr>());
    llvm::append_range(reads, block.getIdentity().getAsRange<ReadAttr>());
    for (ReadAttr read : reads)
      for (PieceAttr piece : read.getPieces()) {
        for (GatherAttr gather : piece.getGathers())
          if (block.getBuffers()[gather.getOperand()] == buffer)
            return 0;
        if (piece.getKind() != SourceKind::Buffer || block.getBuffers()[piece.getOperand()] != buffer)
          continue;
        bool isWhole = read.getElementRank() == 0 && piece.getMap().getValue().getNumResults() == 0;
        std::optional<unsigned> plain = isWhole ? 0u : getPlainDepth(piece, read.getElementRank());
        if (plain)
          depth = std::min(depth.value_or(*plain), *plain);
      }
  }
  return depth.value_or(0);
}

/// Arguments that are read by rows alone become lists of them.
static void splitArguments(GraphOp graph) {
  for (BlockArgument argument : graph.getBody().getArguments())
    if (cast<BufferType>(argument.getType()).getDepth() == 0)
      if (unsigned depth = commonDepth(argument))
        splitElement(argument, depth);
}

static void updateType(GraphOp graph) {
  Operation *terminator = graph.getBody().front().getTerminator();
  graph.setFunctionType(FunctionType::get(graph.getContext(), graph.getBody().getArgumentTypes(), terminator->getOperandTypes()));
}

/// Names for dimensions that are no lengths' names.
static SmallVector<StringAttr> nameDims(GraphOp graph, unsigned count) {
  SmallVector<StringAttr> names, taken = graph.getSymbolNames();
  constexpr unsigned letters = 'z' - 'i' + 1;
  for (unsigned n = 0; names.size() < count; ++n) {
    std::string name = n < letters ? std::string(1, char('i' + n)) : "d" + std::to_string(n);
    StringAttr attr = StringAttr::get(graph.getContext(), name);
    if (!llvm::is_contained(taken, attr))
      names.push_back(attr);
  }
  return names;
}

namespace {
struct ETDGSpreadRows : etdg::impl::ETDGSpreadRowsBase<ETDGSpreadRows> {
  using ETDGSpreadRowsBase::ETDGSpreadRowsBase;
  void runOnOperation() override;
};
} // namespace

void ETDGSpreadRows::runOnOperation() {
  GraphOp graph = getOperation();
  if (graph.isExternal())
    return;
  FailureOr<ft::MachineRef> model = ft::findMachine(graph.getLoc(), machine, "cpu");
  if (failed(model))
    return signalPassFailure();
  SmallVector<BlockOp> whole;
  for (BlockOp block : graph.getBody().front().getOps<BlockOp>())
    if (isWhole(block))
      whole.push_back(block);
  SmallVector<Statement> statements;
  for (auto [number, leaf] : llvm::enumerate(whole))
    for (BlockOp part : takeApart(leaf, **model)) {
      statements.push_back(describe(part));
      statements.back().origin = number;
    }
  foldTransposes(statements);
  readMoves(statements, /*transpositions=*/false);
  chooseRows(statements);
  foldIntoWriters(statements);
  readMoves(statements, /*transpositions=*/true);
  SmallVector<std::pair<Value, unsigned>> written;
  for (Statement &statement : statements) {
    if (statement.rows == 0)
      continue;
    BlockOp made = writeRows(statement, nameDims(graph, statement.rows));
    ++numBlocks;
    numRows += statement.rows;
    for (WriteAttr write : made.getWrites().getAsRange<WriteAttr>())
      written.push_back({made.getBuffers()[write.getOperand()], statement.rows});
    remark::passed(made.getLoc(), remark::RemarkOpts::name("spread-rows").category("etdg"))
        << remark::reason("rows of whole tensors are iterations")
        << remark::metric("block", made.getBlockName().value_or("")) << remark::metric("rows", statement.rows);
  }
  for (auto [buffer, depth] : written)
    splitElement(buffer, depth);
  splitArguments(graph);
  for (Statement &statement : statements)
    simplifyReads(statement.block);
  updateType(graph);
  for (unsigned number = 0; number < whole.size(); ++number) {
    SmallVector<BlockOp> group;
    for (const Statement &statement : statements)
      if (statement.origin == number)
        group.push_back(statement.block);
    joinAgain(group);
  }
}
