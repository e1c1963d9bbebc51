//===- KernelBuilder.h - kernels and their launch plan ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What any kernel is made of, whatever decides what it computes: its function, its arguments,
// memory, barriers and checks (KernelBuilder.cpp, KernelMemory.cpp), and beside it what the host
// does, as expressions over named lengths (Plan.cpp). It knows nothing of graphs.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_KERNELBUILDER_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_KERNELBUILDER_H

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"
#include "RowTiles.h"
#include "ft/Conversion/LaunchPlan/Arena.h"
#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"

#include "llvm/ADT/StringSet.h"

namespace mlir::ft::togpu {

using HostExpr = ::ft::rt::Expr;
using schedule::LeafForm;

/// A buffer that lives as long as a call: argument, result or intermediate; or a constant.
struct CallBuffer {
  int64_t planBuffer = -1; // index in the plan; -1: a constant of the module
  LLVM::GlobalOp constant;
  SmallVector<LengthAttr> lengths;
  SmallVector<int64_t> planes; // kept for each length, 0: all
  RankedTensorType element;
  unsigned argument = 0;       // its number, where the caller gives strides
  int64_t stridedDims = 0;     // of so many outermost dimensions
};

class KernelBuilder {
public:
  /// `symbols` are the variables of the host's expressions.
  KernelBuilder(Location loc, const GpuOptions &options, SmallVector<StringAttr> symbols);

  // The host's side (Plan.cpp).
  /// The module and the plan: `entry` has none yet.
  void begin(::ft::rt::Entry entry);
  ::ft::rt::Plan &plan() { return result.entry.plans.front(); }
  /// After arguments, results, intermediates and constants: where kernels note what ends a call.
  void addErrorBuffer();
  CallBuffer &describe(Value value, ArrayRef<LengthAttr> lengths, RankedTensorType element);
  void addArgument(CallBuffer &buffer, int64_t number);
  void addIntermediate(Value value, ArrayRef<int64_t> planes, std::optional<int64_t> slot);
  LogicalResult addCallConstant(Operation *op, CallBuffer &buffer, Attribute value);
  /// Offsets of the intermediates, now that all are known.
  void placeIntermediates();
  HostExpr hostBytes(ArrayRef<LengthAttr> lengths, ArrayRef<int64_t> planes, RankedTensorType element);
  HostExpr hostGuard(etdg::GuardAttr guard);
  int64_t addWorkspace(HostExpr offset);
  void addLaunch(StringRef name, HostExpr blocks, bool shrinks);
  /// Takes the steps that were added since there were `before`.
  std::vector<::ft::rt::Step> takeSteps(size_t before);

  // Kernels (KernelBuilder.cpp).
  std::string uniqueName(std::string name, StringRef suffix);
  void beginFunction(StringRef name);
  void endFunction(etdg::ThreadBlockAttr block);
  /// Says of arguments that are descriptors what they describe (Plan.cpp).
  void describeTensorMaps();
  Value argument(int64_t planBuffer);
  Value symbolValue(StringAttr name);
  Value integerArgument(const HostExpr &value);
  /// A tensor in a buffer of the plan, of which boxes of this type are moved (Plan.cpp). It has extents, and strides in bytes of all dimensions
  /// but the fastest one, the slowest first. One that is known already is the same value.
  Value tensorMap(int64_t planBuffer, tile::TensorMapType type, ArrayRef<HostExpr> extents, ArrayRef<HostExpr> strides);
  /// A loop over the tasks that are this thread block'; `turn` is the first one where the mapping is cyclic.
  scf::ForOp dealTasks(etdg::IterationMapping mapping, Value turn, Value tasks, Value blocks);
  void emitGridBarrier();
  Value checkIndex(Value index, Value bound, Location place, Value may);
  /// Emits values that the whole kernel uses.
  template <typename Fn>
  auto atEntry(Fn emit) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(marker);
    return emit();
  }

  // Memory (KernelMemory.cpp).
  /// Shared memory from this byte on.
  Value sharedMemory(int64_t offset);
  /// A part of the workspace for this thread block.
  Value workspaceMemory(HostExpr bytes, Value bytesValue);
  LLVM::GlobalOp addConstant(DenseElementsAttr value);
  /// Memory of what a leaf's loop nests hand on, of its products' operands, and of its sums.
  void placeLeaf(const LeafPlaces &places, LeafEmitter &emitter);

  GpuOptions options;
  const Machine &machine; // of the options
  const int64_t multiprocessors;
  GpuModule result;
  MLIRContext *context;
  SmallVector<StringAttr> symbols;
  llvm::DenseMap<Value, CallBuffer> callBuffers;
  Arena intermediates;
  HostExpr intermediateBytes, kernelBytes; // of the workspace
  int64_t errorBuffer = -1, counterBuffer = -1;
  unsigned numConstants = 0;
  llvm::StringSet<> kernelNames;
  Code b;

  // Of the current kernel.
  LLVM::LLVMFuncOp kernel;
  Operation *marker = nullptr; // hoisted values are emitted before it
  llvm::MapVector<int64_t, Value> pointers; // by plan buffer
  llvm::DenseMap<StringAttr, Value> symbolValues;
  std::vector<::ft::rt::KernelArgument> kernelArguments;
  llvm::MapVector<unsigned, Value> tensorMaps; // by the number of its descriptor's argument
  Threads threads;
  bool cooperative = false;  // thread blocks wait for each other
  bool overlaps = false;     // the launch before it
  bool hasRoles = false;     // some of its warp groups fetch what others compute with
  int64_t sharedBytes = 0;
  llvm::DenseMap<int64_t, Value> sharedPointers; // by offset
  loops::PlaceAttr sums;                         // of the leaf that is emitted
  struct BlockPart {
    int64_t planBuffer;
    HostExpr bytes;
  };
  std::vector<BlockPart> blockParts; // of the workspace, one for each thread block
};

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_KERNELBUILDER_H
