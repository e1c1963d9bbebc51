# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a benchmark times keeps the memory that it uses: a captured graph that of its peer, a call that of its inputs.

    peers-keep.py ROOT

PyTorch is a stand-in here: nothing runs.
"""

import contextlib
import gc
import sys
import types
import weakref


class Any:
    def __getattr__(self, name):
        return type(name, (), {"replay": lambda self: None, "__init__": lambda self, *a, **k: None})


torch = types.ModuleType("torch")
for number, name in enumerate(("float32", "float64", "float16", "bfloat16", "int32", "int64")):
    setattr(torch, name, number)
torch.cuda = Any()
torch.cuda.synchronize = lambda: None
torch.cuda.stream = torch.cuda.graph = lambda _: contextlib.nullcontext()
sys.modules.update(torch=torch, programs=types.ModuleType("programs"))
sys.path.insert(0, sys.argv[1] + "/benchmarks/peers")
import peers  # noqa: E402
import runtime  # noqa: E402


class Peer:
    def __call__(self):
        return self


class Tensor:
    dtype, shape, device = torch.float16, (2, 3), types.SimpleNamespace(index=0)

    def data_ptr(self):
        return 64

    def dim(self):
        return 2


def lives(make):
    """Whether something lives on while what `make` returns of it does."""
    used, result = make()
    seen = weakref.ref(used)
    del used
    gc.collect()
    alive = seen() is not None
    del result
    gc.collect()
    return alive and seen() is None


def captured():
    peer = Peer()
    return peer, peers.graphed(peer)


def bound():
    first, program = Tensor(), runtime.Program.__new__(runtime.Program)
    _, call = program.bind([first], 0, torch.float16)
    program.bind([Tensor()], 0, torch.float16)  # the same program, for another row
    return first, call


print(f"captured: {lives(captured)}, bound: {lives(bound)}")
