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

void Converter::planDest(Block &body, MemberRef source, Place dest, Places &dests, SmallVectorImpl<CopyRequest> &copies) {
  Operation *def = source.value.getDefiningOp();
  auto copy = [&] { copies.push_back({source, dest}); };
  if (!def || def->getBlock() != &body || dests.count(source))
    return copy();
  auto substituted = [&](ArrayRef<AffineExpr> dims) {
    Place result{dest.home, {}};
    for (AffineExpr e : dest.index)
      result.index.push_back(names.withCells(e, dims));
    return result;
  };
  SmallVector<AffineExpr> identity;
  for (unsigned d = 0; d < 17; ++d)
    identity.push_back(names.cell(d));

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
      identity[0] = names.cell(0) + offset;
      planDest(body, {input, source.member}, substituted(identity), dests, copies);
      offset = offset + names.length(cast<ListType>(input.getType()).getLength());
    }
    return;
  }
  if (auto reverse = dyn_cast<ReverseOp>(def)) {
    identity[0] = names.length(cast<ListType>(reverse.getInput().getType()).getLength()) - 1 - names.cell(0);
    return planDest(body, {reverse.getInput(), source.member}, substituted(identity), dests, copies);
  }
  if (auto transpose = dyn_cast<TransposeOp>(def)) {
    // Result dimension d is input dimension permutation[d].
    for (auto [d, from] : llvm::enumerate(transpose.getPermutation()))
      identity[d] = names.cell(from);
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

LogicalResult Converter::lowerAccess(Operation *op, const RegionVector *copiesAllowed, bool &needsCopy) {
  // Copies serve this operator alone: the operand may belong to a region further
  // out, where the copy's buffer is not.
  std::map<unsigned, std::vector<ListView>> copies;
  auto views = [&](Value v) -> ArrayRef<ListView> {
    for (auto &[operand, copied] : copies)
      if (op->getOperand(operand) == v)
        return copied;
    return viewsOf(v);
  };
  for (;;) {
    std::vector<ListView> result;
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
      std::vector<ListView> copied;
      for (const ListView &view : std::vector<ListView>(views(op->getOperand(copyOperand)))) {
        Value buffer = createBuffer(op->getLoc(), view.lengths, view.element);
        Place dest{buffer, {}};
        for (unsigned d = 0; d < view.depth(); ++d)
          dest.index.push_back(names.cell(d));
        if (failed(emitCopy(op->getLoc(), *copiesAllowed, view, dest, "gathered elements or indices are no plain list")))
          return failure();
        copied.push_back(bufferView(buffer, {view.lengths, view.element}));
      }
      copies[copyOperand] = std::move(copied);
    }
  }
}

LogicalResult Converter::lowerBody(Block &body, const RegionVector &at, ArrayRef<Place> yields) {
  Places dests;
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
    return lowerRun(now, at, dests);
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
      if (failed(lowerAccess(&op, &at, needsCopy)))
        return failure();
      continue;
    }
    auto compute = dyn_cast<ComputeOp>(&op);
    if (!compute)
      return refuse(&op);
    if (failed(flush()) || failed(lowerCompute(compute, at, dests)))
      return failure();
  }
  if (failed(flush()))
    return failure();
  for (const CopyRequest &request : copies) {
    const ListView view = viewsOf(request.source.value)[request.source.member];
    if (failed(emitCopy(request.source.value.getLoc(), at, view, request.dest,
                        "a yielded value that is not computed here")))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

/// Whether the result is a state that a fold passes on: only its last plane is a result.
static bool isFoldState(ComputeOp op, OpResult result) {
  return op.isFold() && result.getResultNumber() < op.getNumStates();
}

/// One piece: all of a buffer, at the given index.
static ListView viewOf(const Member &member, const Place &at) {
  ListView view;
  view.lengths = member.lengths;
  view.element = member.element;
  Piece piece;
  piece.place = at;
  view.pieces.push_back(piece);
  return view;
}

/// A buffer for the states of a fold: of every iteration, as far as the verifier is concerned. Only the last is
/// needed between two, and while a list is written element by element, the one before it.
Place Converter::createPlanes(ComputeOp op, const Member &member) {
  SmallVector<LengthAttr> lengths(member.lengths);
  lengths.insert(lengths.begin(), op.getLength());
  SmallVector<int64_t> live(lengths.size(), -1);
  live[0] = member.lengths.empty() ? 1 : 2;
  Place planes{createBuffer(op.getLoc(), lengths, member.element, live), {}};
  for (unsigned d = 0; d < lengths.size(); ++d)
    planes.index.push_back(names.cell(d));
  return planes;
}

/// Every result has a place before the nest is built; its view is that place.
SmallVector<Place> Converter::placeResults(ComputeOp op, const Places &dests, SmallVectorImpl<etdg::BufferOp> &planes) {
  SmallVector<Place> results;
  for (OpResult result : op->getResults()) {
    bool isState = isFoldState(op, result);
    std::vector<ListView> views;
    for (auto [m, member] : llvm::enumerate(flattened(result.getType()))) {
      auto it = dests.find({result, static_cast<unsigned>(m)});
      Place dest;
      if (it != dests.end()) {
        dest = it->second;
      } else if (isState) {
        dest = createPlanes(op, member);
        planes.push_back(dest.home.getDefiningOp<etdg::BufferOp>());
      } else {
        dest.home = createBuffer(op.getLoc(), member.lengths, member.element);
        for (unsigned d = 0; d < member.lengths.size(); ++d)
          dest.index.push_back(names.cell(d));
      }
      results.push_back(dest);
      views.push_back(viewOf(member, dest));
    }
    if (!isState)
      environment[result] = std::move(views);
  }
  return results;
}

/// A fold's result: its last plane, the initial state where there is none.
void Converter::viewLastPlanes(ComputeOp op, ArrayRef<Place> results) {
  AffineExpr n = names.length(op.getLength());
  bool neverEmpty = sets->isEmpty({{-n}});
  unsigned next = 0;
  for (OpResult result : op->getResults()) {
    SmallVector<Member> members = flattened(result.getType());
    if (!isFoldState(op, result)) {
      next += members.size();
      continue;
    }
    std::vector<ListView> views;
    for (auto [m, member] : llvm::enumerate(members)) {
      ListView view = viewOf(member, peel(names, results[next++], n - 1));
      if (!neverEmpty) {
        view.pieces.front().when.push_back({n - 1});
        Value init = op.getInits()[result.getResultNumber()];
        for (Piece piece : viewsOf(init)[m].pieces) {
          piece.when.push_back({n, /*isEquality=*/true});
          view.pieces.push_back(piece);
        }
      }
      views.push_back(view);
    }
    environment[result] = std::move(views);
  }
}

LogicalResult Converter::lowerCompute(ComputeOp op, const RegionVector &at, const Places &dests) {
  SmallVector<etdg::BufferOp> planes;
  SmallVector<Place> results = placeResults(op, dests, planes);
  auto nest = etdg::NestOp::create(builder, op.getLoc(), etdg::ScheduleAttr());
  if (failed(fillNest(nest, op, at, results)))
    return failure();
  // A leaf reads all before it writes. The children of a graph block run one after
  // the other: one may read the plane before while another has written its own.
  bool hasChildren = false;
  nest.walk([&](etdg::BlockOp inner) { hasChildren |= inner->getParentOp() != nest; });
  if (hasChildren)
    for (etdg::BufferOp buffer : planes) {
      SmallVector<int64_t> live(*buffer.getLive());
      live[0] = 2;
      buffer.setLiveAttr(builder.getDenseI64ArrayAttr(live));
    }
  Block &block = nest.getBody().front();
  if (llvm::hasSingleElement(block)) {
    block.front().moveBefore(nest);
    nest.erase();
  } else if (block.empty()) {
    nest.erase(); // every region was empty: no iteration at any length
  }
  viewLastPlanes(op, results);
  return success();
}

/// A scan's first regions read its initial state and the others what was written: where one needs a
/// copy for that, and with it children, and the other doesn't, the regions' dimensions differ. Then
/// both get children.
LogicalResult Converter::fillNest(etdg::NestOp nest, ComputeOp op, const RegionVector &at, ArrayRef<Place> results) {
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
    if (failed(lowerNest(op, at, results)))
      return failure();
    auto blocks = block->getOps<etdg::BlockOp>();
    bool isUniform = llvm::all_of(
        blocks, [&](etdg::BlockOp inner) { return inner.getNumDims() == (*blocks.begin()).getNumDims(); });
    bool isNew = false;
    if (!isUniform)
      for (auto [inner, how] : howLowered)
        isNew |= how == (GoesOnInside | BecomesChildren) && asChildren.insert(inner).second;
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

bool Converter::neverRuns(const RegionVector &at) {
  SmallVector<Constraint> all(at.ancestors);
  all.append(at.domain.begin(), at.domain.end());
  return sets->isEmpty(all);
}

/// Opens the operator's dimension: what it is as an operator of a block, and whose `combine` the block takes.
void Converter::openDim(ComputeOp op, RegionVector &at) {
  OperatorKind kind = op.getKind();
  // Right forms traverse the mirrored list from the left.
  if (kind == OperatorKind::ScanR)
    kind = OperatorKind::ScanL;
  if (kind == OperatorKind::FoldR)
    kind = OperatorKind::FoldL;
  bool combines = op.getCombineOrNull() && canCombine(op);
  if (op.getCombineOrNull() && !combines)
    kind = op.isScan() ? OperatorKind::ScanL : OperatorKind::FoldL;
  if (combines && at.combining) {
    // A block has one combine region, its innermost: the outer scan stays in order.
    bool anyScan = false;
    for (OperatorKind &k : at.operators)
      if (k == OperatorKind::Scan) {
        k = OperatorKind::ScanL;
        anyScan = true;
      }
    if (anyScan)
      remarkOrdered(at.combining, "a block has one 'combine', that of its innermost dimension");
  }
  if (combines)
    at.combining = op;
  at.open(kind, names.names, names.context);
}

/// What `first` holds in the first `lag` iterations, and `later` after them.
static ListView joinStates(ListView later, const ListView &first, AffineExpr t, AffineExpr lag) {
  for (Piece &piece : later.pieces)
    piece.when.push_back({t - lag});
  for (Piece piece : first.pieces) {
    piece.when.push_back(lag == 1 ? Constraint{t, /*isEquality=*/true} : Constraint{lag - 1 - t});
    later.pieces.push_back(piece);
  }
  return later;
}

/// The states of one block for all iterations: those of index `previous`, in the first `lag` iterations the initial
/// ones. Folds are such blocks, and scans that do not split.
void Converter::viewStates(ComputeOp op, ArrayRef<Place> states, AffineExpr t, AffineExpr lag, AffineExpr previous) {
  unsigned s = 0;
  for (auto [argument, init] : llvm::zip_equal(op.getStateArgs(), op.getInits())) {
    std::vector<ListView> views;
    for (const ListView &initial : std::vector<ListView>(viewsOf(init)))
      views.push_back(joinStates(viewOf({initial.lengths, initial.element}, peel(names, states[s++], previous)),
                                 initial, t, lag));
    environment[argument] = std::move(views);
  }
}

/// The states of a scan: the initial ones, or what was written at index `previous`.
void Converter::viewScanStates(ComputeOp op, ArrayRef<Place> states, bool initial, AffineExpr previous) {
  unsigned s = 0;
  for (auto [argument, init] : llvm::zip_equal(op.getStateArgs(), op.getInits())) {
    std::vector<ListView> views;
    for (const ListView &start : std::vector<ListView>(viewsOf(init))) {
      views.push_back(initial ? start : viewOf({start.lengths, start.element}, peel(names, states[s], previous)));
      ++s;
    }
    environment[argument] = std::move(views);
  }
}

/// How many scans are inside each other at most, from this one on.
unsigned Converter::scanDepth(ComputeOp op) {
  auto [it, isNew] = scanDepths.try_emplace(op, 0);
  if (!isNew)
    return it->second;
  unsigned inside = 0;
  for (auto inner : op.getBody().front().getOps<ComputeOp>())
    inside = std::max(inside, scanDepth(inner));
  return scanDepths[op] = inside + op.isScan();
}

/// Whether the first iterations of a scan are a block of their own. Each split doubles the code of the body, so that
/// only the innermost scans split, where the work is: what the graph holds is linear in the program.
bool Converter::splits(ComputeOp scan) {
  constexpr unsigned mostSplits = 4;
  unsigned depth = scanDepth(scan);
  if (depth <= mostSplits)
    return true;
  remark::missed(scan->getLoc(), remark::RemarkOpts::name("whole").category("etdg").subCategory("convert-ft-to-etdg"))
      << remark::reason("'{0}' stays one block: {1} scans are inside each other here; a block of their own for first iterations doubles "
                        "the code, and only the innermost {2} get one",
                        scan->getName().getStringRef(), depth, mostSplits);
  return false;
}

LogicalResult Converter::lowerNest(ComputeOp op, const RegionVector &outer, ArrayRef<Place> results) {
  AffineExpr n = names.length(op.getLength());
  if (!n.isPureAffine())
    return op.emitError() << "traverses a list of length " << op.getLength().str()
                          << ": a product of lengths is not affine; make one of them a constant, or traverse the list "
                             "before it is flattened";
  RegionVector at = outer;
  AffineExpr t = getAffineDimExpr(at.numDims(), names.context);
  AffineExpr element = op.isRight() ? n - 1 - t : t;
  openDim(op, at);
  for (auto [list, argument] : llvm::zip_equal(op.getLists(), op.getElementArgs())) {
    std::vector<ListView> peeled;
    for (const ListView &view : viewsOf(list))
      peeled.push_back(peel(names, view, element));
    environment[argument] = std::move(peeled);
  }

  // Destinations of the yielded values, and where states are read back from.
  SmallVector<Place> yields, states;
  unsigned next = 0;
  for (OpResult result : op->getResults()) {
    bool isState = !op.isMap() && result.getResultNumber() < op.getNumStates();
    for (unsigned end = next + flattened(result.getType()).size(); next < end; ++next) {
      yields.push_back(peel(names, results[next], op.isFold() && isState ? t : element));
      if (isState)
        states.push_back(results[next]);
    }
  }

  Constraint first{t}, last{n - 1 - t};
  AffineExpr lag = names.length(op.getLagOrOne());
  if (!op.isMap() && !lag.isPureAffine())
    return op.emitError() << "has the lag " << op.getLagOrOne().str()
                          << ": a product of lengths is not affine; make one of them a constant";
  AffineExpr previous = op.isRight() && op.isScan() ? n - 1 - t + lag : t - lag;
  if (!op.isScan() || !splits(op)) {
    if (!op.isMap())
      viewStates(op, states, t, lag, previous);
    at.domain.append({first, last});
    return neverRuns(at) ? success() : lowerRegion(op, at, yields);
  }
  // Scans: the first `lag` iterations, then the rest.
  for (bool initial : {true, false}) {
    RegionVector region = at;
    if (initial)
      region.domain.append({first, {lag - 1 - t}, last});
    else
      region.domain.append({{t - lag}, last});
    if (neverRuns(region))
      continue;
    viewScanStates(op, states, initial, previous);
    if (failed(lowerRegion(op, region, yields)))
      return failure();
  }
  return success();
}

/// What stands in the body of an operator.
struct Converter::RegionForm {
  SmallVector<Operation *> statements;
  SmallVector<ComputeOp> computes;
  SmallVector<Value> operands; // of the terminator
  DenseSet<Value> computed;    // by statements and operators, and rearrangements of those
  /// A leaf, or one operator with nothing beside it: the block's dimensions may go on inside.
  bool perfect = false;
};

/// Only access operators and constants may stand between the dimensions of one block; they must not need a copy.
LogicalResult Converter::viewAccesses(Block &body, RegionForm &form) {
  for (Operation &inner : body.without_terminator()) {
    if (!isAccessOp(&inner))
      continue;
    if (llvm::any_of(inner.getOperands(), [&](Value v) { return form.computed.contains(v); })) {
      // A rearrangement of results concerns only where they are written.
      form.computed.insert(inner.getResult(0));
      continue;
    }
    bool needsCopy = false;
    if (failed(lowerAccess(&inner, nullptr, needsCopy)))
      return failure();
    if (needsCopy) {
      form.perfect = false;
      break;
    }
  }
  return success();
}

LogicalResult Converter::analyseRegion(ComputeOp op, RegionForm &form) {
  Block &body = op.getBody().front();
  for (Operation &inner : body.without_terminator()) {
    if (auto compute = dyn_cast<ComputeOp>(&inner))
      form.computes.push_back(compute);
    else if (!isAccessOp(&inner) && !isTensorStatement(&inner))
      return refuse(&inner);
    else if (!isAccessOp(&inner) && !isRepeatable(&inner))
      form.statements.push_back(&inner);
  }
  form.operands = terminatorOperands(body);
  for (ComputeOp compute : form.computes)
    form.computed.insert(compute->result_begin(), compute->result_end());
  for (Operation *statement : form.statements)
    form.computed.insert(statement->result_begin(), statement->result_end());
  form.perfect = (form.computes.empty() || (form.computes.size() == 1 && form.statements.empty())) &&
                 !asChildren.contains(op);
  return form.perfect ? viewAccesses(body, form) : success();
}

/// Where the only operator of a body writes its results, if that is all that the body yields.
std::optional<SmallVector<Place>> Converter::destsOfInner(Block &body, const RegionForm &form, ArrayRef<Place> yields) {
  Places dests;
  SmallVector<CopyRequest> copies;
  for (Value operand : form.operands)
    for (unsigned m = 0, e = flattened(operand.getType()).size(); m < e; ++m) {
      planDest(body, {operand, m}, yields.front(), dests, copies);
      yields = yields.drop_front();
    }
  SmallVector<Place> results;
  for (OpResult result : ComputeOp(form.computes.front())->getResults())
    for (unsigned m = 0, e = flattened(result.getType()).size(); m < e; ++m) {
      auto it = dests.find({result, m});
      if (it == dests.end())
        return std::nullopt;
      results.push_back(it->second);
    }
  return copies.empty() ? std::optional(results) : std::nullopt;
}

/// Whether the body is statements over tensors whose operands all come from outside or from each other.
bool Converter::isLeafForm(const RegionForm &form) {
  if (!form.perfect || !form.computes.empty() ||
      !llvm::all_of(form.operands, [](Value v) { return isa<RankedTensorType>(v.getType()); }))
    return false;
  // An access operator between the statements of a leaf reads what the leaf itself computes.
  auto readsOwn = [&](Value operand) {
    Operation *def = operand.getDefiningOp();
    return def && form.computed.contains(operand) && isAccessOp(def);
  };
  return llvm::none_of(form.operands, readsOwn) && llvm::none_of(form.statements, [&](Operation *statement) {
           return llvm::any_of(statement->getOperands(), readsOwn);
         });
}

LogicalResult Converter::lowerRegion(ComputeOp op, const RegionVector &at, ArrayRef<Place> yields) {
  RegionForm form;
  if (failed(analyseRegion(op, form)))
    return failure();
  Block &body = op.getBody().front();
  if (form.perfect && form.computes.size() == 1) {
    if (std::optional<SmallVector<Place>> results = destsOfInner(body, form, yields)) {
      howLowered[op] |= GoesOnInside;
      return lowerNest(form.computes.front(), at, *results);
    }
    form.perfect = false;
  }
  if (isLeafForm(form)) {
    SmallVector<std::pair<Value, Place>> pairs;
    for (auto [operand, dest] : llvm::zip_equal(form.operands, yields))
      pairs.push_back({operand, dest});
    return emitLeaf(op.getLoc(), at, form.statements, pairs);
  }
  if (form.perfect && form.computes.empty() && form.statements.empty() && yields.size() == 1) {
    const ListView view = viewsOf(form.operands.front()).front();
    howLowered[op] |= GoesOnInside;
    return emitCopy(op.getLoc(), at, view, yields.front(), "a yielded value that is not computed here");
  }
  return lowerChildren(op, at, yields);
}

/// Not perfect: a graph block, with everything in the region as children.
LogicalResult Converter::lowerChildren(ComputeOp op, const RegionVector &at, ArrayRef<Place> yields) {
  howLowered[op] |= BecomesChildren;
  etdg::BlockBuilder spec = startBlock(at);
  if (failed(attachCombine(spec, at)))
    return failure();
  etdg::BlockOp block = spec.build(builder, op.getLoc(), {});
  OpBuilder::InsertionGuard guard(builder);
  cloneCombine(block, at);
  builder.setInsertionPointToStart(&block.getBody().front());
  if (failed(lowerBody(op.getBody().front(), at.asAncestors(), yields)))
    return failure();
  etdg::YieldOp::create(builder, op.getLoc(), ValueRange());
  // Nothing in it ever runs.
  if (llvm::none_of(block.getBody().front(), [](Operation &inner) { return isa<etdg::BlockOp, etdg::NestOp>(inner); })) {
    builder.setInsertionPoint(block);
    block.erase();
  }
  return success();
}
