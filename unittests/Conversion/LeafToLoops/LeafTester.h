//===- LeafTester.h - Compile a leaf, run it on random rows -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_UNITTESTS_LEAF_LEAFTESTER_H
#define FT_UNITTESTS_LEAF_LEAFTESTER_H

#include "ft/Conversion/LeafToLoops/LeafCodegen.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leaftest {

/// The values of one row of one argument.
using Values = std::vector<double>;

/// Text with every `$T` replaced by `type`.
std::string withType(std::string text, const std::string &type);

/// Converts between element bytes and doubles; `type` as MLIR prints it.
double readElement(const std::string &type, const void *at);
void writeElement(const std::string &type, void *at, double value);
size_t elementSize(const std::string &type);

/// Rows of an argument in memory.
struct Rows {
  std::string type;
  std::vector<int64_t> shape;
  int64_t rows = 0, rowStride = 0, offset = 0;
  std::shared_ptr<std::vector<char>> bytes; // copies share it
  int64_t numElements() const;
  void set(int64_t row, int64_t element, double value);
  double get(int64_t row, int64_t element) const;
};

class CompiledLeaf {
public:
  /// Generates and compiles the function @leaf of `text`; null and a GoogleTest
  /// failure if that fails.
  static std::unique_ptr<CompiledLeaf> make(const std::string &text,
                                            mlir::ft::LeafOptions options,
                                            const mlir::ft::CpuTarget &target = mlir::ft::CpuTarget::host(),
                                            bool roundsSums = false);
  /// Memory for `rows` rows of argument `number` (inputs, then outputs).
  Rows allocate(unsigned number, int64_t rows, int64_t padding = 0) const;
  /// Where the leaf takes lists of rows, those of argument a lie as `arguments[a]` says, from the
  /// last to the first: row r of the leaf is row `rows` - 1 - r of each.
  void run(int64_t rows, std::vector<Rows *> arguments);

  unsigned numInputs = 0, numOutputs = 0;
  std::string loops;  // the generated function, before it is lowered
  double seconds = 0; // that the compilation took
  mlir::ft::LeafScratch scratch;

private:
  mlir::MLIRContext context;
  std::vector<std::pair<std::string, std::vector<int64_t>>> types;
  std::unique_ptr<mlir::ExecutionEngine> engine;
  void (*packed)(void **) = nullptr;
  std::vector<char> scratchBytes;
  std::vector<bool> listed; // by argument
  CompiledLeaf(const mlir::DialectRegistry &registry);
};

/// What a row should be: from the inputs of the row, its outputs.
using Reference = std::function<std::vector<Values>(const std::vector<Values> &)>;

struct Check {
  std::string text;
  Reference reference;
  std::vector<bool> batched = {};
  std::vector<bool> aliases = {};
  double tolerance = 0; // 0: by the type of the output
  double low = -1, high = 1;
  unsigned vectorBytes = 0;
  bool listed = false; // rows lie anywhere: a list has their addresses
  bool roundsSums = false; // sums of halves are rounded at each step, else they are f32
};

/// Compiles, runs with several numbers of rows and strides, compares.
void check(const Check &test);

} // namespace leaftest

#endif // FT_UNITTESTS_LEAF_LEAFTESTER_H
