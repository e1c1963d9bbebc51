# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer programs for CBC or SciPy's HiGHS."""
import os
import shutil
import subprocess
import tempfile


class Program:
    """minimize cost·x, rows low <= a·x <= high, x binary or continuous and >= 0."""

    def __init__(self):
        self.cost, self.binary, self.rows = [], [], []

    def variable(self, binary, cost=0):
        self.cost.append(cost)
        self.binary.append(binary)
        return len(self.cost) - 1

    def row(self, terms, low, high):
        self.rows.append((terms, low, high))

    def solve(self):
        return self.by_cbc() if shutil.which("cbc") else self.by_highs()

    def by_highs(self):
        import numpy
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import lil_matrix

        count = len(self.cost)
        matrix = lil_matrix((len(self.rows), count))
        for r, (terms, _, _) in enumerate(self.rows):
            for variable, factor in terms:
                matrix[r, variable] += factor
        integer = numpy.array(self.binary, dtype=int)
        result = milp(
            numpy.array(self.cost),
            integrality=integer,
            bounds=Bounds(0, numpy.where(integer, 1, numpy.inf)),
            constraints=LinearConstraint(
                matrix.tocsr(), [row[1] for row in self.rows], [row[2] for row in self.rows]
            ),
            options={"mip_rel_gap": 0},
        )
        return round(result.fun) if result.status == 0 else None

    def by_cbc(self):
        def linear(terms):
            return " ".join(f"{factor:+d} x{variable}" for variable, factor in terms)

        lines = ["Minimize", " cost: " + linear(list(enumerate(self.cost))), "Subject To"]
        for terms, low, high in self.rows:
            if low == high:
                lines.append(f" {linear(terms)} = {low}")
            else:
                lines += [f" {linear(terms)} >= {low}"] if low != float("-inf") else []
                lines += [f" {linear(terms)} <= {high}"] if high != float("inf") else []
        lines += ["Binary"] + [f" x{v}" for v, binary in enumerate(self.binary) if binary] + ["End"]
        with tempfile.TemporaryDirectory() as folder:
            problem, answer = os.path.join(folder, "p.lp"), os.path.join(folder, "s")
            with open(problem, "w") as file:
                file.write("\n".join(lines) + "\n")
            subprocess.run(
                ["cbc", problem, "ratioGap", "0", "allowableGap", "0", "solve", "solu", answer],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            with open(answer) as file:
                first = file.readline()
        return round(float(first.split()[-1])) if first.startswith("Optimal") else None
