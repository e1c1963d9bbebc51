//===- ETDGMachine.h - Buffers and single iterations of a graph -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a running graph, and the execution of one iteration of one leaf
// block. In which order iterations run is decided elsewhere (ETDGOrders).
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERPRETER_ETDGMACHINE_H
#define LIB_FT_INTERPRETER_ETDGMACHINE_H

#include "PointEnumerator.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Interpreter/LengthBinding.h"
#include "ft/Interpreter/TensorEval.h"
#include <functional>
#include <map>
#include <random>

namespace mlir::ft::interp {

/// Where an iteration stands in the loops of the declared order, outermost
/// first: which loop, and which of its iterations.
struct LoopStep {
  uint64_t loop;
  int64_t iteration;
  bool parallel;
  StringRef name;
};
using LoopPath = std::vector<LoopStep>;

/// A buffer: one tensor for each index, null until it is written.
struct BufferState {
  Value value;
  SmallVector<int64_t> shape;
  std::vector<Tensor> cells;
  /// The loop path of each element's writer, in the declared order.
  std::vector<std::shared_ptr<const LoopPath>> writers;
};

/// One element of a buffer.
struct CellRef {
  BufferState *buffer = nullptr;
  int64_t offset = 0;
  friend bool operator==(const CellRef &a, const CellRef &b) {
    return a.buffer == b.buffer && a.offset == b.offset;
  }
};

/// What became of an iteration.
enum class Outcome { Ran, Waiting, Failed };

class ETDGMachine {
public:
  ETDGMachine(etdg::GraphOp graph, const LengthBinding &lengths, bool truth)
      : graph(graph), lengths(lengths), eval(truth) {}

  /// Cuts dimensions that may be re-associated at iterations that `seed` draws: such an iteration
  /// starts from `identity`, and what it and those after it give is joined to the state before it by
  /// `combine`. A right `combine` changes nothing but rounding.
  void cutAtRandom(uint64_t seed) { cuts.emplace(seed); }
  /// Tells of each iteration that runs.
  void observe(std::function<void(StringRef, ArrayRef<int64_t>)> fn) { observer = std::move(fn); }
  /// How many iterations began a part of their own.
  int64_t numCuts() const { return cutCount; }

  /// The instance of a buffer that an iteration `point` sees: private buffers
  /// exist once for each iteration of the enclosing block.
  FailureOr<BufferState *> bufferAt(Operation *user, Value value, ArrayRef<int64_t> point);

  /// Runs the leaf `block` at `point` (ancestors, then own dimensions). If an
  /// element it reads is not written yet, nothing happens and `waitsFor` says
  /// which. `path` is where it stands in the declared order, or null.
  Outcome run(etdg::BlockOp block, ArrayRef<int64_t> point, std::shared_ptr<const LoopPath> path,
              CellRef &waitsFor);

  /// The elements that the last successful `run` wrote.
  ArrayRef<CellRef> lastWritten() const { return written; }

  /// Calls `fn` for each point of a block below those of its ancestors.
  LogicalResult forEachPoint(etdg::BlockOp block, ArrayRef<int64_t> ancestors,
                             llvm::function_ref<LogicalResult(ArrayRef<int64_t>)> fn);

  /// Reports that `block` at `point` reads an element that is not written.
  void reportUnwritten(etdg::BlockOp block, ArrayRef<int64_t> point, CellRef cell, StringRef why);

  /// Evaluates an operation that is neither block nor buffer (a constant).
  LogicalResult evalOther(Operation *op) { return eval.evalOp(op, env); }

  etdg::GraphOp getGraph() { return graph; }

private:
  struct BlockInfo {
    SmallVector<int64_t> symbols;
    PointEnumerator points;
  };
  /// What a reading step finds: a value, or an element to wait for.
  enum class Found { Value, Missing, Error };

  /// A part of a dimension that was cut: the states before it, and its own so far.
  struct Part {
    SmallVector<Tensor> before, states;
  };
  /// A state of a block: which read brings it in, which write takes it out.
  struct State {
    unsigned read, write;
  };

  BlockInfo &infoOf(etdg::BlockOp block);
  /// Evaluates one of a block's reads or identities; `source` is the element that it is, if it is one.
  Found read(etdg::BlockOp block, unsigned index, etdg::ReadAttr read, RankedTensorType type,
             ArrayRef<int64_t> point, Tensor &value, CellRef &source);
  /// The states that this iteration carries by `combine`'s leave; none where it may not be cut.
  SmallVector<State> findStates(etdg::BlockOp block, ArrayRef<int64_t> point,
                                ArrayRef<CellRef> sources);
  /// Begins a part here, or goes on with the one that the states belong to. Null where there is none.
  FailureOr<std::unique_ptr<Part>> enterPart(etdg::BlockOp block, ArrayRef<int64_t> point,
                                             ArrayRef<State> states, ArrayRef<CellRef> sources,
                                             MutableArrayRef<Tensor> values);
  static std::unique_ptr<Part> resumePart(const Part &known, ArrayRef<State> states,
                                          MutableArrayRef<Tensor> values);
  /// What `combine` makes of the states of two parts.
  FailureOr<SmallVector<Tensor>> join(etdg::BlockOp block, ArrayRef<Tensor> first, ArrayRef<Tensor> second);
  /// Joins a part's states to those before it; `values` are the iteration's results.
  LogicalResult joinPart(etdg::BlockOp block, Part &part, ArrayRef<State> states,
                         MutableArrayRef<Tensor> values);
  LogicalResult write(etdg::BlockOp block, ArrayRef<int64_t> point, unsigned index, Tensor value);
  /// The piece of a read that holds at `at` (iteration, then element).
  FailureOr<etdg::PieceAttr> pieceAt(etdg::BlockOp block, unsigned index, etdg::ReadAttr read,
                                     ArrayRef<int64_t> at);
  /// The position in a buffer that a piece's map and gathers give.
  Found locate(etdg::BlockOp block, etdg::PieceAttr piece, ArrayRef<int64_t> at,
               ArrayRef<int64_t> point, BufferState *&buffer, SmallVectorImpl<int64_t> &position);
  /// The element at the first positions of `position`, checked.
  Found element(etdg::BlockOp block, ArrayRef<int64_t> point, BufferState *buffer,
                ArrayRef<int64_t> position, Tensor &value);
  /// The flat offset of `position`, an error if it is out of bounds.
  FailureOr<int64_t> offsetOf(etdg::BlockOp block, ArrayRef<int64_t> point,
                              const BufferState &buffer, ArrayRef<int64_t> position,
                              StringRef access);
  LogicalResult checkRace(etdg::BlockOp block, ArrayRef<int64_t> point, CellRef cell);
  InFlightDiagnostic error(etdg::BlockOp block, ArrayRef<int64_t> point);

  etdg::GraphOp graph;
  const LengthBinding &lengths;
  TensorEval eval;
  Environment env;
  llvm::DenseMap<Value, std::map<std::vector<int64_t>, std::unique_ptr<BufferState>>> buffers;
  llvm::DenseMap<Operation *, std::unique_ptr<BlockInfo>> infos;
  CellRef missing;
  SmallVector<CellRef> written;
  std::shared_ptr<const LoopPath> currentPath;
  std::optional<std::mt19937_64> cuts;
  int64_t cutCount = 0;
  std::function<void(StringRef, ArrayRef<int64_t>)> observer;
  /// The parts that states belong to, by the element of the first state.
  llvm::DenseMap<std::pair<BufferState *, int64_t>, std::unique_ptr<Part>> parts;
};

/// `@r3`, `%hs[1, 2]`: names for messages.
std::string blockName(etdg::BlockOp block);
std::string elementName(CellRef cell);

} // namespace mlir::ft::interp

#endif // LIB_FT_INTERPRETER_ETDGMACHINE_H
