//===- Plan.cpp - what is saved and what is computed again ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The network of a block. The node of a value is on the source's side where the backward program has the value, that of an
// operation where it is computed again. Edges without bound lead from the source to each value that an adjoint reads, and
// from an operation to its operands, which it needs. One at the price of saving leads from a value to its operation. It
// leads to the sink where the value cannot be computed again. One at the price of computing leads from an operation to the
// sink.
//
//===----------------------------------------------------------------------===//
#include "Plan.h"

#include "MinimumCut.h"

#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FTForms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

bool differentiate::isDoneAgain(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<LowestOp, BroadcastOp, StopGradientOp>(op))
    return true;
  if (isa<ComputeOp>(op))
    return false;
  if (isa<FTDialect>(op->getDialect()))
    return !isShortForm(op);
  if (isa<tensor::EmptyOp, tensor::DimOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::SplatOp, tensor::CastOp, linalg::FillOp, linalg::BroadcastOp, linalg::TransposeOp>(op))
    return true;
  // What is no value of a list, a scalar, cannot leave a body at all.
  if (llvm::any_of(op->getResultTypes(), [](Type type) { return !isValueType(type); }))
    return true;
  auto isInteger = [](Type type) { return !isa<ListType>(type) && !isa<FloatType>(getElementTypeOrSelf(type)); };
  return op->getNumRegions() == 0 && llvm::all_of(op->getOperandTypes(), isInteger) &&
         llvm::all_of(op->getResultTypes(), isInteger);
}

namespace mlir::ft::differentiate {
class Planner {
public:
  Planner(Plan &plan, const AdjointReads &reads, Save save, const Prices &prices)
      : plan(plan), reads(reads), save(save), prices(prices) {}

  /// A value, or the list of one of a body: of which operator.
  struct Item {
    Value value;
    Operation *around = nullptr;
    friend bool operator==(const Item &a, const Item &b) { return a.value == b.value && a.around == b.around; }
  };
  using Key = std::pair<Value, Operation *>;
  using Demand = llvm::SetVector<Key>;

  /// Decides about one block and those in it; what it asks of the block around.
  Demand decide(Block &block, ComputeOp op);

private:
  struct Network;
  void ask(Demand &demand, ComputeOp op, Value value);

  Plan &plan;
  const AdjointReads &reads;
  Save save;
  const Prices &prices;
};
} // namespace mlir::ft::differentiate

/// The operation that makes a value, or the list of a value of its body; null for arguments.
static Operation *makerOf(Planner::Key key) { return key.second ? key.second : key.first.getDefiningOp(); }

static std::optional<bool> bindingOf(Operation *op) {
  Attribute attribute = op->getDiscardableAttr(mlir::ft::names::saved);
  if (!attribute)
    return std::nullopt;
  auto flag = dyn_cast<BoolAttr>(attribute);
  return !flag || flag.getValue();
}

static bool holdsStates(Operation *op) {
  return op->walk([](ComputeOp compute) { return compute.isMap() ? WalkResult::advance() : WalkResult::interrupt(); })
      .wasInterrupted();
}

/// The value is a result of the operator, or an element of one, without any doing.
static bool isGivenAnyhow(ComputeOp op, Value value) {
  YieldOp yield = op.getYield();
  return (!op.isFold() && llvm::is_contained(yield.getValues(), value)) || llvm::is_contained(yield.getEmits(), value);
}

struct Planner::Network {
  Network(Planner &planner, Block &block, ComputeOp op)
      : planner(planner), block(block), op(op), times(planner.prices.timesOf(block)) {}

  unsigned nodeOf(Key key);
  void require(Key key) { cut.addEdge(MinimumCut::source, nodeOf(key), MinimumCut::infinite); }
  double saveSeconds(Key key);
  bool canBeComputedAgain(Operation *maker) const;
  int64_t asCapacity(double seconds) const;

  Planner &planner;
  Block &block;
  ComputeOp op;
  double times;
  MinimumCut cut;
  llvm::MapVector<Key, unsigned> values;
  llvm::MapVector<Operation *, unsigned> operations;

private:
  void addOperation(Operation *maker, unsigned node);
};

/// Time as an integer: capacities add up without error.
int64_t Planner::Network::asCapacity(double seconds) const {
  constexpr double perSecond = 1e15, longest = 1e2;
  return std::llround(std::min(std::isfinite(seconds) ? std::max(seconds, 0.0) : longest, longest) * perSecond);
}

/// To write the value and to read it again; to read it alone where it is at hand anyhow.
double Planner::Network::saveSeconds(Key key) {
  auto [value, around] = key;
  Type type = value.getType();
  double bytes = planner.prices.bytesOf(type) * times;
  if (around)
    bytes *= planner.prices.typically(cast<ComputeOp>(around).getLength());
  double once = planner.prices.moveSeconds(bytes);
  if (!op) {
    bool isResult = llvm::is_contained(block.getTerminator()->getOperands(), value);
    return isa<BlockArgument>(value) || isResult ? 0 : 2 * once;
  }
  auto argument = dyn_cast<BlockArgument>(value);
  bool isAtHand = argument && (argument.getArgNumber() >= op.getNumStates() || op.isScan());
  return isAtHand || (!around && isGivenAnyhow(op, value)) ? once : 2 * once;
}

bool Planner::Network::canBeComputedAgain(Operation *maker) const {
  if (!maker)
    return false;
  if (std::optional<bool> binding = bindingOf(maker))
    return !*binding;
  switch (planner.save) {
  case Save::All:
    return false;
  case Save::States:
    return !holdsStates(maker);
  case Save::Auto:
    return true;
  }
  return false;
}

unsigned Planner::Network::nodeOf(Key key) {
  auto [it, isNew] = values.try_emplace(key, 0);
  if (!isNew)
    return it->second;
  unsigned node = it->second = cut.addNode();
  Operation *maker = makerOf(key);
  bool isFree = !key.second && maker && isDoneAgain(maker);
  if (!isFree && !canBeComputedAgain(maker)) {
    cut.addEdge(node, MinimumCut::sink, asCapacity(saveSeconds(key)));
    return node;
  }
  bool isBound = isFree || planner.save == Save::States || bindingOf(maker).has_value();
  auto [known, isFirst] = operations.try_emplace(maker, 0);
  if (isFirst)
    known->second = cut.addNode();
  unsigned again = known->second;
  cut.addEdge(node, again, isBound ? MinimumCut::infinite : asCapacity(saveSeconds(key)));
  if (isFirst)
    addOperation(maker, again);
  return node;
}

void Planner::Network::addOperation(Operation *maker, unsigned node) {
  cut.addEdge(node, MinimumCut::sink,
              isDoneAgain(maker) ? 0 : asCapacity(planner.prices.computeSeconds(*maker) * times));
  SmallVector<Value> read(maker->getOperands());
  llvm::append_range(read, getCaptured(maker));
  for (Value value : read)
    if (value.getParentBlock() == &block)
      cut.addEdge(node, nodeOf({value, nullptr}), MinimumCut::infinite);
}

/// How the list of a body's value is had around the operator.
void Planner::ask(Demand &demand, ComputeOp op, Value value) {
  YieldOp yield = op.getYield();
  if (value.getParentBlock() != &op.getBody().front()) { // of a body inside: the list of its list
    demand.insert({value, op.getOperation()});
    return;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber(), states = op.getNumStates();
    if (number >= states) {
      demand.insert({op.getLists()[number - states], nullptr});
    } else if (op.isScan()) {
      demand.insert({op->getResult(number), nullptr});
      demand.insert({op.getInits()[number], nullptr});
    } else {
      demand.insert({value, op.getOperation()});
    }
    return;
  }
  if (!op.isFold())
    for (auto [i, yielded] : llvm::enumerate(yield.getValues()))
      if (yielded == value) {
        demand.insert({op->getResult(i), nullptr});
        return;
      }
  for (auto [emitted, result] : llvm::zip_equal(yield.getEmits(), op.getEmitResults()))
    if (emitted == value) {
      demand.insert({result, nullptr});
      return;
    }
  demand.insert({value, op.getOperation()});
}

static void tell(Operation *op, bool isAgain, double bytes, double moved, double computed, std::optional<bool> binding) {
  StringRef name = op->getName().getStringRef();
  std::string text =
      llvm::formatv("{0} {1}{2}: {3:f0} bytes take {4:f0} ns to write and read, its operations {5:f0} ns", name,
                    isAgain ? "is computed again" : "is saved", binding ? ", as ft.saved says" : "", bytes, moved * 1e9,
                    computed * 1e9);
  remark::analysis(op->getLoc(), remark::RemarkOpts::name("residuals").category("gradients")) << text;
}

Planner::Demand Planner::decide(Block &block, ComputeOp op) {
  Demand required, demand;
  for (Operation &inner : block)
    if (auto compute = dyn_cast<ComputeOp>(inner); compute && reads.contains(&compute.getBody().front())) {
      Demand own = decide(compute.getBody().front(), compute);
      required.insert(own.begin(), own.end());
    }
  if (auto found = reads.find(&block); found != reads.end())
    for (Value value : found->second)
      required.insert({value, nullptr});
  Network network(*this, block, op);
  auto isOwn = [&](Key key) {
    return key.second ? key.second->getBlock() == &block : key.first.getParentBlock() == &block;
  };
  for (Key key : required) {
    if (isOwn(key))
      network.require(key);
    else
      demand.insert(key);
  }
  std::vector<bool> side = network.cut.solve();
  for (auto [maker, node] : network.operations) {
    if (!side[node])
      continue;
    if (!isDoneAgain(maker))
      plan.again.insert(maker);
    SmallVector<Value> read(maker->getOperands());
    llvm::append_range(read, getCaptured(maker));
    for (Value value : read)
      if (value.getParentBlock() != &block)
        demand.insert({value, nullptr});
  }
  llvm::MapVector<Operation *, std::pair<double, double>> told;
  for (auto [key, node] : network.values) {
    Operation *maker = makerOf(key);
    auto again = network.operations.find(maker);
    bool isAgain = maker && again != network.operations.end() && side[again->second];
    if (side[node] && !isAgain && op)
      ask(demand, op, key.first);
    if (!side[node] || !maker || isDoneAgain(maker) || (again == network.operations.end() && !bindingOf(maker)))
      continue;
    double bytes = prices.bytesOf(key.first.getType()) * network.times;
    if (key.second)
      bytes *= prices.typically(cast<ComputeOp>(key.second).getLength());
    told[maker].first += bytes;
    told[maker].second += network.saveSeconds(key);
  }
  for (auto &[maker, costs] : told)
    tell(maker, plan.isComputedAgain(maker), costs.first, costs.second, prices.computeSeconds(*maker) * network.times,
         bindingOf(maker));
  return demand;
}

Plan::Plan(func::FuncOp forward, const AdjointReads &reads, Save save, const Prices &prices) {
  Planner(*this, reads, save, prices).decide(forward.front(), {});
}
