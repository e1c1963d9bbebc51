# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses memory that the machine can't have.

Where the system promises any amount (Linux's `vm.overcommit_memory = 1`), an allocation beyond the machine's memory succeeds, and the
process is killed while it fills it. Asked here, it is a `MemoryError` before the first write.
"""

from __future__ import annotations

import functools
import os


@functools.lru_cache(maxsize=None)
def limit() -> int:
    """Bytes of memory and swap that this machine has; 2**63 where the system doesn't say."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        with open("/proc/meminfo") as lines:
            swap = [int(line.split()[1]) * 1024 for line in lines if line.startswith("SwapTotal:")]
    except (AttributeError, OSError, ValueError):
        return 2**63
    return found + sum(swap) if found > 0 else 2**63


def check(count: int) -> None:
    """`count`: bytes that are about to be allocated. Raises `MemoryError` where they are more than `limit`."""
    if count > limit():
        raise MemoryError(f"{count} bytes are more than the {limit()} that this machine has")
