//===- SCFToETDG.cpp - imperative loops over tensors to graphs ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `convert-scf-to-etdg` (docs/raising.md): the frame of a graph, and the pass.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/SCFToETDG.h"
#include "Raiser.h"

#include "ft/Analysis/GraphVerifier.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"

namespace mlir::ft {
#define GEN_PASS_DEF_CONVERTSCFTOETDG
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

etdg::GraphOp Raiser::raise(Operation *at) {
  if (!function.getBody().hasOneBlock()) {
    (void)refuse(function, "has several basic blocks; control flow must be structured");
    return nullptr;
  }
  if (!isa<func::ReturnOp>(function.getBody().front().back())) {
    (void)refuse(function, "does not end in 'func.return'");
    return nullptr;
  }
  for (Type type : function.getResultTypes())
    if (!isa<RankedTensorType>(type)) {
      (void)refuse(function, "a result is no ranked tensor");
      return nullptr;
    }
  if (function.getNumResults() == 0) {
    (void)refuse(function, "has no results");
    return nullptr;
  }
  if (failed(boundWhiles()))
    return nullptr;
  // Other control flow has states that nothing below looks into.
  WalkResult known = function.walk([&](Operation *op) {
    if (!isa_and_nonnull<scf::SCFDialect>(op->getDialect()) || op->getNumRegions() == 0 ||
        isa<scf::ForOp, scf::ForallOp, scf::InParallelOp, scf::IfOp>(op))
      return WalkResult::advance();
    (void)refuse(op, "'" + op->getName().getStringRef() + "' has no place in a graph");
    return WalkResult::interrupt();
  });
  if (known.wasInterrupted())
    return nullptr;
  Block &body = function.getBody().front();
  BlockInfo top;
  top.domains.push_back({});
  if (failed(selectData()) || failed(nameLengths()) || failed(collectBlocks(body, top)))
    return nullptr;
  findStatements(body);
  findFamilies(body);
  findCycles();
  if (failed(collectWriters()) || failed(decideCells()))
    return nullptr;
  planItems(body);
  scopes.push_back({&body, 0, nullptr});
  planScopes(body, &scopes.front());
  findEscapes();
  if (failed(decideHomes()))
    return nullptr;

  SmallVector<graphwriter::GraphArgument> arguments;
  for (BlockArgument arg : function.getArguments()) {
    Home *home = argumentHome(arg);
    NamedAttrList attributes(function.getArgAttrDict(arg.getArgNumber()));
    attributes.erase("etdg.dims"); // their names are the buffer's
    arguments.push_back({etdg::BufferType::get(context, home->lengths, home->element), arg.getLoc(),
                         attributes.getDictionary(context)});
  }
  SmallVector<Type> outputs;
  for (Home *home : resultHomes)
    outputs.push_back(etdg::BufferType::get(context, home->lengths, home->element));
  Location loc = function.getLoc();
  builder.setInsertionPoint(at);
  graph = graphwriter::createGraph(builder, function, arguments, outputs);
  Block *entry = &graph.getBody().front();
  for (auto [buffer, argument] : llvm::zip_equal(entry->getArguments(), function.getArguments()))
    argumentHome(argument)->buffer = buffer;
  Scope *scope = &scopes.front();
  scopeBodies[scope] = entry;
  for (Home *home : resultHomes)
    bufferOf(home);
  builder.setInsertionPointToEnd(entry);
  auto ret = cast<func::ReturnOp>(body.getTerminator());
  SmallVector<Value> returned;
  for (Home *home : resultHomes)
    returned.push_back(home->buffer);
  auto terminator = etdg::ReturnOp::create(builder, loc, returned);
  builder.setInsertionPoint(terminator);
  if (failed(emitItems(&body, Context())) || failed(emitResults(ret)) || failed(finish())) {
    graph.erase();
    return nullptr;
  }
  return graph;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Imperative functions over tensors: some loop or condition, no lists.
static bool isImperative(func::FuncOp function) {
  if (function.isDeclaration())
    return false;
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (!isa<RankedTensorType>(type))
      return false;
  bool loops = false, other = false;
  function.walk([&](Operation *op) {
    loops |= isa<scf::ForOp, scf::ForallOp, scf::IfOp, scf::WhileOp>(op);
    other |= isa_and_nonnull<FTDialect>(op->getDialect());
  });
  return loops && !other;
}

namespace {
struct ConvertSCFToETDG : ft::impl::ConvertSCFToETDGBase<ConvertSCFToETDG> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertSCFToETDGBase::getDependentDialects(registry);
    registerSubsetAccessModels(registry);
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (isImperative(function))
        functions.push_back(function);
    for (func::FuncOp function : functions)
      raise(function);
  }

  void raise(func::FuncOp function) {
    // Conditions are rewritten on a copy: what is refused stays as it was.
    func::FuncOp copy = function.clone();
    Raiser raiser(copy);
    etdg::GraphOp graph = raiser.raise(function);
    if (graph) {
      // A graph that is not well formed says which access is out of bounds, or read
      // before it is written: the program's own fault more often than not.
      std::optional<Raiser::Refusal> &refusal = raiser.refusal;
      ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
        if (!refusal && diagnostic.getSeverity() == DiagnosticSeverity::Error)
          refusal = Raiser::Refusal{diagnostic.getLocation(), diagnostic.str()};
        return success();
      });
      if (failed(verify(graph)) || failed(etdg::verifyGraph(graph))) {
        graph.erase();
        graph = nullptr;
      }
    }
    unsigned copies = raiser.numCopies, arrays = raiser.numFamilies, byCells = raiser.numByCells;
    if (!graph) {
      Location loc = raiser.refusal ? raiser.refusal->loc : function.getLoc();
      std::string reason =
          raiser.refusal ? raiser.refusal->reason : "it has a form that raising does not know";
      emitWarning(loc) << "'" << function.getSymName() << "' is not raised to a graph: " << reason;
      remark::missed(loc, remark::RemarkOpts::name("raise")
                              .category("etdg")
                              .subCategory("convert-scf-to-etdg")
                              .function(function.getSymName()))
          << remark::reason("{0}", reason);
      copy.erase();
      return;
    }
    unsigned blocks = 0;
    graph.walk([&](etdg::BlockOp) { ++blocks; });
    remark::passed(function.getLoc(), remark::RemarkOpts::name("raise")
                                          .category("etdg")
                                          .subCategory("convert-scf-to-etdg")
                                          .function(function.getSymName()))
        << remark::metric("blocks", blocks) << remark::metric("arrays", arrays)
        << remark::metric("written once at each cell", byCells) << remark::metric("copies", copies);
    copy.erase();
    function.erase();
  }
};
} // namespace
