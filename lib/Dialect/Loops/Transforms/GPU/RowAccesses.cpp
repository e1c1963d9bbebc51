//===- RowAccesses.cpp - places of rows in memory, and accesses there -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Loops/Transforms/GPU/RowAccesses.h"

#include "ft/Dialect/Loops/Transforms/GPU/DeviceMemory.h" // bytes of elements

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using leaf::Buffer;
using leaf::ElementView;
using schedule::RowNest;
using schedule::RowPlan;

ElementView togpu::viewOverRow(const RowNest &form, const ElementView &view) {
  ElementView normal = view;
  normal.strides.clear();
  for (int loop : form.pointLoops)
    normal.strides.push_back(view.strides[loop]);
  normal.strides.push_back(form.rowLoop < 0 ? 0 : view.strides[form.rowLoop]);
  return normal;
}

SmallVector<ElementView> togpu::placesOfRows(const leaf::LeafGraph &graph, const RowPlan &plan) {
  SmallVector<ElementView> places;
  for (const RowNest &form : plan.nests) {
    auto add = [&](ArrayRef<ElementView> views, bool isWritten) {
      for (const ElementView &view : views) {
        if (view.isSplat())
          continue;
        // What one nest leaves for another is in registers: of outputs, too.
        Buffer::Kind kind = graph.buffers[view.buffer].kind;
        if (isWritten ? kind != Buffer::Kind::Output : kind != Buffer::Kind::Input && kind != Buffer::Kind::Constant)
          continue;
        ElementView place = viewOverRow(form, view);
        if (!llvm::is_contained(places, place))
          places.push_back(std::move(place));
      }
    };
    for (const leaf::NestMember &member : form.nest->members) {
      add(member.reads, /*isWritten=*/false);
      add(member.inits, /*isWritten=*/false);
      add(member.writes, /*isWritten=*/true);
    }
  }
  return places;
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// How many adjacent elements of a row are one access: a lane's, where each lies at a multiple of its bytes.
static int64_t widthOf(const leaf::LeafGraph &graph, const ElementView &place, const RowPlan &plan, ArrayRef<BufferFacts> facts, int64_t accessBytes) {
  const Buffer &buffer = graph.buffers[place.buffer];
  int64_t width = plan.width;
  bool aligned = place.strides.back() == 1 && facts[size_t(place.buffer)].isAligned && place.offset % width == 0 && buffer.numElements % width == 0 &&
                 width * bytesOf(buffer.elementType) <= accessBytes;
  for (int64_t stride : ArrayRef(place.strides).drop_back())
    aligned &= stride % width == 0;
  for (const leaf::DynamicTerm &term : place.terms)
    aligned &= term.stride % width == 0;
  return aligned ? width : 1;
}

/// Whether lanes may count from where rows of a place begin: it is memory, whose address is known without data, in which rows lie adjacent.
static bool canBeLine(loops::LeafOp leaf, const leaf::LeafGraph &graph, const ElementView &place) {
  const Buffer &buffer = graph.buffers[place.buffer];
  if (place.strides.back() != 1 || !place.terms.empty() || buffer.kind == Buffer::Kind::Constant)
    return false;
  if (buffer.kind == Buffer::Kind::Output)
    return true;
  Value memory = leaf.getInputs()[buffer.number].getDefiningOp<loops::ViewOp>().getMemory();
  return memoryFormOf(memory, liftOf(leaf)).hasMemory;
}

tile::RowAccessesAttr togpu::chooseRowAccesses(loops::LeafOp leaf, const LeafInBlock &own, const RowPlan &plan, ArrayRef<BufferFacts> facts,
                                               const Machine &machine) {
  const leaf::LeafGraph &graph = own.form.graph;
  SmallVector<int64_t> widths;
  int64_t line = -1;
  for (auto [number, place] : llvm::enumerate(placesOfRows(graph, plan))) {
    widths.push_back(widthOf(graph, place, plan, facts, machine.gpu.accessBytes));
    // Rows of what is stored, if anything is.
    bool isOutput = graph.buffers[place.buffer].kind == Buffer::Kind::Output;
    if (plan.shifted && canBeLine(leaf, graph, place) && (line < 0 || isOutput))
      line = int64_t(number);
  }
  return tile::RowAccessesAttr::get(leaf.getContext(), widths, line);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

FailureOr<tile::RowAccessesAttr> togpu::readRowAccesses(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling, const LeafPlaces &places,
                                                        const Machine &machine) {
  const leaf::LeafGraph &graph = own.form.graph;
  const RowPlan &plan = *tiling.rows;
  auto refuse = [&] { return leaf.emitError("the GPU engine can't run the leaf's nests: "); };
  ArrayAttr nests = leaf.getNestsAttr();
  auto said = nests && nests.size() == 1 ? dyn_cast<tile::RowAccessesAttr>(nests[0]) : tile::RowAccessesAttr();
  if (!said)
    return refuse() << "it is not specified in which accesses lanes take rows (#tile.row_accesses): loops-choose-points does";
  tile::RowAccessesAttr widest = chooseRowAccesses(leaf, own, plan, findFacts(leaf, graph, places), machine);
  if (said.getWidths().size() != widest.getWidths().size())
    return refuse() << "its rows have " << widest.getWidths().size() << " places, found " << said;
  for (auto [number, width, most] : llvm::enumerate(said.getWidths(), widest.getWidths()))
    if (width != 1 && width != most)
      return refuse() << "place " << number << ": expected 1 element" << (most > 1 ? " or " + std::to_string(most) : std::string())
                      << " in an access, found " << said;
  if (plan.shifted ? said.getLine() >= 0 && !canBeLine(leaf, graph, placesOfRows(graph, plan)[size_t(said.getLine())]) : said.getLine() >= 0)
    return refuse() << "line = " << said.getLine() << ": expected a place in memory where rows lie adjacent, and a layout whose lanes count from a line (line = "
                    << RowPlan::lineVectors << "), found " << said;
  return said;
}
