//===- Figures.cpp - DAT's Figs. 10 to 13 ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph is the public code's five products with softmax between the logits
// and the values. Each mode's schedule has the least traffic (rules `exact`, the
// best of the narrower modes as a start); time and energy are those of that
// schedule.
//
//===----------------------------------------------------------------------===//

#include "ft/Dataflow/Report/Figures.h"

#include "ft/Dataflow/Graph/Models.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;
using Json = nlohmann::ordered_json;

namespace {

constexpr Fusion modes[] = {Fusion::Intra, Fusion::Tangram, Fusion::Flat, Fusion::Two, Fusion::Any};
constexpr const char *titles[] = {"INTRA", "TANGRAM", "FLAT", "DAT-2", "DAT-inf"};
constexpr unsigned modeCount = 5;

/// What explains where an aggregate differs from the paper's; aggregates name them by number.
enum Reason { Baselines, Softmax, Open, Exponentials, Energy, Threshold, Traffic };
constexpr const char *reasons[] = {
    "The baselines are the best schedules of their modes, so INTRA, TANGRAM and FLAT are stronger "
    "here than the tools that the paper runs: the factors over them are smaller.",
    "Under the rules `exact` a row operator alone reads its rows twice unless it holds them, and "
    "softmax between the products is counted. Its logits move four times in INTRA and TANGRAM, which pay "
    "for it. FLAT and DAT do not.",
    "The paper leaves open the SRAM's energy, softmax's cost, the clock and the element type. The "
    "machine files assume one byte, 1 GHz, MAESTRO's SRAM ratios, one exponential a cycle and processing "
    "element.",
    "At one exponential a cycle and processing element, softmax takes as long as attention's "
    "products where heads are narrow (64). No schedule reaches more than half of the peak there. The "
    "factors between schedules that are not bound by memory are 1.",
    "The energy of multiply-accumulates (0.02 pJ) and of DRAM (7 pJ a bit) differs so much that "
    "energy follows traffic. Savings are larger than the paper's where its own compute energy is "
    "a larger share.",
    "Tiles are at least as large as the side of the square of an element's multiply-accumulate units "
    "(16), batch and heads excepted. The paper asks for tiles above a threshold (section 4.3) and does not "
    "say which. Without one, the least traffic of a projection fills the buffer with sums. It leaves "
    "tiles of one element in the dimension that is summed over, and on-chip transfers bound it.",
    "Time is that of the schedule with the least traffic; a schedule of more traffic may be faster "
    "where computing is the limit (--objective=time searches for that).",
};

/// One model on one machine.
struct Case {
  std::string model;
  Count sequence = 0;
  std::array<Count, modeCount> traffic{}, bound{};
  std::array<Estimate, modeCount> estimates{};
  std::array<double, modeCount> bandwidth{}; // Fig. 13: bytes per second
};

std::string format(const char *pattern, auto... values) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, pattern, values...);
  return buffer;
}

class Maker {
public:
  Maker(const FigureOptions &options, const std::function<bool(const FigureFile &)> &write) : options(options), write(write) {}

  std::string run() {
    log("Least traffic, in elements, as each is found\n" + format("%-12s %8s", "model", "sequence") + columns() + "  machine");
    for (const Accelerator &machine : options.machines) {
      std::vector<Case> &cases = models[machine.name];
      for (const ModelSizes &model : knownModels())
        if (model.name != "Blenderbot" && good) // of the public code, not of the paper's figures
          cases.push_back(solve(model, machine, false));
      if (good)
        aggregate(machine);
      writeTexts();
    }
    const Accelerator &cloud = options.machines.back();
    for (Count sequence = 128; sequence <= 65536 && good; sequence *= 2) {
      ModelSizes model = *findModel("llama2");
      model.sequence = sequence;
      sweep.push_back(solve(model, cloud, true));
      if (options.machines.size() > 1)
        edgeSweep.push_back(solve(model, options.machines.front(), false));
      drawSweeps();
    }
    if (!good)
      return text;
    text += figure12(cloudTitle, sweep);
    if (!edgeSweep.empty())
      text += figure12(edgeTitle, edgeSweep);
    text += figure13();
    assumptions();
    writeTexts();
    return text;
  }

private:
  void log(const std::string &line) const {
    if (options.log) {
      std::fprintf(options.log, "%s\n", line.c_str());
      std::fflush(options.log);
    }
  }

  Case solve(const ModelSizes &model, const Accelerator &machine, bool bandwidth) {
    Case result;
    result.model = model.name;
    result.sequence = model.sequence;
    Graph graph = attentionGraph(model, /*softmax=*/true);
    std::vector<GroupResult> known;
    for (unsigned m = 0; m < modeCount; ++m) {
      Options search;
      search.buffer = machine.globalElements();
      search.minTile = machine.leastTile();
      search.fusion = modes[m];
      search.gap = options.gap;
      search.budget = options.budget;
      // DAT-2 starts from all that is narrower; TANGRAM and FLAT from INTRA.
      search.start = known;
      Result found = exact::search(graph, search);
      const std::vector<GroupResult> &groups = found.groups;
      result.traffic[m] = found.volume;
      result.bound[m] = found.lowerBound;
      result.estimates[m] = estimate(graph, groups, machine);
      if (bandwidth)
        result.bandwidth[m] = leastBandwidth(graph, groups, machine);
      known.insert(known.end(), found.groups.begin(), found.groups.end());
    }
    std::string line = format("%-12s %8ld", model.name.c_str(), long(model.sequence));
    for (Count traffic : result.traffic)
      line += format("%10.3g", double(traffic));
    log(line + "  " + machine.name);
    return result;
  }

  /// The least off-chip bandwidth at which the schedule has 90 % of its speed without a limit.
  static double leastBandwidth(const Graph &graph, const std::vector<GroupResult> &groups,
                               Accelerator machine) {
    std::vector<std::pair<double, double>> parts; // seconds without the memory, bytes
    double limitless = 0;
    for (const GroupResult &group : groups) {
      Accelerator fast = machine;
      fast.offChipBytesPerSecond = 1e30;
      double seconds = estimate(graph, {group}, fast).seconds;
      limitless += seconds;
      parts.push_back({seconds, double(group.cost.volume) * double(machine.elementBytes)});
    }
    double low = 1e6, high = 1e16;
    for (int step = 0; step < 100; ++step) {
      double middle = std::sqrt(low * high), seconds = 0;
      for (auto [time, bytes] : parts)
        seconds += std::max(time, bytes / middle);
      (limitless / seconds >= 0.9 ? high : low) = middle;
    }
    return high;
  }

  static double mean(const std::vector<double> &values) {
    double sum = 0;
    for (double value : values)
      sum += value;
    return values.empty() ? 0 : sum / double(values.size());
  }
  static double geometric(const std::vector<double> &values) {
    double sum = 0;
    for (double value : values)
      sum += std::log(value);
    return values.empty() ? 0 : std::exp(sum / double(values.size()));
  }

  // ---- Figs. 10 and 11 ----

  void aggregate(const Accelerator &machine) {
    const std::vector<Case> &cases = models[machine.name];
    bool isEdge = &machine == &options.machines.front();
    text += "Fig. 10: performance of the peak, " + machine.name + "\n" + header("model");
    Json ten, eleven;
    for (const Case &entry : cases) {
      text += format("  %-14s", entry.model.c_str());
      for (unsigned m = 0; m < modeCount; ++m) {
        text += format("%10.3f", entry.estimates[m].utilization);
        ten[entry.model][titles[m]] = {{"performance", entry.estimates[m].utilization},
                                       {"seconds", entry.estimates[m].seconds},
                                       {"traffic", entry.traffic[m]},
                                       {"lower_bound", entry.bound[m]}};
      }
      text += "\n";
    }
    text += "\n  traffic (elements)\n" + header("model");
    for (const Case &entry : cases) {
      text += format("  %-14s", entry.model.c_str());
      for (unsigned m = 0; m < modeCount; ++m)
        text += format("%10.3g", double(entry.traffic[m]));
      text += "\n";
    }
    speedups(cases, isEdge);
    text += "\nFig. 11: energy, INTRA = 1, " + machine.name + "\n" + header("model");
    for (const Case &entry : cases) {
      text += format("  %-14s", entry.model.c_str());
      for (unsigned m = 0; m < modeCount; ++m) {
        double share = entry.estimates[m].joules() / entry.estimates[0].joules();
        text += format("%10.3f", share);
        eleven[entry.model][titles[m]] = {{"normalized", share},
                                          {"joules", entry.estimates[m].joules()}};
      }
      text += "\n";
    }
    energies(cases, isEdge);
    json["figure10"][isEdge ? "edge" : "cloud"] = std::move(ten);
    json["figure11"][isEdge ? "edge" : "cloud"] = std::move(eleven);
    text += "\n";
    draw(isEdge ? "figure10-edge" : "figure10-cloud", {"Fig. 10: performance of the peak, " + machine.name, "share of the peak", "model"},
         cases, [](const Case &entry, unsigned m) { return entry.estimates[m].utilization; });
    draw(isEdge ? "figure11-edge" : "figure11-cloud", {"Fig. 11: energy, " + machine.name, "energy (INTRA = 1)", "model"},
         cases, [](const Case &entry, unsigned m) {
           return entry.estimates[m].joules() / entry.estimates[0].joules();
         });
  }

  static std::string columns() {
    std::string line;
    for (const char *title : titles)
      line += format("%10s", title);
    return line;
  }

  static std::string header(const char *first) { return format("  %-14s", first) + columns() + "\n"; }

  /// The paper's factors (§5.2) beside ours, by both means of the ratios.
  void speedups(const std::vector<Case> &cases, bool isEdge) {
    struct Claim {
      unsigned mode, over;
      double edge, cloud;
    };
    for (Claim claim : {Claim{4, 0, 2.23, 6.74}, {4, 1, 2.26, 6.33}, {4, 2, 2.24, 1.74},
                        {3, 1, 1.58, 3.70}, {3, 2, 1.57, 1.03}, {4, 3, 1.43, 1.71}}) {
      std::vector<double> ratios;
      for (const Case &entry : cases)
        ratios.push_back(entry.estimates[claim.over].seconds / entry.estimates[claim.mode].seconds);
      compare("speedup", titles[claim.mode], titles[claim.over],
              isEdge ? claim.edge : claim.cloud, mean(ratios), geometric(ratios), isEdge, "x",
              isEdge ? std::vector<Reason>{Baselines, Exponentials, Threshold, Traffic}
                     : std::vector<Reason>{Baselines, Softmax, Exponentials, Open});
    }
  }

  void energies(const std::vector<Case> &cases, bool isEdge) {
    const double edge[] = {38.6, 38.8, 35.5}, cloud[] = {53.0, 51.2, 15.5};
    for (unsigned over = 0; over < 3; ++over) {
      std::vector<double> ratios;
      for (const Case &entry : cases)
        ratios.push_back(entry.estimates[4].joules() / entry.estimates[over].joules());
      compare("energy saved", titles[4], titles[over], isEdge ? edge[over] : cloud[over],
              100 * (1 - mean(ratios)), 100 * (1 - geometric(ratios)), isEdge, "%",
              {Baselines, Energy, Open});
    }
  }

  void compare(const char *what, const char *mode, const char *over, double paper,
               double arithmetic, double geometricMean, bool isEdge, const char *unit,
               const std::vector<Reason> &why) {
    std::string numbers;
    Json explained = Json::array();
    for (Reason reason : why) {
      numbers += format(" [%d]", int(reason) + 1);
      explained.push_back(int(reason) + 1);
    }
    text += format("  %s of %s over %s: paper %.4g %s, here %.4g %s (geometric mean %.4g)", what,
                   mode, over, paper, unit, arithmetic, unit, geometricMean) +
            numbers + "\n";
    json["aggregates"].push_back({{"machine", isEdge ? "edge" : "cloud"},
                                  {"what", what},
                                  {"mode", mode},
                                  {"over", over},
                                  {"unit", unit},
                                  {"paper", paper},
                                  {"arithmetic_mean", arithmetic},
                                  {"geometric_mean", geometricMean},
                                  {"assumptions", std::move(explained)}});
  }

  // ---- Figs. 12 and 13 ----

  std::string figure12(const std::string &title, const std::vector<Case> &cases) {
    std::string result = title + "\n" + header("sequence");
    bool isCloud = &cases == &sweep;
    for (const Case &entry : cases) {
      result += format("  %-14ld", long(entry.sequence));
      for (unsigned m = 0; m < modeCount; ++m) {
        result += format("%10.3f", entry.estimates[m].utilization);
        json["figure12"][isCloud ? "cloud" : "edge"][std::to_string(entry.sequence)][titles[m]] = {
            {"performance", entry.estimates[m].utilization},
            {"traffic", entry.traffic[m]},
            {"lower_bound", entry.bound[m]}};
      }
      result += "\n";
    }
    return result + "\n";
  }

  std::string figure13() {
    std::string result = "Fig. 13: the least off-chip bandwidth (GB/s) for 90 % of the speed without "
                         "a limit, LLaMA2, cloud\n" +
                         header("sequence");
    std::array<std::vector<double>, modeCount> ratios;
    for (const Case &entry : sweep) {
      result += format("  %-14ld", long(entry.sequence));
      for (unsigned m = 0; m < modeCount; ++m) {
        result += format("%10.4g", entry.bandwidth[m] / 1e9);
        ratios[m].push_back(entry.bandwidth[4] / entry.bandwidth[m]);
        json["figure13"][std::to_string(entry.sequence)][titles[m]] = entry.bandwidth[m];
      }
      result += "\n";
    }
    text += result;
    result.clear();
    const double paper[] = {71.3, 65.2, 41.1};
    for (unsigned over = 0; over < 3; ++over)
      compare("bandwidth saved", titles[4], titles[over], paper[over],
              100 * (1 - mean(ratios[over])), 100 * (1 - geometric(ratios[over])), false, "%",
              {Baselines, Softmax, Exponentials});
    text += "\n";
    return result;
  }

  /// With the lengths that are known so far.
  void drawSweeps() {
    auto utilization = [](const Case &entry, unsigned m) { return entry.estimates[m].utilization; };
    drawSweep("figure12-cloud", {cloudTitle, "share of the peak", "sequence length (tokens)"}, sweep, utilization);
    if (!edgeSweep.empty())
      drawSweep("figure12-edge", {edgeTitle, "share of the peak", "sequence length (tokens)"}, edgeSweep, utilization);
    drawSweep("figure13",
              {"Fig. 13: the least off-chip bandwidth for 90 % of the speed without a limit, LLaMA2, cloud", "bandwidth (GB/s)",
               "sequence length (tokens)"},
              sweep, [](const Case &entry, unsigned m) { return entry.bandwidth[m] / 1e9; });
  }

  void assumptions() {
    text += "Why ours differ from the paper's\n";
    for (size_t k = 0; k < std::size(reasons); ++k) {
      text += format("  [%zu] ", k + 1) + reasons[k] + "\n";
      json["assumptions"].push_back(reasons[k]);
    }
  }

  // ---- files ----

  void writeTexts() {
    put({"figures.txt", text});
    put({"figures.json", json.dump(1) + "\n"});
  }
  void put(const FigureFile &file) { good = good && write(file); }

  // ---- pictures ----

  struct Axes {
    std::string title, vertical, horizontal;
  };
  static constexpr const char *colors[] = {"#9e9e9e", "#c9b037", "#e08a3c", "#56a3a6", "#4878a8"};
  static constexpr int left = 70, right = 740, top = 40, bottom = 240; // of the plot

  template <typename Value>
  static double greatest(const std::vector<Case> &cases, Value value) {
    double most = 0;
    for (const Case &entry : cases)
      for (unsigned m = 0; m < modeCount; ++m)
        most = std::max(most, value(entry, m));
    return most;
  }

  template <typename Value>
  void draw(const std::string &name, const Axes &axes, const std::vector<Case> &cases, Value value) {
    const double most = endOfAxis(greatest(cases, value));
    std::string body = frame(axes, most);
    for (size_t c = 0; c < cases.size(); ++c) {
      for (unsigned m = 0; m < modeCount; ++m) {
        double height = (bottom - top) * value(cases[c], m) / most;
        body += format("<rect x=\"%zu\" y=\"%.1f\" width=\"16\" height=\"%.1f\" fill=\"%s\">", left + 10 + c * 110 + m * 18,
                       bottom - height, height, colors[m]) +
                format("<title>%s, %s: %.3g</title></rect>\n", cases[c].model.c_str(), titles[m], value(cases[c], m));
      }
      body += format("<text x=\"%zu\" y=\"256\" text-anchor=\"middle\">%s</text>\n", left + 54 + c * 110, cases[c].model.c_str());
    }
    put({name + ".svg", close(body)});
  }

  template <typename Value>
  void drawSweep(const std::string &name, const Axes &axes, const std::vector<Case> &cases, Value value) {
    const double most = endOfAxis(greatest(cases, value));
    std::string body = frame(axes, most);
    for (unsigned m = 0; m < modeCount; ++m) {
      std::string points;
      for (size_t c = 0; c < cases.size(); ++c)
        points += format("%zu,%.1f ", left + 20 + c * 66, bottom - (bottom - top) * value(cases[c], m) / most);
      // The first lines are the widest: where lines are equal, each is seen at the sides of the next.
      body += format("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%u\" points=\"", colors[m], 2 * (modeCount - m)) + points +
              format("\"><title>%s</title></polyline>\n", titles[m]);
    }
    for (size_t c = 0; c < cases.size(); ++c)
      body += format("<text x=\"%zu\" y=\"256\" text-anchor=\"middle\">%ld</text>\n", left + 20 + c * 66, long(cases[c].sequence));
    put({name + ".svg", close(body)});
  }

  /// The least round number at which an axis can end: four equal steps of 1, 2, 2.5 or 5 times a power of ten.
  static double endOfAxis(double most) {
    if (!(most > 0))
      return 1;
    const double power = std::pow(10, std::floor(std::log10(most / 4)));
    for (double step : {1.0, 2.0, 2.5, 5.0})
      if (4 * step * power >= most)
        return 4 * step * power;
    return 40 * power;
  }

  /// Title, axes with units and ticks, and the legend.
  static std::string frame(const Axes &axes, double most) {
    std::string body = format("<text x=\"%d\" y=\"20\" font-weight=\"bold\">", left) + axes.title + "</text>\n";
    for (int tick = 0; tick <= 4; ++tick) {
      int y = bottom - (bottom - top) * tick / 4;
      body += format("<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\"/>\n", left, y, right, y, tick ? "#ddd" : "#000") +
              format("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.3g</text>\n", left - 6, y + 4, most * tick / 4);
    }
    body += format("<text transform=\"translate(16,%d) rotate(-90)\" text-anchor=\"middle\">", (top + bottom) / 2) + axes.vertical + "</text>\n" +
            format("<text x=\"%d\" y=\"274\" text-anchor=\"middle\">", (left + right) / 2) + axes.horizontal + "</text>\n";
    for (unsigned m = 0; m < modeCount; ++m)
      body += format("<rect x=\"%u\" y=\"288\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%u\" y=\"299\">%s</text>\n",
                     left + 10 + m * 100, colors[m], left + 26 + m * 100, titles[m]);
    return body;
  }
  static std::string close(const std::string &body) {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"310\" viewBox=\"0 0 760 310\" role=\"img\" "
           "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"760\" height=\"310\" fill=\"#fff\"/>\n" + body + "</svg>\n";
  }

  static constexpr const char *cloudTitle = "Fig. 12: LLaMA2, performance of the peak over the sequence, cloud";
  static constexpr const char *edgeTitle = "Fig. 12: the same on edge";

  const FigureOptions &options;
  const std::function<bool(const FigureFile &)> &write;
  bool good = true; // all that was to be written could be
  std::map<std::string, std::vector<Case>> models;
  std::vector<Case> sweep, edgeSweep;
  std::string text;
  Json json;
};

} // namespace

std::string ft::dataflow::makeFigures(const FigureOptions &options, const std::function<bool(const FigureFile &)> &write) {
  return Maker(options, write).run();
}
