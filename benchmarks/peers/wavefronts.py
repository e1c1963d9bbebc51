# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrences as PyTorch runs them best: one batched product for each wavefront, and cuDNN folded over a dilation.

A cell of layer d at step t needs the one below it and the one before it. With m = d + t as the wavefront, both were
made in wavefront m - 1, so that one `bmm` over the layers of a wavefront computes all of its products. The same forms
in float64 are the references that `benchmarks/papers/fractaltensor.py` compares with.
"""

import torch

try:
    import triton
    import triton.language as tl
except ImportError:  # the cell is then PyTorch's own operations
    triton = None

ORDER = (0, 1, 3, 2)  # cuDNN's gates are i, f, g, o; ours i, f, o, g


def fused_gates(w, u, b):
    """[D, 2H, 4H] and [D, 1, 4H] of ours: [D, 4, H, H] twice and [D, 4, 1, H]."""
    both = torch.cat([w, u], 2)
    d, _, twice, h = both.shape
    return both.permute(0, 2, 1, 3).reshape(d, twice, 4 * h).contiguous(), b.permute(0, 2, 1, 3).reshape(d, 1, 4 * h).contiguous()


def cell(gates, c):
    i, f, o, g = gates.chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


if triton:

    @triton.jit
    def _fused_cell(gates, bias, c, inputs, out, count, rows, h: tl.constexpr, last, block: tl.constexpr):
        """The cell of `count` elements. It writes c in place, and the state into the next wavefront's inputs of its layer and the next."""
        at = tl.program_id(0) * block + tl.arange(0, block)
        live = at < count
        row, column = at // h, at % h
        layer = row // rows
        start = gates + row * 4 * h + column
        first = bias + layer * 4 * h + column
        i = tl.load(start, live, 0).to(tl.float32) + tl.load(first, live, 0).to(tl.float32)
        f = tl.load(start + h, live, 0).to(tl.float32) + tl.load(first + h, live, 0).to(tl.float32)
        o = tl.load(start + 2 * h, live, 0).to(tl.float32) + tl.load(first + 2 * h, live, 0).to(tl.float32)
        g = tl.load(start + 3 * h, live, 0).to(tl.float32) + tl.load(first + 3 * h, live, 0).to(tl.float32)
        new = tl.sigmoid(f) * tl.load(c + at, live, 0) + tl.sigmoid(i) * (2 * tl.sigmoid(2 * g) - 1)
        state = (tl.sigmoid(o) * (2 * tl.sigmoid(2 * new) - 1)).to(out.dtype.element_ty)
        tl.store(c + at, new, live)
        tl.store(inputs + row * 2 * h + h + column, state, live)
        above = row + rows
        tl.store(inputs + above * 2 * h + column, state, live & (layer < last))
        tl.store(out + (row - last * rows) * h + column, state, live & (layer == last))


def lstm_waves(x, w, u, b, fused=True):
    """The last layer's states, [L, N, H], of a stacked LSTM: x is [N, L, 1, H], w and u [D, 4, H, H], b [D, 4, 1, H]."""
    n, length, _, h = x.shape
    d = w.shape[0]
    weights, bias = fused_gates(w, u, b)
    tokens = x[:, :, 0].transpose(0, 1).contiguous()
    fused = fused and triton is not None and x.is_cuda
    inputs = [x.new_zeros(d + 1, n, 2 * h) for _ in range(2)]
    c = torch.zeros(d, n, h, device=x.device, dtype=torch.float32 if fused else x.dtype)
    out = torch.empty(length, n, h, device=x.device, dtype=x.dtype)

    def run():
        for one in (*inputs, c):
            one.zero_()
        for wave in range(length + d - 1):
            low, high = max(0, wave - length + 1), min(d, wave + 1)
            now, after = inputs[wave % 2], inputs[1 - wave % 2]
            if low == 0:
                now[0, :, :h] = tokens[wave]
            gates = torch.bmm(now[low:high], weights[low:high])
            done = wave - d + 1  # the step that the last layer is at
            if fused:
                count, last = (high - low) * n * h, d - 1 - low
                _fused_cell[(triton.cdiv(count, 1024),)](gates, bias[low:], c[low:], after[low:], out[max(done, 0)], count, n, h, last, 1024)
            else:
                state, c[low:high] = cell(gates + bias[low:high], c[low:high])
                after[low:high, :, h:] = state
                after[low + 1 : high + 1, :, :h] = state
                if done >= 0:
                    out[done] = state[-1]
        return out

    return run


def lstm_layers(w, u, b, dtype):
    """cuDNN's one-layer LSTM for each layer of ours."""
    layers, h = [], w.shape[-1]
    for layer in range(w.shape[0]):
        module = torch.nn.LSTM(h, h, 1).to(w.device, dtype).eval()
        with torch.no_grad():
            module.weight_ih_l0.copy_(torch.cat([w[layer, k].t() for k in ORDER], 0))
            module.weight_hh_l0.copy_(torch.cat([u[layer, k].t() for k in ORDER], 0))
            module.bias_ih_l0.copy_(torch.cat([b[layer, k, 0] for k in ORDER], 0))
            module.bias_hh_l0.zero_()
        module.flatten_parameters()
        layers.append(module)
    return layers


def folded(tokens, dilation, layer):
    """A layer that reads its state `dilation` tokens before, as a plain layer over `dilation` times the batch. Tokens are [L, N, H]."""
    length, n, h = tokens.shape
    steps = -(-length // dilation)
    padded = torch.nn.functional.pad(tokens, (0, 0, 0, 0, 0, steps * dilation - length))
    return layer(padded.reshape(steps, dilation * n, h)).reshape(steps * dilation, n, h)[:length]


def dilated_lstm(x, w, u, b, cudnn=True):
    """The last layer's states, [L, N, H], where layer k reads its states 2^k tokens before."""
    tokens = x[:, :, 0].transpose(0, 1).contiguous()
    if cudnn:
        layers = [lambda y, module=module: module(y)[0] for module in lstm_layers(w, u, b, x.dtype)]
    else:
        weights, bias = fused_gates(w, u, b)
        layers = [lambda y, k=k: _scan(y, weights[k], bias[k]) for k in range(w.shape[0])]

    def run():
        y = tokens
        for k, layer in enumerate(layers):
            y = folded(y, 2**k, layer)
        return y

    return run


def _scan(tokens, weights, bias):
    h = tokens.shape[-1]
    state = c = torch.zeros_like(tokens[0])
    ahead, out = tokens @ weights[:h] + bias, []
    for now in ahead:
        state, c = cell(now + state @ weights[h:], c)
        out.append(state)
    return torch.stack(out)


def grid_waves(src, trg, w, ux, uy, b):
    """Both states of the last layer of a grid RNN, [2, S, T, N, H]: src is [N, S, 1, H], trg [N, T, 1, H].

    With m = d + i + j as the wavefront, a cell reads its own row, the row above and the layer below, all of wavefront
    m - 1. So two products over all rows serve the layers of a wavefront.
    """
    n, s, _, h = src.shape
    t, d = trg.shape[1], w.shape[0]
    rows, columns = src[:, :, 0].transpose(0, 1).contiguous(), trg[:, :, 0].transpose(0, 1).contiguous()
    both = torch.cat([ux, uy], 1).contiguous()
    states = [x.new_zeros(2, d + 1, s + 1, n, h) for x in (src, src)]  # [hx, hy], layer, row; the first of each are the edge
    out = src.new_empty(2, s, t, n, h)

    def run():
        for one in states:
            one.zero_()
        for wave in range(d + s + t - 2):
            low, high = max(0, wave - s - t + 2), min(d, wave + 1)
            now, after = states[wave % 2], states[1 - wave % 2]
            first, last = max(0, wave - t + 1), min(s, wave + 1)
            if low == 0:
                now[0, 0, first + 1 : last + 1] = rows[first:last]
                now[1, 0, first + 1 : last + 1] = columns[wave - last + 1 : wave - first + 1].flip(0)
            layers = high - low
            before = torch.cat([now[0, low + 1 : high + 1, :s], now[1, low + 1 : high + 1, 1:]], -1).reshape(layers, s * n, 2 * h)
            common = torch.baddbmm(b[low:high], before, both[low:high]).reshape(1, layers, s, n, h)
            inputs = now[:, low:high, 1:].transpose(0, 1).reshape(layers, 2 * s * n, h)
            made = torch.tanh(torch.bmm(inputs, w[low:high]).reshape(layers, 2, s, n, h).transpose(0, 1) + common)
            place = wave - torch.arange(low, high, device=src.device)[:, None] - torch.arange(s, device=src.device)
            live = ((place >= 0) & (place < t))[None, :, :, None, None]
            after[:, low + 1 : high + 1, 1:] = torch.where(live, made, 0)
            if high == d:  # the last layer: row i is at column wave - d + 1 - i
                at = wave - d + 1
                i = torch.arange(max(0, at - t + 1), min(s, at + 1), device=src.device)
                if len(i):
                    out[:, i, at - i] = after[:, d, i + 1]
        return out

    return run
