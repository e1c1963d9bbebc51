//===- Faults.cpp - programs that get faults planted ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Faults.h"
#include "ft/Pipelines/Targets.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::etdg;

std::vector<std::string> FaultsTest::files() {
  std::vector<std::string> found;
  std::error_code code;
  for (const char *folder : {FT_EXAMPLES, FT_MODELS})
    for (llvm::sys::fs::directory_iterator it(folder, code), end; it != end && !code; it.increment(code))
      if (llvm::sys::path::extension(it->path()) == ".mlir")
        found.push_back(it->path());
  std::sort(found.begin(), found.end());
  return found;
}

OwningOpRef<ModuleOp> FaultsTest::parseFile(const std::string &path) { return parseSourceFile<ModuleOp>(path, &context); }

OwningOpRef<ModuleOp> FaultsTest::compile(ModuleOp source, ft::Phase to, const std::string &partition, uint64_t seed) {
  OwningOpRef<ModuleOp> module = source.clone();
  ft::GpuPipelineOptions gpu;
  gpu.partition = partition;
  gpu.planSeed = seed;
  std::unique_ptr<ft::TargetPipeline> target = ft::makeGpuPipeline(gpu);
  ft::PipelineOptions options;
  options.to = to;
  options.target = target.get();
  options.validate = options.dataflow = false;
  PassManager pm(&context);
  ft::buildPipeline(pm, options);
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  return succeeded(pm.run(*module)) ? std::move(module) : nullptr;
}

void FaultsTest::judge(const std::string &kind, const std::string &where, bool isWrong, bool isTaken, const std::string &why) {
  EXPECT_EQ(isTaken, !isWrong) << where << ", " << kind << ": " << (isTaken ? "is taken" : why);
  ++(isWrong ? counts[kind].faults : counts[kind].legal);
}

FaultsTest::Count FaultsTest::print() const {
  Count all;
  for (auto &[kind, count] : counts) {
    printf("  %-40s %5u faults %5u legal\n", kind.c_str(), count.faults, count.legal);
    all.faults += count.faults;
    all.legal += count.legal;
  }
  printf("%u faults, %u legal changes\n", all.faults, all.legal);
  return all;
}
