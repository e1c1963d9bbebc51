#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every variant that a GPU's kernels of a program may take, packed with its price, for a machine with the GPU and without LLVM.

Variants are the loop distributions and orders of each rank, with steps of the grid and without, and of both each variant by itself. Where a leaf has
joined iterations, their numbers are variants, too. No two are alike. `chosen` is what a bundle takes by itself.

    benchmarks/run.py prices pack [--bin build/bin] [--cases FILE] [--only NAME,...] FOLDER     compiles, prices
    benchmarks/run.py prices price [--machine FILE] FOLDER                                      prices again what is packed
    python3 FOLDER/time.py FOLDER --json=FILE                                               there: times all in turns
    benchmarks/run.py prices table FOLDER FILE                                                  beside each other

A line of --cases is program|element|width|lengths, lengths|typical lengths; width is that of !x and !w, or empty.
"""
import argparse, concurrent.futures, json, os, pathlib, re, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUARD = re.compile(r"when <([^>]*)>")
ALL = re.compile(r"price-of-all .*Remark=\"([0-9.]+) us")


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def types_of(text, element, width):
    for name, extents in re.findall(r"^!(\w+) = tensor<([0-9x]*)f32>", text, re.M):
        if width:
            extents = {"x": f"1x{width}x", "w": f"{width}x{width}x"}.get(name, extents)
        yield f"--type={name}=tensor<{extents}{element}>"


def alone(text):
    """Each variant by itself, by its number: guards before it never hold, its own always does."""
    guards = GUARD.findall(text)
    if not guards:
        yield "", text
        return
    length = re.search(r"\[([^\]]*)\]", guards[0])[1]
    for taken in range(len(guards) + 1):
        numbers = iter(range(len(guards)))
        yield f", variant {taken}", GUARD.sub(lambda match: f"when <[{length}] {'from' if next(numbers) == taken else 'below'} 1>", text)


class Case:
    def __init__(self, line, args):
        self.program, self.element, self.width, lengths, typical = [part.strip() for part in line.split("|")]
        self.lengths = [text.split() for text in lengths.split(",")]
        self.typical = typical.split()
        self.name = f"{self.program}.{self.element}" + (f".{self.width}" if self.width else "")
        self.args, self.forms = args, {}

    def compile_to_coarse(self):
        path = ROOT / "examples" / (self.program + ".mlir")
        text = path.read_text()
        self.coarse = self.args.folder / "graphs" / (self.name + ".coarse.mlir")
        # (What the phase before says of lengths is what forms are made for.)
        source = self.args.folder / "graphs" / (self.name + ".source.mlir")
        for word in self.typical:
            name, value = word.split("=")
            text = re.sub(r"(ft\.lengths = \{[^}]*\b%s = )\d+" % name, r"\g<1>" + value, text)
        source.write_text(text)
        self.types = list(types_of(text, self.element, self.width))
        done = run(self.args.bin / "ft-opt", source, *self.types, "--ft-compile=to=coarsen target=sm_90a", "-o", self.coarse)
        if done.returncode:
            sys.exit(done.stderr)

    def schedule(self, rank, steps, iterations):
        passes = (f"etdg-reorder,etdg-choose-division-for-gpu{{candidate={rank} steps={steps}}},etdg-apply-schedule,"
                  f"etdg-choose-iterations-for-gpu{{iterations={iterations} steps={steps}}},etdg-schedule-for-gpu{{steps={steps}}}")
        done = run(self.args.bin / "ft-opt", self.coarse, f"--pass-pipeline=builtin.module(etdg.graph({passes}))")
        return done.stdout if done.returncode == 0 else None

    def count_ranks(self):
        """Orders and divisions of the item that has most; 0 where there is no choice."""
        done = run(self.args.bin / "ft-opt", self.coarse, "--pass-pipeline=builtin.module(etdg.graph(etdg-reorder))")
        def count(name, item):
            return max([text.count(item) for text in re.findall(name + r" = \[(.*?)\](?:,|\})", done.stdout)], default=0)
        orders, divisions = count("etdg.candidates", "#etdg.schedule"), count("etdg.divisions", "#etdg.division<")
        return max(orders, 1 if divisions else 0) + divisions

    def find_forms(self):
        met = set()
        reduces = re.search(r"\breduce\b", re.sub(r"//.*|linalg\.reduce", "", self.coarse.read_text()))
        for iterations in (1, 2, 4, 8) if reduces else (0,):
            for rank in range(self.count_ranks()) or (-1,):
                for steps in ("always", "never"):
                    text = self.schedule(rank, steps, iterations)
                    for which, one in alone(text) if text else ():
                        key = re.sub(r"#map\d*|#set\d*|#attr\d*", "", one)
                        if key in met:
                            continue
                        met.add(key)
                        what = f"rank {rank}, {steps}{which}" + (f", {iterations} joined" if iterations else "")
                        self.forms[what] = one

    def pack(self):
        self.compile_to_coarse()
        self.find_forms()
        names = []
        for number, (what, text) in enumerate(self.forms.items()):
            graph = self.args.folder / "graphs" / f"{self.name}.{number}.mlir"
            graph.write_text(text)
            names.append((what, f"{self.name}.{number}", graph))
        def translate(entry):
            placed = entry[2].with_suffix(".placed.mlir")
            passes = "builtin.module(etdg.graph(etdg-bind-in-place,etdg-storage,etdg-place-buffers))"
            done = run(self.args.bin / "ft-opt", entry[2], f"--pass-pipeline={passes}", "-o", placed)
            if done.returncode == 0:
                done = run(self.args.bin / "ft-translate", "--mlir-to-bundle", "--target=sm_90a", placed, "-o", self.args.folder / "bundles" / (entry[1] + ".ftb"))
            return done.returncode == 0 or print(entry[1], entry[0], done.stderr[:300], flush=True)
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            names = [entry for entry, good in zip(names, pool.map(translate, names)) if good]
        chosen = self.args.folder / "bundles" / f"{self.name}.chosen.ftb"
        done = run(self.args.bin / "ft-translate", "--mlir-to-bundle", "--target=sm_90a", self.args.folder / "graphs" / (self.name + ".source.mlir"),
                   *self.types, "-o", chosen)
        if done.returncode:
            print(self.name, done.stderr[:300])
        lines = [dict(case=self.name, program=self.program, element=self.element, width=self.width, lengths=self.lengths,
                      what=what, bundle=bundle) for what, bundle in [("chosen", f"{self.name}.chosen"), *[(w, n) for w, n, _ in names]]]
        print(f"{self.name}: {len(names)} forms", flush=True)
        return lines


def prices_of(args, lines):
    """Of all forms of a case, at all its lengths, by one process."""
    graphs = [(args.folder / "graphs" / (line["bundle"] + ".mlir")).read_text() for line in lines]
    machine = f" machine={args.machine}" if args.machine else ""
    lengths = lines[0]["lengths"]
    passes = ",".join(f"etdg-price-for-gpu{{lengths={','.join(some)}{machine}}}" for some in lengths)
    joined = args.folder / "graphs" / (lines[0]["case"] + ".all.mlir")
    joined.write_text("// -----\n".join(graphs))
    done = run(args.bin / "ft-opt", joined, "--split-input-file", f"--pass-pipeline=builtin.module(etdg.graph({passes}))", "--remarks-filter=gpu.*",
               "--mlir-disable-threading", "-o", os.devnull)
    found = [float(price) for price in ALL.findall(done.stderr)]
    if len(found) != len(lines) * len(lengths):
        sys.exit(f"{lines[0]['case']}: {len(found)} prices: {done.stderr[:1000]}")
    return {line["bundle"]: {" ".join(some): found[i * len(lengths) + j] for j, some in enumerate(lengths)} for i, line in enumerate(lines)}


def price(args):
    lines, prices = json.loads((args.folder / "forms.json").read_text()), {}
    for case in dict.fromkeys(line["case"] for line in lines):
        if own := [line for line in lines if line["case"] == case and line["what"] != "chosen"]:
            prices.update(prices_of(args, own))
    (args.folder / "prices.json").write_text(json.dumps(prices, indent=1))


def pack(args):
    for folder in ("graphs", "bundles", "lib"):
        (args.folder / folder).mkdir(parents=True, exist_ok=True)
    for library in (args.bin.parent / "lib").glob("libFractalTensorRuntime.so*"):
        shutil.copy(library, args.folder / "lib", follow_symlinks=True)
    for script in ("peers.py", "programs.py", "runtime.py"):
        shutil.copy(ROOT / "benchmarks/peers" / script, args.folder)
    shutil.copy(ROOT / "benchmarks/peers/prices.py", args.folder / "time.py")
    only = args.only.split(",") if args.only else []
    packed = args.folder / "forms.json"
    lines = json.loads(packed.read_text()) if packed.exists() else []
    for line in args.cases.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            case = Case(line, args)
            if not only or case.program in only:
                lines = [one for one in lines if one["case"] != case.name] + case.pack()
                packed.write_text(json.dumps(lines, indent=1))
    if not args.only_pack:
        price(args)


def table(args):
    lines = json.loads((args.folder / "forms.json").read_text())
    times = json.loads(args.times.read_text())
    prices = json.loads((args.folder / "prices.json").read_text())
    wrong = 0
    for case in dict.fromkeys(line["case"] for line in lines):
        for lengths in next(line["lengths"] for line in lines if line["case"] == case):
            key = " ".join(lengths)
            own = [(line, times[line["bundle"]][key]) for line in lines
                   if line["case"] == case and times.get(line["bundle"], {}).get(key) is not None]
            forms = sorted(((line, t) for line, t in own if line["what"] != "chosen"), key=lambda entry: entry[1])
            chosen = next((t for line, t in own if line["what"] == "chosen"), None)
            if not forms:
                continue
            cheapest = min(forms, key=lambda entry: prices[entry[0]["bundle"]][key] or 1e30)
            loss = cheapest[1] / forms[0][1]
            wrong += loss > 1.1
            print(f"{case} {key}: chosen {chosen or 0:.0f}, cheapest by price {cheapest[1]:.0f} ({loss:.2f} of the fastest)")
            if args.all:
                for line, t in forms:
                    p = prices[line["bundle"]][key] or 0
                    print(f"    {t:9.1f} us  priced {p:9.1f}  {p / t:5.2f}  {line['bundle'].split('.')[-1]:>3} {line['what']}")
    print(wrong, "cases where the cheapest by price is more than a tenth slower than the fastest")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=("pack", "price", "table"))
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--cases", type=pathlib.Path, default=ROOT / "benchmarks/suites/prices.txt")
    parser.add_argument("--only", default="")
    parser.add_argument("--machine", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only-pack", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("times", type=pathlib.Path, nargs="?")
    args = parser.parse_args()
    {"pack": pack, "price": price, "table": table}[args.job](args)


if __name__ == "__main__":
    main()
