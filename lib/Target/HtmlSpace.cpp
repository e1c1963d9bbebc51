//===- HtmlSpace.cpp - iteration spaces as drawings -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The points of each nest at small lengths, as FT Fig. 9 draws them: points of one
// colour run at the same step. A step is a value of the schedule's sequential
// loops; without a schedule, of the dimensions that are no maps. Everything here is
// found by enumeration, and shares nothing with the passes whose work it shows.
//
//===----------------------------------------------------------------------===//
#include "HtmlPage.h"

#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "llvm/Support/Format.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::html;

using Point = std::vector<int64_t>;

static constexpr int64_t maxExtent = 12; // values of a dimension that are drawn
static constexpr size_t maxPoints = 6000, maxArrows = 3000, maxInner = 64;

//===----------------------------------------------------------------------===//
// Enumeration
//===----------------------------------------------------------------------===//

static int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/// None where a divisor is 0 or a dimension is not known.
static std::optional<int64_t> evaluate(AffineExpr expr, ArrayRef<int64_t> dims,
                                       ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() < dims.size() ? std::optional(dims[dim.getPosition()]) : std::nullopt;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbol.getPosition() < symbols.size() ? std::optional(symbols[symbol.getPosition()])
                                                 : std::nullopt;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> a = evaluate(binary.getLHS(), dims, symbols),
                         b = evaluate(binary.getRHS(), dims, symbols);
  int64_t result = 0;
  if (!a || !b)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*a, *b, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(*a, *b, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::FloorDiv:
    return *b > 0 ? std::optional(floorDivide(*a, *b)) : std::nullopt;
  case AffineExprKind::CeilDiv:
    return *b > 0 ? std::optional(-floorDivide(-*a, *b)) : std::nullopt;
  case AffineExprKind::Mod:
    return *b > 0 ? std::optional(*a - floorDivide(*a, *b) * *b) : std::nullopt;
  default:
    return std::nullopt;
  }
}

static bool contains(IntegerSet set, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
  if (isUniverse(set))
    return true;
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    std::optional<int64_t> value = evaluate(set.getConstraint(i), dims, symbols);
    if (!value || (set.isEq(i) ? *value != 0 : *value < 0))
      return false;
  }
  return true;
}

namespace {
/// Values of a block's symbols, in the block's order.
SmallVector<int64_t> symbolValues(BlockOp block, const LengthValues &lengths) {
  SmallVector<int64_t> values;
  for (StringAttr name : block.getSymbolNames()) {
    auto it = lengths.find(name.getValue());
    values.push_back(it == lengths.end() ? 4 : it->second);
  }
  return values;
}

/// All points of a block whose ancestors are at `prefix`.
struct Enumerator {
  BlockOp block;
  SmallVector<int64_t> symbols;
  int64_t limit;
  size_t maxCount;
  bool clipped = false;
  std::vector<Point> points;

  Enumerator(BlockOp block, const LengthValues &lengths, int64_t limit, size_t maxCount)
      : block(block), symbols(symbolValues(block, lengths)), limit(limit), maxCount(maxCount) {}

  void run(Point prefix) {
    prefix.resize(block.getNumAncestors());
    visit(prefix);
  }

  void visit(Point &point) {
    if (points.size() >= maxCount) {
      clipped = true;
      return;
    }
    IntegerSet set = block.getDomainSet();
    unsigned d = point.size();
    if (d == block.getNumDims()) {
      if (contains(set, point, symbols))
        points.push_back(point);
      return;
    }
    // The range that constraints on this dimension and those before give.
    std::optional<int64_t> low, high;
    for (unsigned i = 0; !isUniverse(set) && i < set.getNumConstraints(); ++i) {
      LinearForm form = LinearForm::of(set.getConstraint(i));
      int64_t factor = form.coefficient(getAffineDimExpr(d, block.getContext()));
      if (form.getLastDim() != static_cast<int>(d) || !form.isLinearIn(d) || factor == 0)
        continue;
      Point at = point;
      at.push_back(0);
      std::optional<int64_t> rest = evaluate(set.getConstraint(i), at, symbols);
      if (!rest)
        continue;
      // factor · x + rest ≥ 0
      if (factor > 0 || set.isEq(i)) {
        int64_t bound = factor > 0 ? -floorDivide(*rest, factor) : floorDivide(*rest, -factor);
        low = std::max(low.value_or(bound), bound);
      }
      if (factor < 0 || set.isEq(i)) {
        int64_t bound = factor < 0 ? floorDivide(*rest, -factor) : -floorDivide(*rest, factor);
        high = std::min(high.value_or(bound), bound);
      }
    }
    int64_t first = low.value_or(high ? *high - limit + 1 : 0),
            last = high.value_or(first + limit - 1);
    if (last - first + 1 > limit) {
      clipped = true;
      last = first + limit - 1;
    }
    for (int64_t value = first; value <= last; ++value) {
      point.push_back(value);
      visit(point);
      point.pop_back();
    }
  }
};

//===----------------------------------------------------------------------===//
// One nest
//===----------------------------------------------------------------------===//

struct Mark {
  Point own; // own dimensions
  unsigned step = 0;
  unsigned block = 0;
};

class Space {
public:
  Space(ArrayRef<BlockOp> blocks, ScheduleAttr schedule, Point ancestors,
        const LengthValues &lengths, std::string id)
      : blocks(blocks), schedule(schedule), ancestors(std::move(ancestors)), lengths(lengths),
        id(std::move(id)) {}
  bool build();
  void write(llvm::raw_ostream &os);

private:
  Point stepOf(ArrayRef<int64_t> own);
  void findArrows();
  void addAccesses(BlockOp block, const Point &point, const Mark &mark,
                   llvm::function_ref<void(const std::vector<int64_t> &, bool)> add);
  void chooseDims();
  void writeDrawing(llvm::raw_ostream &os);
  void writeSchedule(llvm::raw_ostream &os);
  std::pair<double, double> place(const Point &own) const;
  bool isDrawn(const Point &own) const;
  std::string color(unsigned step) const;
  StringAttr dimName(unsigned own) {
    return first().getDimNames()[first().getNumAncestors() + own];
  }
  BlockOp first() { return blocks.front(); }

  SmallVector<BlockOp> blocks;
  ScheduleAttr schedule;
  Point ancestors;
  const LengthValues &lengths;
  std::string id;
  bool clipped = false;
  std::vector<Mark> marks;
  std::vector<Point> steps; // by number
  std::set<std::pair<Point, Point>> arrows;
  SmallVector<unsigned> drawn; // own dimensions
  Point fixed;                 // of the others
  Point least, most;
};
} // namespace

Point Space::stepOf(ArrayRef<int64_t> own) {
  Point step;
  if (schedule) {
    AffineMap map = schedule.getMap().getValue();
    auto row = [&](unsigned r, int64_t tile) {
      std::optional<int64_t> value = evaluate(map.getResult(r), own, {});
      step.push_back(floorDivide(value.value_or(0), tile));
    };
    for (LoopAttr loop : schedule.getPointLoops())
      if (loop.getKind() == LoopKind::Sequential && loop.getDimension() >= 0 &&
          loop.getDimension() < static_cast<int64_t>(map.getNumResults()))
        row(loop.getDimension(), std::max<int64_t>(1, loop.getTile()));
    if (schedule.getLoops().empty())
      for (unsigned r = 0; r < map.getNumResults(); ++r)
        row(r, 1);
    return step;
  }
  for (unsigned d = 0; d < own.size(); ++d)
    if (first().getOperator(d) != ft::OperatorKind::Map)
      step.push_back(own[d]);
  return step;
}

bool Space::build() {
  std::set<Point> distinct;
  std::vector<Point> stepOfMark;
  for (auto [b, block] : llvm::enumerate(blocks)) {
    Enumerator all(block, lengths, maxExtent, maxPoints);
    all.run(ancestors);
    clipped |= all.clipped;
    for (Point &point : all.points) {
      Mark mark;
      mark.own.assign(point.begin() + block.getNumAncestors(), point.end());
      mark.block = b;
      stepOfMark.push_back(stepOf(mark.own));
      distinct.insert(stepOfMark.back());
      marks.push_back(std::move(mark));
    }
  }
  steps.assign(distinct.begin(), distinct.end());
  for (auto [mark, step] : llvm::zip(marks, stepOfMark))
    mark.step = std::lower_bound(steps.begin(), steps.end(), step) - steps.begin();
  if (marks.empty())
    return false;
  chooseDims();
  findArrows();
  return true;
}

void Space::chooseDims() {
  unsigned numOwn = first().getNumOwnDims();
  least = most = marks.front().own;
  for (const Mark &mark : marks)
    for (unsigned d = 0; d < numOwn; ++d) {
      least[d] = std::min(least[d], mark.own[d]);
      most[d] = std::max(most[d], mark.own[d]);
    }
  // What steps depend on is drawn first.
  SmallVector<unsigned> first, second;
  for (unsigned d = 0; d < numOwn; ++d) {
    if (least[d] == most[d])
      continue;
    bool orders = first.empty() && false;
    if (schedule) {
      AffineMap map = schedule.getMap().getValue();
      for (LoopAttr loop : schedule.getPointLoops())
        if (loop.getKind() == LoopKind::Sequential &&
            loop.getDimension() < static_cast<int64_t>(map.getNumResults()))
          orders |= map.getResult(loop.getDimension()).isFunctionOfDim(d);
    } else {
      orders = this->first().getOperator(d) != ft::OperatorKind::Map;
    }
    (orders ? first : second).push_back(d);
  }
  first.append(second);
  for (unsigned d : first)
    if (drawn.size() < 3)
      drawn.push_back(d);
  llvm::sort(drawn);
  if (drawn.empty() && numOwn)
    drawn.push_back(numOwn - 1);
  // The others stay where the first point is.
  fixed = marks.front().own;
}

bool Space::isDrawn(const Point &own) const {
  for (unsigned d = 0; d < own.size(); ++d)
    if (!llvm::is_contained(drawn, d) && own[d] != fixed[d])
      return false;
  return true;
}

/// Buffers and indices that a point of one of the nest's blocks touches. What is
/// private to the point's own iteration says nothing of others.
void Space::addAccesses(BlockOp block, const Point &point, const Mark &mark,
                        llvm::function_ref<void(const std::vector<int64_t> &, bool)> add) {
  if (!block.isLeaf()) {
    for (Operation &op : block.getBody().front()) {
      auto visit = [&](BlockOp child) {
        Enumerator inner(child, lengths, 4, maxInner);
        inner.run(point);
        for (const Point &p : inner.points)
          addAccesses(child, p, mark, add);
      };
      if (auto child = dyn_cast<BlockOp>(op))
        visit(child);
      else if (isa<NestOp, KernelOp>(op))
        op.walk([&](BlockOp child) {
          if (child.getParentBlock() == block)
            visit(child);
        });
    }
    return;
  }
  unsigned numAncestors = first().getNumAncestors();
  SmallVector<int64_t> symbols = symbolValues(block, lengths);
  auto touch = [&](int64_t operand, AffineMap map, ArrayRef<int64_t> dims, bool writes) {
    Value buffer = block.getBuffers()[operand];
    if (getNumOwnerDims(buffer) > numAncestors)
      return;
    std::vector<int64_t> key = {reinterpret_cast<int64_t>(buffer.getAsOpaquePointer())};
    for (unsigned d = 0;
         d < cast<BufferType>(buffer.getType()).getDepth() && d < map.getNumResults(); ++d) {
      std::optional<int64_t> index = evaluate(map.getResult(d), dims, symbols);
      if (!index)
        return;
      key.push_back(*index);
    }
    add(key, writes);
  };
  for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
    touch(write.getOperand(), write.getMap().getValue(), point, true);
  for (ReadAttr read : block.getReads().getAsRange<ReadAttr>())
    for (PieceAttr piece : read.getPieces()) {
      Point dims = point;
      dims.resize(point.size() + read.getElementRank(), 0);
      if (piece.getKind() == SourceKind::Buffer && piece.getGathers().empty() &&
          contains(piece.getSet().getValue(), dims, symbols))
        touch(piece.getOperand(), piece.getMap().getValue(), dims, false);
    }
}

void Space::findArrows() {
  std::map<std::vector<int64_t>, const Mark *> writers;
  for (bool writing : {true, false})
    for (const Mark &mark : marks) {
      if (!isDrawn(mark.own))
        continue;
      Point point = ancestors;
      point.resize(first().getNumAncestors());
      point.insert(point.end(), mark.own.begin(), mark.own.end());
      addAccesses(blocks[mark.block], point, mark,
                  [&](const std::vector<int64_t> &key, bool writes) {
                    if (writing) {
                      if (writes)
                        writers[key] = &mark;
                      return;
                    }
                    auto it = writers.find(key);
                    if (!writes && it != writers.end() && it->second->own != mark.own &&
                        arrows.size() < maxArrows)
                      arrows.insert({it->second->own, mark.own});
                  });
    }
}

std::pair<double, double> Space::place(const Point &own) const {
  constexpr double cell = 34;
  auto at = [&](unsigned i) { return static_cast<double>(own[drawn[i]] - least[drawn[i]]); };
  auto extent = [&](unsigned i) { return static_cast<double>(most[drawn[i]] - least[drawn[i]]); };
  double x = 46, y = 24;
  if (drawn.size() == 1)
    return {x + at(0) * cell, y};
  if (drawn.size() == 2)
    return {x + at(1) * cell, y + at(0) * cell};
  // Three: the first one goes into the depth.
  return {x + at(2) * cell + at(0) * 0.5 * cell,
          y + at(1) * cell + (extent(0) - at(0)) * 0.42 * cell};
}

std::string Space::color(unsigned step) const {
  // From blue to red; steps that are far apart in time are far apart in hue.
  double hue = steps.size() < 2 ? 210 : 230 - 230.0 * step / static_cast<double>(steps.size() - 1);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("hsl(%.3f,70%%,%d%%)", hue, step % 2 ? 52 : 60);
  return text;
}

void Space::writeDrawing(llvm::raw_ostream &os) {
  double width = 0, height = 0;
  for (const Mark &mark : marks)
    if (isDrawn(mark.own)) {
      auto [x, y] = place(mark.own);
      width = std::max(width, x + 30);
      height = std::max(height, y + 40);
    }
  os << llvm::format("<svg class=\"space\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
                     "height=\"%.0f\">",
                     width, height)
     << "<defs><marker id=\"" << id
     << "-a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" "
     << "markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n";
  for (const auto &[from, to] : arrows) {
    auto [x1, y1] = place(from);
    auto [x2, y2] = place(to);
    double length = std::hypot(x2 - x1, y2 - y1), r = 10;
    if (length < 1)
      continue;
    double dx = (x2 - x1) / length * r, dy = (y2 - y1) / length * r;
    os << llvm::format("<line class=\"dep\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"",
                       x1 + dx, y1 + dy, x2 - dx, y2 - dy)
       << " marker-end=\"url(#" << id << "-a)\"/>\n";
  }
  for (const Mark &mark : marks) {
    if (!isDrawn(mark.own))
      continue;
    auto [x, y] = place(mark.own);
    std::string text = "(";
    for (unsigned d = 0; d < mark.own.size(); ++d)
      text += (d ? ", " : "") + dimName(d).getValue().str() + " = " + std::to_string(mark.own[d]);
    text += "): step " + std::to_string(mark.step) + ", " + describeBlock(blocks[mark.block]);
    os << llvm::format("<circle class=\"pt\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"", x, y)
       << " data-step=\"" << mark.step << "\" fill=\"" << color(mark.step) << "\"><title>"
       << escape(text) << "</title></circle>";
    os << llvm::format("<text class=\"num\" x=\"%.1f\" y=\"%.1f\">", x, y + 3) << mark.step
       << "</text>\n";
  }
  // Names of the axes.
  auto axis = [&](unsigned i, double x, double y, StringRef arrow) {
    os << llvm::format("<text class=\"axis\" x=\"%.1f\" y=\"%.1f\">", x, y)
       << escape(dimName(drawn[i])) << " " << arrow << "</text>";
  };
  if (drawn.size() == 1)
    axis(0, 4, height - 6, "→");
  if (drawn.size() >= 2) {
    axis(drawn.size() - 1, 46, height - 6, "→");
    axis(drawn.size() - 2, 4, 30, "↓");
  }
  if (drawn.size() == 3)
    axis(0, 4, height - 24, "↗");
  os << "</svg>\n";
}

void Space::writeSchedule(llvm::raw_ostream &os) {
  if (!schedule) {
    os << "<p>No schedule: lexicographic order; maps run side by side.</p>\n";
    return;
  }
  AffineMap map = schedule.getMap().getValue();
  os << "<table class=\"matrix\"><caption>T and the loops</caption><tr><th></th>";
  for (unsigned d = 0; d < map.getNumDims(); ++d)
    os << "<th>" << (d < first().getNumOwnDims() ? escape(dimName(d)) : std::to_string(d))
       << "</th>";
  os << "<th>+</th><th>loop</th></tr>\n";
  for (unsigned r = 0; r < map.getNumResults(); ++r) {
    LinearForm form = LinearForm::of(map.getResult(r));
    os << "<tr><th>t" << r << "</th>";
    for (unsigned d = 0; d < map.getNumDims(); ++d)
      os << "<td>" << form.coefficient(getAffineDimExpr(d, map.getContext())) << "</td>";
    os << "<td>" << form.constant << "</td><td>";
    bool any = false;
    for (auto [position, loop] : llvm::enumerate(schedule.getLoops()))
      if (loop.getDimension() == static_cast<int64_t>(r)) {
        os << (any ? "; " : "") << position << ": " << escape(stringifyLoopKind(loop.getKind()));
        if (loop.hasAnyTile())
          os << " of ?";
        else if (loop.getTile() != 1)
          os << " of " << loop.getTile();
        if (loop.getLevel() != LoopLevel::None)
          os << " (" << escape(stringifyLoopLevel(loop.getLevel())) << ")";
        any = true;
      }
    os << "</td></tr>\n";
  }
  os << "</table>\n";
}

void Space::write(llvm::raw_ostream &os) {
  std::vector<size_t> widths(steps.size(), 0);
  for (const Mark &mark : marks)
    ++widths[mark.step];
  size_t widest = *std::max_element(widths.begin(), widths.end());
  os << "<div class=\"nest\" id=\"" << id << "\" data-steps=\"" << steps.size() << "\"><h4>";
  for (auto [i, block] : llvm::enumerate(blocks))
    os << (i ? ", " : "") << escape(describeBlock(block));
  os << "</h4>\n<ul class=\"blocks\">";
  for (BlockOp block : blocks)
    os << "<li><code>" << escape(describeHeader(block)) << "</code> where <code>"
       << escape(describeDomain(block)) << "</code></li>";
  os << "</ul>\n<p>" << marks.size() << " iterations in " << steps.size() << (steps.size() == 1 ? " step, " : " steps, ") << widest
     << " at most in one";
  size_t shown = llvm::count_if(marks, [&](const Mark &mark) { return isDrawn(mark.own); });
  if (shown != marks.size()) {
    os << "; drawn: " << shown << " of them, with";
    for (unsigned d = 0; d < fixed.size(); ++d)
      if (!llvm::is_contained(drawn, d))
        os << " " << escape(dimName(d)) << " = " << fixed[d];
  }
  if (clipped)
    os << "; only the first " << maxExtent << " values of a dimension";
  for (unsigned d = 0; d < ancestors.size() && d < first().getNumAncestors(); ++d)
    os << "; " << escape(first().getDimNames()[d].getValue()) << " = " << ancestors[d];
  os << ".</p>\n";
  os << "<p class=\"control\"><input type=\"range\" min=\"-1\" max=\"" << steps.size() - 1
     << "\" value=\"-1\" oninput=\"show('" << id << "', Number(this.value))\"/> <output id=\"" << id
     << "-o\">all steps</output></p>\n";
  os << "<div class=\"row\">";
  writeDrawing(os);
  os << "<div>";
  writeSchedule(os);
  os << "<table "
        "class=\"steps\"><caption>steps</caption><tr><th>step</th><th>at</th><th>width</th></tr>\n";
  constexpr size_t maxRows = 40;
  for (size_t s = 0; s < steps.size() && s < maxRows; ++s) {
    os << "<tr><td><span class=\"swatch\" style=\"background:" << color(s) << "\"></span>" << s
       << "</td><td>";
    for (auto [i, value] : llvm::enumerate(steps[s]))
      os << (i ? ", " : "") << value;
    os << "</td><td>" << widths[s] << "</td></tr>\n";
  }
  if (steps.size() > maxRows)
    os << "<tr><td colspan=\"3\">and " << steps.size() - maxRows << " more</td></tr>\n";
  os << "</table></div></div></div>\n";
}

//===----------------------------------------------------------------------===//
// All nests of a graph
//===----------------------------------------------------------------------===//

static void drawRegion(Region &region, const Point &ancestors, const LengthValues &lengths,
                       StringRef prefix, unsigned &number, llvm::raw_ostream &os) {
  for (ArrayRef<BlockOp> nest : getNests(region)) {
    if (nest.empty())
      continue;
    SmallVector<BlockOp> blocks(nest);
    NestOp op = blocks.front().getNest();
    // Blocks that are scheduled by themselves are drawn by themselves.
    std::vector<std::pair<SmallVector<BlockOp>, ScheduleAttr>> groups;
    if (op && op.getScheduleAttr())
      groups.push_back({blocks, op.getScheduleAttr()});
    else if (llvm::any_of(blocks, [](BlockOp b) { return static_cast<bool>(b.getScheduleAttr()); }))
      for (BlockOp b : blocks)
        groups.push_back({{b}, b.getScheduleAttr()});
    else
      groups.push_back({blocks, ScheduleAttr()});
    for (auto &[group, schedule] : groups) {
      if (group.front().getNumOwnDims() == 0)
        continue;
      Space space(group, schedule, ancestors, lengths,
                  (prefix + "n" + std::to_string(number++)).str());
      if (space.build())
        space.write(os);
    }
    for (BlockOp block : blocks) {
      if (block.isLeaf())
        continue;
      Enumerator points(block, lengths, maxExtent, 1);
      points.run(ancestors);
      if (!points.points.empty())
        drawRegion(block.getBody(), points.points.front(), lengths, prefix, number, os);
    }
  }
}

void html::drawSpaces(GraphOp graph, const LengthValues &lengths, StringRef prefix,
                      llvm::raw_ostream &os) {
  unsigned number = 0;
  drawRegion(graph.getBody(), {}, lengths, prefix, number, os);
}
