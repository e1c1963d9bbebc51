//===- HtmlPage.h - parts of the page that draws a graph --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ETDGToHtml.cpp puts the page together, HtmlSpace.cpp draws iteration spaces. Blocks and
// buffers are drawn by Page/graph.js in the page itself.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_TARGET_HTMLPAGE_H
#define FT_LIB_TARGET_HTMLPAGE_H

#include "ft/Analysis/GraphSummary.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::etdg::html {

/// `<`, `>`, `&` and quotes as entities; control characters as spaces.
std::string escape(llvm::StringRef text);

/// Small lengths, so that points can be told apart: those given, else 4 to 6, raised
/// until the graph's bounds hold.
LengthValues getSampleLengths(GraphOp graph, const LengthValues &given);

/// A domain as conditions.
std::string describeDomain(BlockOp block);

/// One graph as `--etdg-to-json` writes it (ETDGToJson.cpp).
void writeGraphJson(GraphOp graph, llvm::raw_ostream &os, const LengthValues &lengths, double computeIntensive);

/// For each nest its points at sample lengths, coloured by step; the schedule; the
/// table of steps and widths. `prefix` makes identifiers unique in the page.
void drawSpaces(GraphOp graph, const LengthValues &lengths, llvm::StringRef prefix,
                llvm::raw_ostream &os);

} // namespace mlir::etdg::html

#endif // FT_LIB_TARGET_HTMLPAGE_H
