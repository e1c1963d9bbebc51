# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Algorithms as people write them over tensors: decoders, dynamic programs, factorisations, filters, recurrent layers, graphs.
`PROGRAMS` has for each function what makes its arguments from a generator."""

import math

import torch
import torch.nn.functional as F
from script_loops_and_branches import normal, number, whole

PROGRAMS = {}


def program(*makers):
    """Registers a function with what makes its arguments."""
    def register(function):
        PROGRAMS[function.__name__] = (function, makers)
        return function

    return register


def symmetric(size):
    """A matrix that is positive definite."""
    def make(g):
        a = torch.randn(size, size, generator=g)
        return a @ a.T + torch.eye(size) * size

    return make


def positive(*sizes):
    return lambda g: torch.rand(*sizes, generator=g) + 0.01


def zeros(*sizes):
    return lambda g: torch.zeros(*sizes)


def given(numbers):
    return lambda g: torch.tensor(numbers)


def rising(count):
    return lambda g: torch.arange(count) * 2 + 1


def boxes(count):
    """Corners of boxes, the lower ones first."""
    def make(g):
        found = torch.rand(count, 4, generator=g) * 10
        found[:, 2:] += found[:, :2]
        return found

    return make


def by_keyword(**k):
    return k["a"] + (k["b"] if "b" in k else 0)


@program(normal(7, 13), normal(13, 13), number(3))
def beam_search(logp, trans, beam: int):
    T, V = logp.shape
    scores = logp[0].clone()
    best, idx = scores.topk(beam)
    seqs = torch.full((beam, T), -1, dtype=torch.int64)
    seqs[:, 0] = idx
    for t in range(1, T):
        cand = best[:, None] + trans[seqs[:, t - 1]] + logp[t][None]
        best, flat = cand.flatten().topk(beam)
        prev = flat // V
        seqs = seqs[prev].clone()
        seqs[:, t] = flat % V
    return best, seqs


@program(normal(31, 7), normal(7, 7), normal(7))
def viterbi(emit, trans, start):
    T, S = emit.shape
    score = start + emit[0]
    back = torch.zeros(T, S, dtype=torch.long)
    for t in range(1, T):
        m = score[:, None] + trans
        score, back[t] = m.max(0)
        score = score + emit[t]
    path = torch.zeros(T, dtype=torch.long)
    path[T - 1] = score.argmax()
    for t in range(T - 1, 0, -1):
        path[t - 1] = back[t][path[t]]
    return path, score.max()


@program(normal(23, 5), number(0))
def ctc_greedy(logits, blank: int):
    ids = logits.argmax(-1)
    out = []
    keep = torch.ones_like(ids, dtype=torch.bool)
    keep[1:] = ids[1:] != ids[:-1]
    keep &= ids != blank
    return ids[keep], keep.sum()


@program(normal(13, 7), whole(5, low=1, high=7), number(0))
def ctc_forward(logp, labels, blank: int):
    T, C = logp.shape
    L = 2 * labels.shape[0] + 1
    ext = torch.full((L,), blank, dtype=torch.long)
    ext[1::2] = labels
    alpha = torch.full((L,), float("-inf"))
    alpha[0] = logp[0, blank]
    alpha[1] = logp[0, ext[1]]
    skip = torch.zeros(L, dtype=torch.bool)
    skip[2:] = (ext[2:] != blank) & (ext[2:] != ext[:-2])
    for t in range(1, T):
        a = alpha.clone()
        b = torch.full_like(alpha, float("-inf"))
        b[1:] = alpha[:-1]
        c = torch.full_like(alpha, float("-inf"))
        c[2:] = torch.where(skip[2:], alpha[:-2], c[2:])
        alpha = torch.logsumexp(torch.stack([a, b, c]), 0) + logp[t, ext]
    return torch.logaddexp(alpha[-1], alpha[-2])


@program(normal(7, 5, by=0.3), number(7))
def sinkhorn(cost, n: int):
    K = torch.exp(-cost)
    u = torch.ones(cost.size(0))
    v = torch.ones(cost.size(1))
    for _ in range(n):
        u = 1.0 / (K @ v)
        v = 1.0 / (K.T @ u)
    return torch.diag(u) @ K @ torch.diag(v)


@program(symmetric(13), number(11))
def power_iteration(a, n: int):
    v = torch.ones(a.shape[0]) / a.shape[0] ** 0.5
    for _ in range(n):
        v = a @ v
        v /= v.norm()
    return v, v @ a @ v


@program(normal(13, 7))
def gram_schmidt(a):
    q = torch.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j].clone()
        for i in range(j):
            v -= (q[:, i] @ v) * q[:, i]
        q[:, j] = v / torch.norm(v)
    return q


@program(symmetric(11), normal(11), number(1e-4))
def conjugate_gradients(A, b, tol: float):
    x = torch.zeros_like(b)
    r = b - A @ x
    p = r.clone()
    rs = r.dot(r)
    it = 0
    while it < b.numel():
        Ap = A @ p
        alpha = rs / p.dot(Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r.dot(r)
        if torch.sqrt(new) < tol:
            break
        p = r + (new / rs) * p
        rs = new
        it += 1
    return x


@program(normal(7), normal(11))
def warped(x, y):
    n, m = x.shape[0], y.shape[0]
    d = torch.full((n + 1, m + 1), float("inf"))
    d[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            c = (x[i - 1] - y[j - 1]).abs()
            d[i, j] = c + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[n, m], d


@program(normal(7, 5), number(0.5))
def soft_dtw(D, gamma: float):
    n, m = D.shape
    R = torch.full((n + 2, m + 2), float("inf"))
    R[0, 0] = 0.
    for j in range(1, m + 1):
        for i in range(1, n + 1):
            r = torch.stack((R[i - 1, j - 1], R[i - 1, j], R[i, j - 1]))
            R[i, j] = D[i - 1, j - 1] - gamma * torch.logsumexp(-r / gamma, dim=0)
    return R[-2, -2]


@program(whole(7, 13, low=0, high=2), number(5))
def life_in_windows(b, n: int):
    for _ in range(n):
        p = torch.nn.functional.pad(b, (1, 1, 1, 1))
        s = torch.zeros_like(b)
        for dy in (0, 1, 2):
            for dx in (0, 1, 2):
                if dy != 1 or dx != 1:
                    s += p[dy:dy + b.shape[0], dx:dx + b.shape[1]]
        b = ((s == 3) | ((b == 1) & (s == 2))).to(b.dtype)
    return b


@program(whole(127))
def prefix_sums(x):
    x = x.clone()
    d = 1
    while d < x.numel():
        x[d:] = x[d:] + x[:-d]
        d *= 2
    return x


@program(normal(31), number(5))
def running_median(x, k: int):
    n = x.numel() - k + 1
    out = torch.empty(n)
    for i in range(n):
        out[i] = x[i:i + k].median()
    return out


@program(positive(5, 5), positive(5, 7), positive(5), whole(13, low=0, high=7))
def forward_backward(A, B, pi, obs):
    T = obs.shape[0]
    N = A.shape[0]
    al = torch.zeros(T, N)
    be = torch.zeros(T, N)
    c = torch.zeros(T)
    al[0] = pi * B[:, obs[0]]
    c[0] = al[0].sum()
    al[0] /= c[0]
    for t in range(1, T):
        al[t] = (al[t - 1] @ A) * B[:, obs[t]]
        c[t] = al[t].sum()
        al[t] /= c[t]
    be[-1] = 1
    for t in reversed(range(T - 1)):
        be[t] = A @ (B[:, obs[t + 1]] * be[t + 1]) / c[t + 1]
    g = al * be
    return g / g.sum(1, keepdim=True), c.log().sum()


@program(normal(7, 1), normal(2, 2, by=0.5), normal(1, 2), symmetric(2), symmetric(1), normal(2), symmetric(2))
def kalman(z, F, H, Q, Rn, x, P):
    out = []
    I = torch.eye(F.shape[0])
    for k in range(z.shape[0]):
        x = F @ x
        P = F @ P @ F.mT + Q
        y = z[k] - H @ x
        S = (H @ P @ H.mT + Rn)[0, 0]
        K = P @ H.mT / S
        x = x + (K @ y[:, None])[:, 0]
        P = (I - K @ H) @ P
        out.append(x)
    return torch.stack(out), P


@program(normal(3, 17), number(0.7))
def top_p(logits, p: float):
    s, i = torch.sort(logits, descending=True)
    c = s.softmax(-1).cumsum(-1)
    rem = c > p
    rem[..., 1:] = rem[..., :-1].clone()
    rem[..., 0] = False
    mask = torch.zeros_like(rem).scatter(-1, i, rem)
    return logits.masked_fill(mask, float("-inf"))


@program(whole(4, low=0, high=5), positive(5, 5), positive(5, 5), positive(4))
def speculative(draft, p, q, u):
    n = 0
    for i in range(draft.shape[0]):
        t = draft[i]
        r = p[i, t] / q[i, t]
        if u[i] < r:
            n += 1
        else:
            break
    out = torch.full((draft.shape[0] + 1,), -1, dtype=torch.int64)
    out[:n] = draft[:n]
    res = (p[n] - q[min(n, draft.shape[0] - 1)]).clamp(min=0)
    out[n] = res.argmax()
    return out, n


@program(positive(13), normal(13, 2))
def resample(w, x):
    n = w.numel()
    pos = (torch.arange(n) + 0.5) / n
    c = torch.cumsum(w / w.sum(), 0)
    idx = torch.zeros(n, dtype=torch.long)
    i, j = 0, 0
    while i < n:
        if pos[i] < c[j] or j == n - 1:
            idx[i] = j
            i += 1
        else:
            j += 1
    return x[idx]


@program(normal(3, 17), normal(3), normal(3, by=0.1))
def recursive_filter(x, b, a):
    y = torch.zeros_like(x)
    for n in range(x.shape[-1]):
        acc = x[..., n] * b[0]
        for k in range(1, 3):
            if n - k >= 0:
                acc = acc + b[k] * x[..., n - k] - a[k] * y[..., n - k]
        y[..., n] = acc
    return y


@program(normal(5, 5, by=0.3), number(9))
def expm(a, terms: int):
    r = torch.eye(a.shape[-1])
    t = r.clone()
    for k in range(1, terms):
        t = t @ a / k
        r += t
    return r


@program(normal(14))
def lifting(x):
    s, d = x[::2].clone(), x[1::2].clone()
    d -= s
    s += d / 2
    y = torch.empty_like(x)
    y[: s.numel()] = s
    y[s.numel():] = d
    return y


@program(whole(17, low=0, high=1000))
def bits(x):
    c = torch.zeros_like(x)
    v = x.clone()
    while (v != 0).any():
        c += v & 1
        v >>= 1
    g = x ^ (x >> 1)
    return c, g, x & -x


@program(boxes(13), positive(13), number(0.5))
def soft_nms(boxes, scores, sigma: float):
    n = scores.numel()
    scores = scores.clone()
    keep = torch.zeros(n, dtype=torch.bool)
    done = torch.zeros(n, dtype=torch.bool)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for _ in range(n):
        s = scores.masked_fill(done, -1.0)
        i = s.argmax()
        if s[i] < 0.05:
            break
        done[i] = True
        keep[i] = True
        lt = torch.max(boxes[i, :2], boxes[:, :2])
        rb = torch.min(boxes[i, 2:], boxes[:, 2:])
        wh = (rb - lt).clamp(min=0)
        inter = wh[:, 0] * wh[:, 1]
        iou = inter / (area[i] + area - inter)
        scores = torch.where(done, scores, scores * torch.exp(-(iou ** 2) / sigma))
    return keep, scores


@program(normal(5, 7))
def greedy_match(cost):
    c = cost.clone()
    n, m = c.shape
    pairs = torch.full((n,), -1)
    for _ in range(min(n, m)):
        k = c.argmin()
        i, j = k // m, k % m
        pairs[i] = j
        c[i] = float("inf")
        c[:, j] = float("inf")
    return pairs


@program(normal(7, 5), normal(9, 6), normal(5, 6), normal(6, 6), normal(6, 9))
def rnnt_greedy(enc, emb, W, U, V):
    T = enc.shape[0]
    h = torch.zeros(U.shape[0])
    tok = 0
    out = torch.zeros(T * 2, dtype=torch.int64)
    n = 0
    for t in range(T):
        for _ in range(2):
            j = torch.tanh(enc[t] @ W + h)
            k = int((j @ V).argmax())
            if k == 0:
                break
            out[n] = k
            n += 1
            h = torch.tanh(emb[k] + h @ U)
    return out[:n], h


@program(whole(5, low=0, high=2), whole(31, low=0, high=2))
def matches(p, t):
    n = p.numel()
    f = torch.zeros(n, dtype=torch.int64)
    k = 0
    for i in range(1, n):
        while k > 0 and p[k] != p[i]:
            k = int(f[k - 1])
        if p[k] == p[i]:
            k += 1
        f[i] = k
    q = 0
    hits = torch.zeros_like(t)
    for i in range(t.numel()):
        while q > 0 and (q == n or p[q] != t[i]):
            q = int(f[q - 1])
        if p[q] == t[i]:
            q += 1
        if q == n:
            hits[i] = 1
    return f, hits


@program(boxes(7))
def union_boxes(b):
    u = b[0].clone()
    for r in b[1:]:
        u[:2] = torch.minimum(u[:2], r[:2])
        u[2:] = torch.maximum(u[2:], r[2:])
    return u


@program(normal(17), number(5))
def nbest(x, k: int):
    res = []
    y = x.clone()
    for _ in range(k):
        v, i = y.max(dim=0)
        res.append((v, i))
        y[i] = -1e9
    return torch.stack([v for v, _ in res]), torch.stack([i for _, i in res])


@program(normal(31, 3), normal(4, 3), number(3))
def kmeans(x, c, n: int):
    for _ in range(n):
        d = torch.cdist(x, c)
        a = d.argmin(1)
        for k in range(c.shape[0]):
            m = a == k
            if m.any():
                c[k] = x[m].mean(0)
    return c, a


@program(whole(11, low=0, high=3), whole(7, low=0, high=3))
def common_subsequence(a, b):
    n, m = len(a), len(b)
    L = torch.zeros(n + 1, m + 1, dtype=torch.int32)
    for i in range(n):
        for j in range(m):
            if a[i] == b[j]:
                L[i + 1, j + 1] = L[i, j] + 1
            else:
                L[i + 1, j + 1] = torch.max(L[i, j + 1], L[i + 1, j])
    i, j = n, m
    picks = torch.zeros(n, dtype=torch.bool)
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            picks[i - 1] = True
            i -= 1
            j -= 1
        elif L[i - 1, j] >= L[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return L[n, m], picks


@program(whole(11, low=0, high=5), whole(11, low=0, high=5), positive(11), number(5))
def bellman(src, dst, w, n: int):
    dist = torch.full((n,), float("inf"))
    dist[0] = 0
    for _ in range(n - 1):
        changed = False
        for e in range(src.shape[0]):
            nd = dist[src[e]] + w[e]
            if nd < dist[dst[e]]:
                dist[dst[e]] = nd
                changed = True
        if not changed:
            break
    return dist


@program(positive(7, 7), number(0.85), number(1e-4))
def pagerank(A, damping: float, tol: float):
    n = A.shape[0]
    P = A / A.sum(0, keepdim=True).clamp(min=1e-9)
    r = torch.full((n,), 1 / n)
    it = 0
    while True:
        nr = (1 - damping) / n + damping * (P @ r)
        delta = (nr - r).abs().sum()
        r = nr
        it += 1
        if delta < tol or it >= 100:
            break
    return r, it


@program(normal(2), number(0.1), number(13))
def rk4(y, h: float, n: int):
    def f(s):
        return torch.stack([s[1], -s[0] - 0.1 * s[1]])
    traj = torch.empty(n + 1, 2)
    traj[0] = y
    for i in range(n):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        traj[i + 1] = y
    return traj


@program(normal(13, 7), number(5))
def heat(u, steps: int):
    for _ in range(steps):
        lap = torch.zeros_like(u)
        lap[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        u += 0.1 * lap
    return u


@program(symmetric(7), normal(7), number(5))
def gauss_seidel(A, b, n: int):
    x = torch.zeros_like(b)
    for _ in range(n):
        for i in range(b.numel()):
            s = b[i] - A[i, :i] @ x[:i] - A[i, i+1:] @ x[i+1:]
            x[i] = s / A[i, i]
    return x


@program(symmetric(7))
def factors(A):
    n = A.size(0)
    U = A.clone()
    L = torch.eye(n)
    for k in range(n - 1):
        L[k+1:, k] = U[k+1:, k] / U[k, k]
        U[k+1:] -= torch.outer(L[k+1:, k], U[k])
    return L, U


@program(normal(7, 5))
def householder(A):
    m, n = A.shape
    Q = torch.eye(m)
    Rr = A.clone()
    for j in range(n):
        x = Rr[j:, j]
        e = torch.zeros_like(x)
        e[0] = torch.sign(x[0]) * x.norm()
        v = x + e
        v = v / v.norm()
        Rr[j:] -= 2 * torch.outer(v, v @ Rr[j:])
        Q[:, j:] -= 2 * torch.outer(Q[:, j:] @ v, v)
    return Q, Rr


@program(symmetric(5), number(2))
def jacobi_eig(A, sweeps: int):
    n = A.shape[0]
    A = A.clone()
    for _ in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if A[p, q].abs() < 1e-9:
                    continue
                th = 0.5 * torch.atan2(2 * A[p, q], A[q, q] - A[p, p])
                c, s = th.cos(), th.sin()
                Ap, Aq = A[p].clone(), A[q].clone()
                A[p] = c * Ap - s * Aq
                A[q] = s * Ap + c * Aq
                Bp, Bq = A[:, p].clone(), A[:, q].clone()
                A[:, p] = c * Bp - s * Bq
                A[:, q] = s * Bp + c * Bq
    return A.diag().sort().values


@program(normal(16), normal(16))
def butterflies(re, im):
    n = re.numel()
    bits = int(math.log2(n))
    idx = torch.arange(n)
    rev = torch.zeros_like(idx)
    for i in range(bits):
        rev = (rev << 1) | ((idx >> i) & 1)
    re, im = re[rev], im[rev]
    size = 2
    while size <= n:
        half = size // 2
        ang = -2 * math.pi * torch.arange(half) / size
        wr, wi = ang.cos(), ang.sin()
        R2, I2 = re.view(-1, size), im.view(-1, size)
        er, ei = R2[:, :half], I2[:, :half]
        orr, oi = R2[:, half:], I2[:, half:]
        tr, ti = orr * wr - oi * wi, orr * wi + oi * wr
        re = torch.cat([er + tr, er - tr], 1).reshape(-1)
        im = torch.cat([ei + ti, ei - ti], 1).reshape(-1)
        size *= 2
    return re, im


@program(whole(16, low=0, high=100))
def bitonic(x):
    n = x.shape[0]
    k = 2
    i = torch.arange(n)
    while k <= n:
        j = k // 2
        while j > 0:
            l = i ^ j
            up = (i & k) == 0
            a, b = x[i], x[l]
            swap = torch.where(i < l, (a > b) == up, (a < b) == up)
            x = torch.where(swap, b, a)
            j //= 2
        k *= 2
    return x


@program(whole(11))
def insertion_sort(x):
    x = x.clone()
    for i in range(1, len(x)):
        key = x[i].clone()
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


@program(rising(17), number(21))
def two_pointer(x, target: int):
    l, r = 0, x.numel() - 1
    while l < r:
        s = x[l] + x[r]
        if s == target:
            return l, r
        elif s < target:
            l += 1
        else:
            r -= 1
    return -1, -1


@program(whole(17))
def kadane(x):
    best = cur = x[0]
    start = 0
    bs = 0
    be = 0
    for i in range(1, x.numel()):
        if cur < 0:
            cur = x[i]
            start = i
        else:
            cur = cur + x[i]
        if cur > best:
            best, bs, be = cur, start, i
    return best, bs, be


@program(whole(5, 2, low=0, high=7), number(7))
def union_find(edges, n: int):
    p = torch.arange(n)
    for e in range(edges.shape[0]):
        a, b = edges[e, 0], edges[e, 1]
        while p[a] != a:
            a = p[a]
        while p[b] != b:
            b = p[b]
        if a != b:
            p[torch.max(a, b)] = torch.min(a, b)
    for i in range(n):
        r = p[i]
        while p[r] != r:
            r = p[r]
        p[i] = r
    return p


@program(whole(7, 7, low=0, high=2))
def label_prop(mask):
    H, W = mask.shape
    lab = torch.arange(1, H * W + 1).view(H, W) * mask
    changed = True
    while changed:
        old = lab.clone()
        p = F.pad(lab, (1, 1, 1, 1))
        m = torch.stack([p[1:-1, 1:-1], p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]]).amax(0)
        lab = m * mask
        changed = bool((lab != old).any())
    return lab


@program(normal(3, 7, 5), whole(3, low=1, high=8), normal(5, 24), normal(6, 24), normal(24))
def masked_lstm(x, lens, w, u, b):
    B, T, D = x.shape
    H = u.shape[0]
    h = x.new_zeros(B, H)
    c = x.new_zeros(B, H)
    ys = x.new_zeros(B, T, H)
    for t in range(T):
        g = x[:, t] @ w + h @ u + b
        i, f, o, z = g.split(H, dim=1)
        cn = f.sigmoid() * c + i.sigmoid() * z.tanh()
        hn = o.sigmoid() * cn.tanh()
        m = (t < lens).unsqueeze(1)
        h = torch.where(m, hn, h)
        c = torch.where(m, cn, c)
        ys[:, t] = h * m
    return ys, h


@program(normal(13, 8), normal(13, 8), normal(13, 8))
def attention_causal_loop(q, k, v):
    T, D = q.shape
    out = torch.zeros_like(v)
    for t in range(T):
        s = (q[t] @ k[: t + 1].T) / math.sqrt(D)
        out[t] = s.softmax(-1) @ v[: t + 1]
    return out


@program(normal(17), normal(17, 5))
def online_softmax(x, v):
    m = torch.tensor(float("-inf"))
    d = torch.tensor(0.0)
    o = torch.zeros(v.shape[1])
    for i in range(x.shape[0]):
        nm = torch.maximum(m, x[i])
        s = torch.exp(m - nm)
        e = torch.exp(x[i] - nm)
        d = d * s + e
        o = o * s + e * v[i]
        m = nm
    return o / d


@program(normal(7, 5), normal(7, 5), normal(7, 3))
def linear_attention(q, k, v):
    S = torch.zeros(k.shape[1], v.shape[1])
    y = torch.empty(q.shape[0], v.shape[1])
    for t in range(q.shape[0]):
        S += k[t].unsqueeze(1) * v[t].unsqueeze(0)
        y[t] = q[t] @ S
    return y, S


@program(normal(7, 5), normal(7, 5, by=0.3), normal(7, 3), positive(7))
def delta_rule(q, k, v, beta):
    S = torch.zeros(v.size(-1), k.size(-1))
    o = []
    for t in range(q.size(0)):
        vo = S @ k[t]
        S = S + beta[t] * torch.outer(v[t] - vo, k[t])
        o.append(S @ q[t])
    return torch.stack(o)


@program(normal(2, 7, 5), positive(2, 7, 5), normal(5, 3, by=0.1), normal(2, 7, 3), normal(2, 7, 3), normal(5))
def mamba_scan(u, dt, A, B, C, D):
    b, l, d = u.shape
    n = A.shape[1]
    h = torch.zeros(b, d, n)
    ys = []
    for i in range(l):
        dA = torch.exp(torch.einsum("bd,dn->bdn", dt[:, i], A))
        dB = torch.einsum("bd,bn,bd->bdn", dt[:, i], B[:, i], u[:, i])
        h = dA * h + dB
        ys.append(torch.einsum("bdn,bn->bd", h, C[:, i]))
    return torch.stack(ys, dim=1) + u * D


@program(normal(7, by=0.1), normal(7), normal(13, 7), normal(13, 7))
def rwkv(w, u, k, v):
    T, C = k.shape
    aa = torch.zeros(C)
    bb = torch.zeros(C)
    pp = torch.full((C,), -1e38)
    y = torch.zeros_like(v)
    for t in range(T):
        ww = u + k[t]
        qq = torch.maximum(pp, ww)
        e1 = torch.exp(pp - qq)
        e2 = torch.exp(ww - qq)
        y[t] = (e1 * aa + e2 * v[t]) / (e1 * bb + e2)
        ww = pp + w
        qq = torch.maximum(ww, k[t])
        e1 = torch.exp(ww - qq)
        e2 = torch.exp(k[t] - qq)
        aa = e1 * aa + e2 * v[t]
        bb = e1 * bb + e2
        pp = qq
    return y


@program(normal(11, 3, 5), number(3))
def capsule(u, iters: int):
    b = torch.zeros(u.shape[0], u.shape[1])
    for i in range(iters):
        c = F.softmax(b, dim=1)
        s = (c.unsqueeze(-1) * u).sum(0)
        n2 = (s ** 2).sum(-1, keepdim=True)
        v = n2 / (1 + n2) * s / torch.sqrt(n2)
        if i < iters - 1:
            b = b + (u * v.unsqueeze(0)).sum(-1)
    return v


@program(normal(7, 2, 6))
def rotary(x, base: float = 10000.0):
    T, H, D = x.shape
    inv = 1.0 / (base ** (torch.arange(0, D, 2).float() / D))
    f = torch.outer(torch.arange(T).float(), inv)
    c, s = f.cos()[:, None], f.sin()[:, None]
    y = torch.empty_like(x)
    y[..., ::2] = x[..., ::2] * c - x[..., 1::2] * s
    y[..., 1::2] = x[..., ::2] * s + x[..., 1::2] * c
    return y


@program(normal(7, 6), normal(6, 4), normal(4, 6, 8), normal(4, 8, 6), number(2))
def experts(x, gate, w1, w2, k: int):
    sc = (x @ gate).softmax(-1)
    val, idx = sc.topk(k, dim=-1)
    val = val / val.sum(-1, keepdim=True)
    out = torch.zeros_like(x)
    for e in range(gate.shape[1]):
        tok, slot = torch.where(idx == e)
        if tok.numel() == 0:
            continue
        y = F.silu(x[tok] @ w1[e]) @ w2[e]
        out.index_add_(0, tok, y * val[tok, slot, None])
    return out


@program(normal(9, 5), normal(5, 6), normal(6, 6), normal(6, 9), number(1), number(2), number(13))
def decode(emb, W, U, V, start: int, eos: int, max_len: int):
    h = torch.zeros(U.shape[0])
    tok = torch.tensor(start)
    out = torch.full((max_len,), eos)
    n = 0
    done = False
    while not done and n < max_len:
        h = torch.tanh(emb[tok] @ W + h @ U)
        tok = (h @ V).argmax()
        out[n] = tok
        n += 1
        done = tok.item() == eos
    return out[:n], n


@program(normal(5), given([1, 2, 3, 1, 2]), number(3))
def ngram_block(logits, toks, n: int):
    L = toks.numel()
    if L + 1 < n:
        return logits
    last = toks[L - n + 1:]
    for i in range(L - n + 1):
        if torch.equal(toks[i:i + n - 1], last):
            logits[toks[i + n - 1]] = -math.inf
    return logits


@program(normal(7), normal(7), zeros(7), zeros(7), number(5))
def adam(p, g, m, v, steps: int):
    for t in range(1, steps + 1):
        gt = g * p
        m.mul_(0.9).add_(gt, alpha=0.1)
        v.mul_(0.999).addcmul_(gt, gt, value=0.001)
        mh = m / (1 - 0.9 ** t)
        vh = v / (1 - 0.999 ** t)
        p.addcdiv_(mh, vh.sqrt().add_(1e-8), value=-0.01)
    return p


@program(normal(3, 11), number(4))
def sliding_max(x, k: int):
    out = x.clone()
    for i in range(x.shape[-1]):
        lo = max(0, i - k + 1)
        out[..., i] = x[..., lo:i + 1].amax(-1)
    return out


@program(normal(11))
def cumulative_argmax(x):
    best = x[0]
    bi = torch.zeros((), dtype=torch.long)
    hist = []
    for i, xi in enumerate(x):
        if xi > best:
            best = xi
            bi = torch.tensor(i)
        hist.append(bi)
    return torch.stack(hist)


@program(normal(7, 5))
def integral_image(x):
    I = torch.zeros(x.shape[0] + 1, x.shape[1] + 1)
    for i in range(x.shape[0]):
        row = torch.zeros(())
        for j in range(x.shape[1]):
            row = row + x[i, j]
            I[i + 1, j + 1] = I[i, j + 1] + row
    return I


@program(whole(13, low=1, high=30))
def collatz(x):
    n = torch.zeros_like(x)
    active = x != 1
    while active.any():
        x = torch.where(active, torch.where(x % 2 == 0, x // 2, 3 * x + 1), x)
        n[active] += 1
        active = x != 1
    return n


@program(whole(5, low=0, high=255), number(0x1021))
def checksum(x, poly: int):
    c = torch.zeros((), dtype=torch.int64)
    for b in range(x.numel()):
        c = c ^ (x[b] << 8)
        for _ in range(8):
            if c & 0x8000:
                c = ((c << 1) ^ poly) & 0xffff
            else:
                c = (c << 1) & 0xffff
    return c


@program(normal(5, 3))
def sum_from_none(x):
    acc = None
    for i in range(x.shape[0]):
        if acc is None:
            acc = x[i].clone()
        else:
            acc += x[i]
    return acc


@program(normal(5, 3))
def chain_from_none(x):
    prev = None
    i = 0
    while i < x.shape[0]:
        if prev is not None:
            x[i] += prev
        prev = x[i]
        i += 1
    return prev


@program(given([1, 5, 2, 7, 3, 2]), number(2))
def isin_data(x, eos: int):
    n = 0
    for i in range(x.numel()):
        t = int(x[i])
        if t in (eos, 3):
            break
        n += 1
    return n


@program(given([1, 2, 1, 3, 2]))
def not_in_seen(x):
    seen = torch.full((x.numel(),), -1)
    k = 0
    for i in range(x.numel()):
        if x[i] not in seen:
            seen[k] = x[i]
            k += 1
    return seen, k


@program(normal(7, 3))
def sum_from_zero(x):
    total = 0
    for r in x:
        total = total + r
    return total / len(x)


@program(normal(3, 5, 2))
def total_nested(x):
    out = []
    for b in range(x.shape[0]):
        h = None
        for t in range(x.shape[1]):
            h = x[b, t] if h is None else 0.5 * h + x[b, t]
        out.append(h)
    return torch.stack(out)


@program(given([1, 2, 5, 3, 7]))
def prev_break(x):
    prev = None
    n = 0
    for v in x:
        if prev is not None and v < prev:
            break
        prev = v
        n += 1
    return prev, n


@program(normal(7, 3), normal(3, 4))
def state_tuple(x, w):
    state = None
    ys = []
    for t in range(x.shape[0]):
        if state is None:
            h, c = torch.zeros(w.shape[1]), torch.zeros(w.shape[1])
        else:
            h, c = state
        c = 0.9 * c + x[t] @ w
        h = torch.tanh(c) + h
        state = (h, c)
        ys.append(h)
    return torch.stack(ys), state


@program(normal(7, 3))
def best_row(x):
    best = None
    arg = -1
    for i in range(x.shape[0]):
        s = x[i].sum()
        if best is None or s > best:
            best = s
            arg = i
    return best, arg


@program(normal(4), number(1e-3))
def until_it_settles(x, tol: float):
    prev = None
    i = 0
    while True:
        x = x * 0.5
        if prev is not None and (x - prev).abs().max() < tol:
            break
        prev = x
        i += 1
    return x, i


@program(normal(16))
def sizes_by_counter(x):
    outs = []
    k = 1
    while k <= 8:
        outs.append(x.view(k, -1).sum(0).max())
        k *= 2
    return torch.stack(outs)


@program(normal(5, 5))
def eye_loop(x):
    t = torch.zeros(())
    for i in range(1, 5):
        t = t + (torch.eye(i) * x[:i, :i]).sum() * 0.9 ** i
    return t


@program(whole(13))
def doubling(x):
    d = 1
    while d < x.shape[0]:
        x = x + torch.cat([torch.zeros(d), x[:-d]])
        d = d * 2
    return x


@program(normal(16))
def wavelets(x):
    n = x.shape[0]
    x = x.clone()
    while n > 1:
        n //= 2
        a = (x[:2 * n:2] + x[1:2 * n:2]) / math.sqrt(2)
        d = (x[:2 * n:2] - x[1:2 * n:2]) / math.sqrt(2)
        x[:n] = a
        x[n:2 * n] = d
    return x


@program(number(5), number(6))
def positions(T: int, D: int):
    p = torch.zeros(T, D)
    for pos in range(T):
        for i in range(0, D, 2):
            p[pos, i] = math.sin(pos / 10000 ** (i / D))
            p[pos, i + 1] = math.cos(pos / 10000 ** (i / D))
    return p


@program(normal(3), normal(3))
def optional_by_keyword(x, y):
    return by_keyword(a=x) + by_keyword(a=x, b=y)


@program(number(6))
def pascal(n: int):
    rows = [torch.ones(1, dtype=torch.long)]
    for i in range(1, n):
        r = torch.ones(i + 1, dtype=torch.long)
        r[1:-1] = rows[-1][1:] + rows[-1][:-1]
        rows.append(r)
    return rows
