# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the links between ranks, for the field `links` of a machine file (docs/machine.md).

    torchrun --nproc-per-node=2 -m fractaltensor.distributed.measure [--machine FILE] [--rounds N]

One process a rank, on GPUs where there are some, else on the CPU. Rank 0 prints the entry for so many ranks. With `--machine` it
also writes the entry into that file, in the place of one for as many ranks.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from typing import Any, Callable, Dict, Optional, Sequence

import torch
import torch.distributed as dist

#: Bytes of a short and of a long message, on a GPU and on the CPU.
_SHORT, _LONG = {"cuda": 32 << 10, "cpu": 32 << 10}, {"cuda": 64 << 20, "cpu": 4 << 20}
_ROUNDS, _REPEATS = 9, 10


def _operations(device: torch.device, size: int) -> Dict[str, Callable[[], None]]:
    """Each operation as a function that starts it and waits as the program's stream would."""
    ranks, rank = dist.get_world_size(), dist.get_rank()
    own, other = (torch.zeros(size, dtype=torch.uint8, device=device) for _ in range(2))
    everyone = [torch.empty_like(own) for _ in range(ranks)]
    numbers = own.view(torch.float32)

    def send() -> None:
        batch = [dist.P2POp(dist.isend, own, (rank + 1) % ranks), dist.P2POp(dist.irecv, other, (rank - 1) % ranks)]
        for work in dist.batch_isend_irecv(batch):
            work.wait()

    return {"send": send, "all_gather": lambda: dist.all_gather(everyone, own), "all_reduce": lambda: dist.all_reduce(numbers)}


def _seconds(device: torch.device, run: Callable[[], None], rounds: int) -> float:
    """The median over rounds of one of several runs that follow each other."""

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    found = []
    for _ in range(rounds + 1):
        dist.barrier()
        wait()
        begin = time.perf_counter()
        for _ in range(_REPEATS):
            run()
        wait()
        found.append((time.perf_counter() - begin) / _REPEATS)
    return statistics.median(found[1:])  # the first round makes connections


def _captured(device: torch.device, run: Callable[[], None], rounds: int) -> Optional[float]:
    """The same in a CUDA graph, which has several of them."""
    if device.type != "cuda":
        return None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(_REPEATS):
            run()
    return _seconds(device, graph.replay, rounds) / _REPEATS


def measure(device: torch.device, rounds: int = _ROUNDS) -> Dict[str, Any]:
    """An entry of `links`; all ranks of the default group call it."""
    ranks = dist.get_world_size()
    entry: Dict[str, Any] = {"ranks": ranks, "source": f"python3 -m fractaltensor.distributed.measure, {ranks} ranks, {dist.get_backend(_group())}"}
    for name in _operations(device, 4):
        short, long = _operations(device, _SHORT[device.type])[name], _operations(device, _LONG[device.type])[name]
        moved = _LONG[device.type] * (ranks - 1 if name == "all_gather" else 1)
        entry[name] = {"seconds": _seconds(device, short, rounds), "bytes_per_second": moved / _seconds(device, long, rounds)}
        captured = _captured(device, short, rounds)
        if captured is not None:
            entry[name]["captured_seconds"] = captured
    return entry


def _group():
    return dist.distributed_c10d._get_default_group()


def write(path: str, entry: Dict[str, Any]) -> None:
    """Puts an entry into a machine file, which appears whole or not at all."""
    with open(path) as file:
        machine = json.load(file)
    machine["links"] = sorted([link for link in machine.get("links", ()) if link["ranks"] != entry["ranks"]] + [entry], key=lambda link: link["ranks"])
    beside = f"{path}.new"
    with open(beside, "w") as file:
        json.dump(machine, file, indent=2)
        file.write("\n")
    os.replace(beside, path)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m fractaltensor.distributed.measure", description="Times the links between ranks.")
    parser.add_argument("--machine", metavar="FILE", help="a machine file that gets the entry")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help=f"of which the median counts; default {_ROUNDS}")
    options = parser.parse_args(arguments)
    if "RANK" not in os.environ or int(os.environ.get("WORLD_SIZE", "1")) < 2:
        print("measure: one process a rank, at least two: torchrun --nproc-per-node=2 -m fractaltensor.distributed.measure", file=sys.stderr)
        return 2
    is_cuda = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if is_cuda else torch.device("cpu")
    if is_cuda:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if is_cuda else "gloo")
    entry = measure(device, max(1, options.rounds))
    if dist.get_rank() == 0:
        print(json.dumps(entry, indent=2))
        if options.machine:
            write(options.machine, entry)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
