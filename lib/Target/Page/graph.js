/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Draws a graph of the compiler's JSON (ft-translate --etdg-to-json). The page of --etdg-to-html, .show() of Python and
   the report all use this file.

   Rows alternate: buffers, the blocks that read them, the buffers that these write. A row that would be wider than a
   page is divided. The readers of a buffer hang on one line of its own, a net; its writers on another. A net has one
   horizontal track in each gap between rows that it touches, and a lane at the side where it touches several. */
var FTGraph = (function () {
  'use strict';
  const CHAR = 6.65, LINE = 15, PAD = 9, GAP = 22, TRACK = 8, LONGEST = 46, WIDEST = 1300;
  const HUES = [212, 28, 152, 330, 265, 95, 185, 5, 48, 240, 300, 120];
  const hue = number => HUES[number % HUES.length];
  const round = value => Math.round(value * 10) / 10;
  const clip = (text, length = LONGEST) => text.length <= length ? text : text.slice(0, length - 1) + '…';
  const shortType = element => element.replace(/^tensor<(.*)>$/, '$1');
  const buffersOf = (access, kind) => (kind === 'reads' ? access.pieces : [access]).flatMap(
    piece => [piece.buffer, ...(piece.gathers || []).map(g => g.buffer)]).filter(b => b !== undefined);

  /* `i >= 0 and i + 1 <= N and j = 0` as `0 ≤ i < N, j = 0`; conditions on lengths alone are left out. */
  function domainText(domain, dims) {
    const low = {}, high = {}, rest = [];
    domain.split(' and ').forEach(part => {
      if (!(part.match(/[A-Za-z_]\w*/g) || []).some(name => dims.includes(name))) return;
      const below = part.match(/^(\w+) >= (\w+)$/), above = part.match(/^(\w+) (\+ 1 )?<= (.+)$/);
      if (below && dims.includes(below[1]) && !(below[1] in low)) low[below[1]] = below[2];
      else if (above && dims.includes(above[1]) && !(above[1] in high)) high[above[1]] = (above[2] ? '< ' : '≤ ') + above[3];
      else rest.push(part.replace(/>=/g, '≥').replace(/<=/g, '≤'));
    });
    const found = dims.filter(d => d in low || d in high).map(d => (d in low ? low[d] + ' ≤ ' : '') + d + (d in high ? ' ' + high[d] : ''));
    return found.concat(rest).join(', ');
  }
  function operationsText(node) {
    const counts = new Map();
    (node.operations || []).forEach(o => { const name = o.op.replace(/^[^.]*\./, ''); counts.set(name, (counts.get(name) || 0) + 1); });
    return [...counts].map(([name, n]) => n === 1 ? name : name + ' ×' + n).join(' · ');
  }
  /* Loops of a schedule, outer first: what runs a parallel one, or that it runs in steps; after each step of a wave all wait. */
  function orderText(node) {
    return (node.order || []).map(loop => (loop.level || (loop.sync ? 'wave' : loop.kind === 'sequential' ? 'step' : loop.kind)) + ' ' + loop.over + (loop.tile ? ' by ' + loop.tile : '')).join(' · ');
  }
  /* Of which lengths a buffer keeps some planes alone. */
  function keptText(b) {
    return (b.live || []).map((planes, i) => planes === 'all' ? '' : planes + ' of ' + b.lengths[i]).filter(Boolean).join(', ');
  }
  const nodeName = node => node.name || 'block ' + node.id;
  function headText(node) {
    const dims = node.dims.slice(node.ancestors || 0);
    return nodeName(node) + (dims.length ? '  [' + (node.operators || []).join(', ') + '] (' + dims.join(', ') + ')' : '');
  }
  function bufferName(b, names) {
    if (b.argument !== undefined) return b.name || (names || [])[b.argument] || 'argument ' + b.argument;
    return b.result !== undefined ? 'result ' + b.result : b.kind + ' ' + b.id;
  }

  class Card {
    constructor(kind, key, lines, label, children = []) {
      Object.assign(this, {kind, key, lines, label, children, x: 0, y: 0});
      this.width = Math.max(60, ...lines.map(([, text]) => CHAR * text.length), ...children.map(c => c.width + 2)) + 2 * PAD;
      const inner = children.reduce((sum, c) => sum + c.height + 6, 0);
      this.height = kind === 'private' ? LINE + 2 : PAD + LINE * lines.length + inner + (children.length ? PAD - 4 : PAD - 3);
    }
    place(x, y) {
      this.x = x;
      this.y = y;
      y += PAD + LINE * this.lines.length + 2;
      this.children.forEach(child => {
        child.place(x + PAD, y);
        child.width = this.width - 2 * PAD;
        y += child.height + 6;
      });
    }
  }

  /* Where cards stand and lines go. */
  class Layout {
    constructor(graph, names, widest = WIDEST) {
      Object.assign(this, {graph, names, widest, children: new Map()});
      graph.nodes.forEach(node => {
        const parent = node.parent === undefined || node.parent === null ? null : node.parent;
        this.children.set(parent, [...(this.children.get(parent) || []), node]);
      });
      this.shared = graph.buffers.filter(b => b.owner === undefined);
      this.own = new Map(graph.buffers.filter(b => b.owner !== undefined).map(b => [b.id, b]));
      this.isShared = new Set(this.shared.map(b => b.id));
      this.cards = new Map();
      this.shared.forEach(b => this.cards.set('b' + b.id, this.bufferCard(b)));
      this.tops().forEach(node => this.cards.set('n' + node.id, this.blockCard(node)));
      this.makeRows();
      this.makeNets();
      this.place();
      this.route();
    }
    tops() { return this.children.get(null) || []; }
    bufferCard(b) {
      const kind = b.kind === 'argument' || b.kind === 'result' ? b.kind : 'buffer', name = bufferName(b, this.names);
      const type = (b.lengths && b.lengths.length ? '[' + b.lengths.join(', ') + '] ' : '') + shortType(b.element);
      const kept = keptText(b), lines = [['head', clip(name)], ['type', clip(type)]];
      if (kept) lines.push(['order', clip('keeps ' + kept)]);
      return new Card(kind, 'b' + b.id, lines, kind + ' ' + name + ': ' + type + (kept ? ', keeps ' + kept : ''));
    }
    blockCard(node) {
      const lines = [['head', clip(headText(node), 64)]], domain = node.domain || 'true', own = [], seen = new Set();
      if (domain !== 'true' && (node.kind !== 'leaf' || node.parent === undefined || node.parent === null)) lines.push(['domain', clip(domainText(domain, node.dims))]);
      const order = orderText(node);
      if (order) lines.push(['order', clip(order, 64)]);
      if (operationsText(node)) lines.push(['ops', clip(operationsText(node))]);
      (this.children.get(node.id) || []).forEach(child => {
        own.push(this.blockCard(child));
        (child.writes || []).forEach(write => {
          const b = this.own.get(write.buffer);
          if (!b || seen.has(b.id)) return;
          seen.add(b.id);
          const text = '↓ buffer ' + b.id + '  ' + (b.lengths && b.lengths.length ? '[' + b.lengths.join(', ') + '] ' : '') + shortType(b.element) + (keptText(b) ? ', keeps ' + keptText(b) : '');
          own.push(new Card('private', 'b' + b.id, [['type', clip(text)]], text));
        });
      });
      return new Card(node.kind, 'n' + node.id, lines, 'block ' + headText(node) + (domain === 'true' ? '' : ', ' + domainText(domain, node.dims)) + (order ? ', order ' + order : ''), own);
    }
    /* Buffers outside that a block and its children read or write. */
    accesses(node, kind) {
      const found = new Set();
      (node[kind] || []).forEach(access => buffersOf(access, kind).forEach(b => { if (this.isShared.has(b)) found.add(b); }));
      (this.children.get(node.id) || []).forEach(child => this.accesses(child, kind).forEach(b => found.add(b)));
      return found;
    }
    /* The level of each nest is one more than those of the nests whose buffers it reads. */
    makeRows() {
      this.reads = new Map(this.tops().map(n => [n.id, this.accesses(n, 'reads')]));
      this.writes = new Map(this.tops().map(n => [n.id, this.accesses(n, 'writes')]));
      const nests = new Map(), levelOf = new Map(), levels = [];
      this.tops().forEach(node => {
        const key = node.nest === undefined ? 'n' + node.id : node.nest;
        nests.set(key, [...(nests.get(key) || []), node]);
      });
      nests.forEach(nodes => {
        const own = new Set(nodes.flatMap(n => [...this.writes.get(n.id)]));
        const touched = [...own, ...nodes.flatMap(n => [...this.reads.get(n.id)])];
        const level = Math.max(-1, ...touched.map(b => levelOf.has(b) ? levelOf.get(b) : -1)) + 1;
        own.forEach(b => { if (!levelOf.has(b)) levelOf.set(b, level); });
        while (levels.length <= level) levels.push([]);
        levels[level].push(...nodes);
      });
      this.rows = this.divide(this.shared.filter(b => !levelOf.has(b.id)).map(b => this.cards.get('b' + b.id)));
      levels.forEach((nodes, level) => {
        this.rows.push(...this.divide(nodes.map(n => this.cards.get('n' + n.id))));
        this.rows.push(...this.divide(this.shared.filter(b => levelOf.get(b.id) === level).map(b => this.cards.get('b' + b.id))));
      });
      this.rowOf = new Map(this.rows.flatMap((row, r) => row.map(card => [card.key, r])));
    }
    /* One row as several, each about as wide as the others. */
    divide(cards) {
      const total = cards.reduce((sum, c) => sum + c.width + GAP, -GAP), count = Math.max(1, Math.ceil(total / this.widest)), rows = [[]];
      let used = 0;
      cards.forEach(card => {
        if (used > 0 && used + card.width > Math.max(total / count + 20, 200)) {
          rows.push([]);
          used = 0;
        }
        rows[rows.length - 1].push(card);
        used += card.width + GAP;
      });
      return rows;
    }
    makeNets() {
      this.nets = [];
      this.shared.forEach(b => [['read', this.reads], ['write', this.writes]].forEach(([kind, table]) => {
        const users = [...table].filter(([, buffers]) => buffers.has(b.id)).map(([n]) => n);
        if (!users.length) return;
        const net = {buffer: b.id, kind, ends: [], points: [], tracks: new Map(), lane: null}, home = this.rowOf.get('b' + b.id), sides = new Set();
        users.forEach(n => {
          const row = this.rowOf.get('n' + n);
          // Blocks take from above and give below; what is read back comes from below.
          net.ends.push([this.cards.get('n' + n), kind === 'write' || row < home ? 'bottom' : 'top']);
          sides.add(row < home ? 'top' : 'bottom');
        });
        [...sides].sort().forEach(side => net.ends.push([this.cards.get('b' + b.id), side]));
        this.nets.push(net);
      }));
    }
    gapOf(card, side) { return this.rowOf.get(card.key) - (side === 'top' ? 1 : 0); }
    place() {
      const gaps = new Array(this.rows.length + 1).fill(0), widths = this.rows.map(row => row.reduce((sum, c) => sum + c.width + GAP, -GAP));
      let across = 0;
      this.nets.forEach(net => {
        const touched = new Set(net.ends.map(([card, side]) => this.gapOf(card, side)));
        touched.forEach(gap => { if (gap >= 0) ++gaps[gap]; });
        across += touched.size > 1 ? 1 : 0;
      });
      this.inner = Math.max(200, ...widths);
      this.width = this.inner + 2 * GAP + TRACK * across;
      this.gapTops = [];
      let y = GAP / 2;
      this.rows.forEach((row, r) => {
        let x = GAP + (this.inner - widths[r]) / 2;
        row.forEach(card => {
          card.place(x, y);
          x += card.width + GAP;
        });
        y += Math.max(0, ...row.map(c => c.height));
        this.gapTops.push(y);
        y += row.length ? (gaps[r] ? TRACK * (gaps[r] + 1) + 14 : r + 1 < this.rows.length && this.rows[r + 1].length ? GAP : 0) : 0;
      });
      this.height = y + 4;
    }
    /* Each net's end gets its own place on a card's edge, in the order of where the net goes. */
    ports() {
      const sides = new Map(), middle = new Map(), found = new Map();
      this.nets.forEach(net => {
        middle.set(net, net.ends.reduce((sum, [c]) => sum + c.x + c.width / 2, 0) / net.ends.length);
        net.ends.forEach(([card, side]) => sides.set(card.key + side, [...(sides.get(card.key + side) || []), [net, card, side]]));
      });
      sides.forEach(ends => {
        ends.sort(([a], [b]) => middle.get(a) - middle.get(b) || a.buffer - b.buffer || (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0));
        // Shifted, so that lines from above and below do not lie on one another.
        ends.forEach(([net, card, side], i) => found.set(card.key + side + net.buffer + net.kind, card.x + card.width * (i + 1) / (ends.length + 1) + (side === 'top' ? 2 : -2)));
      });
      return found;
    }
    route() {
      const ports = this.ports();
      let lane = this.inner + GAP * 1.5;
      this.nets.forEach(net => {
        net.ends.forEach(([card, side]) => net.points.push({
          gap: this.gapOf(card, side), x: ports.get(card.key + side + net.buffer + net.kind), edge: side === 'top' ? card.y : card.y + card.height,
          // An arrow shows where data go: into readers, and into buffers that are written.
          target: card.key[0] === 'n' ? net.kind === 'read' : net.kind === 'write',
        }));
        if (new Set(net.points.map(p => p.gap)).size > 1) {
          net.lane = lane;
          lane += TRACK;
        }
      });
      this.gapTops.forEach((top, gap) => this.assignTracks(gap, top));
    }
    /* Nets whose stretches of a gap do not meet share a height. */
    assignTracks(gap, top) {
      const stretches = [], taken = [];
      this.nets.forEach(net => {
        const xs = net.points.filter(p => p.gap === gap).map(p => p.x);
        if (!xs.length) return;
        if (net.lane !== null) xs.push(net.lane);
        stretches.push([Math.min(...xs), Math.max(...xs), net]);
      });
      stretches.sort((a, b) => a[0] - b[0] || a[1] - b[1]).forEach(([left, right, net]) => {
        const free = taken.findIndex(end => end + 6 < left), track = free === -1 ? taken.length : free;
        taken[track] = right;
        net.tracks.set(gap, top + 9 + TRACK * track);
      });
    }
  }

  const escapes = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'};
  const escape = text => text.replace(/[&<>"]/g, c => escapes[c]);
  function cardSvg(card) {
    const kind = card.key[0] === 'b' ? 'buffer' : 'node', number = card.key.slice(1);
    let y = card.y + (card.kind === 'private' ? LINE - 2 : PAD + LINE - 4);
    const lines = card.lines.map(([role, text], i) => '<text class="' + role + '" x="' + round(card.x + PAD) + '" y="' + round(y + LINE * i) + '">' + escape(text) + '</text>');
    return '<g class="card ' + card.kind + '" data-' + kind + '="' + number + '" tabindex="0" role="button" aria-label="' + escape(card.label) + '"><title>' + escape(card.label) +
      '</title><rect x="' + round(card.x) + '" y="' + round(card.y) + '" width="' + round(card.width) + '" height="' + round(card.height) + '" rx="' + (kind === 'buffer' ? 12 : 5) + '"' +
      (kind === 'buffer' ? ' style="--hue:' + hue(Number(number)) + '"' : '') + '/>' + lines.join('') + card.children.map(cardSvg).join('') + '</g>';
  }
  function netSvg(net) {
    const lines = [], heads = [];
    net.tracks.forEach((y, gap) => {
      const points = net.points.filter(p => p.gap === gap), xs = points.map(p => p.x).concat(net.lane === null ? [] : [net.lane]);
      if (Math.max(...xs) > Math.min(...xs)) lines.push('M' + round(Math.min(...xs)) + ' ' + round(y) + 'H' + round(Math.max(...xs)));
      points.forEach(p => {
        const down = p.edge > y, end = p.target ? p.edge - (down ? 5 : -5) : p.edge;
        lines.push('M' + round(p.x) + ' ' + round(y) + 'V' + round(end));
        if (p.target) heads.push('M' + round(p.x) + ' ' + round(p.edge) + 'l-3.5 ' + (down ? -6 : 6) + 'h7z');
      });
    });
    if (net.lane !== null && net.tracks.size > 1) lines.push('M' + round(net.lane) + ' ' + round(Math.min(...net.tracks.values())) + 'V' + round(Math.max(...net.tracks.values())));
    const dots = net.points.length > 2 ? net.points.map(p => '<circle cx="' + round(p.x) + '" cy="' + round(net.tracks.get(p.gap)) + '" r="1.8"/>').join('') : '';
    return '<g class="net ' + net.kind + '" data-buffer="' + net.buffer + '" style="--hue:' + hue(net.buffer) + '"><path class="hit" d="' + lines.join('') + '"/><path class="line" d="' +
      lines.join('') + '"/><path class="tip" d="' + heads.join('') + '"/>' + dots + '</g>';
  }
  function svgOf(layout) {
    return '<svg class="graph" xmlns="http://www.w3.org/2000/svg" role="group" aria-label="graph" width="' + round(layout.width) + '" height="' + round(layout.height) +
      '" viewBox="0 0 ' + round(layout.width) + ' ' + round(layout.height) + '"><g class="nets">' + layout.nets.map(netSvg).join('') + '</g>' + layout.rows.flat().map(cardSvg).join('') + '</svg>';
  }

  function make(tag, text, cls) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (cls) element.className = cls;
    return element;
  }

  /* What a card's panel says. */
  class Details {
    constructor(graph, names, onLine) { Object.assign(this, {graph, names, onLine}); }
    bufferName(id) {
      const b = this.graph.buffers.find(b => b.id === id);
      return b ? bufferName(b, this.names) : 'buffer ' + id;
    }
    access(map, source) { return source + '[' + (map || []).join(', ') + ']'; }
    piece(piece) {
      if (piece.source === 'buffer') return this.access(piece.map, this.bufferName(piece.buffer));
      if (piece.source === 'splat') return 'all ' + piece.value;
      return piece.source + (piece.map ? ' (' + piece.map.join(', ') + ')' : '');
    }
    pieces(panel, list) {
      list.forEach(piece => {
        panel.append(make('code', this.piece(piece)));
        if (piece.where !== 'true') panel.append(make('code', 'where ' + piece.where, 'when'));
      });
    }
    reads(panel, node) {
      (node.reads || []).forEach((read, i) => {
        panel.append(make('h5', 'read ' + i));
        this.pieces(panel, read.pieces);
      });
      (node.writes || []).forEach((write, i) => panel.append(make('h5', 'write ' + i), make('code', this.access(write.map, this.bufferName(write.buffer)))));
    }
    node(panel, node) {
      panel.append(make('h4', headText(node)), make('h5', 'domain'), make('code', node.domain));
      if (node.order) panel.append(make('h5', 'order, outer loop first'), ...orderText(node).split(' · ').map(loop => make('code', loop)));
      if (node.line && this.onLine) {
        const link = make('button', 'source line ' + node.line);
        link.addEventListener('click', () => this.onLine(node.line));
        panel.append(link);
      }
      this.reads(panel, node);
      if ((node.operations || []).length) panel.append(make('h5', 'computes'));
      (node.operations || []).forEach(o => panel.append(make('code', o.op + '  [' + (o.operators || []).join(', ') + '] ' + (o.sizes || []).join('×'))));
      this.graph.nodes.filter(n => n.parent === node.id).forEach(child => {
        panel.append(make('h5', 'inside: ' + nodeName(child)));
        this.reads(panel, child);
      });
    }
    users(id, kind) { return this.graph.nodes.filter(n => (n[kind] || []).some(a => buffersOf(a, kind).includes(id))); }
    buffer(panel, id) {
      const b = this.graph.buffers.find(b => b.id === id);
      panel.append(make('h4', this.bufferName(id)), make('code', '[' + (b.lengths || []).join(', ') + '] ' + b.element));
      if (keptText(b)) panel.append(make('h5', 'planes in memory'), make('code', keptText(b)));
      if (b.bytes) panel.append(make('h5', 'bytes'), make('code', b.bytes.expression + (b.bytes.value !== undefined ? ' = ' + b.bytes.value.toLocaleString('en') : '')));
      this.users(id, 'writes').forEach(n => n.writes.filter(w => w.buffer === id).forEach(w => panel.append(make('h5', 'written by ' + nodeName(n)), make('code', this.access(w.map, '')))));
      this.users(id, 'reads').forEach(n => n.reads.forEach(r => r.pieces.filter(p => p.buffer === id).forEach(p => {
        panel.append(make('h5', 'read by ' + nodeName(n)));
        panel.append(make('code', this.access(p.map, '')));
        if (p.where !== 'true') panel.append(make('code', 'where ' + p.where, 'when'));
      })));
    }
  }

  /* Zoom by wheel, keys and buttons, drag; opens at fit. */
  class View {
    constructor(pane, svg, layout) {
      Object.assign(this, {pane, svg, whole: [0, 0, layout.width, layout.height], drag: null, moved: false});
      svg.removeAttribute('width');
      svg.removeAttribute('height');
      svg.style.aspectRatio = layout.width + ' / ' + layout.height;
      svg.style.maxWidth = Math.round(layout.width * 1.15) + 'px';
      svg.style.margin = '0 auto';
      this.fit();
      svg.addEventListener('wheel', event => {
        event.preventDefault();
        this.zoom(Math.exp(event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)), this.at(event));
      }, {passive: false});
      svg.addEventListener('pointerdown', event => {
        this.moved = false;
        if (event.button === 0) this.drag = {x: event.clientX, y: event.clientY, box: this.box, at: this.at(event)};
      });
      addEventListener('pointermove', event => this.move(event));
      addEventListener('pointerup', () => {
        this.drag = null;
        pane.classList.remove('drag');
      });
      pane.addEventListener('keydown', event => this.key(event));
    }
    at(event) {
      const matrix = this.svg.getScreenCTM();
      if (!matrix) return [this.box[0] + this.box[2] / 2, this.box[1] + this.box[3] / 2];
      return [(event.clientX - matrix.e) / matrix.a, (event.clientY - matrix.f) / matrix.d];
    }
    set(box) {
      this.box = box;
      this.svg.setAttribute('viewBox', box.map(round).join(' '));
    }
    fit() { this.set(this.whole); }
    zoom(factor, at) {
      const [x, y, w, h] = this.box, [cx, cy] = at || [x + w / 2, y + h / 2];
      const bounded = Math.min(Math.max(w * factor, 120), this.whole[2] * 3) / w;
      this.set([cx - (cx - x) * bounded, cy - (cy - y) * bounded, w * bounded, h * bounded]);
    }
    move(event) {
      if (!this.drag) return;
      const dx = event.clientX - this.drag.x, dy = event.clientY - this.drag.y, matrix = this.svg.getScreenCTM();
      if (Math.abs(dx) + Math.abs(dy) > 4) this.moved = true;
      if (!this.moved || !matrix) return;
      this.pane.classList.add('drag');
      const [x, y, w, h] = this.drag.box;
      this.set([x - dx / matrix.a, y - dy / matrix.d, w, h]);
    }
    key(event) {
      const [x, y, w, h] = this.box, by = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
      if (by) this.set([x + by[0] * w / 8, y + by[1] * h / 8, w, h]);
      else if (event.key === '+' || event.key === '=') this.zoom(0.8);
      else if (event.key === '-') this.zoom(1.25);
      else if (event.key === '0') this.fit();
      else return;
      event.preventDefault();
    }
  }

  /* Puts a graph into an element. `options`: names of arguments, onLine(line) for links to the source, hint. */
  function mount(element, graph, options = {}) {
    const names = options.names || window.ftNames, layout = new Layout(graph, names), details = new Details(graph, names, options.onLine);
    element.classList.add('ftg');
    const bar = make('div', undefined, 'ftg-bar'), pane = make('div', undefined, 'ftg-pane'), panel = make('aside', undefined, 'ftg-detail');
    pane.tabIndex = 0;
    pane.setAttribute('role', 'region');
    pane.setAttribute('aria-label', 'Graph: arrows move, plus and minus zoom, 0 fits; Tab goes through blocks and buffers, Enter tells of one');
    panel.setAttribute('aria-live', 'polite');
    panel.hidden = true;
    pane.innerHTML = svgOf(layout);
    const svg = pane.querySelector('svg'), view = new View(pane, svg, layout);
    [['fit', 'the whole graph', () => view.fit()], ['+', 'closer', () => view.zoom(0.8)], ['−', 'farther', () => view.zoom(1.25)]].forEach(([text, title, act]) => {
      const button = make('button', text);
      button.type = 'button';
      button.title = title;
      button.setAttribute('aria-label', title);
      button.addEventListener('click', act);
      bar.append(button);
    });
    bar.append(make('span', options.hint || 'wheel: zoom · drag: move · click: domain and maps · one line for all readers of a buffer, a thick one for its writers'));
    element.replaceChildren(bar, pane, panel);
    const near = id => new Set([...details.users(id, 'reads'), ...details.users(id, 'writes')].map(n => n.id));
    const light = (buffers, cards) => {
      svg.classList.toggle('dim', buffers.size > 0);
      svg.querySelectorAll('.net').forEach(net => net.classList.toggle('lit', buffers.has(Number(net.dataset.buffer))));
      svg.querySelectorAll('.card').forEach(card => card.classList.toggle('far', buffers.size > 0 && !cards(card)));
    };
    const select = card => {
      svg.querySelectorAll('.card.sel').forEach(c => c.classList.remove('sel'));
      panel.replaceChildren();
      panel.hidden = !card;
      if (!card) return light(new Set(), () => true);
      card.classList.add('sel');
      const close = make('button', '×', 'close');
      close.setAttribute('aria-label', 'close');
      close.addEventListener('click', () => { select(null); card.focus(); });
      panel.append(close);
      if (card.dataset.buffer !== undefined) {
        const id = Number(card.dataset.buffer), users = near(id);
        details.buffer(panel, id);
        return light(new Set([id]), c => c === card || users.has(Number(c.dataset.node)) || [...c.querySelectorAll('[data-node]')].some(d => users.has(Number(d.dataset.node))));
      }
      const node = graph.nodes.find(n => n.id === Number(card.dataset.node)), touched = new Set();
      details.node(panel, node);
      const visit = n => {
        (n.reads || []).forEach(r => buffersOf(r, 'reads').forEach(b => touched.add(b)));
        (n.writes || []).forEach(w => touched.add(w.buffer));
        graph.nodes.filter(c => c.parent === n.id).forEach(visit);
      };
      visit(node);
      return light(touched, c => c === card || c.contains(card) || card.contains(c) || touched.has(Number(c.dataset.buffer)));
    };
    svg.addEventListener('click', event => {
      if (view.moved) return;
      const net = event.target.closest('.net');
      select(event.target.closest('.card') || (net && svg.querySelector('.card[data-buffer="' + net.dataset.buffer + '"]')));
    });
    svg.addEventListener('keydown', event => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      select(event.target.closest('.card'));
    });
    element.addEventListener('keydown', event => { if (event.key === 'Escape') select(null); });
    return {layout, view, select, svg, line(number) {
      const node = graph.nodes.find(n => n.line === number);
      const card = node && svg.querySelector('.card[data-node="' + node.id + '"]');
      select(card || null);
      return Boolean(card);
    }};
  }

  return {Layout, domainText, svgOf, mount};
})();
if (typeof module !== 'undefined') module.exports = FTGraph;
