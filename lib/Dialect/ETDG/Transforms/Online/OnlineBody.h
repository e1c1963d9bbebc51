//===- OnlineBody.h - the body of a merged reduction ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what one iteration of the merged block does: the members' bodies with
// centres in place of parameters, each state corrected before its member adds to
// it; how partial states join; and what is left to do after the loop.
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
  /// Lower moments of states of law `Moments`, and what stands for parameters (`Centre::Value`).
  std::map<std::tuple<unsigned, unsigned, MomentIndex>, Value> moments;
  std::map<unsigned, Value> centres;
  /// What scales exponents, by (member, read).
  std::map<std::pair<unsigned, unsigned>, Value> scales;
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
  /// Half of exp(exponent · scale · (to - from)), or `/ scale`: a factor to multiply with twice,
  /// and finite, so that 0 stays 0.
  Value scaledFactor(double exponent, Value from, Value to, Value scale, bool inverse);
  /// state + coefficient² · weight · (from - to)².
  Value addSquares(Value state, double coefficient, Value weight, Value from, Value to);
  /// The mean of two parts, `to` given the joint weight; one without weight has none.
  Value joinMeans(Value mean, Value otherMean, Value otherWeight, Value weight);
};

/// Corrections by parameter, exponent (its bits) and element type: equal ones are made once.
using FactorCache = std::map<std::tuple<unsigned, int64_t, const void *>, Value>;

class BodyWriter {
public:
  BodyWriter(OnlineGroup &group, const OnlinePlan &plan) : group(group), plan(plan) {}

  /// The region of the merged block with its reads, writes and yield; `spec` gets operands,
  /// reads, writes and identity. `kept`: the writes that are no states and stay.
  void write(BlockBuilder &spec, ArrayRef<std::pair<unsigned, unsigned>> kept, Location loc,
             OpBuilder &bufferBuilder);
  /// Whether partial states can be joined; fills `combine` and the identity.
  bool writeCombine(BlockBuilder &spec, Region &combine, Location loc);
  /// Whether a correction takes what the body reads, as a `combine` cannot.
  bool readsScale() const { return !after.scales.empty(); }

  std::unique_ptr<Region> body;
  /// A moment could not be written, although the plan said so: nothing may be made of this.
  bool failed = false;
  /// New buffers of weights and means, for each state of law `Square`.
  llvm::DenseMap<std::pair<unsigned, unsigned>, Value> weightBuffers, meanBuffers;
  std::map<std::tuple<unsigned, unsigned, MomentIndex>, Value> momentBuffers;
  /// Of centres that are values, and whose write map and planes they share.
  std::map<unsigned, std::pair<Value, std::pair<unsigned, unsigned>>> centreBuffers;

private:
  using Key = std::pair<unsigned, unsigned>;
  Value addRead(BlockBuilder &spec, ReadAttr read, Type type, bool share);
  Value getCentre(unsigned parameter);
  void writeMean(unsigned parameter, Key key);
  SmallVector<Value> writeMember(unsigned m);
  SmallVector<Value>
  writeAgain(Key key, llvm::function_ref<Value(Key)> stateOf,
             llvm::function_ref<Value(unsigned)> parameterOf,
             llvm::function_ref<Value(Operation *clone, Operation *original)> change);
  SmallVector<Value> writeProbe(Key key, Value mean, bool one);
  Value correct(CorrectionBuilder &make, const StatePlan &state, Value value, StateValues &from,
                StateValues &to, FactorCache *cache);
  Value makeBeside(Key key, RankedTensorType type, OpBuilder &bufferBuilder, Value &before,
                   TypedAttr init = {});
  Value isSame(CorrectionBuilder &make, const StatePlan &state, RankedTensorType type,
               StateValues &from, StateValues &to);
  Value writeComplement(Key key, Value state);
  Value correctFactors(CorrectionBuilder &make, const StatePlan &state, Value value,
                       StateValues &from, StateValues &to, FactorCache *cache);
  Value correctMoment(CorrectionBuilder &make, const StatePlan &state, const MomentIndex &index,
                      Value value, StateValues &from, StateValues &to, FactorCache *cache);
  Value getStandIn(CorrectionBuilder &make, unsigned parameter, StateValues &values);
  Value evaluate(CorrectionBuilder &make, const Evaluation &evaluation, StateValues &values);
  Value evaluateParameter(CorrectionBuilder &make, unsigned parameter, StateValues &values);
  Value joinCentres(CorrectionBuilder &make, unsigned parameter, StateValues (&sides)[2],
                    StateValues &joined);

  // OnlineCombine.cpp
  ReadAttr readSplat(TypedAttr value);
  /// What a side that has seen nothing holds of a state; null where the state cannot be joined.
  ReadAttr readNeutral(BlockBuilder &out, const StatePlan &state);
  /// That of all slots, with their types; false where some state cannot be joined.
  bool collectIdentity(BlockBuilder &out, SmallVectorImpl<ReadAttr> &identity, SmallVectorImpl<Type> &types);
  /// Everything that one side of `combine` knows, in the order of its arguments: states, what stands beside
  /// them, centres.
  void forEachSlot(StateValues &values, llvm::function_ref<void(Value &)> visit);
  void joinBeside(CorrectionBuilder &make, StateValues (&sides)[2], StateValues &joined);
  void joinMoments(CorrectionBuilder &make, Key key, StateValues (&sides)[2], StateValues &joined,
                   FactorCache (&caches)[2]);
  void joinMember(CorrectionBuilder &make, unsigned m, StateValues (&sides)[2], StateValues &joined,
                  FactorCache (&caches)[2]);

  void writeReads(BlockBuilder &out);
  void writeWeights(BlockBuilder &out, OpBuilder &bufferBuilder);
  void writeBeside(OpBuilder &bufferBuilder);
  SmallVector<Value> writeResults(BlockBuilder &out, ArrayRef<Key> kept);
  void writeMoments(unsigned m, ArrayRef<Value> arguments, Operation *mark,
                    MutableArrayRef<Value> results);
  Value getRunning(CorrectionBuilder &make, const Centre &centre, StateValues &values);

  OnlineGroup &group;
  const OnlinePlan &plan;
  BlockBuilder *spec = nullptr;
  std::unique_ptr<OpBuilder> builder;
  std::optional<Location> loc;
  llvm::DenseMap<std::pair<Attribute, Type>, Value> shared;
  llvm::DenseMap<Key, Value> externals; // (member, read)
  StateValues before, after;
  SmallVector<SmallVector<Value>> yields;
  FactorCache factors;
  EqualOperations operationsSoFar;
  /// Where states have moments: the body's forms, over values that stand for parameters.
  std::unique_ptr<OnlineForms> forms;
  std::map<unsigned, Value> standIns;
};

/// Σ over the moments below `index`: what a state (or moment) becomes when each of its linear forms
/// moves by `shifts`. `moment` gives the moments.
Value shiftMoment(CorrectionBuilder &make, const MomentIndex &index, ArrayRef<Value> shifts,
                  llvm::function_ref<Value(const MomentIndex &)> moment);

/// Writes values with some of their linear forms left out.
class MomentWriter {
public:
  /// `states` has what to write for values that are states (corrected), by index.
  MomentWriter(OnlineForms &forms, OpBuilder &builder,
               std::map<std::pair<void *, MomentIndex>, Value> states)
      : forms(forms), builder(builder), known(std::move(states)) {}
  /// `value` with each of its forms in the power that `index` says; null where it can't be.
  Value write(Value value, const MomentIndex &index);

private:
  friend class ScalarMomentWriter;
  OnlineForms &forms;
  OpBuilder &builder;
  std::map<std::pair<void *, MomentIndex>, Value> known;
};

/// Two partial states joined by the operation `fold`.
Value joinStates(CorrectionBuilder &make, Operation *fold, Value a, Value b);

/// Replaces what a centre of 1 makes trivial, and erases what nothing uses.
void simplifyOnes(Block &body);

/// Whether a state's last plane must still be corrected to be what the program asks for.
bool hasResidual(const OnlineGroup &group, const OnlinePlan &plan, const StatePlan &state);

} // namespace mlir::etdg::online

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEBODY_H
