//===- GraphJson.cpp - operator graphs in JSON ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Dataflow/Graph/GraphJson.h"

#include "Json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace ft::dataflow;

namespace {

class Reader {
public:
  Reader(std::string_view file, std::string &error) : file(file), error(error) {}

  std::optional<Graph> run(const JsonValue &root) {
    Graph graph;
    if (!is(root, JsonValue::Object, "a graph"))
      return std::nullopt;
    knownKeys(root, {"name", "dims", "batch", "results", "operators"});
    if (const JsonValue *name = root.find("name"); name && is(*name, JsonValue::String, "'name'"))
      graph.name = name->text;
    dims(root, graph);
    const JsonValue *list = field(root, "operators", JsonValue::Array, "a graph");
    for (size_t i = 0; list && i < list->items.size(); ++i)
      op(list->items[i], graph);
    if (list && list->items.empty())
      fail(list->place, "expected at least one operator, found none");
    if (!error.empty())
      return std::nullopt;
    marks(root, graph);
    if (!error.empty())
      return std::nullopt;
    std::vector<std::string> names;
    for (const Operator &entry : graph.operators)
      names.push_back(entry.name);
    for (const GraphError &problem : graph.finish())
      fail(problem.op >= 0 && size_t(problem.op) < list->items.size()
               ? list->items[problem.op].place
               : root.place,
           problem.message);
    if (!error.empty())
      return std::nullopt;
    return graph;
  }

private:
  void fail(Place place, const std::string &message) {
    error += (error.empty() ? "" : "\n") + located(file, place, message);
  }

  bool is(const JsonValue &value, JsonValue::Kind kind, const std::string &what) {
    if (value.kind == kind)
      return true;
    fail(value.place, what + ": expected " + describe(kind) + ", found " + describe(value.kind));
    return false;
  }

  const JsonValue *field(const JsonValue &object, const char *key, JsonValue::Kind kind,
                         const std::string &what) {
    const JsonValue *value = object.find(key);
    if (!value) {
      fail(object.place, what + ": expected a field '" + key + "', found none");
      return nullptr;
    }
    return is(*value, kind, what + ": '" + key + "'") ? value : nullptr;
  }

  void knownKeys(const JsonValue &object, std::initializer_list<const char *> known) {
    for (size_t i = 0; i < object.keys.size(); ++i)
      if (std::none_of(known.begin(), known.end(),
                       [&](const char *key) { return object.keys[i] == key; })) {
        std::string list;
        for (const char *key : known)
          list += (list.empty() ? "'" : ", '") + std::string(key) + "'";
        fail(object.items[i].place, "unknown field '" + object.keys[i] + "'; known are " + list);
      }
  }

  void dims(const JsonValue &root, Graph &graph) {
    const JsonValue *value = field(root, "dims", JsonValue::Object, "a graph");
    for (size_t i = 0; value && i < value->items.size(); ++i) {
      const JsonValue &size = value->items[i];
      const std::string what = "the size of dimension '" + value->keys[i] + "'";
      if (!is(size, JsonValue::Integer, what))
        continue;
      if (size.integer < 1)
        fail(size.place, what + " must be at least 1, found " + std::to_string(size.integer));
      graph.addDim(value->keys[i], size.integer);
    }
  }

  std::vector<int> dimList(const JsonValue &value, const Graph &graph, const std::string &what) {
    std::vector<int> result;
    if (!is(value, JsonValue::Array, what))
      return result;
    for (const JsonValue &item : value.items) {
      if (!is(item, JsonValue::String, "a dimension of " + what))
        continue;
      int dim = graph.findDim(item.text);
      if (dim < 0)
        fail(item.place, "unknown dimension '" + item.text + "' of " + what +
                             "; it has no size in 'dims'");
      result.push_back(dim);
    }
    return result;
  }

  Operand operand(const std::string &name, const JsonValue &dims, Graph &graph) {
    Operand result;
    result.dims = dimList(dims, graph, "tensor '" + name + "'");
    result.tensor = graph.tensor(name);
    return result;
  }

  void op(const JsonValue &value, Graph &graph) {
    if (!is(value, JsonValue::Object, "an operator"))
      return;
    knownKeys(value, {"name", "kind", "inputs", "output", "over", "states", "operations"});
    Operator result;
    if (const JsonValue *name = field(value, "name", JsonValue::String, "an operator"))
      result.name = name->text;
    const std::string what = "operator '" + result.name + "'";
    for (const Operator &other : graph.operators)
      if (other.name == result.name)
        fail(value.place, "there are two operators '" + result.name + "'");
    if (const JsonValue *kind = field(value, "kind", JsonValue::String, what)) {
      if (kind->text == "product")
        result.kind = Kind::Product;
      else if (kind->text == "row")
        result.kind = Kind::Row;
      else if (kind->text == "point")
        result.kind = Kind::Point;
      else
        fail(kind->place, what + ": expected kind 'product', 'row' or 'point', found '" +
                              kind->text + "'");
    }
    inputs(value, what, graph, result);
    if (const JsonValue *output = field(value, "output", JsonValue::Object, what)) {
      if (output->items.size() == 1)
        result.output = operand(output->keys[0], output->items[0], graph);
      else
        fail(output->place, what + ": expected one output, found " +
                                std::to_string(output->items.size()));
    }
    if (const JsonValue *over = value.find("over"))
      result.over = dimList(*over, graph, "'over' of " + what);
    if (const JsonValue *states = value.find("states");
        states && is(*states, JsonValue::Integer, "'states'")) {
      if (states->integer < 0)
        fail(states->place, "'states' must not be negative");
      result.states = states->integer;
    }
    if (const JsonValue *operations = value.find("operations")) {
      if (operations->kind != JsonValue::Integer && operations->kind != JsonValue::Real)
        is(*operations, JsonValue::Real, "'operations'");
      else if (!(operations->real > 0))
        fail(operations->place, "'operations' must be positive");
      result.operations = operations->real;
    }
    graph.operators.push_back(std::move(result));
  }

  void inputs(const JsonValue &value, const std::string &what, Graph &graph, Operator &result) {
    const JsonValue *list = value.find("inputs");
    if (!list)
      return fail(value.place, what + ": expected a field 'inputs', found none");
    if (list->kind == JsonValue::Object) {
      for (size_t i = 0; i < list->items.size(); ++i)
        result.inputs.push_back(operand(list->keys[i], list->items[i], graph));
      return;
    }
    if (!is(*list, JsonValue::Array, what + ": 'inputs'"))
      return;
    for (const JsonValue &item : list->items) {
      if (item.kind != JsonValue::Array || item.items.size() != 2 ||
          item.items[0].kind != JsonValue::String)
        fail(item.place, what + ": an input is a pair of a name and dimensions");
      else
        result.inputs.push_back(operand(item.items[0].text, item.items[1], graph));
    }
  }

  void marks(const JsonValue &root, Graph &graph) {
    if (const JsonValue *batch = root.find("batch")) {
      graph.batch = dimList(*batch, graph, "'batch'");
      graph.batchGiven = true;
    }
    const JsonValue *results = root.find("results");
    if (!results || !is(*results, JsonValue::Array, "'results'"))
      return;
    for (const JsonValue &item : results->items) {
      if (!is(item, JsonValue::String, "a result"))
        continue;
      int tensor = graph.findTensor(item.text);
      if (tensor < 0)
        fail(item.place, "unknown tensor '" + item.text + "' in 'results'");
      else
        graph.tensors[tensor].isResult = true;
    }
  }

  std::string_view file;
  std::string &error;
};

} // namespace

std::optional<Graph> ft::dataflow::readGraph(std::string_view text, std::string_view file,
                                             std::string &error) {
  std::unique_ptr<JsonValue> root = parseJson(text, file, error);
  if (!root)
    return std::nullopt;
  return Reader(file, error).run(*root);
}

std::string ft::dataflow::writeGraph(const Graph &graph) {
  using Json = nlohmann::ordered_json;
  Json root;
  if (!graph.name.empty())
    root["name"] = graph.name;
  root["dims"] = Json::object();
  for (const Dim &dim : graph.dims)
    root["dims"][dim.name] = dim.size;
  if (graph.batchGiven) {
    root["batch"] = Json::array();
    for (int dim : graph.batch)
      root["batch"].push_back(graph.dims[dim].name);
  }
  Json results = Json::array();
  for (const Tensor &tensor : graph.tensors)
    if (tensor.isResult && !tensor.consumers.empty())
      results.push_back(tensor.name);
  if (!results.empty())
    root["results"] = results;
  auto names = [&](const std::vector<int> &dims) {
    Json list = Json::array();
    for (int dim : dims)
      list.push_back(graph.dims[dim].name);
    return list;
  };
  root["operators"] = Json::array();
  for (const Operator &op : graph.operators) {
    Json entry;
    entry["name"] = op.name;
    entry["kind"] = name(op.kind);
    bool twice = false;
    for (size_t i = 0; i < op.inputs.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        twice |= op.inputs[i].tensor == op.inputs[j].tensor;
    entry["inputs"] = twice ? Json::array() : Json::object();
    for (const Operand &input : op.inputs) {
      const std::string &tensor = graph.tensors[input.tensor].name;
      if (twice)
        entry["inputs"].push_back(Json::array({tensor, names(input.dims)}));
      else
        entry["inputs"][tensor] = names(input.dims);
    }
    entry["output"] = Json::object();
    entry["output"][graph.tensors[op.output.tensor].name] = names(op.output.dims);
    if (op.kind == Kind::Row) {
      entry["over"] = names(op.over);
      entry["states"] = op.states;
    }
    if (op.operations != 1)
      entry["operations"] = op.operations;
    root["operators"].push_back(entry);
  }
  return root.dump(1) + "\n";
}
