//===- Held.h - what a module holds from call to call -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters of a model are arguments that calls do not pass. A module has a copy
// of each in memory of its own, and what entries compute from them alone when they
// are bound (`Entry::binds`). A set of values is never changed: a binding makes
// another one, and a call keeps the one that it began with.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_BUNDLE_HELD_H
#define FT_RUNTIME_BUNDLE_HELD_H

#include "ft/Runtime/Arrays/Safetensors.h"
#include "ft/Runtime/Bundle/Bundle.h"

namespace ft::rt {

/// A held argument of a module's entries, by its name.
struct HeldArgument {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
  /// An entry computes it from others when these are bound.
  bool isDerived = false;
};

/// The target of a section of data that has a bundle's parameters: the content of a safetensors file.
constexpr std::string_view sectionOfValues = "safetensors";

/// What the entries of a bundle hold; an error where two disagree.
Status findHeld(const Bundle &bundle, std::vector<HeldArgument> &out);
int64_t findName(const std::vector<HeldArgument> &arguments, std::string_view name);
/// The tensors of a safetensors file that has a value for each argument that is not derived, and no others.
Status parseValues(const std::vector<HeldArgument> &arguments, std::string_view content, const std::string &name, std::vector<SafeTensor> &out);

} // namespace ft::rt

#endif // FT_RUNTIME_BUNDLE_HELD_H
