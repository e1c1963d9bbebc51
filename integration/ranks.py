#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times programs over several GPUs of one host, one process a GPU, messages by NCCL:

    torchrun --nproc-per-node=2 integration/ranks.py RESULTS.json [--checks] [--times]

The package has to be installed, or its folder on PYTHONPATH. Checks compare with one process: DistributedDataParallel, FSDP2,
pipelines of torch.distributed.pipelining, DTensors, and programs over a mesh. Times are weak scaling: what one GPU takes for its
share, alone, against what all take together. Rank 0 writes RESULTS.json anew after each line.
"""

import argparse
import datetime
import json
import os
import statistics
import sys
import time
import traceback

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor, init_device_mesh

import fractaltensor as ft

STEPS = 3
results = {}


@ft.jit
def recurrent(xss: ft.List["N, L", ft.f64[1, "H"]], ws: ft.List["D", ft.f64["H", "H"]]):
    def layer(seq, w):
        return seq.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(1, "H", dtype=ft.f64))

    return xss.map(lambda xs: ws.scanl(layer, xs))


@ft.jit
def scaled_sum(xs: ft.List["N", ft.f64[3]], w: ft.f64[3]):
    return xs.reduce(lambda a, x: a + x * w, ft.zeros(3, dtype=ft.f64)) * w


@ft.jit
def counted(xs: ft.List["N", ft.i64[4]]):
    return xs.reduce(ft.add, ft.zeros(4, dtype=ft.i64))


@ft.jit
def shifted(xs: ft.List["N", ft.i64[4]]):
    return xs.shift(1, fill=7)


@ft.jit
def neighbours(xs: ft.List["N", ft.f64[3]], w: ft.f64[3]):
    ys = ft.zip(xs, xs.shift(1, fill=ft.zeros(3, dtype=ft.f64))).map(lambda a, b: ft.tanh(a - b) * w)
    return ft.zip(ys, ys.shift(-2, fill=ft.zeros(3, dtype=ft.f64))).map(lambda a, b: a * b)


def lstm(element):
    """A stacked LSTM whose gates are a list of four; the h of all layers."""
    N, D, L, B, H = ft.symbols("N, D, L, B, H")
    X, W = element[B, H], element[H, H]

    @ft.jit
    def stacked_lstm(xss: ft.List[N, L, X], wss: ft.List[D, 4, W], uss: ft.List[D, 4, W], bss: ft.List[D, 4, element[1, H]]) -> ft.List[N, D, L, X]:
        zero = ft.zeros(B, H, dtype=element)

        def cell(h, c, x, ws, us, bs):
            gates = ft.zip(ws, us, bs).map(lambda w, u, b: x @ w + h @ u + b)
            i, f, o = gates[0:3].map(ft.sigmoid)
            new = f * c + i * ft.tanh(gates[3])
            return o * ft.tanh(new), new

        def layer(below, ws, us, bs):
            hs, _ = below.scanl(lambda h, c, x: cell(h, c, x, ws, us, bs), (zero, zero))
            return hs

        return xss.map(lambda xs: ft.zip(wss, uss, bss).scanl(layer, xs))

    return stacked_lstm


def products(element):
    M, N, R, K, J, C = ft.symbols("M, N, R, K, J, C")

    @ft.jit
    def back_to_back(As: ft.List[M, element[R, K]], Bs: ft.List[N, element[K, J]], Cs: ft.List[N, element[J, C]]) -> ft.List[M, element[R, C]]:
        return As.map(lambda a: ft.zip(Bs, Cs).reduce(lambda d, b, c: d + (a @ b) @ c, ft.zeros(R, C, dtype=element), combine=ft.add))

    return back_to_back


class Layers(nn.Module):
    """A stack of recurrent layers; the last one's states."""

    def __init__(self, seed, device, run=recurrent):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.ws = nn.Parameter((torch.randn(2, 4, 4, generator=generator, dtype=torch.float64) * 0.4).to(device))
        self.run = run

    def forward(self, xss):
        return self.run(xss, self.ws)[:, -1].contiguous()


def batch(ranks, device):
    return torch.randn(3 * ranks, 5, 1, 4, generator=torch.Generator().manual_seed(5), dtype=torch.float64).to(device)


def train(model, parameters, data, loss=lambda y: y.square().mean()):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss(model(data)).backward()
        optimizer.step()


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-11)


class Checks:
    """Each method is a check; all ranks run it."""

    def __init__(self, rank, ranks, device, mesh):
        self.rank, self.ranks, self.device, self.mesh = rank, ranks, device, mesh

    def data_parallel(self):
        one = Layers(1, self.device)
        train(one, one.parameters(), batch(self.ranks, self.device))
        model = Layers(1, self.device)
        wrapped = nn.parallel.DistributedDataParallel(model, device_ids=[self.device.index])
        train(wrapped, wrapped.parameters(), batch(self.ranks, self.device).chunk(self.ranks)[self.rank].contiguous())
        close(model.ws.detach(), one.ws.detach())

    def fully_sharded(self):
        from torch.distributed.fsdp import fully_shard

        one = Layers(1, self.device)
        train(one, one.parameters(), batch(self.ranks, self.device))
        model = Layers(1, self.device)
        fully_shard(model, mesh=self.mesh)
        train(model, model.parameters(), batch(self.ranks, self.device).chunk(self.ranks)[self.rank].contiguous())
        close(model.ws.full_tensor().detach(), one.ws.detach())

    def _pipeline(self, kind):
        from torch.distributed.pipelining import PipelineStage

        whole = nn.Sequential(*(Layers(1 + r, self.device) for r in range(self.ranks)))
        data = batch(self.ranks, self.device)
        train(whole, whole.parameters(), data)
        part = Layers(1 + self.rank, self.device)
        stage = PipelineStage(part, self.rank, self.ranks, self.device)
        run = kind(stage, n_microbatches=3, loss_fn=lambda y, target: (y - target).square().mean())
        optimizer = torch.optim.SGD(part.parameters(), lr=0.1)
        for _ in range(STEPS):
            optimizer.zero_grad()
            given = [data] if self.rank == 0 else []
            run.step(*given, target=torch.zeros_like(data)) if self.rank == self.ranks - 1 else run.step(*given)
            optimizer.step()
        close(part.ws.detach(), whole[self.rank].ws.detach())

    def gpipe(self):
        from torch.distributed.pipelining import ScheduleGPipe

        self._pipeline(ScheduleGPipe)

    def one_forward_one_backward(self):
        from torch.distributed.pipelining import Schedule1F1B

        self._pipeline(Schedule1F1B)

    def dtensors(self):
        x, w = batch(self.ranks, self.device)[: 3 * self.ranks - 1], Layers(1, self.device).ws.detach()
        x1, w1 = x.clone().requires_grad_(), w.clone().requires_grad_()
        recurrent(x1, w1).square().sum().backward()
        xs = distribute_tensor(x, self.mesh, [Shard(0)]).requires_grad_()
        ws = distribute_tensor(w, self.mesh, [Replicate()]).requires_grad_()
        recurrent(xs, ws).square().sum().backward()
        assert ws.grad.placements == (Partial("sum"),)
        close(xs.grad.full_tensor(), x1.grad)
        close(ws.grad.full_tensor(), w1.grad)

    def _lists(self, count=11):
        random = torch.Generator().manual_seed(4)
        x, w = (torch.randn(*s, generator=random, dtype=torch.float64).to(self.device) for s in ((count, 3), (3,)))
        sizes = [1 + 2 * r for r in range(self.ranks - 1)]
        return x, w, [*sizes, count - sum(sizes)]

    def mesh_partial(self):
        x, w, sizes = self._lists()
        w1, w2 = w.clone().requires_grad_(), w.clone().requires_grad_()
        expected = scaled_sum(x, w1)
        found = scaled_sum.on(self.mesh, N="dp")(x.split(sizes)[self.rank], w2)
        close(found, expected)
        expected.square().sum().backward()
        found.square().sum().backward()
        close(w2.grad, w1.grad)

    def mesh_halo(self):
        x, w, sizes = self._lists()
        run = neighbours.on(self.mesh, N="dp")
        for cut in (sizes, [0] * (self.ranks - 1) + [len(x)], [len(x)] + [0] * (self.ranks - 1)):
            x1, w1 = x.clone().requires_grad_(), w.clone().requires_grad_()
            x2, w2 = x.split(cut)[self.rank].clone().requires_grad_(), w.clone().requires_grad_()
            expected, found = neighbours(x1, w1), run(x2, w2)
            torch.testing.assert_close(found, expected.split(cut)[self.rank], rtol=0, atol=0)
            expected.square().sum().backward()
            found.square().sum().backward()
            close(x2.grad, x1.grad.split(cut)[self.rank])
            close(w2.grad, w1.grad)
        xs, ws = distribute_tensor(x, self.mesh, [Shard(0)]), distribute_tensor(w, self.mesh, [Replicate()])
        torch.testing.assert_close(run(xs, ws).full_tensor(), neighbours(x, w), rtol=0, atol=0)

    def mesh_integers(self):
        x = torch.arange(4 * 4 * self.ranks, device=self.device).view(-1, 4)
        own = x.chunk(self.ranks)[self.rank].contiguous()
        torch.testing.assert_close(counted.on(self.mesh, N="dp")(own), counted(x), rtol=0, atol=0)
        torch.testing.assert_close(shifted.on(self.mesh, N="dp")(own), shifted(x).chunk(self.ranks)[self.rank], rtol=0, atol=0)

    def mesh_training(self):
        one = Layers(1, self.device)
        train(one, one.parameters(), batch(self.ranks, self.device), lambda y: y.square().sum() / 100)
        model = Layers(1, self.device, recurrent.on(self.mesh, N="dp"))
        sizes = [1] * (self.ranks - 1) + [3 * self.ranks - self.ranks + 1]
        train(model, model.parameters(), batch(self.ranks, self.device).split(sizes)[self.rank].contiguous(), lambda y: y.square().sum() / 100)
        close(model.ws.detach(), one.ws.detach())

    def mesh_captured(self):
        """Local and partial lengths send no sizes, so that a CUDA graph has the whole call; DTensors have halos in one, too."""
        x, w, _ = self._lists(6 * self.ranks)
        shard = x.chunk(self.ranks)[self.rank].clone()
        xs, ws = distribute_tensor(x.clone(), self.mesh, [Shard(0)]), distribute_tensor(w, self.mesh, [Replicate()])
        total, near = scaled_sum.on(self.mesh, N="dp"), neighbours.on(self.mesh, N="dp")
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream), torch.no_grad():
            total(shard, w), near(xs, ws)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.graph(graph):
            found, close_by = total(shard, w), near(xs, ws)
        for factor in (1.0, 2.0):
            shard.copy_(x.chunk(self.ranks)[self.rank] * factor)
            xs.to_local().copy_(x.chunk(self.ranks)[self.rank] * factor)
            graph.replay()
            torch.cuda.synchronize()
            close(found, scaled_sum(x * factor, w))
            close(close_by.full_tensor(), neighbours(x * factor, w))


# -- times ----------------------------------------------------------------------------------------------------------------


def seconds(run, rounds):
    """The slowest rank's median."""
    run()
    torch.cuda.synchronize()
    found = []
    for _ in range(rounds):
        dist.barrier()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        found.append(time.perf_counter() - begin)
    slowest = torch.tensor(statistics.median(found), device="cuda")
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return slowest.item()


def captured(run):
    """A call as a CUDA graph, which the host starts at once."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def alone(run, rounds, rank):
    """One GPU's median while the others wait."""
    found = torch.zeros(1, device="cuda")
    dist.barrier()
    if rank == 0:
        run()
        torch.cuda.synchronize()
        each = []
        for _ in range(rounds):
            begin = time.perf_counter()
            run()
            torch.cuda.synchronize()
            each.append(time.perf_counter() - begin)
        found.fill_(statistics.median(each))
    dist.broadcast(found, 0)
    return found.item()


class Times:
    def __init__(self, rank, ranks, device, mesh):
        self.rank, self.ranks, self.device, self.mesh = rank, ranks, device, mesh

    def _random(self, element, scale, *shape):
        return torch.randn(*shape, device=self.device).mul_(scale).to(element)

    def links(self):
        from fractaltensor.distributed import measure

        record(self.rank, "links", measure.measure(self.device))

    def products_f16(self, M=8192, N=4096, width=64, rounds=20):
        """Rows M, and a GPU's own N columns of the inner product: a sum of all ranks' parts."""
        run = products(ft.f16)
        a = self._random(torch.float16, 1.0, M // width, width, width)
        b, c = (self._random(torch.float16, 0.05, N // width, width, width) for _ in range(2))
        sharded = run.on(self.mesh, N="dp")
        with torch.no_grad():
            run(a, b, c)
            one = alone(lambda: run(a, b, c), rounds, self.rank)
            both = seconds(lambda: sharded(a, b, c), rounds)
            graphs = alone(captured(lambda: run(a, b, c)), rounds, self.rank), seconds(captured(lambda: sharded(a, b, c)), rounds)
        for kind, (one, both) in (("eager", (one, both)), ("captured", graphs)):
            record(self.rank, f"times/products.f16.{width}.{kind}", {
                "seconds_alone": one, "seconds_together": both, "efficiency": one / both, "all_reduce_bytes": a.numel() * 2,
                "sizes": {"M": M, "N a GPU": N, "width": width}})

    def products_f16_wide(self):
        self.products_f16(width=128)

    def lstm_step(self, name, element, dtype, N=8, B=32, L=64, D=32, H=256, rounds=5, longest=10.0):
        """N matrices of B samples a GPU: the derivative keeps a gradient of each weight for each of the N, and each step."""
        run = lstm(element)
        xss = self._random(dtype, 1.0, N, L, B, H)
        parameters = [nn.Parameter(self._random(dtype, H**-0.5, D, 4, H, H)), nn.Parameter(self._random(dtype, H**-0.5, D, 4, H, H)),
                      nn.Parameter(self._random(dtype, 0.1, D, 4, 1, H))]

        class Model(nn.Module):
            def __init__(self, call):
                super().__init__()
                self.call, self.weights = call, nn.ParameterList(parameters)

            def forward(self, x):
                return self.call(x, *self.weights)[:, -1].float().square().mean()

        def step(model):
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

            def once():
                optimizer.zero_grad(set_to_none=True)
                model(xss).backward()
                optimizer.step()

            return once

        once = seconds(step(Model(run)), 1)  # each rank has the code before one is timed alone
        if once > longest:
            return record(self.rank, f"times/lstm_step.{name}", {"seconds_alone": once, "left_out": f"a step takes more than {longest} s"})
        one = alone(step(Model(run)), rounds, self.rank)
        for kind, model in (("DDP", nn.parallel.DistributedDataParallel(Model(run), device_ids=[self.device.index])), ("mesh", Model(run.on(self.mesh, N="dp")))):
            both = seconds(step(model), rounds)
            record(self.rank, f"times/lstm_step.{name}.{kind}", {"seconds_alone": one, "seconds_together": both, "efficiency": one / both,
                                                                   "sizes": {"B a GPU": N * B, "L": L, "D": D, "H": H}})

    def lstm_f32(self):
        self.lstm_step("f32", ft.f32, torch.float32)

    def lstm_bf16(self):
        self.lstm_step("bf16", ft.bf16, torch.bfloat16)


# -- records --------------------------------------------------------------------------------------------------------------


def record(rank, key, value):
    results[key] = value
    if rank == 0:
        print(f"{key}: {json.dumps(value)}", flush=True)
        with open(f"{options.results}.new", "w") as file:
            json.dump(results, file, indent=2)
        os.replace(f"{options.results}.new", options.results)


def run_all(kind, made, rank):
    for name in [n for n in vars(type(made)) if not n.startswith("_") and n != "lstm_step"]:
        begin, said = time.perf_counter(), "ok"
        try:
            getattr(made, name)()
        except Exception:
            text = traceback.format_exc()
            said = text if len(text) < 3000 else f"{text[:1500]}\n...\n{text[-1500:]}"
        # A rank that failed is known to all.
        every = [None] * dist.get_world_size()
        dist.all_gather_object(every, said)
        failed = [f"rank {r}: {text}" for r, text in enumerate(every) if text != "ok"]
        record(rank, f"{kind}/{name}", {"ok": not failed, "seconds": round(time.perf_counter() - begin, 2), **({"failed": failed} if failed else {})})


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=120), device_id=device)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cuda", (ranks,), mesh_dim_names=("dp",))
    record(rank, "machine", {"gpus": ranks, "name": torch.cuda.get_device_name(device), "torch": torch.__version__})
    if options.checks or not options.times:
        run_all("checks", Checks(rank, ranks, device, mesh), rank)
    if options.times or not options.checks:
        run_all("times", Times(rank, ranks, device, mesh), rank)
    dist.destroy_process_group()
    return 1 if any(isinstance(v, dict) and v.get("ok") is False for v in results.values()) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("results")
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    sys.exit(main())
