# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles whose launch plans were changed and whose checksums are right: refused before anything runs."""

import copy
import hashlib
import json
import os
import struct
import tempfile
import unittest

import numpy as np

import fractaltensor as ft


@ft.jit
def rows(xs: ft.List["N, L", ft.f32[4]]):
    return xs.map(lambda row: row.scanl(lambda s, x: s * 0.5 + x, 0)), xs.map(lambda row: row.reduce(ft.add, 0))


def manifest_of(data):
    return json.loads(data[64 : 64 + struct.unpack_from("<Q", data, 24)[0]])


def signed(data, manifest):
    """The bundle with another manifest and its checksum; sections stay, each at a multiple of 64 bytes."""
    text = json.dumps(manifest).encode()
    sections = data[-(-(64 + struct.unpack_from("<Q", data, 24)[0]) // 64) * 64 :]
    body = b"\0" * (-(64 + len(text)) % 64) + sections
    head = data[:16] + struct.pack("<QQ", 64 + len(text) + len(body), len(text))
    return head + hashlib.sha256(head + text).digest() + text + body


def numbers(value, path=()):
    """Places of numbers and of expressions in a manifest."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if type(item) is int or (isinstance(item, list) and item and isinstance(item[0], str)):
            yield (*path, key)
        yield from numbers(item, (*path, key))


class Tampered(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "rows.ftb")

    def call(self, data):
        with open(self.path, "wb") as file:
            file.write(data)
        bundle = ft.load(self.path)
        return bundle.rows(np.ones((5, 7, 4), np.float32))

    def test_each_number_of_a_plan(self):
        rows.export(self.path, targets="x86-64-v3")
        with open(self.path, "rb") as file:
            data = file.read()
        y, z = self.call(data)
        np.testing.assert_allclose(z, 7)
        manifest = manifest_of(data)
        # The same text, signed again, is taken.
        np.testing.assert_array_equal(self.call(signed(data, manifest))[0], y)
        tried = 0
        for path in numbers(manifest["entries"][0]):
            for other in (0, 1, 3):
                changed = copy.deepcopy(manifest)
                holder = changed["entries"][0]
                for key in path[:-1]:
                    holder = holder[key]
                if holder[path[-1]] == other:
                    continue
                holder[path[-1]] = other
                tried += 1
                with self.subTest(path=path, other=other), self.assertRaises(ft.BundleError):
                    self.call(signed(data, changed))
        self.assertGreater(tried, 20)

    @unittest.skipUnless("sm_80" in ft.library.target_names(), "this build has no GPU targets")
    def test_plans_of_a_gpu_name_their_code(self):
        rows.export(self.path, targets="sm_80")
        with open(self.path, "rb") as file:
            data = file.read()
        at = data.rindex(b"\n// plans ")
        self.assertEqual(len(data[at:].split(b"\n")[1].split()[2]), 64)


if __name__ == "__main__":
    unittest.main()
