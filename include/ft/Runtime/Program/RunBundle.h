//===- RunBundle.h - a command line over bundles ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `ft-run FILE.ftb` and the compiler-free `ft-run-bundle` do: make or read
// arguments, call an entry, compare with stored results, time it, tune it.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_PROGRAM_RUNBUNDLE_H
#define FT_RUNTIME_PROGRAM_RUNBUNDLE_H

namespace ft::rt {

/// Runs with main's arguments; the exit status is 0 only if the entry ran and
/// every comparison that was asked for was equal. `--help` lists the options.
int runBundleMain(int argc, char **argv);

} // namespace ft::rt

#endif // FT_RUNTIME_PROGRAM_RUNBUNDLE_H
