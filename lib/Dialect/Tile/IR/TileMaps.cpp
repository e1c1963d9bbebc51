//===- TileMaps.cpp - tensor maps -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Tile/IR/AttributeNames.h"
#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace mlir::tile;

/// Of an argument of a kernel: the tensor map whose descriptor it is.
//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

static bool isElementOfMaps(Type type) {
  return type.isSignlessInteger(8) || type.isSignlessInteger(16) || type.isSignlessInteger(32) || type.isSignlessInteger(64) || type.isF16() ||
         type.isBF16() || type.isF32() || type.isF64();
}

std::string tile::describeWrongMap(ArrayRef<int64_t> box, Type elementType, int64_t swizzle) {
  std::string text;
  llvm::raw_string_ostream wrong(text);
  if (box.empty() || box.size() > mostMapDims || llvm::any_of(box, [](int64_t size) { return size < 1 || size > mostBoxSize; }))
    wrong << "(T1) expected a box of 1 to " << mostMapDims << " dimensions of 1 to " << mostBoxSize << " elements each, found [" << llvm::interleaved(box)
          << "]";
  else if (!isElementOfMaps(elementType))
    wrong << "(T2) expected elements of i8, i16, i32, i64, f16, bf16, f32 or f64, found " << elementType;
  else if (!llvm::is_contained(mapSwizzles, swizzle))
    wrong << "(T3) expected a swizzle of 0, 32, 64 or 128 bytes, found " << swizzle;
  else if (int64_t row = box.back() * elementType.getIntOrFloatBitWidth() / 8; row % accessBytes != 0)
    wrong << "(T4) expected a row of the box that is a multiple of " << accessBytes << " bytes, found " << row << " bytes";
  else if (swizzle && row > swizzle)
    wrong << "(T4) expected a row of the box of at most " << swizzle << " bytes, which its swizzle repeats after, found " << row << " bytes";
  return text;
}

LogicalResult TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> box, Type elementType, int64_t swizzle) {
  std::string wrong = describeWrongMap(box, elementType, swizzle);
  return wrong.empty() ? success() : LogicalResult(emitError() << wrong);
}

int64_t TensorMapType::getBytes() const {
  int64_t bytes = getElementType().getIntOrFloatBitWidth() / 8;
  for (int64_t size : getBox())
    bytes *= size;
  return bytes;
}

Type TensorMapType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> box;
  Type element;
  int64_t swizzle = 0;
  if (parser.parseLess() || parser.parseDimensionList(box, /*allowDynamic=*/false) || parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma()) && (parser.parseKeyword("swizzle") || parser.parseEqual() || parser.parseInteger(swizzle)))
    return {};
  if (parser.parseGreater() || failed(verify([&] { return parser.emitError(loc); }, box, element, swizzle)))
    return {};
  return get(parser.getContext(), box, element, swizzle);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getBox())
    printer << size << "x";
  printer << getElementType();
  if (getSwizzle())
    printer << ", swizzle = " << getSwizzle();
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

TensorMapType tile::getTensorMap(BlockArgument argument) {
  auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock())
    return {};
  auto said = function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), names::tensorMap);
  return said ? dyn_cast<TensorMapType>(said.getValue()) : TensorMapType();
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned number, NamedAttribute attribute) {
  if (attribute.getName().getValue() != names::tensorMap)
    return op->emitOpError() << "no attribute of an argument is called '" << attribute.getName().getValue() << "': expected '" << names::tensorMap << "'";
  auto type = dyn_cast<TypeAttr>(attribute.getValue());
  if (!type || !isa<TensorMapType>(type.getValue()))
    return op->emitOpError() << "(tile_module3) expected a !tile.tensor_map of argument " << number << ", found " << attribute.getValue();
  auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
  if (!function || !function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
    return op->emitOpError() << "(tile_module3) only kernels take tensor maps, found argument " << number << " of another function";
  auto bytes = function.getArgAttrOfType<TypeAttr>(number, LLVM::LLVMDialect::getByValAttrName());
  auto align = function.getArgAttrOfType<IntegerAttr>(number, LLVM::LLVMDialect::getAlignAttrName());
  auto expected = LLVM::LLVMArrayType::get(IntegerType::get(op->getContext(), 8), mapBytes);
  if (!bytes || bytes.getValue() != expected || !align || align.getInt() != mapAlignment ||
      !function.getArgAttr(number, NVVM::NVVMDialect::getGridConstantAttrName()))
    return op->emitOpError() << "(tile_module3) expected argument " << number << " by value, constant for the grid and aligned: llvm.byval = " << expected
                             << ", nvvm.grid_constant, llvm.align = " << mapAlignment;
  return success();
}

LogicalResult TensorMapOp::verify() {
  auto argument = dyn_cast<BlockArgument>(getDescriptor());
  TensorMapType said = argument ? getTensorMap(argument) : TensorMapType();
  if (!said)
    return emitOpError() << "(1) expected an argument of a kernel that describes a tensor map ('" << names::tensorMap << "')";
  if (said != getType())
    return emitOpError() << "(1) the argument describes " << said << ", found " << getType();
  return success();
}
