# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When two arrays are equal: |a - b| <= tolerance + tolerance (|b| + rms(b)); integers exactly."""

import numpy as np

TOLERANCE = {"f64": 1e-12, "f32": 1e-5, "f16": 2e-3, "bf16": 2e-2}


def assert_close(test, found, expected, dtype="f32", scale=1.0):
    found, expected = np.asarray(found), np.asarray(expected)
    test.assertEqual(found.shape, expected.shape)
    if found.dtype.kind in "iub":
        test.assertTrue(np.array_equal(found, expected), f"{found} != {expected}")
        return
    a, b = found.astype(np.float64), expected.astype(np.float64)
    if b.size == 0:
        return
    test.assertTrue(np.isfinite(a).all() == np.isfinite(b).all(), "infinities or NaN on one side")
    finite = b[np.isfinite(b)]
    rms = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
    tolerance = TOLERANCE[dtype] * scale
    both = np.isfinite(a) & np.isfinite(b)
    worst = np.max(np.abs(a - b)[both] - tolerance * (1 + np.abs(b)[both] + rms), initial=-1)
    test.assertLessEqual(worst, 0, f"differs by up to {np.max(np.abs(a - b)[both])}")
