# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What test_distributed.py runs in four processes over gloo: programs over a mesh (`mesh=`) equal one process's.

The processes are forked from one that has imported all and has one process's results.
"""

import contextlib
import io
import json
import os
import pathlib
import socket
import sys
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.tensor import DeviceMesh, DTensor, Partial, Replicate, Shard, distribute_tensor

import fractaltensor as ft
from fractaltensor.distributed import measure
from fractaltensor.jit import Jit
from test_distributed import PROGRAMS, arguments, data, eager, recurrent, rules, sizes_of_shards, twin
from test_examples import NAMES
from two_ranks import Layers, batch, close, train

RANKS = 4
DOUBLE = {"dtype": torch.float64}


def interpreted(jit):
    """The same program, which needs no code for the processor."""
    return Jit(jit._function, jit._options, "interpret")


def tensors(values):
    return [torch.from_numpy(np.ascontiguousarray(v)) for v in values]


def results_of(call, values):
    found = call(*values)
    return list(found) if isinstance(found, (tuple, list)) else [found]


def cases():
    """Each example and program, with the lengths that ranks can divide, its arguments and one process's results."""
    made = [(interpreted(twin(name)), tensors(arguments(twin(name)))) for name in NAMES]
    made += [(interpreted(jit), tensors(data(jit))) for jit, names, *_ in PROGRAMS if names]
    return [(jit, rules(jit), values, results_of(jit, values)) for jit, values in made]


def same(found, expected, is_exact):
    """Shards bit for bit, sums of shards up to rounding, integers always bit for bit."""
    if is_exact or not expected.is_floating_point():
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
    else:
        torch.testing.assert_close(found, expected, rtol=2e-4, atol=2e-4 * max(1.0, float(expected.abs().max())))


def check_plain(mesh, jit, rule, values, whole, random):
    ranks, rank = mesh.size(), mesh.get_local_rank()
    total = min(values[i].shape[dim] for i, dim in enumerate(rule.arguments) if dim is not None)
    sizes = sizes_of_shards(total, ranks, random)
    given = [v if dim is None else v.split([*sizes[:-1], sizes[-1] + v.shape[dim] - total], dim)[rank] for v, dim in zip(values, rule.arguments)]
    for found, expected, (dim, _) in zip(results_of(jit.on(mesh, **{rule.length: "dp"}), given), whole, rule.results):
        if dim is not None:
            own = [*sizes[:-1], sizes[-1] + expected.shape[dim] - total]
            if own[-1] < 0:  # the last shards have less than the list is shorter
                continue
            expected = expected.split(own, dim)[rank]
        same(found, expected, dim is not None)


def check_dtensors(mesh, jit, rule, values, whole):
    given = [distribute_tensor(v, mesh, [Replicate() if dim is None else Shard(dim)]) for v, dim in zip(values, rule.arguments)]
    for found, expected, (dim, partial) in zip(results_of(jit.on(mesh, **{rule.length: "dp"}), given), whole, rule.results):
        wanted = Shard(dim) if dim is not None else Replicate() if partial is None else Partial(partial)
        assert found.placements == (wanted,), (jit.__name__, found.placements, wanted)
        same(found.full_tensor(), expected, dim is not None)


def check_cases(every, meshes):
    for jit, of_lengths, values, whole in every:
        for rule in of_lengths.values():
            for ranks, mesh in meshes.items():
                if mesh.get_coordinate() is None:
                    continue
                random = np.random.default_rng(ranks)
                check_plain(mesh, jit, rule, values, whole, random)
                if ranks > 2 and (rule.has_halo or rule.fits([v.shape for v in values], ranks)):
                    check_dtensors(mesh, jit, rule, values, whole)


def program(name):
    return next(jit for jit, *_ in PROGRAMS if jit.__name__ == name)


def check_messages(mesh, rank):
    """Neighbours send what the reach says and no more; what fits a shard needs no message."""
    run = program("shifted_twice").on(mesh, N="dp")
    x, w = torch.arange(36.0, **DOUBLE).view(12, 3), torch.ones(3, **DOUBLE)
    run(x.split(3)[rank], w)
    (moved,) = run._latest[0].axis.messages
    line = 3 * 8  # bytes
    assert moved.received == line * ((rank > 0) * 1 + (rank < 3) * 2), moved
    assert moved.sent == line * ((rank < 3) * 1 + (rank > 0) * 2), moved
    text = run.explain()
    for part in ("N on axis 'dp' of 4 ranks, halo: ranks exchange 1 before and 2 after", "argument 'xs', neighbours"):
        assert part in text, text
    local = program("picked").on(mesh, M="dp")
    local(x, torch.tensor([rank]))
    assert not local._latest[0].axis.messages
    # A halo that is longer than a shard comes from the rank that has it.
    run(x.split([1, 1, 1, 9])[rank], w)
    assert rank or run._latest[0].axis.messages[0].received == 2 * line


def check_gradients(mesh, rank):
    random = torch.Generator().manual_seed(4)
    x, w = torch.randn(11, 3, generator=random, **DOUBLE), torch.randn(3, generator=random, **DOUBLE)
    weights = torch.randn(11, 3, generator=random, **DOUBLE)

    def loss(results, given):
        return sum((r * given).sum() if r.dim() == 2 else r.square().sum() for r in results)

    for name, sizes in (("shifted_twice", [4, 1, 0, 6]), ("scaled_sum", [2, 3, 3, 3]), ("product", [3, 3, 3, 2]), ("largest", [3, 3, 3, 2]),
                        ("sum_and_map", [0, 4, 4, 3]), ("windowed", [3, 3, 3, 2])):
        run = program(name)
        count = len(run.signature.traced)
        whole = [t.clone().requires_grad_() for t in (x, w)[:count]]
        parts = [x.split(sizes)[rank].clone().requires_grad_(), w.clone().requires_grad_()][:count]
        spread = [distribute_tensor(x, mesh, [Shard(0)]).requires_grad_(), distribute_tensor(w, mesh, [Replicate()]).requires_grad_()][:count]
        cut = weights[:-2] if name == "windowed" else weights
        own = cut.split([*sizes[:-1], sizes[-1] - (name == "windowed") * 2])[rank]
        loss(results_of(run, whole), cut).backward()
        # A result that all ranks have counts once; a loss of shards is one rank's part of the loss.
        loss(results_of(run.on(mesh, N="dp"), parts), own).backward()
        close(parts[0].grad, whole[0].grad.split(sizes)[rank])
        loss([r.full_tensor() for r in results_of(run.on(mesh, N="dp"), spread)], cut).backward()
        close(spread[0].grad.full_tensor(), whole[0].grad)
        for i in range(1, count):
            close(parts[i].grad, whole[i].grad)
            close(spread[i].grad.full_tensor(), whole[i].grad)


def check_training(mesh, rank):
    """Data-parallel training: gradients of parameters are the sum over ranks, without a wrapper."""
    one = Layers(1, eager)
    train(one, one.parameters(), batch(), lambda y: y.square().sum() / 100)
    sharded = recurrent.on(mesh, N="dp")
    model = Layers(1, sharded)
    train(model, model.parameters(), batch().split([2, 1, 0, 3])[rank].contiguous(), lambda y: y.square().sum() / 100)
    close(model.ws.detach(), one.ws.detach())
    wrapped = torch.nn.parallel.DistributedDataParallel(Layers(1, sharded), process_group=mesh.get_group())
    raises("use one of both", lambda: wrapped(batch()))


def check_two_axes(rank):
    mesh = DeviceMesh("cpu", [[0, 1], [2, 3]], mesh_dim_names=("dp", "sp"))
    a, b = mesh.get_coordinate()
    conv1d = twin("conv1d")
    xss, ws, bias = tensors(arguments(conv1d))
    x1, w1 = xss.clone().requires_grad_(), ws.clone().requires_grad_()
    expected = conv1d(x1, w1, bias)
    expected.square().sum().backward()
    x, w = xss.split([2, 1])[a].split([4, 3], 1)[b].clone().requires_grad_(), ws.clone().requires_grad_()
    found = conv1d.on(mesh, N="dp", L="sp")(x, w, bias)
    torch.testing.assert_close(found, expected.split([2, 1])[a].split([4, 3], 1)[b])
    found.square().sum().backward()
    torch.testing.assert_close(w.grad, w1.grad, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(x.grad, x1.grad.split([2, 1])[a].split([4, 3], 1)[b])
    total = program("sum_of_sums").on(mesh, L="dp", N="sp")
    y = torch.arange(105.0, **DOUBLE).view(5, 7, 3)
    given = distribute_tensor(y, mesh, [Shard(1), Shard(0)])
    assert total(given).placements == (Partial("sum"), Partial("sum"))
    close(total(given).full_tensor(), y.sum((0, 1)))
    close(total(y.split([2, 3])[b].split([5, 2], 1)[a]), y.sum((0, 1)))
    # Other placements are redistributed, with a remark; one that divides another dimension is an error.
    close(total(distribute_tensor(y, mesh, [Replicate(), Replicate()])).full_tensor(), y.sum((0, 1)))
    assert "is redistributed to (Shard(dim=1), Shard(dim=0)), 0 bytes received" in total.explain()
    raises("is S(0) on axis 'dp', and shard= divides 'L', its dimension 1, over it", lambda: total(distribute_tensor(y, mesh, [Shard(0), Shard(1)])))


def raises(text, call):
    try:
        call()
    except ft.ArgumentError as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"nothing was raised: {text}")


def check_errors(mesh, other, rank):
    run, x, w = program("scaled_sum"), torch.ones(4, 3, **DOUBLE), torch.ones(3, **DOUBLE)
    raises("axis 'tp', which the mesh lacks; it has dp", lambda: run.on(mesh, N="tp"))
    raises("'M' is no length of its lists; there are N", lambda: run.on(mesh, M="dp"))
    raises("axis 'dp' divides both 'N' and 'L'", lambda: recurrent.on(mesh, N="dp", L="dp"))
    raises("'H' is an extent of elements", lambda: recurrent.on(mesh, H="dp"))
    raises("is divided by one axis of the mesh", lambda: run.on(mesh, N=("dp", "tp")))
    raises("comes with mesh=", lambda: ft.jit(run._function, shard={"N": "dp"}))
    raises("mesh is a DeviceMesh", lambda: run.on(4, N="dp"))
    raises("out= is for calls without mesh=", lambda: run.on(mesh, N="dp")(x, w, out=w))
    xs = distribute_tensor(x, mesh, [Shard(0)])
    raises("argument 'w' is a plain tensor beside the DTensor 'xs'", lambda: run.on(mesh, N="dp")(xs, w))
    raises("and the program runs on", lambda: run.on(other, N="a")(xs, distribute_tensor(w, mesh, [Replicate()])))
    raises("ranks cannot divide the length 'L': pipeline, block @r", lambda: recurrent.on(mesh, L="dp")(torch.ones(1, 1, 1, 2, **DOUBLE), torch.ones(1, 2, 2, **DOUBLE)))
    raises("they can divide N", lambda: recurrent.on(mesh, D="dp")(torch.ones(1, 1, 1, 2, **DOUBLE), torch.ones(1, 2, 2, **DOUBLE)))
    raises("the length 'N' is 1, and the program needs at least 2", lambda: program("windowed").on(mesh, N="dp")(torch.ones(int(rank == 2), 3, **DOUBLE)))
    raises("over axis 'dp' the length 'N' is 4 by argument 0, 8 by argument 1",
           lambda: program("longer_beside").on(mesh, N="dp")(torch.ones(1 + (rank == 3) * 2, 3, **DOUBLE), torch.ones(2, 3, **DOUBLE)))
    os.environ["FT_CHECK_RANKS"] = "1"
    close(run.on(mesh, N="dp")(x[:rank], w), torch.full((3,), 6.0, **DOUBLE))
    raises("ranks disagree: this one calls", lambda: run.on(mesh, N="dp")(x, w) if rank else program("shifted").on(mesh, N="dp")(x))
    raises("ranks disagree: this one calls", lambda: run.on(mesh, N="dp")(x, w if rank != 2 else torch.ones(4, **DOUBLE)[:3].float()))
    close(run.on(mesh, N="dp")(x, w), torch.full((3,), 16.0, **DOUBLE))
    del os.environ["FT_CHECK_RANKS"]


def check_decorator(mesh, rank):
    @ft.jit(mesh=mesh, shard={"N": "dp"})
    def scaled(xs: ft.List["N", ft.f64[3]], by: ft.f64, power: int = 2):
        for _ in range(power):
            xs = xs.map(lambda x: x * by)
        return xs, xs.reduce(ft.add, ft.zeros(3, dtype=ft.f64))

    x = torch.arange(30.0, **DOUBLE).view(10, 3)
    for power in (2, 3):
        found = scaled(x.split([3, 3, 3, 1])[rank], 2.0, power=power)
        close(found[0], x.split([3, 3, 3, 1])[rank] * 2**power)
        close(found[1], x.sum(0) * 2**power)

    @ft.jit
    def within(xs: ft.List["N", ft.f64[3]], by: ft.f64):
        return scaled(xs, by)[0].map(lambda v: v + 1.0)

    close(within(x, 1.0), x + 1)
    # PyTorch's compiler leaves the call as it is.
    near = program("shifted").on(mesh, N="dp")
    own = x.split([3, 3, 3, 1])[rank]
    close(torch.compile(lambda v: near(v * 2) + 1, backend="eager")(own), near(own * 2) + 1)


def check_measured(rank):
    entry = measure.measure(torch.device("cpu"), rounds=1)
    if rank == 0:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "machine.json"
            path.write_text(json.dumps({"name": "toy", "links": [{"ranks": 4}, {"ranks": 8}]}))
            measure.write(str(path), entry)
            links = json.loads(path.read_text())["links"]
        assert [link["ranks"] for link in links] == [4, 8] and "gloo" in links[0]["source"]
        assert all(links[0][name][key] > 0 for name in ("send", "all_gather", "all_reduce") for key in ("seconds", "bytes_per_second"))
    with contextlib.redirect_stderr(io.StringIO()) as said:
        assert measure.main([]) == 2
    assert "torchrun" in said.getvalue()


def work(rank, port, every):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=RANKS)
    meshes = {ranks: DeviceMesh("cpu", list(range(ranks)), mesh_dim_names=("dp",)) for ranks in range(1, RANKS + 1)}
    mesh = meshes[RANKS]
    other = DeviceMesh("cpu", [[0, 1, 2, 3]], mesh_dim_names=("b", "a"))
    check_cases(every, meshes)
    check_messages(mesh, rank)
    check_gradients(mesh, rank)
    check_training(mesh, rank)
    check_two_axes(rank)
    check_errors(mesh, other, rank)
    check_decorator(mesh, rank)
    check_measured(rank)
    dist.barrier()
    print(f"rank {rank}: all equal", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.setswitchinterval(1e-3)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    mp.start_processes(work, (free, cases()), RANKS, start_method="fork")
