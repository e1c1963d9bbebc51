//===- ToolOptions.cpp - options that several tools have ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Tools/ToolOptions.h"
#include "ft/Tools/ToolHelp.h"

#include "ft/InitAll.h"
#include "ft/Tools/ToolMains.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;
using namespace mlir::ft;

namespace {
struct InputFlags {
  cl::opt<unsigned> maxNesting{"max-nesting", cl::init(InputLimits().maxNesting),
                               cl::desc("Deepest nesting of brackets accepted in the input "
                                        "(0: no limit)"),
                               cl::cat(tools::ownOptions())};
  cl::opt<bool> allowBytecode{"allow-unsafe-bytecode", cl::init(false),
                              cl::desc("Read MLIR bytecode, whose reader is not hardened"),
                              cl::cat(tools::ownOptions())};
  cl::list<std::string> types{"type", cl::value_desc("NAME=TYPE"),
                              cl::desc("Replace the definition of the type alias !NAME"),
                              cl::cat(tools::ownOptions())};
};

enum class Validation { On, Off };
enum class Rounding { Excess, Exact };

struct PhaseFlags {
  cl::opt<Validation> value{"ft-validate", cl::desc("Prove what each phase from coarsen on makes of a graph"),
                            cl::values(clEnumValN(Validation::On, "on", "do (default)"),
                                       clEnumValN(Validation::Off, "off", "take it as it comes")),
                            cl::init(Validation::On), cl::cat(tools::ownOptions())};
  cl::opt<Rounding> rounding{"rounding", cl::desc("Of f16 and bf16, between the operations of a body"),
                             cl::values(clEnumValN(Rounding::Excess, "excess", "none: what stands there is f32 (default)"),
                                        clEnumValN(Rounding::Exact, "exact", "after each, as the program is written")),
                             cl::init(Rounding::Excess), cl::cat(tools::ownOptions())};
};
} // namespace

static std::unique_ptr<InputFlags> &inputFlags() {
  static std::unique_ptr<InputFlags> instance;
  return instance;
}

static std::unique_ptr<PhaseFlags> &phaseFlags() {
  static std::unique_ptr<PhaseFlags> instance;
  return instance;
}

void tools::registerInputOptions() {
  if (!inputFlags())
    inputFlags() = std::make_unique<InputFlags>();
}

InputLimits tools::getInputLimits() {
  InputLimits limits;
  if (inputFlags()) {
    limits.maxNesting = inputFlags()->maxNesting;
    limits.allowBytecode = inputFlags()->allowBytecode;
  }
  return limits;
}

std::unique_ptr<MemoryBuffer> tools::loadInput(StringRef file) {
  std::vector<TypeOverride> overrides;
  bool ok = true;
  if (inputFlags())
    for (const std::string &text : inputFlags()->types)
      ok &= parseTypeOverride(text, overrides.emplace_back(), errs());
  return ok ? mlir::ft::loadInput(file, getInputLimits(), overrides, errs()) : nullptr;
}

void tools::registerPhaseOptions() {
  if (!phaseFlags())
    phaseFlags() = std::make_unique<PhaseFlags>();
}

bool tools::isValidating() { return !phaseFlags() || phaseFlags()->value == Validation::On; }

std::string tools::getRounding() {
  return phaseFlags() && phaseFlags()->rounding == Rounding::Exact ? "exact" : "excess";
}

void tools::registerPassOptions() {
  mlir::ft::registerAllPasses(tools::isValidating); // which --mlir-print-ir-after names
  registerUpstream(
      [] {
        mlir::registerPassManagerCLOptions();
        mlir::registerDefaultTimingManagerCLOptions();
      },
      {"mlir-print-ir-after-all", "mlir-print-ir-after-change", "mlir-print-ir-after", "mlir-timing", "mlir-pass-pipeline-crash-reproducer"});
}

std::function<void(mlir::PassManager &)> tools::makePassSettings() {
  struct Times {
    Times() {
      mlir::applyDefaultTimingManagerCLOptions(manager);
      whole = manager.getRootScope();
    }
    mlir::DefaultTimingManager manager;
    mlir::TimingScope whole;
  };
  return [times = std::make_shared<Times>()](mlir::PassManager &pm) {
    (void)mlir::applyPassManagerCLOptions(pm); // (fails where an option was reported as wrong)
    pm.enableTiming(times->whole);
  };
}

bool mlir::ft::isToolValidating() { return tools::isValidating(); }
