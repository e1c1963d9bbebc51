//===- KernelMemory.cpp - memory of a block of threads -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory is one array: first what warps leave for each other and what lives as long as the
// kernel, then what leaves need one after the other. What does not fit lies in the workspace.
//
//===----------------------------------------------------------------------===//
#include "KernelBuilder.h"

#include "ft/Support/FirstFit.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

Value KernelBuilder::blockMemory(HostExpr bytes, Value bytesValue,
                                std::optional<int64_t> fixedBytes) {
  return atEntry([&]() -> Value {
    if (fixedBytes && sharedUsed + *fixedBytes <= sharedLimit * 2 / 3 &&
        sharedUsed + *fixedBytes + leafShared + partialsReserve() <= sharedLimit) {
      Value base = LLVM::AddressOfOp::create(b, b.pointer(shared), "ft_shared");
      Value memory = b.at(base, b.number(sharedUsed), b.getI8Type());
      sharedUsed += int64_t(llvm::alignTo(*fixedBytes, 16));
      return memory;
    }
    int64_t part = addWorkspace(0);
    blockParts.push_back({part, bytes});
    Value number = b.extend(NVVM::BlockIdXOp::create(b, b.getI32Type()));
    return b.at(argument(part), b.mul(number, bytesValue), b.getI8Type());
  });
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

static bool isShared(Value pointer) {
  auto type = pointer ? dyn_cast<LLVM::LLVMPointerType>(pointer.getType()) : LLVM::LLVMPointerType();
  return type && type.getAddressSpace() == unsigned(shared);
}

/// How often a nest touches a buffer, other than by a view of `member.inits` or `member.writes` that equals `view`.
static unsigned touches(const leaf::Nest &nest, int buffer, const leaf::View *view = nullptr) {
  unsigned count = 0;
  auto touch = [&](const leaf::View &seen, bool mayEqual) {
    bool isView = mayEqual && view && seen.strides == view->strides && seen.offset == view->offset && seen.terms.empty() &&
                  seen.columnStride == view->columnStride;
    count += seen.buffer == buffer && !isView;
    for (const leaf::DynamicTerm &term : seen.terms)
      count += term.buffer == buffer;
  };
  for (const leaf::Member &member : nest.members) {
    for (const leaf::View &seen : member.reads)
      touch(seen, false);
    for (auto *views : {&member.inits, &member.writes})
      for (const leaf::View &seen : *views)
        touch(seen, true);
    for (const auto &[value, seen] : member.captured)
      touch(seen, false);
  }
  return count;
}

/// The output in whose memory a value between nests may lie: a product alone adds to it, in its own places and not elsewhere, and
/// writes it as that output, which nobody else touches. None: -1. (The thread that writes a sum of a product is the one that has
/// read it; where lanes share a point, others may still read.)
static int outputOf(const leaf::LeafGraph &graph, ArrayRef<Tiles> tiles, int scratch) {
  for (auto [n, nest] : llvm::enumerate(graph.nests)) {
    if (!tiles[n].product || nest.members.size() != 1 || nest.members.front().inits.size() != 1 || nest.members.front().writes.size() != 1)
      continue;
    const leaf::Member &member = nest.members.front();
    if (member.inits.front().buffer != scratch || !member.inits.front().terms.empty())
      continue;
    const leaf::View &view = member.inits.front(), &written = member.writes.front();
    const leaf::Buffer &from = graph.buffers[scratch];
    if (written.isSplat() || graph.buffers[written.buffer].kind != leaf::Buffer::Kind::Output)
      return -1;
    const leaf::Buffer &to = graph.buffers[written.buffer];
    if (to.elementType != from.elementType || to.numElements != from.numElements || touches(nest, scratch, &view) ||
        touches(nest, written.buffer, &view))
      return -1;
    // Whoever makes the value stands before; behind, nobody looks at it.
    for (auto [other, beside] : llvm::enumerate(graph.nests))
      if (other != n && (touches(beside, written.buffer) || (other > n && touches(beside, scratch))))
        return -1;
    return written.buffer;
  }
  return -1;
}

/// Memory for the values between the nests of a leaf: shared memory where it
/// fits, else a part of the workspace; that of an output in shared memory where a value becomes it.
void KernelBuilder::placeLeafBuffers(leaf::LeafGraph &leafGraph, LeafEmitter &emitter,
                                    int64_t rows) {
  SmallVector<std::pair<unsigned, unsigned>> lives(leafGraph.buffers.size(), {~0u, 0});
  for (auto [n, nest] : llvm::enumerate(leafGraph.nests)) {
    auto touch = [&, n = n](const leaf::View &view) {
      auto use = [&](int buffer) {
        if (buffer < 0)
          return;
        lives[buffer].first = std::min<unsigned>(lives[buffer].first, n);
        lives[buffer].second = std::max<unsigned>(lives[buffer].second, n);
      };
      use(view.buffer);
      for (const leaf::DynamicTerm &term : view.terms)
        use(term.buffer);
    };
    for (const leaf::Member &member : nest.members) {
      llvm::for_each(member.reads, touch);
      llvm::for_each(member.inits, touch);
      llvm::for_each(member.writes, touch);
      for (const auto &[value, view] : member.captured)
        touch(view);
    }
  }
  FirstFit places;
  int64_t room = sharedLimit - partialsReserve() - int64_t(llvm::alignTo(sharedUsed, 64));
  for (auto [i, buffer] : llvm::enumerate(leafGraph.buffers)) {
    if (buffer.kind != leaf::Buffer::Kind::Scratch || !buffer.inMemory || lives[i].first == ~0u)
      continue;
    int64_t elements = buffer.numElements * (buffer.batched ? rows : 1);
    int64_t own = elements * (emitter.lifted[i] ? emitter.lifts : 1) * bytesOf(buffer.elementType);
    int64_t bytes = llvm::alignTo(own, 16);
    Memory &memory = emitter.memories[i];
    int output = emitter.rowPlan || emitter.columns || emitter.lifts > 1 || (rows > 1 && !buffer.batched) ? -1 : outputOf(leafGraph, emitter.tiles, int(i));
    if (output >= 0 && isShared(emitter.memories[output].pointer)) {
      memory = emitter.memories[output];
      continue;
    }
    memory.aligned = true;
    if (buffer.batched && rows > 1)
      memory.rowStride = b.number(buffer.numElements);
    if (emitter.lifted[i])
      memory.liftStride = b.number(elements);
    int64_t offset = places.place(bytes, lives[i].first, lives[i].second);
    if (offset + bytes <= room) {
      leafShared = std::max(leafShared, offset + bytes);
      memory.pointer = atEntry([&] {
        Value base = LLVM::AddressOfOp::create(b, b.pointer(shared), "ft_shared");
        Value leafBase = LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                                             ArrayRef<LLVM::GEPArg>{leafSharedBase});
        return b.at(leafBase, b.number(offset), b.getI8Type());
      });
    } else {
      places.dropLast();
      bytes = llvm::alignTo(bytes, partAlignment);
      memory.pointer = blockMemory(bytes, atEntry([&] { return b.number(bytes); }), std::nullopt);
    }
  }
}

Value KernelBuilder::stagingMemory(ArrayRef<Tiles> tiles) {
  int64_t bytes = 0;
  for (const Tiles &nest : tiles)
    if (nest.product)
      bytes = std::max(bytes, int64_t(llvm::alignTo(nest.product->staged.getBytes(), 16)));
  if (bytes > stagingBytes) {
    stagingBytes = bytes;
    staging = atEntry([&] {
      Value base = LLVM::AddressOfOp::create(b, b.pointer(shared), "ft_shared");
      sharedUsed = int64_t(llvm::alignTo(sharedUsed, 16));
      Value memory = b.at(base, b.number(sharedUsed), b.getI8Type());
      sharedUsed += bytes;
      return memory;
    });
  }
  return bytes > 0 ? staging : Value();
}
