//===- OnlinePlan.h - which members merge, and by which laws ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the members of a group that become one block, finds for each state how
// it follows the parameters, and for each parameter what stands for it while the
// reduction runs (its *centre*).
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEPLAN_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEPLAN_H

#include "OnlineGroup.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::etdg::online {

/// What stands for a parameter inside the loop.
struct Centre {
  enum Kind {
    None,
    Running, // the state so far of `member`, write `write`: a running maximum or minimum
    One,     // 1: the parameter multiplies or divides, and does so once, after the reduction
    Mean,    // the mean of what the state `member`, `write` has summed the squares of
    Value,   // what the parameter would be now: `OnlinePlan::evaluations`
  } kind = None;
  unsigned member = 0, write = 0;
  bool rises = true; // Running: a maximum
  // Running: it may be infinite while nothing has been seen; the extreme finite number stands
  // for it then, so that no difference is inf - inf.
  bool clamps = false;

  // Mean: its elements, where they are wider than the parameter's.
  FloatType wide = {};

  bool operator==(const Centre &o) const {
    return kind == o.kind && member == o.member && write == o.write && rises == o.rises &&
           clamps == o.clamps;
  }
};

/// How a state depends on a parameter. `dims`: the parameter's dimensions in the state.
struct FactorTerm {
  unsigned parameter;
  SmallVector<int64_t, 4> dims;
  double exponent = 0; // exp(exponent · π)
  int64_t power = 0;   // π^power
  /// exp(exponent · c · π), or π / c where `inverse`: c is what `member` reads for all j.
  struct Scale {
    unsigned member, read;
    SmallVector<int64_t, 4> dims; // in the state
    bool inverse;
  };
  std::optional<Scale> scale = {};
};

/// A linear form in a state's terms: it moves by Σ coefficient · (π' - π), and the state with it by
/// its lower moments, the sums in which some of the forms are left out.
struct ShiftTerm {
  struct Part {
    unsigned parameter;
    SmallVector<int64_t, 4> dims; // the parameter's dimensions in the state
    double coefficient;
    bool isLogarithm = false; // of the parameter; 1 stands for it
  };
  SmallVector<Part, 1> parts;
  unsigned power = 1;
};
/// For each linear form the power in which it is left in.
using MomentIndex = SmallVector<unsigned, 4>;

struct StatePlan {
  unsigned member, write;
  /// Apart: all but what compares equal to the parameter; beside what does, which joins when the
  /// parameter changes (the greatest but one).
  enum Law { Invariant, Factor, Square, Select, Moments, Apart } law = Invariant;
  SmallVector<FactorTerm, 2> terms; // Factor
  unsigned parameter = 0;           // Square, Select, Apart
  SmallVector<int64_t, 4> dims;     // Select, Apart
  double coefficient = 0;           // Square: of the parameter in what is squared
  Operation *square = nullptr;      // Square: the multiplication, in the member's body
  TypedAttr init;                   // the scalar of the initial splat, or null
  /// The element type of the running state where it is wider than the declared one.
  FloatType wide;
  SmallVector<ShiftTerm, 2> shifts = {};    // Moments, beside `terms`
  SmallVector<Operation *, 1> matches = {}; // Apart: the comparisons, in the members' bodies

  /// All indices of moments, the state's own last.
  std::vector<MomentIndex> getMoments() const;
};

/// How to know early what a parameter will be in the end: the blocks that make it from last planes,
/// read with states so far.
struct Evaluation {
  enum Kind { State, Block, External } kind;
  unsigned member = 0, write = 0; // State
  BlockOp block;                  // Block; External: the reader
  unsigned index = 0;             // the write; External: the read
  std::vector<Evaluation> reads;  // Block
  bool hasExternal() const {
    return kind == External ||
           llvm::any_of(reads, [](const Evaluation &read) { return read.hasExternal(); });
  }
};

struct OnlineRefusal {
  unsigned member;
  Operation *culprit;
  std::string reason;
};

struct OnlinePlan {
  /// Invariant members first, each kind in textual order.
  SmallVector<unsigned> members;
  SmallVector<Centre> centres; // of each parameter of the group
  std::vector<StatePlan> states;
  /// Of parameters whose centre is a `Value`.
  std::map<unsigned, Evaluation> evaluations;
  /// Members that stay beside the merged block, too: maps of a few cheap operations whose values
  /// others read (the centred elements of a layer norm).
  llvm::SmallDenseSet<unsigned> repeated;
  const StatePlan *getState(unsigned member, unsigned write) const;
  bool contains(unsigned member) const { return llvm::is_contained(members, member); }
};

struct PlanOptions {
  bool narrowStates = false; // allow f16 and bf16 states
  bool ordered = false;      // let maps run inside an ordered fold
};

/// Whether the parameter of a term is the last of what stood for it: nothing is left to do.
bool isAtCentre(const OnlineGroup &group, const OnlinePlan &plan, const FactorTerm &term);

/// No plan where no dependent reduction has an online form; `refusals` say why.
std::optional<OnlinePlan> makePlan(OnlineGroup &group, const GraphAccesses &accesses,
                             const PlanOptions &options, SmallVectorImpl<OnlineRefusal> &refusals);

/// Operations of straight-line code that compute the same.
class EqualOperations {
public:
  /// Replaces operations from `first` on by equal ones that came before; `results` follow.
  void share(Operation *first, MutableArrayRef<Value> results);

private:
  llvm::DenseMap<unsigned, SmallVector<Operation *, 1>> known; // by hash
};

/// How partial results of a reduction join: by its region, or, where each state is only ever added
/// to (or maximised, …), by that operation.
struct Joining {
  bool hasRegion = false;
  SmallVector<Operation *> folds; // one for each state, where there is no region
};
std::optional<Joining> getJoining(const OnlineGroup &group, unsigned member);
/// The operation by which a state grows (`arith.addf`, …) in the member's body, or null.
Operation *getFold(const OnlineGroup &group, unsigned member, unsigned write);
/// The writes of a member that are states, in order.
SmallVector<unsigned> getStateWrites(const OnlineMember &member);

/// The read with operands of `builder`, over the group's symbols.
ReadAttr importRead(BlockBuilder &builder, const OnlineGroup &group, BlockOp block, ReadAttr read);

/// Clones a member's body at the insertion point; `arguments` stand for its reads, some with wider
/// elements where a wide form was found (`Planner::checkWidening`). Returns what it yields.
/// `original`, where given, gets the member's operation for each clone.
SmallVector<Value> cloneBody(OpBuilder &builder, BlockOp block, ValueRange arguments,
                             llvm::DenseMap<Operation *, Operation *> *original = nullptr);

} // namespace mlir::etdg::online

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEPLAN_H
