//===- LoopsDialect.cpp - the loops dialect -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, attributes, types.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/IR/Loops.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::loops;

#include "ft/Dialect/Loops/IR/LoopsDialect.cpp.inc"
#include "ft/Dialect/Loops/IR/LoopsEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ft/Dialect/Loops/IR/LoopsAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ft/Dialect/Loops/IR/LoopsTypes.cpp.inc"

void LoopsDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ft/Dialect/Loops/IR/LoopsAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ft/Dialect/Loops/IR/LoopsTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ft/Dialect/Loops/IR/LoopsOps.cpp.inc"
      >();
}

LogicalResult LoopsDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  bool isOurs = attribute.getName() == "loops.kernel" || attribute.getName() == "loops.team";
  if (!isOurs || !isa<FunctionOpInterface>(op) || !isa<UnitAttr>(attribute.getValue()))
    return op->emitError() << "unknown attribute '" << attribute.getName().getValue()
                           << "': the loops dialect has the units 'loops.kernel' and 'loops.team' on functions";
  return success();
}

int64_t LevelAttr::getMappingId() const { return int64_t(getLevel()); }
bool LevelAttr::isLinearMapping() const { return true; }
int64_t LevelAttr::getRelativeIndex() const { return 0; }

bool loops::isKernel(func::FuncOp function) { return function->hasAttr("loops.kernel"); }

LevelAttr loops::levelOf(Operation *loop) {
  if (auto chunks = dyn_cast<ChunksOp>(loop))
    return chunks.getLevel();
  auto forall = dyn_cast<scf::ForallOp>(loop);
  if (!forall || forall.getRank() != 1 || !forall.getMapping() || forall.getMapping()->size() != 1)
    return {};
  return dyn_cast<LevelAttr>((*forall.getMapping())[0]);
}
