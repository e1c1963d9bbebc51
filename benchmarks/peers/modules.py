# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules and whole models in plain PyTorch, at any size: those of Souffle's evaluation (ASPLOS'24, Table 2 and Figure 6).

Inference alone: no dropout, and batch norms take their running values. A class says where its structure comes from.
"""

import torch
import torch.nn.functional as F
from torch import nn


class BertLayer(nn.Module):
    """A layer of BERT: self-attention and a feed-forward network, each with a residual and a norm after it."""

    def __init__(self, width=768, heads=12, inner=3072):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.last_norm = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, x.shape[2] // self.heads).transpose(1, 2)

    def attend(self, x):
        seen = F.scaled_dot_product_attention(self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x)))
        return self.norm(self.out(seen.transpose(1, 2).reshape(x.shape)) + x)

    def forward(self, x):
        x = self.attend(x)
        return self.last_norm(self.down(F.gelu(self.up(x))) + x)


class BertAttention(BertLayer):
    """The first half of a layer, Souffle's motivating example (Figure 1)."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        del self.up, self.down, self.last_norm

    def forward(self, x):
        return self.attend(x)


class Bert(nn.Module):
    """Embeddings of words, positions and one kind of token, and layers (BERT-base: 12)."""

    def __init__(self, layers=12, width=768, heads=12, inner=3072, words=30522, longest=512):
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(words, width), nn.Embedding(longest, width), nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(BertLayer(width, heads, inner) for _ in range(layers))

    def forward(self, ids):
        x = self.words(ids) + self.places.weight[: ids.shape[1]] + self.kinds.weight[0]
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x)
        return x


class Bottleneck(nn.Module):
    """A block of ResNet or ResNeXt: 1x1, 3x3 (in groups) and 1x1 convolutions, and the input added, itself or through a convolution."""

    def __init__(self, channels=256, inner=64, outer=None, groups=1, stride=1):
        super().__init__()
        outer = outer or channels
        self.reduce = nn.Conv2d(channels, inner, 1, bias=False)
        self.conv = nn.Conv2d(inner, inner, 3, stride, 1, groups=groups, bias=False)
        self.expand = nn.Conv2d(inner, outer, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(n) for n in (inner, inner, outer))
        same = channels == outer and stride == 1
        self.shortcut = nn.Identity() if same else nn.Sequential(nn.Conv2d(channels, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        y = F.relu(self.norms[0](self.reduce(x)))
        y = F.relu(self.norms[1](self.conv(y)))
        return F.relu(self.norms[2](self.expand(y)) + self.shortcut(x))


class ResNext(nn.Module):
    """ResNeXt-101 of 64 groups of 4 channels: a stem, 3, 4, 23 and 3 blocks, and a head."""

    def __init__(self, blocks=(3, 4, 23, 3), groups=64, width=256, classes=1000):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        stages, channels = [], 64
        for stage, count in enumerate(blocks):
            inner, outer = width << stage, 256 << stage
            for block in range(count):
                stages.append(Bottleneck(channels, inner, outer, groups, 2 if stage and not block else 1))
                channels = outer
        self.blocks, self.head = nn.Sequential(*stages), nn.Linear(channels, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.stem(x))), 3, 2, 1)
        return self.head(F.adaptive_avg_pool2d(self.blocks(x), 1).flatten(1))


class Squeeze(nn.Module):
    """Squeeze and excite: a mean over all pixels, two 1x1 convolutions, and the input times the result (Figure 6's module; the artefact adds)."""

    def __init__(self, channels, inner):
        super().__init__()
        self.squeeze, self.excite = nn.Conv2d(channels, inner, 1), nn.Conv2d(inner, channels, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.excite(F.silu(self.squeeze(F.adaptive_avg_pool2d(x, 1)))))


class MBConv(nn.Module):
    """An inverted bottleneck of EfficientNet: expand, depthwise, squeeze and excite, project, and the input added where shapes agree."""

    def __init__(self, channels=24, inner=144, squeezed=6, outer=None, kernel=3, stride=1):
        super().__init__()
        outer = outer or channels
        self.expand = nn.Conv2d(channels, inner, 1, bias=False) if inner != channels else None
        self.depthwise = nn.Conv2d(inner, inner, kernel, stride, kernel // 2, groups=inner, bias=False)
        self.gate = Squeeze(inner, squeezed)
        self.project = nn.Conv2d(inner, outer, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(n) for n in (*([inner] if self.expand else []), inner, outer))
        self.adds = channels == outer and stride == 1

    def forward(self, x):
        norms = iter(self.norms)
        y = x if self.expand is None else F.silu(next(norms)(self.expand(x)))
        y = self.gate(F.silu(next(norms)(self.depthwise(y))))
        y = next(norms)(self.project(y))
        return y + x if self.adds else y


class EfficientNet(nn.Module):
    """EfficientNet-B0 (Tan and Le, Table 1)."""

    #: Expansion, channels, blocks, stride and kernel of each stage.
    STAGES = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3))

    def __init__(self, classes=1000):
        super().__init__()
        self.stem, self.stem_norm = nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32)
        blocks, channels = [], 32
        for expansion, outer, count, stride, kernel in self.STAGES:
            for block in range(count):
                blocks.append(MBConv(channels, channels * expansion, max(1, channels // 4), outer, kernel, 1 if block else stride))
                channels = outer
        self.blocks = nn.Sequential(*blocks)
        self.last, self.last_norm, self.head = nn.Conv2d(channels, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.Linear(1280, classes)

    def forward(self, x):
        x = self.blocks(F.silu(self.stem_norm(self.stem(x))))
        return self.head(F.adaptive_avg_pool2d(F.silu(self.last_norm(self.last(x))), 1).flatten(1))


class SwinBlock(nn.Module):
    """Attention in windows, shifted or not, with a table of biases by relative position, and a feed-forward network (Swin, §3)."""

    def __init__(self, size=56, window=7, shift=3, width=128, heads=4):
        super().__init__()
        self.size, self.window, self.shift, self.heads = size, window, shift, heads
        self.norm, self.last_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.bias_table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads, generator=torch.Generator().manual_seed(3)))
        at = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        apart = (at[:, :, None] - at[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer("bias_index", apart[..., 0] * (2 * window - 1) + apart[..., 1], persistent=False)
        self.register_buffer("mask", self._mask() if shift else None, persistent=False)

    def _mask(self):
        regions = torch.zeros(1, self.size, self.size, 1)
        ends = (slice(0, -self.window), slice(-self.window, -self.shift), slice(-self.shift, None))
        for i, rows in enumerate(ends):
            for j, columns in enumerate(ends):
                regions[:, rows, columns, :] = 3 * i + j
        own = self._windows(regions).squeeze(-1)
        return (own[:, None, :] != own[:, :, None]).float() * -100.0

    def _windows(self, x):
        n, h, w, c = x.shape
        k = self.window
        return x.view(n, h // k, k, w // k, k, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, k * k, c)

    def _attend(self, x):
        n, h, w, c = x.shape
        k = self.window
        y = self._windows(x)
        windows, length, _ = y.shape
        q, key, v = self.qkv(y).reshape(windows, length, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q * (c // self.heads) ** -0.5 @ key.transpose(-2, -1)
        scores = scores + self.bias_table[self.bias_index.view(-1)].view(length, length, -1).permute(2, 0, 1).unsqueeze(0)
        if self.mask is not None:
            scores = scores.view(n, windows // n, self.heads, length, length) + self.mask.to(x.dtype)[None, :, None]
        seen = scores.view(-1, self.heads, length, length).softmax(-1) @ v
        return self.out(seen.transpose(1, 2).reshape(windows, length, c)).view(n, h // k, w // k, k, k, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)

    def forward(self, x):
        y = self.norm(x)
        if self.shift:
            y = torch.roll(self._attend(torch.roll(y, (-self.shift, -self.shift), (1, 2))), (self.shift, self.shift), (1, 2))
        else:
            y = self._attend(y)
        x = x + y
        return x + self.down(F.gelu(self.up(self.last_norm(x))))


class PatchMerging(nn.Module):
    """Four neighbours side by side, a norm, and half of their channels."""

    def __init__(self, width):
        super().__init__()
        self.norm, self.reduce = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        parts = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
        return self.reduce(self.norm(torch.cat(parts, -1)))


class Swin(nn.Module):
    """Swin-B: patches of 4x4, and stages of 2, 2, 18 and 2 blocks of windows of 7x7."""

    def __init__(self, size=224, patch=4, width=128, depths=(2, 2, 18, 2), heads=(4, 8, 16, 32), window=7, classes=1000):
        super().__init__()
        self.patches, self.norm = nn.Conv2d(3, width, patch, patch), nn.LayerNorm(width)
        stages, size = [], size // patch
        for stage, (depth, count) in enumerate(zip(depths, heads)):
            if stage:
                stages.append(PatchMerging(width))
                width, size = 2 * width, size // 2
            stages += [SwinBlock(size, window, window // 2 if block % 2 and size > window else 0, width, count) for block in range(depth)]
        self.stages, self.last, self.head = nn.Sequential(*stages), nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.norm(self.patches(x).permute(0, 2, 3, 1))
        return self.head(self.last(self.stages(x)).mean((1, 2)))


class Dense(nn.Module):
    """Layers of 3x3 convolutions that see all before them (DenseNet)."""

    def __init__(self, channels=64, growth=32, layers=3):
        super().__init__()
        widths = [channels + i * growth for i in range(layers)]
        self.layers = nn.ModuleList(nn.Sequential(nn.BatchNorm2d(n), nn.ReLU(), nn.Conv2d(n, growth, 3, padding=1, bias=False)) for n in widths)

    def forward(self, x):
        found = [x]
        for layer in self.layers:
            found.append(layer(torch.cat(found, 1)))
        return torch.cat(found, 1)


class Mmoe(nn.Module):
    """A mixture of experts for several tasks: experts, and for each task a gate that mixes them (100 features, 8 experts of 16, 2 tasks)."""

    def __init__(self, inputs=100, experts=8, units=16, tasks=2):
        super().__init__()
        self.experts = nn.Parameter(torch.randn(experts, inputs, units))
        self.shifts = nn.Parameter(torch.randn(experts, 1, units))
        self.gates = nn.ModuleList(nn.Linear(inputs, experts) for _ in range(tasks))

    def forward(self, x):
        found = torch.relu(torch.matmul(x, self.experts) + self.shifts)
        return tuple((torch.softmax(gate(x), -1).t().unsqueeze(-1) * found).sum(0) for gate in self.gates)


class Lstm(nn.Module):
    """Layers of an LSTM, all of their steps (100 steps, 10 layers, 256 units)."""

    def __init__(self, width=256, units=256, layers=10):
        super().__init__()
        self.cells = nn.LSTM(width, units, layers)

    def forward(self, x):
        return self.cells(x)[0]


class Mlp(nn.Module):
    """Three linear layers with GELU between them."""

    def __init__(self, width=1024, inner=4096):
        super().__init__()
        self.one, self.two, self.three = nn.Linear(width, inner), nn.Linear(inner, inner), nn.Linear(inner, width)

    def forward(self, x):
        return self.three(F.gelu(self.two(F.gelu(self.one(x)))))


def draw_weights(module, seed=1):
    """Weights with which the results of every layer are of the size of 1, and none has no effect."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in [*module.named_parameters(), *module.named_buffers()]:
            if not value.is_floating_point() or name.endswith(("mask", "table")):
                continue
            random = torch.randn(value.shape, generator=draw, dtype=torch.float64)
            if value.dim() > 1 and "embed" not in name and not name.startswith(("words", "places", "kinds")):
                value.copy_(random / value[0].numel() ** 0.5)
            elif name.endswith("running_var"):
                value.copy_(0.5 + random.abs())
            elif name.endswith("weight") and value.dim() == 1:
                value.copy_(1 + 0.25 * random)
            else:
                value.copy_(0.25 * random)
    return module
