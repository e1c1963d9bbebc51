//===- Report.cpp - what a search found, for people and programs ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Dataflow/Report/Report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

using namespace ft::dataflow;

/// Steps of a group that a picture shows.
constexpr Count shownSteps = 64;

static const char *nameOf(artifact::Mode mode) {
  switch (mode) {
  case artifact::Mode::Intra:
    return "intra";
  case artifact::Mode::Tangram:
    return "tangram";
  case artifact::Mode::Flat:
    return "flat";
  case artifact::Mode::Two:
    return "dat2";
  case artifact::Mode::Any:
    return "dat";
  }
  return "";
}

Outcome ft::dataflow::describe(const Graph &graph, const artifact::Result &result,
                               const artifact::Options &options) {
  Outcome outcome;
  outcome.graph = graph.name;
  outcome.rules = "artifact";
  outcome.fusion = nameOf(options.mode);
  outcome.buffer = options.buffer;
  outcome.traffic = result.total.volume;
  outcome.lowerBound = result.lowerBound;
  outcome.footprint = result.total.footprint;
  outcome.accesses = result.total.accesses;
  outcome.time = result.total.time;
  outcome.nodes = result.nodes;
  for (int tensor : result.fused)
    outcome.fused.push_back(graph.tensors[tensor].name);
  for (const artifact::ChainResult &chain : result.chains) {
    GroupOutcome group{chain.cost.volume, chain.cost.footprint, chain.cost.accesses,
                       chain.cost.time, {}, "", {}};
    // Producers first.
    for (size_t i = chain.chain.ops.size(); i-- > 0;) {
      const artifact::OpSchedule &schedule = chain.chain.ops[i];
      const Operator &op = graph.operators[schedule.op];
      OperatorOutcome entry;
      entry.name = op.name;
      entry.group = outcome.groups.size();
      for (size_t p = schedule.order.size(); p-- > 0;)
        entry.loops.push_back({graph.dims[op.dims[schedule.order[p]]].name,
                               schedule.tiles[schedule.order[p]]});
      for (unsigned k = 0; k < op.numOperands(); ++k) {
        const int tensor = op.operand(k).tensor;
        bool fused = std::count(result.fused.begin(), result.fused.end(), tensor);
        bool held = schedule.pins >> k & 1;
        artifact::OperandCost cost = artifact::operandCost(
            graph, op, k, schedule,
            fused ? artifact::Use::Internal
                  : held ? artifact::Use::Pinned : artifact::Use::Moves);
        entry.operands.push_back({graph.tensors[tensor].name, k == op.inputs.size(), fused, held,
                                  cost.volume, cost.accesses, cost.footprint});
      }
      group.operators.push_back(op.name);
      group.nest += op.name + ":";
      for (const auto &[dim, tile] : entry.loops)
        group.nest += " " + dim + "/" + std::to_string(tile);
      group.nest += "\n";
      outcome.operators.push_back(std::move(entry));
    }
    outcome.groups.push_back(std::move(group));
  }
  return outcome;
}

Outcome ft::dataflow::describe(const Graph &graph, const exact::Result &result,
                               const exact::Options &options) {
  Outcome outcome;
  outcome.graph = graph.name;
  outcome.rules = "exact";
  outcome.fusion = exact::name(options.fusion);
  outcome.buffer = options.buffer;
  outcome.traffic = result.volume;
  outcome.lowerBound = result.lowerBound;
  outcome.footprint = result.footprint;
  outcome.accesses = result.accesses;
  outcome.nodes = result.nodes;
  for (int tensor : result.fused)
    outcome.fused.push_back(graph.tensors[tensor].name);
  for (const exact::GroupResult &found : result.groups) {
    GroupOutcome group{found.cost.volume, found.cost.footprint, found.cost.accesses, 0, {},
                       exact::print(graph, found.group), timelineOf(graph, found.group, shownSteps)};
    for (unsigned i = 0; i < found.group.ops.size(); ++i) {
      const exact::OpPlan &plan = found.group.ops[i];
      const Operator &op = graph.operators[plan.op];
      OperatorOutcome entry;
      entry.name = op.name;
      entry.group = outcome.groups.size();
      entry.shared = plan.shared;
      entry.online = exact::isOnline(graph, found.group, i);
      for (uint8_t d : plan.order)
        entry.loops.push_back({graph.dims[op.dims[d]].name, plan.tiles[d]});
      for (const exact::OperandTraffic &traffic : found.cost.operands)
        if (traffic.op == plan.op) {
          const Tensor &tensor = graph.tensors[op.operand(traffic.operand).tensor];
          bool isOutput = traffic.operand == op.inputs.size();
          bool fused = isOutput && std::count(result.fused.begin(), result.fused.end(),
                                              op.output.tensor);
          entry.operands.push_back({tensor.name, isOutput, fused,
                                    plan.holds[traffic.operand] < plan.order.size(),
                                    traffic.volume, traffic.accesses, traffic.block});
        }
      group.operators.push_back(op.name);
      outcome.operators.push_back(std::move(entry));
    }
    outcome.groups.push_back(std::move(group));
  }
  return outcome;
}

std::string ft::dataflow::describeMisfit(const Graph &graph, const exact::Result &result,
                                         const exact::Options &options) {
  const Operator &op = graph.operators[result.misfit];
  std::string parts;
  exact::GroupResult least = exact::leastPlan(graph, result.misfit, options);
  Count sum = 0;
  for (const exact::OperandTraffic &operand : least.cost.operands) {
    parts += (parts.empty() ? "" : ", ") + graph.tensors[op.operand(operand.operand).tensor].name + " " +
             std::to_string(operand.block);
    sum = add(sum, operand.block);
  }
  if (least.cost.footprint > sum)
    parts += ", its rows' states and second buffers " + std::to_string(least.cost.footprint - sum);
  return "no schedule fits into a buffer of " + std::to_string(options.buffer) + " elements: operator '" +
         op.name + "' alone needs at least " + std::to_string(result.needed) + " (" + parts + ")";
}

std::string ft::dataflow::toJson(const Outcome &outcome) {
  using Json = nlohmann::ordered_json;
  Json root;
  root["graph"] = outcome.graph;
  root["rules"] = outcome.rules;
  root["fusion"] = outcome.fusion;
  root["buffer"] = outcome.buffer;
  if (!outcome.machine.empty())
    root["machine"] = outcome.machine;
  root["traffic"] = outcome.traffic;
  root["lower_bound"] = outcome.lowerBound;
  root["proved"] = outcome.proved();
  root["gap"] = outcome.lowerBound > 0
                    ? double(outcome.traffic - outcome.lowerBound) / double(outcome.lowerBound)
                    : 0.0;
  root["objective"] = outcome.objective;
  if (outcome.objective != "traffic") {
    root["objective_value"] = outcome.value;
    root["objective_lower_bound"] = outcome.valueBound;
  }
  root["footprint"] = outcome.footprint;
  root["accesses"] = outcome.accesses;
  if (outcome.rules == "artifact")
    root["time"] = outcome.time;
  if (outcome.estimate) {
    const Estimate &estimate = *outcome.estimate;
    if (outcome.rules != "artifact")
      root["time"] = estimate.seconds;
    root["seconds"] = {{"total", estimate.seconds},
                       {"compute", estimate.computeSeconds},
                       {"on_chip", estimate.onChipSeconds},
                       {"off_chip", estimate.offChipSeconds}};
    root["joules"] = {{"total", estimate.joules()},
                      {"compute", estimate.macJoules},
                      {"local", estimate.localJoules},
                      {"global", estimate.globalJoules},
                      {"device", estimate.deviceJoules}};
    root["utilization"] = estimate.utilization;
  }
  root["nodes"] = outcome.nodes;
  root["fused"] = outcome.fused;
  root["groups"] = Json::array();
  for (const GroupOutcome &group : outcome.groups) {
    Json entry;
    entry["operators"] = group.operators;
    entry["traffic"] = group.traffic;
    entry["footprint"] = group.footprint;
    entry["accesses"] = group.accesses;
    if (outcome.rules == "artifact")
      entry["time"] = group.time;
    root["groups"].push_back(std::move(entry));
  }
  root["operators"] = Json::array();
  for (const OperatorOutcome &op : outcome.operators) {
    Json entry;
    entry["name"] = op.name;
    entry["group"] = op.group;
    entry["order"] = Json::array();
    entry["tiles"] = Json::object();
    for (const auto &[dim, tile] : op.loops) {
      entry["order"].push_back(dim);
      entry["tiles"][dim] = tile;
    }
    if (outcome.rules == "exact")
      entry["shared_loops"] = op.shared;
    if (op.online)
      entry["online"] = true;
    entry["tensors"] = Json::array();
    for (const OperandOutcome &operand : op.operands)
      entry["tensors"].push_back({{"name", operand.tensor},
                                  {"role", operand.isOutput ? "output" : "input"},
                                  {"fused", operand.fused},
                                  {"held", operand.held},
                                  {"traffic", operand.traffic},
                                  {"accesses", operand.accesses},
                                  {"buffer", operand.block}});
    root["operators"].push_back(std::move(entry));
  }
  return root.dump(1) + "\n";
}

/// 1234567 as 1,234,567.
static std::string grouped(Count number) {
  std::string digits = std::to_string(number), result;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % 3 == 0)
      result += ',';
    result += digits[i];
  }
  return result;
}

static std::string padded(std::string text, size_t width, bool right = true) {
  std::string space(text.size() < width ? width - text.size() : 0, ' ');
  return right ? space + text : text + space;
}

static std::string format(const char *pattern, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, value);
  return buffer;
}

std::string ft::dataflow::toTable(const Outcome &outcome) {
  std::string text = outcome.graph.empty() ? "graph" : outcome.graph;
  text += ": rules " + outcome.rules + ", fusion " + outcome.fusion + ", buffer " +
          grouped(outcome.buffer) + " elements\n\n";
  for (size_t g = 0; g < outcome.groups.size(); ++g) {
    const GroupOutcome &group = outcome.groups[g];
    text += "group " + std::to_string(g + 1) + ": traffic " + grouped(group.traffic) +
            ", footprint " + grouped(group.footprint) + ", accesses " + grouped(group.accesses);
    if (outcome.rules == "artifact")
      text += ", time " + grouped(group.time);
    text += "\n";
    size_t at = 0;
    while (at < group.nest.size()) {
      size_t end = group.nest.find('\n', at);
      text += "  " + group.nest.substr(at, end - at) + "\n";
      at = end + 1;
    }
    text += "  " + padded("operator", 14, false) + padded("tensor", 10, false) +
            padded("traffic", 18) + padded("accesses", 16) + padded("buffer", 14) + "\n";
    for (const OperatorOutcome &op : outcome.operators)
      if (op.group == g)
        for (const OperandOutcome &operand : op.operands)
          text += "  " + padded(op.name, 14, false) + padded(operand.tensor, 10, false) +
                  padded(operand.fused ? "fused" : grouped(operand.traffic), 18) +
                  padded(grouped(operand.accesses), 16) + padded(grouped(operand.block), 14) +
                  (operand.held ? "  held" : "") + "\n";
    text += "\n";
  }
  text += "traffic      " + grouped(outcome.traffic) + " elements\n";
  text += "lower bound  " + grouped(outcome.lowerBound) +
          (outcome.proved() ? " (proved)"
                            : " (gap " +
                                  format("%.2f", outcome.lowerBound > 0
                                                     ? 100.0 * double(outcome.traffic -
                                                                      outcome.lowerBound) /
                                                           double(outcome.lowerBound)
                                                     : 0.0) +
                                  " %)") +
          "\n";
  text += "footprint    " + grouped(outcome.footprint) + " elements\n";
  text += "accesses     " + grouped(outcome.accesses) + "\n";
  if (outcome.rules == "artifact")
    text += "time         " + grouped(outcome.time) + " cycles\n";
  if (outcome.estimate) {
    const Estimate &estimate = *outcome.estimate;
    text += "on " + outcome.machine + ": " + format("%.4g", estimate.seconds) + " s (computing " +
            format("%.4g", estimate.computeSeconds) + ", on-chip " +
            format("%.4g", estimate.onChipSeconds) + ", off-chip " +
            format("%.4g", estimate.offChipSeconds) + "), " + format("%.4g", estimate.joules()) +
            " J, " + format("%.1f", 100 * estimate.utilization) + " % of the peak\n";
  }
  if (outcome.objective != "traffic")
    text += padded(outcome.objective, 13, false) + format("%.6g", outcome.value) + ", at least " +
            format("%.6g", outcome.valueBound) + " (gap " +
            format("%.2f", outcome.valueBound > 0
                               ? 100 * (outcome.value - outcome.valueBound) / outcome.valueBound
                               : 0.0) +
            " %)\n";
  std::string fused;
  for (const std::string &tensor : outcome.fused)
    fused += (fused.empty() ? "" : ", ") + tensor;
  text += "fused        " + (fused.empty() ? "nothing" : fused) + "\n";
  return text;
}

static std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

static const char *const colors[] = {"#4878a8", "#e08a3c", "#6aa84f", "#b85c8e",
                                     "#8e7cc3", "#c9b037", "#56a3a6", "#a0522d"};

/// Time to the right, a step of one operator's tile for each unit; a line for each slot and each tensor between
/// operators, a bar for each block that stays in it. Appends, and moves `y` on.
static void drawTimeline(const Timeline &timeline, std::string &body, int &y) {
  const double left = 130, step = 420.0 / double(std::max<size_t>(timeline.steps.size(), 1));
  auto text = [&](double x, const std::string &what) {
    body += "<text x=\"" + format("%.1f", x) + "\" y=\"" + std::to_string(y + 9) +
            "\" font-size=\"9\">" + escaped(what) + "</text>\n";
  };
  auto bar = [&](Count from, Count to, const char *color, const std::string &title) {
    body += "<rect x=\"" + format("%.1f", left + step * double(from)) + "\" y=\"" + std::to_string(y) +
            "\" width=\"" + format("%.1f", std::max(step * double(to - from) - 0.6, 0.4)) +
            "\" height=\"10\" fill=\"" + color + "\"><title>" + escaped(title) + "</title></rect>\n";
  };
  y += 22;
  text(24, "resident, steps 1 to " + std::to_string(timeline.steps.size()) + " of " +
               grouped(timeline.allSteps));
  y += 13;
  std::vector<std::string> operators;
  text(24, "computing");
  for (size_t at = 0; at < timeline.steps.size();) {
    size_t end = at;
    while (end < timeline.steps.size() && timeline.steps[end] == timeline.steps[at])
      ++end;
    auto known = std::find(operators.begin(), operators.end(), timeline.steps[at]);
    const size_t color = known - operators.begin();
    if (known == operators.end())
      operators.push_back(timeline.steps[at]);
    bar(at, end, colors[color % 8], timeline.steps[at]);
    at = end;
  }
  for (const TimelineRow &row : timeline.rows) {
    y += 13;
    text(24, row.op.empty() ? row.tensor + " (fused)" : row.tensor + " of " + row.op);
    for (const Stay &stay : row.stays)
      bar(stay.from, stay.to, row.op.empty() ? "#b85c8e" : stay.number % 2 ? "#7fa6c9" : "#4878a8",
          row.tensor + ", block " + std::to_string(stay.number + 1) + ": " + grouped(row.elements) +
              " elements, steps " + std::to_string(stay.from + 1) + " to " + std::to_string(stay.to));
    text(left + 428, grouped(row.elements));
  }
  y += 13;
}

std::string ft::dataflow::toSvg(const Outcome &outcome) {
  // Each group: its loop nest in text, then a bar for each operator's step, stacked from the blocks
  // that it uses itself; the line is the buffer.
  std::string body;
  int y = 20;
  const int width = 760, bar = 420;
  auto label = [&](int x, int at, const std::string &text, const char *more = "") {
    body += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(at) + "\" " + more + ">" +
            escaped(text) + "</text>\n";
  };
  label(10, y, outcome.graph + ": " + grouped(outcome.traffic) + " elements move; buffer " +
                   grouped(outcome.buffer), "font-weight=\"bold\"");
  for (size_t g = 0; g < outcome.groups.size(); ++g) {
    const GroupOutcome &group = outcome.groups[g];
    y += 26;
    label(10, y, "group " + std::to_string(g + 1) + ": " + grouped(group.traffic) + " elements");
    size_t at = 0;
    while (at < group.nest.size()) {
      size_t end = group.nest.find('\n', at);
      y += 15;
      label(24, y, group.nest.substr(at, end - at), "xml:space=\"preserve\" font-family=\"monospace\"");
      at = end + 1;
    }
    for (const OperatorOutcome &op : outcome.operators) {
      if (op.group != g)
        continue;
      y += 24;
      label(24, y + 12, op.name);
      double x = 130;
      for (size_t k = 0; k < op.operands.size(); ++k) {
        const OperandOutcome &operand = op.operands[k];
        double size = outcome.buffer > 0 ? bar * double(operand.block) / double(outcome.buffer) : 0;
        body += "<rect x=\"" + format("%.1f", x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
                format("%.1f", std::max(size, 1.0)) + "\" height=\"16\" fill=\"" +
                colors[k % 8] + "\"><title>" + escaped(operand.tensor) + ": " +
                grouped(operand.block) + "</title></rect>\n";
        x += std::max(size, 1.0);
      }
      std::string names;
      for (const OperandOutcome &operand : op.operands)
        names += (names.empty() ? "" : ", ") + operand.tensor + " " + grouped(operand.block);
      label(int(130 + bar + 8), y + 12, names, "font-size=\"9\"");
      body += "<line x1=\"" + std::to_string(130 + bar) + "\" y1=\"" + std::to_string(y - 2) +
              "\" x2=\"" + std::to_string(130 + bar) + "\" y2=\"" + std::to_string(y + 18) +
              "\" stroke=\"#c00\"/>\n";
    }
    if (!group.timeline.steps.empty())
      drawTimeline(group.timeline, body, y);
    y += 14;
  }
  y += 20;
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width + 200) +
         "\" height=\"" + std::to_string(y) +
         "\" font-family=\"sans-serif\" font-size=\"12\">\n" + body + "</svg>\n";
}
