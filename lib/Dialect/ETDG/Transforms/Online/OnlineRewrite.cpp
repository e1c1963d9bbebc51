//===- OnlineRewrite.cpp - put a merged reduction into the graph ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The merged block stands where the last member stood; what reads its results
// and stood before moves after it. What is left of a correction (the division by
// a sum, the step from a running mean to the mean asked for) goes into the only
// reader of the last plane where it can, else into a block of its own.
//
//===----------------------------------------------------------------------===//
#include "OnlineRewrite.h"
#include "OnlineBody.h"
#include "OnlineWiden.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

bool online::hasResidual(const OnlineGroup &group, const OnlinePlan &plan, const StatePlan &state) {
  if (state.law == StatePlan::Square || state.law == StatePlan::Moments)
    return true;
  return state.law == StatePlan::Factor && llvm::any_of(state.terms, [&](const FactorTerm &term) {
           return !isAtCentre(group, plan, term);
         });
}

/// Everything of a block that can be built again. Maps and sets keep the block's symbols.
static BlockBuilder toBuilder(BlockOp block) {
  BlockBuilder builder;
  builder.name = block.getBlockName().value_or("").str();
  for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
    builder.operators.push_back(block.getOperator(d));
  builder.dims = block.getDimNames();
  builder.numAncestors = block.getNumAncestors();
  builder.symbols = block.getSymbolNames();
  builder.domain = block.getDomainSet();
  builder.buffers = llvm::to_vector(block.getBuffers());
  builder.reads = llvm::to_vector(block.getReads().getAsRange<ReadAttr>());
  builder.writes = llvm::to_vector(block.getWrites().getAsRange<WriteAttr>());
  builder.identity = llvm::to_vector(block.getIdentity().getAsRange<ReadAttr>());
  return builder;
}

/// Gives all sets and maps of a builder more symbols.
static void setSymbols(BlockBuilder &builder, BlockOp block, ArrayRef<StringAttr> symbols,
                       const OnlineGroup &group) {
  builder.symbols.assign(symbols.begin(), symbols.end());
  builder.domain = alignSet(builder.domain, block, symbols);
  BlockBuilder imported;
  for (auto *reads : {&builder.reads, &builder.identity})
    for (ReadAttr &read : *reads) {
      imported.buffers = builder.buffers;
      read = importRead(imported, group, block, read);
    }
  for (WriteAttr &write : builder.writes)
    write = WriteAttr::get(write.getContext(), write.getOperand(),
                           AffineMapAttr::get(alignMap(write.getMap().getValue(), block, symbols)));
}

/// Replaces a leaf by one with the builder's attributes; its regions move over.
static BlockOp rebuild(BlockBuilder &builder, BlockOp block) {
  OpBuilder at(block);
  BlockOp made = builder.build(at, block.getLoc(), {});
  made.getBody().takeBody(block.getBody());
  made.getCombine().takeBody(block.getCombine());
  if (ScheduleAttr schedule = block.getScheduleAttr())
    made.setScheduleAttr(schedule);
  for (NamedAttribute attr : block->getDiscardableAttrs())
    made->setDiscardableAttr(attr.getName(), attr.getValue());
  block.erase();
  return made;
}

namespace {
using Key = std::pair<unsigned, unsigned>;

class Rewriter {
public:
  Rewriter(OnlineGroup &group, const OnlinePlan &plan, const GraphAccesses &accesses)
      : group(group), plan(plan), accesses(accesses), writer(group, plan) {}
  RewriteResult run();

private:
  BlockOp member(unsigned m) { return group.members[m].block; }
  Value bufferOf(Key key) {
    return member(key.first).getBuffers()[member(key.first).getWrite(key.second).getOperand()];
  }
  AffineMap writeMapOf(Key key) {
    return alignMap(member(key.first).getWrite(key.second).getMap().getValue(), member(key.first),
                    group.symbols);
  }
  bool isReadElsewhere(Key key);
  BlockOp build();
  void undo();
  void moveReaders(BlockOp merged);
  SmallVector<AffineExpr> bindPlane(Key key, AffineMap map);
  void redirect(BlockOp reader, Key key, Value buffer, Value final);
  void finish(const StatePlan &state);
  void eraseUnread();
  struct Source {
    Value buffer;
    AffineMap map;
    RankedTensorType type;
    double neutral;
  };
  SmallVector<Source> getSources(const StatePlan &state);
  Value writeResidual(OpBuilder &builder, Location loc, const StatePlan &state, Value value,
                      ArrayRef<Value> sources);
  void finishInside(const StatePlan &state, BlockOp reader, unsigned read);
  Value finishOutside(const StatePlan &state);

  OnlineGroup &group;
  const OnlinePlan &plan;
  const GraphAccesses &accesses;
  BodyWriter writer;
  /// What the plan's lambdas need once the members are gone.
  llvm::DenseMap<Key, Value> stateBuffers, finals;
  llvm::DenseMap<Key, AffineMap> stateMaps, finalMaps;
  /// The element types that the program declares.
  llvm::DenseMap<Key, RankedTensorType> declared;
  struct ParameterSource {
    Value buffer;
    AffineMap map;
  };
  SmallVector<ParameterSource> parameterSources;
  unsigned numAncestors = 0;
  SmallVector<StringAttr> dims;
  IntegerSet domain;
  RewriteResult result;
};
} // namespace

/// Whether anything but the members reads what a member writes, or it is a result.
bool Rewriter::isReadElsewhere(Key key) {
  Value buffer = bufferOf(key);
  for (Operation *user : buffer.getUsers())
    if (isa<ReturnOp>(user))
      return true;
  for (const Access &access : accesses.getReads(buffer)) {
    bool inside = false;
    for (unsigned m : plan.members)
      inside |= group.members[m].block == access.block && !plan.repeated.contains(m) &&
                access.kind == Access::Read &&
                group.members[m].reads[access.index].kind == ReadRole::Internal;
    if (!inside)
      return true;
  }
  return false;
}

/// Takes back the buffers that the writer has made or changed.
void Rewriter::undo() {
  writer.body.reset();
  for (const StatePlan &state : plan.states) {
    Key key{state.member, state.write};
    auto type = cast<BufferType>(stateBuffers.lookup(key).getType());
    stateBuffers[key].setType(
        BufferType::get(type.getContext(), type.getLengths(), declared.lookup(key)));
    for (auto *buffers : {&writer.weightBuffers, &writer.meanBuffers})
      if (Value buffer = buffers->lookup(key))
        buffer.getDefiningOp()->erase();
  }
  for (auto &[moment, buffer] : writer.momentBuffers)
    buffer.getDefiningOp()->erase();
  for (auto &[parameter, buffer] : writer.centreBuffers)
    buffer.first.getDefiningOp()->erase();
}

BlockOp Rewriter::build() {
  unsigned last = *std::max_element(plan.members.begin(), plan.members.end());
  BlockOp place = member(last);
  BlockBuilder spec;
  spec.name = place.getBlockName().value_or("").str();
  for (unsigned d = 0; d + 1 < place.getNumOwnDims(); ++d)
    spec.operators.push_back(ft::OperatorKind::Map);
  spec.operators.push_back(ft::OperatorKind::Reduce);
  spec.dims = dims = place.getDimNames();
  spec.numAncestors = numAncestors = place.getNumAncestors();
  spec.symbols = group.symbols;
  spec.domain = domain = alignSet(place.getDomainSet(), place, group.symbols);

  SmallVector<Key> kept;
  for (unsigned m : plan.members)
    for (unsigned w = 0; w < member(m).getNumWrites(); ++w)
      if (!group.members[m].isState(w) && !plan.repeated.contains(m) && isReadElsewhere({m, w}))
        kept.push_back({m, w});

  OpBuilder bufferBuilder(group.body, group.body->begin());
  writer.write(spec, kept, place.getLoc(), bufferBuilder);
  Region combine;
  if (writer.failed) {
    undo();
    return {};
  }
  result.hasCombine = writer.writeCombine(spec, combine, place.getLoc());
  if (!result.hasCombine) {
    result.whyOrdered = writer.readsScale() ? "a 'combine' reads nothing, and what scales an exponent is read"
                                            : "no identity, or no way to join some state";
    combine.getBlocks().clear();
    spec.identity.clear();
    spec.operators.back() = ft::OperatorKind::FoldL;
  } else {
    bool allReduce = true;
    for (unsigned m : plan.members)
      if (group.members[m].isReduction)
        allReduce &=
            member(m).getOperator(member(m).getNumOwnDims() - 1) == ft::OperatorKind::Reduce;
    if (!allReduce)
      spec.operators.back() = ft::OperatorKind::Fold;
  }
  // Reads that nothing uses any more.
  Block &body = writer.body->front();
  for (unsigned i = body.getNumArguments(); i-- > 0;)
    if (body.getArgument(i).use_empty()) {
      body.eraseArgument(i);
      spec.reads.erase(spec.reads.begin() + i);
    }
  OpBuilder builder(place);
  BlockOp merged = spec.build(builder, place.getLoc(), {});
  merged.getBody().takeBody(*writer.body);
  if (result.hasCombine)
    merged.getCombine().takeBody(combine);
  // What several members computed is computed once.
  IRRewriter rewriter(merged.getContext());
  DominanceInfo dominance(merged);
  eliminateCommonSubExpressions(rewriter, dominance, merged);
  return merged;
}

/// Blocks that read results of the merged block and stand before it move after it, in order.
void Rewriter::moveReaders(BlockOp merged) {
  llvm::SmallDenseSet<Value> late;
  for (WriteAttr write : merged.getWrites().getAsRange<WriteAttr>())
    late.insert(merged.getBuffers()[write.getOperand()]);
  Operation *behind = merged;
  for (Operation &op : llvm::make_early_inc_range(*group.body)) {
    if (&op == merged)
      break;
    bool depends = false;
    op.walk([&](BlockOp block) {
      for (Value buffer : block.getBuffers())
        depends |= late.contains(buffer);
    });
    if (!depends)
      continue;
    op.walk([&](BlockOp block) {
      for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
        late.insert(block.getBuffers()[write.getOperand()]);
    });
    op.moveAfter(behind);
    behind = &op;
  }
}

/// What a residual reads besides the state: maps range over ancestors and the group's map
/// dimensions.
SmallVector<Rewriter::Source> Rewriter::getSources(const StatePlan &state) {
  SmallVector<Source> sources;
  auto drop = [&](AffineMap map) {
    return AffineMap::get(group.numDims - 1, group.symbols.size(), map.getResults(),
                          map.getContext());
  };
  auto plane = [&](Key key, Value buffer) {
    return std::pair(buffer, drop(atPlane(stateMaps.lookup(key), group.numDims, group.last)));
  };
  auto elementOf = [](Value buffer) {
    return cast<RankedTensorType>(cast<BufferType>(buffer.getType()).getElement());
  };
  auto addParameter = [&](unsigned p, double neutral) {
    const Parameter &parameter = group.parameters[p];
    if (parameter.lastPlane) {
      // A sum that is only rounded in the end is read as it is.
      const StatePlan *source =
          plan.getState(parameter.lastPlane->first, parameter.lastPlane->second);
      bool isExact = source && source->wide && !hasResidual(group, plan, *source);
      if (Value final = finals.lookup(*parameter.lastPlane); final && !isExact) {
        sources.push_back({final, finalMaps.lookup(*parameter.lastPlane), parameter.type, neutral});
        return;
      }
      if (Value buffer = stateBuffers.lookup(*parameter.lastPlane)) {
        auto [b, map] = plane(*parameter.lastPlane, buffer);
        sources.push_back({b, map, elementOf(b), neutral});
        return;
      }
    }
    sources.push_back(
        {parameterSources[p].buffer, drop(parameterSources[p].map), parameter.type, neutral});
  };
  Key key{state.member, state.write};
  if (state.law == StatePlan::Moments) {
    std::vector<MomentIndex> moments = state.getMoments();
    for (const MomentIndex &index : ArrayRef(moments).drop_back()) {
      auto [b, map] = plane(key, writer.momentBuffers.at({key.first, key.second, index}));
      sources.push_back({b, map, elementOf(b), 0});
    }
    for (const ShiftTerm &shift : state.shifts)
      for (const ShiftTerm::Part &part : shift.parts) {
        const Centre &centre = plan.centres[part.parameter];
        if (isAtCentre(group, plan, {part.parameter, {}}))
          continue;
        if (part.isLogarithm) {
          addParameter(part.parameter, 1);
          continue;
        }
        Key at{centre.member, centre.write};
        Value buffer =
            centre.kind == Centre::Mean ? writer.meanBuffers.lookup(at) : stateBuffers.lookup(at);
        if (centre.kind == Centre::Value)
          std::tie(buffer, at) = writer.centreBuffers.at(part.parameter);
        auto [b, map] = plane(at, buffer);
        sources.push_back({b, map, elementOf(b), 0});
        addParameter(part.parameter, 0);
      }
  }
  if (state.law == StatePlan::Square) {
    for (Value buffer : {writer.weightBuffers[key], writer.meanBuffers[key]}) {
      auto [b, map] = plane(key, buffer);
      sources.push_back({b, map, elementOf(b), 0});
    }
    addParameter(state.parameter, 0);
    return sources;
  }
  for (const FactorTerm &term : state.terms) {
    if (isAtCentre(group, plan, term))
      continue;
    addParameter(term.parameter, term.power ? 1 : 0);
    const Centre &centre = plan.centres[term.parameter];
    if (!term.power) {
      auto [b, map] =
          plane({centre.member, centre.write}, stateBuffers.lookup({centre.member, centre.write}));
      sources.push_back({b, map, elementOf(b), 0});
    }
  }
  return sources;
}

Value Rewriter::writeResidual(OpBuilder &builder, Location loc, const StatePlan &state, Value value,
                              ArrayRef<Value> sources) {
  CorrectionBuilder make{builder, loc};
  auto type = cast<RankedTensorType>(value.getType());
  auto finish = [&](Value result) {
    return make.widen(result, declared.lookup({state.member, state.write}));
  };
  SmallVector<Value> wide;
  for (Value source : sources)
    wide.push_back(make.widen(source, type));
  sources = wide;
  if (state.law == StatePlan::Square)
    return finish(make.addSquares(value, state.coefficient, sources[0], sources[1], sources[2]));
  if (state.law == StatePlan::Moments) {
    // From where the terms stand to where the program wants them, then the factors.
    std::vector<MomentIndex> indices = state.getMoments();
    std::map<MomentIndex, Value> moments{{indices.back(), value}};
    for (const MomentIndex &index : ArrayRef(indices).drop_back()) {
      moments[index] = sources.front();
      sources = sources.drop_front();
    }
    SmallVector<Value> shifts;
    for (const ShiftTerm &shift : state.shifts) {
      Value sum;
      for (const ShiftTerm::Part &part : shift.parts) {
        if (isAtCentre(group, plan, {part.parameter, {}}))
          continue;
        Value step;
        if (part.isLogarithm) {
          step = math::LogOp::create(builder, loc, sources[0]);
          sources = sources.drop_front(1);
        } else {
          step = arith::SubFOp::create(builder, loc, sources[1], sources[0]);
          sources = sources.drop_front(2);
        }
        step = arith::MulFOp::create(
            builder, loc, step,
            make.splat(cast<RankedTensorType>(step.getType()), part.coefficient));
        step = make.broadcast(step, part.dims, type);
        sum = sum ? arith::AddFOp::create(builder, loc, sum, step).getResult() : step;
      }
      shifts.push_back(sum);
    }
    value = shiftMoment(make, indices.back(), shifts,
                        [&](const MomentIndex &index) { return moments.at(index); });
  }
  for (const FactorTerm &term : state.terms) {
    if (isAtCentre(group, plan, term))
      continue;
    Value parameter = sources.front();
    sources = sources.drop_front();
    if (term.power) {
      Value factor = make.broadcast(parameter, term.dims, type);
      value = term.power > 0 ? arith::MulFOp::create(builder, loc, value, factor).getResult()
                             : arith::DivFOp::create(builder, loc, value, factor).getResult();
      continue;
    }
    Value centre = sources.front();
    sources = sources.drop_front();
    Value factor = make.expDifference(term.exponent, centre, parameter);
    value = arith::MulFOp::create(builder, loc, value, make.broadcast(factor, term.dims, type));
  }
  return finish(value);
}

/// The residual at the beginning of the only reader's body.
void Rewriter::finishInside(const StatePlan &state, BlockOp reader, unsigned read) {
  SmallVector<Source> sources = getSources(state);
  Value buffer = stateBuffers.lookup({state.member, state.write});
  BlockBuilder spec = toBuilder(reader);
  setSymbols(spec, reader, group.symbols, group);
  SmallVector<Value> arguments;
  Block &body = reader.getBody().front();
  for (const Source &source : sources) {
    SmallVector<PieceAttr> pieces;
    for (PieceAttr piece : spec.reads[read].getPieces()) {
      // Where the state is not read (the length is 0), nothing is to be corrected.
      bool isPlane =
          piece.getKind() == SourceKind::Buffer && spec.buffers[piece.getOperand()] == buffer;
      TypedAttr neutral = FloatAttr::get(source.type.getElementType(), source.neutral);
      pieces.push_back(isPlane ? PieceAttr::getBuffer(piece.getSet().getValue(),
                                                      spec.operandFor(source.buffer), source.map)
                               : PieceAttr::getSplat(piece.getSet().getValue(), neutral));
    }
    spec.reads.push_back(ReadAttr::get(reader.getContext(), pieces, 0));
    arguments.push_back(body.addArgument(source.type, reader.getLoc()));
  }
  OpBuilder builder(&body, body.begin());
  Value old = body.getArgument(read);
  if (state.wide) {
    old.setType(cast<RankedTensorType>(old.getType()).clone(state.wide));
    spec.reads[read] = widenRead(spec.reads[read], state.wide);
  }
  Value corrected = writeResidual(builder, reader.getLoc(), state, old, arguments);
  llvm::SmallPtrSet<Operation *, 8> mine;
  for (Operation &op : body) {
    if (Operation *def = corrected.getDefiningOp(); def && !mine.contains(def))
      mine.insert(&op);
    else
      break;
  }
  old.replaceUsesWithIf(corrected, [&](OpOperand &use) { return !mine.contains(use.getOwner()); });
  rebuild(spec, reader);
}

/// The residual in a block of its own; returns its buffer.
Value Rewriter::finishOutside(const StatePlan &state) {
  Key key{state.member, state.write};
  MLIRContext *context = group.body->getParentOp()->getContext();
  Value buffer = stateBuffers.lookup(key);
  auto type = cast<BufferType>(buffer.getType());
  AffineMap written = stateMaps.lookup(key);
  unsigned numDims = group.numDims - 1, numSymbols = group.symbols.size();

  // One index for each map dimension of the group.
  SmallVector<ft::LengthAttr> lengths;
  SmallVector<AffineExpr> index;
  for (unsigned d = numAncestors; d < numDims; ++d)
    for (auto [p, expr] : llvm::enumerate(written.getResults()))
      if (expr == getAffineDimExpr(d, context)) {
        lengths.push_back(type.getLengths()[p]);
        index.push_back(expr);
        break;
      }
  Location loc = buffer.getLoc();
  OpBuilder buffers(group.body, group.body->begin());
  Value final =
      BufferOp::create(buffers, loc, BufferType::get(context, lengths, declared.lookup(key)),
                       DenseI64ArrayAttr(), StringAttr());
  AffineMap finalMap = AffineMap::get(numDims, numSymbols, index, context);

  // After everything that it reads: what reads the state stood after that, too.
  SmallVector<Source> sources = getSources(state);
  Operation *behind = result.merged;
  for (const Source &source : sources)
    for (Operation *user : source.buffer.getUsers()) {
      auto block = dyn_cast<BlockOp>(user);
      Operation *item = block ? getItem(group.body, block) : nullptr;
      if (item && behind->isBeforeInBlock(item) &&
          llvm::any_of(block.getWrites().getAsRange<WriteAttr>(), [&](WriteAttr write) {
            return block.getBuffers()[write.getOperand()] == source.buffer;
          }))
        behind = item;
    }
  OpBuilder at(group.body, std::next(Block::iterator(behind)));
  BlockBuilder spec;
  spec.name = "online";
  spec.dims.assign(dims.begin(), dims.end() - 1);
  spec.numAncestors = numAncestors;
  spec.symbols = group.symbols;
  spec.operators.assign(numDims - numAncestors, ft::OperatorKind::Map);
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> eqs;
  for (auto [constraint, isEq] : llvm::zip(domain.getConstraints(), domain.getEqFlags()))
    if (!constraint.isFunctionOfDim(numDims)) {
      constraints.push_back(constraint);
      eqs.push_back(isEq);
    }
  constraints.push_back(group.last - group.first);
  eqs.push_back(false);
  spec.domain = canonicalizeSet(IntegerSet::get(numDims, numSymbols, constraints, eqs));
  IntegerSet all = getUniverse(context, numDims, numSymbols);
  SmallVector<Type> types{type.getElement()};
  AffineMap plane = AffineMap::get(
      numDims, numSymbols, atPlane(written, group.numDims, group.last).getResults(), context);
  spec.reads.push_back(
      ReadAttr::get(context, PieceAttr::getBuffer(all, spec.operandFor(buffer), plane), 0));
  for (const Source &source : sources) {
    spec.reads.push_back(ReadAttr::get(
        context, PieceAttr::getBuffer(all, spec.operandFor(source.buffer), source.map), 0));
    types.push_back(source.type);
  }
  spec.writes.push_back(
      WriteAttr::get(context, spec.operandFor(final), AffineMapAttr::get(finalMap)));
  BlockOp made = spec.build(at, loc, types);
  OpBuilder inside = OpBuilder::atBlockEnd(&made.getBody().front());
  SmallVector<Value> arguments(made.getBody().getArguments().drop_front());
  Value value = writeResidual(inside, loc, state, made.getBody().getArgument(0), arguments);
  YieldOp::create(inside, loc, value);
  finals[key] = final;
  finalMaps[key] = finalMap;
  return final;
}

/// The group's own map dimensions over those of a reader: each is an index of the last plane.
SmallVector<AffineExpr> Rewriter::bindPlane(Key key, AffineMap map) {
  SmallVector<AffineExpr> own(group.numDims);
  for (auto [w, e] : llvm::zip(stateMaps.lookup(key).getResults(), map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(w);
        dim && dim.getPosition() >= numAncestors && dim.getPosition() + 1 < group.numDims)
      own[dim.getPosition()] = e;
  return SmallVector<AffineExpr>(own.begin() + numAncestors, own.end() - 1);
}

/// A reader of the state's last plane reads what the corrected one became.
void Rewriter::redirect(BlockOp reader, Key key, Value buffer, Value final) {
  BlockBuilder spec = toBuilder(reader);
  setSymbols(spec, reader, group.symbols, group);
  for (ReadAttr &read : spec.reads) {
    SmallVector<PieceAttr> pieces;
    for (PieceAttr piece : read.getPieces()) {
      if (piece.getKind() != SourceKind::Buffer || spec.buffers[piece.getOperand()] != buffer) {
        pieces.push_back(piece);
        continue;
      }
      unsigned readerDims = piece.getMap().getValue().getNumDims();
      AffineMap map = AffineMap::get(readerDims, group.symbols.size(),
                                     bindPlane(key, piece.getMap().getValue()), reader.getContext());
      pieces.push_back(
          PieceAttr::getBuffer(piece.getSet().getValue(), spec.operandFor(final), map));
    }
    read = ReadAttr::get(reader.getContext(), pieces, read.getElementRank());
  }
  rebuild(spec, reader);
}

/// Corrects what reads the last plane of a state.
void Rewriter::finish(const StatePlan &state) {
  bool corrects = hasResidual(group, plan, state);
  if (!corrects && !state.wide)
    return;
  Key key{state.member, state.write};
  Value buffer = stateBuffers.lookup(key);
  // Who reads it now, apart from the merged block itself.
  struct Use {
    BlockOp block;
    unsigned read;
    SmallVector<AffineExpr> bindings;
  };
  SmallVector<Use> uses;
  SmallVector<BlockOp> readers;
  for (Operation *user : llvm::make_early_inc_range(buffer.getUsers())) {
    auto block = dyn_cast<BlockOp>(user);
    if (!block || block == result.merged || llvm::is_contained(readers, block))
      continue;
    for (unsigned r = 0; r < block.getNumReads(); ++r)
      for (PieceAttr piece : block.getRead(r).getPieces()) {
        if (piece.getKind() != SourceKind::Buffer ||
            block.getBuffers()[piece.getOperand()] != buffer)
          continue;
        uses.push_back({block, r, bindPlane(key, alignMap(piece.getMap().getValue(), block, group.symbols))});
        if (!llvm::is_contained(readers, block))
          readers.push_back(block);
      }
  }
  bool isParameter = llvm::any_of(llvm::enumerate(group.parameters), [&](auto parameter) {
    return parameter.value().lastPlane == key &&
           plan.centres[parameter.index()].kind != Centre::None;
  });
  if (uses.empty()) {
    if (isParameter && corrects)
      finishOutside(state);
    return;
  }
  const Use &only = uses.front();
  bool inside = uses.size() == 1 && !isParameter && BlockOp(only.block)->getBlock() == group.body &&
                BlockOp(only.block).getNumOwnDims() + 1 == group.numDims - numAncestors &&
                !BlockOp(only.block).getRead(only.read).getElementRank();
  // Numbers of one width: what else it reads there must be constants.
  for (PieceAttr piece : BlockOp(only.block).getRead(only.read).getPieces())
    inside &= !state.wide || piece.getKind() == SourceKind::Splat ||
              (piece.getKind() == SourceKind::Buffer &&
               BlockOp(only.block).getBuffers()[piece.getOperand()] == buffer);
  for (auto [d, binding] : llvm::enumerate(only.bindings))
    inside &= binding == getAffineDimExpr(numAncestors + d, binding.getContext());
  // More than one piece may read the state; only the last plane is left.
  if (inside) {
    finishInside(state, only.block, only.read);
    return;
  }
  Value final = finishOutside(state);
  for (BlockOp reader : readers)
    redirect(reader, key, buffer, final);
}

/// Blocks that made parameters which nothing asks for any more.
void Rewriter::eraseUnread() {
  for (bool changed = true; std::exchange(changed, false);)
    for (const ParameterSource &source : parameterSources) {
      Value buffer = source.buffer;
      if (!buffer || buffer.use_empty() || !buffer.hasOneUse())
        continue;
      auto block = dyn_cast<BlockOp>(*buffer.getUsers().begin());
      if (!block || block == result.merged || !block.isLeaf() || block.getNumWrites() != 1 ||
          block.getBuffers()[block.getWrite(0).getOperand()] != buffer || block.getNest())
        continue;
      block.erase();
      buffer.getDefiningOp()->erase();
      ++result.numErased;
      for (ParameterSource &other : parameterSources)
        if (other.buffer == buffer)
          other.buffer = Value();
      changed = true;
      break;
    }
}

RewriteResult Rewriter::run() {
  // The members go; what is needed of them is noted first.
  for (const StatePlan &state : plan.states) {
    Key key{state.member, state.write};
    stateBuffers[key] = bufferOf(key);
    stateMaps[key] = writeMapOf(key);
    declared[key] =
        cast<RankedTensorType>(cast<BufferType>(stateBuffers[key].getType()).getElement());
  }
  for (const Parameter &parameter : group.parameters) {
    BlockOp reader = parameter.reader;
    PieceAttr piece = reader.getRead(parameter.read).getPieces()[parameter.piece];
    parameterSources.push_back({reader.getBuffers()[piece.getOperand()],
                                alignMap(piece.getMap().getValue(), reader, group.symbols)});
  }
  llvm::SmallSetVector<Value, 8> written;
  for (unsigned m : plan.members)
    for (WriteAttr write : member(m).getWrites().getAsRange<WriteAttr>())
      written.insert(member(m).getBuffers()[write.getOperand()]);

  result.merged = build();
  if (!result.merged)
    return result;
  result.numBlocks = plan.members.size();
  result.numStates = 0;
  for (const StatePlan &state : plan.states)
    result.numStates += state.law == StatePlan::Square  ? 3
                        : state.law == StatePlan::Apart ? 2
                                                        : state.getMoments().size();
  result.numStates += writer.centreBuffers.size();
  for (unsigned m : plan.members)
    if (!plan.repeated.contains(m))
      member(m).erase();
  result.numRepeated = plan.repeated.size();
  // New buffers stand first; others that the block uses may stand after it no more than before.
  moveReaders(result.merged);
  for (const StatePlan &state : plan.states)
    finish(state);
  eraseUnread();
  for (Value buffer : written)
    if (buffer.use_empty()) {
      buffer.getDefiningOp()->erase();
      ++result.numErased;
    }
  return result;
}

RewriteResult online::applyPlan(OnlineGroup &group, const OnlinePlan &plan, const GraphAccesses &accesses) {
  return Rewriter(group, plan, accesses).run();
}
