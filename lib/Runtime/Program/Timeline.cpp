//===- Timeline.cpp - when a call's pieces began and ended ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Program/Timeline.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <set>
#include <utility>

using namespace ft::rt;

static int64_t nowNanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

/// What is shown as a process: the host's threads, or a GPU's stream.
static constexpr int64_t hostProcess = 1, deviceProcess = 2;

/// A kernel's name in plans and remarks; launch plans call a function that shares it among the threads.
static std::string kernelName(const std::string &name) {
  const std::string suffix = "_launch";
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

static Json makeEvent(std::string name, const char *category, int64_t process, int64_t thread, double microseconds, double duration,
                      Json arguments) {
  Json event = Json::makeObject();
  event.set("name", std::move(name)).set("cat", category).set("ph", "X").set("pid", process).set("tid", thread);
  return event.set("ts", microseconds).set("dur", duration).set("args", std::move(arguments));
}

static Json makeName(const char *what, std::string name, int64_t process, int64_t thread) {
  Json arguments = Json::makeObject(), event = Json::makeObject();
  arguments.set("name", std::move(name));
  return event.set("name", what).set("ph", "M").set("pid", process).set("tid", thread).set("args", std::move(arguments));
}

TracedTarget::~TracedTarget() { ft_trace_threads(nullptr, nullptr); }

void TracedTarget::recordSpan(void *self, const FtSpan *span) {
  auto &target = *static_cast<TracedTarget *>(self);
  std::lock_guard<std::mutex> guard(target.lock);
  target.spans.push_back({*span, target.steps.size() - 1}); // (of the step that runs)
}

void TracedTarget::begin() {
  began = nowNanoseconds();
  ft_trace_threads(&TracedTarget::recordSpan, this);
}

Status TracedTarget::end(void *stream) {
  ft_trace_threads(nullptr, nullptr);
  Status status = inner->synchronize(stream);
  ended = nowNanoseconds();
  return status;
}

template <class Run>
Status TracedTarget::time(std::string name, const char *category, Json arguments, void *stream, Run run) {
  if (!first)
    FT_RT_TRY(inner->mark(stream, first));
  steps.push_back({std::move(name), category, 0, 0, nullptr, nullptr, std::move(arguments)});
  StepTime &step = steps.back(); // (steps do not run inside of each other)
  FT_RT_TRY(inner->mark(stream, step.before));
  step.begin = nowNanoseconds();
  Status status = run();
  step.end = nowNanoseconds();
  FT_RT_TRY(std::move(status));
  return inner->mark(stream, step.after);
}

void TracedTarget::releaseMarks() {
  for (StepTime &step : steps)
    for (void **mark : {&step.before, &step.after})
      if (*mark)
        inner->releaseMark(std::exchange(*mark, nullptr));
  if (first)
    inner->releaseMark(std::exchange(first, nullptr));
}

Status TracedTarget::launch(int64_t kernel, const LaunchShape &shape, void **parameters, void *stream) {
  Json arguments = Json::makeObject();
  if (!isHost) {
    for (auto [name, extents] : {std::pair("grid", shape.grid), std::pair("block", shape.block), std::pair("cluster", shape.cluster)}) {
      Json list = Json::makeArray();
      for (int d = 0; d < 3; ++d)
        list.push(int64_t(extents[d]));
      arguments.set(name, std::move(list));
    }
    arguments.set("shared_bytes", int64_t(shape.sharedBytes));
  }
  return time(kernelName(plan.kernels[size_t(kernel)]), "kernel", std::move(arguments), stream,
              [&] { return inner->launch(kernel, shape, parameters, stream); });
}

static Json describeBytes(size_t bytes) { return std::move(Json::makeObject().set("bytes", int64_t(bytes))); }

Status TracedTarget::fill(uint64_t to, int value, size_t bytes, void *stream) {
  return time("fill", "move", describeBytes(bytes), stream, [&] { return inner->fill(to, value, bytes, stream); });
}

Status TracedTarget::copy(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  return time("copy", "move", describeBytes(bytes), stream, [&] { return inner->copy(to, from, bytes, stream); });
}

Status TracedTarget::readWord(uint64_t from, int32_t &value, void *stream) {
  return time("read a condition", "move", describeBytes(sizeof(value)), stream, [&] { return inner->readWord(from, value, stream); });
}

/// What threads did in the kernels of a CPU.
void TracedTarget::addThreads(Json &events, int64_t &barriers) {
  std::map<int64_t, int64_t> barriersOf; // by region
  std::set<int32_t> threads = {0};
  for (const auto &[span, step] : spans) {
    Json arguments = Json::makeObject();
    arguments.set("kernel", steps[step].name).set("region", span.region);
    if (span.kind == FT_SPAN_PIECE) {
      arguments.set("first", span.first).set("last", span.last);
    } else {
      arguments.set("member", span.first).set("part", span.last);
      if (span.kind == FT_SPAN_BARRIER)
        barriersOf[span.region] = std::max(barriersOf[span.region], span.last + 1);
    }
    const char *category = span.kind == FT_SPAN_BARRIER ? "barrier" : "task";
    events.push(makeEvent(category, category, hostProcess, span.thread, double(span.begin - began) / 1e3,
                          double(span.end - span.begin) / 1e3, std::move(arguments)));
    threads.insert(span.thread);
  }
  for (auto [region, count] : barriersOf)
    barriers += count;
  for (int32_t thread : threads)
    events.push(makeName("thread_name", thread ? "worker " + std::to_string(thread) : "caller", hostProcess, thread));
}

/// When a GPU ran the steps, from its events; its clock begins where the first step was enqueued.
Status TracedTarget::addDevice(Json &events) {
  if (isHost || steps.empty())
    return {};
  events.push(makeName("process_name", "GPU (its clock begins with the first launch)", deviceProcess, 0));
  events.push(makeName("thread_name", "stream", deviceProcess, 0));
  const double offset = double(steps.front().begin - began) / 1e3;
  for (StepTime &step : steps) {
    double begin = 0, duration = 0;
    FT_RT_TRY(inner->secondsBetween(first, step.before, begin));
    FT_RT_TRY(inner->secondsBetween(step.before, step.after, duration));
    events.push(makeEvent(step.name, step.category, deviceProcess, 0, offset + begin * 1e6, duration * 1e6, step.arguments));
  }
  return {};
}

Status TracedTarget::write(const std::string &entry, Json lengths, Json &trace) {
  int64_t barriers = 0;
  Json events = Json::makeArray();
  events.push(makeName("process_name", isHost ? "CPU" : "host", hostProcess, 0));
  events.push(makeEvent(entry, "call", hostProcess, 0, 0, double(ended - began) / 1e3, std::move(lengths)));
  for (const StepTime &step : steps)
    events.push(makeEvent(isHost ? step.name : "enqueue " + step.name, isHost ? step.category : "host", hostProcess, 0,
                          double(step.begin - began) / 1e3, double(step.end - step.begin) / 1e3, step.arguments));
  addThreads(events, barriers);
  FT_RT_TRY(addDevice(events));
  Json about = Json::makeObject();
  about.set("entry", entry).set("target", plan.target).set("variant", plan.variant).set("barriers", barriers);
  about.set("threads", int64_t(isHost ? ft_num_threads() : 1));
  trace = Json::makeObject();
  trace.set("displayTimeUnit", "ns").set("otherData", std::move(about)).set("traceEvents", std::move(events));
  return {};
}
