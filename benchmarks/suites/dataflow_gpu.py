#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The schedule that the dataflow search chooses for a GPU, packed beside variants for a machine with the GPU and without LLVM.

For each program it packs the choice of `ft-compile="dataflow"` (`chosen`), that of the estimates alone (`cost model`), and `--variants` others, no two
alike. The first of these differ from the chosen one in one decision. That is rows of a task, threads of a block and the tiles that follow, tiles of a
thread, terms of a step, stages, or blocks for each SM. The others differ in several at once, drawn by `--draw`. A variant that the compiler refuses is left out.

    benchmarks/run.py dataflow-gpu [--bin build/bin] [--variants 40] [--target sm_90a] FOLDER
    FOLDER/run.sh                     there: checks each against float64, times all in turns, prints chosen over best

A variant's line in FOLDER/variants.txt is program|lengths|name|bundle.
"""
import argparse, concurrent.futures, os, pathlib, random, re, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {
    "attention_three_step": {"B": 4, "H": 16, "Q": 32, "K": 32},
    "back_to_back_gemm": {"M": 1024, "N": 64},
}
PRODUCT = re.compile(r"#tile\.product<block = \[(\d+), (\d+)\], thread = \[(\d+), (\d+)\], step = (\d+), stages = (\d+)")
BLOCK = re.compile(r"block = <threads = (\d+), resident = (\d+), shared = (\d+)>")
ROWS = re.compile(r"<dimension = (\d+), tile = \?, most = (\d+), kind = parallel, level = grid, mapping = cyclic>, "
                  r"<dimension = \1, most = \2, kind = parallel, level = rows>")
DEALT = re.compile(r"<dimension = (\d+), kind = parallel, level = grid, mapping = cyclic>\] block")
MOST_SHARED = 232448  # of a block, with what the runtime leaves


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def scheduled(args, program, dims, options):
    """The program as the phase `schedule` leaves it at these lengths."""
    plain = args.folder / (program + ".mlir")
    if not plain.exists():
        done = run(args.bin / "ft-opt", ROOT / "examples" / (program + ".mlir"), "--ft-compile=to=etdg")
        text = done.stdout
        for name, value in dims.items():
            text = re.sub(r"(ft\.lengths = \{[^}]*\b%s = )\d+" % name, r"\g<1>%d" % value, text)
        plain.write_text(text)
    done = run(args.bin / "ft-opt", plain, "--ft-compile=to=schedule target=%s%s" % (args.target, options))
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


class Form:
    """What is varied of a schedule."""

    def __init__(self, text):
        self.text = text
        rows, block = ROWS.search(text), BLOCK.search(text)
        self.rows = int(rows[2]) if rows else 1
        self.threads, self.resident, self.shared = map(int, block.groups())
        self.products = [tuple(map(int, match.groups())) for match in PRODUCT.finditer(text)]

    def values(self):
        return dict(rows=self.rows, threads=self.threads, resident=self.resident, shared=self.shared,
                    wide=0, step=self.products[0][4], stages=self.products[0][5], half=0)

    def shares(self, m, n, threads, wide):
        """Rows and columns of a thread: as square as can be, then `wide` times two more columns; None if there is no such share."""
        sums = m * n // threads
        if sums * threads != m * n or not 4 <= sums <= 128:
            return None
        rows = 1
        while rows * rows * 4 <= sums:
            rows *= 2
        for _ in range(abs(wide)):
            rows = rows // 2 if wide > 0 else rows * 2
        if rows < 1 or sums % rows:
            return None
        columns = sums // rows
        return (rows, columns) if rows <= m and columns <= n else None

    def write(self, v):
        """The schedule with these values, or None where they do not go together."""
        layouts = []
        for m, n, *_ in self.products:
            m = m // self.rows * v["rows"]
            if v["half"] == 1:
                m //= 2
            if v["half"] == 2:
                n //= 2
            share = self.shares(m, n, v["threads"], v["wide"])
            if not share or m < 8:
                return None
            layouts.append("#tile.product<block = [%d, %d], thread = [%d, %d], step = %d, stages = %d" %
                           (m, n, *share, v["step"], v["stages"]))
        if all(v[key] == value for key, value in self.values().items() if key in ("rows", "threads", "wide", "half")):
            layouts = ["#tile.product<block = [%d, %d], thread = [%d, %d], step = %d, stages = %d" %
                       (*product[:4], v["step"], v["stages"]) for product in self.products]
        take = iter(layouts)
        text = PRODUCT.sub(lambda match: next(take), self.text)
        text = BLOCK.sub("block = <threads = %d, resident = %d, shared = %d>" %
                         (v["threads"], v["resident"], v["shared"]), text)
        if v["rows"] == self.rows:
            return text
        loops = ("<dimension = \\1, tile = ?, most = %d, kind = parallel, level = grid, mapping = cyclic>, "
                 "<dimension = \\1, most = %d, kind = parallel, level = rows>") % (v["rows"], v["rows"])
        if ROWS.search(text):
            return ROWS.sub(loops if v["rows"] > 1 else "<dimension = \\1, kind = parallel, level = grid, mapping = cyclic>", text)
        return DEALT.sub(loops + "] block", text)


CHOICES = {
    "rows": (1, 2, 4, 8), "threads": (32, 64, 128, 256, 512), "wide": (-1, 0, 1, 2), "step": (8, 16, 32), "stages": (1, 2, 3, 4),
    "resident": (1, 2, 3, 4), "shared": (65536, 98304, 114688, 147456, MOST_SHARED), "half": (0, 1, 2),
}


def draws(form, seed):
    """Values: one thing changed, then rows and threads together, then several at once; each once."""
    base, met = form.values(), set()
    single = [{**base, key: value} for key, values in CHOICES.items() for value in values]
    pairs = [{**base, "rows": rows, "threads": threads, "shared": MOST_SHARED if rows > form.rows else form.shared, "resident": resident}
             for rows in CHOICES["rows"] for threads in CHOICES["threads"] for resident in (1, 2)]
    draw = random.Random(seed)
    several = [{key: draw.choice(values) if draw.random() < 0.4 else base[key] for key, values in CHOICES.items()} for _ in range(400)]
    draw.shuffle(pairs)
    for values in single + [v for both in zip(pairs, several) for v in both] + several[len(pairs):]:
        text = form.write(values)
        if text and text != form.text and text not in met:
            met.add(text)
            name = ", ".join("%s %s" % (key, values[key]) for key in values if values[key] != base[key])
            yield name, text


def translate(args, text, name):
    source, bundle = args.folder / (name + ".mlir"), args.folder / "bundles" / (name + ".ftb")
    source.write_text(text)
    done = run(args.bin / "ft-translate", "--mlir-to-bundle", "--target=" + args.target, source, "-o", bundle)
    source.unlink()
    if done.returncode:
        args.refused.append((name, done.stderr.strip().splitlines()[0][:200] if done.stderr.strip() else "?"))
    return done.returncode == 0


def pack(args, program, dims):
    chosen, plain = scheduled(args, program, dims, " dataflow"), scheduled(args, program, dims, " dataflow=false")
    lengths = " ".join("%s=%d" % dim for dim in dims.items())
    lines = []
    for what, text in (("chosen", chosen), ("cost model", plain)):
        name = program + "." + what.replace(" ", "_")
        if not translate(args, text, name):
            sys.exit("%s: %s" % (program, args.refused[-1]))
        lines.append("%s|%s|%s|%s" % (program, lengths, what, name))
    form, number = Form(chosen), 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        todo = list(enumerate(draws(form, args.draw)))
        while todo and number < args.variants:
            batch, todo = todo[:args.variants - number], todo[args.variants - number:]
            for (i, (name, _)), good in zip(batch, pool.map(
                    lambda item: translate(args, item[1][1], "%s.%d" % (program, item[0])), batch)):
                if good:
                    number += 1
                    lines.append("%s|%s|%s|%s.%d" % (program, lengths, name, program, i))
    (args.folder / (program + ".mlir")).unlink()
    print("%s: %d variants, %d refused" % (program, number, len(args.refused)), flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--variants", type=int, default=40)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--draw", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    args.refused = []
    (args.folder / "bundles").mkdir(parents=True, exist_ok=True)
    (args.folder / "lib").mkdir(exist_ok=True)
    for library in (args.bin.parent / "lib").glob("libFractalTensorRuntime.so*"):
        shutil.copy(library, args.folder / "lib", follow_symlinks=True)
    for script in ("peers.py", "programs.py", "runtime.py", "variants.py"):
        shutil.copy(ROOT / "benchmarks/peers" / script, args.folder)
    start = args.folder / "run.sh"
    start.write_text('#!/usr/bin/env bash\ncd "$(dirname "$0")"\nexec python3 variants.py . --json "${OUT:-.}/variants.json" "$@"\n')
    start.chmod(0o755)
    lines = [line for program, dims in PROGRAMS.items() for line in pack(args, program, dims)]
    (args.folder / "variants.txt").write_text("".join(line + "\n" for line in lines))
    (args.folder / "refused.txt").write_text("".join("%s: %s\n" % entry for entry in args.refused))


if __name__ == "__main__":
    main()
