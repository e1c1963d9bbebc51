# RUN: %python %s ft-translate %examples
#
# Depth, dimension, blocks, copies and bytes of every example, at its default
# lengths: nothing is materialised beyond what is listed here.

import json
import pathlib
import subprocess
import sys

FIELDS = ("depth", "dimension", "topLevelBlocks", "blocks", "copyBlocks")

# name: FIELDS, then bytes of internal buffers: all planes, live planes.
EXPECTED = {
    "attention_three_step": (3, 7, 1, 8, 1, 82944, 57600),
    "back_to_back_gemm": (3, 5, 1, 3, 1, 65536, 16384),
    "back_to_back_gemm_relu": (3, 5, 1, 3, 1, 65536, 16384),
    "bigbird": (4, 6, 2, 13, 1, 194353, 25387),
    "conv1d": (3, 5, 1, 3, 1, 768, 256),
    "dilated_lstm": (4, 5, 4, 26, 0, 92672, 92672),
    "dilated_rnn": (2, 4, 8, 8, 0, 245760, 245760),
    "flash_attention": (3, 7, 1, 3, 0, 33792, 8448),
    "flash_attention_causal": (3, 7, 1, 3, 0, 33792, 8448),
    "grid_rnn": (2, 6, 8, 8, 0, 0, 0),
    "gru": (3, 5, 2, 6, 0, 1024, 1024),
    "layer_norm": (2, 3, 1, 1, 0, 0, 0),
    "mamba": (3, 4, 2, 5, 0, 290816, 290816),
    "mlp": (3, 5, 1, 3, 0, 16384, 4096),
    "retention": (3, 6, 2, 5, 0, 43392, 43392),
    "rwkv": (4, 5, 1, 9, 2, 115456, 115456),
    "stacked_lstm": (3, 6, 4, 16, 0, 7168, 7168),
    "stacked_rnn": (2, 5, 4, 4, 0, 0, 0),
}


def figures(translate, path):
    text = subprocess.run([translate, "--etdg-to-json", path], check=True, capture_output=True, text=True).stdout
    (graph,) = json.loads(text)["graphs"]
    internal = tuple(graph["bytes"][key]["value"] for key in ("internal", "internalLive"))
    return tuple(graph[field] for field in FIELDS) + internal


def main(translate, folder):
    wrong = 0
    for path in sorted(pathlib.Path(folder).glob("*.mlir")):
        found, expected = figures(translate, path), EXPECTED.get(path.stem)
        if found != expected:
            print(f"{path.stem}: expected {expected}, found {found}")
            wrong += 1
    return wrong


sys.exit(1 if main(*sys.argv[1:]) else 0)
