//===- KernelMemory.cpp - memory of a thread block -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory is one array, the workspace has a part for each thread block: pointers to where the loops say that something lies
// (PlaceMemory.cpp).
//
//===----------------------------------------------------------------------===//
#include "KernelBuilder.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

Value KernelBuilder::sharedMemory(int64_t offset) {
  Value &pointer = sharedPointers[offset];
  if (!pointer)
    pointer = atEntry([&] {
      Value base = LLVM::AddressOfOp::create(b, b.pointer(shared), "ft_shared");
      return b.at(base, b.number(offset), b.getI8Type());
    });
  return pointer;
}

Value KernelBuilder::workspaceMemory(HostExpr bytes, Value bytesValue) {
  return atEntry([&] {
    int64_t part = addWorkspace(0);
    blockParts.push_back({part, bytes});
    Value number = b.extend(NVVM::BlockIdXOp::create(b, b.getI32Type()));
    return b.at(argument(part), b.mul(number, bytesValue), b.getI8Type());
  });
}

void KernelBuilder::placeLeaf(const LeafPlaces &places, LeafEmitter &emitter) {
  if (places.operands)
    emitter.staging = sharedMemory(places.operands.getOffset());
  sums = places.sums;
  for (auto [number, place] : llvm::zip_equal(places.buffers, places.values)) {
    if (!place)
      continue;
    const leaf::Buffer &buffer = emitter.graph.buffers[number];
    Memory &memory = emitter.memories[number];
    if (place.getKind() == loops::PlaceKind::Output) {
      auto isOutput = [&](const leaf::Buffer &other) {
        return other.kind == leaf::Buffer::Kind::Output && int64_t(other.number) == place.getOutput();
      };
      memory = emitter.memories[llvm::find_if(emitter.graph.buffers, isOutput) - emitter.graph.buffers.begin()];
      continue;
    }
    const int64_t bytes = place.getBytes(), rows = buffer.batched ? emitter.maxRows : 1;
    memory.aligned = true;
    memory.swizzled = place.getSwizzled();
    if (rows > 1)
      memory.rowStride = b.number(buffer.numElements);
    if (emitter.lifted[number])
      memory.liftStride = b.number(buffer.numElements * rows);
    memory.pointer = place.getKind() == loops::PlaceKind::Shared ? sharedMemory(place.getOffset())
                                                                 : workspaceMemory(bytes, atEntry([&] { return b.number(bytes); }));
  }
}

LLVM::GlobalOp KernelBuilder::addConstant(DenseElementsAttr value) {
  Type element = value.getElementType();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(result.module->getBody());
  Type stored = storedType(element);
  if (stored != element || isHalf(element)) { // i1 as bytes, index as i64, halves as bits
    SmallVector<APInt> bits;
    Type integer = isHalf(element) ? Type(b.getIntegerType(16)) : stored;
    if (isHalf(element))
      for (APFloat number : value.getValues<APFloat>())
        bits.push_back(number.bitcastToAPInt());
    else
      for (APInt number : value.getValues<APInt>())
        bits.push_back(number.zextOrTrunc(integer.getIntOrFloatBitWidth()));
    value = DenseElementsAttr::get(RankedTensorType::get({int64_t(bits.size())}, integer), bits);
    stored = integer;
  } else {
    value = value.reshape(RankedTensorType::get({value.getNumElements()}, element));
  }
  auto type = LLVM::LLVMArrayType::get(stored, value.getNumElements());
  return LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                "constant" + std::to_string(numConstants++), value,
                                /*alignment=*/accessBytes, global);
}
