//===- LaunchPlan.h - what a call of a compiled program does ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry is a function of the source program: its arguments, its symbols and
// one plan for each target and schedule variant. A plan is a list of steps over
// buffers; it is data, so that a bundle can carry it and no compiler is needed
// to run it. The same plan form serves GPU kernels and functions of a CPU
// library: both take a list of pointers to argument values.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_BUNDLE_LAUNCHPLAN_H
#define FT_RUNTIME_BUNDLE_LAUNCHPLAN_H

#include "ft/Runtime/Bundle/Expr.h"
#include "ft/Runtime/Arrays/HostArray.h"

namespace ft::rt {

/// Variables of an entry's expressions, by index: the symbols, then one loop
/// variable for each level of nesting, then the extents and strides that
/// expressions name.
constexpr int64_t maxLoopDepth = 8;
constexpr int64_t maxRank = 16;
/// Steps that one call may take, iterations of loops and every 64 KiB that a fill or a copy moves
/// counted as steps: a plan from elsewhere comes to an end.
constexpr int64_t maxSteps = int64_t(1) << 22;
/// Bytes of a plan's counters, which barriers of a grid take 64 of.
constexpr int64_t maxCounterBytes = int64_t(1) << 20;

struct Symbol {
  std::string name;
  Expr value; // over extents of arguments, most often one of them
  int64_t least = 0;
};

/// A condition that the source program states, such as `L >= 5`.
struct Requirement {
  Expr nonNegative;
  std::string text;
};

struct Argument {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Expr> shape;
  bool output = false;
  /// This many leading dimensions may have any stride; the rest are dense.
  int64_t stridedDims = 0;
  /// Bytes; 0 stands for the element's width.
  int64_t alignment = 0;
  /// For an output: the argument whose memory it may share, or -1.
  int64_t writeback = -1;
  /// The module holds it from call to call, by its name: calls do not pass it. Of constant shape.
  bool held = false;
};

struct Buffer {
  enum Kind : uint8_t {
    argument,  // `index` is the argument's
    workspace, // scratch memory, undefined at the start of a call
    constant,  // `index` is the section of the bundle
    counter,   // zero at first use, then kept from call to call on a stream
    error,     // one 64-byte record that a kernel writes when it must give up
  };
  Kind kind = argument;
  int64_t index = 0;
  Expr offset; // bytes
};

/// A TMA descriptor, encoded at the launch. Innermost dimension first, as the
/// driver wants it; the numbers are the driver's enumerators.
struct TensorMap {
  int64_t type = 0;
  std::vector<Expr> extents;
  std::vector<Expr> strides; // bytes, one fewer than extents
  std::vector<int64_t> box;
  std::vector<int64_t> elementStrides;
  int64_t interleave = 0, swizzle = 0, l2Promotion = 0, oobFill = 0;
};

struct KernelArgument {
  enum Kind : uint8_t { pointer, integer, tensorMap };
  Kind kind = integer;
  int64_t buffer = 0; // pointer, tensorMap
  Expr value;         // integer: the value; else bytes added to the buffer's address
  int64_t bits = 64;  // integer: 32 or 64
  TensorMap map;
  int64_t slot = -1; // the executor's place for the encoded descriptor; not stored
};

struct Launch {
  int64_t kernel = 0;
  Expr grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  int64_t cluster[3] = {1, 1, 1};
  Expr sharedBytes;
  bool cooperative = false;
  /// A cooperative kernel that works with any number of blocks: where its grid is not resident,
  /// it is launched with as many blocks along x as are.
  bool shrinks = false;
  /// It may begin before the launch before it has ended (programmatic dependent launch): its kernel waits for that itself.
  bool overlaps = false;
  /// The shared memory of a thread block that it asks for at least where it does.
  Expr overlapBytes;
  std::vector<KernelArgument> arguments;
};

struct Step {
  enum Kind : uint8_t { launch, fill, copy, loop, branch, repeat };
  Kind kind = launch;
  Launch launched;           // launch
  int64_t to = 0, from = 0;  // fill, copy: buffers; repeat: the condition's buffer
  Expr toOffset, fromOffset; // fill, copy, repeat: bytes
  Expr bytes;                // fill, copy
  int64_t value = 0;         // fill: the byte
  Expr lower, upper;         // loop: [lower, upper) by `step`; repeat: at most `upper` times
  int64_t step = 1;
  Expr condition; // branch: taken where >= 0
  std::vector<Step> body, otherwise;
};

struct Plan {
  std::string target;  // "sm_90a", "x86-64-v3"
  std::string variant; // a schedule's name; unique in its target
  /// Sections that hold the code, the preferred one first; one that the device
  /// refuses gives way to the next.
  std::vector<int64_t> modules;
  std::vector<std::string> kernels;
  std::vector<Buffer> buffers;
  Expr workspaceBytes;
  int64_t counterBytes = 0;
  std::vector<Step> steps;
  /// Places of the source program, as "file:line:column": the third value of an
  /// error record counts them. May be empty.
  std::vector<std::string> places;
};

struct Entry {
  struct Extent {
    int64_t argument, dim;
    bool stride; // in elements
    bool operator==(const Extent &) const = default;
  };

  std::string name;
  std::vector<Symbol> symbols;
  std::vector<Argument> arguments; // in the order of a call
  std::vector<Requirement> requirements;
  std::vector<Plan> plans;
  /// For each target the variant to use; tuning writes it. Absent: the first.
  std::vector<std::pair<std::string, std::string>> chosen;
  std::vector<Extent> extents;
  /// Run once when held arguments have got their values: it takes such ones alone, and its outputs are held arguments of other entries, by name.
  bool binds = false;

  /// Symbols must be declared before any of these are used.
  Expr symbol(int64_t index) const { return Expr::var(index); }
  Expr loop(int64_t depth) const { return Expr::var(int64_t(symbols.size()) + depth); }
  Expr extent(int64_t argument, int64_t dim) { return named({argument, dim, false}); }
  Expr stride(int64_t argument, int64_t dim) { return named({argument, dim, true}); }

  int64_t firstExtent() const { return int64_t(symbols.size()) + maxLoopDepth; }
  int64_t numVariables() const { return firstExtent() + int64_t(extents.size()); }
  std::string variableName(int64_t index) const;
  /// Arguments that calls pass, and how many of these stand before one.
  int64_t numPassed() const { return passedBefore(int64_t(arguments.size())); }
  int64_t passedBefore(int64_t argument) const;

  Json toJson() const;
  /// Reads and validates: all indices in range, all expressions over variables that exist there, no
  /// negative sizes, names of one line that differ. `numSections` bounds what plans may name. A call
  /// checks what depends on its sizes: that offsets and ranges lie within their buffers.
  /// Extents of `numbered` have the same variables as in the entry whose they are, so that plans of one can go to the other.
  static Status fromJson(const Json &json, int64_t numSections, Entry &out, const std::vector<Extent> &numbered = {});

private:
  Expr named(Extent extent);
};

} // namespace ft::rt

#endif // FT_RUNTIME_BUNDLE_LAUNCHPLAN_H
