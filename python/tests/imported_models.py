# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models in plain PyTorch at small sizes, as `torch.export` takes them: test_imported.py compares them with PyTorch."""

import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks/peers"))
from modules import Mmoe, SwinBlock  # noqa: E402


def draw_weights(module, seed=1):
    """Weights with which every branch counts: no bias is zero, norms scale and shift, and activations keep the size of 1."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in [*module.named_parameters(), *module.named_buffers()]:
            if not value.is_floating_point() or name.endswith(("mask", "table")):
                continue
            random = torch.randn(value.shape, generator=draw, dtype=torch.float64)
            if value.dim() > 1:
                value.copy_(random / value[0].numel() ** 0.5)
            elif name.endswith("running_var"):
                value.copy_(0.5 + random.abs())
            else:
                value.copy_((1 if name.endswith("weight") else 0) + 0.25 * random)
    return module.eval()


# -- attention ----------------------------------------------------------------------------------------------------------


class Attention(nn.Module):
    def __init__(self, width, heads, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(seen.transpose(1, 2).reshape(n, length, width))


class BertLayer(nn.Module):
    """Norms after the residuals, as BERT has them; embeddings with positions from a buffer that no checkpoint holds."""

    def __init__(self, width=24, heads=3, inner=40, words=31, most=16):
        super().__init__()
        self.heads = heads
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(most, width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.last_norm = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.register_buffer("position_ids", torch.arange(most), persistent=False)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, ids):
        x = self.words(ids) + self.places(self.position_ids[: ids.shape[1]])
        seen = F.scaled_dot_product_attention(self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x)))
        x = self.norm(self.out(seen.transpose(1, 2).reshape(x.shape)) + x)
        return self.last_norm(self.down(F.gelu(self.up(x))) + x)


class Vit(nn.Module):
    """Patches, a class token, two layers with norms before, and a head."""

    def __init__(self, width=12, heads=2, patch=3, size=9, classes=5):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, width))
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, heads, 2 * width, 0.1, F.gelu, batch_first=True, norm_first=True) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


class Gpt2(nn.Module):
    """Causal attention over a prefix; returns keys and values of every layer beside the scores."""

    def __init__(self, width=12, heads=3, layers=2, words=19, most=16):
        super().__init__()
        self.heads = heads
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(most, width)
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"one": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width), "out": nn.Linear(width, width), "two": nn.LayerNorm(width),
                           "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)})
            for _ in range(layers)
        )  # fmt: skip
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, ids):
        n, length = ids.shape
        x = self.words(ids) + self.places(torch.arange(length))
        kept = []
        for block in self.blocks:
            q, k, v = (y.view(n, length, self.heads, -1).transpose(1, 2) for y in block["qkv"](block["one"](x)).chunk(3, -1))
            kept.append((k, v))
            scores = q @ k.transpose(-2, -1) / (k.shape[-1] ** 0.5)
            seen = torch.ones(length, length, dtype=torch.bool).tril()
            scores = scores.masked_fill(~seen, float("-inf")).softmax(-1)
            x = x + block["out"]((scores @ v).transpose(1, 2).reshape(n, length, -1))
            x = x + block["down"](F.gelu(block["up"](block["two"](x)), approximate="tanh"))
        return {"logits": self.head(self.last(x)), "past": kept}


# -- convolutions ---------------------------------------------------------------------------------------------------------


class Bottleneck(nn.Module):
    """A block of ResNeXt: 1x1, grouped 3x3 and 1x1, and a shortcut of its own."""

    def __init__(self, channels=12, inner=8, groups=4, stride=2):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
            nn.Conv2d(inner, inner, 3, stride, 1, groups=groups, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
            nn.Conv2d(inner, 2 * channels, 1, bias=False), nn.BatchNorm2d(2 * channels),
        )  # fmt: skip
        self.shortcut = nn.Sequential(nn.Conv2d(channels, 2 * channels, 1, stride, bias=False), nn.BatchNorm2d(2 * channels))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


class Resnext(nn.Module):
    """A stem with a pooled window, two blocks, and a head."""

    def __init__(self, classes=5):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 12, 7, 2, 3, bias=False), nn.BatchNorm2d(12)
        self.blocks = nn.Sequential(Bottleneck(12), Bottleneck(24, groups=2, stride=1))
        self.head = nn.Linear(48, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.stem(x))), 3, 2, 1)
        return self.head(F.adaptive_avg_pool2d(self.blocks(x), 1).flatten(1))


class Squeeze(nn.Module):
    def __init__(self, channels, inner, gate=torch.sigmoid, act=F.silu):
        super().__init__()
        self.down, self.up, self.gate, self.act = nn.Conv2d(channels, inner, 1), nn.Conv2d(inner, channels, 1), gate, act

    def forward(self, x):
        return x * self.gate(self.up(self.act(self.down(x.mean((2, 3), keepdim=True)))))


class Mbconv(nn.Module):
    """Expansion, a depthwise convolution, squeeze-and-excitation, projection, and a residual."""

    def __init__(self, channels=6, expanded=18, kernel=5, act=nn.SiLU, gate=torch.sigmoid):
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(channels, expanded, 1, bias=False), nn.BatchNorm2d(expanded), act())
        self.depthwise = nn.Sequential(nn.Conv2d(expanded, expanded, kernel, 1, kernel // 2, groups=expanded, bias=False), nn.BatchNorm2d(expanded), act())
        self.squeeze = Squeeze(expanded, 4, gate)
        self.project = nn.Sequential(nn.Conv2d(expanded, channels, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return x + self.project(self.squeeze(self.depthwise(self.expand(x))))


class ConvNext(nn.Module):
    """Depthwise 7x7, a norm over channels last, a scaled residual."""

    def __init__(self, width=8):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm, self.up, self.down = nn.LayerNorm(width, eps=1e-6), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.randn(width))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.down(F.gelu(self.up(y)))).permute(0, 3, 1, 2)


class Dense(nn.Module):
    """Layers that see all before them, and a transition."""

    def __init__(self, channels=6, growth=4, layers=3):
        super().__init__()
        wide = [channels + i * growth for i in range(layers)]
        self.layers = nn.ModuleList(nn.Sequential(nn.BatchNorm2d(n), nn.ReLU(), nn.Conv2d(n, growth, 3, padding=1, bias=False)) for n in wide)
        self.norm, self.conv = nn.BatchNorm2d(wide[-1] + growth), nn.Conv2d(wide[-1] + growth, 5, 1, bias=False)

    def forward(self, x):
        found = [x]
        for layer in self.layers:
            found.append(layer(torch.cat(found, 1)))
        return F.avg_pool2d(self.conv(F.relu(self.norm(torch.cat(found, 1)))), 2)


class Unet(nn.Module):
    """Down by a pooled window, up by an upsampling and by a transposed convolution, with a skip."""

    def __init__(self, channels=4):
        super().__init__()
        self.first, self.inner = nn.Conv2d(3, channels, 3, padding=1), nn.Conv2d(channels, 2 * channels, 3, padding=1)
        self.deep = nn.Conv2d(2 * channels, 2 * channels, 3, padding=1)
        self.up, self.norm = nn.ConvTranspose2d(2 * channels, channels, 2, 2), nn.GroupNorm(2, channels)
        self.last = nn.Conv2d(2 * channels, 2, 1)

    def forward(self, x):
        first = F.relu(self.first(x))
        inner = F.relu(self.inner(F.max_pool2d(first, 2)))
        deep = F.interpolate(F.leaky_relu(self.deep(F.max_pool2d(inner, 2)), 0.1), scale_factor=2, mode="nearest")
        return self.last(torch.cat([first, self.norm(self.up(inner + deep))], 1))


# -- others -----------------------------------------------------------------------------------------------------------------


class Recurrent(nn.Module):
    """Layers of steps, and what they end with."""

    def __init__(self, kind=nn.LSTM, inputs=5, **options):
        super().__init__()
        self.cells = kind(inputs, 7, **options)

    def forward(self, x):
        return self.cells(x)


def _pixels(*shape):
    return (torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64),)


def _ids(words, *shape):
    return (torch.randint(0, words, shape, generator=torch.Generator().manual_seed(2)),)


#: The models of a module and its arguments, in float64 where they have a fraction.
MODELS = {
    "bert": (BertLayer, _ids(31, 2, 7)),
    "resnext": (Resnext, _pixels(2, 3, 33, 33)),
    "bottleneck": (Bottleneck, _pixels(1, 12, 7, 7)),
    "mbconv": (Mbconv, _pixels(1, 6, 7, 7)),
    "swin": (lambda: SwinBlock(6, 3, 1, 12, 2), _pixels(2, 6, 6, 12)),
    "mmoe": (lambda: Mmoe(13, 3, 5, 2), _pixels(3, 13)),
    "lstm": (lambda: Recurrent(num_layers=3), _pixels(11, 2, 5)),
    # Others, so that what is there for those above is there for its kind.
    "bilstm": (lambda: Recurrent(num_layers=2, bidirectional=True, batch_first=True), _pixels(2, 5, 5)),
    "gru": (lambda: Recurrent(nn.GRU, num_layers=2), _pixels(7, 3, 5)),
    # Layers of equal sizes, from the first one on: one loop over layers around the loop over steps.
    "equal_lstm": (lambda: Recurrent(inputs=7, num_layers=4), _pixels(5, 2, 7)),
    "equal_gru": (lambda: Recurrent(nn.GRU, inputs=7, num_layers=3), _pixels(1, 1, 7)),
    "vit": (Vit, _pixels(2, 3, 9, 9)),
    "gpt2": (Gpt2, _ids(19, 1, 7)),
    "convnext": (ConvNext, _pixels(1, 8, 7, 5)),
    "mobilenet": (lambda: Mbconv(act=nn.Hardswish, gate=F.hardsigmoid, kernel=3), _pixels(1, 6, 7, 7)),
    "regnet": (lambda: nn.Sequential(Bottleneck(groups=2, stride=1), Squeeze(24, 3, act=F.relu), nn.AdaptiveAvgPool2d((2, 3))), _pixels(1, 12, 5, 7)),
    "densenet": (Dense, _pixels(1, 6, 6, 6)),
    "unet": (Unet, _pixels(1, 3, 8, 12)),
    "encoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12, batch_first=True), 1), _pixels(2, 5, 8)),
}  # fmt: skip


def make(name, dtype=torch.float32):
    """A model with drawn weights, and its arguments."""
    kind, args = MODELS[name]
    module = draw_weights(kind()).to(dtype)
    return module, tuple(x.to(dtype) if x.is_floating_point() else x for x in args)
