# UNSUPPORTED: sanitized
# (A plugin with AddressSanitizer cannot be loaded by a program without it.)
# Every pass and pipeline that the sources define is reached by name in the distribution's own mlir-opt, does there what
# it does in ft-opt, and can be run again from a reproducer.
# RUN: %python %s %ft_src %ft_bin %ft_lib %llvm_bin %t | FileCheck %s
# CHECK: {{[1-9][0-9][0-9]}} passes and pipelines, each by its name and from a reproducer
import pathlib
import re
import shutil
import subprocess
import sys

source, tools, libraries, llvm, out = (pathlib.Path(argument) for argument in sys.argv[1:6])
shutil.rmtree(out, ignore_errors=True)  # an earlier run's files would hide that this one does not write them
out.mkdir(parents=True)
plugin = libraries / "FractalTensorPlugin.so"
sys.path.insert(0, str(source / "scripts"))
import structure  # noqa: E402  (which reads the same sources)

stock = [llvm / "mlir-opt", f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}"]


def run(command, *, fails=False):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if bool(done.returncode) != fails:
        sys.exit(f"{' '.join(map(str, command))}\ngave {done.returncode}: {done.stdout[:1000]}{done.stderr[:1000]}")
    return done.stderr if fails else done.stdout


def defined():
    """Names of passes, with the operation that each runs on, and of pipelines."""
    found = {name: {"etdg::GraphOp": "etdg.graph", "GraphOp": "etdg.graph", "func::FuncOp": "func.func"}.get(anchor, "")
             for name, _, anchor in structure.registered_passes()}
    for file in (source / "lib").rglob("*.cpp"):
        for name in re.findall(r"(?:PassPipelineRegistration<\w*>|registerPassPipeline)\(\s*\"([\w-]+)\"", file.read_text()):
            found[name] = ""
    return found


def registered(tool):
    """Names of all passes and pipelines that a tool has."""
    return set(re.findall(r"^ {6}--([a-z0-9-]+)", run([tool, "--help-hidden"]), re.M))


# What each runs on: an example after a phase ("" is the program itself), or a file; and its options.
INPUTS = {
    "convert-etdg-to-loops": ("7-storage", "machine=cpu"),
    "convert-linalg-to-etdg": ("tensors", ""),
    "convert-loops-to-cpu": ("8-tile", ""),
    "convert-scf-to-etdg": ("functions", ""),
    "convert-tile-to-nvvm": (source / "test/Conversion/TileToNVVM/product.mlir", ""),
    "convert-tssa-to-tensor": ("values", ""),
    "etdg-apply-schedule": ("4-reorder", ""),
    "etdg-choose-schedule": ("4-reorder", "machine=cpu"),
    "etdg-explore-dataflow": ("attention", "buffer=8000"),
    "etdg-merge-dims": (source / "test/Dialect/ETDG/Transforms/coarsen-merge-dims.mlir", ""),
    "etdg-price-for-gpu": ("stored", ""),
    "etdg-schedule-for-cpu": ("6-schedule", "machine=cpu"),
    "etdg-split-dim": (source / "test/Dialect/ETDG/Transforms/coarsen-merge-dims.mlir", "block=split dim=k size=4"),
    "etdg-storage": ("6-schedule", ""),
    "ft-dump-phase": ("2-etdg", f"phase=etdg folder={out}"),
    "ft-choose-leaf": ("leaf", ""),
    "ft-expand-math": ("scalars", ""),
    "ft-generate-leaf": ("chosen", ""),
    "ft-half-memory": ("lowered", ""),
    "ft-leaf-to-llvm": ("generated", ""),
    "ft-skip-phase": ("2-etdg", "phase=tile"),
    "ft-verify-phase": ("2-etdg", "phase=etdg"),
    "loops-choose-layouts": ("grids", ""),
    "loops-choose-guards": ("8-tile", ""),
    "loops-choose-row-loops": ("8-tile", ""),
    "loops-choose-tasks": ("grids", ""),
    "loops-choose-tiles": ("8-tile", "vector-bytes=32 vector-registers=16"),
    "loops-find-alignment": ("grids", ""),
    "loops-lower-leaves": ("threads", ""),
    "loops-place-memory": ("dealt", ""),
    "loops-place-scratch": ("8-tile", ""),
    "loops-vectorize-leaves": ("8-tile", ""),
    "tile-expand-math": ("scalars", ""),
    "tssa-functionalize": ("views", ""),
    "tssa-print-aliases": ("views", ""),
}

(out / "functions.mlir").write_text("""func.func @loop(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> (tensor<8x4xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    %e = math.exp %s : tensor<4xf32>
    %n = tensor.insert_slice %e into %a[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
    scf.yield %n : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}
""")
(out / "tensors.mlir").write_text("""func.func @row(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = math.exp %x : tensor<8x4xf32>
  return %e : tensor<8x4xf32>
}
""")
(out / "scalars.mlir").write_text("""func.func @one(%x: f32) -> f32 {
  %e = math.exp %x : f32
  return %e : f32
}
""")
(out / "leaf.mlir").write_text("""func.func private @leaf(%x: tensor<4xf32>) -> tensor<4xf32> attributes {ft.leaf} {
  %e = math.exp %x : tensor<4xf32>
  return %e : tensor<4xf32>
}
""")
(out / "views.mlir").write_text("""func.func @double(%b: !tssa.tensor<8x4xf32>, %i: index) {
  %v = tssa.view %b[select(0, %i)] : !tssa.tensor<8x4xf32> -> !tssa.tensor<4xf32>
  %0 = tssa.read %v : !tssa.tensor<4xf32>
  %1 = arith.addf %0, %0 : tensor<4xf32>
  tssa.mutate %v, %1 : !tssa.tensor<4xf32>, tensor<4xf32>
  return
}
""")
run([tools / "ft-opt", source / "examples/attention_three_step.mlir", "--ft-compile=to=etdg", "-o", out / "attention.mlir"])


def make(name, before, pipeline):
    run([tools / "ft-opt", out / f"{before}.mlir", f"--pass-pipeline=builtin.module({pipeline})", "-o", out / f"{name}.mlir"])


make("values", "views", "tssa-functionalize")
make("chosen", "leaf", "ft-choose-leaf")
make("generated", "chosen", "ft-generate-leaf")
make("lowered", "generated", "ft-leaf-to-llvm")
example = source / "examples/stacked_rnn.mlir"
run([tools / "ft-opt", example, f"--ft-compile=dump={out}", "-o", "/dev/null"])
make("threads", "8-tile", "convert-loops-to-cpu")
run([tools / "ft-opt", example, "--ft-compile=to=storage target=sm_90a", "-o", out / "stored.mlir"])
make("grids", "stored", "convert-etdg-to-loops{target=sm_90a}")
make("dealt", "grids", "loops-choose-layouts,loops-choose-tasks")


def text_of(name, anchor, options):
    step = f"{name}{{{options}}}" if options else name
    return f"builtin.module({anchor}({step}))" if anchor else f"builtin.module({step})"


def check(file, pipeline, label):
    """In mlir-opt as in ft-opt; and again from a reproducer, in both."""
    again = out / f"{label}.again.mlir"
    expected = run([tools / "ft-opt", file, f"--pass-pipeline={pipeline}"])
    found = run([*stock, file, f"--pass-pipeline={pipeline}", f"--mlir-generate-reproducer={again}"])
    if found != expected:
        sys.exit(f"{pipeline}: mlir-opt and ft-opt differ")
    # (mlir-opt writes it with the program as it is afterwards.)
    again.write_text(pathlib.Path(file).read_text() + again.read_text()[again.read_text().index("{-#"):])
    for command in ([*stock, again, "--run-reproducer"], [tools / "ft-opt", again, "--run-reproducer"]):
        if run(command).split("{-#")[0].strip() != expected.strip():
            sys.exit(f"{pipeline}: its reproducer gives something else")


passes = defined()
if wrong := passes.keys() ^ (registered(tools / "ft-opt") - registered(llvm / "mlir-opt")):
    sys.exit(f"what the sources define and what ft-opt has differ in {sorted(wrong)}")
for name, anchor in sorted(passes.items()):
    if name in ("ft-compile", "ft-check-compile-options"):
        continue  # below
    phase, options = INPUTS.get(name, ("2-etdg" if name.startswith("etdg") else "", ""))
    file = example if not phase else phase if isinstance(phase, pathlib.Path) else out / f"{phase}.mlir"
    check(file, text_of(name, anchor, options), name)

for label, options in {"cpu": "target=cpu", "gpu": "target=sm_90a to=storage", "proofs": "to=reorder verify-each",
                       "unproved": "to=storage validate=off", "less": "skip=reorder,storage"}.items():
    check(example, f"builtin.module(ft-compile{{{options}}})", label)

# What fails fails again, with the same words. A reproducer that begins between two phases still knows what the graph
# was called with before.
for label, file, pipeline in (
    ("contract", example, "ft-verify-phase{phase=etdg}"),
    ("options", example, "ft-compile{from=etdg to=ft}"),
    ("skip", example, "ft-compile{skip=reorder,etdg machine=cpu}"),
):
    again = out / f"{label}.mlir"
    first = run([*stock, file, f"--pass-pipeline=builtin.module({pipeline})",
                 f"--mlir-pass-pipeline-crash-reproducer={again}", "--mlir-disable-threading"], fails=True)
    second = run([*stock, again, "--run-reproducer"], fails=True)
    told = re.search(r"error: (.*)", first).group(1)
    if f"error: {told}" not in second:
        sys.exit(f"{label}: expected '{told}' again, found {second}")

snapshots = run([tools / "ft-opt", out / "2-etdg.mlir", "--pass-pipeline=builtin.module(etdg-take-snapshots)"])
lost = out / "lost.mlir"
lost.write_text(snapshots.replace("@stacked_rnn", "@renamed"))
again = out / "lost.again.mlir"
run([*stock, lost, "--pass-pipeline=builtin.module(etdg-validate-phase{phase=coarsen})",
     f"--mlir-pass-pipeline-crash-reproducer={again}", "--mlir-disable-threading",
     "--mlir-pass-pipeline-local-reproducer"], fails=True)
if "after phase 'coarsen': (T9) the graph 'stacked_rnn' is gone" not in run([*stock, again, "--run-reproducer"], fails=True):
    sys.exit("a reproducer has forgotten what graphs were called with")

print(f"{len(passes)} passes and pipelines, each by its name and from a reproducer")
