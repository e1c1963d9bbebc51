//===- CopyEntry.cpp - what an entry needs of its module ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Engine/Bundle/CompileBundle.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ft;

OwningOpRef<ModuleOp> mlir::ft::copyEntry(ModuleOp module, StringRef entry) {
  SymbolTable symbols(module);
  llvm::SetVector<Operation *> needed;
  if (Operation *op = symbols.lookup(entry))
    needed.insert(op);
  for (unsigned i = 0; i < needed.size(); ++i) // grows as uses are found
    if (auto uses = SymbolTable::getSymbolUses(needed[i]))
      for (SymbolTable::SymbolUse use : *uses)
        if (Operation *used = symbols.lookup(use.getSymbolRef().getRootReference()))
          needed.insert(used);
  OwningOpRef<ModuleOp> copy = ModuleOp::create(module.getLoc(), module.getName());
  copy->getOperation()->setDiscardableAttrs(module->getDiscardableAttrDictionary());
  OpBuilder builder = OpBuilder::atBlockEnd(copy->getBody());
  for (Operation &op : *module.getBody())
    if (!isa<func::FuncOp, etdg::GraphOp>(op) || needed.contains(&op))
      builder.clone(op);
  return copy;
}
