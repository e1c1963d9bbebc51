//===- Accelerator.h - time and energy on a spatial accelerator -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps the tiles of a schedule to processing elements (DAT §4.3) and estimates
// cycles, time and energy: an analytical model after MAESTRO's definitions
// (spatial and temporal maps; reuse within a local buffer), a roofline over
// computing, on-chip and off-chip bandwidth. Three levels of memory, as in
// DAT's Fig. 9: local buffers, a global buffer, the memory outside.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_GRAPH_ACCELERATOR_H
#define FT_DATAFLOW_GRAPH_ACCELERATOR_H

#include "ft/Dataflow/Search/Search.h"

#include <map>

namespace ft::dataflow {

/// What the estimate asks of a machine (a file of machine/ of the kind `array` gives it). Of a CPU or GPU
/// there is a buffer only, and no estimate: `units` is 0.
struct Accelerator {
  std::string name;
  unsigned units = 1;            // processing elements
  unsigned macsPerUnit = 1;      // multiply-accumulates of one element in a cycle
  double cyclesPerSecond = 1e9;
  double exponentialsPerSecond = 1; // of all elements: row- and point-wise operations
  Count elementBytes = 1;
  Count localBytes = 0, globalBytes = 0;
  double onChipBytesPerSecond = 1, offChipBytesPerSecond = 1;
  double macJoules = 0, localJoulesPerByte = 0, globalJoulesPerByte = 0, deviceJoulesPerByte = 0;

  Count globalElements() const { return globalBytes / elementBytes; }
  /// The least tile that keeps one element's units busy: the side of the square of its multiply-accumulate
  /// units (DAT §4.3's threshold for tiles, which the paper leaves open; 16 for its 256 units).
  Count leastTile() const;
};

/// Where one operator's tile goes.
struct Mapping {
  int op = -1;
  /// By place in Operator::dims: the number of processing elements that share the dimension, and of
  /// multiply-accumulate units inside one.
  std::vector<Count> partition, spatial;
  Count cycles = 0;         // for all tiles of the operator
  double utilization = 0;   // of all multiply-accumulate units
  Count onChipElements = 0; // between the global and the local buffers
};

struct Estimate {
  double computeSeconds = 0, onChipSeconds = 0, offChipSeconds = 0;
  /// The sum over the groups of the largest of the three.
  double seconds = 0;
  double macJoules = 0, localJoules = 0, globalJoules = 0, deviceJoules = 0;
  double joules() const { return macJoules + localJoules + globalJoules + deviceJoules; }
  double macs = 0;
  /// Of the peak rate: the performance that DAT's Fig. 10 draws.
  double utilization = 0;
  std::vector<Mapping> mappings;
};

/// The best mapping of a product's tiles.
Mapping mapProduct(const Graph &graph, const exact::OpPlan &plan, const Accelerator &machine);

/// The cycles that a product takes at least, whatever its tiles are.
Count leastCycles(const Graph &graph, int op, const Accelerator &machine);

/// Mappings that are known: by operator, then by tiles. Of one graph and one machine.
using MappingCache = std::map<std::pair<int, std::vector<Count>>, Mapping>;

/// Time and energy of a schedule. `groups` are what exact::search returns.
Estimate estimate(const Graph &graph, const std::vector<exact::GroupResult> &groups,
                  const Accelerator &machine, MappingCache *cache = nullptr);

} // namespace ft::dataflow

#endif // FT_DATAFLOW_GRAPH_ACCELERATOR_H
