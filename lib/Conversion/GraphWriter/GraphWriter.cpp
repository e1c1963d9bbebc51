//===- GraphWriter.cpp - what all front ends write graphs with ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Iteration vectors, blocks and graphs; leaves are in LeafInputs.cpp.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/GraphWriter/GraphWriter.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::graphwriter;

IntegerSet graphwriter::makeSet(MLIRContext *context, unsigned numDims, unsigned numSymbols,
                                ArrayRef<Constraint> constraints) {
  if (constraints.empty())
    return etdg::getUniverse(context, numDims, numSymbols);
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> equalities;
  for (const Constraint &c : constraints) {
    exprs.push_back(c.expr);
    equalities.push_back(c.isEquality);
  }
  return IntegerSet::get(numDims, numSymbols, exprs, equalities);
}

bool graphwriter::isAffine(ArrayRef<AffineExpr> exprs) {
  return llvm::all_of(exprs, [](AffineExpr e) { return e.isPureAffine(); });
}

StringAttr graphwriter::freshDim(ArrayRef<StringAttr> dims, ArrayRef<StringAttr> symbols, MLIRContext *context) {
  static constexpr StringLiteral letters = "ijklmnopqrstuvwxyz";
  for (unsigned i = dims.size();; ++i) {
    std::string name = i < letters.size() ? std::string(1, letters[i]) : "d" + std::to_string(i);
    StringAttr attr = StringAttr::get(context, name);
    if (!llvm::is_contained(dims, attr) && !llvm::is_contained(symbols, attr))
      return attr;
  }
}

AffineExpr Numbering::withCells(AffineExpr expr, ArrayRef<AffineExpr> cells) const {
  SmallVector<AffineExpr> symbols;
  for (unsigned i = 0, e = names.size(); i < e; ++i)
    symbols.push_back(name(i));
  llvm::append_range(symbols, cells);
  return expr.replaceSymbols(symbols);
}

IterationVector IterationVector::asAncestors() const {
  IterationVector result;
  result.dims = dims;
  result.numAncestors = dims.size();
  result.ancestors = ancestors;
  result.ancestors.append(domain.begin(), domain.end());
  return result;
}

void IterationVector::open(OperatorKind kind, ArrayRef<StringAttr> symbols, MLIRContext *context) {
  dims.push_back(freshDim(dims, symbols, context));
  operators.push_back(kind);
}

etdg::BlockBuilder graphwriter::startBlock(const IterationVector &at, ArrayRef<Constraint> domain,
                                           ArrayRef<StringAttr> symbols, MLIRContext *context, unsigned number) {
  etdg::BlockBuilder block;
  block.name = "r" + std::to_string(number);
  block.operators = at.operators;
  block.dims = at.dims;
  block.numAncestors = at.numAncestors;
  block.symbols.assign(symbols.begin(), symbols.end());
  block.domain = makeSet(context, at.numDims(), symbols.size(), domain);
  return block;
}

void graphwriter::addWrite(etdg::BlockBuilder &block, Value buffer, ArrayRef<AffineExpr> index, unsigned numDims,
                           unsigned numSymbols, MLIRContext *context) {
  AffineMap map = AffineMap::get(numDims, numSymbols, index, context);
  block.writes.push_back(etdg::WriteAttr::get(context, block.operandFor(buffer), AffineMapAttr::get(map)));
}

void graphwriter::remarkCopy(Location loc, StringRef pass, StringRef why, StringRef block) {
  remark::analysis(loc, remark::RemarkOpts::name("copy").category("etdg").subCategory(pass))
      << remark::reason("{0}", why) << remark::metric("block", block);
}

etdg::GraphOp graphwriter::createGraph(OpBuilder &builder, func::FuncOp function, ArrayRef<GraphArgument> arguments,
                                       TypeRange results) {
  SmallVector<Type> inputs;
  SmallVector<Attribute> attributes;
  for (const GraphArgument &argument : arguments) {
    inputs.push_back(argument.type);
    attributes.push_back(argument.attributes ? argument.attributes : builder.getDictionaryAttr({}));
  }
  // None at all is how the parser leaves empty ones.
  bool any = llvm::any_of(attributes, [](Attribute a) { return !cast<DictionaryAttr>(a).empty(); });
  auto type = TypeAttr::get(FunctionType::get(function.getContext(), inputs, results));
  auto graph = etdg::GraphOp::create(builder, function.getLoc(), function.getSymNameAttr(), type,
                                     /*sym_visibility=*/nullptr, any ? builder.getArrayAttr(attributes) : nullptr,
                                     /*res_attrs=*/nullptr);
  for (NamedAttribute attr : function->getDiscardableAttrs())
    graph->setAttr(attr.getName(), attr.getValue());
  Block *body = builder.createBlock(&graph.getBody());
  for (const GraphArgument &argument : arguments)
    body->addArgument(argument.type, argument.loc);
  builder.setInsertionPointToStart(body);
  return graph;
}
