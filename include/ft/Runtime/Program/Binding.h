//===- Binding.h - a call's tensors against an entry ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that can be wrong with a caller's tensors is found here, before
// anything is launched, and said with the argument's name, what was expected
// and what was found.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_PROGRAM_BINDING_H
#define FT_RUNTIME_PROGRAM_BINDING_H

#include "ft-c/Runtime.h"
#include "ft/Runtime/Bundle/LaunchPlan.h"

namespace ft::rt {

/// Values of an entry's variables and the addresses of its arguments. Kept from
/// call to call, so that binding does not allocate.
struct Binding {
  std::vector<int64_t> variables;
  std::vector<uint64_t> addresses; // of the first element
  std::vector<uint64_t> begins;    // of the lowest byte: another one where strides are negative
  std::vector<uint64_t> ends;      // one past the last byte
};

enum class BindMode {
  call,   // everything, data and overlaps too
  shapes, // outputs may be absent, data may be null
};

Status bind(const Entry &entry, const FtTensor *const *tensors, int64_t count, int32_t deviceType,
            int32_t deviceId, BindMode mode, Binding &binding);

/// The shape of one argument under a binding.
Status shapeOf(const Entry &entry, const Binding &binding, int64_t argument,
               std::vector<int64_t> &shape);

/// DLPack's code and bits of an element type.
void dlpackType(DType dtype, uint8_t &code, uint8_t &bits);

/// An array as a tensor of a call, row-major, its elements at `data` on a device. It refers to the array's shape.
FtTensor asTensor(HostArray &array, void *data, int32_t deviceType = FT_CPU, int32_t deviceId = 0);

} // namespace ft::rt

#endif // FT_RUNTIME_PROGRAM_BINDING_H
