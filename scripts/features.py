# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests may need and a machine may lack; FT_REQUIRE=ptxas,torch,cuda asks for some."""

import ctypes
import importlib.util
import os
import shutil


def has_cuda():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def available():
    """name: whether it is here."""
    return {
        "ptxas": shutil.which("ptxas") is not None,
        "cuda": has_cuda(),
        "torch": importlib.util.find_spec("torch") is not None,
        "numpy": importlib.util.find_spec("numpy") is not None,
        "pkg-config": shutil.which("pkg-config") is not None,
        "integer-programs": shutil.which("cbc") is not None
        or importlib.util.find_spec("scipy") is not None,
        "mkdocs": all(importlib.util.find_spec(module) is not None for module in ("mkdocs", "material", "mkdocstrings")),
        "chromium": any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")),
        "mypy": shutil.which("mypy") is not None,
        "pyright": shutil.which("pyright") is not None,
        "dpkg": all(shutil.which(tool) for tool in ("dpkg", "dpkg-deb", "cpack")),
    }


def required():
    """The names in FT_REQUIRE, and those of them that nothing knows."""
    names = [name.strip() for name in os.environ.get("FT_REQUIRE", "").split(",") if name.strip()]
    return names, [name for name in names if name not in available()]
