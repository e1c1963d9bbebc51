//===- MachineAccelerator.h - a machine as dataflow searches see it -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_ETDGTODATAFLOW_MACHINEACCELERATOR_H
#define FT_CONVERSION_ETDGTODATAFLOW_MACHINEACCELERATOR_H

#include "ft/Dataflow/Graph/Accelerator.h"
#include "ft/Machine/Machine.h"

namespace mlir::ft {

/// What of a machine a search and its estimate ask. The buffer (`globalBytes`, 0 if there is none) is what one
/// schedule has to itself: an array's global buffer, a multiprocessor's shared memory, a core's last own cache. Time and
/// energy are estimated of arrays alone; of other machines `units` is 0.
::ft::dataflow::Accelerator toAccelerator(const Machine &machine);

} // namespace mlir::ft

#endif // FT_CONVERSION_ETDGTODATAFLOW_MACHINEACCELERATOR_H
