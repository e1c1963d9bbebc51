'use strict';
const DATA = JSON.parse(document.getElementById('data').textContent);
const $ = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
function make(tag, text, cls) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (cls) element.className = cls;
  return element;
}

/* "#program" or "#program/tab" says what is open. */
function open(name) {
  const section = document.getElementById('p-' + name) || document.getElementById('p-overview');
  all('section').forEach(s => s.classList.toggle('on', s === section));
  all('nav a').forEach(a => a.classList.toggle('on', 'p-' + a.dataset.name === section.id));
  note(section);
  window.scrollTo(0, 0);
}
function note(section) {
  const tab = $('.tabs button.on', section);
  history.replaceState(null, '', '#' + section.id.slice(2) + (tab && tab !== $('.tabs button', section) ? '/' + tab.dataset.tab : ''));
}
all('[data-name]').forEach(a => a.addEventListener('click', () => open(a.dataset.name)));

function choose(buttons, panels, index) {
  buttons.forEach((b, i) => b.classList.toggle('on', i === index));
  panels.forEach((p, i) => p.classList.toggle('on', i === index));
}
all('section[data-program]').forEach(section => {
  const buttons = all('.tabs button', section), panels = all(':scope > .tab', section);
  buttons.forEach((b, i) => b.addEventListener('click', () => { choose(buttons, panels, i); note(section); }));
  all('.views', section).forEach(views => {
    const sizes = all('.sizes button', views);
    sizes.forEach((b, i) => b.addEventListener('click', () => {
      sizes.forEach((o, j) => o.classList.toggle('on', i === j));
      $('.canvas', views).classList.toggle('fit', i === 1);
    }));
    const own = all('.stages button', views), drawings = all('.view', views);
    own.forEach((b, i) => b.addEventListener('click', () => {
      own.forEach((o, j) => o.classList.toggle('on', i === j));
      drawings.forEach((d, j) => { d.hidden = i !== j; });
    }));
  });
});

/* Waves: the compiler's drawings call this. */
function show(id, step) {
  all('#' + id + ' .pt').forEach(point => {
    const at = Number(point.getAttribute('data-step'));
    point.setAttribute('class', 'pt' + (step === -1 ? '' : at === step ? ' now' : at > step ? ' later' : ' done'));
  });
  $('#' + id + '-o').textContent = step === -1 ? 'all steps' : 'step ' + step;
}

/* Graphs: a click on a card says what it reads and writes, by which maps. */
function bufferName(graph, id) {
  const b = graph.buffers.find(b => b.id === id);
  if (!b) return 'buffer ' + id;
  return b.argument !== undefined ? 'argument ' + b.argument : b.result !== undefined ? 'result ' + b.result : b.kind + ' ' + id;
}
function access(graph, map, source) { return source + '[' + (map || []).join(', ') + ']'; }
function pieceText(graph, piece) {
  if (piece.source === 'buffer') return access(graph, piece.map, bufferName(graph, piece.buffer));
  if (piece.source === 'splat') return 'all ' + piece.value;
  return piece.source + (piece.map ? ' (' + piece.map.join(', ') + ')' : '');
}
function addReads(panel, graph, node) {
  (node.reads || []).forEach((read, i) => {
    panel.append(make('h5', 'read ' + i));
    read.pieces.forEach(piece => {
      panel.append(make('code', pieceText(graph, piece)));
      if (piece.where !== 'true') panel.append(make('code', 'where ' + piece.where, 'when'));
    });
  });
  (node.writes || []).forEach((write, i) => {
    panel.append(make('h5', 'write ' + i), make('code', access(graph, write.map, bufferName(graph, write.buffer))));
  });
}
function describeNode(panel, graph, node) {
  panel.append(make('h4', (node.name || 'block ' + node.id) + '  [' + (node.operators || []).join(', ') + '] (' + node.dims.slice(node.ancestors || 0).join(', ') + ')'));
  panel.append(make('h5', 'domain'), make('code', node.domain));
  addReads(panel, graph, node);
  if ((node.operations || []).length) panel.append(make('h5', 'computes'));
  (node.operations || []).forEach(o => panel.append(make('code', o.op + '  [' + (o.operators || []).join(', ') + '] ' + (o.sizes || []).join('×'))));
  graph.nodes.filter(n => n.parent === node.id).forEach(child => {
    panel.append(make('h5', 'inside: ' + (child.name || 'block ' + child.id)));
    addReads(panel, graph, child);
  });
}
function users(graph, id, kind) {
  return graph.nodes.filter(n => (n[kind] || []).some(a => kind === 'reads' ? a.pieces.some(p => p.buffer === id) : a.buffer === id));
}
function describeBuffer(panel, graph, id) {
  const b = graph.buffers.find(b => b.id === id);
  panel.append(make('h4', bufferName(graph, id)), make('code', '[' + (b.lengths || []).join(', ') + '] ' + b.element));
  if (b.bytes) panel.append(make('h5', 'bytes'), make('code', b.bytes.expression + (b.bytes.value !== undefined ? ' = ' + b.bytes.value.toLocaleString('en') : '')));
  users(graph, id, 'writes').forEach(n => n.writes.filter(w => w.buffer === id).forEach(w => {
    panel.append(make('h5', 'written by ' + n.name), make('code', access(graph, w.map, '')));
  }));
  users(graph, id, 'reads').forEach(n => n.reads.forEach(r => r.pieces.filter(p => p.buffer === id).forEach(p => {
    panel.append(make('h5', 'read by ' + n.name), make('code', access(graph, p.map, '')));
    if (p.where !== 'true') panel.append(make('code', 'where ' + p.where, 'when'));
  })));
}
function family(graph, id) {
  const found = new Set([id]);
  let size = 0;
  while (size !== found.size) {
    size = found.size;
    graph.nodes.forEach(n => { if (found.has(n.parent)) found.add(n.id); });
  }
  return graph.nodes.filter(n => found.has(n.id));
}
function light(svg, graph, buffers, cards) {
  svg.classList.toggle('dim', buffers.size > 0);
  all('.net', svg).forEach(net => net.classList.toggle('lit', buffers.has(Number(net.dataset.buffer))));
  all('.card', svg).forEach(card => card.classList.toggle('far', buffers.size > 0 && !cards(card)));
}
function select(svg, graph, panel, card) {
  all('.card.sel', svg).forEach(c => c.classList.remove('sel'));
  panel.replaceChildren();
  if (!card) {
    light(svg, graph, new Set(), () => true);
    panel.append(make('p', 'Click a block or a buffer: its domain, and the maps by which it reads and writes.'));
    return;
  }
  card.classList.add('sel');
  if (card.dataset.buffer !== undefined) {
    const id = Number(card.dataset.buffer);
    describeBuffer(panel, graph, id);
    const near = new Set([...users(graph, id, 'reads'), ...users(graph, id, 'writes')].map(n => n.id));
    light(svg, graph, new Set([id]), c => c === card || near.has(Number(c.dataset.node)) || all('[data-node]', c).some(d => near.has(Number(d.dataset.node))));
    return;
  }
  const id = Number(card.dataset.node), node = graph.nodes.find(n => n.id === id);
  describeNode(panel, graph, node);
  const touched = new Set();
  family(graph, id).forEach(n => {
    (n.reads || []).forEach(r => r.pieces.forEach(p => { if (p.buffer !== undefined) touched.add(p.buffer); }));
    (n.writes || []).forEach(w => touched.add(w.buffer));
  });
  light(svg, graph, touched, c => c === card || c.contains(card) || card.contains(c) || touched.has(Number(c.dataset.buffer)));
}
all('.graphbox').forEach(box => {
  const panel = $('.detail', box);
  all('.view', box).forEach(view => {
    const svg = $('svg', view), graph = DATA[view.dataset.program].graphs[view.dataset.stage][Number(view.dataset.graph)];
    if (!svg) return;
    svg.addEventListener('click', event => {
      const net = event.target.closest('.net');
      const card = event.target.closest('.card') || (net && $('.card[data-buffer="' + net.dataset.buffer + '"]', svg));
      select(svg, graph, panel, card);
    });
    svg.addEventListener('keydown', event => { if (event.key === 'Enter') select(svg, graph, panel, event.target.closest('.card')); });
  });
  const first = $('.view', box);
  if (first) select($('svg', first), DATA[first.dataset.program].graphs[first.dataset.stage][0], panel, null);
});

/* Text after each phase, whole or as what changed. */
function texts(program) {
  if (program.texts) return program.texts;
  let lines = [];
  program.texts = program.phases.map(phase => {
    const next = [], marked = [];
    let at = 0;
    phase.ops.forEach(([tag, value]) => {
      if (tag === '=') for (let i = 0; i < value; ++i, ++at) { next.push(lines[at]); marked.push([' ', lines[at]]); }
      if (tag === '-') for (let i = 0; i < value; ++i, ++at) marked.push(['-', lines[at]]);
      if (tag === '+') value.forEach(l => { next.push(l); marked.push(['+', l]); });
    });
    lines = next;
    return {text: next, marked};
  });
  return program.texts;
}
function context(marked, around) {
  const keep = new Array(marked.length).fill(false);
  marked.forEach(([tag], i) => { if (tag !== ' ') for (let j = Math.max(0, i - around); j <= Math.min(marked.length - 1, i + around); ++j) keep[j] = true; });
  const found = [];
  let skipped = 0;
  marked.forEach((line, i) => {
    if (keep[i]) { if (skipped) found.push(['s', '… ' + skipped + ' lines as before']); skipped = 0; found.push(line); } else ++skipped;
  });
  if (skipped) found.push(['s', '… ' + skipped + ' lines as before']);
  return found;
}
function showPhase(section, index, whole) {
  const program = DATA[section.dataset.program], phase = texts(program)[index], pre = $('.diff', section);
  const lines = whole || index === 0 ? phase.text.map(l => [' ', l]) : context(phase.marked, 3);
  pre.replaceChildren(...lines.map(([tag, text]) => make('span', (tag === '+' ? '+ ' : tag === '-' ? '- ' : '  ') + text, tag === '+' ? 'p' : tag === '-' ? 'm' : tag === 's' ? 's' : '')));
}
all('section[data-program]').forEach(section => {
  const phases = all('.phases button', section), forms = all('.forms button', section);
  let index = 0, whole = false;
  const update = () => {
    phases.forEach((b, i) => b.classList.toggle('on', i === index));
    forms.forEach((b, i) => b.classList.toggle('on', (i === 1) === whole));
    showPhase(section, index, whole);
  };
  phases.forEach((b, i) => b.addEventListener('click', () => { index = i; update(); }));
  forms.forEach((b, i) => b.addEventListener('click', () => { whole = i === 1; update(); }));
  if (phases.length) update();
});
const [wanted, tab] = decodeURIComponent(location.hash.slice(1)).split('/');
open(wanted || 'overview');
if (tab) all('section.on .tabs button').filter(b => b.dataset.tab === tab).forEach(b => b.click());
