//===- HoistInvariants.h - values that repeat along dimensions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HoistCandidates.cpp finds what a leaf's body computes again and again, HoistPlan.cpp
// says where it is computed once and whether that pays, HoistRewrite.cpp does it.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_HOISTINVARIANTS_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_HOISTINVARIANTS_H

#include "ft/Analysis/Accesses.h"
#include "ft/Machine/Machine.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::etdg::hoist {

/// What operations do, in results of scalar operations.
struct Work {
  double product = 0;     // multiplications and additions of contractions
  double elementwise = 0; // additions and the like
  double elementary = 0;  // exponentials and the like
  Work &operator+=(const Work &other);
  double count() const { return product + elementwise + elementary; }
  double seconds(const ft::Machine &machine) const;
};
Work getWork(Operation *op);

/// A value of a leaf's body that does not depend on all of the leaf's dimensions.
struct Repeat {
  BlockOp leaf;
  Value root;
  /// Only what the operation adds to its initial value: that one varies.
  bool split = false;
  /// It repeats only along dimensions that have one value here: worth it only with other leaves.
  bool follows = false;
  SmallVector<Operation *> ops; // that make it, in their order; the last one is the root's
  SmallVector<unsigned> reads;  // of the leaf, that these use
  llvm::SmallBitVector dims;    // of the leaf's iteration vector, that these depend on
  Work work, saved;             // of the operations; of those that nothing else needs
  /// The last item of the body that writes what is read, and that of the leaf.
  Operation *writer = nullptr, *item = nullptr;

  Operation *getOp() const { return root.getDefiningOp(); }
  /// Of what is stored: f32 where a sum of f16 or bf16 is taken apart, so that it is rounded once.
  RankedTensorType getType() const;
};

/// Why something that repeats stays where it is.
struct HoistRefusal {
  Operation *op;
  BlockOp leaf;
  std::string rule, reason;
};

struct Settings {
  const ft::Machine &machine;
  bool narrow; // what is no product, and of f16 or bf16, may be taken apart: it rounds twice
  bool all;    // whatever it costs
  /// Not what repeats but what does not wait: values with a product that can be computed before the item
  /// that needs them, in as many iterations as there.
  bool ahead = false;

  /// Whether independent iterations run at once: what some regions of a nest repeat and others don't
  /// need is not worth a block.
  bool isWide() const { return machine.kind == ft::Machine::Kind::GPU; }
};

/// The leaves under one body, and what in them repeats along dimensions that are inside the body.
class CandidateFinder {
public:
  CandidateFinder(Block &body, const SymbolSpace &space, const Settings &settings);
  SmallVector<Repeat> find(BlockOp leaf);
  SmallVector<HoistRefusal> refusals;

private:
  friend class LeafSearch;
  /// What a value depends on.
  struct Info {
    llvm::SmallBitVector dims;
    bool isKnown = true; // can be computed elsewhere
  };
  Info getInfo(BlockOp leaf, unsigned read, Operation *item, Operation *&writer);
  bool isWrittenBySameItem(BlockOp leaf, unsigned read, Operation *item);
  ArrayRef<BlockOp> getWriters(Value buffer);
  void explainSkew(BlockOp leaf, const Repeat &repeat);
  bool isHeavy(const Work &work, Type type) const;

  Block &body;
  const SymbolSpace &space;
  const Settings &settings;
  unsigned outer; // dimensions around the body
  llvm::DenseMap<Value, SmallVector<BlockOp>> writers;
};

/// Whether the operation adds to what its only output holds at the start: a product, a sum.
bool isAccumulation(Operation *op);
/// What it starts from.
Value getInit(Operation *op);

/// Expressions of blocks of one graph over one list of names.
struct CommonNames {
  BlockBuilder list;
  AffineExpr import(AffineExpr expr, BlockOp block) {
    return list.importExpr(expr, block.getSymbolNames());
  }
};

/// Whether it is a product of f16 or bf16 that can be computed in f32.
bool canWiden(Operation *op);

/// What stands for the dimensions of a leaf: a constant where its domain says so, else itself.
SmallVector<AffineExpr> getPins(BlockOp leaf, CommonNames &names);

/// Whether both are the same function of the iteration vector, where `b` runs.
bool isSame(const Repeat &a, const Repeat &b, CommonNames &names);

/// One value for several leaves.
struct HoistGroup {
  SmallVector<Repeat> members; // the first one has the maps that hold for all
};

/// Where the value is computed once.
struct Placement {
  std::string name;                    // of the blocks
  SmallVector<unsigned> dims;          // of the members' iteration vectors: the new own dimensions
  SmallVector<AffineExpr> replacement; // of each dimension of a member, over the new block's
  SmallVector<IntegerSet> domains;     // disjoint, one block for each
  SmallVector<ft::LengthAttr> lengths; // of the buffer
};

/// The values of the leaves that `finder` finds; those that are the same for several leaves as one group,
/// those of few dimensions first.
SmallVector<HoistGroup> collectGroups(ArrayRef<BlockOp> leaves, CandidateFinder &finder, CommonNames &names);

/// Makes the blocks, and their buffer where none is given, before the members' items, and lets the members
/// read it. Returns whether a member now yields it as it is.
bool rewrite(HoistGroup &group, const Placement &placement, Block &body, CommonNames &names, BufferOp &buffer);

} // namespace mlir::etdg::hoist

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_HOISTINVARIANTS_H
