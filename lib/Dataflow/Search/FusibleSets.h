//===- FusibleSets.h - sets of operators that may be one group --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_DATAFLOW_SEARCH_FUSIBLESETS_H
#define LIB_DATAFLOW_SEARCH_FUSIBLESETS_H

#include "ft/Dataflow/Search/Search.h"

namespace ft::dataflow::exact {

using Set = std::vector<int>; // sorted operators

/// The connected, convex sets that a mode fuses, small ones first: every operator by itself at least.
/// `truncated` says that there are more than a search should look at, and larger ones are left out.
std::vector<Set> fusibleSets(const Graph &graph, const Options &options, bool &truncated);

/// The operators of a group.
Set operatorsOf(const Group &group);

/// What a set moves and how it is made, but no names: sets that are alike have the same optimum.
std::vector<Count> signatureOf(const Graph &graph, const Set &set);

/// The same nest for another set that is alike.
Group renamed(Group group, const Set &from, const Set &to);

/// The groups so that producers come before their readers. False if no order is.
bool sortGroups(const Graph &graph, std::vector<GroupResult> &groups);

} // namespace ft::dataflow::exact

#endif // LIB_DATAFLOW_SEARCH_FUSIBLESETS_H
