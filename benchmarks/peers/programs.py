# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The example programs in PyTorch: inputs at a benchmark size, the function, and peers that are faster than that
plain form. The function computes in whatever type its inputs have; in float64 it is the reference."""

import torch
import torch.nn.functional as F

DEVICE = "cuda"


def normal(*shape, scale=1.0):
    return torch.randn(*shape, dtype=torch.float64, device=DEVICE) * scale


def uniform(low, high, *shape):
    return torch.rand(*shape, dtype=torch.float64, device=DEVICE) * (high - low) + low


class Case:
    """One row of the table. `inputs` are float64 (or integers), in the order of the bundle's
    arguments; `plain` maps them to the list of results; `peers` makes functions of inputs."""

    outputs = 1

    def __init__(self, name, shape, inputs, plain, flops=0, peers=None, outputs=1, tolerance=1e-4):
        self.name, self.shape, self.inputs, self.plain = name, shape, inputs, plain
        self.flops, self.peers, self.outputs, self.tolerance = flops, peers or {}, outputs, tolerance


def copy(n, width=4096):
    return Case("copy", f"{n} rows of {width}", [normal(n, 1, width)], lambda x: [x + 1])


def softmax(n, width=4096):
    return Case("softmax", f"{n} rows of {width}", [normal(n, 1, width)],
                lambda x: [torch.softmax(x, -1)])


def log_softmax(n, width=4096):
    return Case("log_softmax", f"{n} rows of {width}", [normal(n, 1, width)],
                lambda x: [torch.log_softmax(x, -1)])


def rms_norm(n, width=4096):
    return Case("rms_norm", f"{n} rows of {width}", [normal(n, 1, width), uniform(0.5, 1.5, width)],
                lambda x, g: [F.rms_norm(x, (width,), g, 1e-5)])


def layer_norm(n, rows, width):
    return Case("layer_norm", f"{n} of {rows}x{width}",
                [normal(n, rows, width), uniform(0.5, 1.5, width), normal(width, scale=0.1)],
                lambda x, g, b: [F.layer_norm(x, (width,), g, b)])


def stacked_lstm(n, d, l, h):
    scale = h ** -0.5
    inputs = [normal(n, l, 1, h), normal(d, 4, h, h, scale=scale), normal(d, 4, h, h, scale=scale),
              normal(d, 4, 1, h, scale=0.1)]

    def plain(x, w, u, b):
        hs = x.new_zeros(n, d, l, 1, h)
        cs = x.new_zeros(n, d, l, 1, h)
        below = x[:, :, 0]
        for layer in range(d):
            ws = torch.cat(list(w[layer]), 1)
            us = torch.cat(list(u[layer]), 1)
            xw = below @ ws + torch.cat(list(b[layer]), 1)
            state, cell = x.new_zeros(n, h), x.new_zeros(n, h)
            for t in range(l):
                i, f, o, g = (xw[:, t] + state @ us).chunk(4, 1)
                cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
                state = torch.sigmoid(o) * torch.tanh(cell)
                hs[:, layer, t, 0], cs[:, layer, t, 0] = state, cell
            below = hs[:, layer, :, 0]
        return [hs, cs]

    def cudnn(x, w, u, b):
        module = torch.nn.LSTM(h, h, d, batch_first=True).to(DEVICE, x.dtype).eval()
        order = [0, 1, 3, 2]  # torch: i, f, g, o
        with torch.no_grad():
            for layer in range(d):
                for to, frm in (("weight_ih", w), ("weight_hh", u)):
                    getattr(module, f"{to}_l{layer}").copy_(
                        torch.cat([frm[layer, k].t() for k in order], 0))
                getattr(module, f"bias_ih_l{layer}").copy_(
                    torch.cat([b[layer, k, 0] for k in order], 0))
                getattr(module, f"bias_hh_l{layer}").zero_()
        module.flatten_parameters()
        tokens = x[:, :, 0].contiguous()
        # The last layer's states alone: less than this project's program returns.
        return lambda: module(tokens)[0], lambda results: results[0][:, d - 1, :, 0]

    return Case("stacked_lstm", f"N{n} D{d} L{l} H{h}", inputs, plain, 16 * n * h * h * l * d,
                {"cuDNN nn.LSTM": cudnn}, outputs=2)


def stacked_rnn(n, d, l, h):
    inputs = [normal(n, l, 1, h), normal(d, h, h, scale=0.25 * h ** -0.5 / 8)]

    def plain(x, w):
        below, all_layers = x[:, :, 0], []
        for layer in range(d):
            below = torch.cumsum(below @ w[layer], 1)
            all_layers.append(below)
        return [torch.stack(all_layers, 1)[:, :, :, None]]

    return Case("stacked_rnn", f"N{n} D{d} L{l} H{h}", inputs, plain, 2 * n * h * h * l * d)


def grid_rnn(n, d, s, t, h):
    inputs = [normal(n, s, 1, h), normal(n, t, 1, h), normal(d, h, h, scale=h ** -0.5),
              normal(d, h, h, scale=0.7 * h ** -0.5), normal(d, h, h, scale=0.7 * h ** -0.5),
              normal(d, 1, h, scale=0.1)]

    def plain(src, trg, w, ux, uy, b):
        # A wavefront over the anti-diagonals of one layer after the other.
        x = src[:, :, None, 0].expand(n, s, t, h)
        y = trg[:, None, :, 0].expand(n, s, t, h)
        hxs, hys = [], []
        for layer in range(d):
            xw, yw = x @ w[layer], y @ w[layer]
            hx = x.new_zeros(n, s + 1, t + 1, h)
            hy = x.new_zeros(n, s + 1, t + 1, h)
            for diagonal in range(s + t - 1):
                i = torch.arange(max(0, diagonal - t + 1), min(s, diagonal + 1), device=DEVICE)
                j = diagonal - i
                state = hx[:, i, j + 1] @ ux[layer] + hy[:, i + 1, j] @ uy[layer] + b[layer]
                hx[:, i + 1, j + 1] = torch.tanh(xw[:, i, j] + state)
                hy[:, i + 1, j + 1] = torch.tanh(yw[:, i, j] + state)
            x, y = hx[:, 1:, 1:], hy[:, 1:, 1:]
            hxs.append(x)
            hys.append(y)
        return [torch.stack(v, 1)[:, :, :, :, None] for v in (hxs, hys)]

    return Case("grid_rnn", f"N{n} D{d} {s}x{t} H{h}", inputs, plain, 8 * n * d * s * t * h * h,
                outputs=2)


def gru(n, l, h=64):
    scale = h ** -0.5
    inputs = [normal(n, l, 1, h), normal(3, h, h, scale=scale), normal(3, h, h, scale=scale),
              normal(3, 1, h, scale=0.1), normal(1, h, scale=0.1)]

    def plain(x, w, u, b, bh):
        xw = x[:, :, 0] @ torch.cat(list(w), 1) + torch.cat(list(b), 1)
        us = torch.cat(list(u), 1)
        state, outs = x.new_zeros(n, h), []
        for t in range(l):
            xr, xz, xn = xw[:, t].chunk(3, 1)
            hr, hz, hn = (state @ us).chunk(3, 1)
            z = torch.sigmoid(xz + hz)
            new = torch.tanh(xn + torch.sigmoid(xr + hr) * (hn + bh))
            state = (1 - z) * new + z * state
            outs.append(state)
        return [torch.stack(outs, 1)[:, :, None]]

    def cudnn(x, w, u, b, bh):
        module = torch.nn.GRU(h, h, 1, batch_first=True).to(DEVICE, x.dtype).eval()
        with torch.no_grad():
            module.weight_ih_l0.copy_(torch.cat([m.t() for m in w], 0))
            module.weight_hh_l0.copy_(torch.cat([m.t() for m in u], 0))
            module.bias_ih_l0.copy_(b.reshape(-1))
            module.bias_hh_l0.zero_()
            module.bias_hh_l0[2 * h:].copy_(bh[0])
        module.flatten_parameters()
        tokens = x[:, :, 0].contiguous()
        return lambda: module(tokens)[0], lambda results: results[0][:, :, 0]

    return Case("gru", f"N{n} L{l} H{h}", inputs, plain, 12 * n * h * h * l, {"cuDNN nn.GRU": cudnn})


def dilated_rnn(n, l, h=64):
    scale = h ** -0.5
    inputs = [normal(n, l, 1, h), normal(4, h, h, scale=scale), normal(4, h, h, scale=scale),
              normal(4, 1, h, scale=0.1)]

    def plain(x, w, u, b):
        below = x[:, :, 0]
        for layer in range(4):
            xw, outs = below @ w[layer] + b[layer], []
            for t in range(l):
                before = outs[t - 2 ** layer] if t >= 2 ** layer else x.new_zeros(n, h)
                outs.append(torch.tanh(xw[:, t] + before @ u[layer]))
            below = torch.stack(outs, 1)
        return [below[:, :, None]]

    return Case("dilated_rnn", f"N{n} L{l} H{h}", inputs, plain, 16 * n * h * h * l)


def dilated_lstm(n, l, h=64):
    scale = h ** -0.5
    inputs = [normal(n, l, 1, h), normal(3, 4, h, h, scale=scale), normal(3, 4, h, h, scale=scale),
              normal(3, 4, 1, h, scale=0.1)]

    def plain(x, w, u, b):
        below, zero = x[:, :, 0], x.new_zeros(n, h)
        for layer in range(3):
            us, lag = torch.cat(list(u[layer]), 1), 2 ** layer
            xw = below @ torch.cat(list(w[layer]), 1) + torch.cat(list(b[layer]), 1)
            hs, cs = [], []
            for t in range(l):
                state, cell = (hs[t - lag], cs[t - lag]) if t >= lag else (zero, zero)
                i, f, o, g = (xw[:, t] + state @ us).chunk(4, 1)
                cs.append(torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g))
                hs.append(torch.sigmoid(o) * torch.tanh(cs[t]))
            below = torch.stack(hs, 1)
        return [below[:, :, None], torch.stack(cs, 1)[:, :, None]]

    return Case("dilated_lstm", f"N{n} L{l} H{h}", inputs, plain, 48 * n * h * h * l, outputs=2)


def attention(name, b, h, q, k, causal=False):
    inputs = [normal(b, h, q, 32, 64), normal(b, h, k, 32, 64), normal(b, h, k, 32, 64)]

    def plain(qs, ks, vs):
        flat = [x.reshape(b, h, -1, 64) for x in (qs, ks, vs)]
        out = F.scaled_dot_product_attention(*flat, is_causal=causal)
        return [out.reshape(b, h, q, 32, 64)]

    def exact(qs, ks, vs):
        flat = [x.reshape(b, h, -1, 64) for x in (qs, ks, vs)]
        scores = flat[0] @ flat[1].transpose(-1, -2) / 8
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -3e4)
        return [(torch.softmax(scores, -1) @ flat[2]).reshape(b, h, q, 32, 64)]

    case = Case(name, f"B{b} H{h} S{32 * q} D64", inputs, plain,
                4 * b * h * 32 * q * 32 * k * 64 // (2 if causal else 1))
    case.exact = exact
    return case


def back_to_back_gemm(m, n, relu=False):
    inputs = [normal(m, 64, 64), normal(n, 64, 64, scale=0.125), normal(n, 64, 64, scale=0.06)]

    def plain(a, b, c):
        left = b.permute(1, 0, 2).reshape(64, n * 64)
        middle = a.reshape(-1, 64) @ left
        return [((F.relu(middle) if relu else middle) @ c.reshape(n * 64, 64)).reshape(m, 64, 64)]

    return Case("back_to_back_gemm" + ("_relu" if relu else ""), f"M{m} N{n}", inputs, plain, 4 * m * 64 * 64 * n * 64)


def mlp(n, f):
    inputs = [normal(n, 16, 64), normal(f, 64, 64, scale=0.125), normal(f, 64, scale=0.1),
              normal(f, 64, 64, scale=0.06), normal(64, scale=0.1)]

    def plain(x, w1, b1, w2, b2):
        wide = w1.permute(1, 0, 2).reshape(64, f * 64)
        hidden = F.gelu(x @ wide + b1.reshape(-1), approximate="tanh")
        return [x + hidden @ w2.reshape(f * 64, 64) + b2]

    return Case("mlp", f"N{n} F{f}", inputs, plain, 4 * n * 16 * 64 * 64 * f)


def conv1d(n, l):
    inputs = [normal(n, l, 1, 64), normal(3, 64, 64, scale=0.07), normal(1, 64, scale=0.1)]

    def plain(x, w, b):
        out = F.conv1d(x[:, :, 0].transpose(1, 2), w.permute(2, 1, 0).contiguous(), b[0], padding=1)
        return [out.transpose(1, 2)[:, :, None]]

    return Case("conv1d", f"N{n} L{l}", inputs, plain, 2 * 3 * n * l * 64 * 64)


def retention(n, h, l):
    inputs = [normal(n, h, l, 16, 32), normal(n, h, l, 16, 32, scale=0.177), normal(n, h, l, 16, 32),
              uniform(-0.2, -0.02, h)]

    def plain(q, k, v, log):
        at = torch.arange(16, dtype=q.dtype, device=DEVICE)
        lag = at[:, None] - at[None]
        decay = torch.where(lag >= 0, torch.exp(log[:, None, None] * lag.clamp(min=0)), 0.0)
        xi = torch.exp(log[:, None] * (at + 1))[..., None]
        zeta = torch.exp(log[:, None] * (15 - at))[..., None]
        inner = (q @ k.transpose(-1, -2) * decay[:, None]) @ v
        new = k.transpose(-1, -2) @ (zeta[:, None] * v)
        state, outs = q.new_zeros(n, h, 32, 32), []
        for c in range(l):
            outs.append(inner[:, :, c] + xi * (q[:, :, c] @ state))
            state = torch.exp(16 * log)[:, None, None] * state + new[:, :, c]
        return [torch.stack(outs, 2)]

    return Case("retention", f"N{n} H{h} L{l}", inputs, plain,
                2 * n * h * l * (2 * 16 * 16 * 32 + 2 * 16 * 32 * 32))


def mamba(n, l):
    inputs = [normal(n, l, 64), normal(64, 64, scale=0.06), uniform(-4, -1, 64),
              normal(64, 16, scale=0.125), normal(64, 16, scale=0.125), uniform(0, 2.5, 64, 16),
              normal(64)]

    def plain(x, wd, bd, wb, wc, alog, skip):
        delta = torch.log(1 + torch.exp(x @ wd + bd))
        bs, cs, a = x @ wb, x @ wc, -torch.exp(alog)
        state, outs = x.new_zeros(n, 64, 16), []
        for t in range(l):
            d = delta[:, t, :, None]
            state = torch.exp(d * a) * state + d * x[:, t, :, None] * bs[:, t, None]
            outs.append((state * cs[:, t, None]).sum(-1) + skip * x[:, t])
        return [torch.stack(outs, 1)]

    return Case("mamba", f"N{n} L{l}", inputs, plain, n * l * (2 * 64 * 96 + 7 * 64 * 16))


def rwkv(n, l):
    inputs = [normal(n, l, 1, 64), uniform(0, 1, 3, 1, 64), normal(3, 64, 64, scale=0.125),
              normal(64, 64, scale=0.125), uniform(0.05, 1, 1, 64), normal(1, 64, scale=0.5)]

    def plain(x, mu, w, wo, decay, bonus):
        x = x[:, :, 0]
        before = F.pad(x, (0, 0, 1, 0))[:, :-1]
        r, k, v = ((mu[i] * x + (1 - mu[i]) * before) @ w[i] for i in range(3))
        a, b = x.new_zeros(n, 64), x.new_zeros(n, 64)
        p, outs = x.new_full((n, 64), -3e4), []
        for t in range(l):
            kt, vt, uk = k[:, t], v[:, t], bonus[0] + k[:, t]
            q = torch.maximum(p, uk)
            e1, e2 = torch.exp(p - q), torch.exp(uk - q)
            outs.append((e1 * a + e2 * vt) / (e1 * b + e2))
            pw = p - decay[0]
            p = torch.maximum(pw, kt)
            e3, e4 = torch.exp(pw - p), torch.exp(kt - p)
            a, b = e3 * a + e4 * vt, e3 * b + e4
        return [((torch.sigmoid(r) * torch.stack(outs, 1)) @ wo)[:, :, None]]

    return Case("rwkv", f"N{n} L{l}", inputs, plain, 2 * n * l * 64 * 64 * 4)


def bigbird(b, l, r):
    inputs = [normal(b, l, 32, 64), normal(b, l, 32, 64), normal(b, l, 32, 64),
              torch.randint(0, l, (l - 2, r), device=DEVICE)]

    def plain(q, k, v, random):
        seen = torch.zeros(l, l, dtype=torch.bool, device=DEVICE)
        rows = torch.arange(1, l - 1, device=DEVICE)
        for shift in (-1, 0, 1):
            seen[rows, rows + shift] = True
        seen[:, 0] = seen[:, -1] = seen[0] = seen[-1] = True
        seen[rows[:, None], random] = True
        mask = seen.repeat_interleave(32, 0).repeat_interleave(32, 1)
        flat = [x.reshape(b, 1, l * 32, 64) for x in (q, k, v)]
        return [F.scaled_dot_product_attention(*flat, attn_mask=mask).reshape(b, l, 32, 64)]

    return Case("bigbird", f"B{b} L{l} R{r}", inputs, plain,
                4 * b * 32 * 32 * 64 * ((l - 2) * (5 + r) + 2 * l))


def product(m, k, n):
    return Case("product", f"{m}x{k}x{n}", [normal(m, k), normal(k, n, scale=k ** -0.5)],
                lambda x, w: [x @ w], 2 * m * k * n)


def linear_tanh(m, k, n):
    return Case("linear_tanh", f"{m}x{k}x{n}", [normal(m, k), normal(k, n, scale=k ** -0.5), normal(n, scale=0.1)],
                lambda x, w, b: [torch.tanh(torch.addmm(b, x, w))], 2 * m * k * n)


def transformer(b, l, h, f):
    inputs = [normal(b, l, 32, 64), *(normal(h, 64, 64, scale=0.1) for _ in range(4)), uniform(0.5, 1.5, 64), normal(64, scale=0.1),
              *(normal(f, 64, 64, scale=0.1) for _ in range(2))]

    def plain(x, wq, wk, wv, wo, gamma, beta, w1, w2):
        tokens = x.reshape(b, l * 32, 64)
        wide = lambda w: w.permute(1, 0, 2).reshape(64, -1)  # noqa: E731
        q, k, v = ((tokens @ wide(w)).reshape(b, l * 32, h, 64).transpose(1, 2) for w in (wq, wk, wv))
        heads = F.scaled_dot_product_attention(q, k, v, scale=1.0).transpose(1, 2).reshape(b, l * 32, h * 64)
        seen = F.layer_norm(tokens + heads @ wo.reshape(h * 64, 64), (64,), gamma, beta, 1e-5)
        return [(seen + 0.5 * torch.tanh(seen @ wide(w1)) @ w2.reshape(f * 64, 64)).reshape(b, l, 32, 64)]

    s = 32 * l
    return Case("transformer", f"B{b} S{s} H{h} D64 F{f}", inputs, plain, b * s * 64 * (2 * 4 * h * 64 + 4 * h * s + 4 * f * 64))


def all_cases():
    """By the names of integration/bench.txt."""
    return {
        "copy": lambda: copy(16384),
        "softmax": lambda: softmax(16384),
        "copy_4099": lambda: copy(16384, 4099),
        "softmax_1024": lambda: softmax(65536, 1024),
        "softmax_64": lambda: softmax(1000000, 64),
        "softmax_4099": lambda: softmax(16384, 4099),
        "log_softmax": lambda: log_softmax(16384),
        "log_softmax_1000": lambda: log_softmax(65536, 1000),
        "rms_norm": lambda: rms_norm(16384),
        "rms_norm_768": lambda: rms_norm(65536, 768),
        "layer_norm": lambda: layer_norm(16384, 1, 4096),
        "layer_norm_16x64": lambda: layer_norm(65536, 16, 64),
        "add_one_64": lambda: copy(64),
        "stacked_lstm": lambda: stacked_lstm(16, 10, 100, 256),
        "stacked_rnn": lambda: stacked_rnn(256, 8, 64, 256),
        "grid_rnn": lambda: grid_rnn(32, 4, 32, 32, 256),
        "flash_attention": lambda: attention("flash_attention", 4, 16, 32, 32),
        "attention_three_step": lambda: attention("attention_three_step", 4, 16, 32, 32),
        "flash_attention_causal": lambda: attention("flash_attention_causal", 4, 16, 32,
                                                             32, causal=True),
        "bigbird": lambda: bigbird(32, 64, 3),
        "back_to_back_gemm": lambda: back_to_back_gemm(1024, 64),
        "mlp": lambda: mlp(4096, 4),
        "conv1d": lambda: conv1d(64, 4096),
        "retention": lambda: retention(16, 16, 64),
        "mamba": lambda: mamba(256, 512),
        "rwkv": lambda: rwkv(256, 512),
        "gru": lambda: gru(16, 256, 256),
        "product": lambda: product(4096, 4096, 4096),
        "product_1021": lambda: product(1021, 2039, 509),
        "linear_tanh": lambda: linear_tanh(4096, 768, 3072),
        "transformer": lambda: transformer(4, 32, 8, 16),
    }


def sized(name, d):
    """An example at its own element types and lengths `d`."""
    return {
        "attention_three_step": lambda: attention(name, d["B"], d["H"], d["Q"], d["K"]),
        "back_to_back_gemm": lambda: back_to_back_gemm(d["M"], d["N"]),
        "back_to_back_gemm_relu": lambda: back_to_back_gemm(d["M"], d["N"], relu=True),
        "bigbird": lambda: bigbird(d["B"], d["L"], d["R"]),
        "conv1d": lambda: conv1d(d["N"], d["L"]),
        "dilated_lstm": lambda: dilated_lstm(d["N"], d["L"]),
        "dilated_rnn": lambda: dilated_rnn(d["N"], d["L"]),
        "flash_attention": lambda: attention(name, d["B"], d["H"], d["Q"], d["K"]),
        "flash_attention_causal": lambda: attention(name, d["B"], d["H"], d["L"], d["L"], True),
        "grid_rnn": lambda: grid_rnn(d["N"], d["D"], d["S"], d["T"], 64),
        "gru": lambda: gru(d["N"], d["L"]),
        "layer_norm": lambda: layer_norm(d["N"], 16, 64),
        "mamba": lambda: mamba(d["N"], d["L"]),
        "mlp": lambda: mlp(d["N"], d["F"]),
        "retention": lambda: retention(d["N"], d["H"], d["L"]),
        "rwkv": lambda: rwkv(d["N"], d["L"]),
        "stacked_lstm": lambda: stacked_lstm(d["N"], d["D"], d["L"], 64),
        "stacked_rnn": lambda: stacked_rnn(d["N"], d["D"], d["L"], 64),
    }[name]()
