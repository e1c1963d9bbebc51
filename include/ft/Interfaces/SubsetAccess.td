//===- SubsetAccess.td - reads and writes of a part of a tensor -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef FT_INTERFACES_SUBSETACCESS_TD
#define FT_INTERFACES_SUBSETACCESS_TD

include "mlir/IR/OpBase.td"

def FT_SubsetAccessOpInterface : OpInterface<"SubsetAccessOpInterface"> {
  let cppNamespace = "::mlir::ft";
  let description = [{
    An operation that reads, or replaces, a *subset* of a tensor, its *base*: the elements at

        offset[d] + index[d] * stride[d],   0 <= index[d] < size[d]

    for each dimension d of the base. Raising asks of reads and writes nothing but this, so that an operation of
    any dialect takes part by implementing it. `tensor.extract_slice`, `tensor.insert_slice`,
    `tensor.parallel_insert_slice`, `tensor.extract` and `tensor.insert` do, by external models
    (`registerSubsetAccessModels`).

    A *read* has one result, the subset: a tensor without the dropped dimensions, or the scalar itself where the
    operation takes one (`isScalar`). A *write* replaces the subset by `getUpdate()`; its result, if it has one, is
    the base after that, and the operation may be carried out in the base's memory where nothing reads the old value.
  }];
  let methods = [
    InterfaceMethod<"The operand that is the base: the tensor of which a part is read or replaced.",
      "::mlir::OpOperand &", "getBaseOperand">,
    InterfaceMethod<"The operand that replaces the subset; null where the operation reads.",
      "::mlir::OpOperand *", "getUpdateOperand">,
    InterfaceMethod<"One offset for each dimension of the base.",
      "::llvm::SmallVector<::mlir::OpFoldResult>", "getSubsetOffsets">,
    InterfaceMethod<"One size for each dimension of the base.",
      "::llvm::SmallVector<::mlir::OpFoldResult>", "getSubsetSizes">,
    InterfaceMethod<"One stride for each dimension of the base.",
      "::llvm::SmallVector<::mlir::OpFoldResult>", "getSubsetStrides">,
    InterfaceMethod<"The dimensions of the base, all of size 1, that the subset's own type lacks.",
      "::llvm::SmallBitVector", "getSubsetDroppedDims">,
    InterfaceMethod<"Whether the subset is one number, taken or given as a scalar.",
      "bool", "isScalar">,
    InterfaceMethod<"Reads what a write replaces, at the builder's place.",
      "::mlir::Value", "createReadOfSubset", (ins "::mlir::OpBuilder &":$builder)>,
  ];
  let extraSharedClassDeclaration = [{
    ::mlir::Value getBase() { return $_op.getBaseOperand().get(); }
    /// What replaces the subset; null where the operation reads.
    ::mlir::Value getUpdate() {
      ::mlir::OpOperand *operand = $_op.getUpdateOperand();
      return operand ? operand->get() : ::mlir::Value();
    }
    /// Replaces the subset; else it reads it.
    bool isWrite() { return $_op.getUpdateOperand() != nullptr; }
    /// Reads a tensor.
    bool isSlice() { return !isWrite() && !$_op.isScalar(); }
    /// Offsets, sizes and strides are numbers.
    bool isStatic();
    /// The dimensions of the base that the subset's own type has.
    ::llvm::SmallVector<int64_t> getKeptDims();
    /// Both take the same subset, of whatever base.
    bool isSameSubset(::mlir::ft::SubsetAccessOpInterface other);
  }];
}

def FT_ReassociativeReshapeOpInterface : OpInterface<"ReassociativeReshapeOpInterface"> {
  let cppNamespace = "::mlir::ft";
  let description = [{
    An operation that gives the elements of a tensor, in row-major order, another shape: each dimension of the side with
    fewer dimensions is a group of neighbouring dimensions of the other side (*reassociation*). `tensor.expand_shape` and
    `tensor.collapse_shape` are such, by external models. It has one result and computes nothing: who reads the result reads
    the base by `getElementMap`.
  }];
  let methods = [
    InterfaceMethod<"The operand whose elements get another shape.",
      "::mlir::OpOperand &", "getBaseOperand">,
    InterfaceMethod<"Whether the result is the side with more dimensions, so that groups are of its dimensions.",
      "bool", "isExpansion">,
    InterfaceMethod<"The groups.",
      "::llvm::SmallVector<::mlir::ReassociationIndices>", "getReassociation">,
    InterfaceMethod<"One size for each dimension of the result of an expansion.",
      "::llvm::SmallVector<::mlir::OpFoldResult>", "getExpandedSizes">,
  ];
  let extraSharedClassDeclaration = [{
    ::mlir::Value getBase() { return $_op.getBaseOperand().get(); }
    ::mlir::RankedTensorType getBaseType() { return ::llvm::cast<::mlir::RankedTensorType>(getBase().getType()); }
    ::mlir::RankedTensorType getResultType() {
      return ::llvm::cast<::mlir::RankedTensorType>($_op->getResult(0).getType());
    }
  }];
}

#endif // FT_INTERFACES_SUBSETACCESS_TD
