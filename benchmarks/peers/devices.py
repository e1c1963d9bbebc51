#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One bundle on every device of the machine, in one process:

    devices.py FOLDER

Results are compared with float64 on each; a tensor of another device is refused
with both numbers, and the next call works.
"""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peers  # noqa: E402
import programs  # noqa: E402
import runtime  # noqa: E402


def main():
    folder = pathlib.Path(sys.argv[1])
    library = runtime.load_library(folder / "lib/libFractalTensorRuntime.so")
    path, count, bad = folder / "bundles/stacked_lstm.sm_90a.ftb", torch.cuda.device_count(), 0
    case = programs.stacked_lstm(3, 4, 9, 64)
    loaded = [runtime.Program(library, path, device) for device in range(count)]
    for device, program in list(enumerate(loaded)) * 2:
        with torch.cuda.device(device):
            inputs = [t.float().to(device) for t in case.inputs]
            reference = [t.to(device) for t in case.plain(*[t.float().double() for t in case.inputs])]
            if count > 1:
                try:
                    program.bind([t.to((device + 1) % count) for t in inputs], case.outputs,
                                 torch.float32)[1]()
                    bad += 1
                    print(f"device {device}: took tensors of another device")
                except RuntimeError as refused:
                    print(f"device {device} refuses: {refused}")
            outputs, call = program.bind(inputs, case.outputs, torch.float32)
            call()
            torch.cuda.synchronize(device)
            error = peers.error_of(outputs, reference)
            bad += error > 1e-4
            print(f"device {device} of {count}: error {error:.1e}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
