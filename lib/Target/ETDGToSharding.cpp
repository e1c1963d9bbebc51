//===- ETDGToSharding.cpp - how lengths can be divided over ranks ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ShardingJson.h"
#include "SourceNames.h"

#include "ft/Analysis/Sharding/Sharding.h"
#include "ft/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::etdg;

void etdg::writeSharding(ModuleOp module, llvm::raw_ostream &os) {
  for (GraphOp graph : module.getOps<GraphOp>())
    if (!graph.isExternal()) {
      OwningOpRef<GraphOp> chosen = chooseVariants(graph, 0);
      std::string text;
      llvm::raw_string_ostream stream(text);
      printSharding(ShardingAnalysis(*chosen), *chosen, stream);
      os << withArgumentNames(text, *chosen);
    }
}

static void writeReasons(llvm::json::OStream &json, StringRef key, ArrayRef<ShardingReason> reasons) {
  json.attributeArray(key, [&] {
    for (const ShardingReason &reason : reasons)
      json.object([&] {
        json.attribute("kind", stringify(reason.kind));
        json.attribute("text", reason.text);
        if (reason.distance.low)
          json.attribute("least", *reason.distance.low);
        if (reason.distance.high)
          json.attribute("most", *reason.distance.high);
        if (reason.bytes)
          json.attribute("bytes", reason.bytes.str());
      });
  });
}

static void writeClass(llvm::json::OStream &json, const ShardingClass &one, llvm::function_ref<int64_t(Value)> bufferId,
                       llvm::function_ref<int64_t(BlockOp)> nodeId) {
  json.object([&] {
    json.attribute("length", one.length.str());
    json.attribute("kind", stringify(one.kind));
    json.attributeArray("members", [&] {
      for (const ShardingMember &member : one.members)
        json.object([&] {
          if (member.buffer)
            json.attribute("buffer", bufferId(member.buffer));
          else
            json.attribute("node", nodeId(member.block));
          json.attribute("dim", member.dim);
          if (member.isReversed)
            json.attribute("reversed", true);
        });
    });
    writeReasons(json, "reasons", one.reasons);
    writeReasons(json, "joins", one.joins);
    writeReasons(json, "indices", one.positions);
  });
}

static void writeRule(llvm::json::OStream &json, const ShardingRule &rule) {
  auto writeDim = [&](std::optional<unsigned> dim) {
    if (dim)
      json.attribute("shard", *dim);
  };
  json.object([&] {
    json.attribute("length", rule.length.getValue());
    json.attribute("least", rule.least);
    if (rule.reach.before || rule.reach.after) {
      json.attribute("before", rule.reach.before);
      json.attribute("after", rule.reach.after);
    }
    json.attributeArray("arguments", [&] {
      for (std::optional<unsigned> dim : rule.arguments)
        json.object([&] { writeDim(dim); });
    });
    json.attributeArray("results", [&] {
      for (const ShardingRule::Result &result : rule.results)
        json.object([&] {
          writeDim(result.dim);
          if (!result.dim && result.partial != PartialKind::None)
            json.attribute("partial", stringify(result.partial));
        });
    });
  });
}

void etdg::writeShardingJson(llvm::json::OStream &json, GraphOp graph, llvm::function_ref<int64_t(Value)> bufferId,
                             llvm::function_ref<int64_t(BlockOp)> nodeId) {
  ShardingAnalysis analysis(graph);
  json.attributeArray("sharding", [&] {
    for (const ShardingClass &one : analysis.getClasses())
      writeClass(json, one, bufferId, nodeId);
  });
  json.attributeArray("shardingRules", [&] {
    for (const ShardingRule &rule : analysis.getRules())
      writeRule(json, rule);
  });
}
