//===- Memory.cpp - planes and slots are enough ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lies in one place: planes of a buffer whose indices agree modulo `live`,
// elements of buffers in one slot, and those of a result in its argument's memory.
// Between the write of an element and a read of it nothing else is written there. A
// body reads all before it writes.
//
//===----------------------------------------------------------------------===//
#include "Checks.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"

#include "ft/Dialect/ETDG/IR/InPlace.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;

bool Checks::checkClobber(const Conjunction &base, const Access &read, const Image &write,
                          const Placed &w, const Image &clobber, const Placed &c, StringRef number,
                          const Twine &message) {
  if (isDone() || base.isProvedEmpty())
    return true;
  Iteration atRead{read.leaf, read.keys}, atWrite{write.write->leaf, w.keys},
      atClobber{clobber.write->leaf, c.keys};
  return forEachNotBefore(base, atClobber, atWrite, [&](const NotBefore &late) {
    return forEachNotBefore(late.set, atRead, atClobber, [&](const NotBefore &early) {
      if (early.isSame())
        return true;
      return expectEmpty(early.set, opOf(read), [&] {
        Shown shown = show(early.set, read);
        showPoint(shown, *clobber.write, c.point);
        report({opOf(read), number, message.str(), sample(shown),
                clobber.write->leaf->block->getLoc(),
                "it is overwritten here, " + whose(*clobber.write)});
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// T8: planes of one buffer
//===----------------------------------------------------------------------===//

void Checks::checkLive(const Access &read, const Image &write, const Image &clobber,
                       ArrayRef<int64_t> live) {
  Conjunction base = read.set;
  Placed w = model.place(write, read.cell, base);
  // The other plane differs by multiples of the moduli.
  SmallVector<Row> cell(read.cell);
  SmallVector<unsigned> turns;
  unsigned numOwner = cell.size() - live.size();
  for (auto [d, planes] : llvm::enumerate(live))
    if (planes > 0) {
      turns.push_back(base.addVar());
      cell[numOwner + d].add(turns.back(), planes);
    }
  Placed c = model.place(clobber, cell, base);
  if (base.isProvedEmpty())
    return;
  for (unsigned turn : turns)
    for (int64_t sign : {1, -1}) {
      Conjunction other = base;
      Row away = Row::number(-1);
      away.add(turn, sign);
      other.addGe(away);
      if (!checkClobber(other, read, write, w, clobber, c, "T8",
                        read.describe() + " needs a plane of " + describeBuffer(read.buffer) +
                            " that another may have taken: more planes must be `live`"))
        return;
    }
}

//===----------------------------------------------------------------------===//
// T10: buffers of one slot
//===----------------------------------------------------------------------===//

/// The first and last operation of the graph's body that touch a buffer, by position.
static std::optional<std::pair<unsigned, unsigned>> getRange(const Model &model, Value buffer) {
  std::optional<std::pair<unsigned, unsigned>> range;
  for (ArrayRef<std::unique_ptr<Access>> accesses :
       {model.getWrites(buffer), model.getReads(buffer)})
    for (const std::unique_ptr<Access> &access : accesses) {
      unsigned at = access->leaf->path.front().position;
      if (!range)
        range = {at, at};
      range->first = std::min(range->first, at);
      range->second = std::max(range->second, at);
    }
  return range;
}

void Checks::checkShared(Value buffer, Value other) {
  auto op = buffer.getDefiningOp<BufferOp>(), otherOp = other.getDefiningOp<BufferOp>();
  // Laid out alike, equal indices are in one place; else any two may be.
  bool alike = op.getType() == otherOp.getType() && op.getLiveAttr() == otherOp.getLiveAttr();
  for (const std::unique_ptr<Access> &read : model.getReads(buffer))
    for (const std::unique_ptr<Access> &writer : model.getWrites(buffer)) {
      Conjunction pair = read->set;
      Image write = model.getImage(*writer);
      Placed w = model.place(write, read->cell, pair);
      if (pair.isProvedEmpty())
        continue;
      for (const std::unique_ptr<Access> &clobberer : model.getWrites(other)) {
        Image clobber = model.getImage(*clobberer);
        Conjunction base = pair;
        SmallVector<Row> cell;
        for (unsigned d = 0; d < clobber.numCell; ++d) {
          if (!alike) {
            cell.push_back(Row::variable(base.addVar()));
            continue;
          }
          cell.push_back(read->cell[d]);
          if (op.getLiveAttr() && (*op.getLive())[d] > 0)
            cell.back().add(base.addVar(), (*op.getLive())[d]);
        }
        Placed c = model.place(clobber, cell, base);
        if (!checkClobber(base, *read, write, w, clobber, c, "T10",
                          read->describe() + " needs an element of " + describeBuffer(buffer) +
                              " whose slot " + describeBuffer(other) + " may have taken"))
          return;
      }
    }
}

void Checks::checkSlots() {
  llvm::MapVector<Attribute, SmallVector<Value>> slots;
  for (Value buffer : model.getBuffers())
    if (auto op = buffer.getDefiningOp<BufferOp>())
      if (Attribute slot = op->getAttr(etdg::names::slot)) {
        if (op->getParentOp() != graph)
          report({op, "T10", "only the graph's own buffers have slots", "", std::nullopt, ""});
        else if (llvm::any_of(buffer.getUsers(), llvm::IsaPred<ReturnOp>))
          report({op, "T10", "a result has no slot", "", std::nullopt, ""});
        else
          slots[slot].push_back(buffer);
      }
  for (auto &[slot, sharing] : slots) {
    struct Use {
      Value buffer;
      unsigned first, last;
    };
    SmallVector<Use> uses;
    for (Value buffer : sharing)
      if (auto range = getRange(model, buffer))
        uses.push_back({buffer, range->first, range->second});
    llvm::sort(uses, [](const Use &a, const Use &b) {
      return std::pair(a.first, a.last) < std::pair(b.first, b.last);
    });
    // Operations of the body run one after the other: only those that meet are asked.
    SmallVector<Use> active;
    for (const Use &use : uses) {
      llvm::erase_if(active, [&](const Use &before) { return before.last < use.first; });
      for (const Use &before : active) {
        checkShared(before.buffer, use.buffer);
        checkShared(use.buffer, before.buffer);
      }
      active.push_back(use);
    }
  }
}

//===----------------------------------------------------------------------===//
// T10: results in the memory of arguments
//===----------------------------------------------------------------------===//

void Checks::checkReplaced(const Access &read, const Access &writer) {
  Conjunction base = read.set;
  Image clobber = model.getImage(writer);
  Placed c = model.place(clobber, read.cell, base);
  if (base.isProvedEmpty())
    return;
  forEachNotBefore(base, {read.leaf, read.keys}, {writer.leaf, c.keys}, [&](const NotBefore &late) {
    return late.isSame() || expectEmpty(late.set, opOf(read), [&] {
             Shown shown = show(late.set, read);
             showPoint(shown, writer, c.point);
             report({opOf(read), "T10",
                     read.describe() + " needs an element of " + describeBuffer(read.buffer) + " that " + describeBuffer(writer.buffer) +
                         ", which is in its memory, may have taken",
                     sample(shown), writer.leaf->block->getLoc(), "it is overwritten here, " + whose(writer)});
           });
  });
}

void Checks::checkInPlace() {
  for (auto [result, argument] : getInPlaceArguments(graph))
    for (const std::unique_ptr<Access> &writer : model.getWrites(result)) {
      // What takes its own element leaves the memory as it is.
      if (isCopyFrom(writer->leaf->block, writer->index, argument))
        continue;
      for (const std::unique_ptr<Access> &read : model.getReads(argument))
        if (!isDone())
          checkReplaced(*read, *writer);
    }
}
