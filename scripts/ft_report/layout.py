# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the blocks and buffers of a graph stand in a drawing, and how lines go between them.

Rows alternate: buffers, the blocks that read them, the buffers that these write, and so on; blocks that need nothing of
each other stand in one row. The readers of a buffer hang on one line of its own, and its writers on another: a
*net*. A net has one horizontal track in each gap between rows that it touches. Where it touches several gaps it has a
lane at the side. So sixteen blocks that read four arrays are four lines.
"""

import re

CHAR, LINE, PAD, GAP = 6.65, 15, 9, 22
TRACK = 8  # between horizontal lines
LONGEST = 46  # characters of a line in a card


def clip(text, length=LONGEST):
    return text if len(text) <= length else text[: length - 1] + "…"


def short_type(element):
    """``tensor<1x64xf32>`` as ``1x64xf32``."""
    return re.sub(r"^tensor<(.*)>$", r"\1", element)


def domain_text(domain, dims):
    """``i >= 0 and i + 1 <= N and j = 0`` as ``0 ≤ i < N, j = 0``; conditions on lengths alone are left out."""
    low, high, rest = {}, {}, []
    for part in domain.split(" and "):
        names = set(re.findall(r"[A-Za-z_]\w*", part))
        if not names & set(dims):
            continue
        below = re.fullmatch(r"(\w+) >= ([\w]+)", part)
        above = re.fullmatch(r"(\w+) (\+ 1 )?<= (.+)", part)
        if below and below.group(1) in dims and below.group(1) not in low:
            low[below.group(1)] = below.group(2)
        elif above and above.group(1) in dims and above.group(1) not in high:
            high[above.group(1)] = ("< " if above.group(2) else "≤ ") + above.group(3)
        else:
            rest.append(part.replace(">=", "≥").replace("<=", "≤"))
    found = []
    for dim in dims:
        if dim in low or dim in high:
            found.append((low[dim] + " ≤ " if dim in low else "") + dim + (" " + high[dim] if dim in high else ""))
    return ", ".join(found + rest)


def operations_text(node):
    """What a leaf computes, as counts of operations."""
    counts = {}
    for operation in node.get("operations", []):
        name = operation["op"].split(".", 1)[-1]
        counts[name] = counts.get(name, 0) + 1
    return " · ".join(name if n == 1 else f"{name} ×{n}" for name, n in counts.items())


def head_text(node):
    operators = ", ".join(node.get("operators", []))
    dims = node["dims"][node.get("ancestors", 0) :]
    return f"{node['name'] or 'block ' + str(node['id'])}" + (f"  [{operators}] ({', '.join(dims)})" if dims else "")


class Card:
    """A rectangle with lines of text; blocks hold the cards of their children."""

    def __init__(self, kind, key, lines, children=()):
        self.kind, self.key, self.lines, self.children = kind, key, lines, list(children)
        texts = [len(text) for _, text in lines]
        self.width = max([CHAR * n for n in texts] + [c.width + 2 for c in self.children] + [60]) + 2 * PAD
        # What leads from one leaf to the next is a line of text between them.
        self.height = LINE + 2 if kind == "private" else PAD + LINE * len(lines) + sum(c.height + 6 for c in self.children) + (PAD - 3 if not children else PAD - 4)
        self.x = self.y = 0.0

    def place(self, x, y):
        self.x, self.y = x, y
        y += PAD + LINE * len(self.lines) + 2
        for child in self.children:
            child.place(x + PAD, y)
            child.width = self.width - 2 * PAD
            y += child.height + 6


class Net:
    """One line between a buffer and its readers, or its writers."""

    def __init__(self, buffer, kind):
        self.buffer, self.kind = buffer, kind
        self.ends = []  # (card, side)
        self.points = []  # (gap, x, y of the card's edge, whether the arrow points at it)
        self.tracks = {}  # gap: y
        self.lane = None


class Layout:
    """The drawing of one graph of the compiler's JSON."""

    def __init__(self, graph):
        self.graph = graph
        self.nodes = {node["id"]: node for node in graph["nodes"]}
        self.children = {}
        for node in graph["nodes"]:
            self.children.setdefault(node.get("parent"), []).append(node)
        self.public = {b["id"]: b for b in graph["buffers"] if "owner" not in b}
        self.private = {b["id"]: b for b in graph["buffers"] if "owner" in b}
        self._make_cards()
        self._make_rows()
        self._make_nets()
        self._place()
        self._route()

    # -- cards ------------------------------------------------------------------------------------------------

    def _buffer_card(self, buffer):
        kind = {"argument": "argument", "result": "result"}.get(buffer["kind"], "buffer")
        number = buffer.get("argument", buffer.get("result"))
        title = f"{kind} {number}" if number is not None else f"{buffer['kind']} {buffer['id']}"
        lengths = f"[{', '.join(buffer['lengths'])}] " if buffer.get("lengths") else ""
        return Card(kind, ("buffer", buffer["id"]), [("head", title), ("type", clip(lengths + short_type(buffer["element"])))])

    def _private_card(self, buffer):
        lengths = f"[{', '.join(buffer['lengths'])}] " if buffer.get("lengths") else ""
        return Card("private", ("buffer", buffer["id"]), [("type", clip(f"↓ buffer {buffer['id']}  {lengths}{short_type(buffer['element'])}"))])

    def _block_card(self, node):
        lines = [("head", clip(head_text(node), 64))]
        domain = node.get("domain", "true")
        if domain != "true" and (node["kind"] != "leaf" or node.get("parent") is None):
            lines.append(("domain", clip(domain_text(domain, node["dims"]))))
        if operations_text(node):
            lines.append(("ops", clip(operations_text(node))))
        own, seen = [], set()
        for child in self.children.get(node["id"], []):
            own.append(self._block_card(child))
            for write in child.get("writes", []):
                if write["buffer"] in self.private and write["buffer"] not in seen:
                    seen.add(write["buffer"])
                    own.append(self._private_card(self.private[write["buffer"]]))
        return Card(node["kind"], ("node", node["id"]), lines, own)

    def _make_cards(self):
        self.cards = {("buffer", b): self._buffer_card(buffer) for b, buffer in self.public.items()}
        for node in self.children.get(None, []):
            card = self._block_card(node)
            self.cards[card.key] = card

    # -- accesses -----------------------------------------------------------------------------------------------

    def accesses(self, node, kind):
        """Numbers of the buffers outside that a block and its children read or write."""
        found = []
        for access in node.get(kind, []):
            pieces = access["pieces"] if kind == "reads" else [access]
            for piece in pieces:
                for buffer in [piece.get("buffer"), *[g.get("buffer") for g in piece.get("gathers", [])]]:
                    if buffer in self.public and buffer not in found:
                        found.append(buffer)
        for child in self.children.get(node["id"], []):
            found += [b for b in self.accesses(child, kind) if b not in found]
        return found

    def _make_rows(self):
        """The level of each nest is one more than those of the nests whose buffers it reads."""
        tops = self.children.get(None, [])
        self.reads = {n["id"]: self.accesses(n, "reads") for n in tops}
        self.writes = {n["id"]: self.accesses(n, "writes") for n in tops}
        nests = {}
        for node in tops:
            nests.setdefault(node.get("nest", node["id"]), []).append(node)
        level_of_buffer, level_of_node, levels = {}, {}, []
        for nodes in nests.values():
            own = {b for n in nodes for b in self.writes[n["id"]]}
            read = {b for n in nodes for b in self.reads[n["id"]]}
            level = max([level_of_buffer.get(b, -1) for b in (read | own)] + [-1]) + 1
            for node in nodes:
                level_of_node[node["id"]] = level
            for buffer in own:
                level_of_buffer.setdefault(buffer, level)
            levels += [[] for _ in range(level + 1 - len(levels))]
            levels[level] += nodes
        first = [b for b in self.public if b not in level_of_buffer]
        self.rows = [[self.cards[("buffer", b)] for b in first]]
        for level, nodes in enumerate(levels):
            self.rows.append([self.cards[("node", n["id"])] for n in nodes])
            self.rows.append([self.cards[("buffer", b)] for b in self.public if level_of_buffer.get(b) == level])
        self.row_of = {card.key: r for r, row in enumerate(self.rows) for card in row}

    def _make_nets(self):
        self.nets = []
        for buffer in self.public:
            for kind, table in (("read", self.reads), ("write", self.writes)):
                users = [n for n, buffers in table.items() if buffer in buffers]
                if not users:
                    continue
                net = Net(buffer, kind)
                home = self.row_of[("buffer", buffer)]
                sides = set()
                for node in users:
                    row = self.row_of[("node", node)]
                    # Blocks take from above and give below; what is read back comes from below.
                    side = "bottom" if kind == "write" or row < home else "top"
                    net.ends.append((self.cards[("node", node)], side))
                    sides.add("top" if row < home else "bottom")
                for side in sorted(sides):
                    net.ends.append((self.cards[("buffer", buffer)], side))
                self.nets.append(net)

    # -- places ------------------------------------------------------------------------------------------------------

    def _gap_of(self, card, side):
        return self.row_of[card.key] - (side == "top")

    def _place(self):
        gaps = [0] * (len(self.rows) + 1)
        for net in self.nets:
            for gap in {self._gap_of(card, side) for card, side in net.ends}:
                gaps[gap] += 1
        widths = [sum(c.width for c in row) + GAP * max(0, len(row) - 1) for row in self.rows]
        across = sum(len({self._gap_of(c, s) for c, s in net.ends}) > 1 for net in self.nets)
        self.inner = max(widths + [200])
        self.width = self.inner + 2 * GAP + TRACK * across
        y, self.gap_tops = GAP / 2, []
        for row, width, crossing in zip(self.rows, widths, gaps):
            x = GAP + (self.inner - width) / 2
            for card in row:
                card.place(x, y)
                x += card.width + GAP
            y += max([c.height for c in row] + [0])
            self.gap_tops.append(y)
            y += (TRACK * (crossing + 1) + 14) if row and crossing else 0
        self.height = y + 4

    def _ports(self):
        """Each net's end gets its own place on a card's edge, in the order of where the net goes."""
        sides = {}
        for net in self.nets:
            for card, side in net.ends:
                sides.setdefault((card.key, side), []).append(net)
        middle = {id(net): sum(c.x + c.width / 2 for c, _ in net.ends) / len(net.ends) for net in self.nets}
        ports = {}
        for (key, side), nets in sides.items():
            card = self.cards[key]
            nets.sort(key=lambda net: (middle[id(net)], net.buffer, net.kind))
            for index, net in enumerate(nets):
                shift = 2.0 if side == "top" else -2.0  # so that lines from above and below do not lie on one another
                ports[(id(net), key, side)] = card.x + card.width * (index + 1) / (len(nets) + 1) + shift
        return ports

    def _route(self):
        ports, lane = self._ports(), self.inner + GAP * 1.5
        for net in self.nets:
            for card, side in net.ends:
                bottom = max(c.y + c.height for c in self.rows[self.row_of[card.key]])
                edge = card.y if side == "top" else card.y + card.height
                # An arrow shows where data go: into readers, and into buffers that are written.
                is_target = (card.key[0] == "node") == (net.kind == "read")
                net.points.append((self._gap_of(card, side), ports[(id(net), card.key, side)], edge, is_target, bottom))
            if len({p[0] for p in net.points}) > 1:
                net.lane = lane
                lane += TRACK
        for gap, top in enumerate(self.gap_tops):
            self._assign_tracks(gap, top)

    def _assign_tracks(self, gap, top):
        """Nets whose stretches of a gap do not meet share a height."""
        stretches = []
        for net in self.nets:
            xs = [p[1] for p in net.points if p[0] == gap]
            if xs:
                xs += [net.lane] if net.lane is not None else []
                stretches.append((min(xs), max(xs), net))
        taken = []  # right ends, by track
        for left, right, net in sorted(stretches, key=lambda s: (s[0], s[1])):
            track = next((i for i, end in enumerate(taken) if end + 6 < left), len(taken))
            taken[track : track + 1] = [right]
            net.tracks[gap] = top + 9 + TRACK * track
