//===- Diagnostics.cpp - what the compiler says, as C structs -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Diagnostics.h"

#include "ft/Support/WholeFile.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"

#include <deque>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::capi;

void Receiver::send(const FtDiagnostic &diagnostic) {
  std::lock_guard<std::mutex> guard(lock);
  if (callback)
    callback(&diagnostic, user);
}

void Receiver::close() {
  std::lock_guard<std::mutex> guard(lock);
  callback = nullptr;
}

namespace {
/// One FtDiagnostic with the memory that it points to.
struct Message {
  std::string text, category, name, function;
  std::vector<FtPlace> places;
  FtDiagnostic value = {};

  /// Places from the inside out: those of callers follow.
  void addPlaces(Location location) {
    location = wholeFile(location);
    if (auto file = dyn_cast<FileLineColRange>(location))
      places.push_back({file.getFilename().data(), int32_t(file.getStartLine()), int32_t(file.getStartColumn())});
    else if (auto call = dyn_cast<CallSiteLoc>(location)) {
      addPlaces(call.getCallee());
      addPlaces(call.getCaller());
    } else if (auto named = dyn_cast<NameLoc>(location))
      addPlaces(named.getChildLoc());
    else if (auto fused = dyn_cast<FusedLoc>(location)) {
      // Several operations became one: the first one with a place stands for all.
      for (Location part : fused.getLocations()) {
        addPlaces(part);
        if (!places.empty())
          break;
      }
    }
  }

  FtDiagnostic &finish(FtSeverity severity) {
    value.struct_size = sizeof value;
    value.severity = severity;
    value.message = text.c_str();
    value.places = places.data();
    value.num_places = int32_t(places.size());
    value.category = category.c_str();
    value.name = name.c_str();
    value.function = function.c_str();
    return value;
  }
};

FtSeverity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return FT_NOTE;
  case DiagnosticSeverity::Warning:
    return FT_WARNING;
  case DiagnosticSeverity::Error:
    return FT_ERROR;
  case DiagnosticSeverity::Remark:
    return FT_REMARK;
  }
  return FT_ERROR;
}

FtRemarkKind kindOf(llvm::remarks::Type kind) {
  switch (kind) {
  case llvm::remarks::Type::Passed:
    return FT_REMARK_PASSED;
  case llvm::remarks::Type::Missed:
    return FT_REMARK_MISSED;
  case llvm::remarks::Type::Failure:
    return FT_REMARK_FAILURE;
  default:
    return FT_REMARK_ANALYSIS;
  }
}

class RemarkStreamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkStreamer(std::shared_ptr<Receiver> receiver) : receiver(std::move(receiver)) {}
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    Message message;
    message.addPlaces(remark.getLocation());
    message.category = remark.getCategoryName().str();
    message.name = remark.getRemarkName().str();
    message.function = remark.getFunction().str();
    // The reason in words first, then the figures.
    std::string figures;
    for (const remark::detail::Remark::Arg &argument : remark.getArgs()) {
      if (argument.key == "Reason" || argument.key == "Remark" || argument.key == "Suggestion")
        message.text += (message.text.empty() ? "" : "; ") + argument.val;
      else
        figures += (figures.empty() ? "" : ", ") + argument.key + " = " + argument.val;
    }
    if (!figures.empty())
      message.text += (message.text.empty() ? "" : " (") + figures + (message.text.empty() ? "" : ")");
    FtDiagnostic &value = message.finish(FT_REMARK);
    value.remark_kind = kindOf(remark.getRemarkType());
    receiver->send(value);
  }

private:
  std::shared_ptr<Receiver> receiver;
};
} // namespace

DiagnosticSink::DiagnosticSink(MLIRContext &context, std::shared_ptr<Receiver> receiver, bool remarks)
    : context(context), receiver(std::move(receiver)) {
  // The message and the place say it; the operation's generic form would bury both.
  context.printOpOnDiagnostic(false);
  handler = context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    take(diagnostic);
    return success();
  });
  if (!remarks)
    return;
  remark::RemarkCategories everything;
  everything.passed = everything.missed = everything.analysis = everything.failed = ".*";
  // Fails for a filter that is no regular expression only.
  (void)remark::enableOptimizationRemarks(context, std::make_unique<RemarkStreamer>(this->receiver),
                                          std::make_unique<remark::RemarkEmittingPolicyAll>(), everything);
}

DiagnosticSink::~DiagnosticSink() { context.getDiagEngine().eraseHandler(handler); }

void DiagnosticSink::take(Diagnostic &diagnostic) {
  std::deque<Message> notes; // pointers into it stay
  std::vector<FtDiagnostic> noteValues;
  for (Diagnostic &note : diagnostic.getNotes()) {
    Message &one = notes.emplace_back();
    one.text = note.str();
    one.addPlaces(note.getLocation());
    noteValues.push_back(one.finish(FT_NOTE));
  }
  Message message;
  message.text = diagnostic.str();
  message.addPlaces(diagnostic.getLocation());
  FtDiagnostic &value = message.finish(severityOf(diagnostic.getSeverity()));
  value.notes = noteValues.data();
  value.num_notes = int32_t(noteValues.size());
  keep(value);
  receiver->send(value);
}

void DiagnosticSink::report(const std::string &text, const std::string &file, int line, int column) {
  Message message;
  message.text = text;
  if (!file.empty())
    message.places.push_back({file.c_str(), line, column});
  FtDiagnostic &value = message.finish(FT_ERROR);
  keep(value);
  receiver->send(value);
}

void DiagnosticSink::keep(const FtDiagnostic &diagnostic) {
  if (diagnostic.severity != FT_ERROR || !firstError.empty())
    return;
  if (diagnostic.num_places > 0) {
    const FtPlace &place = diagnostic.places[0];
    firstError = std::string(place.file) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
  }
  firstError += std::string("error: ") + diagnostic.message;
}
