"""all-are.py [FILE.npy NUMBER]...: fails where some element of an array is another number."""
import sys

import numpy

for path, number in zip(sys.argv[1::2], sys.argv[2::2]):
    values = numpy.load(path).astype(numpy.float64)
    assert values.size and (values == float(number)).all(), f"{path}: expected {number}, found {values.flatten()[:8]}"
