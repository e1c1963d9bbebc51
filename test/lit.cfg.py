# Configuration of the lit suite. Read through lit.site.cfg.py of a build folder.
#
# Features: ptxas, cuda, torch, numpy, integer-programs (CBC or SciPy's HiGHS), ... A test that needs one says so with
# REQUIRES; FT_REQUIRE=ptxas,torch,cuda turns a missing one into a failure.

import os
import sys

import lit.formats
import lit.util

config.name = "FractalTensor"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ft", ".test", ".py"]
config.excludes = ["lit.cfg.py", "lit.site.cfg.py", "Inputs", "machines", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.ft_source_dir, "test")
config.test_exec_root = os.path.join(config.ft_build_dir, "test")

tools = os.path.join(config.ft_build_dir, "bin")
config.environment["PATH"] = os.pathsep.join(
    [tools, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
# Compiled-kernel caches and other state of the user must not leak into tests.
config.environment["HOME"] = config.test_exec_root
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
# Plans are made for these machines, which stay as they are: what is measured decides no test.
config.environment["FT_MACHINES"] = os.path.join(config.test_source_root, "machines")
# In a sanitized build, allocators inlined from LLVM's headers poison memory that the
# distribution's libMLIR, which is not sanitized, hands out without a word. What MLIR
# keeps until the end is no leak.
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0:detect_leaks=0"
config.environment["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Full paths, so that a tool that is missing is an error and not another version
# found in PATH.
def substitute(tool, directory):
    pattern = r"(?<![\w/.%-])" + tool + r"(?![\w./=-])"
    config.substitutions.append((pattern, os.path.join(directory, tool)))


for tool in ("ft-opt", "ft-run", "ft-translate", "ft-lsp-server", "ft-reduce", "ft-dataflow"):
    substitute(tool, tools)
for tool in ("FileCheck", "not", "count", "split-file", "mlir-opt"):
    substitute(tool, config.llvm_tools_dir)
# The Python that runs lit, which is also the one asked for numpy and torch.
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%ft_lib", os.path.join(config.ft_build_dir, "lib")))
config.substitutions.append(("%ft_bin", tools))
config.substitutions.append(("%cxx", config.cxx))
config.substitutions.append(("%llvm_bin", config.llvm_tools_dir))
config.substitutions.append(("%ft_build", config.ft_build_dir))
config.substitutions.append(("%ft_src", config.ft_source_dir))
config.substitutions.append(("%examples", os.path.join(config.ft_source_dir, "examples")))


sys.path.insert(0, os.path.join(config.ft_source_dir, "scripts"))
import features

available = features.available()
required, unknown = features.required()
if unknown:
    lit_config.fatal(f"FT_REQUIRE names '{unknown[0]}'; known are {', '.join(sorted(available))}")
for name, present in available.items():
    # A required feature counts as present: its tests run, and fail, without it.
    if present or name in required:
        config.available_features.add(name)

# Programs of others that load or link a sanitized library need its runtime, too.
if config.sanitizer:
    config.available_features.add("sanitized")

# Nothing is judged by its time; the limit ends what would hang, on a busy machine, too. It needs
# psutil, by which lit kills the children.
if lit_config.maxIndividualTestTime == 0 and lit.util.killProcessAndChildrenIsSupported()[0]:
    lit_config.maxIndividualTestTime = 1200
