//===- TestDir.h - a folder for one test ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_UNITTESTS_RUNTIME_TESTDIR_H
#define FT_UNITTESTS_RUNTIME_TESTDIR_H

#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

/// A temporary folder, removed at the end of the scope.
struct TestDir {
  TestDir() {
    std::string name = (std::filesystem::temp_directory_path() / "ft-testXXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TestDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  int entries() const {
    int count = 0;
    for ([[maybe_unused]] auto &entry : std::filesystem::directory_iterator(path))
      ++count;
    return count;
  }
  std::string path;
};

#endif // FT_UNITTESTS_RUNTIME_TESTDIR_H
