#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs by apt what a build needs and this machine lacks. demo.sh and test.sh
# call it; it does nothing, quickly, when all is there. Written for Debian 12,
# whose security suite carries LLVM 22.
#
#   scripts/setup.sh         what the presets default and gcc need
#   scripts/setup.sh asan    and the sanitizers' runtimes (libclang-rt-22-dev), for the preset asan and scripts/sanitize.py
#   scripts/setup.sh oracles and the solver of integer programs that tests of the dataflow search ask
set -euo pipefail

packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22
  g++ cmake ninja-build ccache git
  libgtest-dev libzstd-dev zlib1g-dev nlohmann-json3-dev
  python3 python3-numpy python3-psutil
)

case "${1:-}" in
  "")   ;;
  asan) packages+=(libclang-rt-22-dev) ;;
  oracles) packages+=(coinor-cbc) ;;
  *)    echo "setup: unknown argument '$1'; expected nothing, asan or oracles" >&2; exit 2 ;;
esac

say() { echo "setup: $*" >&2; }
fail() { say "$*"; exit 1; }

# The Python that the scripts use: the system's, for which apt installs.
python=python3
[[ -x /usr/bin/python3 ]] && python=/usr/bin/python3

# What is installed is asked of the files, not of the package manager: an LLVM
# 22 from elsewhere, or another distribution, is as good.
is_present() {
  case $1 in
    libmlir-22-dev) [[ -e /usr/lib/llvm-22/lib/cmake/mlir/MLIRConfig.cmake ]] ;;
    mlir-22-tools)  [[ -x /usr/lib/llvm-22/bin/mlir-tblgen && -x /usr/lib/llvm-22/bin/mlir-opt ]] ;;
    llvm-22-dev)    [[ -e /usr/lib/llvm-22/lib/cmake/llvm/LLVMConfig.cmake ]] ;;
    llvm-22-tools)  [[ -x /usr/lib/llvm-22/bin/FileCheck && -e /usr/lib/llvm-22/bin/lit ]] ;;
    clang-22)       command -v clang++-22 >/dev/null ;;
    lld-22)         [[ -x /usr/lib/llvm-22/bin/ld.lld ]] ;;
    ninja-build)    command -v ninja >/dev/null ;;
    libclang-rt-22-dev) compgen -G '/usr/lib/llvm-22/lib/clang/22/lib/linux/libclang_rt.asan-*' >/dev/null ;;
    coinor-cbc)     command -v cbc >/dev/null ;;
    libgtest-dev)   [[ -e /usr/include/gtest/gtest.h ]] ;;
    libzstd-dev)    [[ -e /usr/include/zstd.h ]] ;;
    zlib1g-dev)     [[ -e /usr/include/zlib.h ]] ;;
    nlohmann-json3-dev) [[ -e /usr/include/nlohmann/json.hpp ]] ;;
    python3-numpy)  [[ -e /usr/lib/python3/dist-packages/numpy/__init__.py ]] || "$python" -c 'import numpy' 2>/dev/null ;;
    python3-psutil) [[ -e /usr/lib/python3/dist-packages/psutil/__init__.py ]] || "$python" -c 'import psutil' 2>/dev/null ;;
    *)              command -v "$1" >/dev/null ;;
  esac
}

missing=()
for package in "${packages[@]}"; do
  is_present "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

say "missing: ${missing[*]}"
command -v apt-get >/dev/null ||
  fail "this machine has no apt-get; install the equivalents of these packages by hand"
if ((EUID != 0)); then
  fail "run as root, or ask for: apt-get install --no-install-recommends ${missing[*]}"
fi

export DEBIAN_FRONTEND=noninteractive
apt() { apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 "$@"; }
has_candidate() {
  local policy
  policy=$(apt-cache policy "$1" 2>/dev/null)
  [[ $policy == *"Candidate: "* && $policy != *"Candidate: (none)"* ]]
}

apt update -qq || say "apt-get update failed; going on with the lists at hand"

# LLVM 22 comes from the security suite. A source list may lack it: add it from
# the mirror that the main suite comes from.
if ! has_candidate libmlir-22-dev; then
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  site=$(apt-get indextargets --format '$(CODENAME) $(SITE)' 2>/dev/null |
    awk -v c="$codename" '$1 == c { print $2; exit }')
  if [[ $codename != bookworm || -z $site ]]; then
    fail "apt offers no LLVM 22 here. Debian 12 has it in the suite bookworm-security; add that suite, or another source of libmlir-22-dev, and run this again"
  fi
  list=/etc/apt/sources.list.d/fractaltensor-security.list
  say "apt offers no LLVM 22: adding the suite bookworm-security in $list"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${site%/debian*}/debian-security bookworm-security main" > "$list"
  if ! apt update -qq || ! has_candidate libmlir-22-dev; then
    rm -f "$list"
    fail "the mirror $site has no bookworm-security with LLVM 22; add a source of libmlir-22-dev and run this again"
  fi
fi

apt install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
  fail "apt-get could not install: ${missing[*]}"

# The proof is in the files.
for package in "${missing[@]}"; do
  is_present "$package" || fail "$package is installed, yet what it should bring is not there"
done
say "installed: ${missing[*]}"
