# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPUs: which target of the compiler fits a device."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Dict, Tuple

from . import library as lib
from .errors import DeviceError

_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76
_targets: Dict[int, str] = {}


def capability(device: int) -> Tuple[int, int]:
    """A device's compute capability, asked of the driver."""
    name = os.environ.get("FT_LIBCUDA") or "libcuda.so.1"  # as the runtime does
    try:
        driver = ctypes.CDLL(name)
    except OSError:
        raise DeviceError(f"there is no {name}: is an NVIDIA driver installed? engine='cpu' needs none") from None
    handle, found = ctypes.c_int(), []
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(handle), device):
        raise DeviceError(f"the CUDA driver has no device {device}")
    for attribute in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR):
        value = ctypes.c_int()
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, handle)
        found.append(value.value)
    return found[0], found[1]


def cuda_target(device: int) -> str:
    """The target for a device: its own architecture, else the newest before it."""
    found = _targets.get(device)
    if found is None:
        major, minor = capability(device)
        found = _targets[device] = best_target((major, minor), lib.target_names())
    return found


def best_target(capability: Tuple[int, int], targets) -> str:
    """``sm_90a`` runs on 9.0 alone; a target without a letter on its own and later minor versions of its major."""
    best = None
    for target in targets:
        match = re.fullmatch(r"sm_(\d+)(\d)([af]?)", target)
        if not match:
            continue
        version = (int(match[1]), int(match[2]))
        if match[3] == "a" and version != capability:
            continue
        if version <= capability and (best is None or (version, match[3]) > best[0]):
            best = ((version, match[3]), target)
    if best is None:
        raise DeviceError(
            f"no GPU target fits a device of compute capability {capability[0]}.{capability[1]}; "
            f"there are {', '.join(t for t in targets if t.startswith('sm_')) or 'none'}; engine='cpu' runs anywhere"
        )
    return best[1]
