//===- LoopsProgram.cpp - what a program says of its calls ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch plan is made of a program alone: what it says of its callers has to fit itself.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/IR/Loops.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::loops;

LogicalResult DeviceAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef target, StringRef,
                                 int64_t units) {
  if (target.empty())
    return emitError() << "expected the target of a GPU, found none";
  if (units < 1)
    return emitError() << "expected at least one SM, found units = " << units;
  return success();
}

SmallVector<BufferOp> ProgramOp::getBuffers(BufferKind kind) {
  SmallVector<BufferOp> found;
  for (auto buffer : getBody().front().getOps<BufferOp>())
    if (buffer.getKind() == kind)
      found.push_back(buffer);
  if (kind == BufferKind::Argument || kind == BufferKind::Result)
    llvm::sort(found, [](BufferOp a, BufferOp b) { return int64_t(*a.getIndex()) < int64_t(*b.getIndex()); });
  return found;
}

/// Buffers numbered from 0 on.
static LogicalResult verifyNumbers(ProgramOp program, BufferKind kind, StringRef what) {
  for (auto [i, buffer] : llvm::enumerate(program.getBuffers(kind)))
    if (int64_t(*buffer.getIndex()) != int64_t(i))
      return buffer.emitOpError("expected ") << what << "s numbered from 0 on, each one once; found number "
                                             << int64_t(*buffer.getIndex()) << " in the place of " << i << " (loops_program2)";
  return success();
}

static LogicalResult verifyLengths(ProgramOp program, Operation *at, ArrayRef<ft::LengthAttr> lengths, StringRef what) {
  for (ft::LengthAttr length : lengths)
    for (StringAttr name : length.getNames())
      if (!llvm::is_contained(program.getLengths(), name))
        return at->emitOpError("expected ") << what << " over the program's lengths " << program.getLengths() << ", found "
                                            << name << " (loops_program3)";
  return success();
}

static LogicalResult verifyChecks(ProgramOp program) {
  ArrayAttr checks = program.getChecksAttr();
  for (Attribute attribute : checks ? checks.getValue() : ArrayRef<Attribute>()) {
    auto check = dyn_cast<DictionaryAttr>(attribute);
    auto holds = check ? check.getAs<ft::BoundsAttr>("holds") : ft::BoundsAttr();
    if (!holds || !check.getAs<StringAttr>("because") || (check.get("at") && !check.getAs<LocationAttr>("at")))
      return program.emitOpError("expected checks {holds = #ft.bounds<...>, because = \"...\"}, with a place (at = loc(...)) or "
                                 "without, found ")
             << attribute << " (loops_program4)";
    if (failed(verifyLengths(program, program, holds.getNonNegative(), "checks")))
      return failure();
  }
  return success();
}

static LogicalResult verifyInPlace(ProgramOp program) {
  std::optional<ArrayRef<int64_t>> pairs = program.getInPlace();
  if (!pairs)
    return success();
  int64_t arguments = program.getBuffers(BufferKind::Argument).size(), results = program.getBuffers(BufferKind::Result).size();
  llvm::SmallSet<int64_t, 4> seen;
  bool fits = pairs->size() % 2 == 0;
  for (size_t i = 0; fits && i < pairs->size(); i += 2) {
    int64_t argument = (*pairs)[i], result = (*pairs)[i + 1];
    fits = argument >= 0 && argument < arguments && result >= 0 && result < results && seen.insert(result).second;
  }
  if (fits)
    return success();
  return program.emitOpError("expected pairs of an argument's and a result's number, no result twice, found in_place = ")
         << program.getInPlaceAttr() << " (loops_program5)";
}

LogicalResult ProgramOp::verifyRegions() {
  for (Operation &op : getBody().front())
    if (!isa<LengthOp, BufferOp, StrideOp, LaunchOp, VariantsOp>(op)) {
      InFlightDiagnostic diag = emitOpError("has lengths, buffers, strides, launches and variants alone (loops_program1)");
      diag.attachNote(op.getLoc()) << "found '" << op.getName() << "' here";
      return diag;
    }
  if (failed(verifyNumbers(*this, BufferKind::Argument, "argument")) || failed(verifyNumbers(*this, BufferKind::Result, "result")))
    return failure();
  for (auto buffer : getBody().front().getOps<BufferOp>())
    if (failed(verifyLengths(*this, buffer, buffer.getType().getLengths(), "a buffer")))
      return failure();
  if (getBounds() && failed(verifyLengths(*this, *this, getBounds()->getNonNegative(), "bounds")))
    return failure();
  for (Attribute place : getPlaces())
    if (!isa<LocationAttr>(place))
      return emitOpError("expected places that are locations, found ") << place << " (loops_program6)";
  return success(succeeded(verifyChecks(*this)) && succeeded(verifyInPlace(*this)));
}
