//===- TensorMaps.cpp - tensor maps of kernels and their plan -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A descriptor of TMA is an argument of a kernel by value. The kernel says of which boxes, the launch plan of which tensor; the runtime
// encodes both with each launch at which they have changed.
//
//===----------------------------------------------------------------------===//
#include "TensorMaps.h"

#include "KernelBuilder.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
namespace rt = ::ft::rt;

static constexpr StringRef tensorMapName = tile::TileDialect::TensorMapAttrHelper::getNameStr();

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
    kernel.setArgAttr(number, tensorMapName, TypeAttr::get(map.getType()));
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
      kernel.removeArgAttr(i, tensorMapName);
  return success();
}
