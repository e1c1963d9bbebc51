# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imperative programs of PyTorch as people write them, with their inputs: networks that write their states row by row, a
decoder that ends on data, detection heads. Sizes are odd on purpose. Each name has a changed version, too.
"""

import script_tails
import torch
import torch.nn.functional as F  # noqa: N812


def nasrnn(x, wi, wh, c, m):
    for i in range(x.shape[0]):
        a = torch.matmul(x[i], wi) + torch.matmul(m, wh)
        l0, l1, l2, l3 = torch.sigmoid(a[0]), torch.relu(a[1]), torch.sigmoid(a[2]), torch.relu(a[3])
        l4, l5, l6, l7 = torch.tanh(a[4]), torch.sigmoid(a[5]), torch.tanh(a[6]), torch.sigmoid(a[7])
        t0, t1, t2, t3 = torch.tanh(l0 * l1), torch.tanh(l2 + l3), torch.tanh(l4 * l5), torch.sigmoid(l6 + l7)
        c = torch.tanh(t0 + c) * t1
        m = torch.tanh(c * torch.tanh(t2 + t3))
    return c + m


def nasrnn_in_place(x, wi, wh, c, m):
    """Gates into one tensor, the state mutated, an activation chosen by a list."""
    gates = torch.empty(8, 1, c.shape[1])
    for row in x:
        a = row @ wi
        a += m @ wh
        for k, kind in enumerate(["s", "r", "s", "r", "t", "s", "t", "s"]):
            gates[k] = torch.sigmoid(a[k]) if kind == "s" else torch.relu(a[k]) if kind == "r" else torch.tanh(a[k])
        pairs = (gates[0::2] * gates[1::2]).tanh_()
        c.add_(pairs[0]).tanh_().mul_(pairs[1])
        m.copy_(torch.tanh(c * torch.tanh(pairs[2] + pairs[3])))
    return c + m


def lstm(x, wi, wh, bi, bh):
    steps, layers, width = x.shape[0], wi.shape[0], x.shape[2]
    state_c = torch.zeros(layers, 1, width, dtype=x.dtype, device=x.device)
    state_h = torch.zeros(layers, 1, width, dtype=x.dtype, device=x.device)
    for t in range(steps):
        v = x[t]
        for j in range(layers):
            c, h = state_c[j], state_h[j]
            g = torch.matmul(v, wi[j]) + bi[j] + torch.matmul(h, wh[j]) + bh[j]
            i, f, n, o = torch.sigmoid(g[0]), torch.sigmoid(g[1]), torch.tanh(g[2]), torch.sigmoid(g[3])
            c = f * c + i * n
            h = o * torch.tanh(c)
            state_c[j] = c
            state_h[j] = h
            v = h
    return state_h, state_c


def lstm_keeping(x, wi, wh, bi, bh):
    """All hidden states kept; states written through views; the last layer first in the result."""
    steps, layers, width = x.shape[0], wi.shape[0], x.shape[2]
    state = torch.zeros(2, layers, 1, width, dtype=x.dtype)
    outputs = x.new_zeros(steps, width)
    for t in range(steps):
        v = x[t]
        for j in range(layers):
            c, h = state[0, j], state[1, j]
            g = v @ wi[j] + h @ wh[j] + (bi[j] + bh[j])
            c.mul_(g[1].sigmoid()).add_(g[0].sigmoid() * g[2].tanh())
            h.copy_(g[3].sigmoid() * c.tanh())
            v = h.clone()
        outputs[t] = v[0]
    return outputs, state[1].flip(0)


def seq2seq(std, emb, wi, wh, bi, bh, wo, bo, h, c):
    steps = std.shape[0]
    out = torch.zeros(steps, 1, dtype=torch.int64, device=std.device)
    tok = torch.ones(1, dtype=torch.int64, device=std.device)
    i, going = 0, True
    while going:
        x = emb[tok]
        g = torch.matmul(x, wi) + bi + torch.matmul(h, wh) + bh
        c = torch.sigmoid(g[1]) * c + torch.sigmoid(g[0]) * torch.tanh(g[2])
        h = torch.sigmoid(g[3]) * torch.tanh(c)
        logits = torch.matmul(h, wo) + bo + std[i]
        tok = torch.argmax(logits, 1)
        out[i] = tok
        i += 1
        going = bool(tok.max() > 0) and i < steps
    return out, h, c


def seq2seq_breaking(std, emb, wi, wh, bi, bh, wo, bo, h, c):
    """A `for` with a break and a continue, tokens in a list of fixed length, the number of steps returned."""
    steps = std.shape[0]
    out = torch.full((steps,), -1, dtype=torch.int64)
    tok, count = torch.ones(1, dtype=torch.int64), 0
    for i in range(steps):
        g = emb[tok] @ wi + bi + h @ wh + bh
        c = g[1].sigmoid() * c + g[0].sigmoid() * g[2].tanh()
        h = g[3].sigmoid() * c.tanh()
        tok = (h @ wo + bo + std[i]).argmax(1)
        if int(tok) % 2 == 1:
            continue
        out[i] = tok[0]
        count += 1
        if tok.item() == 0:
            break
    return out, h, count


def kv_attention(x, wq, wk, wv, wo, k, v, start: int, steps: int):
    g = start
    for _ in range(steps):
        q = torch.matmul(x, wq)
        k[:, :, g : g + 1, :] = torch.matmul(x, wk)
        v[:, :, g : g + 1, :] = torch.matmul(x, wv)
        a = torch.softmax(torch.matmul(k, q.transpose(-1, -2)).transpose(-1, -2) * 0.125, -1)
        x = torch.matmul(torch.matmul(a, v), wo)
        g += 1
    return k, v, x


def kv_attention_two(x, wq, wk, wv, wo, k, v, start: int, steps: int):
    """Two places a step, from the end, with a mask over what is filled."""
    g = start
    filled = torch.arange(k.shape[2]) < start
    while g + 2 <= start + steps:
        q = x @ wq
        for part in range(2):
            k[:, :, g + part] = (x @ wk)[:, :, 0] * (part + 1)
            v[:, :, g + part] = (x @ wv)[:, :, 0]
        filled[g : g + 2] = True
        scores = (q @ k.mT) * 0.125
        scores = scores.masked_fill(~filled, float("-inf"))
        x = torch.softmax(scores, -1) @ v @ wo
        g += 2
    return k, v, x, filled


def yolov3(p0, p1, p2, a0, a1, a2):
    return script_tails.yolov3_of((p0, p1, p2), (a0, a1, a2), 10, 0.2, 0.3, 20)


def ssd(*a):
    return script_tails.ssd_of(a[:3], a[3:6], a[6:], 7, 0.15, 30, 40)


def ssd_top(*a):
    """The best of each level by topk, labels by max, boxes halved in place."""
    result = []
    for level in range(3):
        c, b, p = a[level], a[level + 3], a[level + 6]
        s = F.softmax(c[0].permute(1, 2, 0).reshape(-1, 7), dim=-1)[:, :-1]
        best, label = s.max(1)
        k = min(9, best.shape[0])
        v, o = best.topk(k)
        x = script_tails.delta2box(p[o], b[0].permute(1, 2, 0).reshape(-1, 4)[o], 2.0)
        x[:, 2:].sub_(x[:, :2]).mul_(0.5)
        result.append((x, v, label[o]))
    return result


def yolact(*a):
    return script_tails.yolact_of(a[:2], a[2:4], a[4:6], a[6:8], a[8], 5, 6, 0.2, 30, 20, 15)


def fcos(*a):
    return script_tails.fcos_of(a[:2], a[2:4], a[4:], (8, 16), 5, 0.6, 50)


def normalize(src, mean, scale):
    dup = src.clone()
    dup[..., 0] = src[..., 2]
    dup[..., 2] = src[..., 0]
    return (dup - mean) * scale


def normalize_in_place(src, mean, scale):
    """The argument itself is changed, by channels in a loop over a literal."""
    red = src[..., 0].clone()
    for i, j in ((0, 2), (2, 0)):
        src[..., i] = src[..., j] if i == 0 else red
    src.sub_(mean)
    src *= scale
    return src


def increment_rows(b):
    b = b.clone()
    for i in range(b.shape[0]):
        b[i] = b[i] + 1
    return b


def increment_backwards(b):
    """Every other row from the end, by the row after it; the argument is changed."""
    for i in range(b.shape[0] - 2, -1, -2):
        b[i] += b[i + 1] * 2
        b[i, 0] = i
    return b.sum(0)


def inputs(name):
    g = torch.Generator().manual_seed(0)

    def normal(*sizes, by=1.0, plus=0.0):
        return torch.randn(*sizes, generator=g) * by + plus

    def boxes(n):
        xy = torch.rand(n, 2, generator=g) * 280
        return torch.cat([xy, xy + 10 + torch.rand(n, 2, generator=g) * 60], 1)

    if name.startswith("nasrnn"):
        return [normal(7, 1, 13), normal(8, 13, 13, by=0.2), normal(8, 13, 13, by=0.2), torch.zeros(1, 13), torch.zeros(1, 13)]
    if name.startswith("lstm"):
        return [normal(7, 1, 17), normal(3, 4, 17, 17, by=0.2), normal(3, 4, 17, 17, by=0.2), normal(3, 4, 1, 17), normal(3, 4, 1, 17)]
    if name.startswith("seq2seq"):
        std = torch.zeros(11, 1, 23)
        for i, t in enumerate([3, 7, 12, 19, 8, 0]):
            std[i, 0, t] = 1e3
        state = [normal(1, 9), normal(1, 9)]
        return [std, normal(23, 9), normal(4, 9, 9), normal(4, 9, 9), normal(4, 1, 9), normal(4, 1, 9), normal(9, 23), normal(23), *state]
    if name.startswith("kv_attention"):
        k, v = torch.zeros(1, 3, 13, 7), torch.zeros(1, 3, 13, 7)
        k[:, :, :5], v[:, :, :5] = normal(1, 3, 5, 7), normal(1, 3, 5, 7)
        return [normal(1, 3, 1, 7), *(normal(3, 7, 7, by=0.3) for _ in range(4)), k, v, 5, 6]
    if name == "yolov3":
        return [*(normal(1, 45, n, n) for n in (2, 3, 5)), *(boxes(3 * n * n) for n in (2, 3, 5))]
    if name.startswith("ssd"):
        sizes = (5, 3, 1)
        return [*(normal(1, 42, n, n, by=1.5) for n in sizes), *(normal(1, 24, n, n) for n in sizes), *(boxes(6 * n * n) for n in sizes)]
    if name == "yolact":
        sizes = (5, 3)
        parts = [normal(1, 3 * c, n, n, by=1.5) for c in (4, 5, 6) for n in sizes]
        return [*parts, *(boxes(3 * n * n) for n in sizes), normal(11, 7, 6)]
    if name.startswith("fcos"):
        sizes = (7, 3)
        return [*(normal(1, 5, n, n) for n in sizes), *(normal(1, 4, n, n).abs() * 30 for n in sizes), *(normal(1, 1, n, n) for n in sizes)]
    if name.startswith("normalize"):
        return [normal(19, 31, 3), normal(3), normal(3)]
    return [normal(13, 37)]


NAMES = """nasrnn nasrnn_in_place lstm lstm_keeping seq2seq seq2seq_breaking kv_attention kv_attention_two yolov3 ssd ssd_top yolact
fcos normalize normalize_in_place increment_rows increment_backwards""".split()


# -- suppression, in plain PyTorch ----------------------------------------------------------------------------------------


def plain_nms(boxes, scores, threshold):
    order, keep = torch.argsort(scores, descending=True, stable=True), []
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    alive = torch.ones(len(boxes), dtype=torch.bool, device=boxes.device)
    for i in order.tolist():
        if not alive[i]:
            continue
        keep.append(i)
        wide = (torch.minimum(boxes[i, 2:], boxes[:, 2:]) - torch.maximum(boxes[i, :2], boxes[:, :2])).clamp(min=0)
        common = wide[:, 0] * wide[:, 1]
        alive &= ~(common / (area[i] + area - common) > threshold)
    return torch.tensor(keep, dtype=torch.int64, device=boxes.device)


def plain_batched_nms(boxes, scores, labels, threshold):
    if boxes.numel() == 0:
        return torch.empty(0, dtype=torch.int64, device=boxes.device)
    shift = labels.to(boxes) * (boxes.max() + 1)
    return plain_nms(boxes + shift[:, None], scores, threshold)
