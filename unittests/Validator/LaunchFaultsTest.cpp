//===- LaunchFaultsTest.cpp - faults of launches that overlap -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// T14 of launch plans. What makes a plan wrong is planted at both ends, most often
// through memory that nothing else touches, so that each fault is one, and the same
// change without one of its ends is legal.
//
//===----------------------------------------------------------------------===//
#include "Faults.h"

#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Fuzz/Generator.h"
#include "ft/Runtime/Bundle/LaunchPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::etdg;
namespace rt = ::ft::rt;

namespace {
/// A few launches of a program that follow each other, on a copy of their kernels.
class Trial {
public:
  Trial(gpu::GPUModuleOp from, const rt::Entry &whole, ArrayRef<rt::Step> steps);

  unsigned last() const { return unsigned(kernels.size()) - 1; }
  rt::Plan &plan() { return entry.plans.front(); }
  rt::Launch &launch(unsigned number) { return plan().steps[number].launched; }
  Operation *waitOf(unsigned number) { return find(number, NVVM::GridDepActionKind::wait); }
  Operation *goOf(unsigned number) { return find(number, NVVM::GridDepActionKind::launch_dependents); }
  Operation *endOf(unsigned number);
  /// A buffer of the workspace at a place of its own, or at that of another.
  int64_t addBuffer(std::optional<int64_t> like = std::nullopt);
  /// Gives a kernel a pointer to a buffer.
  Value pass(unsigned number, int64_t buffer);
  void load(Operation *before, Value pointer) {
    OpBuilder b(before);
    LLVM::LoadOp::create(b, before->getLoc(), b.getF32Type(), pointer);
  }
  void store(Operation *before, Value pointer) {
    OpBuilder b(before);
    Value zero = LLVM::ConstantOp::create(b, before->getLoc(), b.getF32Type(), b.getF32FloatAttr(0));
    LLVM::StoreOp::create(b, before->getLoc(), zero, pointer);
  }
  /// Puts the wait into a condition on the thread, or into a loop as long as the grid is wide.
  void waitSometimes(bool isLoop);
  bool isTaken(std::string &why);

  rt::Entry entry;

private:
  Operation *find(unsigned number, NVVM::GridDepActionKind kind);

  OwningOpRef<ModuleOp> holder;
  gpu::GPUModuleOp module;
  SmallVector<LLVM::LLVMFuncOp> kernels; // of each launch
};
} // namespace

Trial::Trial(gpu::GPUModuleOp from, const rt::Entry &whole, ArrayRef<rt::Step> steps) : entry(whole), holder(ModuleOp::create(from.getLoc())) {
  OpBuilder b = OpBuilder::atBlockEnd(holder->getBody());
  module = gpu::GPUModuleOp::create(b, from.getLoc(), from.getName());
  module->setAttrs(from->getAttrDictionary());
  b.setInsertionPointToStart(module.getBody());
  for (auto global : from.getOps<LLVM::GlobalOp>())
    b.clone(*global);
  std::vector<std::string> names;
  plan().steps.assign(steps.begin(), steps.end());
  for (auto [i, step] : llvm::enumerate(plan().steps)) {
    auto kernel = from.lookupSymbol<LLVM::LLVMFuncOp>(plan().kernels[size_t(step.launched.kernel)]);
    kernels.push_back(cast<LLVM::LLVMFuncOp>(b.clone(*kernel)));
    names.push_back("k" + std::to_string(i));
    kernels.back().setSymName(names.back());
    step.launched.kernel = int64_t(i);
    // (No launch is left out.)
    for (rt::Expr &size : step.launched.grid)
      size = size.asConstant() ? size : rt::Expr(1);
  }
  plan().kernels = names;
}

Operation *Trial::find(unsigned number, NVVM::GridDepActionKind kind) {
  Operation *found = nullptr;
  kernels[number].walk([&](NVVM::GriddepcontrolOp op) {
    if (op.getKind() == kind)
      found = op;
  });
  return found;
}

Operation *Trial::endOf(unsigned number) {
  Operation *end = nullptr;
  for (Block &block : kernels[number].getBody())
    if (isa<LLVM::ReturnOp>(block.back()))
      end = &block.back();
  return end;
}

int64_t Trial::addBuffer(std::optional<int64_t> like) {
  rt::Buffer buffer;
  buffer.kind = rt::Buffer::workspace;
  buffer.offset = like ? plan().buffers[size_t(*like)].offset : rt::Expr((int64_t(1) << 40) + int64_t(plan().buffers.size()) * 256);
  plan().buffers.push_back(buffer);
  return int64_t(plan().buffers.size()) - 1;
}

Value Trial::pass(unsigned number, int64_t buffer) {
  LLVM::LLVMFuncOp kernel = kernels[number];
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext(), 1);
  LLVM::LLVMFunctionType type = kernel.getFunctionType();
  SmallVector<Type> types(type.getParams());
  types.push_back(pointer);
  kernel.setFunctionType(LLVM::LLVMFunctionType::get(type.getReturnType(), types));
  if (ArrayAttr attributes = kernel.getArgAttrsAttr()) {
    SmallVector<Attribute> all(attributes.begin(), attributes.end());
    all.push_back(DictionaryAttr::get(kernel.getContext()));
    kernel.setArgAttrsAttr(ArrayAttr::get(kernel.getContext(), all));
  }
  rt::KernelArgument argument;
  argument.kind = rt::KernelArgument::pointer;
  argument.buffer = buffer;
  launch(number).arguments.push_back(argument);
  return kernel.getBody().addArgument(pointer, kernel.getLoc());
}

void Trial::waitSometimes(bool isLoop) {
  Operation *wait = waitOf(last());
  ImplicitLocOpBuilder b(wait->getLoc(), wait);
  Value thread = NVVM::ThreadIdXOp::create(b, b.getI32Type()), zero = arith::ConstantIntOp::create(b, b.getI32Type(), 0);
  Operation *around;
  if (isLoop)
    around = scf::ForOp::create(b, zero, thread, arith::ConstantIntOp::create(b, b.getI32Type(), 1).getResult());
  else
    around = scf::IfOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, zero).getResult(), /*withElseRegion=*/false);
  wait->moveBefore(around->getRegion(0).front().getTerminator());
}

bool Trial::isTaken(std::string &why) {
  module->setAttr(tile::TileDialect::PlanAttrHelper::getNameStr(), StringAttr::get(module.getContext(), entry.toJson().dump(/*pretty=*/false)));
  ScopedDiagnosticHandler keep(module.getContext(), [&](Diagnostic &diagnostic) {
    if (why.empty())
      why = diagnostic.str();
    return success();
  });
  return succeeded(verify(*holder)) && succeeded(validateLaunches(module));
}

namespace {
class LaunchFaultsTest : public FaultsTest {
protected:
  /// All faults of the launches of a module; `what` names it.
  void plant(ModuleOp module, const std::string &what);
  void plant(gpu::GPUModuleOp kernels, const rt::Entry &entry, ArrayRef<rt::Step> steps, const std::string &where);

private:
  using Change = llvm::function_ref<void(Trial &)>;
  void ask(const std::string &kind, bool isWrong, Change change);
  void plantWaits();
  void plantReads();
  void plantWrites();
  void plantPlaces();
  void plantThird();

  // The launches at hand.
  gpu::GPUModuleOp kernels;
  const rt::Entry *entry;
  ArrayRef<rt::Step> steps;
  std::string where;
};
} // namespace

void LaunchFaultsTest::ask(const std::string &kind, bool isWrong, Change change) {
  Trial trial(kernels, *entry, steps.take_back(2));
  change(trial);
  std::string why;
  bool isTaken = trial.isTaken(why);
  judge(kind, where, isWrong, isTaken, why);
  EXPECT_TRUE(isTaken || StringRef(why).starts_with("internal error: (T14) ")) << where << ", " << kind << ": " << why;
}

void LaunchFaultsTest::plantWaits() {
  ask("as it is", false, [](Trial &) {});
  ask("wait dropped", true, [](Trial &t) { t.waitOf(1)->erase(); });
  ask("wait on one path", true, [](Trial &t) { t.waitSometimes(/*isLoop=*/false); });
  ask("wait in a loop that may not run", true, [](Trial &t) { t.waitSometimes(/*isLoop=*/true); });
  // One thread block of many waits once more: all have waited before.
  ask("wait twice", false, [](Trial &t) {
    OpBuilder b(t.waitOf(1));
    b.clone(*t.waitOf(1));
    t.waitSometimes(/*isLoop=*/false);
  });
  for (bool isLate : {false, true})
    ask("wait late", isLate, [&](Trial &t) {
      int64_t own = t.addBuffer();
      t.store(t.endOf(0), t.pass(0, own));
      Operation *wait = t.waitOf(1), *next = wait->getNextNode();
      t.load(next, t.pass(1, own));
      if (isLate)
        wait->moveBefore(next);
    });
}

void LaunchFaultsTest::plantReads() {
  for (bool isWritten : {false, true}) {
    ask("what the launch before writes read early", isWritten, [&](Trial &t) {
      int64_t own = t.addBuffer();
      if (isWritten)
        t.store(t.endOf(0), t.pass(0, own));
      t.load(t.waitOf(1), t.pass(1, own));
    });
    ask("weight that is written in the chain read early", isWritten, [&](Trial &t) {
      t.entry.arguments.push_back(t.entry.arguments.front());
      t.entry.arguments.back().name = "weight";
      t.entry.arguments.back().output = false;
      t.entry.arguments.back().writeback = -1;
      t.plan().buffers.push_back({rt::Buffer::argument, int64_t(t.entry.arguments.size()) - 1, 0});
      int64_t weight = int64_t(t.plan().buffers.size()) - 1;
      Value before = t.pass(0, weight);
      isWritten ? t.store(t.endOf(0), before) : t.load(t.endOf(0), before);
      t.load(t.waitOf(1), t.pass(1, weight));
    });
  }
}

void LaunchFaultsTest::plantWrites() {
  for (bool isTouched : {false, true}) {
    ask("what the launch before reads written early", isTouched, [&](Trial &t) {
      int64_t own = t.addBuffer();
      if (isTouched)
        t.load(t.endOf(0), t.pass(0, own));
      t.store(t.waitOf(1), t.pass(1, own));
    });
    ask("what the launch before writes written early", isTouched, [&](Trial &t) {
      int64_t own = t.addBuffer();
      if (isTouched)
        t.store(t.endOf(0), t.pass(0, own));
      t.store(t.waitOf(1), t.pass(1, own));
    });
  }
}

void LaunchFaultsTest::plantPlaces() {
  for (bool isShared : {false, true}) {
    ask("slot shared early", isShared, [&](Trial &t) {
      int64_t one = t.addBuffer(), other = t.addBuffer(isShared ? std::optional(one) : std::nullopt);
      t.store(t.endOf(0), t.pass(0, one));
      t.load(t.waitOf(1), t.pass(1, other));
    });
    ask("argument read early while its result is written", isShared, [&](Trial &t) {
      auto add = [&](bool isOutput) {
        rt::Argument argument = t.entry.arguments.front();
        argument.name = isOutput ? "new" : "old";
        argument.output = isOutput;
        argument.writeback = isOutput && isShared ? int64_t(t.entry.arguments.size()) - 1 : -1;
        t.entry.arguments.push_back(argument);
        t.plan().buffers.push_back({rt::Buffer::argument, int64_t(t.entry.arguments.size()) - 1, 0});
        return int64_t(t.plan().buffers.size()) - 1;
      };
      int64_t old = add(false), result = add(true);
      t.store(t.endOf(0), t.pass(0, result));
      t.load(t.waitOf(1), t.pass(1, old));
    });
  }
}

/// What the launch before the one before does: it has ended only where that one lets the next go after it has waited.
void LaunchFaultsTest::plantThird() {
  if (steps.size() < 3)
    return;
  for (bool isEarly : {false, true}) {
    Trial trial(kernels, *entry, steps.take_back(3));
    Operation *go = trial.goOf(1), *wait = trial.waitOf(1);
    if (!go || !wait || go->getBlock() != wait->getBlock() || wait->isBeforeInBlock(go))
      return;
    int64_t own = trial.addBuffer();
    trial.store(trial.endOf(0), trial.pass(0, own));
    trial.load(trial.waitOf(2), trial.pass(2, own));
    if (!isEarly)
      go->moveAfter(wait);
    std::string why;
    bool isTaken = trial.isTaken(why);
    judge("what the second launch before writes read early", where, isEarly, isTaken, why);
  }
}

void LaunchFaultsTest::plant(gpu::GPUModuleOp theKernels, const rt::Entry &theEntry, ArrayRef<rt::Step> theSteps, const std::string &theWhere) {
  kernels = theKernels;
  entry = &theEntry;
  steps = theSteps;
  where = theWhere;
  plantWaits();
  plantReads();
  plantWrites();
  plantPlaces();
  plantThird();
}

void LaunchFaultsTest::plant(ModuleOp module, const std::string &what) {
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    auto text = kernels->getAttrOfType<StringAttr>(tile::TileDialect::PlanAttrHelper::getNameStr());
    rt::Json json;
    rt::Entry entry;
    ASSERT_TRUE(text && rt::Json::parse(std::string_view(text.getValue()), json).ok() && rt::Entry::fromJson(json, 0, entry).ok()) << what;
    EXPECT_TRUE(succeeded(validateLaunches(kernels))) << what;
    std::vector<rt::Step> all = entry.plans.front().steps;
    for (size_t i = 1; i < all.size(); ++i) {
      if (all[i].kind != rt::Step::launch || !all[i].launched.overlaps || all[i - 1].kind != rt::Step::launch)
        continue;
      bool hasThird = i > 1 && all[i - 2].kind == rt::Step::launch && all[i - 1].launched.overlaps;
      plant(kernels, entry, ArrayRef(all).slice(i - 1 - hasThird, 2 + hasThird), what + ", launch " + std::to_string(i));
    }
  }
}

TEST_F(LaunchFaultsTest, AreRefused) {
  unsigned programs = 0;
  auto take = [&](ModuleOp source, const std::string &name, const std::string &partition) {
    OwningOpRef<ModuleOp> module = compile(source, mlir::ft::Phase::Threads, partition);
    if (!module)
      return;
    unsigned before = counts["as it is"].legal;
    plant(*module, name + " partition=" + partition);
    programs += counts["as it is"].legal > before;
  };
  for (const std::string &file : files()) {
    OwningOpRef<ModuleOp> source = parseFile(file);
    ASSERT_TRUE(source) << file;
    take(*source, file, "boundary");
  }
  mlir::ft::fuzz::loadDialects(&context);
  for (unsigned i = 0; i < 60; ++i) {
    mlir::ft::fuzz::Program program = mlir::ft::fuzz::generateProgram(&context, 14, i);
    take(*program.module, program.name, i % 2 ? "boundary" : "");
  }
  printf("%u programs with launches that overlap\n", programs);
  Count all = print();
  EXPECT_GE(programs, 20u);
  EXPECT_GE(all.faults, 600u);
  EXPECT_GE(all.legal, 400u);
  for (auto &[kind, count] : counts)
    EXPECT_TRUE(kind == "as it is" || kind == "wait twice" || count.faults >= 20) << kind;
}
