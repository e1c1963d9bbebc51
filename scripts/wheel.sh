#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes a wheel for machines without LLVM: the objects of build/ linked once more, against LLVM's and MLIR's
# static libraries, into one shared library that shows nothing but ft_*. For glibc 2.35 and later (Debian 12,
# Ubuntu 22.04). Checks the result and prints its path.
#
#   scripts/wheel.sh [FOLDER]     (default: build/wheel)
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(realpath -m "${1:-build/wheel}")
llvm=${LLVM_PREFIX:-/usr/lib/llvm-22}
tag=manylinux_2_35_x86_64
limit=$((45 * 1024 * 1024))
python=python3

fail() { echo "wheel: $*" >&2; exit 1; }
[[ -e $llvm/lib/libMLIRIR.a ]] || fail "no static MLIR in $llvm/lib: apt-get install libmlir-22-dev"
[[ -e $llvm/lib/libLLVMX86CodeGen.a ]] || fail "no static LLVM in $llvm/lib: apt-get install llvm-22-dev"
command -v clang++-22 >/dev/null || fail "no clang++-22: apt-get install clang-22 lld-22"

scripts/build.sh FractalTensor FractalTensorRuntime
mkdir -p "$out/lib"
rm -f "$out"/*.whl

objects=$(for library in FractalTensor FractalTensorRuntime; do
  ninja -C build -t inputs "lib/lib$library.so"
done | grep '\.o$' | sort -u | sed 's|^|build/|')
archives=$("$llvm/bin/llvm-config" --link-static --libfiles x86 nvptx orcjit passes)
echo '{ global: ft_*; local: *; };' >"$out/exports.map"

# shellcheck disable=SC2086 # lists of files
clang-22 -O2 -fPIC -c python/wheel/absent.c -o "$out/absent.o"
clang++-22 -shared -fuse-ld=lld -s -o "$out/lib/libFractalTensor.so" $objects "$out/absent.o" \
  -Wl,--start-group "$llvm"/lib/libMLIR*.a $archives -Wl,--end-group -l:libz.a -l:libzstd.a -lpthread -ldl -lm \
  -Wl,--gc-sections -Wl,--version-script="$out/exports.map" -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,nodelete \
  -Wl,-soname,libFractalTensor.so

# Nothing but ours is visible, and nothing newer than the tag is asked for.
foreign=$(nm -D --defined-only "$out/lib/libFractalTensor.so" | awk '$3 !~ /^ft_/ { print $3 }')
[[ -z $foreign ]] || fail "visible besides ft_*: $foreign"
newest=$(readelf -V "$out/lib/libFractalTensor.so" | grep -o 'GLIBC_2\.[0-9]*' | sort -V | tail -1)
[[ $(printf '%s\n' "$newest" GLIBC_2.35 | sort -V | tail -1) == GLIBC_2.35 ]] || fail "needs $newest"
newest=$(readelf -V "$out/lib/libFractalTensor.so" | grep -o 'GLIBCXX_3\.4\.[0-9]*' | sort -V | tail -1)
[[ $(printf '%s\n' "$newest" GLIBCXX_3.4.30 | sort -V | tail -1) == GLIBCXX_3.4.30 ]] || fail "needs $newest"

wheel=$(FT_PREBUILT="$out/lib" FT_WHEEL_TAG=$tag FT_WHEEL_OUT="$out" $python -c '
import os, sys
sys.path.insert(0, "python")
import ft_build_backend
print(ft_build_backend.build_wheel(os.environ["FT_WHEEL_OUT"]))')
size=$(stat -c %s "$out/$wheel")
((size <= limit)) || fail "$wheel has $size bytes, more than $limit"
if $python -c 'import auditwheel' 2>/dev/null; then
  $python -m auditwheel show "$out/$wheel" | grep -q "$tag" || fail "auditwheel finds another tag than $tag"
fi
echo "$out/$wheel: $((size / 1024 / 1024)) MiB"
