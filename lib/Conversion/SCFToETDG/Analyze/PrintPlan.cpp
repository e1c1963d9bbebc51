//===- PrintPlan.cpp - what raising knows of a program, as text -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops are i, j, k, …; c0, c1, … is the cell of an array.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/Plan.h"

#include "ft/Dialect/ETDG/IR/SetText.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

namespace {
class PlanPrinter {
public:
  PlanPrinter(const GraphPlan &plan, raw_ostream &os) : plan(plan), os(os) {
    symbols.assign(plan.sets->getNames().begin(), plan.sets->getNames().end());
    MLIRContext *context = plan.sets->getContext();
    unsigned rank = 0;
    for (const Family &family : plan.families)
      rank = std::max<unsigned>(rank, cast<RankedTensorType>(family.root.getType()).getRank());
    for (unsigned c = 0; c < rank; ++c)
      symbols.push_back(StringAttr::get(context, "c" + std::to_string(c)));
    for (unsigned d = 0, depth = countDims(plan.steps); d < depth; ++d)
      dims.push_back(graphwriter::freshDim(dims, symbols, context));
  }

  void print();

private:
  unsigned countDims(ArrayRef<Step> steps);
  void printArray(const Family &family);
  void printWriter(const Writer &writer);
  void printBuffer(const Home &home);
  void printSteps(ArrayRef<Step> steps, unsigned indent);
  void printLeaf(const Step &leaf, unsigned indent);
  void printPiece(const Piece &piece);
  void printExpr(AffineExpr expr) { printNamedExpr(os, expr, dims, symbols); }
  void printIndex(ArrayRef<AffineExpr> index) {
    os << '[';
    llvm::interleaveComma(index, os, [&](AffineExpr e) { printExpr(e); });
    os << ']';
  }
  void printWhere(ArrayRef<Constraint> all) {
    if (all.empty())
      return;
    os << " where ";
    llvm::interleave(
        all, os, [&](const Constraint &c) { etdg::printCondition(os, c.expr, c.isEquality, dims, symbols); }, " and ");
  }
  unsigned numberOf(const Home *home) const {
    unsigned number = 0;
    for (const Home &other : plan.homes) {
      if (&other == home)
        break;
      ++number;
    }
    return number;
  }

  const GraphPlan &plan;
  raw_ostream &os;
  SmallVector<StringAttr> dims, symbols;
};
} // namespace

/// How many dimensions an expression may have: loops around a writer, or an iteration vector and an element.
unsigned PlanPrinter::countDims(ArrayRef<Step> steps) {
  unsigned count = plan.loops.size();
  for (const Step &step : steps) {
    for (const ReadPlan &read : step.reads)
      count = std::max(count, step.at.numDims() + read.elementRank);
    count = std::max({count, step.at.numDims(), countDims(step.steps)});
  }
  return count;
}

void PlanPrinter::printWriter(const Writer &writer) {
  for (const Writer::Alternative &alternative : writer.alternatives) {
    os << "    " << writer.op->getName() << ' ';
    printIndex(alternative.offsets);
    os << " sizes ";
    printIndex(writer.sizes);
    if (llvm::any_of(writer.strides, [](int64_t stride) { return stride != 1; })) {
      os << " strides [";
      llvm::interleaveComma(writer.strides, os);
      os << ']';
    }
    printWhere(alternative.domain);
    os << (writer.copies ? ": a copy\n" : "\n");
  }
}

void PlanPrinter::printArray(const Family &family) {
  os << "  array " << family.root.getType() << ", "
     << (family.byCells ? "written once at each cell" : "kept by its writers") << ", " << family.members.size()
     << " versions";
  if (family.place.home) {
    os << ": buffer " << numberOf(family.place.home);
    printIndex(family.place.index);
  }
  os << '\n';
  for (const Writer *writer : family.writers)
    printWriter(*writer);
}

void PlanPrinter::printBuffer(const Home &home) {
  os << "  buffer " << numberOf(&home) << ": [";
  llvm::interleaveComma(home.lengths, os, [&](LengthAttr length) { printNamedExpr(os, length.getExpr(), {}, length.getNames()); });
  os << "], " << home.element;
  if (llvm::is_contained(plan.arguments, &home))
    os << ", an argument";
  else if (llvm::is_contained(plan.results, &home))
    os << ", a result";
  else if (home.constant)
    os << ", a constant";
  if (home.planes)
    os << ", planes of " << home.prefix << " loops";
  os << '\n';
}

void PlanPrinter::printPiece(const Piece &piece) {
  if (piece.place.home) {
    os << "buffer " << numberOf(piece.place.home);
    printIndex(piece.place.index);
    for (const Piece::Gather &gather : piece.gathers) {
      os << " with " << gather.position << " = buffer " << numberOf(gather.at.home);
      printIndex(gather.at.index);
    }
  } else if (piece.splat) {
    os << piece.splat;
  } else {
    printExpr(piece.value);
  }
  printWhere(piece.when);
}

void PlanPrinter::printLeaf(const Step &leaf, unsigned indent) {
  for (const ReadPlan &read : leaf.reads) {
    os.indent(indent) << "read " << read.type << " = ";
    llvm::interleave(read.pieces, os, [&](const Piece &piece) { printPiece(piece); }, " | ");
    os << '\n';
  }
  for (Operation *op : leaf.operations)
    os.indent(indent) << op->getName() << '\n';
  for (const WritePlan &write : leaf.writes) {
    os.indent(indent) << "write buffer " << numberOf(write.home);
    printIndex(write.index);
    os << '\n';
  }
}

void PlanPrinter::printSteps(ArrayRef<Step> steps, unsigned indent) {
  for (const Step &step : steps) {
    os.indent(indent);
    if (step.kind == Step::Nest) {
      os << "nest\n";
    } else {
      os << (step.kind == Step::Body ? "body r" : step.why.empty() ? "leaf r" : "copy r") << step.number << " [";
      llvm::interleaveComma(step.at.operators, os, [&](OperatorKind kind) { os << stringifyOperatorKind(kind); });
      os << ']';
      printWhere(step.at.domain);
      os << '\n';
    }
    printLeaf(step, indent + 2);
    printSteps(step.steps, indent + 2);
  }
}

void PlanPrinter::print() {
  func::FuncOp function = plan.function;
  os << "program @" << function.getSymName() << '\n';
  for (const Family &family : plan.families)
    if (!family.writers.empty())
      printArray(family);
  for (const Home &home : plan.homes)
    printBuffer(home);
  printSteps(plan.steps, 2);
}

void GraphPlan::print(raw_ostream &os) const { PlanPrinter(*this, os).print(); }
