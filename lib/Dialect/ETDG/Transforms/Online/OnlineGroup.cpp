//===- OnlineGroup.cpp - find reductions that depend on one another -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OnlineGroup.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

AffineMap online::alignMap(AffineMap map, BlockOp block, ArrayRef<StringAttr> symbols) {
  SmallVector<StringAttr> names = block.getSymbolNames();
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(canonicalizeExpr(ft::alignSymbols(result, names, symbols), map.getNumDims(),
                                       symbols.size()));
  return AffineMap::get(map.getNumDims(), symbols.size(), results, map.getContext());
}

IntegerSet online::alignSet(IntegerSet set, BlockOp block, ArrayRef<StringAttr> symbols) {
  SmallVector<StringAttr> names = block.getSymbolNames();
  SmallVector<AffineExpr> constraints;
  for (AffineExpr constraint : set.getConstraints())
    constraints.push_back(ft::alignSymbols(constraint, names, symbols));
  if (constraints.empty())
    return getUniverse(block.getContext(), set.getNumDims(), symbols.size());
  return canonicalizeSet(
      IntegerSet::get(set.getNumDims(), symbols.size(), constraints, set.getEqFlags()));
}

AffineMap online::atPlane(AffineMap map, unsigned numDims, AffineExpr value) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(
        canonicalizeExpr(result.replace(getAffineDimExpr(numDims - 1, map.getContext()), value),
                         map.getNumDims(), map.getNumSymbols()));
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext());
}

SmallVector<unsigned> online::getReachedPieces(BlockOp block, ReadAttr read,
                                               const SymbolSpace &space) {
  SmallVector<unsigned> reached;
  for (auto [i, piece] : llvm::enumerate(read.getPieces())) {
    SetBuilder builder(space, block.getNumDims() + read.getElementRank());
    if (succeeded(addDomain(builder, block)) &&
        succeeded(builder.add(piece.getSet().getValue(), block.getSymbolNames())) &&
        isEmpty(builder.get()))
      continue;
    reached.push_back(i);
  }
  return reached;
}

Operation *online::getItem(Block *body, Operation *op) {
  while (op && op->getBlock() != body)
    op = op->getParentOp();
  return op;
}

bool online::isLastPlane(const OnlineGroup &group, AffineMap write, AffineMap read,
                         SmallVectorImpl<AffineExpr> &bindings) {
  if (write.getNumResults() != read.getNumResults())
    return false;
  MLIRContext *context = write.getContext();
  unsigned ancestors = BlockOp(group.members.front().block).getNumAncestors();
  SmallVector<AffineExpr> own(group.numDims);
  // Ancestors are shared, and so are dimensions of the group that no index binds.
  for (unsigned d = 0; d < ancestors; ++d)
    own[d] = getAffineDimExpr(d, context);
  for (auto [w, r] : llvm::zip(write.getResults(), read.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(w);
        dim && dim.getPosition() >= ancestors && dim.getPosition() + 1 < group.numDims)
      own[dim.getPosition()] = r;
  for (unsigned d = ancestors; d + 1 < group.numDims; ++d)
    if (!own[d])
      return false;
  own.back() = group.last.replaceDims(ArrayRef(own).drop_back());
  for (auto [w, r] : llvm::zip(write.getResults(), read.getResults()))
    if (canonicalizeExpr(w.replaceDims(own), read.getNumDims(), read.getNumSymbols()) != r)
      return false;
  bindings.assign(own.begin() + ancestors, own.end() - 1);
  return true;
}

namespace {
/// Items of a body, the buffers that each reads and writes, and who depends on whom.
struct Items {
  Items(Block &body) {
    for (Operation &op : body) {
      op.walk([&](BlockOp block) {
        if (!block.isLeaf())
          return;
        for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
          writers[block.getBuffers()[write.getOperand()]].insert(&op);
        forEachReadOperand(
            block, [&](int64_t operand) { reads[&op].insert(block.getBuffers()[operand]); });
      });
      if (isa<BlockOp, NestOp, KernelOp>(op))
        items.push_back(&op);
    }
  }
  template <typename F>
  static void forEachReadOperand(BlockOp block, F f) {
    for (ArrayAttr list : {block.getReads(), block.getIdentity()})
      for (ReadAttr read : list.getAsRange<ReadAttr>())
        for (PieceAttr piece : read.getPieces()) {
          if (piece.getKind() == SourceKind::Buffer)
            f(piece.getOperand());
          for (GatherAttr gather : piece.getGathers())
            f(gather.getOperand());
        }
  }
  SmallVector<Operation *> items;
  llvm::DenseMap<Value, llvm::SmallSetVector<Operation *, 2>> writers;
  llvm::DenseMap<Operation *, llvm::SmallSetVector<Value, 4>> reads;
};
} // namespace

/// The first and last value of the innermost dimension over the others, from a domain that bounds
/// it once below and once above.
static bool findRange(IntegerSet domain, AffineExpr &first, AffineExpr &last) {
  unsigned j = domain.getNumDims() - 1;
  AffineExpr dim = getAffineDimExpr(j, domain.getContext());
  first = last = AffineExpr();
  for (auto [constraint, isEq] : llvm::zip(domain.getConstraints(), domain.getEqFlags())) {
    if (!constraint.isFunctionOfDim(j))
      continue;
    etdg::LinearForm form = etdg::LinearForm::of(constraint);
    if (!form.isLinearIn(j))
      return false;
    int64_t coefficient = form.coefficient(dim);
    if (coefficient == 0)
      continue;
    if (isEq || std::abs(coefficient) != 1)
      return false;
    AffineExpr &bound = coefficient > 0 ? first : last;
    if (bound)
      return false;
    // j + e ≥ 0, e - j ≥ 0
    AffineExpr rest = constraint - dim * coefficient;
    bound = canonicalizeExpr(coefficient > 0 ? -rest : rest, domain.getNumDims(),
                             domain.getNumSymbols());
  }
  return first && last;
}

static bool isCandidate(BlockOp block, Block &body) {
  if (!block.isLeaf() || block->getBlock() != &body || block.getNumOwnDims() == 0 ||
      block.getScheduleAttr())
    return false;
  for (unsigned d = 0, e = block.getNumOwnDims(); d < e; ++d) {
    ft::OperatorKind kind = block.getOperator(d);
    bool isFold = llvm::is_contained(
        {ft::OperatorKind::Reduce, ft::OperatorKind::Fold, ft::OperatorKind::FoldL}, kind);
    if (kind != ft::OperatorKind::Map && !(isFold && d + 1 == e))
      return false;
  }
  return true;
}

namespace {
/// Finds out what the reads of a group's members mean.
struct RoleFinder {
  RoleFinder(OnlineGroup &group, const Items &items, const GraphAccesses &accesses,
             const SymbolSpace &space)
      : group(group), items(items), accesses(accesses), space(space) {}

  OnlineGroup &group;
  const Items &items;
  const GraphAccesses &accesses;
  const SymbolSpace &space;
  llvm::DenseMap<Operation *, unsigned> memberOf;
  /// The nearest reductions on which an item depends.
  llvm::DenseMap<Operation *, llvm::SmallDenseSet<unsigned>> origins;

  void run();
  /// Adds the reductions that what an item writes depends on, the nearest ones: the item itself, or
  /// those of what it reads.
  void addOrigins(Operation *item, llvm::SmallDenseSet<unsigned> &to) const {
    auto member = memberOf.find(item);
    if (member != memberOf.end() && group.members[member->second].isReduction)
      to.insert(member->second);
    else if (auto found = origins.find(item); found != origins.end())
      to.insert_range(found->second);
  }
  bool findStates(OnlineMember &member);
  std::optional<std::pair<unsigned, unsigned>> findCopiedPlane(BlockOp block, PieceAttr piece, AffineMap map);
  ReadRole findRole(unsigned member, unsigned read);
  ReadRole addParameter(std::optional<std::pair<unsigned, unsigned>> lastPlane, unsigned member,
                        unsigned read, unsigned piece, const llvm::SmallDenseSet<unsigned> &from);
  std::optional<ReadRole> findSource(BlockOp block, PieceAttr piece, AffineMap map);
};
} // namespace

/// The states of a reduction: each write that it reads back from the iteration before.
bool RoleFinder::findStates(OnlineMember &member) {
  BlockOp block = member.block;
  member.stateReads.assign(block.getNumWrites(), -1);
  AffineExpr j = getAffineDimExpr(group.numDims - 1, block.getContext());
  for (unsigned r = 0; r < block.getNumReads(); ++r) {
    ReadAttr read = block.getRead(r);
    for (unsigned p : getReachedPieces(block, read, space)) {
      PieceAttr piece = read.getPieces()[p];
      for (GatherAttr gather : piece.getGathers())
        for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
          if (write.getOperand() == gather.getOperand())
            return false;
      if (piece.getKind() != SourceKind::Buffer)
        continue;
      for (auto [w, write] : llvm::enumerate(block.getWrites().getAsRange<WriteAttr>())) {
        if (block.getBuffers()[write.getOperand()] != block.getBuffers()[piece.getOperand()])
          continue;
        AffineMap before = atPlane(alignMap(write.getMap().getValue(), block, group.symbols),
                                   group.numDims, j - 1);
        if (!member.isReduction || read.getElementRank() || !piece.getGathers().empty() ||
            member.stateReads[w] >= 0 ||
            alignMap(piece.getMap().getValue(), block, group.symbols) != before)
          return false;
        member.stateReads[w] = r;
      }
    }
  }
  return true;
}

/// Who makes the value at `map`: a member in the same iteration, or a last plane.
std::optional<ReadRole> RoleFinder::findSource(BlockOp block, PieceAttr piece, AffineMap map) {
  Value buffer = block.getBuffers()[piece.getOperand()];
  auto it = items.writers.find(buffer);
  if (it == items.writers.end() || it->second.size() != 1)
    return std::nullopt;
  auto found = memberOf.find(*it->second.begin());
  if (found == memberOf.end())
    return std::nullopt;
  const OnlineMember &source = group.members[found->second];
  for (auto [w, write] :
       llvm::enumerate(BlockOp(source.block).getWrites().getAsRange<WriteAttr>())) {
    if (BlockOp(source.block).getBuffers()[write.getOperand()] != buffer)
      continue;
    AffineMap written = alignMap(write.getMap().getValue(), source.block, group.symbols);
    ReadRole role{ReadRole::Foreign, found->second, static_cast<unsigned>(w), 0};
    if (source.isState(w)) {
      // The same ancestors and dimensions: a last plane is the write's map at the last j.
      if (map.getNumDims() == written.getNumDims() &&
          map == atPlane(written, group.numDims, group.last))
        role.kind = ReadRole::Parameter;
    } else if (map == written) {
      role.kind = ReadRole::Internal;
    }
    return role;
  }
  return std::nullopt;
}

ReadRole RoleFinder::addParameter(std::optional<std::pair<unsigned, unsigned>> lastPlane,
                                  unsigned member, unsigned read, unsigned piece,
                                  const llvm::SmallDenseSet<unsigned> &from) {
  BlockOp block = group.members[member].block;
  auto keyOf = [&](BlockOp reader, unsigned r, unsigned p) {
    PieceAttr attr = reader.getRead(r).getPieces()[p];
    return std::pair(reader.getBuffers()[attr.getOperand()],
                     alignMap(attr.getMap().getValue(), reader, group.symbols));
  };
  ReadRole role{ReadRole::Parameter, 0, 0, static_cast<unsigned>(group.parameters.size())};
  for (auto [i, parameter] : llvm::enumerate(group.parameters))
    if (lastPlane ? parameter.lastPlane == lastPlane
                  : !parameter.lastPlane && keyOf(parameter.reader, parameter.read,
                                                  parameter.piece) == keyOf(block, read, piece)) {
      role.parameter = i;
      return role;
    }
  group.parameters.push_back({lastPlane, block, read, piece,
                              cast<RankedTensorType>(block.getBody().getArgument(read).getType()),
                              from});
  return role;
}

/// A copy of a last plane is that plane: of which member's write, if it is one.
std::optional<std::pair<unsigned, unsigned>> RoleFinder::findCopiedPlane(BlockOp block, PieceAttr piece, AffineMap map) {
  auto writers = items.writers.find(block.getBuffers()[piece.getOperand()]);
  if (writers->second.size() == 1)
    if (auto copy = dyn_cast<BlockOp>(*writers->second.begin());
        copy && copy.isLeaf() && copy.getNumReads() == 1 && copy.getNumWrites() == 1 &&
        copy.getYield().getOperand(0) == copy.getBody().getArgument(0) &&
        copy.getNumOwnDims() + 1 == block.getNumOwnDims()) {
      SmallVector<unsigned> pieces = getReachedPieces(copy, copy.getRead(0), space);
      PieceAttr source = pieces.empty() ? PieceAttr() : copy.getRead(0).getPieces()[pieces[0]];
      // Written at its own point, read at that of the member.
      AffineMap written = alignMap(copy.getWrite(0).getMap().getValue(), copy, group.symbols);
      if (pieces.size() == 1 && source.getKind() == SourceKind::Buffer &&
          source.getGathers().empty() && !copy.getRead(0).getElementRank() &&
          written.getResults() == map.getResults()) {
        AffineMap inner = alignMap(source.getMap().getValue(), copy, group.symbols);
        inner = AffineMap::get(group.numDims, group.symbols.size(), inner.getResults(),
                               inner.getContext());
        if (std::optional<ReadRole> role = findSource(copy, source, inner);
            role && role->kind == ReadRole::Parameter)
          return std::pair(role->member, role->write);
      }
    }
  return std::nullopt;
}

ReadRole RoleFinder::findRole(unsigned index, unsigned r) {
  const OnlineMember &member = group.members[index];
  BlockOp block = member.block;
  ReadAttr read = block.getRead(r);
  // The block's own state, where it is one.
  Value state;
  ReadRole stateRole{ReadRole::State, index, 0, 0};
  if (auto it = llvm::find(member.stateReads, static_cast<int>(r)); it != member.stateReads.end()) {
    stateRole.write = it - member.stateReads.begin();
    state = block.getBuffers()[block.getWrite(stateRole.write).getOperand()];
  }
  SmallVector<unsigned> reached = getReachedPieces(block, read, space);
  llvm::SmallDenseSet<unsigned> from;
  std::optional<unsigned> foreign;
  auto addSource = [&](int64_t operand) {
    auto it = items.writers.find(block.getBuffers()[operand]);
    if (it == items.writers.end())
      return;
    for (Operation *writer : it->second) {
      if (auto found = memberOf.find(writer); found != memberOf.end())
        foreign = found->second;
      addOrigins(writer, from);
    }
  };
  for (unsigned p : reached) {
    PieceAttr piece = read.getPieces()[p];
    if (piece.getKind() == SourceKind::Buffer && block.getBuffers()[piece.getOperand()] != state)
      addSource(piece.getOperand());
    for (GatherAttr gather : piece.getGathers())
      addSource(gather.getOperand());
  }
  // A reduction that starts at what another one has come to runs after it.
  if (state)
    return from.empty() ? stateRole : ReadRole{ReadRole::Blocked, index, stateRole.write, 0};
  bool isWhole = reached.size() == 1 && !read.getElementRank() &&
                 read.getPieces()[reached[0]].getKind() == SourceKind::Buffer &&
                 read.getPieces()[reached[0]].getGathers().empty();
  ReadRole other{from.empty() ? (foreign ? ReadRole::Foreign : ReadRole::External)
                              : ReadRole::Blocked,
                 foreign.value_or(0), 0, 0};
  if (!isWhole)
    return other;
  PieceAttr piece = read.getPieces()[reached[0]];
  AffineMap map = alignMap(piece.getMap().getValue(), block, group.symbols);
  if (map.getNumResults() !=
      cast<BufferType>(block.getBuffers()[piece.getOperand()].getType()).getDepth())
    return other;
  if (std::optional<ReadRole> role = findSource(block, piece, map)) {
    if (role->kind == ReadRole::Internal)
      return *role;
    if (role->kind == ReadRole::Parameter)
      return addParameter(std::pair(role->member, role->write), index, r, reached[0], from);
    return other;
  }
  bool usesJ = false;
  for (AffineExpr result : map.getResults())
    usesJ |= result.isFunctionOfDim(group.numDims - 1);
  if (from.empty() || usesJ)
    return other;
  return addParameter(findCopiedPlane(block, piece, map), index, r, reached[0], from);
}

void RoleFinder::run() {
  for (auto [i, member] : llvm::enumerate(group.members))
    memberOf[member.block] = i;
  // What each item depends on, in textual order: results of reductions of the group, except that
  // states are part of their own block.
  for (Operation *item : items.items) {
    llvm::SmallDenseSet<unsigned> from;
    if (auto it = items.reads.find(item); it != items.reads.end())
      for (Value buffer : it->second)
        if (auto writers = items.writers.find(buffer); writers != items.writers.end())
          for (Operation *writer : writers->second) {
            if (writer == item)
              continue;
            addOrigins(writer, from);
          }
    if (auto it = memberOf.find(item); it != memberOf.end()) {
      group.members[it->second].isDependent = !from.empty();
    }
    if (!from.empty())
      origins[item] = from;
  }
  for (unsigned i = 0; i < group.members.size(); ++i)
    for (unsigned r = 0; r < group.members[i].block.getNumReads(); ++r)
      group.members[i].reads.push_back(findRole(i, r));
}

/// Splits a group into parts that don't depend on one another.
static std::vector<OnlineGroup> splitGroup(OnlineGroup &group) {
  llvm::EquivalenceClasses<unsigned> classes;
  for (auto [i, member] : llvm::enumerate(group.members)) {
    classes.insert(i);
    for (const ReadRole &role : member.reads) {
      if (role.kind == ReadRole::Internal)
        classes.unionSets(i, role.member);
      if (role.kind == ReadRole::Parameter)
        for (unsigned origin : group.parameters[role.parameter].origins)
          classes.unionSets(i, origin);
    }
  }
  std::vector<OnlineGroup> parts;
  llvm::DenseMap<unsigned, unsigned> partOf;
  SmallVector<std::pair<unsigned, unsigned>> places;
  for (auto [i, member] : llvm::enumerate(group.members)) {
    unsigned leader = classes.getLeaderValue(i);
    auto [it, isNew] = partOf.try_emplace(leader, parts.size());
    if (isNew) {
      parts.emplace_back();
      parts.back().body = group.body;
      parts.back().symbols = group.symbols;
      parts.back().numDims = group.numDims;
      parts.back().first = group.first;
      parts.back().last = group.last;
      parts.back().parameters = group.parameters;
    }
    places.push_back({it->second, parts[it->second].members.size()});
    parts[it->second].members.push_back(member);
  }
  for (auto [p, part] : llvm::enumerate(parts)) {
    for (OnlineMember &member : part.members)
      for (ReadRole &role : member.reads) {
        // What another part makes is made outside.
        if (role.kind == ReadRole::Foreign && places[role.member].first != p)
          role.kind = ReadRole::External;
        role.member = places[role.member].second;
      }
    for (Parameter &parameter : part.parameters) {
      llvm::SmallDenseSet<unsigned> origins;
      bool mine = true;
      for (unsigned origin : parameter.origins) {
        mine &= places[origin].first == p;
        origins.insert(places[origin].second);
      }
      if (!mine)
        continue;
      parameter.origins = origins;
      if (parameter.lastPlane)
        parameter.lastPlane->first = places[parameter.lastPlane->first].second;
    }
  }
  llvm::erase_if(parts, [](const OnlineGroup &part) {
    return llvm::none_of(part.members, [](const OnlineMember &member) {
      return member.isReduction && member.isDependent;
    });
  });
  return parts;
}

SmallVector<unsigned> online::getLevels(const OnlineGroup &group) {
  SmallVector<unsigned> levels(group.members.size(), 0);
  for (bool changed = true; std::exchange(changed, false);)
    for (auto [m, member] : llvm::enumerate(group.members)) {
      unsigned level = levels[m];
      for (const ReadRole &role : member.reads) {
        if (role.kind == ReadRole::Internal)
          level = std::max(level, levels[role.member]);
        if (role.kind == ReadRole::Parameter)
          for (unsigned origin : group.parameters[role.parameter].origins)
            level = std::max(level, levels[origin] + 1);
      }
      // Deeper than there are members: they wait for each other, which no graph does.
      if (level != levels[m] && level <= group.members.size()) {
        levels[m] = level;
        changed = true;
      }
    }
  return levels;
}

std::vector<OnlineGroup> online::findGroups(Block &body, const GraphAccesses &accesses,
                                      const SymbolSpace &space,
                                      const llvm::DenseSet<Operation *> &ignored) {
  SmallVector<SmallVector<BlockOp>> classes;
  for (BlockOp block : body.getOps<BlockOp>()) {
    if (!isCandidate(block, body) || ignored.contains(block))
      continue;
    auto isSame = [&](ArrayRef<BlockOp> others) {
      BlockOp other = others.front();
      if (other.getNumOwnDims() != block.getNumOwnDims())
        return false;
      SmallVector<StringAttr> symbols = block.getSymbolNames();
      for (StringAttr name : other.getSymbolNames())
        if (!llvm::is_contained(symbols, name))
          symbols.push_back(name);
      return alignSet(block.getDomainSet(), block, symbols) ==
             alignSet(other.getDomainSet(), other, symbols);
    };
    auto it = llvm::find_if(classes, isSame);
    if (it == classes.end())
      classes.push_back({block});
    else
      it->push_back(block);
  }
  std::vector<OnlineGroup> groups;
  std::optional<Items> items;
  for (ArrayRef<BlockOp> blocks : classes) {
    unsigned reductions = llvm::count_if(blocks, [](BlockOp block) {
      return block.getOperator(block.getNumOwnDims() - 1) != ft::OperatorKind::Map;
    });
    if (reductions < 2)
      continue;
    OnlineGroup group;
    group.body = &body;
    group.numDims = BlockOp(blocks.front()).getNumDims();
    for (BlockOp block : blocks) {
      OnlineMember member;
      member.block = block;
      ft::OperatorKind kind = block.getOperator(block.getNumOwnDims() - 1);
      member.isReduction = kind != ft::OperatorKind::Map;
      member.mayReassociate = kind == ft::OperatorKind::Reduce || kind == ft::OperatorKind::Fold;
      group.members.push_back(member);
    }
    // Readers of what the members write have symbols of their own.
    for (BlockOp block : accesses.getBlocks())
      for (StringAttr name : block.getSymbolNames())
        if (!llvm::is_contained(group.symbols, name))
          group.symbols.push_back(name);
    llvm::sort(group.symbols,
               [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
    IntegerSet domain = alignSet(group.members.front().block.getDomainSet(),
                                 group.members.front().block, group.symbols);
    if (!findRange(domain, group.first, group.last))
      continue;
    if (!items)
      items.emplace(body);
    RoleFinder finder(group, *items, accesses, space);
    std::vector<OnlineMember> kept;
    for (OnlineMember &member : group.members)
      if (finder.findStates(member))
        kept.push_back(member);
    group.members = kept;
    if (group.members.empty())
      continue;
    finder.run();
    llvm::append_range(groups, splitGroup(group));
  }
  return groups;
}
