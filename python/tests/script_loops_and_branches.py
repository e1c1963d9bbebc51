# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imperative programs of PyTorch, as people write them: other sizes, types and branches than in `script_programs.py`.
`PROGRAMS` has for each function what makes its arguments from a generator."""

import torch

PROGRAMS = {}


def program(*makers):
    """Registers a function with what makes its arguments."""
    def register(function):
        PROGRAMS[function.__name__] = (function, makers)
        return function

    return register


def normal(*sizes, by=1.0, dtype=torch.float32):
    return lambda g: (torch.randn(*sizes, generator=g) * by).to(dtype)


def whole(*sizes, low=-5, high=6, dtype=torch.int64):
    return lambda g: torch.randint(low, high, sizes, generator=g).to(dtype)


def number(value):
    return lambda g: value


# -- recurrences with a batch -----------------------------------------------------------------------------------------------


@program(normal(5, 11), normal(5, 7, 11), normal(11, 11, by=0.2), normal(11))
def rnn_of_a_batch(h, x, w, b):
    """One layer, five sequences."""
    out = torch.zeros(5, 7, 11)
    for t in range(x.size(1)):
        h = torch.tanh(x[:, t] + h @ w + b)
        out[:, t] = h
    return out, h


@program(normal(7, 3, 13), normal(4, 13, 13, by=0.2), normal(4, 13, 13, by=0.2), normal(3, 13), normal(3, 13))
def lstm_cell_rows(x, wi, wh, h, c):
    outs = []
    for t in range(7):
        i = (x[t] @ wi[0] + h @ wh[0]).sigmoid()
        f = (x[t] @ wi[1] + h @ wh[1] + 1).sigmoid()
        g = (x[t] @ wi[2] + h @ wh[2]).tanh()
        o = (x[t] @ wi[3] + h @ wh[3]).sigmoid()
        c.mul_(f).add_(i * g)
        h = o * c.tanh()
        outs.append(h)
    return torch.stack(outs, 1), c


@program(normal(2, 3, 1, 5), normal(3, 5, 5, by=0.3), normal(3, 5, 5, by=0.3), normal(2, 3, 9, 5, by=0.1), normal(2, 3, 9, 5), number(2))
def cached_attention_of_a_batch(x, wk, wv, k, v, start: int):
    """Two dimensions that all statements share."""
    for t in range(start, 9):
        k[:, :, t] = (x @ wk).squeeze(2)
        v[:, :, t] = (x @ wv).squeeze(2)
        p = (x @ k[:, :, : 9].transpose(2, 3) / 5 ** 0.5).softmax(-1)
        x = torch.tanh(p @ v)
    return x


@program(normal(4, 1, 6), normal(4, 6, 6, by=0.3), normal(24, 6, by=0.3), normal(4, 8, 6))
def heads_that_meet(x, wk, wo, k):
    """Heads are joined in each step: they are no batch."""
    for t in range(8):
        k[:, t : t + 1] = x @ wk
        p = (x @ k.transpose(1, 2)).softmax(-1) @ k
        x = (p.reshape(1, 24) @ wo).expand(4, 1, 6)
    return x


@program(normal(6, 5), normal(6, 5), normal(5, 5, by=0.4))
def states_that_change_places(a, b, w):
    for _ in range(5):
        a, b = b, torch.tanh(a @ w)
    return a, b


@program(normal(3, 10, 4), normal(3, 4, 4, by=0.3), number(0.8))
def decayed_memory(x, w, keep: float):
    """Linear attention: a matrix for each of three heads."""
    s = torch.zeros(3, 4, 4)
    out = torch.empty(3, 10, 4)
    for t in range(10):
        q = torch.bmm(x[:, t].unsqueeze(1), w)
        s = s * keep + x[:, t].unsqueeze(2) * x[:, t].unsqueeze(1)
        out[:, t] = torch.bmm(q, s).squeeze(1)
    return out, s


@program(normal(4, 9), normal(9, 9, by=0.3), whole(12, low=0, high=4))
def rows_chosen_by_data(h, w, order):
    """Which row is changed is data: rows are no batch."""
    for i in order:
        h[i] = torch.tanh(h[i] @ w)
    return h.sum()


@program(normal(5, 8), normal(8, 8, by=0.3))
def until_all_are_small(h, w):
    steps = 0
    while steps < 12 and bool(h.abs().max() > 0.05):
        h = 0.5 * (h @ w)
        steps += 1
        if steps == 7:
            break
    return h, steps


@program(normal(5, 6, 7), normal(7, 7, by=0.3), normal(5, 7))
def both_ways(x, w, h):
    """Forwards, then backwards over what was written."""
    y = torch.zeros_like(x)
    for t in range(x.shape[1]):
        h = torch.tanh(h @ w + x[:, t])
        y[:, t] = h
    g = torch.zeros_like(h)
    for t in reversed(range(x.shape[1])):
        g = torch.tanh(g @ w + y[:, t])
        y[:, t] += g
    return y


@program(normal(3, 8), normal(2, 8, 8, by=0.3), normal(4, 3, 8))
def layers_in_steps(h, w, x):
    """Layers within steps, with a state for each layer in a list."""
    states = [h, h * 2]
    for t in range(4):
        y = x[t]
        for j in range(2):
            states[j] = torch.tanh(y @ w[j] + states[j])
            y = states[j]
    return y, states[0]


# -- integers, views of views, exits ---------------------------------------------------------------------------------------


@program(whole(29, low=0, high=9))
def bubble(x):
    n = x.numel()
    for i in range(n):
        for j in range(n - 1 - i):
            a, b = x[j].clone(), x[j + 1].clone()
            x[j], x[j + 1] = torch.minimum(a, b), torch.maximum(a, b)
    return x


@program(number(31))
def sieve(n: int):
    prime = torch.ones(n, dtype=torch.bool)
    prime[:2] = False
    for i in range(2, n):
        if i * i < n:
            prime[i * i :: i] &= False
    return prime, prime.sum()


@program(whole(7, 11, low=0, high=2))
def life(board):
    for _ in range(4):
        n = torch.zeros_like(board)
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dx or dy:
                    n += torch.roll(board, (dy, dx), (0, 1))
        board = ((n == 3) | ((board == 1) & (n == 2))).to(board.dtype)
    return board


@program(whole(13), whole(17))
def edit_distance(a, b):
    d = torch.zeros(14, 18, dtype=torch.int64)
    d[:, 0] = torch.arange(14)
    d[0] = torch.arange(18)
    for i in range(1, 14):
        for j in range(1, 18):
            cost = (a[i - 1] != b[j - 1]).long()
            d[i, j] = torch.min(torch.min(d[i - 1, j] + 1, d[i, j - 1] + 1), d[i - 1, j - 1] + cost)
    return d[-1, -1], d


@program(whole(6, 10, dtype=torch.int32))
def views_of_views(x):
    left, right = x[:, :5], x.flip(1)
    diagonal = left.t()[1:4].diagonal()
    for i in range(3):
        diagonal[i] += i
        x[1::2][i % 3][2:4] *= -1
        right = right + left.repeat(1, 2)
    left.t().narrow(0, 0, 1).fill_(7)
    return right, diagonal.sum()


@program(whole(9, 9, low=0, high=30))
def saddle(x):
    """An early return from nested loops."""
    for i in range(9):
        row = x[i]
        j = int(row.argmin())
        if bool(x[:, j].max() == row[j]):
            return i, j, row
        row[j] = -1
    return -1, -1, x[0]


@program(whole(5, 5), number(3))
def power_by_squares(m, k: int):
    result, base = torch.eye(5, dtype=torch.int64), m.clone()
    while k > 0:
        if k % 2:
            result = result @ base
        base = base @ base
        k //= 2
    return result


@program(normal(12, 5), number(3))
def k_means(x, k: int):
    centres = x[:k].clone()
    for _ in range(4):
        distance = ((x[:, None] - centres[None]) ** 2).sum(-1)
        label = distance.argmin(1)
        for j in range(k):
            mask = (label == j).float()
            total = mask.sum()
            if total > 0:
                centres[j] = (x * mask[:, None]).sum(0) / total
    return centres, label


@program(normal(7, 7, dtype=torch.float64))
def elimination(a):
    a += torch.eye(7, dtype=torch.float64) * 7
    n = a.shape[0]
    for k in range(n - 1):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
    return a.diagonal().prod()


@program(normal(5, 5, dtype=torch.float64))
def cholesky(a):
    a = a @ a.T + torch.eye(5, dtype=a.dtype)
    low = torch.zeros_like(a)
    for j in range(5):
        low[j, j] = torch.sqrt(a[j, j] - (low[j, :j] ** 2).sum())
        for i in range(j + 1, 5):
            low[i, j] = (a[i, j] - (low[i, :j] * low[j, :j]).sum()) / low[j, j]
    return low


@program(normal(23), number(5))
def moving_average(x, width: int):
    out = x.clone()
    for i in range(len(x)):
        low, high = max(0, i - width // 2), min(len(x), i + width // 2 + 1)
        out[i] = x[low:high].mean()
    x.copy_(out)
    return (x - out).abs().max()


@program(whole(2, 19, low=0, high=7))
def histogram(x):
    count = torch.zeros(2, 7, dtype=torch.int32)
    for i in range(19):
        for r in range(2):
            count[r, x[r, i]] += 1
    return count


@program(normal(4, 6, 6))
def nested_whiles(x):
    total, i = x.sum() * 0, 0
    while i < 4:
        j = 0
        while j < 6 and bool(x[i, j, j] < 1):
            x[i, j, j] += 0.5
            total = total + x[i, j].sum()
            j += 2
        i += 1
    return total, x[:, ::2, ::2].contiguous()


@program(normal(3, 8, dtype=torch.float16), normal(8, dtype=torch.float16))
def half_rows(x, scale):
    for row in x:
        row.sub_(row.mean()).div_(row.var(unbiased=False).add(1e-3).sqrt())
        row *= scale
    return x.amax(1)


@program(normal(6, 4, dtype=torch.bfloat16))
def old_versions(x):
    """What was there before stays alive in a list."""
    seen = [x.clone()]
    for i in range(1, 5):
        x[i] = x[i - 1] * 0.5 + seen[-1][i]
        seen.append(x.clone())
    return seen[0], seen[2], seen[-1]


@program(whole(11, 3, low=0, high=4, dtype=torch.int16))
def runs(x):
    """Lengths of runs of equal rows, with a flag and continue."""
    length, out = 1, torch.zeros(11, dtype=torch.int64)
    for i in range(1, 11):
        if bool((x[i] == x[i - 1]).any()):
            length += 1
            continue
        out[i - 1] = length
        length = 1
    out[10] = length
    return out, length


@program(normal(8, 8), whole(8, low=0, high=8))
def masks_and_places(x, at):
    x[torch.arange(8), at] = 0
    x[x > 1] = -1.0
    for i in range(8):
        y = x[i]
        y[y < -0.5] += i
        x[:, at[i]].clamp_(max=0.25)
    x.index_put_((at,), torch.ones(8, 8), accumulate=True)
    return x


@program(normal(2, 3, 7, 7), number(2))
def pooled(x, step: int):
    out = torch.full((2, 3, 3, 3), float("-inf"))
    for dy in range(3):
        for dx in range(3):
            part = x[:, :, dy : dy + 5 : step, dx : dx + 5 : step]
            out = torch.maximum(out, part)
    return out


@program(normal(9, 4), normal(9, 4))
def returned_aliases(a, b):
    """A view of an argument, and an argument, chosen by a number."""
    parts = {"first": a[:4], "last": b[4:]}
    for name, part in parts.items():
        part += 1 if name == "first" else -1
    tail = parts["last"]
    return tail.sum(), a


@program(normal(127), normal(127))
def horner(x, c):
    y = torch.zeros_like(x)
    for i in range(126, -1, -1):
        y.mul_(x.clamp(-0.9, 0.9)).add_(c[i])
    return y


@program(normal(1), number(7))
def one_element(x, n: int):
    trace = torch.empty(n + 1, 1)
    trace[0] = x
    for i in range(n):
        x = torch.where(x > 0, x * 0.5 - 0.1, x + 0.3)
        trace[i + 1] = x
    return trace


@program(normal(0, 5), normal(5, 5))
def no_rows(x, w):
    y = x @ w
    for i in range(x.shape[0]):
        y[i] = y[i] / i
    return y, y.sum()


@program(normal(6, 6))
def strided_windows(x):
    """`as_strided` over storage that has no other names."""
    y = x.clone()
    windows = y.as_strided((4, 3, 3), (6, 1, 6))
    total = torch.zeros(3, 3)
    for i in range(4):
        total += windows[i]
    return total, windows.sum((1, 2))


@program(normal(0, 4), normal(3, 4))
def written_without_elements(x, y):
    x += 1
    z = torch.cat([x, y])
    z[0:0] = 5
    z[2:] = 7
    return x, z, x.sum(0)


@program(normal(8))
def exits_of_both_loops(x):
    """`else` of a loop runs after its last iteration alone: not after `break`, nor after `return`."""
    for i in range(8):
        x[i] = x[i] * 2
        for j in range(3):
            if x[i] > 1 and j == 2:
                return x + 1
            if x[i] < 0:
                break
            x[i] += 0.01
        else:
            x[7 - i] -= 1
            continue
        x[0] += 1
    return x


@program(normal(8))
def parts_of_two_sizes(x):
    """A name that has another size on each path, and a view on both."""
    if x[0] > 0:
        y = x[:2]
    else:
        y = x[3:]
    y += 1
    for i in range(8):
        if x[i] > 1:
            return y * 2, x[:3]
    return y, x[1:]


@program(normal(3, 4))
def rows_from_the_last(x):
    """`reversed` of a tensor is a flipped copy; of a list of its rows it is the rows."""
    total = torch.zeros(4)
    for row in reversed(x):
        total += row
        row[0] = total[1]
    for row in reversed(x.unbind(0)):
        row[1] = total[0]
        total = total * 2
    return total, x


def first_large(row):
    for k in range(4):
        if row[k] > 0.5:
            row[k] = 0
            return k
    return -1


@program(normal(4, 4))
def places_summed(x):
    """A number that grows in each iteration by what a condition on data gave."""
    total = 0
    for i in range(4):
        total += first_large(x[i])
    return x, total


@program(normal(6, 2), normal(6))
def survivors_of_rounds(x, score):
    """Sizes that are data in every iteration, and a number that is counted beside them."""
    rounds = 0
    while x.shape[0] > 1 and rounds < 3:
        kept = score > score.mean()
        x, score = x[kept], score[kept]
        x += 1
        rounds += 1
    return x, score, rounds
