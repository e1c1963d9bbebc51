//===- Handed.cpp - do others read the last state alone? ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// T15. Engines may keep a state that `etdg.handed` lists in registers, and store the last one. So what an iteration before the last one along the
// dimension writes, the leaf itself reads in its next iteration, and nothing else.
//
//===----------------------------------------------------------------------===//
#include "Checks.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"


using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;

void Checks::checkHanded(const Access &write, const Access &read, unsigned dim) {
  Image image = model.getImage(write);
  Conjunction pair = read.set;
  Placed here = model.place(image, read.cell, pair);
  // Another element, which the leaf writes later along the dimension.
  SmallVector<Row> cell;
  for (unsigned c = 0; c < image.numCell; ++c)
    cell.push_back(Row::variable(pair.addVar()));
  Placed later = model.place(image, cell, pair);
  BlockOp block = write.leaf->block;
  for (unsigned d = 0; d < block.getNumDims(); ++d) {
    Row after = later.point[d].minus(here.point[d]);
    if (d != dim) {
      pair.addEq(after);
      continue;
    }
    after.addConstant(-1);
    pair.addGe(after);
  }
  auto ask = [&](const Conjunction &set) {
    return expectEmpty(set, opOf(read), [&] {
      Shown shown = show(set, read);
      showPoint(shown, write, here.point);
      report({opOf(read), "T15",
              read.describe() + " reads a state of " + describeBuffer(read.buffer) + " that is not the last one along " + block.getDimNames()[dim].str() +
                  ", though 'etdg.handed' says that the leaf alone does",
              sample(shown), block->getLoc(), "it is written here, " + whose(write)});
    });
  };
  if (pair.isFalse())
    return;
  if (read.leaf != write.leaf || read.kind != Access::Read || read.gathers) {
    ask(pair);
    return;
  }
  for (unsigned d = 0; d < block.getNumDims(); ++d)
    for (int64_t sign : {1, -1}) {
      Row apart = Row::variable(model.getNumShared() + d).minus(here.point[d]);
      apart.addConstant(d == dim ? -1 : 0);
      Row by = Row::number(-1);
      by.addScaled(apart, sign);
      Conjunction set = pair;
      set.addGe(by);
      if (!ask(set))
        return;
    }
}

void Checks::checkHanded(const Leaf &leaf) {
  BlockOp block = leaf.block;
  auto pairs = block->getAttrOfType<DenseI64ArrayAttr>(etdg::names::handed);
  for (int64_t i = 0; pairs && i < pairs.size(); i += 2) {
    Value buffer = block.getBuffers()[block.getWrite(unsigned(pairs[i])).getOperand()];
    if (!llvm::all_of(buffer.getUsers(), llvm::IsaPred<BlockOp>))
      report({block, "T15", describeBuffer(buffer) + " is a result of the graph, whose caller gets all states", "", std::nullopt, ""});
    for (const std::unique_ptr<Access> &write : model.getWrites(buffer))
      for (const std::unique_ptr<Access> &read : model.getReads(buffer))
        if (!isDone() && write->leaf == &leaf && int64_t(write->index) == pairs[i])
          checkHanded(*write, *read, unsigned(pairs[i + 1]));
  }
}
