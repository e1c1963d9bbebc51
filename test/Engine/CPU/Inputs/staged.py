# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs graphs whose schedules stage reads on a CPU, compared with the interpreter: staged.py FT-RUN FILE FILE-FOR-A-GPU

By the first file's schedule, threads as they come and one at a time; by the second one's, which is for a GPU, one at a time.
"""

import re
import subprocess
import sys

ft_run, for_cpu, for_gpu = sys.argv[1:]
text = open(for_cpu).read()
runs = bad = 0
for name, head in re.findall(r"(?m)^etdg\.graph @(\w+)\((.*?)\) ->", text):
    names = sorted(set(re.findall(r"[A-Z]\w*", " ".join(re.findall(r"buffer<\[([^\]]*)\]", head)))))
    for length in (1, 3, 8):
        dims = [word for number, n in enumerate(names) for word in ("--dim", f"{n}={length + (n == 'N')}")]
        for path, options in ((for_cpu, ["--threads=2"]), (for_cpu, ["--order=random", f"--seed={length}"]),
                              (for_gpu, ["--schedule-for=sm_90a", "--order=random", f"--seed={length}"])):
            command = [ft_run, path, f"--entry={name}", "--compare=interpret", *options, *dims]
            done = subprocess.run(command, capture_output=True, text=True)
            runs += 1
            if done.returncode or not re.search("^equal$", done.stdout, re.M):
                bad += 1
                print(" ".join(command), done.stdout[-400:], done.stderr[:800])
print(f"{runs} runs, {bad} failures")
