# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The paper's evaluation as a command: its programs, its peers, its references agree with each other at small sizes."""

import dataclasses
import importlib.util
import pathlib
import re
import sys
import unittest

import fractaltensor as package  # before the benchmark of this name can be found

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "benchmarks/papers"), str(ROOT / "benchmarks/peers")]
import counters  # noqa: E402
import fractaltensor_rows as rows  # noqa: E402

TORCH = importlib.util.find_spec("torch") is not None


def command(name="papers/fractaltensor"):
    """A file below benchmarks, by its path: scripts have modules of the same names."""
    spec = importlib.util.spec_from_file_location("paper_command", ROOT / f"benchmarks/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plain(text):
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("//")]


class Counters(unittest.TestCase):
    def test_kernels_are_added_in_bytes(self):
        printed = '"0","a","dram__bytes_read.sum","Kbyte","1,234.5"\n"1","b","dram__bytes_read.sum","byte","500"\nno row'
        self.assertEqual(counters.added(printed, ["dram__bytes_read.sum", "other"]), {"dram__bytes_read.sum": 1235000.0, "other": 0.0})


@unittest.skipUnless(TORCH, "PyTorch is not installed")
class Souffle(unittest.TestCase):
    def test_every_module_is_there(self):
        models, paper = command("peers/models"), command("papers/souffle")
        self.assertEqual({*paper.MODULES, *paper.MODELS}, {*models.CASES, *models.OTHERS})
        self.assertLessEqual({*paper.TABLE1, *paper.TABLE3, *paper.TABLE4, *paper.TABLE5}, {*paper.MODULES, *paper.MODELS})


class Rows(unittest.TestCase):
    def test_every_shape_is_there(self):
        seven = [row for row in rows.ROWS if row.figure == "7"]
        count = {name: sum(row.workload == name for row in seven) for name in {row.workload for row in seven}}
        self.assertEqual(count, {"stacked LSTM": 3, "dilated LSTM": 3, "grid RNN": 3, "back-to-back GEMM": 4, "flash attention": 16, "BigBird": 2})
        for figure, workload, lengths in (("8 depth", "stacked LSTM", {1, 2, 4, 8, 16, 32}), ("8 depth", "dilated LSTM", {1, 2, 3, 4, 5, 6}),
                                          ("8 depth", "grid RNN", {1, 2, 4, 8, 16, 32})):
            mine = [row for row in rows.ROWS if (row.figure, row.workload) == (figure, workload)]
            self.assertEqual({row.sizes["D"] for row in mine}, lengths)
            self.assertEqual({row.sizes["H"] for row in mine}, {256, 1024})

    def test_programs_exist(self):
        for row in rows.ROWS:
            file, _, types = rows.program(row)
            text = (ROOT / file).read_text()
            for name in re.findall(r"^!(\w+) = tensor<[0-9x]*f32>", text, re.M):
                self.assertIn(name, types, (row, "keeps another element type"))
            names = re.findall(r"(\w+) = \d+", re.search(r"ft\.lengths = \{([^}]*)\}", text)[1])
            self.assertEqual(sorted(rows.lengths(row)), sorted(names))

    def test_dilated_layers(self):
        example = (ROOT / "examples/dilated_lstm.mlir").read_text()
        self.assertEqual(plain(rows.dilated_text(3)(example)), plain(example))
        six = rows.dilated_text(6)(example)
        self.assertEqual(re.findall(r"\blag (\d+)", six), ["1", "2", "4", "8", "16", "32"])
        entry = package.compile_text(six).dilated_lstm
        self.assertIsNotNone(entry)


@unittest.skipIf(not TORCH, "no PyTorch")
class Peers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import programs
        import torch

        programs.DEVICE = "cpu"
        torch.manual_seed(0)
        cls.programs, cls.torch = programs, torch

    def same(self, found, expected):
        self.assertEqual(found.shape, expected.shape)
        self.assertLess((found - expected).abs().max().item(), 1e-12)

    def test_wavefronts(self):
        import wavefronts

        for n, d, length, h in ((3, 5, 7, 8), (1, 1, 1, 4), (2, 7, 3, 4)):
            case = self.programs.stacked_lstm(n, d, length, h)
            self.same(wavefronts.lstm_waves(*case.inputs)(), case.plain(*case.inputs)[0][:, -1, :, 0].transpose(0, 1))
        for n, d, s, t in ((2, 4, 3, 5), (1, 1, 1, 1), (2, 3, 5, 2), (1, 6, 1, 3)):
            case = self.programs.grid_rnn(n, d, s, t, 4)
            expected = self.torch.stack([one[:, -1, :, :, 0].permute(1, 2, 0, 3) for one in case.plain(*case.inputs)])
            self.same(wavefronts.grid_waves(*case.inputs)(), expected)

    def test_folded_dilations(self):
        import wavefronts

        for length in (1, 5, 13, 16):
            case = self.programs.dilated_lstm(2, length, 8)
            expected = case.plain(*case.inputs)[0][:, :, 0].transpose(0, 1)
            with self.torch.no_grad():
                self.same(wavefronts.dilated_lstm(*case.inputs, cudnn=False)(), expected)
                self.same(wavefronts.dilated_lstm(*case.inputs)(), expected)

    def test_references(self):
        paper = command()
        small = {"stacked LSTM": {"N": 2, "D": 3, "L": 4, "H": 4}, "dilated LSTM": {"N": 2, "D": 3, "L": 5, "H": 4},
                 "grid RNN": {"N": 2, "D": 2, "S": 3, "T": 4, "H": 4}, "back-to-back GEMM": {"M": 128, "N": 128},
                 "flash attention": {"B": 3, "heads": 2, "L": 128, "D": 16}, "BigBird": {"B": 3, "L": 320, "R": 2, "D": 8}}
        for workload, sizes in small.items():
            row = dataclasses.replace(next(row for row in rows.ROWS if row.workload == workload), sizes=sizes)
            inputs, _, exact, _, peers = paper.build_case(row)
            with self.torch.no_grad():
                expected = exact(*inputs)
                for name, make in peers.items():
                    found = make(*inputs)()
                    found = found[[0, len(found) - 1]] if workload in ("flash attention", "BigBird") else found
                    if name == "cuDNN nn.LSTM":
                        found = found.transpose(0, 1)
                    self.same(found, expected)
        # Blocks, gathered, against a mask over all positions.
        inputs, _, exact, _, _ = paper.build_case(dataclasses.replace(next(row for row in rows.ROWS if row.workload == "BigBird"), sizes=small["BigBird"]))
        q, k, v, random = (one[[0, 2]] if one.is_floating_point() else one for one in inputs)
        blocks, d = q.shape[1], q.shape[3]
        seen = self.torch.zeros(blocks, blocks, dtype=bool)
        middle = self.torch.arange(1, blocks - 1)
        for shift in (-1, 0, 1):
            seen[middle, middle + shift] = True
        seen[:, 0] = seen[:, -1] = seen[0] = seen[-1] = True
        seen[middle[:, None], random] = True
        mask = seen.repeat_interleave(64, 0).repeat_interleave(64, 1)
        flat = [x.reshape(2, blocks * 64, d) for x in (q, k, v)]
        expected = self.torch.nn.functional.scaled_dot_product_attention(*flat, attn_mask=mask).reshape(q.shape)
        self.same(exact(*inputs), expected)


if __name__ == "__main__":
    unittest.main()
