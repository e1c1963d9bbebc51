# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What test_distributed.py runs in two processes over gloo; each says that all was equal to what one process computes."""

import importlib
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

import fractaltensor as ft
from test_distributed import eager, picked, recurrent, scaled_sum_jit

RANKS, STEPS = 2, 3
DOUBLE = {"dtype": torch.float64}


class Layers(nn.Module):
    """A stack of recurrent layers; the last one's states."""

    def __init__(self, seed, run=recurrent):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.ws = nn.Parameter(torch.randn(2, 4, 4, generator=generator, **DOUBLE) * 0.4)
        self.run = run

    def forward(self, xss):
        return self.run(xss, self.ws)[:, -1].contiguous()


def batch():
    return torch.randn(6, 5, 1, 4, generator=torch.Generator().manual_seed(5), **DOUBLE)


def train(model, parameters, data, loss=lambda y: y.square().mean()):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss(model(data)).backward()
        optimizer.step()


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-13)


def check_data_parallel(rank):
    """DDP, with accumulation, and FSDP2: the mean over equal shards is the mean."""
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import init_device_mesh

    one = Layers(1, eager)
    train(one, one.parameters(), batch())
    shard = batch().chunk(RANKS)[rank].contiguous()
    model = Layers(1)
    wrapped = nn.parallel.DistributedDataParallel(model)
    train(wrapped, wrapped.parameters(), shard)
    close(model.ws.detach(), one.ws.detach())

    model = Layers(1)
    fully_shard(model, mesh=init_device_mesh("cpu", (RANKS,)))
    train(model, model.parameters(), shard)
    close(model.ws.full_tensor().detach(), one.ws.detach())

    accumulated = Layers(1)
    wrapped = nn.parallel.DistributedDataParallel(accumulated)
    with wrapped.no_sync():
        wrapped(shard[:1]).square().sum().backward()
    wrapped(shard[1:]).square().sum().backward()
    whole = Layers(1, eager)
    (whole(batch()).square().sum() / RANKS).backward()
    close(accumulated.ws.grad, whole.ws.grad)


def check_pipelines(rank):
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

    whole = nn.Sequential(Layers(1, eager), Layers(2, eager))
    train(whole, whole.parameters(), batch())
    for schedule in (ScheduleGPipe, Schedule1F1B):
        part = Layers(1 + rank)
        stage = PipelineStage(part, rank, RANKS, torch.device("cpu"))
        run = schedule(stage, n_microbatches=3, loss_fn=lambda y, target: (y - target).square().mean())
        optimizer = torch.optim.SGD(part.parameters(), lr=0.1)
        for _ in range(STEPS):
            optimizer.zero_grad()
            run.step(batch()) if rank == 0 else run.step(target=torch.zeros(6, 5, 1, 4, **DOUBLE))
            optimizer.step()
        close(part.ws.detach(), whole[rank].ws.detach())


def check_tensors(mesh):
    """DTensors forward and backward, eager and compiled: placements, values, and other placements than a rule's."""
    from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor

    x, w = batch()[:5], Layers(1).ws.detach()
    weights = torch.randn(5, 2, 5, 1, 4, generator=torch.Generator().manual_seed(3), **DOUBLE)
    x1, w1 = x.clone().requires_grad_(), w.clone().requires_grad_()
    (eager(x1, w1) * weights).sum().backward()

    def loss(xss, ws, given):
        return (recurrent(xss, ws) * given).sum()

    for placement in (Shard(0), Replicate(), Shard(1)):
        for call in (loss, torch.compile(loss, fullgraph=True, backend="aot_eager")):
            xss = distribute_tensor(x, mesh, [placement]).requires_grad_()
            ws = distribute_tensor(w, mesh, [Replicate()]).requires_grad_()
            call(xss, ws, distribute_tensor(weights, mesh, [Shard(0)])).backward()
            close(xss.grad.full_tensor(), x1.grad)
            close(ws.grad.full_tensor(), w1.grad)
            if placement == Shard(0):
                assert xss.grad.placements == (Shard(0),) and ws.grad.placements == (Partial("sum"),), (xss.grad, ws.grad)


def check_decisions(mesh):
    """One operator serves programs with different rules for equal arguments; numbers are replicated."""
    from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor

    @ft.jit
    def decayed(xs: ft.List["N", ft.f64[3]], w: ft.f64[3]):
        return xs.foldl(lambda a, x: a * 0.5 + x * w, ft.zeros(3, dtype=ft.f64))

    @ft.jit
    def scaled(xs: ft.List["N", ft.f64[3]], by: ft.f64):
        return xs.map(lambda x: x * by)

    x, w = torch.arange(21.0, **DOUBLE).view(7, 3), torch.ones(3, **DOUBLE)
    xs, ws = distribute_tensor(x, mesh, [Shard(0)]), distribute_tensor(w, mesh, [Replicate()])
    for _ in range(2):
        assert scaled_sum_jit(xs, ws).placements == (Partial("sum"),)
        assert decayed(xs, ws).placements == (Replicate(),)
    close(scaled_sum_jit(xs, ws).full_tensor(), x.sum(0))
    close(decayed(xs, ws).full_tensor(), decayed(x, w))
    close(scaled(xs, 3.0).full_tensor(), x * 3)
    at = distribute_tensor(torch.tensor([3, 0, 3, 1, 6]), mesh, [Shard(0)])
    close(ft.jit(picked)(xs, at).full_tensor(), x[[3, 0, 3, 1, 6]] * 2)


def check_errors(mesh):
    from torch.distributed.tensor import DeviceMesh, Replicate, Shard, distribute_tensor

    x, w = torch.ones(4, 3, **DOUBLE), torch.ones(3, **DOUBLE)
    xs = distribute_tensor(x, mesh, [Shard(0)])
    other = distribute_tensor(w, DeviceMesh("cpu", [[0, 1]], mesh_dim_names=("a", "b")), [Replicate(), Replicate()])
    for given, text in ((w, "argument 'w' is a plain tensor beside the DTensor 'xs'"), (other, "lie on two meshes: 'xs' on")):
        try:
            scaled_sum_jit(xs, given)
        except ft.ArgumentError as error:
            assert text in str(error), error
        else:
            raise AssertionError("nothing was raised")


def work(rank, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=RANKS)
    from torch.distributed.tensor import init_device_mesh

    mesh = init_device_mesh("cpu", (RANKS,))
    check_data_parallel(rank)
    check_pipelines(rank)
    check_tensors(mesh)
    check_decisions(mesh)
    check_errors(mesh)
    dist.barrier()
    print(f"rank {rank}: all equal", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    # What they need is imported once.
    for name in ("_dynamo", "distributed.fsdp", "distributed.pipelining", "distributed.tensor"):
        importlib.import_module(f"torch.{name}")
    mp.start_processes(work, (free,), RANKS, start_method="fork")
