#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the examples and prints one table; called by demo.sh.

Each example is one process of ft-run, which compares with the interpreter and
prints what it measured as JSON, so one that crashes or hangs costs one row.
"""

import argparse
import json
import pathlib
import platform
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def last_json(text):
    """The last JSON object of the output, which may hold other lines before it."""
    decoder = json.JSONDecoder()
    position = len(text)
    while (position := text.rfind("\n{", 0, position)) >= 0 or text.startswith("{"):
        start = position + 1 if position >= 0 else 0
        try:
            value, _ = decoder.raw_decode(text[start:])
            if isinstance(value, dict):
                return value
        except ValueError:
            pass
        if position < 0:
            break
    return None


def run(example, engine, timeout, extra):
    command = [
        str(ROOT / "build/bin/ft-run"),
        str(example.relative_to(ROOT)),
        f"--engine={engine}",
        "--compare=interpret",
        "--bench",
        "--json",
        *extra,
    ]
    start = time.monotonic()
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout)
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        status, out, err = -1, "", f"no result after {timeout} s"
    except OSError as problem:
        status, out, err = -1, "", str(problem)
    if status < 0 and not err.strip():
        err = f"ended by signal {-status}"
    return {
        "name": example.stem,
        "command": " ".join(["build/bin/ft-run", *command[1:]]),
        "ok": status == 0,
        "wall_s": time.monotonic() - start,
        "measured": last_json(out) or {},
        "error": err.strip(),
    }


def number(value, spec):
    return format(value, spec) if isinstance(value, (int, float)) else "-"


# Floating-point operations of the matrix products at the element types that the
# examples have, from their lengths: what the last column divides by the time.
W = 2 * 64 * 64  # a row of 64 times a 64 x 64 matrix
TILE = 2 * 32 * 32 * 64  # 32 queries, 32 keys, width 64; twice in attention
FLOP = {
    "stacked_rnn": lambda N, D, L: N * D * L * W,
    "stacked_lstm": lambda N, D, L: N * D * L * 8 * W,
    "grid_rnn": lambda N, D, S, T: N * D * S * T * 4 * W,
    "dilated_rnn": lambda N, L: N * L * 4 * 2 * W,
    "dilated_lstm": lambda N, L: N * L * 3 * 8 * W,
    "gru": lambda N, L: N * L * 6 * W,
    "back_to_back_gemm": lambda M, N: M * N * 2 * 64 * W,
    "back_to_back_gemm_relu": lambda M, N: M * N * 2 * 64 * W,
    "conv1d": lambda N, L: N * L * 3 * W,
    "mlp": lambda N, F: N * F * 2 * 16 * W,
    "flash_attention": lambda B, H, Q, K: B * H * Q * K * 2 * TILE,
    "attention_three_step": lambda B, H, Q, K: B * H * Q * K * 2 * TILE,
    "flash_attention_causal": lambda B, H, L: B * H * L * L * 2 * TILE,
    "bigbird": lambda B, L, R: B * (2 * L + (L - 2) * (R + 5)) * 2 * TILE,
    "mamba": lambda N, L: N * L * (W + 3 * 2 * 64 * 16),
    "retention": lambda N, H, L: N * H * L * 2 * (2 * 16 * 16 * 32 + 2 * 16 * 32 * 32),
    "rwkv": lambda N, L: N * L * 4 * W,
}


def gflops(row):
    m = row["measured"]
    try:
        return FLOP[row["name"]](**m["lengths"]) / m["run_seconds"] / 1e9
    except (KeyError, TypeError, ZeroDivisionError):
        return None


def cells(row):
    m = row["measured"]
    errors = [c.get("max_error") for c in m.get("comparisons", [])]
    errors = [e for e in errors if isinstance(e, (int, float))]
    milliseconds = lambda key: m[key] * 1000 if isinstance(m.get(key), (int, float)) else None
    return [
        row["name"],
        str(m.get("engine", "-")),
        "ok" if row["ok"] else "FAIL",
        number(milliseconds("compile_seconds"), ".1f"),
        number(milliseconds("run_seconds"), ".3f"),
        number(max(errors) if errors else None, ".1e"),
        number(gflops(row), ".2f"),
    ]


HEADER = ["example", "engine", "result", "compile ms", "run ms", "max error", "GFLOP/s"]


def table(rows):
    lines = [HEADER] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
    for n, line in enumerate(lines):
        text = [c.ljust(w) if i < 3 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))]
        print("  ".join(text).rstrip())
        if n == 0:
            print("-" * (sum(widths) + 2 * (len(widths) - 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="examples to run (default: all)")
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--timeout", type=float, default=1800)
    parser.add_argument("--as-tests", action="store_true", help="print one summary line for test.sh")
    parser.add_argument("--report", default=str(ROOT / "build/report.html"))
    options = parser.parse_args()

    examples = sorted((ROOT / "examples").glob("*.mlir"))
    if options.names:
        wanted = {pathlib.Path(name).stem for name in options.names}
        unknown = wanted - {example.stem for example in examples}
        if unknown:
            sys.exit(f"no such example: {', '.join(sorted(unknown))}")
        examples = [example for example in examples if example.stem in wanted]
    if not examples:
        sys.exit("examples/ holds no program")

    start = time.monotonic()
    rows = []
    for example in examples:
        row = run(example, options.engine, options.timeout, [])
        rows.append(row)
        if sys.stderr.isatty():
            print(f"\r{len(rows)}/{len(examples)} {row['name']:<30}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r" + " " * 50 + "\r", end="", file=sys.stderr)

    table(rows)
    failed = [row for row in rows if not row["ok"]]
    for row in failed:
        first = "\n  ".join(row["error"].splitlines()[:12]) or "no message"
        print(f"\n{row['name']}: {row['command']}\n  {first}")
    print(f"\n{len(rows) - len(failed)} of {len(rows)} ok, {time.monotonic() - start:.0f} s")
    if not options.as_tests:
        command = [sys.executable, str(ROOT / "scripts/report.py"), "--out", options.report, *map(str, examples)]
        if subprocess.run(command).returncode and not failed:
            return 1
    if options.as_tests:
        print(f"examples: {len(rows) - len(failed)} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
