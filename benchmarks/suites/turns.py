# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that are timed in turns: each in a process of its own, which waits until it is asked."""

import select, subprocess


class TimedProcess:
    """A process that says when it is ready, and answers each number of seconds with the median time of a call."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)

    def speaks(self, seconds=0):
        """Whether it says something in so many seconds."""
        return bool(select.select([self.process.stdout], [], [], seconds)[0])

    def first_line(self, seconds):
        """What it says when it is ready; None where it does not in so many seconds."""
        return self.process.stdout.readline() if self.speaks(seconds) else None

    def time(self, seconds):
        self.process.stdin.write("%f\n" % seconds)
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.kill()
        self.process.wait()
