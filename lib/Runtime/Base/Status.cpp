//===- Status.cpp - names of the runtime's status codes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Base/Status.h"

const char *ft::rt::codeName(Code code) {
  switch (code) {
  case Code::ok:
    return "ok";
  case Code::invalidArgument:
    return "invalid argument";
  case Code::notFound:
    return "not found";
  case Code::io:
    return "input/output error";
  case Code::corrupt:
    return "corrupt data";
  case Code::unsupportedFormat:
    return "unsupported format";
  case Code::outOfMemory:
    return "out of memory";
  case Code::noDriver:
    return "no driver";
  case Code::noDevice:
    return "no device";
  case Code::notResident:
    return "grid not resident";
  case Code::driver:
    return "driver error";
  case Code::contextLost:
    return "context lost";
  case Code::forked:
    return "device use after fork";
  case Code::internal:
    return "internal error";
  case Code::invalidProgram:
    return "invalid program";
  case Code::cancelled:
    return "cancelled";
  }
  return "unknown status";
}
