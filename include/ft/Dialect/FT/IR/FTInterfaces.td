//===- FTInterfaces.td - interfaces of the ft dialect ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_INTERFACES
#define FT_INTERFACES

include "mlir/IR/OpBase.td"

def FT_ComputeOpInterface : OpInterface<"ComputeOp"> {
  let cppNamespace = "::mlir::ft";
  let description = [{ What the eight array compute operators have in common (FT Table 1). }];
  let methods = [
    InterfaceMethod<"the operator", "::mlir::ft::OperatorKind", "getKind">,
    InterfaceMethod<"the lists that are traversed together", "::mlir::OperandRange", "getLists">,
    InterfaceMethod<"initial states; empty for map and where none is given", "::mlir::OperandRange", "getInits",
        (ins), [{}], [{ return ::mlir::OperandRange($_op->operand_end(), $_op->operand_end()); }]>,
    InterfaceMethod<"identities of `combine`", "::mlir::OperandRange", "getIdentities",
        (ins), [{}], [{ return ::mlir::OperandRange($_op->operand_end(), $_op->operand_end()); }]>,
    InterfaceMethod<"the body; arguments: states, then elements", "::mlir::Region &", "getBody">,
    InterfaceMethod<"the combine region, or null", "::mlir::Region *", "getCombineOrNull",
        (ins), [{}], [{ return nullptr; }]>,
    InterfaceMethod<"distance of the state in iterations", "::mlir::ft::LengthAttr", "getLagOrOne",
        (ins), [{}], [{ return ::mlir::ft::LengthAttr::get($_op->getContext(), 1); }]>,
    InterfaceMethod<"the length that has a value of its own at each element (`for`), or null",
        "::mlir::StringAttr", "getLayerName", (ins), [{}], [{ return nullptr; }]>,
    InterfaceMethod<"its values", "::llvm::ArrayRef<int64_t>", "getLayerValues", (ins), [{}], [{ return {}; }]>
  ];
  let extraSharedClassDeclaration = [{
    bool isMap() { return $_op.getKind() == ::mlir::ft::OperatorKind::Map; }
    bool isScan() { auto k = $_op.getKind(); return k == ::mlir::ft::OperatorKind::Scan || k == ::mlir::ft::OperatorKind::ScanL || k == ::mlir::ft::OperatorKind::ScanR; }
    bool isFold() { return !isMap() && !isScan(); }
    /// From the right: foldr, scanr.
    bool isRight() { auto k = $_op.getKind(); return k == ::mlir::ft::OperatorKind::FoldR || k == ::mlir::ft::OperatorKind::ScanR; }
    /// May be cut at any iteration: reduce, fold, scan.
    bool isReassociable() { auto k = $_op.getKind(); return k == ::mlir::ft::OperatorKind::Reduce || k == ::mlir::ft::OperatorKind::Fold || k == ::mlir::ft::OperatorKind::Scan; }
    /// Number of carried states (without `init`: one for each list).
    unsigned getNumStates() { return isMap() ? 0 : ($_op.getInits().empty() ? $_op.getLists().size() : $_op.getInits().size()); }
    /// The length of the traversed lists.
    ::mlir::ft::LengthAttr getLength();
    ::mlir::ft::YieldOp getYield();
    ::mlir::Block::BlockArgListType getStateArgs() { return $_op.getBody().getArguments().take_front(getNumStates()); }
    ::mlir::Block::BlockArgListType getElementArgs() { return $_op.getBody().getArguments().drop_front(getNumStates()); }
    /// Results: states (their final value, or a list of all), then emits.
    ::mlir::ResultRange getStateResults() { return $_op->getResults().take_front(isMap() ? $_op->getNumResults() : getNumStates()); }
    ::mlir::ResultRange getEmitResults() { return $_op->getResults().drop_front(isMap() ? $_op->getNumResults() : getNumStates()); }
  }];
}

#endif // FT_INTERFACES
