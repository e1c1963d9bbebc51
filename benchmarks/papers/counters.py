# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes of one call by `ncu`, for the commands of the papers' evaluations."""

import subprocess

UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


def profiled(call):
    """One call between the marks of the profiler."""
    import torch

    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    call()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()


def added(output, counters):
    """Bytes of each counter, added over the kernels of what `ncu --csv` prints; 0 of one that it did not measure."""
    sums = dict.fromkeys(counters, 0.0)
    for text in output.splitlines():
        cells = [cell.strip('"') for cell in text.split('","')]
        for counter in counters:
            if counter in cells:
                at = cells.index(counter)
                sums[counter] += UNITS.get(cells[at + 1], 0) * float(cells[at + 2].replace(",", ""))
    return sums


def measure(command, counters):
    """Bytes of each counter of a command that calls `profiled`, and what was printed."""
    ncu = ["ncu", "--csv", "--profile-from-start", "off", "--metrics", ",".join(counters), *command]
    done = subprocess.run(ncu, capture_output=True, text=True, timeout=300)
    return added(done.stdout, counters), done
