//===- Safetensors.h - files of named tensors -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format (github.com/huggingface/safetensors, Format): a file begins with 8
// bytes, the length of a header, little-endian. The header is a JSON object that
// has for each tensor its element type, its shape and where its bytes begin and
// end. After it come the bytes of all tensors, dense, in row-major order.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_SAFETENSORS_H
#define FT_RUNTIME_SAFETENSORS_H

#include "ft/Runtime/Arrays/HostArray.h"

namespace ft::rt {

/// A tensor of a file; its bytes are the file's, at any alignment.
struct SafeTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::string_view bytes;
};

/// Reads the tensors of a file's content, in the order of the header; `name` stands for the file in errors. Refused are a content that ends early,
/// and a header that is no such object. Each tensor has as many bytes as its type and shape say, none overlap, and no byte belongs to none.
Status parseSafetensors(std::string_view content, const std::string &name, std::vector<SafeTensor> &out);

} // namespace ft::rt

#endif // FT_RUNTIME_SAFETENSORS_H
