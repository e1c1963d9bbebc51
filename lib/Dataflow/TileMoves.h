//===- TileMoves.h - changing one tile of a group ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DATAFLOW_TILEMOVES_H
#define FT_LIB_DATAFLOW_TILEMOVES_H

#include "ft/Dataflow/Search.h"

namespace ft::dataflow::exact {

/// Sets the tile of the loop at a position of the operator at a place, in all operators that share it.
void setTile(const Graph &graph, Group &group, unsigned op, unsigned position, Count tile);

} // namespace ft::dataflow::exact

#endif // FT_LIB_DATAFLOW_TILEMOVES_H
