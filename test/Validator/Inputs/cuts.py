# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cuts the reduction of a file into shares, plants what its comments say, and asks the validator.

Usage: cuts.py FT-OPT FILE.mlir; a change is `// FIND => REPLACE: MESSAGE`, FIND a regular expression that occurs once.
"""
import re, subprocess, sys

ft_opt, path = sys.argv[1:]
source = open(path).read()
right = subprocess.run([ft_opt, path, "--pass-pipeline=builtin.module(etdg.graph(etdg-cut-reductions,etdg-validate))"],
                       capture_output=True, text=True, check=True).stdout
changes = failures = 0
for find, replace, message in re.findall(r"(?m)^// (\S.*) => (.*): (\(T\d+\) .*)$", source):
    changes += 1
    wrong, count = re.subn(find, replace, right)
    done = subprocess.run([ft_opt, "--pass-pipeline=builtin.module(etdg.graph(etdg-validate{reproducer=none}))"],
                          input=wrong, capture_output=True, text=True)
    if count != 1 or done.returncode != 1 or message not in done.stderr:
        failures += 1
        print(f"{find} => {replace}: {count} places, status {done.returncode}, expected {message}:\n{done.stderr}")
print(changes, "changes,", failures, "failures")
