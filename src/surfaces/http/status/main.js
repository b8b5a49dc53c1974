// Script of the status page: fetches the JSON routes and renders tables and charts.
'use strict';

// ---- Create nodes. Strings become text nodes and attributes are set; nothing here parses markup.

const $ = id => document.getElementById(id);
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value != null && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(9).filter(child => child != null && child !== false));
  return node;
}
const el = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
// The page has an <svg> from which the namespace is read.
const draw = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS($('space').namespaceURI, tag), attributes, children);
const picture = (name, width, height, ...children) =>
  draw('svg', { width, height, role: 'img', 'aria-label': name }, children);
const line = (x1, y1, x2, y2, kind) => draw('line', { x1, y1, x2, y2, class: kind });
const words = (x, y, value, more = {}) => draw('text', { x, y, ...more }, String(value));
const END = { 'text-anchor': 'end' };
const soft = (...value) => el('p', { class: 'soft text' }, value);
// Characters that change the direction of text are replaced by a visible one.
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;
const short = (value, most) => (value.length > most ? `${value.slice(0, most)} …` : value).replace(TURNS, '\ufffd');
const text = (value, most = 200) => value == null ? '–' :
  el('span', { class: 'text', dir: 'auto', title: value.length > 20 ? short(value, 2000) : null }, short(value, most));
const facts = pairs => el('dl', {}, pairs.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
// Each head is [name, class of the column].
const table = (name, heads, rows) => el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': name },
  el('table', {},
    el('thead', {}, el('tr', {}, heads.map(([head, kind]) => el('th', { scope: 'col', class: kind }, head)))),
    el('tbody', {}, rows.map(cells =>
      el('tr', {}, cells.map((cell, i) => el('td', { class: heads[i][1] }, cell ?? '–')))))));

// ---- Format numbers and instants.

const count = n => n == null ? '–' : n.toLocaleString('en');
const percent = share => `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
const energy = n => n == null ? '–' : n > 0 && n < 0.001 ? '<0.001' : n.toFixed(3);
const trace = n => n == null ? '–' : n > 0 && n < 0.01 ? '<0.01' : n.toFixed(2);
const HOUR = 3600e3;
const UNITS = [[100, 1, 's'], [5400, 60, 'min'], [172800, 3600, 'h'], [63072000, 86400, 'd'], [Infinity, 31557600, 'years']];
function span(ms) {
  const s = Math.abs(ms) / 1000, [, size, unit] = UNITS.find(([below]) => s < below);
  return `${Math.round(s / size).toLocaleString('en')} ${unit}`;
}
const stamp = at => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;
// Current simulated time, if the database has one.
let simulated = null;
function when(at, now = simulated ?? Date.now()) {
  if (at == null) return '–';
  const ahead = Date.parse(at) - now;
  return el('time', { datetime: at, title: at }, ahead > 0 ? `in ${span(ahead)}` : `${span(ahead)} ago`);
}
const LIVE = ['working', 'shortTerm', 'longTerm'];
const TIERS = [...LIVE, 'expiredWorking', 'archivedWorking', 'archivedShortTerm'];
const part = (x, y, width, height, tier) => ({ x, y, width, height, class: kind(tier) });
const kind = tier => LIVE.includes(tier) ? tier : 'other';

// ---- Sources: the routes to fetch, and the panels that show them.

const LIST = 500;
// Selected memory and scope, kept in the URL so that it can be shared. The key is never in the URL.
const selected = new URLSearchParams(location.hash.slice(1));
function scoped(path, more = {}) {
  const query = new URLSearchParams(more);
  if (selected.get('scope')) query.set('scope', selected.get('scope'));
  return query.size ? `${path}?${query}` : path;
}
const ofTier = () => $('tier').value ? { tier: $('tier').value } : {};
const ofOne = id => id && scoped(`/v1/memories/${encodeURIComponent(id)}/explain`);
const sources = {
  status: { path: () => '/v1/status', panels: { waiting, jobs, mirrors } },
  health: { path: () => '/v1/health', panels: { tiers, over } },
  memories: {
    path: () => scoped('/v1/memories', { limit: LIST, ...ofTier() }), panels: { memories, energies }, interval: 30e3,
  },
  explain: { path: () => ofOne(selected.get('memory')), panels: { memory } },
  attempts: { path: () => '/v1/attempts?all=true&limit=20', panels: { attempts } },
  hot: { path: () => scoped('/v1/trails/hot', { limit: 30 }), panels: { hot } },
  cold: { path: () => scoped('/v1/trails/cold', { limit: 30 }), panels: { cold } },
};
const all = Object.values(sources);

let key = null;
try { key = sessionStorage.getItem('ebb-key'); } catch { /* Without storage, the key lasts as long as the page. */ }

const REFUSED = { 403: 'Forbidden', 404: 'Not found', 429: 'Too many requests', 503: 'Unavailable' };
async function request(path) {
  try {
    const headers = key ? { Authorization: `Bearer ${key}` } : {};
    const signal = AbortSignal.timeout(35e3);
    const response = await fetch(path, { headers, cache: 'no-store', redirect: 'error', signal });
    const data = await response.json().catch(() => null);
    if (response.ok && data) {
      const more = /rel="next"/.test(response.headers.get('link') ?? '');
      return { data, more, status: response.status, at: Date.parse(response.headers.get('date')) || Date.now() };
    }
    if (response.status === 401) return { status: 401, data: null, problem: 'An API key is needed.' };
    const why = REFUSED[response.status] ?? 'Request failed';
    return { status: response.status, problem: `${why}: ${data?.detail ?? `${response.status} for ${path}`}` };
  } catch (why) {
    const late = why.name === 'TimeoutError';
    return { status: 0, problem: late ? 'No response within 35 s' : 'Ebb does not respond; is it running?' };
  }
}

async function refresh(source) {
  const path = source.path(), keyBefore = key;
  const response = path ? await request(path) : { data: null };
  // Discard the response if the scope, the memory or the key changed meanwhile.
  if (path !== source.path() || keyBefore !== key) return;
  Object.assign(source, { problem: null, tried: Date.now() }, response);
  if (response.data) source.got = Date.now();
  if (source === sources.status && response.data) simulated = Date.parse(response.data.simulated_now) || null;
  if (source === sources.health && response.data) collect(response.data);
  show(source);
}

// If a request fails, the old data stays, greyed out, with the error.
function show(source) {
  for (const [id, panel] of Object.entries(source.panels)) {
    const section = $(id), chosen = getSelection();
    // Keep a text selection that the user may be about to copy.
    if (!chosen.isCollapsed && section.contains(chosen.anchorNode) && !source.problem) continue;
    const held = document.activeElement?.dataset?.key;
    const scrolls = [...section.querySelectorAll('.scroll')].map(one => [one.scrollLeft, one.scrollTop]);
    section.querySelectorAll('.data').forEach(node => node.remove());
    section.firstElementChild.after(el('span', { class: 'fresh data' }));
    if (source.problem) section.append(el('p', { class: 'problem data text' }, source.problem));
    const there = source.data || !source.path();
    const nodes = there ? panel(source.data, Math.max(240, section.clientWidth - 26), source) : [];
    section.append(el('div', { class: `body data ${source.problem ? 'stale' : ''}` }, nodes));
    section.querySelectorAll('.scroll').forEach((one, i) => one.scrollTo(...scrolls[i] ?? [0, 0]));
    if (held && document.activeElement === document.body) {
      [...section.querySelectorAll('[data-key]')].find(one => one.dataset.key === held)?.focus({ preventScroll: true });
    }
  }
  updateAges();
}

function updateAges() {
  for (const { panels, data, at, got } of all) {
    for (const fresh of Object.keys(panels).map(id => $(id).querySelector('.fresh'))) {
      const age = () => `as of ${stamp(data.at ?? simulated ?? at)} · ${span(Date.now() - got)} ago`;
      if (fresh) fresh.textContent = data ? age() : '';
    }
  }
}

// ---- Panels: convert a response and a width to nodes.

function waiting({ server, waiting: w, foreign, attempts, runs, stopped, scratch, simulated_now }) {
  $('server').textContent = `${server.name} ${server.version} ${server.edition} at ${server.uri}`;
  const bad = n => n > 0 ? el('span', { class: 'warn' }, `${count(n)} !`) : count(n);
  const simulatedNow = simulated_now ? `, now ${stamp(simulated_now)}; all data here is as of that time` : '';
  return [
    stopped && el('p', { class: 'problem text' }, `No job can run: ${stopped}`),
    scratch && soft(`Scratch database: its time is simulated${simulatedNow}.`),
    facts([
      ['due for decay', count(w.due)], ['ripe for promotion', count(w.ripe)], ['sessions to count', count(w.sessions)],
      ['memories to cluster', count(w.clusters)], ['to embed', count(w.embed)], ['new, to reinforce', count(w.reinforce)],
      ['outcomes to learn', count(w.outcomes)], ['to adopt from other writers', count(w.unstamped)],
      ['of other libraries', count(foreign.memories + foreign.facts)],
      ['open attempts', count(attempts.length)], ['open runs', count(runs.length)],
      ['stuck attempts', bad(sources.health.data?.stuck_attempts)], ['quarantined', bad(w.quarantined)],
    ]),
    w.quarantined > 0 && soft('Run ebb doctor to list each quarantined row with its fix.'),
  ];
}

function jobs({ jobs, at }) {
  const now = Date.parse(at);
  const heads = [['job'], ['schedule'], ['last'], ['next'], ['lag'], ['description']];
  return table('Jobs', heads, jobs.map(job => {
    const schedule = job.cron ? `${job.cron} ${job.timezone}` : `every ${span(job.every_seconds * 1000)}`;
    const late = job.lag_seconds >= 60, lag = job.lag_seconds > 0 ? span(job.lag_seconds * 1000) : '–';
    const next = Date.parse(job.next) <= now ? 'due' : when(job.next, now);
    const run = job.last_run, failed = ['failed', 'guarded'].includes(run?.state);
    const last = [
      when(run?.started ?? job.last, now), run?.trigger === 'manual' && ', by hand',
      failed && el('span', { class: 'warn', title: run.reason }, ` ${run.state} !`),
    ];
    return [
      job.job, job.enabled ? schedule : `off (${schedule})`, last, job.enabled ? next : '–',
      late ? el('span', { class: 'warn' }, `${lag} !`) : lag, el('span', { class: 'soft' }, job.about),
    ];
  }));
}

function mirrors({ mirrors }) {
  if (!mirrors.length) return soft('No process reports a mirror of the graph in memory.');
  const numbers = ['generation', 'nodes', 'relationships', 'MiB'].map(name => [name, 'n']);
  const age = m => m.stale ? el('span', { class: 'warn' }, `${span(m.age_ms)} ago !`) : `${span(m.age_ms)} ago`;
  return table('Mirrors', [['scope'], ['process'], ['refreshed'], ...numbers, ['holds']], mirrors.map(m => [
    text(m.scope, 40), text(m.process, 40), age(m), count(m.generation), count(m.nodes), count(m.slots),
    (m.bytes / 2 ** 20).toFixed(1), m.whole ? 'all' : `hottest ${percent(m.held_share)}`,
  ]));
}

function tiers({ tiers }) {
  if (!tiers.length) return soft('No memories.');
  const most = Math.max(...tiers.map(tier => tier.maxEnergy ?? 0)) || 1, wide = 120, x = n => 3 + n / most * (wide - 6);
  const range = ({ tier, minEnergy, avgEnergy, maxEnergy }) => avgEnergy != null && picture(
    `${energy(minEnergy)} to ${energy(maxEnergy)}, average ${energy(avgEnergy)}`, wide, 12,
    line(3, 6, wide - 3, 6, 'axis'),
    draw('rect', { ...part(x(minEnergy), 4, Math.max(1, x(maxEnergy) - x(minEnergy)), 4, tier), opacity: .55 }),
    draw('rect', part(x(avgEnergy) - 1.5, 0, 3, 12, tier)));
  const numbers = ['memories', 'average', 'minimum', 'maximum'].map(name => [name, 'n']);
  const heads = [['tier'], ...numbers, [`0 to ${energy(most)}`]];
  return [
    table('Tiers', heads, tiers.map(t =>
      [t.tier, count(t.count), energy(t.avgEnergy), energy(t.minEnergy), energy(t.maxEnergy), range(t) || ''])),
    soft('Energies at that time, over all scopes, without quarantined rows.'),
  ];
}

// No route returns past counts of memories by tier, so the page collects them.
let points = [];
function collect({ tiers }) {
  points.push({ at: Date.now(), of: Object.fromEntries(tiers.map(({ tier, count }) => [tier, count])) });
  // When the page is open for long, keep every second point.
  if (points.length > 1000) points = points.filter((_, i) => i % 2 === 0 || i === points.length - 1);
}
function over(_, width) {
  const tall = 160, left = 44, right = width - 140, first = points[0].at, last = points.at(-1);
  const names = TIERS.filter(tier => points.some(({ of }) => of[tier]));
  const most = Math.max(1, ...points.flatMap(({ of }) => Object.values(of))), until = Math.max(last.at, first + 60e3);
  const x = at => left + (at - first) / (until - first) * (right - left), y = n => tall - 18 - n / most * (tall - 30);
  // Labels beside the last points, pushed apart where they would cover each other.
  const ends = names.map(name => ({ name, n: last.of[name] ?? 0 })).sort((a, b) => b.n - a.n);
  ends.forEach((end, i) => { end.low = Math.max(y(end.n) + 4, i ? ends[i - 1].low + 13 : 0); });
  const spill = Math.max(0, (ends.at(-1)?.low ?? 0) - tall + 2);
  const path = name => points.map(({ at, of }) => `${x(at).toFixed(1)},${y(of[name] ?? 0).toFixed(1)}`).join(' ');
  return [
    picture(`Memories by tier since ${stamp(first)}`, width, tall,
      [0, most].map(n => [line(left, y(n), right, y(n), 'axis'), words(left - 6, y(n) + 4, count(n), END)]),
      words(left, tall - 3, stamp(first).slice(11)), words(right, tall - 3, stamp(until).slice(11), END),
      ends.map(({ name, n, low }) => [
        draw('polyline', { class: kind(name), points: path(name) }),
        draw('circle', { cx: x(last.at), cy: y(n), r: 3, class: kind(name) }),
        words(right + 8, low - spill, `${name} ${count(n)}`, { class: 'ink' }),
      ])),
    soft(`Collected by this page while it is open: ${count(points.length)} points so far, none from before.`),
  ];
}

function memories({ memories }, _, { more }) {
  if (!memories.length) return soft(NONE);
  const term = $('find').value.trim().toLowerCase(), age = at => -(Date.parse(at) || 0);
  const rank = {
    most: m => -(m.energy ?? -1), least: m => m.energy ?? 1e9, used: m => age(m.lastAccessed), made: m => age(m.created),
  };
  const by = rank[$('order').value], has = value => (value ?? '').toLowerCase().includes(term);
  const found = memories.filter(m => has(m.id) || has(m.content)).sort((a, b) => by(a) - by(b)), shown = found.slice(0, 100);
  const pick = ({ id }) => {
    const pressed = String(id === selected.get('memory'));
    const button = el('button', { class: 'pick', type: 'button', 'data-key': id, 'aria-pressed': pressed }, text(id, 60));
    button.onclick = () => select('memory', id);
    return button;
  };
  const tier = m => m.quarantined ? el('span', { class: 'warn', title: m.quarantined }, 'quarantined !') : standing(m);
  return [
    table('Memories', [['id'], ['tier'], ['energy', 'n'], ['accesses', 'n'], ['last'], ['content']], shown.map(m =>
      [pick(m), tier(m), energy(m.energy), count(m.accessCount), when(m.lastAccessed), text(m.content)])),
    soft(`${count(shown.length)} of ${count(found.length)}${term ? ' that match' : ''}, of ${those(memories, more)}.`,
      ' Refreshed every 30 s.'),
  ];
}
const NONE = 'No such memories in this scope.';
const standing = ({ tier, pinned }) => pinned ? `${tier}, pinned` : tier;
function those(memories, more) {
  const many = count(memories.length), tier = $('tier').value;
  return `${more ? `the first ${many} by id` : `all ${many}`} in this scope${tier ? `, ${tier} only` : ''}`;
}

const EDGES = [0, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20, 50];
function energies({ memories }, width, { more }) {
  if (!memories.length) return soft(NONE);
  const known = memories.filter(m => m.energy != null), tall = 180, low = tall - 18, step = width / EDGES.length;
  const bins = EDGES.map((from, i) => known.filter(m => m.energy >= from && !(m.energy >= EDGES[i + 1])));
  const most = Math.max(1, ...bins.map(bin => bin.length)), names = TIERS.filter(tier => known.some(m => m.tier === tier));
  const bar = (bin, i) => {
    let top = low;
    const parts = names.map(tier => {
      const many = bin.filter(m => m.tier === tier).length, height = many / most * (tall - 50);
      top -= height;
      const shape = part(i * step + 2, top, step - 4, height, tier);
      return many > 0 && draw('rect', shape, draw('title', {}, `${tier}: ${count(many)}`));
    });
    const edge = String(EDGES[i]).replace(step < 34 ? '0.' : 'never', '.') + (i === EDGES.length - 1 ? '+' : '');
    const middle = { 'text-anchor': 'middle', class: 'ink' };
    const many = bin.length > 0 && words((i + .5) * step, top - 4, count(bin.length), middle);
    return [parts, many, words(i * step + 2, tall - 4, edge)];
  };
  let x = 0;
  const legend = names.map(tier => {
    const from = x;
    x += 30 + tier.length * 6.4;
    return [draw('rect', part(from, 2, 9, 9, tier)), words(from + 13, 11, tier)];
  });
  return [
    picture('Number of memories by energy', width, tall, legend, line(0, low, width, low, 'axis'), bins.map(bar)),
    soft(`Energies at that time; each bar spans from the number below it to the next. Of ${those(memories, more)}.`),
  ];
}

function memory(m, width, { at }) {
  if (!m) return soft('Select a memory from the list, or enter its id.');
  const now = simulated ?? at, half = m.half_life_hours;
  const past = ({ at, what, count: times, energy: then, session }) =>
    [stamp(at), times > 1 ? `${what}, ${count(times)} times` : what, energy(then), text(session, 60)];
  return [
    curve(m, now, width),
    el('p', { class: 'text', dir: 'auto' }, short(m.content ?? '–', 600)),
    soft(m.because),
    facts([
      ['tier', standing(m)], ['energy', energy(m.energy)], ['half-life', half ? span(half * HOUR) : 'no decay'],
      ['accesses', count(m.accessCount)],
      ...m.crossings.map(c => [`below ${c.name} (${c.threshold})`, when(c.at, now)]),
    ]),
    table('History', [['at'], ['event'], ['energy', 'n'], ['session']], m.history.slice(0, 100).map(past)),
  ];
}

// From its anchor, the last access or the last write, energy halves every half-life, or does not decay. Before it, the
// response has energies only at promotions: these are dots.
function curve(m, now, width) {
  const half = m.half_life_hours ? m.half_life_hours * HOUR : Infinity, value = t => m.energy * 2 ** ((now - t) / half);
  const anchor = Math.min(now, Math.max(Date.parse(m.energyAt), Date.parse(m.lastAccessed)));
  const crossings = m.crossings.map(c => ({ ...c, t: Date.parse(c.at) }));
  const history = m.history.map(h => ({ ...h, t: Date.parse(h.at) })).filter(h => h.t <= now);
  const rests = Math.max(now - anchor, 8 * HOUR);
  const ahead = crossings.length ? (crossings.at(-1).t - now) * 1.15 : half < Infinity ? 3 * half : rests;
  const until = now + ahead, from = Math.min(anchor, Math.max(now - ahead, Math.min(anchor, ...history.map(h => h.t))));
  const seen = history.filter(h => h.t >= from), dots = seen.filter(h => h.energy != null);
  const most = 1.12 * Math.max(value(anchor), .01, ...crossings.map(c => c.threshold), ...dots.map(h => h.energy));
  const tall = 220, top = 16, low = tall - 22, left = 44, right = width - 10;
  const x = t => left + (t - from) / (until - from) * (right - left), y = e => low - e / most * (low - top);
  const path = (a, b) => Array.from({ length: 81 }, (_, i) => a + (b - a) * i / 80)
    .map((t, i) => `${i ? 'L' : 'M'}${x(t).toFixed(1)} ${y(value(t)).toFixed(1)}`).join('');
  const power = 10 ** Math.floor(Math.log10(most / 4)), tick = [1, 2, 5, 10].find(n => n * power >= most / 4) * power;
  const ticks = [0, 1, 2, 3, 4].map(i => i * tick).filter(e => e < most);
  const late = x(now) > width * .7;
  return picture(`Energy over time: ${energy(m.energy)} now`, width, tall,
    line(left, low, right, low, 'axis'), line(left, top, left, low, 'axis'),
    ticks.map(e => words(left - 6, y(e) + 4, +e.toPrecision(3), END)),
    crossings.map(({ name, threshold, t }) => [
      line(left, y(threshold), right, y(threshold), 'rule'),
      x(t) > width / 2 ? words(left + 4, y(threshold) - 4, `${name} ${threshold}`)
        : words(right, y(threshold) - 4, `${name} ${threshold}`, END),
      line(x(t), y(threshold), x(t), low, 'rule'), draw('circle', { cx: x(t), cy: y(threshold), r: 3.5 }),
    ]),
    seen.map(h => line(x(h.t), low, x(h.t), low + 6, 'tick')), line(x(now), top, x(now), low, 'now'),
    draw('path', { d: path(anchor, now), class: 'curve' }), draw('path', { d: path(now, until), class: 'curve ahead' }),
    dots.map(h =>
      draw('circle', { cx: x(h.t), cy: y(h.energy), r: 3, class: 'other' }, draw('title', {}, `${h.what} ${h.at}`))),
    draw('circle', { cx: x(now), cy: y(m.energy), r: 4 }),
    words(x(now) + (late ? -6 : 6), 11, `now ${energy(m.energy)}`, { class: 'ink', ...(late ? END : {}) }),
    words(left, tall - 6, from < now ? `${span(now - from)} ago` : 'now'), words(right, tall - 6, `in ${span(ahead)}`, END));
}

function attempts({ attempts }) {
  const runs = sources.status.data?.runs ?? [], open = ({ state }) => ['planned', 'claimed'].includes(state);
  const lease = ms => ms == null ? '–' : ms < 0 ? el('span', { class: 'warn' }, `expired ${span(ms)} ago !`) : span(ms);
  const numbers = ['holds', 'claimed', 'promoted', 'conflicts'].map(name => [name, 'n']);
  const heads = [['attempt'], ['state'], ['started'], ['lease left'], ...numbers, ['holder']];
  const headsOfRuns = [['run'], ['occurrence'], ['lease left'], ['batch', 'n'], ['fence', 'n'], ['holder']];
  return [
    attempts.length ? table('Attempts', heads, attempts.map(a => [
      text(a.id.slice(-12)), a.state, when(a.started), open(a) ? lease(a.lease_left_ms) : '–', count(a.holds),
      count(a.claimed), count(a.applied), count(a.conflicts), text(a.holder, 40),
    ])) : soft('No consolidation attempts yet.'),
    runs.length ? table('Open runs', headsOfRuns, runs.map(r => [
      r.job, text(r.occurrence, 40), lease(r.lease_left_ms), count(r.batch), count(r.fence), text(r.holder, 40),
    ])) : soft('No open runs.'),
  ];
}

const spot = ({ label, id }) => text(`${label}:${id}`, 60);
function hot({ edges }) {
  if (!edges.length) return soft('No pheromones on the trails of this scope.');
  const numbers = ['success', 'traversal', 'recency', 'cost'].map(name => [name, 'n']);
  const heads = [['from', 'name'], ['to', 'name'], ['type'], ...numbers];
  return table('Hot trails', heads, edges.map(e =>
    [spot(e.from), spot(e.to), e.type, trace(e.success), trace(e.traversal), trace(e.recency), trace(e.cost)]));
}
function cold({ nodes }) {
  if (!nodes.length) return soft('No places in this scope.');
  const heads = [['place', 'name'], ['exploitation', 'n'], ['exploration', 'n']];
  return table('Cold places', heads, nodes.map(n => [spot(n), trace(n.exploitation), trace(n.exploration)]));
}

// ---- Polling: only while the page is visible, and for at most a third of the time.

const PAUSE = 5e3;
let paused = false, timer = null, busy = false, again = false;
async function poll(force) {
  if (busy) { again ||= Boolean(force); return; }
  busy = true;
  clearTimeout(timer);
  const begun = Date.now();
  // The first response tells whether time is simulated, which the others depend on.
  if (!sources.status.tried) await refresh(sources.status);
  const isDue = ({ interval, tried }) => force || !interval || !tried || begun - tried >= interval;
  await Promise.all(all.filter(isDue).map(refresh));
  busy = false;
  if (again) { again = false; return poll(true); }
  if (updateState() && !paused && !document.hidden) timer = setTimeout(poll, Math.max(PAUSE, 2 * (Date.now() - begun)));
}
// Shows the state; returns whether to poll again.
function updateState() {
  const refused = all.some(({ status }) => status === 401);
  const gone = all.find(({ status, problem }) => status === 0 && problem);
  // Without a key, remove all data, including data that was not requested again.
  for (const source of all.filter(({ data }) => refused && data)) { source.data = null; show(source); }
  $('key').hidden = !refused;
  $('forget').hidden = !key;
  $('why').textContent = key ? 'This key is not valid; enter another:' : 'Enter an API key:';
  const state = refused ? 'needs a key' : gone ? gone.problem : paused ? 'paused' : 'live';
  if ($('state').textContent !== state) $('state').textContent = state;
  return !refused;
}
function select(name, value) {
  if (value) selected.set(name, value); else selected.delete(name);
  history.replaceState(null, '', selected.size ? `#${selected}` : location.pathname);
  $('id').value = selected.get('memory') ?? '';
  const changed = name === 'scope' ? ['memories', 'explain', 'hot', 'cold'] : ['explain'];
  for (const source of changed.map(of => sources[of])) { source.data = null; refresh(source); }
  if (sources.memories.data) show(sources.memories);
}
function setKey(value) {
  key = value || null;
  for (const source of all) source.data = null;
  try {
    if (key) sessionStorage.setItem('ebb-key', key); else sessionStorage.removeItem('ebb-key');
  } catch { /* As above. */ }
  poll(true);
}
const submitted = (id, then) => $(id).addEventListener('submit', event => { event.preventDefault(); then(); });
submitted('key', () => { const value = $('secret').value.trim(); $('secret').value = ''; setKey(value); });
submitted('scopes', () => select('scope', $('scope').value.trim()));
submitted('pick', () => select('memory', $('id').value.trim()));
$('forget').onclick = () => setKey(null);
$('tier').onchange = () => refresh(sources.memories);
$('order').onchange = $('find').oninput = () => { if (sources.memories.data) show(sources.memories); };
$('pause').onclick = () => {
  paused = !paused;
  $('pause').textContent = paused ? 'Resume' : 'Pause';
  clearTimeout(timer);
  if (paused) updateState(); else poll();
};
document.addEventListener('visibilitychange', () => { clearTimeout(timer); if (!document.hidden && !paused) poll(); });
addEventListener('resize', () => { for (const source of all) if (source.data) show(source); });
addEventListener('hashchange', () => location.reload());
setInterval(updateAges, 1000);
$('scope').value = selected.get('scope') ?? '';
$('id').value = selected.get('memory') ?? '';
poll();
