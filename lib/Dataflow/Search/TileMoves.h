//===- TileMoves.h - changing one tile of a group ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_DATAFLOW_SEARCH_TILEMOVES_H
#define LIB_DATAFLOW_SEARCH_TILEMOVES_H

#include "ft/Dataflow/Search/Search.h"

namespace ft::dataflow::exact {

/// Sets the tile of the loop at a position of the operator at a place, in all operators that share it.
void setTile(const Graph &graph, Group &group, unsigned op, unsigned position, Count tile);

} // namespace ft::dataflow::exact

#endif // LIB_DATAFLOW_SEARCH_TILEMOVES_H
