//===- Plan.cpp - what the host does for a graph --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments, symbols, requirements, the workspace and the launches, as
// expressions over the graph's names.
//
//===----------------------------------------------------------------------===//
#include "GraphEmitter.h"

#include "ft/Engine/CpuProgram.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
namespace rt = ::ft::rt;

HostExpr mlir::ft::toHostExpr(AffineExpr expr, ArrayRef<StringAttr> names,
                              ArrayRef<StringAttr> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return HostExpr::var(llvm::find(symbols, names[symbol.getPosition()]) - symbols.begin());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) // a dimension: callers have none
    return 0;
  HostExpr a = toHostExpr(binary.getLHS(), names, symbols),
           b = toHostExpr(binary.getRHS(), names, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::Mod:
    return HostExpr::binary(HostExpr::mod, a, b);
  case AffineExprKind::FloorDiv:
    return HostExpr::binary(HostExpr::floordiv, a, b);
  default:
    return HostExpr::binary(HostExpr::ceildiv, a, b);
  }
}

HostExpr GraphEmitter::hostExpr(AffineExpr expr, ArrayRef<StringAttr> names) {
  return toHostExpr(expr, names, symbols);
}

HostExpr GraphEmitter::hostLength(LengthAttr length) {
  return hostExpr(length.getExpr(), length.getNames());
}

HostExpr GraphEmitter::hostBytes(ArrayRef<LengthAttr> lengths, ArrayRef<int64_t> planes,
                                 RankedTensorType element) {
  HostExpr bytes = element.getNumElements() * bytesOf(element.getElementType());
  for (auto [d, length] : llvm::enumerate(lengths))
    bytes = bytes * (!planes.empty() && planes[d] != 0 ? HostExpr(planes[d]) : hostLength(length));
  return bytes;
}

/// A buffer of the plan in the workspace.
int64_t GraphEmitter::addWorkspace(HostExpr offset) {
  rt::Plan &plan = result.entry.plans.front();
  plan.buffers.push_back({rt::Buffer::workspace, 0, offset});
  return int64_t(plan.buffers.size()) - 1;
}

static HostExpr aligned(const HostExpr &bytes) {
  if (auto constant = bytes.asConstant())
    return HostExpr(int64_t(llvm::alignTo(*constant, 256)));
  return HostExpr::binary(HostExpr::ceildiv, bytes, 256) * 256;
}

LogicalResult GraphEmitter::makeEntry() {
  rt::Entry &entry = result.entry;
  entry.name = graph.getSymName().str();
  for (StringAttr name : symbols)
    entry.symbols.push_back({name.getValue().str(), 0, 0});
  auto addArgument = [&](Type type, bool output, unsigned number) -> LogicalResult {
    auto buffer = cast<etdg::BufferType>(type);
    rt::Argument argument;
    argument.name = (output ? "result" : "argument") + std::to_string(number);
    std::optional<rt::DType> dtype = arrayTypeOf(buffer.getElement().getElementType());
    if (!dtype)
      return graph.emitError() << "no array holds elements of "
                               << buffer.getElement().getElementType();
    argument.dtype = *dtype;
    for (LengthAttr length : buffer.getLengths()) {
      if (length.getRagged())
        return graph.emitError() << "has a ragged length; the GPU takes none";
      argument.shape.push_back(hostLength(length));
    }
    for (int64_t extent : buffer.getElement().getShape())
      argument.shape.push_back(extent);
    argument.output = output;
    argument.alignment = 16;
    entry.arguments.push_back(std::move(argument));
    return success();
  };
  for (auto [i, type] : llvm::enumerate(graph.getArgumentTypes()))
    if (failed(addArgument(type, false, i)))
      return failure();
  for (auto [i, type] : llvm::enumerate(graph.getResultTypes()))
    if (failed(addArgument(type, true, i)))
      return failure();
  for (auto [s, name] : llvm::enumerate(symbols)) {
    bool bound = false;
    for (auto [i, type] : llvm::enumerate(graph.getArgumentTypes()))
      for (auto [d, length] : llvm::enumerate(cast<etdg::BufferType>(type).getLengths()))
        if (!bound && length.getSingleName() == name) {
          entry.symbols[s].value = entry.extent(i, d);
          bound = true;
        }
    if (!bound)
      return graph.emitError() << "length '" << name.getValue() << "' is bound by no argument";
  }
  auto require = [&](BoundsAttr bounds, StringRef because) {
    for (LengthAttr bound : bounds.getNonNegative())
      entry.requirements.push_back(
          {hostLength(bound), because.empty() ? bound.str() + " >= 0" : because.str()});
  };
  if (auto bounds = graph->getAttrOfType<BoundsAttr>("ft.bounds"))
    require(bounds, "");
  if (auto checks = graph->getAttrOfType<ArrayAttr>("etdg.checks"))
    for (auto check : checks.getAsRange<DictionaryAttr>())
      require(check.getAs<BoundsAttr>("holds"), check.getAs<StringAttr>("because").getValue());
  rt::Plan plan;
  plan.target = options.target;
  plan.variant = "generic";
  entry.plans.push_back(std::move(plan));
  return success();
}

/// `live` says what is needed between iterations; one plane more, and a body
/// never writes what it still reads.
static SmallVector<int64_t> planesFromLive(etdg::BufferOp buffer) {
  SmallVector<int64_t> planes;
  if (std::optional<ArrayRef<int64_t>> live = buffer.getLive())
    for (int64_t w : *live)
      planes.push_back(w < 0 ? 0 : w + 1);
  return planes;
}

LogicalResult GraphEmitter::collectBuffers() {
  rt::Plan &plan = result.entry.plans.front();
  auto describe = [&](Value value) -> CallBuffer & {
    auto type = cast<etdg::BufferType>(value.getType());
    CallBuffer &buffer = callBuffers[value];
    buffer.lengths = llvm::to_vector(type.getLengths());
    buffer.element = type.getElement();
    return buffer;
  };
  auto addArgument = [&](Value value, int64_t index) {
    plan.buffers.push_back({rt::Buffer::argument, index, 0});
    describe(value).planBuffer = int64_t(plan.buffers.size()) - 1;
  };
  for (BlockArgument argument : graph.getBody().getArguments())
    addArgument(argument, argument.getArgNumber());
  Operation *terminator = graph.getBody().front().getTerminator();
  int64_t numArguments = graph.getArgumentTypes().size();
  for (auto [i, operand] : llvm::enumerate(terminator->getOperands()))
    addArgument(operand, numArguments + int64_t(i));
  for (Operation &op : graph.getBody().front()) {
    if (auto constant = dyn_cast<etdg::ConstantOp>(op)) {
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (!dense)
        return constant.emitError("the GPU takes dense constants only");
      describe(constant.getResult()).constant = addConstant(dense);
    } else if (auto declared = dyn_cast<etdg::BufferOp>(op);
               declared && !callBuffers.contains(declared.getResult())) {
      CallBuffer &buffer = describe(declared.getResult());
      buffer.planes = planesFromLive(declared);
      buffer.planBuffer = addWorkspace(0);
      intermediates.push_back(declared.getResult());
    }
  }
  plan.buffers.push_back({rt::Buffer::error, 0, 0});
  errorBuffer = int64_t(plan.buffers.size()) - 1;
  graph.walk([&](etdg::BufferOp buffer) {
    if (!callBuffers.contains(buffer.getResult()))
      privatePlanes[buffer.getResult()] = planesFromLive(buffer);
  });
  return success();
}

/// Intermediate buffers lie one after the other.
void GraphEmitter::placeIntermediates() {
  for (Value value : intermediates) {
    const CallBuffer &buffer = callBuffers.find(value)->second;
    result.entry.plans.front().buffers[buffer.planBuffer].offset = intermediateBytes;
    intermediateBytes =
        intermediateBytes + aligned(hostBytes(buffer.lengths, buffer.planes, buffer.element));
  }
}

/// The launch, now that the kernel's arguments and memory are known.
void GraphEmitter::finishKernel(StringRef name, HostExpr tasks) {
  rt::Plan &plan = result.entry.plans.front();
  // Memory for each block of threads bounds how many there are; blocks loop over tasks.
  int64_t most = blockParts.empty() ? int64_t(1) << 30 : options.multiprocessors * 4;
  HostExpr grid = HostExpr::binary(HostExpr::min, tasks, most);
  HostExpr bytes = intermediateBytes;
  for (const BlockPart &part : blockParts) {
    plan.buffers[part.planBuffer].offset = bytes;
    bytes = bytes + aligned(part.bytes * grid);
  }
  kernelBytes = HostExpr::binary(HostExpr::max, kernelBytes, bytes);
  rt::Step step;
  step.kind = rt::Step::launch;
  step.launched.kernel = int64_t(plan.kernels.size());
  step.launched.grid[0] = grid;
  step.launched.block[0] = threads.count;
  step.launched.sharedBytes = int64_t(llvm::alignTo(sharedUsed, 64)) + leafShared;
  step.launched.cooperative = cooperative;
  step.launched.shrinks = cooperative; // blocks loop over tasks, however many there are
  step.launched.arguments = kernelArguments;
  plan.steps.push_back(std::move(step));
  plan.kernels.push_back(name.str());
  plan.workspaceBytes = kernelBytes;
}
