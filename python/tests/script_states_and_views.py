# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that people may write, at sizes 1, 7, 127 and primes: other recurrent cells, caches and decoders, views of views, exits from loops,
writes by index and mask, modules. `programs()` gives each with its arguments."""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


def lstm_peephole(x, wi, wh, b, p, h, c):
    out = []
    for t in range(x.size(0)):
        g = x[t] @ wi + h @ wh + b
        i, f, o, z = g.chunk(4, -1)
        i = torch.sigmoid(i + p[0] * c)
        f = torch.sigmoid(f + p[1] * c)
        c = f * c + i * torch.tanh(z)
        h = torch.sigmoid(o + p[2] * c) * torch.tanh(c)
        out.append(h)
    return (torch.stack(out, 1), h, c)


def gru_two_layers_state(x, w1, u1, w2, u2, state):
    ys = torch.zeros(x.shape[0], x.shape[1], u1.shape[0])
    for t in range(x.shape[0]):
        inp = x[t]
        for layer, (w, u) in enumerate(((w1, u1), (w2, u2))):
            h = state[layer]
            zr = torch.sigmoid(inp @ w[:, :2 * h.shape[-1]] + h @ u[:, :2 * h.shape[-1]])
            z, r = zr.split(h.shape[-1], dim=-1)
            n = torch.tanh(inp @ w[:, 2 * h.shape[-1]:] + r * h @ u[:, 2 * h.shape[-1]:])
            state[layer] = (1 - z) * n + z * h
            inp = state[layer].clone()
        ys[t] = inp
    return ys


def bilstm_sum(x, wf, uf, wb, ub):
    T, B, _ = x.shape
    H = uf.shape[0]
    y = x.new_zeros(T, B, 2 * H)
    for rev, (w, u) in enumerate([(wf, uf), (wb, ub)]):
        h = x.new_zeros(B, H)
        c = torch.zeros_like(h)
        for k in range(T):
            t = T - 1 - k if rev else k
            i, f, g, o = (x[t] @ w + h @ u).view(B, 4, H).unbind(1)
            c.mul_(f.sigmoid()).add_(i.sigmoid() * g.tanh())
            h = o.sigmoid() * c.tanh()
            y[t, :, rev * H:(rev + 1) * H] = h
    return y


def nas_variant(x, wi, wh, c, m):
    n = m.shape[-1]
    for t in range(x.shape[0]):
        a = (x[t] @ wi).reshape(-1, 8, n)
        d = (m @ wh).reshape(-1, 8, n)
        l1 = [torch.sigmoid(a[:, 0] + d[:, 0]), F.relu(a[:, 1] + d[:, 1]), torch.sigmoid(a[:, 2] + d[:, 2]), F.relu(a[:, 3] * d[:, 3]),
              torch.tanh(a[:, 4] + d[:, 4]), torch.sigmoid(a[:, 5] + d[:, 5]), torch.tanh(a[:, 6] + d[:, 6]), torch.sigmoid(a[:, 7] + d[:, 7])]
        l2 = [torch.tanh(l1[2 * k] * l1[2 * k + 1]) for k in range(4)]
        l2[0] = torch.tanh(l2[0] + c)
        c = l2[0] * l2[1]
        m = torch.tanh(c * torch.tanh(l2[2] * l2[3]))
    return (c, m)


def attn_ring(x, wq, wk, wv, K, V, start: int):
    H, L, D = K.shape
    out = []
    for s in range(x.shape[0]):
        pos = (start + s) % L
        q = (x[s] @ wq).view(H, D)
        K[:, pos] = (x[s] @ wk).view(H, D)
        V[:, pos].copy_((x[s] @ wv).view(H, D))
        sc = torch.einsum('hd,hld->hl', q, K) / D ** 0.5
        w = torch.softmax(sc, -1)
        out.append(torch.einsum('hl,hld->hd', w, V).flatten())
    return torch.stack(out)


def attn_grow(x, wq, wk, wv):
    ks, vs, out = ([], [], [])
    for t in range(x.shape[0]):
        ks.append(x[t] @ wk)
        vs.append(x[t] @ wv)
        k = torch.stack(ks)
        v = torch.stack(vs)
        out.append(torch.softmax(x[t] @ wq @ k.t() * 0.3, -1) @ v)
    return torch.stack(out)


def seq2seq_len(emb, w, u, wo, h, eos: int, limit: int):
    tok = torch.zeros(h.shape[0], dtype=torch.long)
    done = torch.zeros(h.shape[0], dtype=torch.bool)
    out = torch.full((h.shape[0], limit), eos)
    n = torch.zeros(h.shape[0], dtype=torch.int64)
    for t in range(limit):
        h = torch.tanh(emb[tok] @ w + h @ u)
        tok = (h @ wo).argmax(-1)
        tok = torch.where(done, torch.full_like(tok, eos), tok)
        out[:, t] = tok
        n += (~done).long()
        done |= tok == eos
        if done.all():
            break
    return (out, n, h)


def beam(emb, u, wo, h, steps: int, width: int):
    score = torch.zeros(1)
    toks = torch.zeros(1, 1, dtype=torch.long)
    hs = h
    for t in range(steps):
        hs = torch.tanh(emb[toks[:, -1]] + hs @ u)
        lp = torch.log_softmax(hs @ wo, -1) + score[:, None]
        score, idx = lp.flatten().topk(width)
        src = idx // lp.shape[1]
        toks = torch.cat([toks[src], (idx % lp.shape[1])[:, None]], 1)
        hs = hs[src]
    return (toks, score)


def increment_2d(b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] = b[i, j] + 1


def increment_strided(b):
    for i in range(0, b.shape[0], 3):
        b[i] = b[i] + 1
    for i in range(b.shape[0] - 1, -1, -2):
        b[i] *= 2


def increment_cols(b):
    v = b.t()[1:]
    for r in v:
        r += 1
    return v


def diag_walk(b):
    d = b.diagonal()
    for i in range(d.shape[0] - 1):
        d[i + 1] = d[i] + d[i + 1]
    return d.flip(0)


def norm_chan(src, mean, std):
    y = src.float()
    for c in range(3):
        y[:, c].sub_(mean[c]).div_(std[c])
    return y.half()


def norm_nhwc(src, mean, std):
    out = torch.empty(src.shape[0], src.shape[3], src.shape[1], src.shape[2])
    for b in range(src.shape[0]):
        out[b] = src[b].permute(2, 0, 1)
        out[b] -= mean[:, None, None]
        out[b] /= std[:, None, None]
    return out.clamp_(-2, 2)


def views_of_a_transposed_part(x):
    a = x[1:, ::2].t()
    b = a[0:2]
    b[:, 0] = -1
    c = b.unsqueeze(0).expand(2, -1, -1)
    d = c.sum(0)
    a += 1
    return (d, b, c)


def windows_of_a_flat_view(x):
    y = x.view(-1)
    z = y[3:-2].view(2, -1)
    z[1] += z[0]
    w = z.flatten()[::3]
    w.zero_()
    return (x.sum(0), z)


def parts_exchanged(x):
    a, b = x.split([3, 4])
    a, b = (b, a)
    b *= 2
    a[:3] -= b
    q = x.chunk(2, 1)
    q[1].fill_(9)
    return (torch.cat([a, b]), q[0])


def windows_before_a_write(x):
    w = x.unfold(0, 3, 2)
    y = w.sum(-1)
    x[0] = 100
    return (y, w.clone())


def moved_and_flattened(x):
    y = x.movedim(0, -1).flatten(0, 1)
    y[0] = 1
    z = x.transpose(0, 2)
    z[0, 0].add_(5)
    return (y, z)


def raveled(x):
    """A copy of what does not lie dense, though one stride goes through it; else a view."""
    v = x[:, ::2].ravel()
    v.add_(1)
    w = x.ravel()
    w[0] = 9
    return (v, w)


def rows_three_ways(x, i):
    v = x[i]
    w = x[i:i + 1]
    v.add_(1)
    w *= 2
    u = x.narrow(0, i, 2)
    u[1, 0] = 7
    return (v, w, u)


def rows_at_data(x, idx):
    for k in range(idx.shape[0]):
        r = x[idx[k]]
        r += k
        s = x[:, idx[k] % x.shape[1]]
        s -= 1
    return x.sum()


def rows_in_turns(x):
    h = x[0]
    for i in range(4):
        h = x[i + 1] if i % 2 else h[None].squeeze(0)
        h += i
    return h


def names_exchanged(x):
    a = x[0]
    b = x[1]
    for i in range(3):
        a, b = (b, a)
        a += b
        b -= 1
    return (a, b)


def row_or_column(x, c):
    v = x[0] if c.item() > 0 else x[:, 0]
    v += 10
    return v.sum()


def skips_and_stops(x):
    i = 0
    n = 0
    while i < x.shape[0]:
        if x[i] < 0:
            i += 1
            continue
        if x[i] > 6:
            break
        n += x[i]
        x[i] = -x[i]
        i += 2
    else:
        n = n - 100
    return (n, i)


def found_in_rows(x, limit: int):
    s = torch.zeros((), dtype=torch.int64)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] == 5:
                return (s, i, j)
            s += x[i, j]
            if s > limit:
                break
        else:
            s -= 1
    return (s, -1, -1)


def roots_until_they_settle(x):
    y = x.clone()
    for _ in range(50):
        y2 = (y + 2 / y) / 2
        if (y2 - y).abs().max() < 1e-06:
            break
        y = y2
    return y


def greatest_divisor(a, b):
    while b != 0:
        a, b = (b, a % b)
    return a


def halved_until_zero(x):
    n = 0
    while x.any():
        x >>= 1
        n += 1
    return n


def bubbles(a):
    n = a.shape[0]
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                t = a[j].clone()
                a[j] = a[j + 1]
                a[j + 1] = t
                swapped = True
        if not swapped:
            break
    return a


def cycle_length(x):
    k = 0
    while True:
        k += 1
        x = x * 3 % 17
        if (x == x[0]).all() or k >= 20:
            return (x, k)


def last_three(x):
    out = []
    for row in x:
        if len(out) == 3:
            out.pop(0)
        out.append(row * 2)
    out[0] += 1
    return (torch.stack(out, 1), torch.cat(out))


def lists_in_a_dictionary(x):
    d = {'a': x[0], 'b': [x[1], x[2]]}
    d['a'] += d['b'][1]
    d['b'].append(d['a'] * 2)
    d['c'] = torch.stack(d['b'])
    return d


def put(x, i, j, v):
    x.index_put_((i, j), v)
    return x


def put_and_added(x, i, v):
    x.index_put_((i,), v, accumulate=True)
    x[i] += 1
    return x


def masks(x, m):
    x[m] = 0
    x[m.any(1)] += 2
    x.masked_fill_(m & (x > 1), -3)
    return (x[m], x.masked_select(~m))


def columns_exchanged(x, i):
    x[i, :, 0] = torch.arange(5)
    x[:, [0, 2]] = x[:, [2, 0]]
    x[..., -1] = x[..., 0]
    return x


def mask_gets_elements(x, m, v):
    x[m] = v
    return x


def scattered(x, i, s):
    x.scatter_(1, i, s)
    x.scatter_add_(0, i[:2], s[:2])
    x.index_add_(0, torch.tensor([0, 0]), s[:2])
    return (x.gather(1, i), x.index_select(0, i[0]))


def tails_at_data(x, i):
    for k in range(3):
        x[i[k]:] = x[i[k]:] + 1
    return x


def einsums(a, b, c):
    return (torch.einsum('bij,bjk,k->bi', a, b, c), torch.einsum('ii->i', a[0]), torch.einsum('...d,d->...', b, c), torch.einsum('bij->ji', a))


def products(a, b):
    return (a @ b, torch.bmm(a[None], b[None]), torch.addmm(b[:3, :3], a[:, :3], b[:3, :3], beta=0.5), torch.baddbmm(a[None, :, :3], a[None], b[None, :, :3]),
            torch.outer(a[0], b[0]), a[0].dot(a[1]), torch.mv(a, b[:, 0]), torch.tensordot(a, b, 1))


def floats(x, y):
    z = x + y
    x += y
    x *= 1.5
    return (z, x / 2, x // 2, x % 3, (x > y).sum(), x.mean(), x.to(torch.float64).cumsum(0))


def integers(x):
    return (x.sum(), x.prod(), x.cumsum(0), x.max(0), x.argmin(), x.float().std(), x // 2, -x, x.abs(), x << 1, ~x, x.bool(), (x * x).to(torch.int8))


def truths(x, y):
    return (x & y, x | y, x ^ y, ~x, x.sum(), x.any(), x + y, x * y, x == y, torch.where(x, 1, 2.5), torch.where(y, x, 3), x.int().argmax())


class Block(nn.Module):

    def __init__(s, d, k):
        super().__init__()
        s.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(k)])
        s.norm = nn.LayerNorm(d)
        s.register_buffer('count', torch.zeros((), dtype=torch.long))
        s.register_buffer('ema', torch.zeros(d))
        s.act = nn.GELU()
        s.extra = nn.ModuleDict({'q': nn.Linear(d, 1, bias=False)})

    def forward(s, x):
        for i, l in enumerate(s.layers):
            x = x + s.act(l(s.norm(x)))
            if i == 1:
                s.ema.mul_(0.9).add_(x.mean(0), alpha=0.1)
        s.count += 1
        s.ema = s.ema * 2
        return s.extra['q'](x).squeeze(-1)


class Stack(nn.Module):

    def __init__(s):
        super().__init__()
        s.cells = nn.ModuleList([nn.GRUCell(5, 5), nn.GRUCell(5, 5)])
        s.lstm = nn.LSTMCell(5, 5)
        s.emb = nn.Embedding(11, 5)
        s.conv = nn.Conv1d(5, 5, 3, padding=1)
        s.bn = nn.BatchNorm1d(5)

    def forward(s, t):
        x = s.bn(s.conv(s.emb(t).permute(0, 2, 1))).permute(2, 0, 1)
        h = [x.new_zeros(x.shape[1], 5) for _ in s.cells]
        c = (h[0].clone(), h[1].clone())
        outs = []
        for e in x:
            for k, cell in enumerate(s.cells):
                h[k] = cell(e, h[k])
                e = h[k]
            c = s.lstm(e, c)
            outs.append(c[0])
        return torch.stack(outs, 1)


def strided_arguments(x, y):
    x[::2] += y[::2]
    y.t()[0] = 3
    return (x.contiguous(), x.stride())


def backwards_by_two(x, n: int):
    if n == 0:
        return x
    y = x
    for i in reversed(range(0, n, 2)):
        y = y + i
        x[i % 3] = y[0]
    return y


def fibonacci(n: int):
    a, b = (torch.tensor(0), torch.tensor(1))
    for _ in range(n):
        a, b = (b, a + b)
    return a


def programs():
    """(name, function, arguments)."""
    found = []
    draw = torch.randn
    torch.manual_seed(3)

    def whole(*s, lo=-9, hi=9):
        return torch.randint(lo, hi, s)

    def add(function, *arguments, name=None):
        found.append((name or getattr(function, "__name__", type(function).__name__), function, arguments))

    for T, B, D, H in ((1, 1, 1, 1), (7, 3, 5, 11), (13, 1, 127, 7)):
        add(lstm_peephole, draw(T, B, D), draw(D, 4 * H) * 0.3, draw(H, 4 * H) * 0.3, draw(4 * H), draw(3, H), torch.zeros(B, H), torch.zeros(B, H),
            name=f'lstm_peephole{T},{B},{D},{H}')
    for T, B, H in ((1, 1, 1), (7, 2, 5), (11, 3, 13)):
        add(gru_two_layers_state, draw(T, B, H), draw(H, 3 * H) * 0.4, draw(H, 3 * H) * 0.4, draw(H, 3 * H) * 0.4, draw(H, 3 * H) * 0.4, torch.zeros(2, B, H),
            name=f'gru2_{T},{B},{H}')
    add(bilstm_sum, draw(7, 3, 5), draw(5, 28) * 0.3, draw(7, 28) * 0.3, draw(5, 28) * 0.3, draw(7, 28) * 0.3)
    add(nas_variant, draw(13, 2, 7), draw(7, 56) * 0.3, draw(7, 56) * 0.3, draw(2, 7), draw(2, 7))
    add(attn_ring, draw(9, 12), draw(12, 15) * 0.3, draw(12, 15) * 0.3, draw(12, 15) * 0.3, draw(3, 7, 5), draw(3, 7, 5), 5)
    add(attn_grow, draw(7, 5), draw(5, 3), draw(5, 3), draw(5, 3))
    add(seq2seq_len, draw(11, 7), draw(7, 7) * 0.5, draw(7, 7) * 0.5, draw(7, 11), draw(3, 7), 4, 17)
    add(beam, draw(13, 5), draw(5, 5), draw(5, 13), draw(1, 5), 4, 3)
    for s in ((1, 1), (7, 127), (3, 5)):
        add(increment_2d, whole(*s), name=f'inc2d{s}')
    add(increment_strided, whole(13, 5))
    add(increment_strided, whole(5, 13).t(), name='increment_strided_t')
    add(increment_cols, whole(7, 5))
    add(diag_walk, whole(7, 7))
    add(norm_chan, whole(2, 3, 7, 11, lo=0, hi=255).to(torch.int32), draw(3), draw(3).abs() + 1)
    add(norm_nhwc, draw(3, 5, 7, 3), draw(3), draw(3).abs() + 1)
    add(views_of_a_transposed_part, whole(7, 7))
    add(windows_of_a_flat_view, whole(3, 5))
    add(parts_exchanged, whole(7, 4))
    add(windows_before_a_write, whole(9))
    add(moved_and_flattened, whole(2, 3, 5))
    add(raveled, whole(4, 8))
    add(rows_three_ways, whole(5, 3), 2)
    add(rows_at_data, whole(5, 3), torch.tensor([0, 4, 4, 1]))
    add(rows_in_turns, whole(5, 3))
    add(names_exchanged, whole(2, 5))
    add(row_or_column, whole(4, 4), torch.tensor(1))
    add(row_or_column, whole(4, 4), torch.tensor(-1), name='row_or_column_b')
    for s in range(4):
        torch.manual_seed(s)
        add(skips_and_stops, whole(9), name=f'skips_and_stops_{s}')
    for s in range(4):
        torch.manual_seed(s)
        add(found_in_rows, whole(5, 4), 7, name=f'found_in_rows_{s}')
    add(roots_until_they_settle, draw(7).abs() + 0.5)
    add(greatest_divisor, torch.tensor(126), torch.tensor(35))
    add(halved_until_zero, whole(7, lo=0, hi=99))
    add(bubbles, whole(7))
    add(cycle_length, whole(3, lo=1, hi=16))
    add(last_three, whole(7, 3))
    add(lists_in_a_dictionary, whole(3, 5))
    add(put, whole(5, 7), torch.tensor([0, 2, 2]), torch.tensor([1, 1, 1]), torch.tensor([5, 6, 7]))
    add(put_and_added, whole(5, 3), torch.tensor([0, 2, 2, 4]), whole(4, 3))
    add(masks, whole(5, 3), whole(5, 3) > 2)
    add(columns_exchanged, whole(3, 5, 4), torch.tensor([2, 0]))
    add(mask_gets_elements, whole(3, 4), torch.tensor([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 1]]).bool(), whole(4))
    add(scattered, whole(3, 3), torch.tensor([[0, 1, 2], [2, 1, 0], [1, 1, 1]]), whole(3, 3))
    add(tails_at_data, whole(7), torch.tensor([1, 6, 3]))
    add(einsums, draw(2, 3, 3), draw(2, 3, 5), draw(5))
    add(products, draw(3, 7), draw(7, 3 + 4))
    for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        add(floats, draw(13).to(d), whole(13).to(torch.int16), name=f'floats_{d}')
    for d in (torch.int8, torch.int16, torch.int32, torch.int64):
        add(integers, whole(7).to(d), name=f'integers_{d}')
    add(truths, whole(7) > 0, whole(7) > 0)
    add(Block(7, 3).requires_grad_(False).eval(), draw(5, 7), name='Block')
    add(Stack().requires_grad_(False).eval(), whole(2, 7, lo=0, hi=10), name='Stack')
    add(strided_arguments, draw(7, 5).t(), draw(5, 14)[:, ::2])
    add(backwards_by_two, whole(3, 2), 7)
    add(backwards_by_two, whole(3, 2), 0, name='backwards_by_none')
    add(fibonacci, 20)
    return found
