//===- ETDGToDataflow.cpp - task dependence graphs for DAT ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dimensions of blocks and of operations become dimensions of the operator graph
// by unification: what a reader indexes a tensor with is the dimension that its
// writer wrote it with, as long as no operation would get one dimension twice.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/ETDGToDataflow/ETDGToDataflow.h"
#include "ft/Conversion/ETDGToDataflow/Passes.h"

#include "ft/Dataflow/Graph/GraphJson.h"
#include "ft/Dataflow/Graph/MergeRows.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <set>

using namespace mlir;
using namespace mlir::etdg;
namespace df = ::ft::dataflow;

namespace {

/// A value of a leaf as a tensor of the operator graph.
struct Indexed {
  std::string tensor;
  /// The dimensions of the tensor, in its own order: those of blocks, then elements.
  SmallVector<int> dims;
  /// What the value's element indices are. A broadcast value has some that the tensor lacks, a
  /// transposed one has them in another order.
  SmallVector<int> view;
};

/// A buffer: the tensor that it is, and how its writer indexes it.
struct Stored {
  Indexed value;
  SmallVector<int> written;  // by dimension of the buffer; -1 where it is folded
};

/// Why there is no operator graph: a failure, told where a user wants to know.
class Refusal {
public:
  Refusal() = default;
  explicit Refusal(InFlightDiagnostic told) : told(std::move(told)) {}
  template <typename T>
  Refusal &&operator<<(T &&part) && {
    if (told)
      *told << std::forward<T>(part);
    return std::move(*this);
  }
  operator LogicalResult() const { return failure(); }
  template <typename T>
  operator FailureOr<T>() const {
    return failure();
  }

private:
  std::optional<InFlightDiagnostic> told;
};

class Converter {
public:
  Converter(GraphOp graph, const LengthValues &given, DataflowOrigin *origin)
      : graph(graph), lengths(getLengthValues(graph, given)), origin(origin) {}

  FailureOr<df::Graph> run() {
    for (auto [i, argument] : llvm::enumerate(graph.getArguments()))
      buffers[argument].value.tensor = "arg" + std::to_string(i);
    SmallVector<BlockOp> leaves;
    graph.getBody().walk<WalkOrder::PreOrder>([&](BlockOp block) {
      if (block.isLeaf())
        leaves.push_back(block);
    });
    for (BlockOp leaf : leaves)
      if (failed(convert(leaf)))
        return failure();
    return finish();
  }

private:
  /// An error; a remark where the caller can do without the graph, unless it was told before.
  Refusal refuse(Operation *op) {
    if (origin && origin->isQuiet)
      return Refusal();
    return Refusal(origin && origin->isOptional ? op->emitRemark("no dataflow was searched: ") : op->emitError());
  }

  // ---- dimensions ----

  int newDim(StringRef name, int64_t size) {
    parents.push_back(parents.size());
    names.push_back(name.str());
    sizes.push_back(size);
    return parents.size() - 1;
  }
  int find(int dim) {
    while (parents[dim] != dim)
      dim = parents[dim] = parents[parents[dim]];
    return dim;
  }
  void join(int a, int b) {
    a = find(a), b = find(b);
    if (sizes[a] == sizes[b])
      parents[std::max(a, b)] = std::min(a, b);
  }
  /// Makes a reader's dimension the writer's, unless an operator of the reader (the last ones, from
  /// `first` on) would have it twice.
  void unify(int mine, int theirs, size_t first) {
    mine = find(mine), theirs = find(theirs);
    if (mine == theirs)
      return;
    for (size_t k = first; k < operators.size(); ++k) {
      bool hasMine = false, hasTheirs = false;
      auto look = [&](const Indexed &value) {
        for (int dim : value.dims) {
          hasMine |= find(dim) == mine;
          hasTheirs |= find(dim) == theirs;
        }
      };
      for (const Indexed &input : operators[k].inputs)
        look(input);
      look(operators[k].output);
      if (hasMine && hasTheirs)
        return;
    }
    join(mine, theirs);
  }

  std::optional<int64_t> evaluate(AffineExpr expr, BlockOp block, int one) {
    MLIRContext *context = block.getContext();
    SmallVector<AffineExpr> dims, symbols;
    for (unsigned d = 0; d < block.getNumDims(); ++d)
      dims.push_back(getAffineConstantExpr(int(d) == one, context));
    for (StringAttr name : block.getSymbolNames()) {
      auto it = lengths.find(name.getValue());
      if (it == lengths.end())
        return std::nullopt;
      symbols.push_back(getAffineConstantExpr(it->second, context));
    }
    auto value = dyn_cast<AffineConstantExpr>(
        simplifyAffineExpr(expr.replaceDimsAndSymbols(dims, symbols), 0, 0));
    if (!value)
      return std::nullopt;
    return value.getValue();
  }

  /// The number of values of a block's dimension, if its range depends on no other.
  FailureOr<int64_t> sizeOf(BlockOp block, unsigned dim) {
    IntegerSet set = block.getDomainSet();
    std::optional<int64_t> low, high;
    for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
      std::optional<int64_t> base = evaluate(set.getConstraint(i), block, -1);
      std::optional<int64_t> with = evaluate(set.getConstraint(i), block, dim);
      if (!base || !with)
        return refuse(block) << "a length of the domain is not known: give it by --dim or ft.lengths";
      int64_t factor = *with - *base;
      if (factor == 0)
        continue;
      for (unsigned other = 0; other < block.getNumDims(); ++other)
        if (other != dim && *evaluate(set.getConstraint(i), block, other) != *base)
          return refuse(block) << "the range of dimension '" << block.getDimNames()[dim].getValue()
                                   << "' depends on another one: no operator graph has such a domain";
      if (factor > 0 || set.isEq(i))
        low = std::max(low.value_or(INT64_MIN), factor > 0 ? -*base / factor : *base / -factor);
      if (factor < 0 || set.isEq(i))
        high = std::min(high.value_or(INT64_MAX), factor < 0 ? *base / -factor : -*base / factor);
    }
    if (!low || !high || *high < *low)
      return refuse(block) << "dimension '" << block.getDimNames()[dim].getValue()
                               << "' has no values at these lengths";
    return *high - *low + 1;
  }

  /// The dimensions of a block: its ancestors' are theirs.
  FailureOr<SmallVector<int>> dimsOf(BlockOp block) {
    auto known = blockDims.find(block);
    if (known != blockDims.end())
      return known->second;
    SmallVector<int> dims;
    if (BlockOp parent = block.getParentBlock()) {
      FailureOr<SmallVector<int>> outer = dimsOf(parent);
      if (failed(outer))
        return failure();
      dims = *outer;
    }
    for (unsigned d = dims.size(); d < block.getNumDims(); ++d) {
      FailureOr<int64_t> size = sizeOf(block, d);
      if (failed(size))
        return failure();
      dims.push_back(newDim(block.getDimNames()[d].getValue(), *size));
    }
    blockDims[block] = dims;
    return dims;
  }

  // ---- leaves ----

  /// Whether an own dimension of the block sums up: a reduce or a fold.
  static bool isFolded(BlockOp block, unsigned dim) {
    if (dim < block.getNumAncestors())
      return false;
    StringRef name = cast<StringAttr>(block.getOperators()[dim - block.getNumAncestors()]).getValue();
    return name != "map" && !name.starts_with("scan");
  }

  Value bufferOf(BlockOp block, int64_t operand) { return block.getBuffers()[operand]; }

  LogicalResult convert(BlockOp leaf) {
    FailureOr<SmallVector<int>> dims = dimsOf(leaf);
    if (failed(dims))
      return failure();
    for (StringAttr name : leaf.getOperators().getAsRange<StringAttr>())
      if (name.getValue().starts_with("scan"))
        return refuse(leaf) << "expected maps, reductions and folds, found '" << name.getValue()
                                << "': a recurrence is no operator of a dataflow graph";
    values.clear();
    pending.clear();
    const size_t first = operators.size();
    for (unsigned i = 0; i < leaf.getNumReads(); ++i)
      if (failed(read(leaf, *dims, i)))
        return failure();
    for (const OperationNode &node : getOperationNodes(leaf))
      if (failed(operation(leaf, *dims, node)))
        return failure();
    for (auto [mine, theirs] : pending)
      unify(mine, theirs, first);
    for (unsigned i = 0; i < leaf.getNumWrites(); ++i)
      if (failed(write(leaf, *dims, i)))
        return failure();
    return success();
  }

  /// Whether a read takes the block's own state, of which sums are made.
  bool isState(BlockOp leaf, ReadAttr read) {
    for (PieceAttr piece : read.getPieces())
      if (piece.getKind() == SourceKind::Buffer)
        for (WriteAttr write : leaf.getWrites().getAsRange<WriteAttr>())
          if (bufferOf(leaf, piece.getOperand()) == bufferOf(leaf, write.getOperand()))
            return true;
    return false;
  }

  LogicalResult read(BlockOp leaf, ArrayRef<int> dims, unsigned index) {
    ReadAttr read = leaf.getRead(index);
    Value argument = leaf.getBody().getArgument(index);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || isState(leaf, read))
      return success(); // a state: what it adds to is the result
    // Constants beside a buffer are what there is where it has no values (an initial state, a border).
    SmallVector<PieceAttr> pieces;
    for (PieceAttr piece : read.getPieces())
      if (piece.getKind() == SourceKind::Buffer &&
          !bufferOf(leaf, piece.getOperand()).getDefiningOp<ConstantOp>())
        pieces.push_back(piece);
    if (pieces.empty())
      return success(); // a constant, an index: nothing moves
    if (pieces.size() != 1)
      return refuse(leaf) << "read " << index << " has " << pieces.size()
                              << " pieces of buffers: expected one, as an operator of a dataflow graph has";
    PieceAttr piece = pieces.front();
    if (!piece.getGathers().empty() || read.getElementRank())
      return refuse(leaf) << "read " << index << " gathers: what it moves depends on data";
    Value buffer = bufferOf(leaf, piece.getOperand());
    auto stores = cast<BufferType>(buffer.getType());
    if (piece.getMap().getValue().getNumResults() != stores.getDepth() || stores.getElement() != type)
      return refuse(leaf) << "read " << index << " takes a part of an element: expected the whole of it";
    Stored &source = buffers[buffer];
    Indexed result{source.value.tensor, {}, {}};
    SmallVector<int> indices; // by dimension of the buffer
    for (auto [k, expr] : llvm::enumerate(piece.getMap().getValue().getResults())) {
      const bool folded = k < source.written.size() && source.written[k] < 0;
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (folded ? !isConstant(expr) : !dim)
        return refuse(leaf) << "read " << index << " takes "
                                << (folded ? "the planes of a fold one by one"
                                           : "elements by an expression: expected a dimension for each");
      indices.push_back(folded ? -1 : dims[dim.getPosition()]);
    }
    for (auto [k, extent] : llvm::enumerate(type.getShape()))
      result.view.push_back(newDim("e" + std::to_string(k), extent));
    if (source.value.dims.empty() || source.written.empty()) {
      // An argument: the dimensions of the buffer, then the elements.
      llvm::copy_if(indices, std::back_inserter(result.dims), [](int dim) { return dim >= 0; });
      result.dims.append(result.view.begin(), result.view.end());
    }
    // Of what a block wrote, the reader's dimensions are the writer's; those of the blocks around both
    // are the same.
    else
      for (int theirs : source.value.dims) {
        int mine = theirs;
        for (auto [k, written] : llvm::enumerate(source.written))
          if (written == theirs)
            mine = indices[k];
        for (auto [k, element] : llvm::enumerate(source.value.view))
          if (element == theirs && k < result.view.size())
            mine = result.view[k];
        pending.push_back({mine, theirs});
        result.dims.push_back(mine);
      }
    values[argument] = std::move(result);
    return success();
  }

  static bool isConstant(AffineExpr expr) {
    bool dims = false;
    expr.walk([&](AffineExpr part) { dims |= isa<AffineDimExpr>(part); });
    return !dims;
  }

  LogicalResult operation(BlockOp leaf, ArrayRef<int> dims, const OperationNode &node) {
    // Loops of the operation, named by its operands' elements.
    SmallVector<int> loops(node.sizes.size(), -1);
    SmallVector<Indexed> inputs;
    unsigned numInputs = node.op->getNumOperands();
    auto structured = dyn_cast<linalg::LinalgOp>(node.op);
    if (structured)
      numInputs = structured.getNumDpsInputs();
    for (unsigned k = 0; k < numInputs; ++k) {
      auto known = values.find(node.op->getOperand(k));
      if (known == values.end())
        continue;
      const Indexed &value = known->second;
      if (k >= node.maps.size() || node.maps[k].getNumResults() != value.view.size())
        return refuse(leaf) << "'" << node.op->getName() << "' takes an operand in another shape: expected one index for each dimension";
      AffineMap map = node.maps[k];
      for (auto [r, expr] : llvm::enumerate(map.getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim)
          return refuse(leaf) << "'" << node.op->getName()
                                  << "' indexes an operand by an expression: expected a dimension";
        int &loop = loops[dim.getPosition()];
        if (loop < 0)
          loop = value.view[r];
        else
          join(loop, value.view[r]);
      }
      inputs.push_back(value);
    }
    if (inputs.empty())
      return success(); // of constants: nothing moves
    SmallVector<int> outer; // dimensions of blocks that the inputs vary along
    for (const Indexed &input : inputs)
      for (int dim : input.dims)
        if (llvm::is_contained(dims, dim) && !llvm::is_contained(outer, dim))
          outer.push_back(dim);
    llvm::sort(outer, [&](int a, int b) { return llvm::find(dims, a) < llvm::find(dims, b); });
    for (auto [k, loop] : llvm::enumerate(loops))
      if (loop < 0)
        loop = newDim("e" + std::to_string(k), node.sizes[k]);
    bool reduces = false;
    for (mlir::ft::OperatorKind kind : node.operators)
      reduces |= kind == mlir::ft::OperatorKind::Reduce;
    // A result that is added to the state is summed over the folded dimensions, too.
    bool sums = structured && reduces && readsState(leaf, structured);
    Indexed result;
    for (int dim : outer)
      if (!(sums && isFolded(leaf, llvm::find(dims, dim) - dims.begin())))
        result.dims.push_back(dim);
    for (AffineExpr expr : node.maps.back().getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        return refuse(leaf) << "'" << node.op->getName() << "' indexes its result by an expression: expected a dimension";
      result.view.push_back(loops[dim.getPosition()]);
    }
    // What renames, scales, broadcasts or transposes one tensor is that tensor.
    if (inputs.size() == 1 && !reduces) {
      result.tensor = inputs[0].tensor;
      result.dims = inputs[0].dims;
      values[node.op->getResult(0)] = result;
      return success();
    }
    result.dims.append(result.view.begin(), result.view.end());
    result.tensor = "t" + std::to_string(operators.size());
    if (origin)
      origin->leaves[result.tensor] = leaf;
    operators.push_back({result.tensor, inputs, result,
                         !reduces            ? df::Kind::Point
                         : inputs.size() > 1 ? df::Kind::Product
                                             : df::Kind::Row});
    values[node.op->getResult(0)] = result;
    return success();
  }

  bool readsState(BlockOp leaf, linalg::LinalgOp op) {
    auto argument = dyn_cast<BlockArgument>(op.getDpsInitOperand(0)->get());
    return argument && argument.getOwner() == &leaf.getBody().front() &&
           isState(leaf, leaf.getRead(argument.getArgNumber()));
  }

  LogicalResult write(BlockOp leaf, ArrayRef<int> dims, unsigned index) {
    WriteAttr write = leaf.getWrite(index);
    Value buffer = bufferOf(leaf, write.getOperand()), yielded = leaf.getYield().getOperand(index);
    Stored stored;
    for (AffineExpr expr : write.getMap().getValue().getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        return refuse(leaf) << "write " << index
                                << " is indexed by an expression: expected a dimension for each";
      stored.written.push_back(isFolded(leaf, dim.getPosition()) ? -1 : dims[dim.getPosition()]);
    }
    auto known = values.find(yielded);
    if (known == values.end())
      return refuse(leaf) << "write " << index
                              << " stores a constant or a state that no single operation makes: no "
                                 "operator of a dataflow graph does";
    stored.value = known->second;
    buffers[buffer] = std::move(stored);
    return success();
  }

  // ---- the graph ----

  struct Draft {
    std::string tensor;
    SmallVector<Indexed> inputs;
    Indexed output;
    df::Kind kind;
  };

  FailureOr<df::Graph> finish() {
    df::Graph result;
    result.name = graph.getSymName().str();
    llvm::DenseMap<int, int> dimIds;
    std::set<std::string> used;
    auto dimOf = [&](int dim) {
      dim = find(dim);
      auto [at, isNew] = dimIds.try_emplace(dim, 0);
      if (isNew) {
        std::string name = names[dim];
        for (unsigned k = 1; !used.insert(name).second; ++k)
          name = names[dim] + std::to_string(k);
        at->second = result.addDim(name, sizes[dim]);
      }
      return at->second;
    };
    for (const Draft &draft : operators) {
      df::Operator op;
      op.name = draft.tensor;
      op.kind = draft.kind;
      auto operand = [&](const Indexed &value) {
        df::Operand into;
        into.tensor = result.tensor(value.tensor);
        for (int dim : value.dims) {
          int id = dimOf(dim);
          if (!llvm::is_contained(into.dims, id))
            into.dims.push_back(id);
        }
        return into;
      };
      for (const Indexed &input : draft.inputs)
        op.inputs.push_back(operand(input));
      op.output = operand(draft.output);
      result.operators.push_back(std::move(op));
    }
    for (Value value : cast<ReturnOp>(graph.getBody().front().back()).getOperands())
      if (int tensor = result.findTensor(buffers[value].value.tensor); tensor >= 0)
        result.tensors[tensor].isResult = true;
    for (const df::GraphError &error : result.finish())
      return refuse(graph) << "as a dataflow graph: " << error.message;
    if (origin)
      for (auto &[block, dims] : blockDims)
        for (int dim : dims) {
          auto known = dimIds.find(find(dim));
          origin->dims[block].push_back(known == dimIds.end() ? -1 : known->second);
        }
    df::mergeRows(result);
    return result;
  }

  GraphOp graph;
  LengthValues lengths;
  DataflowOrigin *origin;
  std::vector<int> parents;
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  llvm::DenseMap<Operation *, SmallVector<int>> blockDims;
  llvm::DenseMap<Value, Stored> buffers;
  llvm::DenseMap<Value, Indexed> values; // of the leaf at hand
  SmallVector<std::pair<int, int>> pending; // of the leaf at hand: its dimensions and its writers'
  std::vector<Draft> operators;
};

} // namespace

FailureOr<df::Graph> etdg::convertToDataflow(GraphOp graph, const LengthValues &lengths,
                                             DataflowOrigin *origin) {
  return Converter(graph, lengths, origin).run();
}

LogicalResult etdg::writeDataflow(GraphOp graph, const LengthValues &lengths, llvm::raw_ostream &os, bool asTable) {
  FailureOr<df::Graph> made = convertToDataflow(graph, lengths);
  if (failed(made))
    return failure();
  os << (asTable ? df::writeGraphTable(*made) : df::writeGraph(*made));
  return success();
}
