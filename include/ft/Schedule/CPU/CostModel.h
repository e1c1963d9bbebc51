//===- CostModel.h - seconds that a plan takes ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates the time of a nest under a plan at typical lengths on a machine:
// products at the rate of as many rows as share a weight, what is read at the
// bandwidth of the cache in which it lies since its last use, a barrier for each
// step of team loops. Ranges that depend on outer loops are sampled.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_CPU_COSTMODEL_H
#define FT_SCHEDULE_CPU_COSTMODEL_H

#include "ft/Schedule/Analysis/LeafForms.h"
#include "ft/Schedule/Options.h"
#include "ft/Schedule/Analysis/TypicalRanges.h"

#include "llvm/ADT/SmallBitVector.h"

namespace mlir::ft::schedule {

struct LeafColumns;

/// What a plan costs, and the figures that explain it.
struct Estimate {
  double seconds = 0;
  double steps = 1;    // of the team loops
  double barriers = 0; // on the way of one thread
  double width = 1;    // points (rows counted) that a step has, on average
  double rows = 1;     // of a leaf's call
  double streamed = 0; // bytes that one thread reads from beyond its first cache
};

class CostModel : public TypicalRanges {
public:
  /// `leaves`: those that are known already; null: none.
  CostModel(etdg::GraphOp graph, const CpuScheduleOptions &options, std::shared_ptr<LeafForms> leaves = nullptr);
  /// Asks at other lengths than the options'; what was found out of blocks stays.
  void setLengths(ArrayRef<std::pair<StringAttr, int64_t>> lengths);

  /// The plan of least estimated time; a nest always has one. Dimensions may be `fixed` outside.
  NestPlan choose(ArrayRef<BlockOp> nest, bool withTeam, bool fixedRow,
                  ArrayRef<unsigned> fixed = {});
  /// The plan that is chosen of a nest at the top of a graph, and what it takes.
  std::pair<NestPlan, Estimate> chooseAtTop(ArrayRef<BlockOp> nest);
  /// Of a nest at the top of a graph.
  Estimate estimate(ArrayRef<BlockOp> nest, const NestPlan &plan);
  /// The plan and the estimate, in words and numbers.
  static std::string describe(ArrayRef<BlockOp> nest, const NestPlan &plan,
                              const Estimate &estimate);
  /// A nest on its own, under its best plan.
  Estimate estimateBest(ArrayRef<BlockOp> nest);
  /// A nest in a body that all cores run together, once, in the middle of the loops around.
  Estimate estimateInside(ArrayRef<BlockOp> nest);

  /// A nest all of whose loops in `steps` are the team's, which waits after each of them.
  Estimate estimateSteps(ArrayRef<BlockOp> nest, ArrayRef<unsigned> steps);
  /// Divides a loop in order at the top of the graph whose step's products need each other whole, where that takes less
  /// time (DivideOnCores.cpp). The item is gone then, and what the model knows of it is worth nothing any more.
  bool divideStep(Operation *item);

  unsigned threads() const { return numThreads; }
  /// Plans that have been priced, those of nests inside others at each place included.
  uint64_t numPriced() const { return priced; }
  /// Plans of inner nests depend on where they are, and places multiply with each level. Beyond this
  /// many for one question, an inner nest keeps the plan that was best at the last place.
  static constexpr uint64_t mostPriced = 256;
  bool wasOverBudget() const { return exceeded; }
  /// How much work a row of each block is, beside that of the dearest (16); nothing where they are
  /// alike, or unknown.
  SmallVector<int64_t> weightsOf(ArrayRef<BlockOp> nest);
  /// Rows of a full register tile of a product.
  int64_t tileRows() const { return machine.unit.productFlopsByRows.size(); }
  /// Most rows of a list: full tiles.
  int64_t mostListedRows(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims) const;
  /// Completes a plan by what the machine says: rows of a call, weights of regions, and columns that tasks
  /// share, where the nest `isAlone` at the top of a graph.
  void finish(ArrayRef<BlockOp> nest, NestPlan &plan, bool isAlone);
  /// Rows of the calls that share so many: about equal, full tiles but for the last one's.
  int64_t lengthOfParts(int64_t total, int64_t mostRows) const;

private:
  class NestCost;
  /// Rows that a call of the nest's leaves has at most.
  int64_t rowsOfCalls(ArrayRef<BlockOp> nest, const NestPlan &plan) const;
  /// A loop around the code that is looked at.
  struct Around {
    unsigned dim;
    double extent; // per thread
    bool isRow;
    SmallVector<unsigned> lines = {}; // more dimensions whose points are rows
  };
  /// What is read of a buffer that outlives the block, in one iteration of the loops around, and along
  /// which of them that moves.
  struct Read {
    double bytes;
    llvm::SmallBitVector varies;
  };
  /// Where the code is: values of the dimensions fixed so far, the loops around it.
  struct Context {
    SmallVector<std::optional<int64_t>> dims;
    SmallVector<Around> loops;
    /// Reads of the other parts of the blocks around: they need room in the caches, too.
    SmallVector<Read> besides;
    std::optional<unsigned> row;
    double rows = 1;
    unsigned threads = 1; // that share the work from here on
    double columns = 1;   // the part of a leaf's columns that one call computes
  };

  /// Columns that tasks are to share, and the rows that go with them (PlanColumns.cpp).
  void chooseColumns(ArrayRef<BlockOp> nest, NestPlan &plan);
  /// All loops of a nest of leaves with a product as the team's, whose threads share the leaves' columns at each step; and all
  /// but a parallel one, which is then the rows of each thread's calls. None where they can't, or have too few columns.
  /// `fixed`: loops around, after which the team waits, too.
  SmallVector<NestPlan, 2> plansOfSteps(ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed);
  /// A plan whose team has steps, with columns shared in each of them; nothing where they can't be.
  std::optional<NestPlan> withColumns(ArrayRef<BlockOp> nest, NestPlan plan);
  /// The columns that all leaves of a nest have in common, in steps; 0: none.
  LeafColumns columnsOfSteps(ArrayRef<BlockOp> nest, std::optional<unsigned> row);
  int64_t columnsForCaches(BlockOp leaf, const LeafColumns &columns, const NestPlan &plan, double rows);
  Estimate ofNest(ArrayRef<BlockOp> nest, const NestPlan &plan, const Context &context);
  Estimate ofBody(BlockOp block, const Context &context);
  Estimate ofLeaf(BlockOp leaf, const Context &context);
  /// Nothing where the i-th read's sources live no longer than the blocks around.
  std::optional<Read> readOf(BlockOp leaf, unsigned i, const Context &context);
  /// Adds what the leaves of `block` read, for one point of its dimensions.
  void collectReads(BlockOp block, const Context &context, SmallVectorImpl<Read> &reads);
  /// The context of a nest in the middle of the loops around it.
  void enterAround(BlockOp front, Context &context);
  std::pair<NestPlan, Estimate> best(ArrayRef<BlockOp> nest, const Context &context,
                                     ArrayRef<unsigned> fixed = {});
  using TypicalRanges::holds;
  using TypicalRanges::rangeOf;
  Range rangeOf(ArrayRef<BlockOp> nest, unsigned dim, const Context &context) { return rangeOf(nest, dim, context.dims); }
  /// Whether all of a nest looks the same at each value of the dimension.
  bool isUniform(ArrayRef<BlockOp> nest, unsigned dim);
  /// Values of `dim` to look at, one of `dims` whose combinations are gone through: one where
  /// the nest looks the same at each, else `most` or as many as keep the combinations few.
  unsigned samplesOf(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, unsigned dim, unsigned most);
  bool holds(BlockOp block, const Context &context) { return holds(block, context.dims); }
  /// A product with one right-hand side: for one row of the leaf, FLOPs, and rows of the product.
  struct Product {
    double flops = 0, bytes = 0; // bytes of the right-hand side
    int64_t rows = 0;
    std::optional<unsigned> read; // of the leaf, where the right-hand side is one
  };
  /// Of one row: products, results of simple and of elementary operations.
  struct Work {
    SmallVector<Product> products;
    double elementwise = 0, elementary = 0;
  };
  /// What one core takes for a product of so many rows, its right-hand side from a cache or memory.
  double productSeconds(const Product &product, double rows, Machine::Source source) const;
  Work workOf(BlockOp leaf);

  const CpuScheduleOptions &options;
  const Machine &machine;
  std::shared_ptr<LeafForms> leaves;
  unsigned numThreads;
  bool isOverBudget() {
    bool over = priced - pricedBefore > mostPriced;
    exceeded |= over;
    return over;
  }
  uint64_t choices = 0, priced = 0, pricedBefore = 0; // before the question at hand
  bool exceeded = false;
  /// What the plan takes that was chosen last, where it was priced.
  std::optional<Estimate> ofChosen;
  /// Nests inside of which the model is just now.
  unsigned depth = 0;
  /// The number of the plan that was best at the last place of an inner nest, by block and question.
  llvm::DenseMap<std::pair<Operation *, unsigned>, unsigned> lastBest;
  llvm::DenseMap<Operation *, Work> works;
  /// By the nest's first block and the dimension.
  llvm::DenseMap<std::pair<Operation *, unsigned>, bool> uniform;
  /// Plans by the nest's first block and the two questions.
  llvm::DenseMap<std::pair<Operation *, unsigned>, std::vector<NestPlan>> plans;
  const std::vector<NestPlan> &plansOf(ArrayRef<BlockOp> nest, bool withTeam, bool fixedRow,
                                       ArrayRef<unsigned> fixed = {});
};

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_CPU_COSTMODEL_H
