//===- Plan.cpp - what the host does for kernels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers, the workspace and the launches, as expressions over names of lengths.
//
// A descriptor of TMA is an argument of a kernel by value. The kernel says of which boxes, the launch plan of which tensor; the runtime
// encodes both with each launch at which they have changed.
//
//===----------------------------------------------------------------------===//
#include "KernelBuilder.h"
#include "MapCoordinates.h"
#include "TensorMaps.h"

#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Conversion/LaunchPlan/Guards.h"
#include "ft/Dialect/Tile/IR/AttributeNames.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
namespace rt = ::ft::rt;

HostExpr KernelBuilder::hostBytes(ArrayRef<LengthAttr> lengths, ArrayRef<int64_t> planes,
                                 RankedTensorType element) {
  return getHostBytes(lengths, planes, element, symbols);
}

void KernelBuilder::begin(rt::Entry entry) {
  result.entry = std::move(entry);
  rt::Plan plan;
  plan.target = options.target;
  plan.variant = "generic";
  result.entry.plans.push_back(std::move(plan));
  result.module = ModuleOp::create(b.getLoc());
  b.setInsertionPointToEnd(result.module->getBody());
  // Shared memory is one array whose size the launch gives.
  auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, bytes, /*isConstant=*/false, LLVM::Linkage::External, "ft_shared", Attribute(),
                         /*alignment=*/accessBytes, shared);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

CallBuffer &KernelBuilder::describe(Value value, ArrayRef<LengthAttr> lengths, RankedTensorType element) {
  CallBuffer &buffer = callBuffers[value];
  buffer.lengths = llvm::to_vector(lengths);
  buffer.element = element;
  return buffer;
}

void KernelBuilder::addArgument(CallBuffer &buffer, int64_t number) {
  plan().buffers.push_back({rt::Buffer::argument, number, 0});
  buffer.planBuffer = int64_t(plan().buffers.size()) - 1;
}

void KernelBuilder::addIntermediate(Value value, ArrayRef<int64_t> planes, std::optional<int64_t> slot) {
  CallBuffer &buffer = callBuffers.find(value)->second;
  buffer.planes = llvm::to_vector(planes);
  buffer.planBuffer = addWorkspace(0);
  intermediates.add(buffer.planBuffer, hostBytes(buffer.lengths, buffer.planes, buffer.element), slot);
}

LogicalResult KernelBuilder::addCallConstant(Operation *op, CallBuffer &buffer, Attribute value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return op->emitError("the GPU takes dense constants only");
  buffer.constant = addConstant(dense);
  return success();
}

void KernelBuilder::addErrorBuffer() {
  plan().buffers.push_back({rt::Buffer::error, 0, 0});
  errorBuffer = int64_t(plan().buffers.size()) - 1;
}

/// A buffer of the plan in the workspace.
int64_t KernelBuilder::addWorkspace(HostExpr offset) {
  plan().buffers.push_back({rt::Buffer::workspace, 0, offset});
  return int64_t(plan().buffers.size()) - 1;
}

void KernelBuilder::placeIntermediates() { kernelBytes = plan().workspaceBytes = intermediateBytes = intermediates.place(plan()); }

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::vector<rt::Step> KernelBuilder::takeSteps(size_t before) {
  std::vector<rt::Step> &steps = plan().steps;
  std::vector<rt::Step> taken(std::make_move_iterator(steps.begin() + before), std::make_move_iterator(steps.end()));
  steps.resize(before);
  return taken;
}

HostExpr KernelBuilder::hostGuard(etdg::GuardAttr guard) { return getHostGuard(guard, symbols); }

/// Of a launch that begins early its thread blocks would go to the SMs that have room first, and several of them to one. Each asks for so much shared
/// memory that an SM takes no more of them than its share. Where an SM's threads are fewer than that, they are shared out as they end.
static HostExpr spreadBytes(const Machine &machine, int64_t units, const HostExpr &blocks, int64_t threads) {
  const int64_t most = machine.occupancy.threadsPerUnit / threads;
  HostExpr each = HostExpr::binary(HostExpr::max, HostExpr::binary(HostExpr::ceildiv, blocks, units), 1);
  HostExpr fewer = HostExpr::binary(HostExpr::floordiv, machine.occupancy.sharedBytesPerUnit, each + 1);
  HostExpr isFew = HostExpr::binary(HostExpr::min, HostExpr::binary(HostExpr::max, HostExpr(most) - each, 0), 1);
  return HostExpr::binary(HostExpr::max, (fewer - machine.kernels.reserved + 1) * isFew, 0);
}

/// The launch, now that the kernel's arguments and memory are known.
void KernelBuilder::addLaunch(StringRef name, HostExpr blocks, bool shrinks) {
  HostExpr bytes = intermediateBytes;
  for (const BlockPart &part : blockParts) {
    plan().buffers[part.planBuffer].offset = bytes;
    bytes = bytes + alignHostBytes(part.bytes * blocks);
  }
  kernelBytes = HostExpr::binary(HostExpr::max, kernelBytes, bytes);
  rt::Step step;
  step.kind = rt::Step::launch;
  step.launched.kernel = int64_t(plan().kernels.size());
  step.launched.grid[0] = blocks;
  step.launched.block[0] = threads.count;
  step.launched.sharedBytes = sharedBytes;
  step.launched.cooperative = cooperative;
  step.launched.shrinks = shrinks;
  step.launched.overlaps = overlaps;
  if (overlaps)
    step.launched.overlapBytes = spreadBytes(machine, options.getMultiprocessors(), blocks, threads.count);
  step.launched.arguments = kernelArguments;
  plan().steps.push_back(std::move(step));
  plan().kernels.push_back(name.str());
  plan().workspaceBytes = kernelBytes;
}

//===----------------------------------------------------------------------===//
// The driver's numbers
//===----------------------------------------------------------------------===//

/// CUtensorMapDataType.
static int64_t numberOf(Type element) {
  constexpr int64_t half = 6, single = 7, wide = 8, brain = 9; // the driver's numbers
  constexpr int64_t ofBytes[] = {0, 1, 2, 4};                  // of unsigned integers of 1, 2, 4 and 8 bytes
  if (isa<FloatType>(element))
    return element.isF16() ? half : element.isBF16() ? brain : element.isF32() ? single : wide;
  return ofBytes[llvm::Log2_32(element.getIntOrFloatBitWidth() / 8)];
}

rt::TensorMap togpu::planOf(tile::TensorMapType type) {
  constexpr int64_t lines = 2; // CU_TENSOR_MAP_L2_PROMOTION_L2_128B: what a line of the L2 cache has
  rt::TensorMap map;
  map.type = numberOf(type.getElementType());
  map.box.assign(type.getBox().rbegin(), type.getBox().rend());
  map.elementStrides.assign(map.box.size(), 1);
  map.swizzle = llvm::find(tile::mapSwizzles, type.getSwizzle()) - std::begin(tile::mapSwizzles); // CUtensorMapSwizzle counts them so
  map.l2Promotion = lines;
  return map;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static bool isSame(const rt::TensorMap &a, const rt::TensorMap &b) {
  return a.type == b.type && a.extents == b.extents && a.strides == b.strides && a.box == b.box && a.swizzle == b.swizzle;
}

Value KernelBuilder::tensorMap(int64_t planBuffer, tile::TensorMapType type, ArrayRef<HostExpr> extents, ArrayRef<HostExpr> strides) {
  rt::KernelArgument description;
  description.kind = rt::KernelArgument::tensorMap;
  description.buffer = planBuffer;
  description.map = planOf(type);
  description.map.extents.assign(extents.rbegin(), extents.rend());
  description.map.strides.assign(strides.rbegin(), strides.rend());
  for (auto [number, known] : tensorMaps)
    if (kernelArguments[number].buffer == planBuffer && isSame(kernelArguments[number].map, description.map))
      return known;
  auto number = unsigned(kernelArguments.size());
  kernelArguments.push_back(std::move(description));
  BlockArgument argument = kernel.getBody().front().addArgument(b.pointer(generic), b.getLoc());
  return tensorMaps[number] = atEntry([&] { return tile::TensorMapOp::create(b, type, argument).getResult(); });
}

void KernelBuilder::describeTensorMaps() {
  auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), tile::mapBytes);
  for (auto [number, map] : tensorMaps) {
    kernel.setArgAttr(number, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
    kernel.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(tile::mapAlignment));
    kernel.setArgAttr(number, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
    kernel.setArgAttr(number, tile::names::tensorMap, TypeAttr::get(map.getType()));
  }
}

//===----------------------------------------------------------------------===//
// What a plan passes
//===----------------------------------------------------------------------===//

static std::string describe(const rt::KernelArgument &argument) {
  constexpr const char *kinds[] = {"a pointer", "an integer", "a tensor map"};
  std::string text = kinds[argument.kind];
  if (argument.kind != rt::KernelArgument::tensorMap)
    return text;
  text += " of type " + std::to_string(argument.map.type) + ", swizzle " + std::to_string(argument.map.swizzle) + " and box [";
  for (auto [d, size] : llvm::enumerate(llvm::reverse(argument.map.box)))
    text += (d ? ", " : "") + std::to_string(size);
  return text + "], the slowest dimension first";
}

/// Arguments that the launch passes in another way than the kernel says.
static LogicalResult checkLaunch(const rt::Launch &launch, LLVM::LLVMFuncOp kernel) {
  if (launch.arguments.size() != kernel.getNumArguments())
    return kernel.emitError("the launch plan passes ") << launch.arguments.size() << " arguments, the kernel takes " << kernel.getNumArguments();
  for (auto [given, argument] : llvm::zip_equal(launch.arguments, kernel.getArguments())) {
    tile::TensorMapType said = tile::getTensorMap(argument);
    bool isMap = given.kind == rt::KernelArgument::tensorMap;
    if (isMap != bool(kernel.getArgAttr(argument.getArgNumber(), LLVM::LLVMDialect::getByValAttrName())))
      return kernel.emitError("the launch plan passes ")
             << describe(given) << " as argument " << argument.getArgNumber() << ", the kernel takes " << (isMap ? "no" : "a") << " descriptor by value";
    if (!said)
      continue;
    rt::TensorMap expected = planOf(said);
    if (given.map.type != expected.type || given.map.box != expected.box || given.map.swizzle != expected.swizzle || given.map.interleave != 0 ||
        given.map.elementStrides != expected.elementStrides)
      return kernel.emitError("the launch plan passes ")
             << describe(given) << " as argument " << argument.getArgNumber() << ", the kernel takes " << said;
  }
  return success();
}

static LogicalResult checkSteps(ModuleOp kernels, const rt::Plan &plan, const std::vector<rt::Step> &steps) {
  for (const rt::Step &step : steps) {
    if (failed(checkSteps(kernels, plan, step.body)) || failed(checkSteps(kernels, plan, step.otherwise)))
      return failure();
    auto kernel = step.kind == rt::Step::launch ? kernels.lookupSymbol<LLVM::LLVMFuncOp>(plan.kernels[size_t(step.launched.kernel)]) : LLVM::LLVMFuncOp();
    if (kernel && failed(checkLaunch(step.launched, kernel)))
      return failure();
  }
  return success();
}

LogicalResult togpu::takeTensorMaps(ModuleOp kernels, const rt::Plan &plan) {
  if (failed(checkSteps(kernels, plan, plan.steps)))
    return failure();
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      kernel.removeArgAttr(i, tile::names::tensorMap);
  return success();
}

//===----------------------------------------------------------------------===//
// Operands as boxes
//===----------------------------------------------------------------------===//

namespace mlir::ft::togpu {
/// Places in a tensor, an index for each dimension.
class TensorCoordinates {
public:
  TensorCoordinates(Code &b, const OperandMap &map, const MapIndices &indices) : b(b), map(map), indices(indices) {}

  static void evaluate(const OperandMap &map, llvm::function_ref<Value(OpFoldResult)> valueOf) {
    for (const OperandMap::Dim &dim : map.dims)
      (void)valueOf(dim.index);
    if (map.inside)
      (void)valueOf(map.inside);
  }

  SmallVector<Value> emit(Value row, Value column) {
    SmallVector<Value> coordinates;
    for (auto [g, group] : llvm::enumerate(map.groups)) {
      Value sum = b.number(0);
      for (unsigned d = group.first; d <= group.last; ++d)
        sum = b.add(sum, b.mul(indexAlong(map.dims[d]), map.ratioOf(group, d)));
      if (g == map.rowGroup || g == map.columnGroup)
        sum = b.add(sum, g == map.rowGroup ? alongRun(map.rows, row) : alongRun(map.columns, column));
      if (map.inside && (g == map.rowGroup || (map.splitsInside && map.dims[group.last].buffers < 0)))
        sum = b.add(sum, insideAlong(group, /*isSlowest=*/g == map.rowGroup));
      coordinates.push_back(sum);
    }
    return coordinates;
  }

private:
  /// The digit along a group of where the view begins inside of an element.
  Value insideAlong(const OperandMap::Group &group, bool isSlowest) {
    Value digit = b.createOrFold<arith::DivUIOp>(indices.valueOf(map.inside), b.number(*map.dims[group.last].stride));
    return isSlowest ? digit : b.createOrFold<arith::RemUIOp>(digit, b.number(map.extentOf(group)));
  }
  Value indexAlong(const OperandMap::Dim &dim) {
    Value own = b.add(indices.valueOf(dim.index), dim.first);
    for (unsigned loop : dim.batch)
      own = b.add(own, indices.batch[loop]);
    bool movesByCall = dim.moves && !map.rows.hasRows && !map.columns.hasRows;
    return movesByCall && indices.row ? b.add(own, indices.row) : own;
  }
  /// A row or a column of the matrix, counted from the first of the tensor's.
  Value alongRun(const OperandMap::Run &run, Value number) {
    return run.hasColumns && indices.begin ? b.add(number, b.mul(indices.begin, run.columnsRatio)) : number;
  }

  Code &b;
  const OperandMap &map;
  const MapIndices &indices;
};
} // namespace mlir::ft::togpu

void togpu::evaluateIndices(const OperandMap &map, llvm::function_ref<Value(OpFoldResult)> valueOf) { TensorCoordinates::evaluate(map, valueOf); }

SmallVector<Value> togpu::emitCoordinates(Code &b, const OperandMap &map, const MapIndices &indices, Value row, Value column) {
  return TensorCoordinates(b, map, indices).emit(row, column);
}

namespace mlir::ft::togpu {
/// A tensor for the host: expressions of lengths and of callers' strides.
class TensorShape {
public:
  TensorShape(KernelBuilder &e, const Interface &code, loops::BufferOp buffer, const OperandMap &map) : e(e), code(code), buffer(buffer), map(map) {}

  Value emit() {
    SmallVector<HostExpr> extents, strides;
    for (const OperandMap::Group &group : map.groups) {
      HostExpr extent = 1;
      for (unsigned d = group.first; d <= group.last; ++d)
        extent = extent * extentOf(map.dims[d]);
      // (No tensor has an extent of 0. Then no box of it is brought.)
      extents.push_back(group.extent >= 0 ? HostExpr(group.extent) : extent.asConstant() ? extent : HostExpr::binary(HostExpr::max, extent, 1));
      strides.push_back(strideOf(map.dims[group.last]) * bytes());
    }
    strides.pop_back(); // of neighbours
    return e.tensorMap(e.callBuffers.find(buffer.getResult())->second.planBuffer, map.getType(), extents, strides);
  }

private:
  int64_t bytes() const { return map.element.getIntOrFloatBitWidth() / 8; }
  HostExpr lengthOf(unsigned d) {
    ArrayRef<int64_t> planes = buffer.getPlanes().value_or(ArrayRef<int64_t>());
    LengthAttr length = buffer.getType().getLengths()[d];
    return !planes.empty() && planes[d] != 0 ? HostExpr(planes[d]) : toHostExpr(length.getExpr(), length.getNames(), e.symbols);
  }
  HostExpr extentOf(const OperandMap::Dim &dim) { return dim.extent >= 0 ? HostExpr(dim.extent) : lengthOf(unsigned(dim.buffers)); }
  HostExpr strideOf(const OperandMap::Dim &dim) {
    if (dim.stride)
      return *dim.stride;
    auto d = unsigned(dim.buffers);
    if (d < buffer.getStrided().value_or(0))
      return getHostStride(e.result.entry, code, unsigned(*buffer.getIndex()), d);
    HostExpr stride = map.elementNumbers;
    for (unsigned inner = d + 1; inner < buffer.getType().getDepth(); ++inner)
      stride = stride * lengthOf(inner);
    return stride;
  }

  KernelBuilder &e;
  const Interface &code;
  loops::BufferOp buffer;
  const OperandMap &map;
};
} // namespace mlir::ft::togpu

Value togpu::emitTensorMap(KernelBuilder &e, const Interface &code, loops::LaunchOp launch, const OperandMap &map) {
  return TensorShape(e, code, map.bufferOf(launch), map).emit();
}
