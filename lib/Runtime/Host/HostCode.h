//===- HostCode.h - machine code in this process ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a `cpu` section of a bundle holds, made callable: relocatable objects (one
// file, or an archive of several), which are loaded here, so that nothing needs a
// linker; or a shared library, which the system's loader takes.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_RUNTIME_HOST_HOSTCODE_H
#define LIB_RUNTIME_HOST_HOSTCODE_H

#include "ft/Runtime/Base/Status.h"

#include <memory>
#include <string>
#include <string_view>

namespace ft::rt {

class HostCode {
public:
  virtual ~HostCode() = default;
  /// Null if there is no function of that name.
  virtual void *find(const std::string &name) const = 0;

  /// `image` may be freed afterwards.
  static Status load(std::string_view image, std::shared_ptr<HostCode> &out);
};

/// The address of a function that code may call: one of this library or of those it needs (the C
/// library, its mathematics); null for another one.
void *findHostFunction(const std::string &name);

/// Loads relocatable ELF objects for this processor.
Status loadObjects(std::string_view image, std::shared_ptr<HostCode> &out);

} // namespace ft::rt

#endif // LIB_RUNTIME_HOST_HOSTCODE_H
