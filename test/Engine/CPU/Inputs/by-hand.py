# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes schedules by hand, one thing at a time: each is obeyed, changes the code and gives equal results, or is refused
at its place.

Usage: by-hand.py FT-OPT FT-RUN EXAMPLES MACHINE TABLE

Lines of the table: `program, target: old => new: equal` or `...: refused: text of the error`. `old` is a regular
expression, of which the schedule has to have at least one (all are changed).
"""
import os, re, subprocess, sys, tempfile

ft_opt, ft_run, examples, machine, table = sys.argv[1:]
schedules = {}


def schedule(program, target):
    """The program as the phase `schedule` leaves it."""
    if (program, target) not in schedules:
        with open(os.path.join(examples, program + ".mlir")) as file:
            text = file.read()
        if not target.startswith("sm_"):  # one form of each nest
            text = re.sub(r"ft\.lengths = \{([^}]*)\}", lambda m: "ft.typical = {" + re.sub(r"= (\d+) : i64", r"= [\1, \1]", m[1]) + "}, " + m[0], text)
        done = subprocess.run([ft_opt, "-", "--ft-compile=to=schedule " + where(target)], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        schedules[program, target] = done.stdout
    return schedules[program, target]


def where(target):
    return "target=" + target if target.startswith("sm_") else "machine=" + machine


def emitted(path, target):
    """What the phases after `schedule` make of a file, without places in the source; and the errors, if they refuse it."""
    done = subprocess.run([ft_opt, path, "--ft-compile=from=schedule to=target " + where(target)], capture_output=True, text=True)
    return re.sub(r"#?loc\w*( = )?(\(.*\))?", "", done.stdout), done.stderr[:400] if done.returncode else ""


def check(folder, program, target, old, new, expected):
    """What is wrong, or nothing."""
    text = schedule(program, target)
    changed, count = re.subn(old, new, text)
    if count == 0 or changed == text:
        return "nothing to change"
    path = os.path.join(folder, "changed.mlir")
    with open(path, "w") as out:
        out.write(changed)
    if expected == "equal":
        before = os.path.join(folder, "before.mlir")
        with open(before, "w") as out:
            out.write(text)
        (code, errors), (other, refusal) = emitted(before, target), emitted(path, target)
        if errors or refusal:
            return errors or refusal
        if code == other:
            return "the same code"
    engine = ["--engine=emulate", "--target=" + target] if target.startswith("sm_") else ["--engine=cpu", "--threads=3"]
    done = subprocess.run([ft_run, path, *engine, "--compare=interpret"], capture_output=True, text=True)
    if expected == "equal":
        return "" if done.returncode == 0 and re.search("^equal$", done.stdout, re.M) else done.stderr[-400:] + done.stdout[-400:]
    wanted = expected.removeprefix("refused: ")
    if done.returncode == 0:
        return "not refused"
    first = re.search(r"changed\.mlir:\d+:\d+: error: .*", done.stderr)
    return "" if first and wanted in done.stderr else "expected a located error with '%s', found %s" % (wanted, done.stderr[-400:])


failures = number = 0
with tempfile.TemporaryDirectory() as folder:
    for line in open(table):
        match = re.fullmatch(r"// (\w+), (\w+): (.*) => (.*): (equal|refused: .*)\n", line)
        if not match:
            continue
        number += 1
        wrong = check(folder, *match.groups())
        if wrong:
            failures += 1
            print(line.strip(), "--", wrong)
print(number, "changes,", failures, "failures")
