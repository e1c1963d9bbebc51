//===- Timeline.h - when a call's pieces began and ended --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A traced call goes to its target through another one, which notes the time
// before and after each step. Calls that are not traced do not know of it.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_PROGRAM_TIMELINE_H
#define FT_RUNTIME_PROGRAM_TIMELINE_H

#include "ft/Runtime/Base/Json.h"
#include "ft/Runtime/Host/ThreadPool.h"
#include "ft/Runtime/Program/Target.h"

namespace ft::rt {

class TracedTarget final : public Target {
public:
  TracedTarget(std::unique_ptr<Target> inner, const Plan &plan, bool isHost) : inner(std::move(inner)), plan(plan), isHost(isHost) {}
  ~TracedTarget() override;

  /// The target again, when the call is over.
  std::unique_ptr<Target> take() {
    releaseMarks();
    return std::move(inner);
  }

  /// Begins the call: from now on parallel calls of this thread are recorded.
  void begin();
  /// Ends it, after all that was enqueued.
  Status end(void *stream);
  /// The events of a Chrome trace, in microseconds since the beginning, and how many barriers there were.
  Status write(const std::string &entry, Json lengths, Json &trace);

  Status launch(int64_t kernel, const LaunchShape &shape, void **parameters, void *stream) override;
  Status fill(uint64_t to, int value, size_t bytes, void *stream) override;
  Status copy(uint64_t to, uint64_t from, size_t bytes, void *stream) override;
  Status readWord(uint64_t from, int32_t &value, void *stream) override;

  Status enter() override { return inner->enter(); }
  void leave() override { inner->leave(); }
  Status encode(const TensorMap &map, uint64_t address, const uint64_t *extents, const uint64_t *strides, CUtensorMap &out) override {
    return inner->encode(map, address, extents, strides, out);
  }
  Status allocate(size_t bytes, uint64_t &out) override { return inner->allocate(bytes, out); }
  void release(uint64_t memory) override { inner->release(memory); }
  Status synchronize(void *stream) override { return inner->synchronize(stream); }
  Status synchronizeAll() override { return inner->synchronizeAll(); }
  Status isCapturing(void *stream, bool &capturing) override { return inner->isCapturing(stream, capturing); }
  uint64_t constant(int64_t section) const override { return inner->constant(section); }
  uint64_t constantBytes(int64_t section) const override { return inner->constantBytes(section); }
  uint64_t errorAddress() const override { return inner->errorAddress(); }
  ErrorRecord *errorRecord() override { return inner->errorRecord(); }

private:
  /// A step of the plan: when the host ran or enqueued it, and a GPU's events around it.
  struct StepTime {
    std::string name;
    const char *category;
    int64_t begin, end;
    void *before, *after;
    Json arguments;
  };
  struct ThreadSpan {
    FtSpan span;
    size_t step;
  };

  template <class Run>
  Status time(std::string name, const char *category, Json arguments, void *stream, Run run);
  static void recordSpan(void *self, const FtSpan *span);
  void releaseMarks();
  void addThreads(Json &events, int64_t &barriers);
  Status addDevice(Json &events);

  std::unique_ptr<Target> inner;
  const Plan &plan;
  const bool isHost;
  int64_t began = 0, ended = 0;
  void *first = nullptr; // a GPU's event before all
  std::vector<StepTime> steps;
  std::mutex lock; // of `spans`
  std::vector<ThreadSpan> spans;
};

} // namespace ft::rt

#endif // FT_RUNTIME_PROGRAM_TIMELINE_H
