//===- AcceleratorJson.cpp - accelerators from machine files --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Dataflow/Accelerator.h"

#include "Json.h"

#include <cmath>

using namespace ft::dataflow;

namespace {

class Reader {
public:
  Reader(std::string_view file, std::string &error) : file(file), error(error) {}

  std::optional<Accelerator> run(const JsonValue &root) {
    Accelerator machine;
    if (root.kind != JsonValue::Object) {
      fail(root.place, std::string("expected an object, found ") + describe(root.kind));
      return std::nullopt;
    }
    const JsonValue *kind = root.find("kind");
    const std::string of = kind && kind->kind == JsonValue::String ? kind->text : "";
    if (of != "array" && of != "gpu" && of != "cpu") {
      fail(kind ? kind->place : root.place,
           "expected a field 'kind': 'array', 'gpu' or 'cpu'" +
               (of.empty() ? std::string() : ", found '" + of + "'"));
      return std::nullopt;
    }
    if (const JsonValue *name = root.find("name"); name && name->kind == JsonValue::String)
      machine.name = name->text;
    if (of == "array")
      array(root, machine);
    else
      cache(root, of == "gpu", machine);
    if (!error.empty())
      return std::nullopt;
    return machine;
  }

private:
  void fail(Place place, const std::string &message) {
    error += (error.empty() ? "" : "\n") + located(file, place, message);
  }

  const JsonValue *object(const JsonValue &at, const char *key) {
    const JsonValue *value = at.find(key);
    if (!value)
      fail(at.place, std::string("expected a field '") + key + "', found none");
    else if (value->kind != JsonValue::Object)
      fail(value->place, std::string("'") + key + "': expected an object, found " +
                             describe(value->kind));
    else
      return value;
    return nullptr;
  }

  double number(const JsonValue *at, const char *key) {
    if (!at)
      return 1;
    const JsonValue *value = at->find(key);
    if (!value) {
      fail(at->place, std::string("expected a field '") + key + "', found none");
      return 1;
    }
    if (value->kind != JsonValue::Integer && value->kind != JsonValue::Real) {
      fail(value->place, std::string("'") + key + "': expected a number, found " +
                             describe(value->kind));
      return 1;
    }
    if (!(value->real > 0)) {
      char text[32];
      std::snprintf(text, sizeof text, "%g", value->real);
      fail(value->place,
           std::string("'") + key + "': expected a positive number, found " + text);
      return 1;
    }
    return value->real;
  }

  Count integer(const JsonValue *at, const char *key) {
    double value = number(at, key);
    if (value != std::floor(value) || value > 9e18) {
      fail(at->find(key)->place, std::string("'") + key + "': expected an integer");
      return 1;
    }
    return Count(value);
  }

  const JsonValue *level(const JsonValue &root, const char *name) {
    const JsonValue *levels = root.find("memory");
    if (!levels || levels->kind != JsonValue::Array) {
      fail(levels ? levels->place : root.place, "expected a field 'memory', an array of levels");
      return nullptr;
    }
    for (const JsonValue &entry : levels->items)
      if (const JsonValue *at = entry.find("level"); at && at->text == name)
        return &entry;
    fail(levels->place, std::string("expected a level '") + name + "', found none");
    return nullptr;
  }

  void array(const JsonValue &root, Accelerator &machine) {
    const JsonValue *unit = object(root, "unit"), *rates = object(root, "rates"),
                    *energy = object(root, "energy");
    const JsonValue *local = level(root, "local"), *global = level(root, "global"),
                    *device = level(root, "device");
    machine.units = unsigned(integer(unit, "count"));
    machine.elementBytes = integer(&root, "element_bytes");
    machine.localBytes = integer(local, "bytes");
    machine.globalBytes = integer(global, "bytes");
    machine.onChipBytesPerSecond = number(global, "read_bytes_per_second");
    machine.offChipBytesPerSecond = number(device, "read_bytes_per_second");
    machine.localJoulesPerByte = number(local, "joules_per_byte");
    machine.globalJoulesPerByte = number(global, "joules_per_byte");
    machine.deviceJoulesPerByte = number(device, "joules_per_byte");
    machine.macJoules = number(energy, "mac_joules");
    machine.exponentialsPerSecond = number(rates, "exponentials_per_second");
    const double macs = number(rates, "macs_per_second");
    if (!error.empty())
      return;
    // An element makes one exponential in a cycle.
    machine.cyclesPerSecond = machine.exponentialsPerSecond / machine.units;
    machine.macsPerUnit =
        unsigned(std::max(1.0, std::round(macs / machine.units / machine.cyclesPerSecond)));
  }

  /// What of a processor a schedule's buffer is.
  void cache(const JsonValue &root, bool isGpu, Accelerator &machine) {
    machine.units = 0;
    machine.elementBytes = 4;
    const JsonValue *levels = root.find("memory");
    const JsonValue *found = nullptr;
    if (isGpu) {
      found = level(root, "shared");
    } else if (levels && levels->kind == JsonValue::Array) {
      for (const JsonValue &entry : levels->items) {
        const JsonValue *shared = entry.find("shared");
        if (!(shared && shared->boolean))
          found = &entry;
      }
    }
    if (!found) {
      if (error.empty())
        fail(root.place, "expected a field 'memory' with a cache of one unit");
      return;
    }
    machine.globalBytes = integer(found, "bytes");
  }

  std::string_view file;
  std::string &error;
};

} // namespace

std::optional<Accelerator> ft::dataflow::readAccelerator(std::string_view text,
                                                         std::string_view file,
                                                         std::string &error) {
  std::unique_ptr<JsonValue> root = parseJson(text, file, error);
  if (!root)
    return std::nullopt;
  return Reader(file, error).run(*root);
}
