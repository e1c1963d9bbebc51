//===- EdgeFaultsTest.cpp - faults of edges between nests -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// T14 and T6 of graphs that are cut into kernels: each edge that an element crosses
// is lost, or too weak in each way; each piece of a read is lost. What crosses is
// enumerated at small lengths; elsewhere an edge is a fault where one nest alone
// writes a buffer that another reads.
//
//===----------------------------------------------------------------------===//
#include "Faults.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Fuzz/Generator.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
using Crossings = std::set<std::pair<Operation *, Operation *>>;

class EdgeFaultsTest : public FaultsTest {
protected:
  /// `sizes`: lengths at which to enumerate; none: too many iterations for that.
  void plant(ModuleOp source, const std::string &what, const std::string &partition, uint64_t seed, ArrayRef<Sizes> sizes);

private:
  void plantEdges(GraphOp graph, const std::string &where, const Crossings &crossing, bool isEnumerated);
  void plantPieces(GraphOp graph, const std::string &where, ArrayRef<Sizes> sizes);
  /// Whether a change of a copy is taken.
  bool isTaken(GraphOp graph, llvm::function_ref<void(GraphOp)> change, std::string &why);
};
} // namespace

/// The nests of top-level kernels, by number.
static std::map<int64_t, Operation *> nestsOf(GraphOp graph) {
  std::map<int64_t, Operation *> nests;
  graph.walk([&](Operation *op) {
    if (auto number = op->getAttrOfType<IntegerAttr>(etdg::names::number))
      nests[number.getInt()] = op;
  });
  return nests;
}

/// The pairs of nests of which the first alone writes a buffer that the second reads.
static Crossings findSingle(GraphOp graph) {
  llvm::DenseMap<Value, SetVector<Operation *>> writers, readers;
  for (auto [number, nest] : nestsOf(graph))
    nest->walk([&, nest = nest](BlockOp block) {
      if (!block.isLeaf())
        return;
      for (unsigned w = 0; w < block.getNumWrites(); ++w)
        writers[block.getBuffers()[block.getWrite(w).getOperand()]].insert(nest);
      for (unsigned r = 0; r < block.getNumReads(); ++r)
        for (PieceAttr piece : block.getRead(r).getPieces())
          if (piece.getKind() == SourceKind::Buffer)
            readers[block.getBuffers()[piece.getOperand()]].insert(nest);
    });
  Crossings found;
  for (auto &[buffer, by] : writers)
    for (Operation *reader : readers.lookup(buffer))
      if (by.size() == 1 && reader != by.front())
        found.insert({by.front(), reader});
  return found;
}

bool EdgeFaultsTest::isTaken(GraphOp graph, llvm::function_ref<void(GraphOp)> change, std::string &why) {
  OwningOpRef<ModuleOp> holder = ModuleOp::create(graph.getLoc());
  auto copy = cast<GraphOp>(graph->clone());
  holder->push_back(copy);
  change(copy);
  return isAccepted(copy, &why);
}

void EdgeFaultsTest::plantEdges(GraphOp graph, const std::string &where, const Crossings &crossing, bool isEnumerated) {
  constexpr SyncKind kinds[] = {SyncKind::None, SyncKind::Block, SyncKind::Grid, SyncKind::Kernel};
  std::map<int64_t, Operation *> nests = nestsOf(graph);
  Builder b(graph.getContext());
  std::vector<KernelOp> kernels;
  graph.walk([&](KernelOp kernel) { kernels.push_back(kernel); });
  for (auto [k, kernel] : llvm::enumerate(kernels)) {
    auto edges = kernel->getAttrOfType<ArrayAttr>(etdg::names::edges);
    for (unsigned e = 0; edges && e < edges.size(); ++e) {
      auto edge = cast<EdgeAttr>(edges[e]);
      SyncKind kind = edge.getKind();
      Operation *from = nests[edge.getFrom()], *to = nests[edge.getTo()];
      const bool crosses = crossing.count({from, to});
      if (!crosses && !isEnumerated)
        continue;
      // Weaker kinds, and none at all.
      for (unsigned weaker = 0; weaker <= std::size(kinds); ++weaker) {
        const bool isLost = weaker == std::size(kinds);
        if (!isLost && kinds[weaker] == kind)
          weaker = std::size(kinds) - 1; // (what follows is as strong)
        else {
          std::string why;
          bool taken = isTaken(graph, [&](GraphOp copy) {
            std::vector<KernelOp> copies;
            copy.walk([&](KernelOp other) { copies.push_back(other); });
            SmallVector<Attribute> changed(edges.begin(), edges.end());
            if (isLost)
              changed.erase(changed.begin() + e);
            else
              changed[e] = EdgeAttr::get(b.getContext(), edge.getFrom(), edge.getTo(), kinds[weaker]);
            copies[k]->setAttr(etdg::names::edges, b.getArrayAttr(changed));
          }, why);
          // The validator speaks of all lengths: where it shows some, an element crosses there.
          std::optional<Sizes> shown = sizesOf(why, graph);
          const bool isWrong = crosses || (shown && findCrossings(graph, *shown).count({from, to}));
          judge(isLost ? "edge lost" : ("edge " + stringifySyncKind(kind) + " taken for " + stringifySyncKind(kinds[weaker])).str(), where, isWrong, taken, why);
          EXPECT_TRUE(taken || StringRef(why).starts_with("internal error: (T14) ")) << where << ": " << why;
        }
      }
    }
  }
}

void EdgeFaultsTest::plantPieces(GraphOp graph, const std::string &where, ArrayRef<Sizes> sizes) {
  std::vector<BlockOp> leaves;
  graph.walk([&](BlockOp block) {
    if (block.isLeaf())
      leaves.push_back(block);
  });
  for (auto [l, leaf] : llvm::enumerate(leaves))
    for (unsigned r = 0; r < leaf.getNumReads(); ++r)
      for (unsigned p = 0; leaf.getRead(r).getPieces().size() > 1 && p < leaf.getRead(r).getPieces().size(); ++p) {
        auto lose = [&, l = l](GraphOp copy) {
          std::vector<BlockOp> copies;
          copy.walk([&](BlockOp block) {
            if (block.isLeaf())
              copies.push_back(block);
          });
          ReadAttr read = copies[l].getRead(r);
          SmallVector<PieceAttr> pieces(read.getPieces());
          pieces.erase(pieces.begin() + p);
          SmallVector<Attribute> reads(copies[l].getReads().begin(), copies[l].getReads().end());
          reads[r] = ReadAttr::get(copy.getContext(), pieces, read.getElementRank());
          copies[l].setReadsAttr(ArrayAttr::get(copy.getContext(), reads));
        };
        std::string why;
        bool taken = isTaken(graph, lose, why);
        OwningOpRef<ModuleOp> holder = ModuleOp::create(graph.getLoc());
        auto copy = cast<GraphOp>(graph->clone());
        holder->push_back(copy);
        lose(copy);
        auto isWrongAt = [&](const Sizes &at) { return !findWrong(copy, at).empty(); };
        bool isWrong = llvm::any_of(sizes, isWrongAt);
        if (std::optional<Sizes> shown = sizesOf(why, copy); shown && !isWrong)
          isWrong = isWrongAt(*shown);
        judge("piece lost", where, isWrong, taken, why);
      }
}

void EdgeFaultsTest::plant(ModuleOp source, const std::string &what, const std::string &partition, uint64_t seed, ArrayRef<Sizes> sizes) {
  OwningOpRef<ModuleOp> module = compile(source, mlir::ft::Phase::Partition, partition, seed);
  if (!module)
    return;
  for (auto graph : module->getOps<GraphOp>()) {
    std::string where = what + " partition=" + partition, why;
    EXPECT_TRUE(isAccepted(graph, &why)) << where << ": " << why;
    if (graph.walk([](VariantsOp) { return WalkResult::interrupt(); }).wasInterrupted())
      continue;
    Crossings crossing = sizes.empty() ? findSingle(graph) : Crossings();
    for (const Sizes &at : sizes) {
      Crossings more = findCrossings(graph, at);
      crossing.insert(more.begin(), more.end());
    }
    plantEdges(graph, where, crossing, /*isEnumerated=*/!sizes.empty());
    if (!sizes.empty())
      plantPieces(graph, where, sizes);
  }
}

TEST_F(EdgeFaultsTest, AreRefused) {
  for (const std::string &file : files()) {
    OwningOpRef<ModuleOp> source = parseFile(file);
    ASSERT_TRUE(source) << file;
    for (const char *partition : {"boundary", "souffle"})
      plant(*source, file, partition, 0, {});
  }
  mlir::ft::fuzz::loadDialects(&context);
  for (unsigned i = 0; i < 100; ++i) {
    mlir::ft::fuzz::Program program = mlir::ft::fuzz::generateProgram(&context, 15, i);
    std::vector<Sizes> sizes;
    for (const mlir::ft::fuzz::Binding &binding : program.bindings)
      if (llvm::all_of(binding, [](auto &size) { return size.second <= 4; }))
        sizes.push_back(Sizes(binding.begin(), binding.end()));
    if (sizes.empty())
      continue;
    // (A seed: kernels of any nests that may be together.)
    plant(*program.module, program.name, "boundary", 0, sizes);
    plant(*program.module, program.name, "cost", i + 1, sizes);
  }
  Count all = print();
  EXPECT_GE(all.faults, 700u);
  EXPECT_GE(counts["piece lost"].faults, 50u);
  EXPECT_GE(counts["edge lost"].faults, 100u);
}
