//===- PythonCalls.cpp - calls from Python that cost little ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ft-c/Python.h. All functions are called with Python's lock held; it is given up
// while the work is done, because that may take long or wait for another thread.
//
//===----------------------------------------------------------------------===//
#include "ft-c/Python.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace {

constexpr int32_t maxTensors = 24, maxDims = 16;
constexpr size_t maxWords = 1 + maxTensors * (2 + 2 * maxDims);
/// Plans that one dispatcher keeps; a program that is called with ever new sizes starts anew.
constexpr size_t maxPlans = 4096;

/// DLPack's table of functions (`DLPackExchangeAPI`, version 1.x).
struct Exchange {
  uint32_t major, minor;
  void *previous;
  void *allocate, *fromObject, *toObject;
  int (*view)(void *object, FtTensor *out);
  int (*currentStream)(int32_t deviceType, int32_t deviceId, void **stream);
};

/// What lies after the header of an ndarray, in NumPy 1 and 2.
struct NumpyFields {
  char *data;
  int32_t ndim;
  intptr_t *shape, *strides; // in bytes
  void *base, *dtype;
  int32_t flags;
};
constexpr int32_t numpyWriteable = 0x400;

struct DTypeCode {
  void *object;
  uint8_t code, bits;
};

/// A few things that are added and never removed, so that calls look without a lock.
template <class T, int32_t capacity>
class Appended {
public:
  bool add(const T &value) {
    std::lock_guard<std::mutex> guard(lock);
    int32_t size = count.load(std::memory_order_relaxed);
    if (size == capacity)
      return false;
    values[size] = value;
    count.store(size + 1, std::memory_order_release);
    return true;
  }
  template <class F>
  const T *find(F fits) const {
    int32_t size = count.load(std::memory_order_acquire);
    for (int32_t i = 0; i < size; ++i)
      if (fits(values[i]))
        return &values[i];
    return nullptr;
  }

private:
  std::mutex lock;
  std::atomic<int32_t> count{0};
  T values[capacity];
};

/// What lives as long as the process.
struct Registry {
  FtPythonApi api = {};
  Appended<FtPythonReader, 32> readers;
  Appended<DTypeCode, 64> dtypes;
};
Registry &registry() {
  static Registry *all = new Registry; // never destroyed: calls may come while the process ends
  return *all;
}

/// The arrays of one call, and all of them that a plan depends on.
struct Arguments {
  FtTensor tensors[maxTensors];
  int64_t strides[maxTensors][maxDims]; // of NumPy's, in elements
  bool isWritable[maxTensors];
  int64_t key[maxWords];
  size_t words = 0;
  const FtPythonReader *first = nullptr;
  const FtPythonReader *watched = nullptr; // of an array that others may have to see
};

struct Plan {
  ~Plan() {
    for (void *object : held)
      registry().api.dec_ref(object);
  }
  void *hold(void *object) {
    if (!object)
      return nullptr;
    held.push_back(object);
    registry().api.inc_ref(object);
    return object;
  }

  std::vector<void *> held;
  std::vector<int64_t> key;
  FtEntry *entry = nullptr;
  int32_t numInputs = 0, numOutputs = 0;
  bool single = false, onStream = false;
  std::vector<void *> makers; // none: the caller gives outputs
  void *note = nullptr, *failed = nullptr;
  const int64_t *epoch = nullptr;
  // Of the call before; guarded by the dispatcher's lock.
  void *notedStream = nullptr;
  int64_t notedEpoch = -1;
};

} // namespace

struct FtPythonDispatcher {
  std::mutex lock;
  std::unordered_multimap<uint64_t, std::shared_ptr<Plan>> plans;
  std::shared_ptr<Plan> latest;
};

static FtStatus invalid(const char *what) { return ft_set_last_error(FT_INVALID_ARGUMENT, what); }

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// Adds what a plan depends on of one tensor. False where that does not fit.
static bool addKey(const FtTensor &t, int64_t *key, size_t &words) {
  if (t.ndim < 0 || t.ndim > maxDims || words + 2 + 2 * size_t(t.ndim) > maxWords)
    return false;
  key[words++] = int64_t(t.dtype.code) | int64_t(t.dtype.bits) << 8 | int64_t(t.dtype.lanes) << 16 |
                 int64_t(t.ndim) << 32;
  key[words++] = int64_t(uint32_t(t.device.type)) << 32 | uint32_t(t.device.id);
  bool empty = std::find(t.shape, t.shape + t.ndim, 0) != t.shape + t.ndim;
  int64_t dense = 1;
  for (int32_t d = t.ndim; d-- > 0;) {
    int64_t extent = t.shape[d];
    // Where there is nothing to step over, libraries write what they like.
    int64_t stride = empty || extent == 1 || !t.strides ? dense : t.strides[d];
    key[words + size_t(d)] = extent;
    key[words + size_t(t.ndim + d)] = stride;
    if (extent < 0 || __builtin_mul_overflow(dense, extent ? extent : 1, &dense))
      return false;
  }
  words += 2 * size_t(t.ndim);
  return true;
}

/// Elements without an address: a tensor that only stands for one.
static bool lacksData(const FtTensor &t) {
  return !t.data && std::find(t.shape, t.shape + t.ndim, 0) == t.shape + t.ndim;
}

static uint64_t hashOf(const int64_t *key, size_t words) {
  uint64_t hash = 0x9e3779b97f4a7c15u + words;
  for (size_t i = 0; i < words; ++i) {
    hash = (hash ^ uint64_t(key[i])) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

static std::shared_ptr<Plan> findPlan(FtPythonDispatcher &d, const int64_t *key, size_t words) {
  auto fits = [&](const Plan &plan) {
    return plan.key.size() == words && !memcmp(plan.key.data(), key, words * sizeof(int64_t));
  };
  std::lock_guard<std::mutex> guard(d.lock);
  if (d.latest && fits(*d.latest))
    return d.latest;
  auto [begin, end] = d.plans.equal_range(hashOf(key, words));
  for (auto it = begin; it != end; ++it)
    if (fits(*it->second))
      return d.latest = it->second;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Reading arrays
//===----------------------------------------------------------------------===//

static const FtPythonReader *readerOf(const FtPythonApi &api, void *object) {
  void *type = api.object_type(object);
  api.dec_ref(type); // the object keeps its type
  return registry().readers.find([&](const FtPythonReader &reader) { return reader.type == type; });
}

/// Whether PyTorch has to see the call: it tracks gradients, or the numbers are not those in memory.
static bool isPlain(const FtPythonApi &api, const FtPythonReader &reader, void *object) {
  auto isFalse = [&](void *answer) {
    if (!answer)
      api.clear_error();
    else
      api.dec_ref(answer); // True and False live on
    return answer == api.false_object;
  };
  if (reader.negated_name && !isFalse(api.call_method(object, reader.negated_name, nullptr)))
    return false;
  return !reader.tracks_name || isFalse(api.get_attribute(object, reader.tracks_name)) ||
         isFalse(api.call_object(reader.tracks_now, nullptr));
}

/// Whether PyTorch has to see calls: arrays may have tangents, or a mode traces operations.
static bool isWatched(const FtPythonApi &api, const FtPythonReader &reader) {
  // Small numbers live on.
  auto is = [&](void *answer, void *wanted) {
    if (answer)
      api.dec_ref(answer);
    else
      api.clear_error();
    return answer == wanted;
  };
  if (reader.level_owner && !is(api.get_attribute(reader.level_owner, reader.level_name), reader.level_none))
    return true;
  return reader.modes_count && !is(api.call_object(reader.modes_count, nullptr), reader.modes_none);
}

static bool readNumpy(const FtPythonReader &reader, void *object, FtTensor &t, int64_t *strides, bool &isWritable) {
  NumpyFields fields;
  memcpy(&fields, static_cast<char *>(object) + reader.header_bytes, sizeof fields);
  const DTypeCode *type = registry().dtypes.find([&](const DTypeCode &known) { return known.object == fields.dtype; });
  if (!type || fields.ndim < 0 || fields.ndim > maxDims)
    return false;
  isWritable = (fields.flags & numpyWriteable) != 0;
  int64_t width = type->bits / 8;
  for (int32_t d = 0; d < fields.ndim; ++d) {
    if (fields.strides[d] % width)
      return false;
    strides[d] = fields.strides[d] / width;
  }
  static_assert(sizeof(intptr_t) == sizeof(int64_t));
  t = {};
  t.data = fields.data;
  t.device = {FT_CPU, 0};
  t.ndim = fields.ndim;
  t.dtype = {type->code, type->bits, 1};
  t.shape = reinterpret_cast<int64_t *>(fields.shape);
  t.strides = strides;
  return true;
}

/// Reads one array as the next of the call's. False, with no exception set, where that is not possible.
static bool readArray(const FtPythonApi &api, void *object, Arguments &all, int32_t index) {
  const FtPythonReader *reader = readerOf(api, object);
  if (!reader)
    return false;
  FtTensor &t = all.tensors[index];
  all.isWritable[index] = true;
  if (reader->kind == FT_READ_NUMPY) {
    if (!readNumpy(*reader, object, t, all.strides[index], all.isWritable[index]))
      return false;
  } else {
    if (static_cast<Exchange *>(reader->exchange)->view(object, &t) != 0) {
      api.clear_error();
      return false;
    }
    if (!isPlain(api, *reader, object))
      return false;
    if (reader->level_owner || reader->modes_count)
      all.watched = reader;
  }
  if (index == 0) {
    all.first = reader;
    all.key[all.words++] = reader->library;
  }
  return !lacksData(t);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// Results that were made, until the caller has them.
class Results {
public:
  explicit Results(const FtPythonApi &api) : api(api) {}
  ~Results() {
    for (void *object : objects)
      api.dec_ref(object);
  }
  void add(void *object) { objects.push_back(object); }
  /// One object, or a tuple; NULL with an exception set where there is no memory.
  void *take(bool single) {
    if (single) {
      void *object = objects.front();
      objects.clear();
      return object;
    }
    void *tuple = api.tuple_new(ptrdiff_t(objects.size()));
    for (size_t i = 0; tuple && i < objects.size(); ++i)
      api.tuple_set(tuple, ptrdiff_t(i), objects[i]);
    if (tuple)
      objects.clear();
    return tuple;
  }

private:
  const FtPythonApi &api;
  std::vector<void *> objects;
};

enum class Outcome { done, slow, raised };
} // namespace

/// Makes the results' arrays, or takes those that the caller gave.
static Outcome placeOutputs(const FtPythonApi &api, const Plan &plan, void *const *arguments, Arguments &all,
                            Results &results) {
  for (int32_t i = 0; i < plan.numOutputs; ++i) {
    if (plan.makers.empty()) {
      api.inc_ref(arguments[plan.numInputs + i]);
      results.add(arguments[plan.numInputs + i]);
      continue;
    }
    void *made = api.call_object(plan.makers[size_t(i)], nullptr);
    if (!made)
      return Outcome::raised;
    results.add(made);
    if (!readArray(api, made, all, plan.numInputs + i))
      return Outcome::slow;
  }
  return Outcome::done;
}

static bool noteStream(Plan &plan, FtPythonDispatcher &d, void *stream) {
  if (!plan.note)
    return true;
  {
    std::lock_guard<std::mutex> guard(d.lock);
    int64_t epoch = plan.epoch ? *plan.epoch : 0;
    if (plan.notedStream == stream && plan.notedEpoch == epoch)
      return true;
    plan.notedStream = stream;
    plan.notedEpoch = epoch;
  }
  const FtPythonApi &api = registry().api;
  void *address = api.long_from(static_cast<long long>(reinterpret_cast<intptr_t>(stream)));
  void *answer = address ? api.call_function(plan.note, address, nullptr) : nullptr;
  if (address)
    api.dec_ref(address);
  if (answer)
    api.dec_ref(answer);
  return answer != nullptr;
}

static Outcome launch(Plan &plan, FtPythonDispatcher &d, Arguments &all) {
  const FtPythonApi &api = registry().api;
  FtCallOptions options = {sizeof options, nullptr, nullptr, 0, 0};
  if (plan.onStream) {
    const FtTensor &t = all.tensors[0];
    auto *exchange = static_cast<Exchange *>(all.first->exchange);
    if (!exchange || exchange->currentStream(t.device.type, t.device.id, &options.stream) != 0) {
      api.clear_error();
      return Outcome::slow;
    }
    if (!noteStream(plan, d, options.stream))
      return Outcome::raised;
  }
  const FtTensor *pointers[maxTensors];
  int32_t count = plan.numInputs + plan.numOutputs;
  for (int32_t i = 0; i < count; ++i)
    pointers[i] = &all.tensors[i];
  void *state = api.save_thread();
  FtStatus status = ft_call(plan.entry, pointers, count, &options);
  api.restore_thread(state);
  if (status == FT_OK)
    return Outcome::done;
  void *number = api.long_from(status);
  void *answer = number ? api.call_function(plan.failed, number, nullptr) : nullptr;
  if (number)
    api.dec_ref(number);
  if (answer)
    api.dec_ref(answer);
  return answer ? Outcome::slow : Outcome::raised;
}

static void *giveNone(const FtPythonApi &api) {
  api.inc_ref(api.none);
  return api.none;
}

static void *call(FtPythonDispatcher &d, void *const *arguments, ptrdiff_t count) {
  const FtPythonApi &api = registry().api;
  if (count < 1 || count > maxTensors)
    return giveNone(api);
  Arguments all;
  for (int32_t i = 0; i < int32_t(count); ++i)
    if (!readArray(api, arguments[i], all, i) || !addKey(all.tensors[i], all.key, all.words))
      return giveNone(api);
  if (all.watched && isWatched(api, *all.watched))
    return giveNone(api);
  std::shared_ptr<Plan> plan = findPlan(d, all.key, all.words);
  if (!plan || (plan->makers.empty() ? plan->numInputs + plan->numOutputs != count : plan->numInputs != count) ||
      plan->numInputs + plan->numOutputs > maxTensors)
    return giveNone(api);
  for (int32_t i = plan->numInputs; i < int32_t(count); ++i)
    if (!all.isWritable[i])
      return giveNone(api);
  Results results(api);
  Outcome outcome = placeOutputs(api, *plan, arguments, all, results);
  if (outcome == Outcome::done)
    outcome = launch(*plan, d, all);
  if (outcome == Outcome::done)
    return results.take(plan->single);
  return outcome == Outcome::raised ? nullptr : giveNone(api);
}

void *ft_python_call(void *self, void *const *arguments, ptrdiff_t count) {
  const FtPythonApi &api = registry().api;
  auto *dispatcher = static_cast<FtPythonDispatcher *>(api.long_as_pointer(self));
  if (!dispatcher)
    return nullptr; // no address: an exception is set
  try {
    return call(*dispatcher, arguments, count);
  } catch (...) { // no memory; the slow way says so
    return giveNone(api);
  }
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

template <class F>
static FtStatus guarded(F body) {
  try {
    return body();
  } catch (...) {
    return ft_set_last_error(FT_OUT_OF_MEMORY, "out of memory");
  }
}

FtStatus ft_python_start(const FtPythonApi *api) {
  if (!api || api->struct_size != sizeof *api)
    return invalid("the functions of Python are missing, or struct_size is not their size");
  static std::once_flag once;
  std::call_once(once, [&] { registry().api = *api; });
  return FT_OK;
}

static bool hasStarted() { return registry().api.struct_size != 0; }

FtStatus ft_python_reader_add(const FtPythonReader *given) {
  if (!hasStarted() || !given || given->struct_size != sizeof *given || !given->type)
    return invalid("Python was not started, or the reader is incomplete");
  if (given->kind != FT_READ_NUMPY && given->kind != FT_READ_EXCHANGE)
    return invalid("kind is neither FT_READ_EXCHANGE nor FT_READ_NUMPY");
  if (given->kind == FT_READ_EXCHANGE) {
    auto *exchange = static_cast<const Exchange *>(given->exchange);
    if (!exchange || exchange->major != 1 || !exchange->view || !exchange->currentStream)
      return ft_set_last_error(FT_UNSUPPORTED_FORMAT, "the type's exchange interface is not of version 1");
  }
  if (given->tracks_name && !given->tracks_now)
    return invalid("tracks_now is NULL");
  if (given->level_owner && (!given->level_name || !given->level_none))
    return invalid("level_name or level_none is NULL");
  if (given->modes_count && !given->modes_none)
    return invalid("modes_none is NULL");
  Registry &all = registry();
  for (void *object : {given->type, given->tracks_name, given->tracks_now, given->negated_name, given->level_owner,
                       given->level_name, given->level_none, given->modes_count, given->modes_none})
    if (object)
      all.api.inc_ref(object);
  return all.readers.add(*given) ? FT_OK : ft_set_last_error(FT_UNSUPPORTED_FORMAT, "too many types of arrays");
}

FtStatus ft_python_dtype_add(void *dtype, uint8_t code, uint8_t bits) {
  if (!hasStarted() || !dtype || bits < 8 || bits % 8)
    return invalid("Python was not started, or an element type has no whole bytes");
  Registry &all = registry();
  if (all.dtypes.find([&](const DTypeCode &known) { return known.object == dtype; }))
    return FT_OK;
  all.api.inc_ref(dtype);
  return all.dtypes.add({dtype, code, bits}) ? FT_OK : ft_set_last_error(FT_UNSUPPORTED_FORMAT, "too many element types");
}

FtStatus ft_python_dispatcher_create(FtPythonDispatcher **dispatcher) {
  if (!dispatcher || !hasStarted())
    return invalid("dispatcher is NULL, or Python was not started");
  *dispatcher = new (std::nothrow) FtPythonDispatcher;
  return *dispatcher ? FT_OK : ft_set_last_error(FT_OUT_OF_MEMORY, "out of memory");
}

void ft_python_dispatcher_clear(FtPythonDispatcher *dispatcher) {
  if (!dispatcher)
    return;
  // Dropped after the lock: what Python frees may call back.
  std::unordered_multimap<uint64_t, std::shared_ptr<Plan>> dropped;
  std::shared_ptr<Plan> latest;
  std::lock_guard<std::mutex> guard(dispatcher->lock);
  dropped.swap(dispatcher->plans);
  latest.swap(dispatcher->latest);
}

void ft_python_dispatcher_release(FtPythonDispatcher *dispatcher) { delete dispatcher; }

/// The key that a call's arrays will have.
static bool makeKey(const FtPythonPlan &given, std::vector<int64_t> &key) {
  std::vector<int64_t> words(maxWords + 1);
  size_t count = 0;
  words[count++] = given.library;
  int32_t seen = given.num_inputs + (given.makers ? 0 : given.num_outputs);
  for (int32_t i = 0; i < seen; ++i)
    if (!addKey(*given.tensors[i], words.data(), count))
      return false;
  words.resize(count);
  key = std::move(words);
  return true;
}

FtStatus ft_python_dispatcher_add(FtPythonDispatcher *dispatcher, const FtPythonPlan *given) {
  if (!dispatcher || !given || given->struct_size != sizeof *given || !given->entry || !given->tensors || !given->failed)
    return invalid("the plan is incomplete, or struct_size is not its size");
  if (given->num_inputs < 1 || given->num_outputs < 1 || given->num_inputs + given->num_outputs > maxTensors)
    return ft_set_last_error(FT_UNSUPPORTED_FORMAT, "more arrays than a prepared call takes");
  return guarded([&] {
    auto plan = std::make_shared<Plan>();
    if (!makeKey(*given, plan->key))
      return ft_set_last_error(FT_UNSUPPORTED_FORMAT, "more dimensions than a prepared call takes");
    plan->entry = given->entry;
    plan->numInputs = given->num_inputs;
    plan->numOutputs = given->num_outputs;
    plan->single = given->single != 0;
    plan->onStream = given->on_stream != 0;
    plan->epoch = given->epoch;
    if (given->makers)
      for (int32_t i = 0; i < given->num_outputs; ++i)
        plan->makers.push_back(plan->hold(given->makers[i]));
    plan->note = plan->hold(given->note);
    plan->failed = plan->hold(given->failed);
    uint64_t hash = hashOf(plan->key.data(), plan->key.size());
    if (dispatcher->plans.size() >= maxPlans)
      ft_python_dispatcher_clear(dispatcher);
    std::lock_guard<std::mutex> guard(dispatcher->lock);
    dispatcher->plans.emplace(hash, std::move(plan));
    return FT_OK;
  });
}
