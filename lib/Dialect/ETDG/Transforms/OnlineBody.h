//===- OnlineBody.h - the body of a merged reduction ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what one iteration of the merged block does: the members' bodies with
// centres in place of parameters, each state corrected before its member adds to
// it; how partial states join; and what is left to do behind the loop.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEBODY_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEBODY_H

#include "OnlinePlan.h"

namespace mlir::etdg::online {

/// Values of states (and, for `Square`, of weight and mean) at one end of a change.
struct StateValues {
  llvm::DenseMap<std::pair<unsigned, unsigned>, Value> states;
  llvm::DenseMap<std::pair<unsigned, unsigned>, Value> weights, means, clamped;
};

/// Tensor expressions that corrections are made of.
struct CorrectionBuilder {
  OpBuilder &builder;
  Location loc;

  /// The element of `value` at the dimensions `dims` of the result.
  Value broadcast(Value value, ArrayRef<int64_t> dims, RankedTensorType type);
  Value splat(RankedTensorType type, double value);
  Value splat(RankedTensorType type, TypedAttr value);
  /// `value` with elements of `like`.
  Value widen(Value value, Type like);
  /// `value`, the greatest finite number below it where `rises` and it is -inf, else above.
  Value clamp(Value value, bool rises);
  /// exp(exponent · (to - from)).
  Value expDifference(double exponent, Value from, Value to);
  /// state + coefficient² · weight · (from - to)².
  Value addSquares(Value state, double coefficient, Value weight, Value from, Value to);
  /// The mean of two parts, `to` given the joint weight; one without weight has none.
  Value joinMeans(Value mean, Value otherMean, Value otherWeight, Value weight);
};

/// Corrections by parameter, exponent (its bits) and element type: equal ones are made once.
using FactorCache = std::map<std::tuple<unsigned, int64_t, const void *>, Value>;

class BodyWriter {
public:
  BodyWriter(Group &group, const Plan &plan) : group(group), plan(plan) {}

  /// The region of the merged block with its reads, writes and yield; `spec` gets operands,
  /// reads, writes and identity. `kept`: the writes that are no states and stay.
  void write(BlockBuilder &spec, ArrayRef<std::pair<unsigned, unsigned>> kept, Location loc,
             OpBuilder &bufferBuilder);
  /// Whether partial states can be joined; fills `combine` and the identity.
  bool writeCombine(BlockBuilder &spec, Region &combine, Location loc);

  std::unique_ptr<Region> body;
  /// New buffers of weights and means, for each state of law `Square`.
  llvm::DenseMap<std::pair<unsigned, unsigned>, Value> weightBuffers, meanBuffers;

private:
  using Key = std::pair<unsigned, unsigned>;
  Value addRead(BlockBuilder &spec, ReadAttr read, Type type, bool share);
  Value getCentre(unsigned parameter);
  void writeMean(unsigned parameter, Key key);
  SmallVector<Value> writeMember(unsigned m);
  SmallVector<Value> writeProbe(Key key, Value mean, bool one);
  Value correct(CorrectionBuilder &make, const StatePlan &state, Value value, StateValues &from,
                StateValues &to, FactorCache *cache);
  Value getRunning(CorrectionBuilder &make, const Centre &centre, StateValues &values);

  Group &group;
  const Plan &plan;
  BlockBuilder *spec = nullptr;
  std::unique_ptr<OpBuilder> builder;
  std::optional<Location> loc;
  llvm::DenseMap<std::pair<Attribute, Type>, Value> shared;
  llvm::DenseMap<Key, Value> externals; // (member, read)
  StateValues before, after;
  SmallVector<SmallVector<Value>> yields;
  FactorCache factors;
};

/// Replaces what a centre of 1 makes trivial, and erases what nobody uses.
void simplifyOnes(Block &body);

/// Whether a state's last plane must still be corrected to be what the program asks for.
bool hasResidual(const Group &group, const Plan &plan, const StatePlan &state);

} // namespace mlir::etdg::online

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEBODY_H
