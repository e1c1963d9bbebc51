//===- ETDGToHtml.cpp - graphs as a page to look at -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One page that needs nothing else: each graph as it came and after the reordering,
// its iteration spaces coloured by step (FT Fig. 9).
//
//===----------------------------------------------------------------------===//
#include "HtmlPage.h"

#include "ft/Analysis/TensorExpressions/TensorExpressions.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::html;

std::string html::escape(StringRef text) {
  std::string result;
  for (char c : text) {
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      result += c == '\n' || static_cast<unsigned char>(c) >= 0x20 ? c : ' ';
    }
  }
  return result;
}

std::string html::describeDomain(BlockOp block) {
  return conditionsToString(block.getDomainSet(), block.getDimNames(), block.getSymbolNames());
}

LengthValues html::getSampleLengths(GraphOp graph, const LengthValues &given) {
  LengthValues values;
  auto bounds = graph->getAttrOfType<ft::BoundsAttr>(ft::names::bounds);
  SmallVector<StringAttr> names = graph.getSymbolNames();
  for (int64_t raise = 0; raise < 16; ++raise) {
    for (auto [i, name] : llvm::enumerate(names))
      values[name.getValue()] = 4 + static_cast<int64_t>(i) % 3 + raise;
    for (const auto &entry : given)
      values[entry.getKey()] = entry.getValue();
    bool holds = true;
    if (bounds)
      for (ft::LengthAttr bound : bounds.getNonNegative())
        holds &= evaluate(bound, values).value_or(0) >= 0;
    if (holds)
      break;
  }
  return values;
}

// No `<` and no `&` in the script: the page is well-formed XML, too.
static constexpr llvm::StringLiteral styleAndScript = R"(<style>
body { font: 14px/1.45 system-ui, sans-serif; color: #1c2733; background: #fff; margin: 24px 32px; }
h1 { font-size: 22px; } h2 { font-size: 18px; border-bottom: 1px solid #d5dce3; padding-bottom: 4px; margin-top: 36px; }
h3 { font-size: 15px; color: #41566b; } h4 { font-size: 14px; margin: 18px 0 4px; }
code { font: 12px ui-monospace, monospace; } 
svg text { font: 11px ui-monospace, monospace; fill: #1c2733; }
marker path { fill: #8797a7; } .dep { stroke: #9aa8b5; stroke-width: 1.2; }
.pt { stroke: #33414e; stroke-width: .6; } .pt.later { fill: #eef1f4; } .pt.done { opacity: .45; } .pt.now { stroke-width: 2.5; }
svg .num { font-size: 8px; text-anchor: middle; fill: #fff; pointer-events: none; } svg .axis { font-weight: bold; }
.row { display: flex; gap: 28px; flex-wrap: wrap; align-items: flex-start; } .nest { margin-bottom: 26px; }
table { border-collapse: collapse; margin: 0 0 12px; } th, td { border: 1px solid #d5dce3; padding: 2px 8px; text-align: right; font-size: 12px; }
caption { text-align: left; font-weight: bold; font-size: 12px; } .swatch { display: inline-block; width: 10px; height: 10px; margin-right: 6px; }
@media (prefers-color-scheme: dark) {
body { color: #e2e8ee; background: #12161b; } h3 { color: #94a3b3; } h2, th, td { border-color: #303a45; }
svg text { fill: #e2e8ee; } .pt.later { fill: #303a45; } .pt.now { stroke: #e2e8ee; }
}
</style>
<script>
function show(id, step) {
  var nest = document.getElementById(id);
  nest.querySelectorAll('.pt').forEach(function (point) {
    var at = Number(point.getAttribute('data-step'));
    var when = step === -1 ? '' : at === step ? ' now' : at > step ? ' later' : ' done';
    point.setAttribute('class', 'pt' + when);
  });
  document.getElementById(id + '-o').textContent = step === -1 ? 'all steps' : 'step ' + step;
}
</script>
)";

/// What depends on what, folded away.
static void writeRelations(GraphOp whole, double computeIntensive, llvm::raw_ostream &os) {
  OwningOpRef<GraphOp> graph = chooseVariants(whole, 0);
  std::string text;
  llvm::raw_string_ostream stream(text);
  printTensorExpressions(TensorExpressionAnalysis(*graph, computeIntensive), *graph, stream);
  os << "<details><summary>Tensor expressions</summary><pre>" << escape(text) << "</pre></details>\n";
}

/// What draws graphs, for Python and the report, too.
static constexpr llvm::StringLiteral graphScript =
#include "GraphScript.inc"
    ;
static constexpr llvm::StringLiteral graphStyle =
#include "GraphStyle.inc"
    ;

/// JSON as the text of an element: no `<` and no `&`, which stand in strings alone.
static std::string asElementText(StringRef json) {
  std::string text;
  for (char c : json)
    text += c == '<' ? "\\u003c" : c == '&' ? "\\u0026" : std::string(1, c);
  return text;
}

static void writeDrawing(GraphOp graph, const LengthValues &given, double computeIntensive, StringRef prefix,
                         llvm::raw_ostream &os) {
  std::string json;
  llvm::raw_string_ostream stream(json);
  writeGraphJson(graph, stream, given, computeIntensive);
  os << "<div class=\"drawing\" id=\"" << prefix << "-graph\"></div>\n<script type=\"application/json\" id=\"" << prefix
     << "-data\">" << asElementText(json) << "</script>\n<script>FTGraph.mount(document.getElementById('" << prefix
     << "-graph'), JSON.parse(document.getElementById('" << prefix << "-data').textContent));</script>\n";
}

/// Words that explain themselves to a pointer.
static std::string said(const std::string &words, StringRef meaning) {
  return ("<abbr title=\"" + meaning + "\">" + words + "</abbr>").str();
}

static void writeGraph(GraphOp whole, StringRef title, const LengthValues &lengths, const LengthValues &given,
                       double computeIntensive, StringRef prefix, llvm::raw_ostream &os) {
  OwningOpRef<GraphOp> chosen = chooseVariants(whole, 0);
  GraphOp graph = *chosen;
  Nesting nesting = getNesting(graph);
  unsigned blocks = 0, copies = 0;
  graph.walk([&](BlockOp block) {
    ++blocks;
    copies += isCopyBlock(block);
  });
  os << "<h3>" << escape(title) << "</h3>\n<p>" << said(std::to_string(blocks) + " blocks", "Blocks of statements at all depths") << ", "
     << said(std::to_string(getTopLevelBlocks(graph).size()) + " at the top", "Blocks inside of no other") << ", "
     << said(std::to_string(copies) + " copies", "Blocks that move numbers and compute nothing") << "; "
     << said("depth " + std::to_string(nesting.depth), "How deep blocks nest") << ", "
     << said("dimension " + std::to_string(nesting.dimension), "Loops of the deepest block, with those of its tensor operations") << ".</p>\n";
  writeDrawing(graph, given, computeIntensive, prefix, os);
  drawSpaces(graph, lengths, prefix, os);
}

void etdg::writeHtml(ModuleOp before, ModuleOp after, llvm::raw_ostream &os,
                     const LengthValues &given, double computeIntensive) {
  os << "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head><meta "
        "charset=\"utf-8\"/>"
     << "<title>Task dependence graphs</title>\n"
     << styleAndScript << "<style>\n" << graphStyle << "</style>\n<script>//<![CDATA[\n" << graphScript
     << "//]]></script>\n</head><body>\n<h1>Task dependence graphs</h1>\n";
  unsigned number = 0;
  for (GraphOp graph : before.getOps<GraphOp>()) {
    if (graph.isExternal())
      continue;
    std::string prefix = "g" + std::to_string(number++);
    LengthValues lengths = getSampleLengths(graph, given);
    os << "<h2>@" << escape(graph.getSymName()) << "</h2>\n";
    SmallVector<StringRef> names;
    for (const auto &entry : lengths)
      names.push_back(entry.getKey());
    llvm::sort(names);
    if (!names.empty()) {
      os << "<p>Points are drawn at";
      for (auto [i, name] : llvm::enumerate(names))
        os << (i ? ", " : " ") << escape(name) << " = " << lengths[name];
      os << ". Points of one colour run at the same step; arrows go from a writer to its "
            "readers.</p>\n";
    }
    writeRelations(graph, computeIntensive, os);
    auto other = after ? after.lookupSymbol<GraphOp>(graph.getSymName()) : GraphOp();
    writeGraph(graph, other ? "Before" : "As it is", lengths, given, computeIntensive, prefix + "b", os);
    if (other)
      writeGraph(other, "After coarsening and reordering", lengths, given, computeIntensive, prefix + "a", os);
  }
  os << "</body></html>\n";
}
