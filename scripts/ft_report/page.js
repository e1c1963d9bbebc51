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
const stateOf = new Map();
function open(name, tab) {
  const section = document.getElementById('p-' + name) || document.getElementById('p-overview');
  all('section').forEach(s => s.classList.toggle('on', s === section));
  all('nav a').forEach(a => {
    const on = a.getAttribute('href').slice(1) === section.id.slice(2);
    a.classList.toggle('on', on);
    if (on) a.setAttribute('aria-current', 'page'); else a.removeAttribute('aria-current');
  });
  if (section.dataset.program) draw(section);
  if (section.dataset.program && tab) chooseTab(section, tab);
}
function follow() {
  const [name, tab] = decodeURIComponent(location.hash.slice(1)).split('/');
  open(name || 'overview', tab);
}
addEventListener('hashchange', () => { follow(); scrollTo(0, 0); });
const tabsOf = section => all('.tabs button', section);
function chooseTab(section, name) {
  const buttons = tabsOf(section), chosen = buttons.find(b => b.dataset.tab === name) || buttons[0];
  buttons.forEach(b => {
    b.setAttribute('aria-selected', b === chosen);
    b.tabIndex = b === chosen ? 0 : -1;
    document.getElementById(b.getAttribute('aria-controls')).hidden = b !== chosen;
  });
  if (chosen.dataset.tab === 'phases') section.showPhase();
  history.replaceState(null, '', '#' + section.dataset.program + (chosen === buttons[0] ? '' : '/' + chosen.dataset.tab));
  return chosen;
}
all('section[data-program]').forEach(section => {
  tabsOf(section).forEach(b => b.addEventListener('click', () => chooseTab(section, b.dataset.tab)));
  $('.tabs', section).addEventListener('keydown', event => {
    const buttons = tabsOf(section), at = buttons.indexOf(document.activeElement);
    const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1}[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = buttons[(to + buttons.length) % buttons.length];
    chooseTab(section, next.dataset.tab);
    next.focus();
  });
  const stages = all('.stages button', section), views = all('.view', section);
  stages.forEach((b, i) => b.addEventListener('click', () => {
    stages.forEach((o, j) => o.setAttribute('aria-pressed', i === j));
    views.forEach((v, j) => { v.hidden = i !== j; });
  }));
  const filter = $('.filter input', section);
  if (filter) filter.addEventListener('input', () => {
    let head = null;
    all('.tab[id$=-remarks] > *', section).forEach(e => {
      if (e.localName === 'h3') { head = e; head.hidden = true; }
      if (!e.matches('.remark')) return;
      e.hidden = !e.textContent.toLowerCase().includes(filter.value.toLowerCase());
      if (!e.hidden) head.hidden = false;
    });
  });
  all('[data-line]', section).forEach(b => b.addEventListener('click', () => setLine(section, Number(b.dataset.line))));
});
const find = $('nav input');
find.addEventListener('input', () => all('nav .links a').forEach(a => { a.hidden = !a.textContent.toLowerCase().includes(find.value.toLowerCase()); }));

/* Graphs are drawn when their program is looked at for the first time. */
function draw(section) {
  if (stateOf.has(section)) return;
  const program = DATA[section.dataset.program], names = [];
  program.graphs.converted.forEach(g => g.buffers.forEach(b => { if (b.name) names[b.argument] = b.name; }));
  stateOf.set(section, all('.view', section).map(view => FTGraph.mount($('.drawing', view), program.graphs[view.dataset.stage][Number(view.dataset.graph)],
    {names, onLine: line => setLine(section, line)})));
}

/* One source line in all tabs: its blocks, its lines after each phase. */
function setLine(section, line) {
  const program = DATA[section.dataset.program], bar = $('.follow', section);
  section.dataset.line = line || '';
  all('.src', section).forEach(b => b.classList.toggle('hit', Number(b.dataset.line) === line));
  bar.hidden = !line;
  bar.replaceChildren();
  const add = (text, act) => {
    const button = make('button', text);
    button.type = 'button';
    button.addEventListener('click', act);
    bar.append(button);
  };
  if (line) {
    bar.append(make('b', 'source line ' + line));
    add('source', () => { chooseTab(section, 'source'); const hit = $('.src.hit', section); if (hit) hit.scrollIntoView({block: 'center'}); });
    all('.view', section).forEach((view, v) => {
      const graph = program.graphs[view.dataset.stage][Number(view.dataset.graph)], blocks = graph.nodes.filter(n => n.line === line);
      if (blocks.length) add(view.dataset.stage + ': ' + blocks.map(n => n.name || n.id).slice(0, 4).join(', '), () => {
        chooseTab(section, 'graph');
        all('.stages button', section)[v].click();
        stateOf.get(section)[v].line(line);
      });
    });
    texts(program).forEach((phase, i) => {
      const count = phase.sources.filter(l => l === line).length;
      if (count) add(program.phases[i].name + ': ' + count, () => {
        chooseTab(section, 'phases');
        all('.phases button', section)[i].click();
        all('.forms button', section)[1].click();
        const hit = $('.diff .hit', section);
        if (hit) hit.scrollIntoView({block: 'center'});
      });
    });
    add('× none', () => setLine(section, 0));
  }
  if (section.showPhase) section.showPhase();
}

/* Waves: the compiler's drawings call this. */
function show(id, step) {
  all('#' + id + ' .pt').forEach(point => {
    const at = Number(point.getAttribute('data-step'));
    point.setAttribute('class', 'pt' + (step === -1 ? '' : at === step ? ' now' : at > step ? ' later' : ' done'));
  });
  $('#' + id + '-o').textContent = step === -1 ? 'all steps' : 'step ' + step;
}

/* Text after each phase, whole or as what changed. */
function texts(program) {
  if (program.texts) return program.texts;
  let lines = [];
  program.texts = program.phases.map(phase => {
    const next = [], marked = [], sources = phase.sources.flatMap(([line, count]) => new Array(count).fill(line));
    let at = 0;
    phase.ops.forEach(([tag, value]) => {
      if (tag === '=') for (let i = 0; i < value; ++i, ++at) { marked.push([' ', lines[at], sources[next.length]]); next.push(lines[at]); }
      if (tag === '-') for (let i = 0; i < value; ++i, ++at) marked.push(['-', lines[at], 0]);
      if (tag === '+') value.forEach(l => { marked.push(['+', l, sources[next.length]]); next.push(l); });
    });
    lines = next;
    return {text: next, marked, sources};
  });
  return program.texts;
}
function context(marked, around) {
  const keep = new Array(marked.length).fill(false);
  marked.forEach(([tag], i) => { if (tag !== ' ') for (let j = Math.max(0, i - around); j <= Math.min(marked.length - 1, i + around); ++j) keep[j] = true; });
  const found = [];
  let skipped = 0;
  marked.forEach((line, i) => {
    if (keep[i]) { if (skipped) found.push(['s', '… ' + skipped + ' lines as before', 0]); skipped = 0; found.push(line); } else ++skipped;
  });
  if (skipped) found.push(['s', '… ' + skipped + ' lines as before', 0]);
  return found;
}
const COLOURS = /(\/\/.*$)|("(?:[^"\\]|\\.)*")|(@[\w.$-]+)|(%[\w#]+)|(\b[a-z_]+\.[a-z_.]+\b)|(![\w.]+)/g, KINDS = ['', 'c', 's2', 'f', 'v', 'o', 't'];
function coloured(span, text) {
  let at = 0;
  for (const match of text.matchAll(COLOURS)) {
    span.append(text.slice(at, match.index), make('i', match[0], KINDS[match.findIndex((part, i) => i > 0 && part !== undefined)]));
    at = match.index + match[0].length;
  }
  span.append(text.slice(at));
}
const KIND = {'+': 'p', '-': 'm', s: 's'}, SIGN = {'+': '+ ', '-': '- '};
all('section[data-program]').forEach(section => {
  const phases = all('.phases button', section), forms = all('.forms button', section), pre = $('.diff', section);
  let index = 0, whole = false;
  section.showPhase = () => {
    phases.forEach((b, i) => { b.classList.toggle('on', i === index); b.setAttribute('aria-pressed', i === index); });
    forms.forEach((b, i) => { b.classList.toggle('on', (i === 1) === whole); b.setAttribute('aria-pressed', (i === 1) === whole); });
    const program = DATA[section.dataset.program], phase = texts(program)[index], chosen = Number(section.dataset.line || 0);
    const lines = whole || index === 0 || program.phases[index].name === 'assembly' ? phase.text.map((l, i) => [' ', l, phase.sources[i]]) : context(phase.marked, 3);
    pre.replaceChildren(...lines.map(([tag, text, source]) => {
      const span = make('span', SIGN[tag] || '  ', (KIND[tag] || '') + (source && source === chosen ? ' hit' : ''));
      coloured(span, text);
      if (source) span.dataset.source = source;
      return span;
    }));
  };
  pre.addEventListener('click', event => {
    const span = event.target.closest('[data-source]');
    if (span && String(getSelection()) === '') setLine(section, Number(span.dataset.source));
  });
  phases.forEach((b, i) => b.addEventListener('click', () => { index = i; section.showPhase(); }));
  forms.forEach((b, i) => b.addEventListener('click', () => { whole = i === 1; section.showPhase(); }));
});
follow();
