"""Mutants of blocks that are computed once: hoisted.py FT-OPT GRAPH prints what the validator says of each."""
import re, subprocess, sys

ft_opt, path = sys.argv[1:]
text = open(path).read()
PIPELINE = "builtin.module(etdg.graph(etdg-validate{reproducer=none}))"
block = re.search(r"    etdg\.block @r3_once \[.*?\n    } : [^\n]*\n", text, re.S).group(0)
buffer = re.search(r"writes \((%\w+)\[i, k\]\)", block).group(1)
DOMAIN = "[0, N) x [0, S) where D >= 1 and T >= 1"
assert DOMAIN in block, block
last = re.escape(buffer) + r"\[i, k\] : tensor"


def inside(old, new):
    assert old in block, old
    return text.replace(block, block.replace(old, new))


def region(name, new):
    head = re.search(r"      etdg\.block @%s \[.*?writes " % name, text, re.S).group(0)
    assert re.search(last, head), head
    return text.replace(head, re.sub(last, buffer.replace("\\", "") + new + " : tensor", head))


mutants = {
    "as it is": text,
    "first row lost": inside("x [0, S)", "x [1, S)"),
    "last row lost": inside("x [0, S)", "x [0, S - 1)"),
    "lost where there is one column": inside("T >= 1", "T >= 2"),
    "a row too many": inside("x [0, S)", "x [0, S + 1)"),
    "read at the column": region("r3", "[i, l]"),
    "read one row off": region("r2", "[i, k - 1]").replace(DOMAIN, "[0, N) x [1, S) where D >= 1 and T >= 1"),
    "written at another place": inside("writes (%s[i, k])" % buffer, "writes (%s[i, k + 1])" % buffer),
    "written by both": text.replace(block, block + block),
    "computed after its readers": text.replace(block, "").replace("    etdg.return", block + "    etdg.return"),
}
for name, mutant in mutants.items():
    done = subprocess.run([ft_opt, "-", "--pass-pipeline=" + PIPELINE, "-o", "/dev/null"], input=mutant, capture_output=True, text=True)
    rule = re.search(r"\(T\d+\)", done.stderr)
    print("%s: %s" % (name, "valid" if done.returncode == 0 else rule.group(0) if rule else done.stderr))
