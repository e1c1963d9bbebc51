//===- Nests.cpp - compute operators to nests of blocks -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FT §4.4: a perfect nest of compute operators is one iteration vector. Scans
// split at their first `lag` iterations; `fold` and `reduce` stay one block whose
// state read has two pieces. What is not perfect becomes a graph block.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toetdg;

Context Context::asAncestors() const {
  Context result;
  result.dims = dims;
  result.numAncestors = dims.size();
  result.ancestors = ancestors;
  result.ancestors.append(domain.begin(), domain.end());
  return result;
}

SmallVector<Value> Converter::terminatorOperands(Block &body) {
  return llvm::to_vector(body.getTerminator()->getOperands());
}

//===----------------------------------------------------------------------===//
// Destinations
//===----------------------------------------------------------------------===//

/// Whether a yielded result of `op` can be written where the parent wants it: a
/// fold's final state can't, it is the last of its planes.
static bool isWritable(OpResult result) {
  auto compute = dyn_cast<ComputeOp>(result.getOwner());
  if (!compute)
    return true;
  return compute.isMap() || compute.isScan() || result.getResultNumber() >= compute.getNumStates();
}

void Converter::planDest(Block &body, MemberRef source, Dest dest, Dests &dests, SmallVectorImpl<CopyRequest> &copies) {
  Operation *def = source.value.getDefiningOp();
  auto copy = [&] { copies.push_back({source, dest}); };
  if (!def || def->getBlock() != &body || dests.count(source))
    return copy();
  auto substituted = [&](ArrayRef<AffineExpr> dims) {
    Dest result{dest.buffer, {}};
    for (AffineExpr e : dest.results)
      result.results.push_back(substitute(names, e, dims));
    return result;
  };
  SmallVector<AffineExpr> identity;
  for (unsigned d = 0; d < 17; ++d)
    identity.push_back(names.viewDim(d));

  if (isa<ComputeOp>(def) || isTensorStatement(def)) {
    if (isa<ComputeOp>(def) ? !isWritable(cast<OpResult>(source.value)) : isRepeatable(def))
      return copy();
    dests[source] = dest;
    return;
  }
  // Injective rearrangements of fresh results go into the producers' write maps.
  if (auto concat = dyn_cast<ConcatOp>(def)) {
    AffineExpr offset = names.constant(0);
    for (Value input : concat.getInputs()) {
      identity[0] = names.viewDim(0) + offset;
      planDest(body, {input, source.member}, substituted(identity), dests, copies);
      offset = offset + names.length(cast<ListType>(input.getType()).getLength());
    }
    return;
  }
  if (auto reverse = dyn_cast<ReverseOp>(def)) {
    identity[0] = names.length(cast<ListType>(reverse.getInput().getType()).getLength()) - 1 - names.viewDim(0);
    return planDest(body, {reverse.getInput(), source.member}, substituted(identity), dests, copies);
  }
  if (auto transpose = dyn_cast<TransposeOp>(def)) {
    // Result dimension d is input dimension permutation[d].
    for (auto [d, from] : llvm::enumerate(transpose.getPermutation()))
      identity[d] = names.viewDim(from);
    return planDest(body, {transpose.getInput(), source.member}, substituted(identity), dests, copies);
  }
  if (auto cast = dyn_cast<CastOp>(def))
    return planDest(body, {cast.getInput(), source.member}, dest, dests, copies);
  copy();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static LogicalResult refuse(Operation *op) {
  return op->emitError() << "'" << op->getName()
                         << "' has no place in a graph: expected tensor operations, compute and access operators";
}

LogicalResult Converter::lowerAccess(Operation *op, const Context *copiesAllowed, bool &needsCopy) {
  // Copies serve this operator alone: the operand may belong to a region further
  // out, where the copy's buffer is not.
  std::map<unsigned, std::vector<View>> copies;
  auto views = [&](Value v) -> ArrayRef<View> {
    for (auto &[operand, copied] : copies)
      if (op->getOperand(operand) == v)
        return copied;
    return viewsOf(v);
  };
  for (;;) {
    std::vector<View> result;
    unsigned copyOperand = 0;
    switch (computeAccess(names, op, views, result, copyOperand)) {
    case AccessStatus::Failed:
      return failure();
    case AccessStatus::Ok:
      environment[op->getResult(0)] = std::move(result);
      return success();
    case AccessStatus::NeedsCopy:
      if (!copiesAllowed) {
        needsCopy = true;
        return success();
      }
      // The operand gets a buffer of its own, and the operator another try.
      std::vector<View> copied;
      for (const View &view : std::vector<View>(views(op->getOperand(copyOperand)))) {
        Value buffer = createBuffer(op->getLoc(), view.lengths, view.element);
        Dest dest{buffer, {}};
        for (unsigned d = 0; d < view.depth(); ++d)
          dest.results.push_back(names.viewDim(d));
        if (failed(emitCopy(op->getLoc(), *copiesAllowed, view, dest, "gathered elements or indices are no plain list")))
          return failure();
        copied.push_back(bufferView(buffer, {view.lengths, view.element}));
      }
      copies[copyOperand] = std::move(copied);
    }
  }
}

LogicalResult Converter::lowerBody(Block &body, const Context &context, ArrayRef<Dest> yields) {
  Dests dests;
  SmallVector<CopyRequest> copies;
  unsigned next = 0;
  for (Value operand : terminatorOperands(body)) {
    SmallVector<Member> members;
    flattenType(operand.getType(), members);
    for (unsigned m = 0; m < members.size(); ++m)
      planDest(body, {operand, m}, yields[next++], dests, copies);
  }

  SmallVector<Operation *> run;
  // Results of access operators that read the current run: a statement that
  // uses one belongs to the next run.
  DenseSet<Value> derived;
  DenseSet<Operation *> inRun;
  auto flush = [&]() -> LogicalResult {
    if (run.empty())
      return success();
    SmallVector<Operation *> now;
    std::swap(now, run);
    derived.clear();
    inRun.clear();
    return lowerRun(now, context, dests);
  };
  auto usesAny = [&](Operation *op, llvm::function_ref<bool(Value)> test) {
    bool found = false;
    op->walk([&](Operation *inner) {
      for (Value v : inner->getOperands())
        found |= test(v);
    });
    return found;
  };
  auto isFromRun = [&](Value v) { return v.getDefiningOp() && inRun.contains(v.getDefiningOp()); };
  for (Operation &op : body.without_terminator()) {
    if (isRepeatable(&op))
      continue;
    if (isTensorStatement(&op)) {
      if (usesAny(&op, [&](Value v) { return derived.contains(v); }) && failed(flush()))
        return failure();
      run.push_back(&op);
      inRun.insert(&op);
      continue;
    }
    if (isAccessOp(&op)) {
      // An access operator of a value of the run needs the value's buffer.
      if (usesAny(&op, isFromRun) && failed(flush()))
        return failure();
      bool needsCopy = false;
      if (failed(lowerAccess(&op, &context, needsCopy)))
        return failure();
      continue;
    }
    auto compute = dyn_cast<ComputeOp>(&op);
    if (!compute)
      return refuse(&op);
    if (failed(flush()) || failed(lowerCompute(compute, context, dests)))
      return failure();
  }
  if (failed(flush()))
    return failure();
  for (const CopyRequest &request : copies) {
    const View view = viewsOf(request.source.value)[request.source.member];
    if (failed(emitCopy(request.source.value.getLoc(), context, view, request.dest,
                        "a yielded value that is not computed here")))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

LogicalResult Converter::lowerCompute(ComputeOp op, const Context &context, const Dests &dests) {
  // Every result has a place before the nest is built; its view is that place.
  SmallVector<Dest> results;
  SmallVector<etdg::BufferOp> planeBuffers;
  for (OpResult result : op->getResults()) {
    SmallVector<Member> members;
    flattenType(result.getType(), members);
    bool planes = op.isFold() && result.getResultNumber() < op.getNumStates();
    std::vector<View> views;
    for (auto [m, member] : llvm::enumerate(members)) {
      auto it = dests.find({result, static_cast<unsigned>(m)});
      Dest dest;
      if (it != dests.end()) {
        dest = it->second;
      } else {
        SmallVector<LengthAttr> lengths(member.lengths);
        SmallVector<int64_t> live;
        if (planes) {
          // The state of every iteration; only the last is needed between two, and
          // while a list is written element by element, the one before it.
          bool isList = !lengths.empty();
          lengths.insert(lengths.begin(), op.getLength());
          live.assign(lengths.size(), -1);
          live[0] = isList ? 2 : 1;
        }
        dest.buffer = createBuffer(op.getLoc(), lengths, member.element, live);
        if (planes)
          planeBuffers.push_back(dest.buffer.getDefiningOp<etdg::BufferOp>());
        for (unsigned d = 0; d < lengths.size(); ++d)
          dest.results.push_back(names.viewDim(d));
      }
      results.push_back(dest);
      if (planes)
        continue;
      View view;
      view.lengths = member.lengths;
      view.element = member.element;
      ViewPiece piece;
      piece.buffer = dest.buffer;
      piece.results = dest.results;
      view.pieces.push_back(piece);
      views.push_back(view);
    }
    if (!planes)
      environment[result] = std::move(views);
  }

  auto nest = etdg::NestOp::create(builder, op.getLoc(), etdg::ScheduleAttr());
  if (failed(fillNest(nest, op, context, results)))
    return failure();
  Block &block = nest.getBody().front();
  // A leaf reads all before it writes. The children of a graph block run one after
  // the other: one may read the plane before while another has written its own.
  bool hasChildren = false;
  nest.walk([&](etdg::BlockOp inner) { hasChildren |= inner->getParentOp() != nest; });
  if (hasChildren)
    for (etdg::BufferOp buffer : planeBuffers) {
      SmallVector<int64_t> live(*buffer.getLive());
      live[0] = 2;
      buffer.setLiveAttr(builder.getDenseI64ArrayAttr(live));
    }
  if (llvm::hasSingleElement(block)) {
    block.front().moveBefore(nest);
    nest.erase();
  } else if (block.empty()) {
    nest.erase(); // every region was empty: no iteration at any length
  }

  // A fold's result: its last plane, the initial state where there is none.
  unsigned next = 0;
  for (OpResult result : op->getResults()) {
    SmallVector<Member> members;
    flattenType(result.getType(), members);
    if (!(op.isFold() && result.getResultNumber() < op.getNumStates())) {
      next += members.size();
      continue;
    }
    AffineExpr n = names.length(op.getLength());
    std::vector<View> views;
    for (auto [m, member] : llvm::enumerate(members)) {
      View view;
      view.lengths = member.lengths;
      view.element = member.element;
      ViewPiece last;
      last.buffer = results[next].buffer;
      last.results = peel(names, results[next], n - 1).results;
      ++next;
      bool neverEmpty = system->isEmpty(0, {{-n}});
      if (!neverEmpty)
        last.constraints.push_back({n - 1});
      view.pieces.push_back(last);
      if (!neverEmpty) {
        Value init = op.getInits()[result.getResultNumber()];
        for (ViewPiece piece : viewsOf(init)[m].pieces) {
          piece.constraints.push_back({n, /*isEquality=*/true});
          view.pieces.push_back(piece);
        }
      }
      views.push_back(view);
    }
    environment[result] = std::move(views);
  }
  return success();
}

/// A scan's first regions read its initial state and the others what was written: where one needs a
/// copy for that, and with it children, and the other doesn't, the regions' dimensions differ. Then
/// both get children.
LogicalResult Converter::fillNest(etdg::NestOp nest, ComputeOp op, const Context &context, ArrayRef<Dest> results) {
  DenseMap<Operation *, unsigned> outer;
  std::swap(outer, howLowered);
  llvm::scope_exit restore([&] { howLowered = std::move(outer); });
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&nest.getBody());
  Operation *before = nest->getPrevNode();
  unsigned firstBlock = numBlocks;
  while (true) {
    howLowered.clear();
    builder.setInsertionPointToStart(block);
    if (failed(lowerNest(op, context, results)))
      return failure();
    auto blocks = block->getOps<etdg::BlockOp>();
    bool isUniform = llvm::all_of(
        blocks, [&](etdg::BlockOp inner) { return inner.getNumDims() == (*blocks.begin()).getNumDims(); });
    bool isNew = false;
    if (!isUniform)
      for (auto [inner, how] : howLowered)
        isNew |= how == 3 && asChildren.insert(inner).second;
    if (!isNew)
      return success();
    while (!block->empty())
      block->back().erase();
    // What was made for the blocks that are gone.
    for (Operation *made = nest->getPrevNode(); made != before;) {
      Operation *last = std::exchange(made, made->getPrevNode());
      if (isa<etdg::BufferOp>(last) && last->use_empty())
        last->erase();
    }
    numBlocks = firstBlock;
  }
}

/// What might have been cut at any iteration stays in order.
static void remarkOrdered(ComputeOp op, StringRef why) {
  remark::missed(op->getLoc(), remark::RemarkOpts::name("ordered").category("etdg").subCategory("convert-ft-to-etdg"))
      << remark::reason("'{0}' keeps its order: {1}", op->getName().getStringRef(), why);
}

bool Converter::canCombine(ComputeOp op) {
  if (!llvm::all_of(op.getStateArgs(), [](Value v) { return isa<RankedTensorType>(v.getType()); })) {
    remarkOrdered(op, "its states are lists, and a block's 'combine' joins tensors");
    return false;
  }
  llvm::SetVector<Operation *> constants;
  if (!collectCombineConstants(op, constants)) {
    remarkOrdered(op, "its 'combine' uses a value from outside that is no constant");
    return false;
  }
  return true;
}

bool Converter::neverRuns(const Context &context) {
  SmallVector<Constraint> all(context.ancestors);
  all.append(context.domain.begin(), context.domain.end());
  return system->isEmpty(context.numDims(), all);
}

LogicalResult Converter::lowerNest(ComputeOp op, const Context &outer, ArrayRef<Dest> results) {
  AffineExpr n = names.length(op.getLength());
  if (!n.isPureAffine())
    return op.emitError() << "traverses a list of length " << op.getLength().str()
                          << ": a product of lengths is not affine; make one of them a constant, or traverse the list "
                             "before it is flattened";
  Context context = outer;
  AffineExpr t = getAffineDimExpr(context.numDims(), names.context);
  context.dims.push_back(graphwriter::freshDim(outer.dims, names.names, names.context));
  OperatorKind kind = op.getKind();
  // Right forms traverse the mirrored list from the left.
  AffineExpr element = op.isRight() ? n - 1 - t : t;
  if (kind == OperatorKind::ScanR)
    kind = OperatorKind::ScanL;
  if (kind == OperatorKind::FoldR)
    kind = OperatorKind::FoldL;
  bool combines = op.getCombineOrNull() && canCombine(op);
  if (op.getCombineOrNull() && !combines)
    kind = op.isScan() ? OperatorKind::ScanL : OperatorKind::FoldL;
  if (combines && context.combining) {
    // A block has one combine region, its innermost: the outer scan stays in order.
    bool anyScan = false;
    for (OperatorKind &k : context.operators)
      if (k == OperatorKind::Scan) {
        k = OperatorKind::ScanL;
        anyScan = true;
      }
    if (anyScan)
      remarkOrdered(context.combining, "a block has one 'combine', that of its innermost dimension");
  }
  if (combines)
    context.combining = op;
  context.operators.push_back(kind);

  for (auto [list, argument] : llvm::zip_equal(op.getLists(), op.getElementArgs())) {
    std::vector<View> peeled;
    for (const View &view : viewsOf(list))
      peeled.push_back(peel(names, view, element));
    environment[argument] = std::move(peeled);
  }

  // Destinations of the yielded values, and states read back from them.
  SmallVector<Dest> yields;
  SmallVector<Dest> states; // for folds: plane t; for scans: the element
  unsigned next = 0;
  for (OpResult result : op->getResults()) {
    SmallVector<Member> members;
    flattenType(result.getType(), members);
    bool isState = !op.isMap() && result.getResultNumber() < op.getNumStates();
    for (unsigned m = 0; m < members.size(); ++m, ++next) {
      yields.push_back(peel(names, results[next], op.isFold() && isState ? t : element));
      if (isState)
        states.push_back(results[next]);
    }
  }
  auto stateView = [&](const Dest &dest, const View &like, AffineExpr index) {
    View view;
    view.lengths = like.lengths;
    view.element = like.element;
    ViewPiece piece;
    piece.buffer = dest.buffer;
    piece.results = peel(names, dest, index).results;
    view.pieces.push_back(piece);
    return view;
  };

  Constraint first{t}, last{n - 1 - t};
  if (op.isMap()) {
    context.domain.append({first, last});
    return neverRuns(context) ? success() : lowerRegion(op, context, yields);
  }

  AffineExpr lag = names.length(op.getLagOrOne());
  if (!lag.isPureAffine())
    return op.emitError() << "has the lag " << op.getLagOrOne().str()
                          << ": a product of lengths is not affine; make one of them a constant";
  if (op.isFold()) {
    unsigned s = 0;
    for (auto [argument, init] : llvm::zip_equal(op.getStateArgs(), op.getInits())) {
      std::vector<View> views;
      for (const View &initial : std::vector<View>(viewsOf(init))) {
        View view = stateView(states[s++], initial, t - 1);
        view.pieces[0].constraints.push_back({t - 1});
        for (ViewPiece piece : initial.pieces) {
          piece.constraints.push_back({t, /*isEquality=*/true});
          view.pieces.push_back(piece);
        }
        views.push_back(view);
      }
      environment[argument] = std::move(views);
    }
    context.domain.append({first, last});
    return neverRuns(context) ? success() : lowerRegion(op, context, yields);
  }

  // Scans: the first `lag` iterations, then the rest.
  for (bool initial : {true, false}) {
    Context region = context;
    if (initial)
      region.domain.append({first, {lag - 1 - t}, last});
    else
      region.domain.append({{t - lag}, last});
    if (neverRuns(region))
      continue;
    unsigned s = 0;
    for (auto [argument, init] : llvm::zip_equal(op.getStateArgs(), op.getInits())) {
      std::vector<View> views;
      for (const View &start : std::vector<View>(viewsOf(init))) {
        AffineExpr previous = op.isRight() ? n - 1 - t + lag : t - lag;
        views.push_back(initial ? start : stateView(states[s], start, previous));
        ++s;
      }
      environment[argument] = std::move(views);
    }
    if (failed(lowerRegion(op, region, yields)))
      return failure();
  }
  return success();
}

LogicalResult Converter::lowerRegion(ComputeOp op, const Context &context, ArrayRef<Dest> yields) {
  Block &body = op.getBody().front();
  SmallVector<Operation *> statements;
  SmallVector<ComputeOp> computes;
  for (Operation &inner : body.without_terminator()) {
    if (auto compute = dyn_cast<ComputeOp>(&inner))
      computes.push_back(compute);
    else if (!isAccessOp(&inner) && !isTensorStatement(&inner))
      return refuse(&inner);
    else if (!isAccessOp(&inner) && !isRepeatable(&inner))
      statements.push_back(&inner);
  }
  SmallVector<Value> operands = terminatorOperands(body);

  // Only access operators and constants may stand between the dimensions of one
  // block; they must not need a copy here.
  bool perfect = (computes.empty() || (computes.size() == 1 && statements.empty())) && !asChildren.contains(op);
  DenseSet<Value> computed;
  for (ComputeOp compute : computes)
    computed.insert(compute->result_begin(), compute->result_end());
  for (Operation *statement : statements)
    computed.insert(statement->result_begin(), statement->result_end());
  if (perfect) {
    for (Operation &inner : body.without_terminator()) {
      if (!isAccessOp(&inner))
        continue;
      if (llvm::any_of(inner.getOperands(), [&](Value v) { return computed.contains(v); })) {
        // A rearrangement of results concerns only where they are written.
        computed.insert(inner.getResult(0));
        continue;
      }
      bool needsCopy = false;
      if (failed(lowerAccess(&inner, nullptr, needsCopy)))
        return failure();
      if (needsCopy) {
        perfect = false;
        break;
      }
    }
  }

  if (perfect && computes.size() == 1) {
    ComputeOp inner = computes.front();
    Dests dests;
    SmallVector<CopyRequest> copies;
    unsigned next = 0;
    for (Value operand : operands) {
      SmallVector<Member> members;
      flattenType(operand.getType(), members);
      for (unsigned m = 0; m < members.size(); ++m)
        planDest(body, {operand, m}, yields[next++], dests, copies);
    }
    SmallVector<Dest> results;
    for (OpResult result : inner->getResults()) {
      SmallVector<Member> members;
      flattenType(result.getType(), members);
      for (unsigned m = 0; m < members.size(); ++m) {
        auto it = dests.find({result, m});
        if (it != dests.end())
          results.push_back(it->second);
        else
          perfect = false;
      }
    }
    if (perfect && copies.empty()) {
      howLowered[op] |= 1;
      return lowerNest(inner, context, results);
    }
    perfect = false;
  }

  bool tensorsOnly = llvm::all_of(operands, [](Value v) { return isa<RankedTensorType>(v.getType()); });
  // An access operator between the statements of a leaf reads what the leaf itself computes.
  bool readsOwn = false;
  for (Operation *statement : statements)
    for (Value operand : statement->getOperands())
      if (Operation *def = operand.getDefiningOp())
        readsOwn |= computed.contains(operand) && isAccessOp(def);
  for (Value operand : operands)
    if (Operation *def = operand.getDefiningOp())
      readsOwn |= computed.contains(operand) && isAccessOp(def);
  if (perfect && computes.empty() && tensorsOnly && !readsOwn) {
    SmallVector<std::pair<Value, Dest>> pairs;
    for (auto [operand, dest] : llvm::zip_equal(operands, yields))
      pairs.push_back({operand, dest});
    return emitLeaf(op.getLoc(), context, statements, pairs);
  }
  if (perfect && computes.empty() && statements.empty() && yields.size() == 1) {
    const View view = viewsOf(operands.front()).front();
    howLowered[op] |= 1;
    return emitCopy(op.getLoc(), context, view, yields.front(), "a yielded value that is not computed here");
  }

  // Not perfect: a graph block, with everything in the region as children.
  howLowered[op] |= 2;
  etdg::BlockBuilder spec = startBlock(context);
  if (failed(attachCombine(spec, context)))
    return failure();
  etdg::BlockOp block = spec.build(builder, op.getLoc(), {});
  OpBuilder::InsertionGuard guard(builder);
  cloneCombine(block, context);
  builder.setInsertionPointToStart(&block.getBody().front());
  if (failed(lowerBody(body, context.asAncestors(), yields)))
    return failure();
  etdg::YieldOp::create(builder, op.getLoc(), ValueRange());
  // Nothing in it ever runs.
  if (llvm::none_of(block.getBody().front(), [](Operation &inner) { return isa<etdg::BlockOp, etdg::NestOp>(inner); })) {
    builder.setInsertionPoint(block);
    block.erase();
  }
  return success();
}
