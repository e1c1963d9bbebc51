//===- MovedFuzzTest.cpp - producers and consumers that do not line up ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random graphs of blocks over two dimensions whose reads are transposed, reversed
// and shifted against what is written, over ranges that differ: the coarsened graph
// passes etdg-verify and the validator and gives, bit for bit, what the graph gave; of
// mutants of it the validator says what enumeration says.
//
//===----------------------------------------------------------------------===//
#include "fttest/ValidatorTest.h"
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Pipelines/Pipelines.h"
#include "ft/Interpreter/ETDGInterpreter.h"
#include "ft/Runtime/Arrays/Compare.h"
#include "ft/Runtime/Arrays/HostArray.h"

#include <set>

using namespace mlir;
using namespace mlir::etdg;
using ::ft::rt::HostArray;

namespace {
/// One index: `sign · d + constant`, plus the length where it runs backwards.
struct Index {
  unsigned dim;
  bool backwards;
  int shift;

  std::string text(const char *const *names, const std::string &length) const {
    std::string name = names[dim], sum;
    int constant = backwards ? shift - 1 : shift;
    sum = backwards ? length + " - " + name : name;
    if (constant)
      sum += (constant > 0 ? " + " : " - ") + std::to_string(std::abs(constant));
    return sum;
  }
};

/// What is written of a buffer over [N, L]: [low, length - high) in each dimension.
struct Written {
  std::string name;
  int low[2], high[2];
};

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}
  std::string run();

private:
  int pick(int low, int high) { return low + static_cast<int>(random() % (high - low + 1)); }
  bool oneIn(int n) { return pick(1, n) == 1; }
  std::string read(const Written &from, unsigned number, const std::string lengths[2],
                   const int low[2], const int high[2]);

  std::mt19937_64 random;
  static constexpr const char *names[2] = {"i", "j"};
  static constexpr const char *lengthOf[2] = {"N", "L"};
};

/// A read of any elements around the iteration; 0 where none was written.
std::string Generator::read(const Written &from, unsigned number, const std::string lengths[2],
                            const int low[2], const int high[2]) {
  // The dimension that runs over N reads N's position, but where both may.
  bool swapped = lengths[0] != "N";
  Index index[2];
  for (unsigned p = 0; p < 2; ++p)
    index[p] = {swapped ? 1 - p : p, oneIn(4), oneIn(2) ? 0 : pick(-2, 2)};
  std::string conditions[4];
  unsigned count = 0;
  std::string texts[2];
  for (unsigned p = 0; p < 2; ++p) {
    texts[p] = index[p].text(names, lengthOf[p]);
    // The values that the index takes over the iterations, at both ends of the range.
    int first = low[index[p].dim] + index[p].shift, last = high[index[p].dim] - index[p].shift;
    if (index[p].backwards) {
      first = high[index[p].dim] + index[p].shift;
      last = low[index[p].dim] - index[p].shift;
    }
    if (first < from.low[p])
      conditions[count++] = texts[p] + " >= " + std::to_string(from.low[p]);
    if (last < from.high[p])
      conditions[count++] =
          texts[p] + " + " + std::to_string(1 + from.high[p]) + " <= " + lengthOf[p];
  }
  std::string element = "%" + from.name + "[" + texts[0] + ", " + texts[1] + "]";
  std::string name = "%v" + std::to_string(number) + " = ";
  if (!count)
    return name + element + " : !x";
  std::string all, others;
  for (unsigned c = 0; c < count; ++c) {
    std::string negated = conditions[c];
    // a >= b is a <= b - 1, and a <= b is a >= b + 1
    auto at = negated.find(" >= ");
    if (at != std::string::npos)
      negated.replace(at, 4, " + 1 <= ");
    else
      negated.replace(negated.find(" <= "), 4, " >= 1 + ");
    others += ", " + all + (c ? " and " : "") + negated + ": splat " + std::to_string(pick(0, 3)) +
              " : i32";
    all += (c ? " and " : "") + conditions[c];
  }
  return name + "{" + all + ": " + element + others + "} : !x";
}

std::string Generator::run() {
  std::string text = "!x = tensor<2xi32>\n!c = !etdg.buffer<[N, L], !x>\n";
  std::string body, results, types;
  std::vector<Written> buffers = {{"x", {0, 0}, {0, 0}}};
  // Typical lengths decide what a merge may cost.
  int typical = oneIn(4) ? 3 : 24;
  unsigned blocks = pick(2, 6), returned = 0;
  for (unsigned b = 0; b < blocks; ++b) {
    bool last = b + 1 == blocks;
    Written to{"t" + std::to_string(b), {0, 0}, {0, 0}};
    bool turned = oneIn(3); // dimensions over [L, N]
    std::string lengths[2] = {turned ? "L" : "N", turned ? "N" : "L"};
    int low[2] = {0, 0}, high[2] = {0, 0};
    if (!last && oneIn(2))
      for (unsigned d = 0; d < 2; ++d) {
        low[d] = oneIn(3) ? pick(1, 2) : 0;
        high[d] = oneIn(3) ? pick(1, 2) : 0;
      }
    // Written at its own point, turned and backwards perhaps, of [N, L].
    bool ordered = oneIn(4);
    Index at[2];
    for (unsigned p = 0; p < 2; ++p) {
      at[p] = {turned ? 1 - p : p, !ordered && oneIn(5), 0};
      to.low[p] = at[p].backwards ? high[at[p].dim] : low[at[p].dim];
      to.high[p] = at[p].backwards ? low[at[p].dim] : high[at[p].dim];
    }
    std::string reads;
    unsigned number = pick(1, 2);
    for (unsigned r = 0; r < number; ++r) {
      const Written &from = buffers[oneIn(3) ? pick(0, buffers.size() - 1) : buffers.size() - 1];
      reads += (r ? ", " : "") + read(from, r, lengths, low, high);
    }
    std::string operators = "map, map";
    if (ordered) {
      const char *kinds[] = {"foldl", "scanl", "reduce"};
      unsigned dim = pick(0, 1);
      const char *kind = kinds[pick(0, 2)];
      operators = dim ? std::string("map, ") + kind : std::string(kind) + ", map";
      Index state[2] = {at[0], at[1]};
      for (Index &i : state)
        if (i.dim == dim)
          i.shift = -1;
      std::string first = std::string(names[dim]);
      reads += ", %v" + std::to_string(number++) + " = {" + first +
               " >= " + std::to_string(low[dim] + 1) + ": %" + to.name + "[" +
               state[0].text(names, "N") + ", " + state[1].text(names, "L") + "], " + first +
               " <= " + std::to_string(low[dim]) + ": splat 1 : i32} : !x";
    }
    auto range = [&](unsigned d) {
      return "[" + std::to_string(low[d]) + ", " + lengths[d] +
             (high[d] ? " - " + std::to_string(high[d]) : "") + ")";
    };
    // Operands in order of appearance: as many types as buffers, each once.
    std::string operands;
    std::set<std::string> seen;
    std::string all = reads + " %" + to.name + "[";
    for (size_t from = 0; (from = all.find('%', from)) != std::string::npos; ++from) {
      size_t end = all.find_first_of("[ ", from);
      if (all[end] == '[' && seen.insert(all.substr(from, end - from)).second)
        operands += operands.empty() ? "!c" : ", !c";
    }
    body += "  etdg.block @b" + std::to_string(b) + " [" + operators + "] (i, j) in " + range(0) +
            " x " + range(1) + " reads (" + reads + ") writes (%" + to.name + "[" +
            at[0].text(names, "N") + ", " + at[1].text(names, "L") + "]) {\n";
    body += "    %c = arith.constant dense<" + std::to_string(pick(1, 9)) + "> : !x\n";
    std::string value = "%c";
    for (unsigned r = 0; r < number; ++r) {
      const char *operations[] = {"addi", "muli", "subi", "xori"};
      std::string next = "%s" + std::to_string(r);
      body += "    " + next + " = arith." + operations[pick(0, 3)] + " " + value + ", %v" +
              std::to_string(r) + " : !x\n";
      value = next;
    }
    body += "    etdg.yield " + value + " : !x\n  } : " + operands + "\n";
    bool whole = !to.low[0] && !to.low[1] && !to.high[0] && !to.high[1];
    if (last || (whole && oneIn(5))) {
      results += (returned ? ", %" : "%") + to.name;
      types += returned++ ? ", !c" : "!c";
    }
    buffers.push_back(to);
  }
  text += "etdg.graph @g(%x: !c) -> (" + types +
          ") attributes {ft.lengths = {N = " + std::to_string(typical) +
          " : i64, L = " + std::to_string(typical + 1) + " : i64}} {\n";
  for (unsigned b = 1; b < buffers.size(); ++b)
    text +=
        "  %" + buffers[b].name + " = etdg.buffer {name_hint = \"" + buffers[b].name + "\"} : !c\n";
  return text + body + "  etdg.return " + results + " : " + types + "\n}\n";
}

class MovedFuzz : public ValidatorTest {
protected:
  /// The results at lengths N and L, or an error.
  FailureOr<std::vector<HostArray>> run(ModuleOp module, int64_t n, int64_t l,
                                        mlir::ft::interp::Order order, uint64_t seed) {
    HostArray x;
    if (!HostArray::create(::ft::rt::DType::i32, {n, l, 2}, x).ok())
      return failure();
    auto *data = x.as<int32_t>();
    for (int64_t i = 0; i < n * l * 2; ++i)
      data[i] = static_cast<int32_t>(i * 7 % 23 - 5);
    std::vector<HostArray> arguments;
    arguments.push_back(std::move(x));
    mlir::ft::interp::RunOptions options;
    options.order = order;
    options.seed = seed;
    return mlir::ft::interp::runETDG(module, "g", {{"N", n}, {"L", l}}, arguments, options);
  }
};
} // namespace

TEST_F(MovedFuzz, ResultsStayAndMutantsAreJudged) {
  unsigned first = 0, number = 300;
  if (const char *text = std::getenv("FT_COARSEN_FIRST"))
    first = std::atoi(text);
  if (const char *text = std::getenv("FT_COARSEN_PROGRAMS"))
    number = std::atoi(text);
  unsigned merged = 0, moved = 0, guarded = 0;
  Tally tally;
  for (unsigned i = first; i < first + number; ++i) {
    std::string text = Generator(1000 + i).run();
    GraphOp graph = parse(text);
    ASSERT_TRUE(graph) << text;
    ASSERT_TRUE(succeeded(verifyGraph(graph))) << i << "\n" << text;
    OwningOpRef<ModuleOp> before = module->clone();
    GraphSnapshot snapshot = GraphSnapshot::take(graph);
    PassManager pm(&context);
    buildCoarsenPipeline(pm);
    ASSERT_TRUE(succeeded(pm.run(*module))) << text;
    graph = *module->getOps<GraphOp>().begin();
    std::string why, after;
    llvm::raw_string_ostream os(after);
    module->print(os);
    EXPECT_TRUE(succeeded(verifyGraph(graph))) << i << "\n" << text << after;
    EXPECT_TRUE(isAccepted(graph, &why, &snapshot)) << i << ": " << why << "\n" << text << after;
    for (auto [n, l] : {std::pair<int64_t, int64_t>{1, 1}, {1, 4}, {3, 2}, {5, 7}, {0, 3}}) {
      auto expected = run(*before, n, l, mlir::ft::interp::Order::Declared, 1);
      ASSERT_TRUE(succeeded(expected)) << text;
      for (auto order : {mlir::ft::interp::Order::Declared, mlir::ft::interp::Order::Random}) {
        auto found = run(*module, n, l, order, i);
        ASSERT_TRUE(succeeded(found)) << i << "\n" << text << after;
        for (auto [x, y] : llvm::zip_equal(*found, *expected))
          EXPECT_TRUE(::ft::rt::compare(x, y).equal) << i << " at " << n << ", " << l << "\n"
                                                     << text << after;
      }
    }
    unsigned blocks = 0, left = 0;
    before->walk([&](BlockOp block) { blocks += !block->getParentOfType<BlockOp>(); });
    bool hasGuard = false;
    graph.walk([&](BlockOp block) {
      left += !block->getParentOfType<BlockOp>();
      if (block.getNumOwnDims() == 0 && !isUniverse(block.getDomainSet()))
        hasGuard = true;
    });
    merged += left < blocks;
    guarded += hasGuard;
    bool isMoved = false;
    graph.walk([&](BlockOp block) {
      for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
        for (AffineExpr index : write.getMap().getValue().getResults())
          isMoved |= isa<AffineBinaryOpExpr>(index);
    });
    moved += isMoved && left < blocks;
    if (i % 10 == 0 && left < blocks) {
      std::mt19937_64 random(i);
      judgeMutants(graph, {{{"N", 1}, {"L", 3}}, {{"N", 3}, {"L", 2}}, {{"N", 5}, {"L", 6}}}, 12,
                   random, "graph " + std::to_string(i), tally);
    }
    if (HasFailure())
      break;
  }
  printf("%u graphs: %u with merges, %u with guards, %u with moved writes\n", number, merged,
         guarded, moved);
  tally.print("merged graphs");
  // A test in which nothing merges tests nothing.
  EXPECT_GE(merged * 3, number);
  EXPECT_GE(guarded * 8, number);
  EXPECT_GE(tally.illegal, tally.used);
}
