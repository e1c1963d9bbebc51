// Counts the blocks of each graph, by the classes and interfaces of an installed FractalTensor.
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/InitAll.h"
#include "ft/Tools/ToolMains.h"
#include "ft/Validator/Validator.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace {
struct CountBlocks : PassWrapper<CountBlocks, OperationPass<etdg::GraphOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountBlocks)
  StringRef getArgument() const override { return "count-blocks"; }
  StringRef getDescription() const override { return "count the blocks of a graph"; }
  void runOnOperation() override {
    int blocks = 0, lists = 0;
    getOperation().walk([&](Operation *op) { blocks += isa<etdg::BlockOp>(op); });
    for (Type type : getOperation().getArgumentTypes())
      lists += isa<etdg::BufferType>(type);
    if (failed(etdg::validateGraph(getOperation())))
      return signalPassFailure();
    getOperation().emitRemark() << blocks << " blocks over " << lists << " arguments";
  }
};
} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  mlir::ft::registerAllDialects(registry);
  mlir::ft::registerAllPasses(mlir::ft::isToolValidating);
  PassRegistration<CountBlocks>();
  return mlir::ft::optMain(argc, argv, registry);
}
