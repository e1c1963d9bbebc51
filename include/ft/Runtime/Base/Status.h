//===- Status.h - the runtime's error type ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A code for programs and a message for people. The codes are those of the C
// ABI (ft-c/Runtime.h), so a status crosses it unchanged. No exceptions leave
// the runtime: generated code and C callers could not catch them.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_BASE_STATUS_H
#define FT_RUNTIME_BASE_STATUS_H

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace ft::rt {

enum class Code : int32_t {
  ok = 0,
  invalidArgument = 1,   // a caller's mistake: dtype, rank, shape, device, stride, overlap
  notFound = 2,          // file, entry, kernel
  io = 3,                // the operating system refused
  corrupt = 4,           // truncated, bad checksum, malformed
  unsupportedFormat = 5, // a format, ABI or PTX version that this build does not read
  outOfMemory = 6,       // host or device
  noDriver = 7,          // libcuda is missing or too old
  noDevice = 8,          // a driver but no usable device, or one of the wrong architecture
  notResident = 9,       // a cooperative grid that does not fit the device
  driver = 10,           // any other CUresult
  contextLost = 11,      // a sticky device error: this process's context is gone
  forked = 12,           // device use in a child of a process that had used the device
  internal = 13,
  invalidProgram = 14, // refused by the compiler
  cancelled = 15,      // ended because the caller asked for it
};

/// "invalid argument", ...: stable names for messages and tests.
const char *codeName(Code code);

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Status &&) = default;
  Status &operator=(Status &&) = default;
  Status(const Status &other)
      : theCode(other.theCode),
        text(other.text ? std::make_unique<std::string>(*other.text) : nullptr) {}
  Status &operator=(const Status &other) { return *this = Status(other); }
  static Status error(Code code, std::string message) {
    Status s;
    s.theCode = code;
    s.text = std::make_unique<std::string>(std::move(message));
    return s;
  }
  bool ok() const { return theCode == Code::ok; }
  explicit operator bool() const { return ok(); }
  Code code() const { return theCode; }
  const std::string &message() const {
    static const std::string none;
    return text ? *text : none;
  }
  /// Puts "what: " before the message: where the error surfaced.
  Status &&inside(const std::string &what) && {
    if (text)
      *text = what + ": " + *text;
    return std::move(*this);
  }

private:
  Code theCode = Code::ok;
  std::unique_ptr<std::string> text; // a call makes tens of these, all ok: they cost nothing
};

} // namespace ft::rt

#define FT_RT_TRY(expr)                                                                            \
  do {                                                                                             \
    if (::ft::rt::Status ftTryStatus = (expr); !ftTryStatus.ok())                                  \
      return ftTryStatus;                                                                          \
  } while (0)

#endif // FT_RUNTIME_BASE_STATUS_H
