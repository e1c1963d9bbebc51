//===- LeafForms.cpp - each leaf as loop nests once -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/Analysis/LeafForms.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Of what is cheap to look at; equal bodies have equal ones.
static llvm::hash_code hashOf(Region &body, ArrayRef<bool> batched) {
  llvm::hash_code hash = llvm::hash_combine_range(batched.begin(), batched.end());
  for (Type type : body.getArgumentTypes())
    hash = llvm::hash_combine(hash, type);
  for (Operation &op : body.front())
    hash = llvm::hash_combine(hash, op.getName(), op.getNumOperands());
  return hash;
}

LeafForms::Known *LeafForms::find(BlockOp leaf, ArrayRef<bool> batched, llvm::hash_code hash) {
  for (Known &one : known)
    if (one.hash == hash && ArrayRef(one.batched) == batched &&
        OperationEquivalence::isRegionEquivalentTo(one.body.get(), &leaf.getBody(), OperationEquivalence::IgnoreLocations))
      return &one;
  return nullptr;
}

LeafForm *LeafForms::get(BlockOp leaf, ArrayRef<bool> batched) {
  llvm::hash_code hash = hashOf(leaf.getBody(), batched);
  Known *found = find(leaf, batched, hash);
  if (!found) {
    found = &known.emplace_back(Known{hash, std::make_unique<Region>(), SmallVector<bool>(batched), std::make_unique<LeafForm>()});
    IRMapping mapping;
    leaf.getBody().cloneInto(found->body.get(), mapping);
    ScopedDiagnosticHandler quiet(leaf.getContext(), [](Diagnostic &) { return success(); });
    if (failed(buildLeafForm(*found->form, leaf, batched)))
      found->form.reset();
  } else if (found->form) {
    setLeaf(*found->form, leaf);
  }
  return found->form.get();
}
