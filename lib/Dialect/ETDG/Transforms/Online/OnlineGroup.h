//===- OnlineGroup.h - reductions over one dimension, and what they share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `etdg-online` works on: the leaves of one body that run over the same
// iteration space (map dimensions, then the dimension j of a reduction), and what
// their reads mean to one another.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEGROUP_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEGROUP_H

#include "ft/Analysis/Accesses.h"
#include "ft/Analysis/OnlineForm.h"

namespace mlir::etdg::online {

/// What a member's read is to the group.
struct ReadRole {
  enum Kind {
    External,  // computed before the group, or by none of it
    Internal,  // what member `member` writes (write `write`) in the same iteration
    State,     // the member's own previous state (write `write`)
    Parameter, // known only when the reduction is over: parameter `parameter`
    Foreign,   // another iteration of what member `member` writes
    Blocked,   // something that depends on the group in another way
  } kind = External;
  unsigned member = 0, write = 0, parameter = 0;
};

struct OnlineMember {
  BlockOp block;
  bool isReduction = false;
  /// Whether the operator of j may be re-associated.
  bool mayReassociate = false;
  /// Some value depends on a parameter.
  bool isDependent = false;
  SmallVector<ReadRole> reads;
  /// Which writes are states, and the read of each (-1: none).
  SmallVector<int> stateReads;
  /// Which of the states are numbered from where among all states of the group.
  bool isState(unsigned write) const { return stateReads[write] >= 0; }
};

/// A value that does not depend on j and is known when the reduction is over: the last plane of
/// a state, or what some block makes of such.
struct Parameter {
  /// The state whose last plane it is.
  std::optional<std::pair<unsigned, unsigned>> lastPlane;
  /// Where members read it: in the first member that does.
  BlockOp reader;
  unsigned read = 0, piece = 0;
  RankedTensorType type;
  /// Reductions of the group on which it depends, however far away.
  llvm::SmallDenseSet<unsigned> origins;
};

/// All leaves of a body over one iteration space.
struct OnlineGroup {
  Block *body = nullptr;
  std::vector<OnlineMember> members;
  std::vector<Parameter> parameters;
  /// Names of all symbols that the members use; everything below is over them.
  SmallVector<StringAttr> symbols;
  unsigned numDims = 0; // ancestors and own
  /// The first and last value of j, over the other dimensions.
  AffineExpr first, last;
};

/// The groups of a body that hold a reduction depending on another one's last state. What is
/// `ignored` is no member: others depend on it as on anything that was computed before.
std::vector<OnlineGroup> findGroups(Block &body, const GraphAccesses &accesses, const SymbolSpace &space,
                              const llvm::DenseSet<Operation *> &ignored = {});

/// For each member the greatest number of reductions of the group that wait for one another before
/// it can run.
SmallVector<unsigned> getLevels(const OnlineGroup &group);

/// Moves a broadcast or reshape at the end of a block that makes a parameter of the group into
/// the readers. Returns whether there was one: groups must be found again then.
bool sinkBroadcasts(const OnlineGroup &group, const GraphAccesses &accesses);

/// Expressions of `block` over `symbols`, in canonical form.
AffineMap alignMap(AffineMap map, BlockOp block, ArrayRef<StringAttr> symbols);
IntegerSet alignSet(IntegerSet set, BlockOp block, ArrayRef<StringAttr> symbols);
/// The map over the other dimensions with j at `value`.
AffineMap atPlane(AffineMap map, unsigned numDims, AffineExpr value);
/// Whether the pieces' sets have a point in the block's domain.
SmallVector<unsigned> getReachedPieces(BlockOp block, ReadAttr read, const SymbolSpace &space);
/// The operation of `body` that holds `op`, or null.
Operation *getItem(Block *body, Operation *op);
/// Whether `read` of a block in the group's body, or deeper, reads a last plane of a write of the
/// group whose map is `write`; `bindings` gives the group's own map dimensions over the reader's.
bool isLastPlane(const OnlineGroup &group, AffineMap write, AffineMap read,
                 SmallVectorImpl<AffineExpr> &bindings);

} // namespace mlir::etdg::online

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEGROUP_H
