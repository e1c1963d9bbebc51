//===- LoopPrograms.cpp - programs of loops as launch plans ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program's lengths, strides and buffers are those of the graph that it was made from; each of its
// launches gets a kernel of its own.
//
//===----------------------------------------------------------------------===//
#include "GraphEmitter.h"
#include "LoopWalker.h"

#include "ft/Conversion/ETDGToLoops/ETDGToLoops.h"
#include "ft/Conversion/LaunchPlan/Entry.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

/// Both have them in the order of the graph.
static ProgramBuffers matchBuffers(loops::ProgramOp program, etdg::GraphOp graph) {
  ValueRange results = graph.getBody().front().getTerminator()->getOperands();
  SmallVector<Value> intermediates, constants;
  for (Operation &op : graph.getBody().front()) {
    if (auto constant = dyn_cast<etdg::ConstantOp>(op))
      constants.push_back(constant.getResult());
    else if (auto declared = dyn_cast<etdg::BufferOp>(op); declared && !llvm::is_contained(results, declared.getResult()))
      intermediates.push_back(declared.getResult());
  }
  ProgramBuffers matched;
  size_t nextIntermediate = 0, nextConstant = 0;
  for (auto buffer : program.getBody().front().getOps<loops::BufferOp>())
    switch (buffer.getKind()) {
    case loops::BufferKind::Argument:
      matched[buffer] = graph.getBody().getArgument(*buffer.getIndex());
      break;
    case loops::BufferKind::Result:
      matched[buffer] = results[*buffer.getIndex()];
      break;
    case loops::BufferKind::Intermediate:
      matched[buffer] = intermediates[nextIntermediate++];
      break;
    case loops::BufferKind::Constant:
      matched[buffer] = constants[nextConstant++];
      break;
    case loops::BufferKind::Splat:
      break;
    }
  return matched;
}

FailureOr<GpuModule> GraphEmitter::runThroughLoops() {
  if (failed(beginModule()))
    return failure();
  OwningOpRef<ModuleOp> owner = ModuleOp::create(graph.getLoc());
  if (failed(convertGridGraphToLoops(graph, *owner, options)))
    return failure();
  loops::ProgramOp program = *owner->getOps<loops::ProgramOp>().begin();
  ProgramBuffers buffers = matchBuffers(program, graph);
  auto take = [&](loops::LaunchOp launch) {
    auto source = owner->lookupSymbol<func::FuncOp>(launch.getCallee());
    return LoopWalker(*this, graph, buffers, launch, source).run(uniqueName(launch.getCallee().str(), ""));
  };
  std::function<LogicalResult(loops::VariantsOp, unsigned)> takeVariants = [&](loops::VariantsOp variants,
                                                                               unsigned number) -> LogicalResult {
    size_t before = plan().steps.size();
    for (auto launch : variants.getVariants()[number].getOps<loops::LaunchOp>())
      if (failed(take(launch)))
        return failure();
    if (number + 1 == variants.getVariants().size())
      return success();
    ::ft::rt::Step branch;
    branch.kind = ::ft::rt::Step::branch;
    branch.condition = hostGuard(cast<etdg::GuardAttr>(variants.getGuards()[number]));
    branch.body = takeSteps(before);
    if (failed(takeVariants(variants, number + 1)))
      return failure();
    branch.otherwise = takeSteps(before);
    plan().steps.push_back(std::move(branch));
    return success();
  };
  for (Operation &op : program.getBody().front()) {
    if (auto launch = dyn_cast<loops::LaunchOp>(op); launch && failed(take(launch)))
      return failure();
    if (auto variants = dyn_cast<loops::VariantsOp>(op); variants && failed(takeVariants(variants, 0)))
      return failure();
  }
  return std::move(result);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Value LoopWalker::bindBuffer(loops::BufferOp buffer) {
  auto addressOf = [&](LLVM::GlobalOp constant) {
    return e.atEntry(
        [&] { return LLVM::AddressOfOp::create(b, b.pointer(global), constant.getSymName()).getResult(); });
  };
  if (buffer.getKind() == loops::BufferKind::Splat)
    return addressOf(e.addConstant(DenseElementsAttr::get(buffer.getType().getElement(), cast<TypedAttr>(*buffer.getValue()))));
  CallBuffer &info = e.callBuffers.find(buffers.lookup(buffer))->second;
  return info.planBuffer < 0 ? addressOf(info.constant) : e.argument(info.planBuffer);
}

LogicalResult LoopWalker::bindArguments() {
  for (auto [argument, given] : llvm::zip_equal(source.getArguments(), launch.getArguments())) {
    Operation *from = given.getDefiningOp();
    if (auto length = dyn_cast<loops::LengthOp>(from)) {
      known.values[argument] = e.symbolValue(length.getNameAttr());
    } else if (auto stride = dyn_cast<loops::StrideOp>(from)) {
      auto buffer = stride.getBuffer().getDefiningOp<loops::BufferOp>();
      known.values[argument] = e.integerArgument(
          getHostStride(e.result.entry, graph, unsigned(*buffer.getIndex()), unsigned(stride.getDimension())));
    } else {
      known.values[argument] = bindBuffer(cast<loops::BufferOp>(from));
    }
  }
  return success();
}

LogicalResult LoopWalker::run(StringRef name) {
  etdg::ThreadBlockAttr block = loops::gridOf(source).getBlock();
  bool waits = false, isFixed = false;
  source.walk([&](Operation *op) {
    waits |= isa<loops::SyncOp>(op);
    loops::LevelAttr level = loops::levelOf(op);
    isFixed |= level && level.getDealing() == etdg::Dealing::Fixed;
  });
  b.setLoc(source.getLoc());
  e.cooperative = waits;
  e.sharedLimit = block.getShared();
  e.threads.count = block.getThreads();
  e.threads.sums = block.getSums();
  e.maxRows = 1;
  e.beginFunction(name);
  if (failed(bindArguments()) || failed(takeBlock(source.getBody().front())) || failed(e.endFunction(source, block)))
    return failure();
  e.addLaunch(name, waits ? HostExpr(e.multiprocessors) : tasks, /*shrinks=*/waits && !isFixed);
  return success();
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

static std::optional<HostExpr> onHostOf(AffineExpr expr, ArrayRef<HostExpr> operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return HostExpr(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<HostExpr> left = onHostOf(binary.getLHS(), operands), right = onHostOf(binary.getRHS(), operands);
  if (!left || !right)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *left + *right;
  case AffineExprKind::Mul:
    return *left * *right;
  case AffineExprKind::FloorDiv:
    return HostExpr::binary(HostExpr::floordiv, *left, *right);
  case AffineExprKind::CeilDiv:
    return HostExpr::binary(HostExpr::ceildiv, *left, *right);
  case AffineExprKind::Mod:
    return HostExpr::binary(HostExpr::mod, *left, *right);
  default:
    return std::nullopt;
  }
}

std::optional<HostExpr> LoopWalker::onHost(OpFoldResult value) {
  if (auto constant = dyn_cast<Attribute>(value))
    return HostExpr(cast<IntegerAttr>(constant).getInt());
  return onHost(cast<Value>(value));
}

std::optional<HostExpr> LoopWalker::onHost(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return HostExpr(constant.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != &source.getBody().front())
      return std::nullopt;
    auto length = launch.getArguments()[argument.getArgNumber()].getDefiningOp<loops::LengthOp>();
    if (!length)
      return std::nullopt;
    return HostExpr::var(llvm::find(e.symbols, length.getNameAttr()) - e.symbols.begin());
  }
  Operation *op = value.getDefiningOp();
  if (!isa<affine::AffineApplyOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return std::nullopt;
  SmallVector<HostExpr> operands;
  for (Value operand : op->getOperands()) {
    std::optional<HostExpr> one = onHost(operand);
    if (!one)
      return std::nullopt;
    operands.push_back(*one);
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return onHostOf(apply.getAffineMap().getResult(0), operands);
  if (isa<arith::AddIOp>(op))
    return operands[0] + operands[1];
  if (isa<arith::SubIOp>(op))
    return operands[0] - operands[1];
  if (isa<arith::MulIOp>(op))
    return operands[0] * operands[1];
  return HostExpr::binary(isa<arith::MinSIOp>(op) ? HostExpr::min : HostExpr::max, operands[0], operands[1]);
}
