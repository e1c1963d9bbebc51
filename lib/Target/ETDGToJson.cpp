//===- ETDGToJson.cpp - graphs as JSON ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One object for each graph. Blocks and buffers are numbered in textual order;
// expressions are written over the names of dimensions and lengths.
//
//===----------------------------------------------------------------------===//
#include "HtmlPage.h"
#include "ShardingJson.h"
#include "SourceNames.h"
#include "TensorExpressionsJson.h"

#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
class JsonWriter {
public:
  JsonWriter(GraphOp graph, llvm::json::OStream &json, const LengthValues &given, double computeIntensive)
      : graph(graph), json(json), values(getLengthValues(graph, given)), computeIntensive(computeIntensive) {}
  void write();

private:
  void writeBuffers();
  void writeBuffer(Value buffer);
  void writeBytes(StringRef key, ft::LengthAttr bytes);
  void writeNode(BlockOp block);
  void writeReads(StringRef key, BlockOp block, ArrayAttr reads);
  void writePiece(BlockOp block, PieceAttr piece, ArrayRef<StringAttr> names);
  void writeMap(StringRef key, AffineMap map, ArrayRef<StringAttr> names,
                ArrayRef<StringAttr> symbols);
  void writeOperation(BlockOp block, const OperationNode &node);
  void writeOperators(StringRef key, ArrayRef<ft::OperatorKind> operators);
  void writeOrder(BlockOp block, ScheduleAttr schedule);
  int64_t bufferId(BlockOp block, int64_t operand) {
    return bufferIds.lookup(block.getBuffers()[operand]);
  }
  template <typename Range>
  void writeStrings(StringRef key, const Range &range) {
    json.attributeArray(key, [&] {
      for (StringAttr name : range)
        json.value(name.getValue());
    });
  }

  GraphOp graph;
  llvm::json::OStream &json;
  LengthValues values;
  double computeIntensive;
  llvm::DenseMap<Value, int64_t> bufferIds;
  llvm::DenseMap<Operation *, int64_t> nodeIds;
};
} // namespace

static std::string toString(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static std::string toString(AffineExpr expr, ArrayRef<StringAttr> names,
                            ArrayRef<StringAttr> symbols) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ft::printNamedExpr(os, expr, names, symbols);
  return text;
}

void JsonWriter::writeBytes(StringRef key, ft::LengthAttr bytes) {
  json.attributeObject(key, [&] {
    json.attribute("expression", bytes.str());
    if (std::optional<int64_t> value = evaluate(bytes, values))
      json.attribute("value", *value);
    else
      json.attribute("value", nullptr);
  });
}

void JsonWriter::writeBuffer(Value buffer) {
  auto type = cast<BufferType>(buffer.getType());
  auto results = cast<ReturnOp>(graph.getBody().front().back()).getOperands();
  Operation *def = buffer.getDefiningOp();
  json.object([&] {
    json.attribute("id", bufferIds[buffer]);
    bool isResult = llvm::is_contained(results, buffer);
    json.attribute("kind", !def                   ? "argument"
                           : isa<ConstantOp>(def) ? "constant"
                           : isResult             ? "result"
                                                  : "buffer");
    if (auto argument = dyn_cast<BlockArgument>(buffer)) {
      json.attribute("argument", argument.getArgNumber());
      if (std::optional<std::string> name = getArgumentName(argument.getLoc()))
        json.attribute("name", *name);
    }
    if (isResult)
      json.attribute("result", static_cast<int64_t>(llvm::find(results, buffer) - results.begin()));
    auto op = dyn_cast_or_null<BufferOp>(def);
    if (op && op.getNameHint())
      json.attribute("name", *op.getNameHint());
    json.attributeArray("lengths", [&] {
      for (ft::LengthAttr length : type.getLengths())
        json.value(length.str());
    });
    json.attribute("element", toString(type.getElement()));
    // Private buffers exist once for each iteration of their block.
    if (BlockOp owner = def ? def->getParentOfType<BlockOp>() : BlockOp())
      json.attribute("owner", nodeIds.lookup(owner));
    if (op && op.getLive())
      json.attributeArray("live", [&] {
        for (int64_t planes : op.getLiveAttr().asArrayRef()) {
          if (planes < 0)
            json.value("all");
          else
            json.value(planes);
        }
      });
    writeBytes("bytes", getBytes(type));
    if (op && !op.keepsAllPlanes())
      writeBytes("liveBytes", getLiveBytes(op));
  });
}

void JsonWriter::writeBuffers() {
  SmallVector<Value> buffers(graph.getArguments());
  graph.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      if (isa<BufferType>(result.getType()))
        buffers.push_back(result);
  });
  for (auto [i, buffer] : llvm::enumerate(buffers))
    bufferIds[buffer] = i;
  json.attributeArray("buffers", [&] {
    for (Value buffer : buffers)
      writeBuffer(buffer);
  });
  // Sums over one instance of each buffer.
  MLIRContext *context = graph.getContext();
  ft::LengthAttr zero = ft::LengthAttr::get(context, int64_t(0)), arguments = zero, internal = zero,
                 live = zero, results = zero;
  auto returned = cast<ReturnOp>(graph.getBody().front().back()).getOperands();
  for (Value buffer : buffers) {
    ft::LengthAttr bytes = getBytes(cast<BufferType>(buffer.getType()));
    if (!buffer.getDefiningOp()) {
      arguments = arguments + bytes;
    } else if (llvm::is_contained(returned, buffer)) {
      results = results + bytes;
    } else if (auto op = buffer.getDefiningOp<BufferOp>()) {
      internal = internal + bytes;
      live = live + getLiveBytes(op);
    }
  }
  json.attributeObject("bytes", [&] {
    writeBytes("arguments", arguments);
    writeBytes("results", results);
    writeBytes("internal", internal);
    writeBytes("internalLive", live);
  });
}

void JsonWriter::writeMap(StringRef key, AffineMap map, ArrayRef<StringAttr> names,
                          ArrayRef<StringAttr> symbols) {
  json.attributeArray(key, [&] {
    for (AffineExpr result : map.getResults())
      json.value(toString(result, names, symbols));
  });
}

void JsonWriter::writePiece(BlockOp block, PieceAttr piece, ArrayRef<StringAttr> names) {
  SmallVector<StringAttr> symbols = block.getSymbolNames();
  json.object([&] {
    json.attribute("where", conditionsToString(piece.getSet().getValue(), names, symbols));
    json.attribute("source", stringifySourceKind(piece.getKind()));
    switch (piece.getKind()) {
    case SourceKind::Buffer:
      json.attribute("buffer", bufferId(block, piece.getOperand()));
      json.attributeArray("map", [&] {
        for (auto [i, result] : llvm::enumerate(piece.getMap().getValue().getResults())) {
          auto gather = llvm::find_if(piece.getGathers(), [i = i](GatherAttr g) {
            return g.getPosition() == static_cast<int64_t>(i);
          });
          if (gather == piece.getGathers().end()) {
            json.value(toString(result, names, symbols));
            continue;
          }
          json.object([&] {
            json.attribute("gather", bufferId(block, gather->getOperand()));
            writeMap("map", gather->getMap().getValue(), names, symbols);
          });
        }
      });
      break;
    case SourceKind::Splat:
      json.attribute("value", toString(piece.getValue()));
      break;
    case SourceKind::Index:
      json.attribute("value", toString(piece.getMap().getValue().getResult(0), names, symbols));
      break;
    }
  });
}

void JsonWriter::writeReads(StringRef key, BlockOp block, ArrayAttr reads) {
  json.attributeArray(key, [&] {
    for (ReadAttr read : reads.getAsRange<ReadAttr>()) {
      SmallVector<StringAttr> names = block.getDimNames();
      for (int64_t i = 0; i < read.getElementRank(); ++i)
        names.push_back(StringAttr::get(block.getContext(), "e" + std::to_string(i)));
      json.object([&] {
        if (read.getElementRank())
          json.attribute("elementRank", read.getElementRank());
        json.attributeArray("pieces", [&] {
          for (PieceAttr piece : read.getPieces())
            writePiece(block, piece, names);
        });
      });
    }
  });
}

void JsonWriter::writeOperators(StringRef key, ArrayRef<ft::OperatorKind> operators) {
  json.attributeArray(key, [&] {
    for (ft::OperatorKind kind : operators)
      json.value(ft::stringifyOperatorKind(kind));
  });
}

/// An operation of a leaf: its iteration space, and what each operand that is a read of the block
/// reads.
void JsonWriter::writeOperation(BlockOp block, const OperationNode &node) {
  SmallVector<StringAttr> names;
  for (unsigned d = 0; d < node.sizes.size(); ++d)
    names.push_back(StringAttr::get(block.getContext(), "d" + std::to_string(d)));
  json.object([&] {
    json.attribute("op", node.op->getName().getStringRef());
    writeOperators("operators", node.operators);
    writeStrings("dims", names);
    json.attributeArray("sizes", [&] {
      for (int64_t size : node.sizes)
        json.value(size);
    });
    json.attributeArray("operands", [&] {
      for (auto [i, operand] : llvm::enumerate(node.op->getOperands()))
        json.object([&] {
          auto argument = dyn_cast<BlockArgument>(operand);
          if (argument && argument.getOwner() == &block.getBody().front())
            json.attribute("read", argument.getArgNumber());
          if (i < node.maps.size())
            writeMap("map", node.maps[i], names, {});
        });
    });
  });
}

/// The loops of a schedule, outer first, over expressions of the block's dimensions.
void JsonWriter::writeOrder(BlockOp block, ScheduleAttr schedule) {
  AffineMap map = schedule.getMap().getValue();
  SmallVector<StringAttr> all = block.getDimNames(), symbols = block.getSymbolNames();
  // A schedule is over the block's own dimensions.
  ArrayRef<StringAttr> dims = ArrayRef(all).drop_front(block.getNumAncestors());
  json.attributeArray("order", [&] {
    for (LoopAttr loop : schedule.getLoops())
      json.object([&] {
        json.attribute("over", schedule.isOverColumns(loop) ? "columns" : toString(map.getResult(loop.getDimension()), dims, symbols));
        json.attribute("kind", stringifyLoopKind(loop.getKind()));
        if (loop.getLevel() != LoopLevel::None)
          json.attribute("level", stringifyLoopLevel(loop.getLevel()));
        if (!loop.hasAnyTile() && loop.getTile() != 1)
          json.attribute("tile", loop.getTile());
        if (loop.getSync() != SyncKind::None)
          json.attribute("sync", stringifySyncKind(loop.getSync()));
      });
  });
}

void JsonWriter::writeNode(BlockOp block) {
  SmallVector<StringAttr> dims = block.getDimNames(), symbols = block.getSymbolNames();
  json.object([&] {
    json.attribute("id", nodeIds[block]);
    if (auto name = block.getBlockName())
      json.attribute("name", *name);
    if (BlockOp parent = block.getParentBlock())
      json.attribute("parent", nodeIds[parent]);
    if (NestOp nest = block.getNest())
      json.attribute("nest", nodeIds[nest]);
    if (std::optional<unsigned> line = getSourceLine(block.getLoc()))
      json.attribute("line", *line);
    json.attribute("kind", !block.isLeaf() ? "graph" : isCopyBlock(block) ? "copy" : "leaf");
    json.attributeArray("operators", [&] {
      for (StringRef name : block.getOperators().getAsValueRange<StringAttr>())
        json.value(name);
    });
    writeStrings("dims", dims);
    json.attribute("ancestors", static_cast<int64_t>(block.getNumAncestors()));
    json.attribute("domain", conditionsToString(block.getDomainSet(), dims, symbols));
    if (block.isLeaf()) {
      writeReads("reads", block, block.getReads());
      json.attributeArray("writes", [&] {
        for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
          json.object([&] {
            json.attribute("buffer", bufferId(block, write.getOperand()));
            writeMap("map", write.getMap().getValue(), dims, symbols);
          });
      });
      json.attributeArray("operations", [&] {
        for (const OperationNode &node : getOperationNodes(block))
          writeOperation(block, node);
      });
    }
    if (!block.getIdentity().empty())
      writeReads("identity", block, block.getIdentity());
    if (ScheduleAttr schedule = block.getEffectiveSchedule()) {
      json.attribute("schedule", toString(Attribute(schedule)));
      writeOrder(block, schedule);
    }
  });
}

void JsonWriter::write() {
  SmallVector<BlockOp> blocks;
  int64_t nextNode = 0, nextNest = 0;
  graph.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto block = dyn_cast<BlockOp>(op)) {
      nodeIds[op] = nextNode++;
      blocks.push_back(block);
    } else if (isa<NestOp>(op)) {
      nodeIds[op] = nextNest++;
    }
  });
  Nesting nesting = getNesting(graph);
  json.object([&] {
    json.attribute("name", graph.getSymName());
    writeStrings("symbols", graph.getSymbolNames());
    json.attributeArray("bounds", [&] {
      if (auto bounds = graph->getAttrOfType<ft::BoundsAttr>(ft::names::bounds))
        for (ft::LengthAttr bound : bounds.getNonNegative()) {
          std::string text;
          llvm::raw_string_ostream os(text);
          printCondition(os, bound.getExpr(), false, {}, bound.getNames());
          json.value(text);
        }
    });
    json.attributeObject("lengths", [&] {
      for (StringAttr name : graph.getSymbolNames())
        if (auto it = values.find(name.getValue()); it != values.end())
          json.attribute(name.getValue(), it->second);
    });
    json.attribute("depth", nesting.depth);
    json.attribute("dimension", nesting.dimension);
    json.attribute("topLevelBlocks", static_cast<int64_t>(getTopLevelBlocks(graph).size()));
    json.attribute("nests", static_cast<int64_t>(getNests(graph.getBody()).size()));
    json.attribute("blocks", static_cast<int64_t>(blocks.size()));
    json.attribute("copyBlocks", static_cast<int64_t>(llvm::count_if(blocks, isCopyBlock)));
    writeBuffers();
    json.attributeArray("nodes", [&] {
      for (BlockOp block : blocks)
        writeNode(block);
    });
    auto bufferId = [&](Value buffer) { return bufferIds.lookup(buffer); };
    auto nodeId = [&](BlockOp block) { return nodeIds.lookup(block); };
    writeShardingJson(json, graph, bufferId, nodeId);
    writeTensorExpressionsJson(json, TensorExpressionAnalysis(graph, computeIntensive), bufferId, nodeId);
  });
}

void etdg::writeJson(ModuleOp module, llvm::raw_ostream &os, const LengthValues &lengths, double computeIntensive) {
  llvm::json::OStream json(os, 2);
  json.object([&] {
    json.attribute("format", 1);
    json.attributeArray("graphs", [&] {
      for (GraphOp graph : module.getOps<GraphOp>())
        if (!graph.isExternal()) // (of variants the first)
          JsonWriter(*chooseVariants(graph, 0), json, lengths, computeIntensive).write();
    });
  });
  os << "\n";
}

void html::writeGraphJson(GraphOp graph, llvm::raw_ostream &os, const LengthValues &lengths, double computeIntensive) {
  llvm::json::OStream json(os);
  JsonWriter(graph, json, lengths, computeIntensive).write();
}
