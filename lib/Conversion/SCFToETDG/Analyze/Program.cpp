//===- Program.cpp - arrays that are updated in place ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors are values; an array that a loop fills is a chain of them, each an
// update of the one before. Chains are found here, with the operations that write
// their cells.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

static bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

/// What each block that uses it computes for itself.
bool ProgramAnalysis::isRepeatable(Operation *op) {
  if (statements.contains(op) || op->getNumResults() == 0)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op))
    return true;
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return matchPattern(fill.getInputs()[0], m_Constant()) &&
           fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         !isa<SubsetAccessOpInterface, tensor::DimOp>(op) &&
         llvm::all_of(op->getResultTypes(), isScalar) &&
         llvm::all_of(op->getOperandTypes(), isScalar);
}

bool ProgramAnalysis::isStatementOp(Operation *op) { return statements.contains(op); }

/// Operations that become part of a leaf; the rest only say what is read where.
void ProgramAnalysis::findStatements(Block &block) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return isScalar(type) || (tensor && tensor.hasStaticShape());
  };
  auto isHere = [&](Value v) {
    Operation *def = v.getDefiningOp();
    return def && def->getBlock() == &block && statements.contains(def);
  };
  // Small tensors put together from parts, not arrays that loops go on to fill.
  std::function<bool(Value)> isAssembled = [&](Value v) {
    return llvm::all_of(v.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (user->getBlock() != &block)
        return false;
      if (auto access = dyn_cast<SubsetAccessOpInterface>(user); access && access.isWrite())
        return !access.isScalar() && (access.getUpdateOperand() == &use ||
                                      (access.isStatic() && isAssembled(user->getResult(0))));
      return !isa<scf::ForOp, scf::ForallOp, scf::IfOp, func::ReturnOp>(user);
    });
  };
  for (Operation &op : block.without_terminator()) {
    for (Region &region : op.getRegions())
      if (isa<scf::ForOp, scf::ForallOp, scf::IfOp>(op) && !region.empty())
        findStatements(region.front());
    StringRef dialect = op.getDialect() ? op.getDialect()->getNamespace() : "";
    if (!llvm::is_contained({"linalg", "arith", "math", "tensor", "complex"}, dialect) ||
        !llvm::all_of(op.getResultTypes(), isStatic) || op.getNumResults() == 0)
      continue;
    bool statement = false;
    if (isa<tensor::EmptyOp, tensor::DimOp>(op) || op.hasTrait<OpTrait::ConstantLike>()) {
      statement = false;
    } else if (auto access = dyn_cast<SubsetAccessOpInterface>(op); access && !access.isWrite()) {
      statement = isHere(access.getBase()) && (access.isScalar() || access.isStatic());
    } else if (access) {
      Operation *def = access.getBase().getDefiningOp();
      statement = !access.isScalar() && access.isStatic() && def &&
                  (isRepeatable(def) || isHere(access.getBase())) && isAssembled(op.getResult(0));
    } else if (isa<tensor::CastOp>(op)) {
      statement = isHere(op.getOperand(0));
    } else if (auto reshape = dyn_cast<ReassociativeReshapeOpInterface>(op)) {
      statement = isStatic(reshape.getBaseType());
    } else if (op.getNumRegions() == 0 && llvm::all_of(op.getResultTypes(), isScalar)) {
      // A scalar is kept where it is carried, stored or returned; else it is recomputed.
      statement = !evalIndex(op.getResult(0)) && llvm::any_of(op.getUses(), [](OpOperand &use) {
        Operation *user = use.getOwner();
        auto access = dyn_cast<SubsetAccessOpInterface>(user);
        auto loop = dyn_cast<scf::ForOp>(user);
        return isa<scf::YieldOp, func::ReturnOp>(user) || (access && access.isWrite() && access.isScalar()) ||
               (loop && llvm::is_contained(loop.getInitArgs(), use.get()));
      });
    } else {
      statement = !isRepeatable(&op);
    }
    if (statement)
      statements.insert(&op);
  }
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

Value ProgramAnalysis::parentOf(Value v) {
  auto result = dyn_cast<OpResult>(v);
  if (!result || statements.contains(result.getOwner()))
    return Value();
  Operation *op = result.getOwner();
  if (auto access = dyn_cast<SubsetAccessOpInterface>(op))
    return access.isWrite() ? access.getBase() : Value();
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    return loop.getOutputs()[result.getResultNumber()];
  if (!isInPlace(result))
    return Value();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop.getInitArgs()[result.getResultNumber()];
  auto branch = cast<scf::IfOp>(op);
  // The value that both branches go back to.
  Value root = branch.thenYield().getOperand(result.getResultNumber());
  while (branch->isProperAncestor(root.getParentBlock()->getParentOp()) ||
         root.getParentBlock()->getParentOp() == branch)
    root = parentOf(root);
  return root;
}

bool ProgramAnalysis::isInPlace(OpResult result) {
  auto known = inPlace.find(result);
  if (known != inPlace.end())
    return known->second;
  bool answer = false;
  unsigned number = result.getResultNumber();
  if (isa<RankedTensorType>(result.getType())) {
    if (auto loop = dyn_cast<scf::ForOp>(result.getOwner())) {
      Value v = loop.getYieldedValues()[number], arg = loop.getRegionIterArgs()[number];
      bool updates = false;
      while (v && v != arg) {
        v = parentOf(v);
        updates = true;
      }
      answer = v && updates;
    } else if (auto branch = dyn_cast<scf::IfOp>(result.getOwner());
               branch && !branch.getElseRegion().empty()) {
      SmallVector<Value> roots;
      bool updates = false;
      for (auto yield : {branch.thenYield(), branch.elseYield()}) {
        Value v = yield.getOperand(number);
        while (v && branch->isAncestor(v.getParentBlock()->getParentOp())) {
          v = parentOf(v);
          updates = true;
        }
        roots.push_back(v);
      }
      answer = roots[0] && roots[0] == roots[1] && updates;
    }
  }
  return inPlace[result] = answer;
}

void ProgramAnalysis::assignFamily(Value v, Family *family) {
  if (!familyOf.try_emplace(v, family).second)
    return;
  family->members.push_back(v);
  auto result = dyn_cast<OpResult>(v);
  if (!result)
    return;
  unsigned number = result.getResultNumber();
  auto assignChain = [&](Value from, Value to) {
    for (Value w = from; w && w != to; w = parentOf(w))
      assignFamily(w, family);
  };
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner())) {
    assignFamily(loop.getRegionIterArgs()[number], family);
    assignChain(loop.getYieldedValues()[number], loop.getRegionIterArgs()[number]);
  } else if (auto branch = dyn_cast<scf::IfOp>(result.getOwner())) {
    Value root = parentOf(v);
    assignChain(branch.thenYield().getOperand(number), root);
    assignChain(branch.elseYield().getOperand(number), root);
  }
}

void ProgramAnalysis::findFamilies(Block &block) {
  for (Operation &op : block) {
    for (OpResult result : op.getResults()) {
      Value parent = parentOf(result);
      if (!parent || familyOf.contains(result))
        continue;
      // Its parent's array goes on, unless another update of the same value does.
      Family *family = nullptr;
      if (Family *before = familyOf.lookup(parent); before && parent.getParentBlock() == &block) {
        unsigned updates = 0;
        for (Operation *user : parent.getUsers())
          for (OpResult other : user->getResults())
            updates += parentOf(other) == parent;
        // A loop's state is updated by the chain that the loop yields, which is assigned already.
        if (updates == 1)
          family = before;
      }
      if (!family) {
        plan.families.emplace_back();
        family = &plan.families.back();
        family->root = parent;
        family->block = &block;
      }
      assignFamily(result, family);
    }
    for (Region &region : op.getRegions())
      if (isa<scf::ForOp, scf::ForallOp, scf::IfOp>(op) && !region.empty())
        findFamilies(region.front());
  }
}

//===----------------------------------------------------------------------===//
// Writers
//===----------------------------------------------------------------------===//

LogicalResult ProgramAnalysis::collectWriters() {
  auto add = [&](SubsetAccessOpInterface op, Family *family) -> LogicalResult {
    SmallVector<OpFoldResult> sizes = op.getSubsetSizes(), strides = op.getSubsetStrides();
    auto name = op->getName().getStringRef();
    if (!family) {
      Operation *around = op->getParentOp();
      return refuse(op, "'" + name + "' stands in '" + around->getName().getStringRef() +
                            "', which has no place in a graph");
    }
    for (OpFoldResult stride : strides)
      if (getConstantIntValue(stride).value_or(0) < 1)
        return refuse(op, "'" + name + "' with a stride that is no positive constant");
    auto cases = evalAll(op.getSubsetOffsets());
    if (!cases)
      return refuse(op,
                    "'" + name +
                        "' writes at an index that is not an affine function of loops and lengths");
    plan.writers.emplace_back();
    Writer &writer = plan.writers.back();
    writer.op = op;
    writer.source = op.getUpdate();
    writer.family = family;
    writer.dropped = op.getSubsetDroppedDims();
    for (OpFoldResult size : sizes) {
      std::optional<AffineExpr> expr = evalSingle(size);
      if (!expr)
        return refuse(
            op, "'" + name +
                    "' writes a slice whose size is not an affine function of loops and lengths");
      int64_t stride = *getConstantIntValue(strides[writer.sizes.size()]);
      writer.sizes.push_back(*expr);
      writer.strides.push_back(*expr == sets->constant(1) ? 1 : stride);
    }
    for (const Conjunction &domain : infoOf(op->getBlock()).domains)
      for (auto &[when, exprs] : *cases)
        if (!sets->isEmpty(domain, when)) {
          writer.alternatives.push_back({domain, exprs});
          llvm::append_range(writer.alternatives.back().domain, when);
        }
    family->writers.push_back(&writer);
    writerOf[op] = &writer;
    return success();
  };
  WalkResult walked = function.walk<WalkOrder::PreOrder>([&](SubsetAccessOpInterface op) {
    if (!op.isWrite() || statements.contains(op))
      return WalkResult::advance();
    if (op->getNumResults() == 1)
      return failed(add(op, familyOf.lookup(op->getResult(0)))) ? WalkResult::interrupt() : WalkResult::advance();
    auto loop = op->getParentOfType<scf::ForallOp>();
    auto base = dyn_cast<BlockArgument>(op.getBase());
    if (!loop || !base || base.getOwner() != loop.getBody()) {
      (void)refuse(op, "'" + op->getName().getStringRef() + "' into something else than a shared output");
      return WalkResult::interrupt();
    }
    Value result = loop.getTiedOpResult(loop.getTiedOpOperand(base));
    return failed(add(op, familyOf.lookup(result))) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// States that depend on themselves
//===----------------------------------------------------------------------===//

/// `h = c ? f(h) : h`, `a, b = b, a`: what a state was can't be said as a view of
/// other values, so that it is kept at each iteration.
void ProgramAnalysis::findCycles() {
  // The states that a value is a view of.
  std::function<void(Value, llvm::SmallSetVector<BlockArgument, 4> &, llvm::DenseSet<Value> &)>
      collect =
          [&](Value v, llvm::SmallSetVector<BlockArgument, 4> &found, llvm::DenseSet<Value> &seen) {
            if (!seen.insert(v).second)
              return;
            if (Family *family = familyOf.lookup(v))
              return collect(family->root, found, seen);
            if (auto arg = dyn_cast<BlockArgument>(v)) {
              if (materialized.contains(arg))
                return;
              Operation *parent = arg.getOwner()->getParentOp();
              if (auto loop = dyn_cast<scf::ForOp>(parent); loop && arg != loop.getInductionVar()) {
                found.insert(arg);
                collect(loop.getTiedLoopInit(arg)->get(), found, seen);
                collect(loop.getTiedLoopYieldedValue(arg)->get(), found, seen);
              } else if (auto forall = dyn_cast<scf::ForallOp>(parent);
                         forall && isa<RankedTensorType>(arg.getType())) {
                collect(forall.getTiedOpOperand(arg)->get(), found, seen);
              }
              return;
            }
            Operation *op = v.getDefiningOp();
            if (statements.contains(op))
              return;
            unsigned number = cast<OpResult>(v).getResultNumber();
            if (auto loop = dyn_cast<scf::ForOp>(op)) {
              // A loop that surely runs leaves nothing of the initial value.
              Conjunction context = commonDomain(op->getBlock());
              const Loop &at = *infoOf(loop.getBody()).loops.back();
              bool runs = true;
              for (AffineExpr lower : at.lowers)
                for (AffineExpr upper : at.uppers)
                  runs &= sets->isImplied(context, {upper - lower - 1});
              if (!runs)
                collect(loop.getInitArgs()[number], found, seen);
              collect(loop.getYieldedValues()[number], found, seen);
            } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
              collect(branch.thenYield().getOperand(number), found, seen);
              collect(branch.elseYield().getOperand(number), found, seen);
            } else {
              for (Value operand : op->getOperands())
                collect(operand, found, seen);
            }
          };
  function.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    for (BlockArgument arg : loop.getRegionIterArgs()) {
      if (familyOf.contains(arg) || evalIndex(arg))
        continue;
      llvm::SmallSetVector<BlockArgument, 4> found;
      llvm::DenseSet<Value> seen;
      collect(loop.getTiedLoopYieldedValue(arg)->get(), found, seen);
      if (found.contains(arg))
        materialized[arg];
    }
  });
}
