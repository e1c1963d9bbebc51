//===- FailingNew.h - operator new that fails on request --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_UNITTESTS_RUNTIME_FAILINGNEW_H
#define FT_UNITTESTS_RUNTIME_FAILINGNEW_H

struct FailingNew {
  /// From now on, on this thread, the k-th allocation (from 0) throws.
  static void after(int k);
  /// Back to normal; says whether one threw.
  static bool stop();
  /// Between true and false (which nest) nothing fails.
  static void pause(bool on);
};

#endif // FT_UNITTESTS_RUNTIME_FAILINGNEW_H
