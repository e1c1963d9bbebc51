//===- Interrupt.cpp - compilations that the caller ends ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Support/Interrupt.h"

using namespace mlir::ft;

static thread_local const volatile int32_t *current = nullptr;

InterruptScope::InterruptScope(const volatile int32_t *flag) : before(current) { current = flag; }

InterruptScope::~InterruptScope() { current = before; }

bool mlir::ft::isInterrupted() { return current && *current; }

llvm::LogicalResult mlir::ft::unlessInterrupted(llvm::LogicalResult result) {
  return llvm::failure(failed(result) || isInterrupted());
}
