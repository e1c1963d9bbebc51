# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changed forms of the programs of `script_programs.py`: other cells, losses of boxes, searches, caches, normalisations, at sizes 1, 7 and 13.
Also others that people write: matching, dynamic programs, decompositions, statistics, walks over indices.
"""

import math

import torch
import torch.nn.functional as F

from script_loops_and_branches import normal, number, whole

#: Name → function, and what makes each argument from a generator.
PROGRAMS = {}


def program(*makers, name=""):
    def register(function):
        PROGRAMS[function.__name__ + name] = function, makers
        return function

    return register


def half(*sizes):
    return normal(*sizes, by=0.5)


def boxes(count):
    def make(g):
        corner = torch.rand(count, 2, generator=g) * 40
        return torch.cat([corner, corner + 1 + torch.rand(count, 2, generator=g) * 20], 1)

    return make


def uniform(*sizes):
    return lambda g: torch.rand(*sizes, generator=g)


def mask(*sizes):
    return lambda g: torch.rand(*sizes, generator=g) > 0.3


def zeros(*sizes):
    return lambda g: torch.zeros(*sizes)


for width in (1, 7, 13):

    @program(normal(5, 2, width), *[half(3 * width, width)] * 2, *[half(3 * width)] * 2, name=f"_{width}")
    def gru(x, wi, wh, bi, bh):
        h = torch.zeros(x.shape[1], wh.shape[1])
        out = torch.empty(x.shape[0], x.shape[1], wh.shape[1])
        for t in range(x.shape[0]):
            a = F.linear(x[t], wi, bi)
            b = F.linear(h, wh, bh)
            r1, z1, n1 = a.chunk(3, 1)
            r2, z2, n2 = b.chunk(3, 1)
            r = torch.sigmoid(r1 + r2)
            z = torch.sigmoid(z1 + z2)
            h = (1 - z) * torch.tanh(n1 + r * n2) + z * h
            out[t] = h
        return (out, h)


for width in (1, 7, 13):

    @program(normal(7, 1, width), *[half(2, 4, width, width)] * 2, half(2, 3, width), name=f"_{width}")
    def peephole(x, wi, wh, p):
        L = wi.size(0)
        hs, cs = (x.new_zeros(L, 1, x.size(2)), x.new_zeros(L, 1, x.size(2)))
        for t in range(x.size(0)):
            inp = x[t]
            for l in range(L):
                h, c = (hs[l], cs[l])
                g = torch.einsum('bi,gio->gbo', inp, wi[l]) + torch.einsum('bi,gio->gbo', h, wh[l])
                i = torch.sigmoid(g[0] + p[l, 0] * c)
                f = torch.sigmoid(g[1] + p[l, 1] * c)
                c2 = f * c + i * F.elu(g[2])
                o = torch.sigmoid(g[3] + p[l, 2] * c2)
                cs[l].copy_(c2)
                hs[l] = o * F.softplus(c2)
                inp = hs[l] + inp
        return (hs, cs)


for width in (1, 7, 13):

    @program(half(6, 2, width), half(width, width), half(width, width), name=f"_{width}")
    def bidirectional(x, a, b):
        T = x.shape[0]
        out = torch.zeros(T, x.shape[1], 2 * x.shape[2])
        for d in range(2):
            h = torch.zeros_like(x[0])
            for s in range(T):
                t = s if d == 0 else T - 1 - s
                h = F.leaky_relu(x[t] @ (a if d == 0 else b) + 0.5 * h, 0.1)
                out[t, :, d * x.shape[2]:(d + 1) * x.shape[2]] = h
        return out


for width in (1, 7, 13):

    @program(normal(1, 3, 1, width), *[half(3, width, width)] * 3, *[zeros(1, 3, 5, width)] * 2, number(9), name=f"_{width}")
    def ring_cache(x, wq, wk, wv, k, values, steps: int):
        size = k.shape[2]
        outs = []
        for s in range(steps):
            k[:, :, s % size, :] = (x @ wk).squeeze(2)
            values[:, :, s % size] = (x @ wv)[:, :, 0]
            att = x @ wq @ k.transpose(-1, -2) / math.sqrt(x.shape[-1])
            mask = torch.arange(size) > s
            att = att.masked_fill(mask, float('-inf'))
            x = torch.tanh(F.softmax(att, -1) @ values)
            outs.append(x)
        return torch.stack(outs)


@program(half(9, 11), half(7, 11), half(7, 7), normal(7, 9), number(3), number(12))
def beam(wo, emb_, wh, wv, beam: int, steps: int):
    V = wo.shape[0]
    emb = wv.t()
    scores = torch.full((beam,), -1000000000.0)
    scores[0] = 0
    h = torch.zeros(beam, wh.shape[0])
    tok = torch.ones(beam, dtype=torch.int64)
    seqs = torch.zeros(beam, steps, dtype=torch.int64)
    done = torch.zeros(beam, dtype=torch.bool)
    for s in range(steps):
        h = torch.tanh(emb[tok] + h @ wh)
        lp = F.log_softmax(h @ emb_ @ wo.t(), -1)
        lp = torch.where(done[:, None], torch.full_like(lp, -1000000000.0), lp)
        lp[:, 0] = torch.where(done, torch.zeros_like(lp[:, 0]), lp[:, 0])
        total = scores[:, None] + lp
        scores, flat = total.view(-1).topk(beam)
        src = flat // V
        tok = flat % V
        seqs = seqs[src]
        seqs[:, s] = tok
        h = h[src]
        done = done[src] | (tok == 0)
        if done.all():
            break
    return (seqs, scores, s)


@program(boxes(23), uniform(23), number(0.5), number(0.1))
def soft_nms_linear(b, s, thr: float, smin: float):
    b, s = (b.clone(), s.clone())
    N = b.shape[0]
    keep = torch.zeros(N, dtype=torch.bool)
    area = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    for _ in range(N):
        i = torch.argmax(torch.where(keep, torch.full_like(s, -1.0), s))
        if s[i] < smin or keep[i]:
            break
        keep[i] = True
        lt = torch.maximum(b[:, :2], b[i, :2])
        rb = torch.minimum(b[:, 2:], b[i, 2:])
        inter = (rb - lt).clamp_(min=0).prod(1)
        iou = inter / (area + area[i] - inter)
        decay = torch.where(iou > thr, 1 - iou, torch.ones_like(iou))
        s = torch.where(keep, s, s * decay)
    return (keep, s)


@program(boxes(11), boxes(7))
def giou(a, b):
    area = lambda t: (t[:, 2] - t[:, 0]) * (t[:, 3] - t[:, 1])
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    inter = (rb - lt).clamp(min=0).prod(-1)
    union = area(a)[:, None] + area(b)[None] - inter
    clt = torch.min(a[:, None, :2], b[None, :, :2])
    crb = torch.max(a[:, None, 2:], b[None, :, 2:])
    c = (crb - clt).prod(-1)
    out = inter / union - (c - union) / c
    diag = out.diagonal()
    diag.mul_(2)
    return out


@program(boxes(19), boxes(19))
def diou(a, b):
    ca, cb = ((a[:, :2] + a[:, 2:]) / 2, (b[:, :2] + b[:, 2:]) / 2)
    d = (ca - cb).pow(2).sum(1)
    e = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).pow_(2).sum(1)
    res = torch.zeros(a.shape[0])
    for i in range(a.shape[0]):
        res[i] = d[i] / e[i] if e[i] > 0 else 0.0
    return res


@program(uniform(13, 17, 3), mask(13, 17), half(3), half(3))
def normalise_masked(img, m, mean, std):
    out = torch.empty_like(img)
    torch.sub(img.flip(-1), mean, out=out)
    out /= std
    out[~m] = 0
    for c in range(3):
        ch = out[..., c]
        ch[m] = ch[m].clamp(-1, 1)
    return out.permute(2, 0, 1).contiguous()


@program(uniform(2, 3, 7, 7))
def normalise_channel(img):
    x = img.clone()
    for b in range(x.shape[0]):
        for c in range(x.shape[1]):
            p = x[b, c]
            p -= p.min()
            p /= p.max() + 1e-06
    x[:, [0, 2]] = x[:, [2, 0]]
    return x


@program(normal(1, 21, 6, 5), half(1, 4, 6, 5), number(4))
def anchor_free(cls, reg, stride: int):
    B, C, H, W = cls.shape
    ys = (torch.arange(H) + 0.5) * stride
    xs = (torch.arange(W) + 0.5) * stride
    pts = torch.zeros(H * W, 2)
    pts[:, 0] = xs.repeat(H)
    pts[:, 1] = ys.repeat_interleave(W)
    s = cls[0].sigmoid().flatten(1).t()
    best, lab = s.max(1)
    keep = best > 0.6
    d = reg[0].exp().flatten(1).t() * stride
    box = torch.cat([pts - d[:, :2], pts + d[:, 2:]], 1)
    box[:, 0::2].clamp_(0, W * stride)
    box[:, 1::2].clamp_(0, H * stride)
    box, best, lab = (box[keep], best[keep], lab[keep])
    k = best.argsort(descending=True)[:10]
    return (torch.cat([box[k], best[k, None]], 1), lab[k])


@program(normal(2, 8, 6, by=2.0), boxes(12))
def matrix_nms(masks, b):
    s = masks.flatten().sigmoid()[:12]
    s, o = s.sort(descending=True)
    b = b[o]
    area = (b[:, 2:] - b[:, :2]).prod(1)
    inter = (torch.min(b[:, None, 2:], b[None, :, 2:]) - torch.max(b[:, None, :2], b[None, :, :2])).clamp(0).prod(2)
    iou = (inter / (area[:, None] + area - inter)).triu(1)
    comp = iou.max(0)[0]
    decay = ((1 - iou) / (1 - comp[:, None])).min(0)[0]
    s *= decay
    return (s, (s > 0.4).nonzero().squeeze(1))


@program(whole(31, low=0, high=50), number(127))
def increments(b, k: int):
    b = b.clone()
    for i in range(1, b.shape[0], 2):
        b[i] = b[i - 1] * 3 + k
    for i in range(b.shape[0] - 1, -1, -3):
        b[i] -= b[0]
    return b


@program(half(4, 6), half(6, 6), number(20))
def early_norm(x, m, limit: int):
    hist = torch.zeros(limit)
    for i in range(limit):
        y = torch.tanh(x @ m)
        r = (y - x).norm()
        hist[i] = r
        x = y
        if r < 0.01 or torch.isnan(r):
            break
    else:
        hist[-1] = -1
    return (x, hist, i)


@program(whole(8, low=0, high=4), whole(8, low=0, high=4))
def lev_two_rows(a, b):
    prev = torch.arange(b.numel() + 1)
    for i in range(a.numel()):
        cur = torch.zeros_like(prev)
        cur[0] = i + 1
        for j in range(b.numel()):
            cost = 0 if a[i] == b[j] else 1
            cur[j + 1] = torch.stack([prev[j + 1] + 1, cur[j] + 1, prev[j] + cost]).min()
        prev = cur
    return prev[-1]


@program(whole(7, 7, low=1, high=20))
def floyd(d):
    for k in range(d.shape[0]):
        torch.minimum(d, d[:, k:k + 1] + d[k:k + 1, :], out=d)
    return d


@program(whole(5, low=1, high=9), whole(5, low=1, high=30), number(17))
def knapsack(wt, val, cap: int):
    best = torch.zeros(cap + 1, dtype=torch.int64)
    for i in range(wt.shape[0]):
        for c in range(cap, 0, -1):
            if wt[i] <= c:
                alt = best[c - int(wt[i])] + val[i]
                if alt > best[c]:
                    best[c] = alt
    return best


@program(normal(6, 4), number(0.3))
def exp_smooth(x, a: float):
    y = x.clone()
    for t in range(1, len(x)):
        y[t].mul_(a).add_(y[t - 1], alpha=1 - a)
    return (y, (y - x).abs().sum())


@program(normal(16))
def haar_inplace(x):
    m = x.shape[0]
    while m > 1:
        h = m // 2
        s = (x[:m:2] + x[1:m:2]) / 2 ** 0.5
        d = (x[:m:2] - x[1:m:2]) / 2 ** 0.5
        x[:h] = s
        x[h:m] = d
        m = h


@program(whole(10, low=0, high=10))
def cycle_walk(p):
    seen = torch.zeros(10, dtype=torch.bool)
    cur, k = (0, 0)
    while not seen[cur]:
        seen[cur] = True
        cur = int(p[cur])
        k += 1
    return (k, cur, seen)


@program(whole(6, 6, low=-5, high=9))
def spiral(m):
    out = []
    top, left, bottom, right = (0, 0, 5, 5)
    while top <= bottom and left <= right:
        for j in range(left, right + 1):
            out.append(m[top, j])
        top += 1
        for i in range(top, bottom + 1):
            out.append(m[i, right])
        right -= 1
        if top <= bottom:
            for j in range(right, left - 1, -1):
                out.append(m[bottom, j])
            bottom -= 1
        if left <= right:
            for i in range(bottom, top - 1, -1):
                out.append(m[i, left])
            left += 1
    return torch.stack(out)


@program(normal(4, 5), whole(4, low=0, high=5), number(0.1))
def label_smooth(logits, y, eps: float):
    lp = logits.log_softmax(-1)
    t = torch.full_like(lp, eps / (lp.size(1) - 1))
    t.scatter_(1, y.unsqueeze(1), 1 - eps)
    return -(t * lp).sum(1).mean()


@program(normal(3, 9), number(3))
def topk_mask(x, k: int):
    kth = x.topk(k, -1).values[:, -1:]
    x[x < kth] = float('-inf')
    return x.softmax(-1)


@program(normal(5, 3), whole(5, low=0, high=3))
def segment_mean(x, seg):
    s = torch.zeros(3, x.shape[1])
    c = torch.zeros(3)
    s.index_add_(0, seg, x)
    c.scatter_add_(0, seg, torch.ones(x.shape[0]))
    return (s / c.clamp(min=1)[:, None], c)


@program(half(2, 6, 4), half(2, 6, 4), half(2, 6, 4), number(3))
def local_attention(q, k, values, win: int):
    B, T, D = q.shape
    out = torch.zeros_like(q)
    for t in range(T):
        lo = max(0, t - win + 1)
        s = q[:, t:t + 1] @ k[:, lo:t + 1].transpose(1, 2) * D ** (-0.5)
        out[:, t] = (s.softmax(-1) @ values[:, lo:t + 1])[:, 0]
    return out


@program(half(4, 4), half(4), number(25))
def jacobi(A, b, it: int):
    A = A + 4 * torch.eye(4)
    x = torch.zeros_like(b)
    D = A.diagonal()
    R = A - torch.diag(D)
    for _ in range(it):
        xn = (b - R @ x) / D
        if torch.allclose(xn, x, atol=1e-06):
            x = xn
            break
        x = xn
    return x


@program(half(5, 5))
def lu_pivot(A):
    count = A.shape[0]
    piv = torch.arange(count)
    for k in range(count - 1):
        p = int(A[k:, k].abs().argmax()) + k
        if p != k:
            A[[k, p]] = A[[p, k]]
            piv[[k, p]] = piv[[p, k]]
        A[k + 1:, k] /= A[k, k]
        A[k + 1:, k + 1:] -= torch.outer(A[k + 1:, k], A[k, k + 1:])
    return (A, piv)


@program(whole(12, low=0, high=100))
def merge_runs(x):
    x = x.clone()
    width = 1
    N = x.numel()
    while width < N:
        out = torch.empty_like(x)
        for i in range(0, N, 2 * width):
            seg = x[i:i + 2 * width]
            out[i:i + 2 * width] = seg.sort().values
        x = out
        width *= 2
    return x


@program(whole(20, low=0, high=2))
def rle(x):
    change = torch.ones(x.numel(), dtype=torch.bool)
    change[1:] = x[1:] != x[:-1]
    idx = change.nonzero().flatten()
    lens = torch.empty_like(idx)
    lens[:-1] = idx[1:] - idx[:-1]
    lens[-1] = x.numel() - idx[-1]
    return (x[idx], lens)


@program(half(3, 8, 8))
def sobel(img):
    kx = torch.tensor([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]])
    g = torch.zeros_like(img)
    for i in range(3):
        for j in range(3):
            if kx[i, j] != 0:
                g[:, 1:-1, 1:-1] += kx[i, j] * img[:, i:i + 6, j:j + 6]
    return g


@program(half(7, 3), number(2))
def dilated_conv_loop(x, d: int):
    T = x.shape[0]
    y = torch.zeros_like(x)
    for t in range(T):
        y[t] = x[t]
        if t - d >= 0:
            y[t] += 0.5 * x[t - d]
        if t - 2 * d >= 0:
            y[t] -= 0.25 * x[t - 2 * d]
    return y


@program(half(4, 3), half(4, 3), half(4, 3), number(0.9), number(7))
def momentum(p, g, buf, mu: float, steps: int):
    for i in range(steps):
        d = g + 0.01 * p
        buf.mul_(mu).add_(d)
        p.sub_(buf if i % 2 else d + mu * buf, alpha=0.1)
    return p.norm()


@program(whole(9, low=-20, high=20))
def max_subarray_bounds(x):
    best = cur = x[0]
    s = e = st = 0
    for i in range(1, x.numel()):
        if cur < 0:
            cur = x[i]
            st = i
        else:
            cur = cur + x[i]
        if cur > best:
            best, s, e = (cur, st, i)
    return (best, s, e)


@program(whole(3, 4, low=-5, high=9), whole(3, 4, low=-5, high=9))
def swap_rows(a, b):
    a[0], b[1] = (b[1].clone(), a[0].clone())
    a[[0, 2]] = a[[2, 0]]
    t = a[1].clone()
    a[1] = b[2]
    b[2] = t
    a, b = (b, a)
    a += b
    return a - b


@program(whole(5, 6, low=0, high=3))
def flood(grid):
    g = grid == 1
    mark = torch.zeros_like(g)
    mark[0, 0] = True
    while True:
        new = mark.clone()
        new[1:] |= mark[:-1]
        new[:-1] |= mark[1:]
        new[:, 1:] |= mark[:, :-1]
        new[:, :-1] |= mark[:, 1:]
        new &= ~g
        if torch.equal(new, mark):
            break
        mark = new
    return (mark, mark.sum())


@program(normal(6, 2, by=2.0), number(3), number(4))
def farthest(pts, k: int, dummy: int):
    idx = torch.zeros(k, dtype=torch.long)
    d = torch.full((pts.shape[0],), float('inf'))
    for i in range(1, k):
        last = pts[idx[i - 1]]
        d = torch.minimum(d, ((pts - last) ** 2).sum(-1))
        idx[i] = d.argmax()
    return (idx, d)


@program(whole(4, 9, low=0, high=6))
def count_unique(x):
    out = []
    for r in x:
        out.append(len(torch.unique(r)))
    return (torch.tensor(out), sum(out))


@program(half(5, 4), number([1, 3]))
def gather_list(x, rows: list):
    y = x[rows]
    x[rows] += 1
    return (y, [x[r].sum() for r in rows])


@program(half(2, 3, 4))
def ellipsis_chain(x):
    x[..., None, 1].squeeze(-1)[0] = 5
    y = x[None, ..., ::2].expand(2, -1, -1, -1)
    z = y + 1
    z[1, ..., 0] -= x[:, :, 3]
    return z.movedim(0, -1).flatten(1)


@program(whole(10, low=-5, high=9), number(3))
def sliding_sum_view(x, k: int):
    u = x.unfold(0, k, 1)
    s = u.sum(-1)
    x[0] = 100
    return (s, u.sum(-1))


@program(half(3, 5), half(5))
def welford(x, y):
    mean, m2 = (torch.zeros(5), torch.zeros(5))
    for i, row in enumerate(x, 1):
        delta = row - mean
        mean += delta / i
        m2.addcmul_(delta, row - mean)
    return (mean, m2 / len(x), torch.lerp(mean, y, 0.3))


@program(whole(6, low=0, high=50), number(10))
def digits(x, base: int):
    out = torch.zeros(x.numel(), 4, dtype=torch.int64)
    for d in range(3, -1, -1):
        out[:, d] = x % base
        x = torch.div(x, base, rounding_mode='floor')
    return out


@program(half(4, 4), number(0.0001))
def newtocountinverse(A, tol: float):
    A = A + 3 * torch.eye(4)
    X = A.t() / (A.abs().sum(0).max() * A.abs().sum(1).max())
    count = 0
    I = torch.eye(4)
    while (I - A @ X).norm() > tol and count < 40:
        X = X @ (2 * I - A @ X)
        count += 1
    return (X, count)


@program(whole(8, low=0, high=8), whole(8, low=-5, high=9))
def linked_sum(nxt, val):
    total, cur = (torch.zeros((), dtype=torch.int64), 3)
    for _ in range(5):
        total += val[cur]
        cur = nxt[cur].item()
        if cur == 0:
            break
    return (total, cur)


@program(half(1, 2, 6, 6), number(2))
def roi_pool(f, out: int):
    rois = [[0, 0, 3, 3], [1, 2, 5, 6], [2, 0, 6, 4]]
    res = f.new_zeros(len(rois), f.shape[1], out, out)
    for r, (x1, y1, x2, y2) in enumerate(rois):
        res[r] = F.adaptive_max_pool2d(f[0, :, y1:y2, x1:x2], out)
    return res


@program(normal(6, 5, by=2.0), whole(6, low=0, high=5))
def hard_negative(logits, y):
    loss = F.cross_entropy(logits, y, reduction='none')
    pos = y > 2
    npos = int(pos.sum())
    neg = loss.clone()
    neg[pos] = 0
    k = min(max(npos, 1) * 3, loss.numel())
    picked = neg.sort(descending=True)[0][:k]
    return (loss[pos].sum() + picked.sum(), k)


@program(half(3, 4), half(4, 4), number(True))
def tied(x, wgt, flag: bool):
    h = x
    for i in range(3):
        h = h @ wgt if flag and i % 2 == 0 else h + 1
        h = h.relu_() if i == 1 else h
    return h


@program(whole(3, 3, low=-5, high=9), whole(3, 3, low=-5, high=9))
def out_params(a, b):
    r = torch.empty(3, 3, dtype=torch.int64)
    torch.add(a, b, out=r)
    torch.mul(r, 2, out=a)
    torch.cumsum(a, 0, out=b)
    return r


@program(half(2, 4, 4))
def triu_mask(s):
    T = s.shape[-1]
    m = torch.ones(T, T, dtype=torch.bool).triu(1)
    s.masked_fill_(m, float('-inf'))
    p = s.softmax(-1)
    p[:, 0, 0] *= 0.5
    return p


@program(whole(9, low=0, high=30))
def heap_down(x):
    i, N = (0, x.shape[0])
    while 2 * i + 1 < N:
        c = 2 * i + 1
        if c + 1 < N and x[c + 1] > x[c]:
            c += 1
        if x[i] >= x[c]:
            break
        t = x[i].clone()
        x[i] = x[c]
        x[c] = t
        i = c
    return i


@program(half(5, 3))
def dict_state(x):
    st = {'h': torch.zeros(3), 'n': 0}
    for row in x:
        st['h'] = torch.tanh(st['h'] + row)
        st['n'] += 1
    return st['h'] / st['n']


@program(normal(5, 3, by=2.0), half(5, 3))
def try_where(x, y):
    z = torch.where(x > y, x, y)
    z[z.isnan()] = 0
    z.clamp_(-1, 1).mul_(torch.sign(x))
    return (z.nonzero().shape[0], z.any(dim=1), z.amax(), z.argmin(1))


@program(whole(4, 4, low=-5, high=9), number(2))
def chained_compare(x, k: int):
    c = 0
    for i in range(4):
        for j in range(4):
            if 0 < x[i, j] < 5 and (i + j) % k == 0:
                x[i, j] = -x[i, j]
                c += 1
            elif not x[i, j] >= 0 or i == j:
                x[i, j] //= 2
    return c


@program(half(3, 2, 2), half(3, 2))
def batched_solve2(A, b):
    out = torch.empty_like(b)
    for i in range(A.size(0)):
        (a, c), (d, e) = A[i]
        det = a * e - c * d
        out[i, 0] = (b[i, 0] * e - c * b[i, 1]) / det
        out[i, 1] = (a * b[i, 1] - b[i, 0] * d) / det
    return out
