#!/bin/sh
# The oracle of ft-reduce: status 1 says that the file is still interesting.
grep -q math.exp "$1" && exit 1
exit 0
