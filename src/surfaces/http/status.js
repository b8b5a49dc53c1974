// What the status page does: it asks the JSON routes, and makes tables and pictures of what they answer.
'use strict';

// ---- Making nodes. Strings become text nodes, and attributes are set: nothing here reads markup.

const $ = id => document.getElementById(id);
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value != null && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(9).filter(child => child != null && child !== false));
  return node;
}
const el = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
// The page has an <svg>, which knows the name of its language.
const draw = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS($('space').namespaceURI, tag), attributes, children);
const picture = (name, width, height, ...children) =>
  draw('svg', { width, height, role: 'img', 'aria-label': name }, children);
const line = (x1, y1, x2, y2, kind) => draw('line', { x1, y1, x2, y2, class: kind });
const words = (x, y, said, more = {}) => draw('text', { x, y, ...more }, String(said));
const END = { 'text-anchor': 'end' };
const soft = (...said) => el('p', { class: 'soft text' }, said);
// What turns the direction of text is shown, not obeyed.
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;
const short = (said, most) => (said.length > most ? `${said.slice(0, most)} …` : said).replace(TURNS, '\ufffd');
const text = (said, most = 200) => said == null ? '–' :
  el('span', { class: 'text', dir: 'auto', title: said.length > 20 ? short(said, 2000) : null }, short(said, most));
const facts = pairs => el('dl', {}, pairs.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
// Heads are [name, class of the column].
const table = (name, heads, rows) => el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': name },
  el('table', {},
    el('thead', {}, el('tr', {}, heads.map(([head, kind]) => el('th', { scope: 'col', class: kind }, head)))),
    el('tbody', {}, rows.map(cells =>
      el('tr', {}, cells.map((cell, i) => el('td', { class: heads[i][1] }, cell ?? '–')))))));

// ---- Numbers and instants in words.

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
// Where the database's time is simulated: how far it has come.
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

// ---- What is asked for, and which panels show it.

const LIST = 500;
// What is looked at: the memory and the scope, kept in the address, so that it can be passed on. The key never is.
const looked = new URLSearchParams(location.hash.slice(1));
function scoped(path, more = {}) {
  const query = new URLSearchParams(more);
  if (looked.get('scope')) query.set('scope', looked.get('scope'));
  return query.size ? `${path}?${query}` : path;
}
const ofTier = () => $('tier').value ? { tier: $('tier').value } : {};
const ofOne = id => id && scoped(`/v1/memories/${encodeURIComponent(id)}/explain`);
const sources = {
  status: { path: () => '/v1/status', panels: { waiting, jobs, mirrors } },
  health: { path: () => '/v1/health', panels: { tiers, over } },
  memories: { path: () => scoped('/v1/memories', { limit: LIST, ...ofTier() }), panels: { memories, energies }, rest: 30e3 },
  explain: { path: () => ofOne(looked.get('memory')), panels: { memory } },
  attempts: { path: () => '/v1/attempts?all=true&limit=20', panels: { attempts } },
  hot: { path: () => scoped('/v1/trails/hot', { limit: 30 }), panels: { hot } },
  cold: { path: () => scoped('/v1/trails/cold', { limit: 30 }), panels: { cold } },
};
const all = Object.values(sources);

let key = null;
try { key = sessionStorage.getItem('ebb-key'); } catch { /* No storage: the key lasts as long as the page. */ }

const REFUSED = { 403: 'This may not be seen', 404: 'Not there', 429: 'Too often', 503: 'Not now' };
async function ask(path) {
  try {
    const headers = key ? { Authorization: `Bearer ${key}` } : {};
    const signal = AbortSignal.timeout(35e3);
    const told = await fetch(path, { headers, cache: 'no-store', redirect: 'error', signal });
    const said = await told.json().catch(() => null);
    if (told.ok && said) {
      const more = /rel="next"/.test(told.headers.get('link') ?? '');
      return { said, more, status: told.status, at: Date.parse(told.headers.get('date')) || Date.now() };
    }
    if (told.status === 401) return { status: 401, said: null, problem: 'Not without a key.' };
    const why = REFUSED[told.status] ?? 'No answer';
    return { status: told.status, problem: `${why}: ${said?.detail ?? `${told.status} for ${path}`}` };
  } catch (why) {
    const late = why.name === 'TimeoutError';
    return { status: 0, problem: late ? 'No answer within 35 s' : 'Ebb does not answer; is it running?' };
  }
}

async function learn(source) {
  const path = source.path(), with_key = key;
  const told = path ? await ask(path) : { said: null };
  // What was asked in another scope, of another memory or with another key is no answer any more.
  if (path !== source.path() || with_key !== key) return;
  Object.assign(source, { problem: null, tried: Date.now() }, told);
  if (told.said) source.got = Date.now();
  if (source === sources.status && told.said) simulated = Date.parse(told.said.simulated_now) || null;
  if (source === sources.health && told.said) collect(told.said);
  show(source);
}

// What cannot be had anew stays, faded, beside the reason.
function show(source) {
  for (const [id, panel] of Object.entries(source.panels)) {
    const section = $(id), chosen = getSelection();
    // Nobody loses what they are about to copy.
    if (!chosen.isCollapsed && section.contains(chosen.anchorNode) && !source.problem) continue;
    const held = document.activeElement?.dataset?.key;
    const scrolls = [...section.querySelectorAll('.scroll')].map(one => [one.scrollLeft, one.scrollTop]);
    section.querySelectorAll('.said').forEach(node => node.remove());
    section.firstElementChild.after(el('span', { class: 'fresh said' }));
    if (source.problem) section.append(el('p', { class: 'problem said text' }, source.problem));
    const there = source.said || !source.path();
    const nodes = there ? panel(source.said, Math.max(240, section.clientWidth - 26), source) : [];
    section.append(el('div', { class: `body said ${source.problem ? 'stale' : ''}` }, nodes));
    section.querySelectorAll('.scroll').forEach((one, i) => one.scrollTo(...scrolls[i] ?? [0, 0]));
    if (held && document.activeElement === document.body) {
      [...section.querySelectorAll('[data-key]')].find(one => one.dataset.key === held)?.focus({ preventScroll: true });
    }
  }
  freshen();
}

function freshen() {
  for (const { panels, said, at, got } of all) {
    for (const fresh of Object.keys(panels).map(id => $(id).querySelector('.fresh'))) {
      const age = () => `as of ${stamp(said.at ?? simulated ?? at)} · ${span(Date.now() - got)} ago`;
      if (fresh) fresh.textContent = said ? age() : '';
    }
  }
}

// ---- The panels: from an answer, and how wide it may be, to nodes.

function waiting({ server, waiting: w, attempts, runs, stopped, scratch, simulated_now }) {
  $('server').textContent = `${server.name} ${server.version} ${server.edition} at ${server.uri}`;
  const bad = n => n > 0 ? el('span', { class: 'warn' }, `${count(n)} !`) : count(n);
  const stands = simulated_now ? ` and stands at ${stamp(simulated_now)}; everything here is as of then` : '';
  return [
    stopped && el('p', { class: 'problem text' }, `No job can run: ${stopped}`),
    scratch && soft(`A scratch database: its time is simulated${stands}.`),
    facts([
      ['due for decay', count(w.due)], ['ripe to rise', count(w.ripe)], ['sessions to count', count(w.sessions)],
      ['for clusters', count(w.clusters)], ['new, to strengthen others', count(w.reinforce)],
      ['outcomes to learn', count(w.outcomes)],
      ['of other writers', count(w.unstamped)], ['open attempts', count(attempts.length)], ['open runs', count(runs.length)],
      ['stuck attempts', bad(sources.health.said?.stuck_attempts)], ['set aside', bad(w.quarantined)],
    ]),
    w.quarantined > 0 && soft('ebb doctor names each row that is set aside, with its fix.'),
  ];
}

function jobs({ jobs, at }) {
  const now = Date.parse(at);
  const heads = [['job'], ['schedule'], ['last'], ['next'], ['lag'], ['what it does']];
  return table('Jobs', heads, jobs.map(job => {
    const schedule = job.cron ? `${job.cron} ${job.timezone}` : `every ${span(job.every_seconds * 1000)}`;
    const late = job.lag_seconds >= 60, lag = job.lag_seconds > 0 ? span(job.lag_seconds * 1000) : '–';
    const next = Date.parse(job.next) <= now ? 'due' : when(job.next, now);
    return [
      job.job, job.enabled ? schedule : `off (${schedule})`, when(job.last, now), job.enabled ? next : '–',
      late ? el('span', { class: 'warn' }, `${lag} !`) : lag, el('span', { class: 'soft' }, job.about),
    ];
  }));
}

function mirrors({ mirrors }) {
  if (!mirrors.length) return soft('No process says that it holds a part of the graph in memory.');
  const numbers = ['generation', 'nodes', 'relationships', 'MiB'].map(name => [name, 'n']);
  const age = m => m.stale ? el('span', { class: 'warn' }, `${span(m.age_ms)} ago !`) : `${span(m.age_ms)} ago`;
  return table('Mirrors', [['scope'], ['process'], ['looked'], ...numbers, ['holds']], mirrors.map(m => [
    text(m.scope, 40), text(m.process, 40), age(m), count(m.generation), count(m.nodes), count(m.slots),
    (m.bytes / 2 ** 20).toFixed(1), m.whole ? 'everything' : `the hottest ${percent(m.held_share)}`,
  ]));
}

function tiers({ tiers }) {
  if (!tiers.length) return soft('There are no memories.');
  const most = Math.max(...tiers.map(tier => tier.maxEnergy ?? 0)) || 1, wide = 120, x = n => 3 + n / most * (wide - 6);
  const range = ({ tier, minEnergy, avgEnergy, maxEnergy }) => avgEnergy != null && picture(
    `from ${energy(minEnergy)} to ${energy(maxEnergy)}, on average ${energy(avgEnergy)}`, wide, 12,
    line(3, 6, wide - 3, 6, 'axis'),
    draw('rect', { ...part(x(minEnergy), 4, Math.max(1, x(maxEnergy) - x(minEnergy)), 4, tier), opacity: .55 }),
    draw('rect', part(x(avgEnergy) - 1.5, 0, 3, 12, tier)));
  const heads = [['tier'], ['memories', 'n'], ['average', 'n'], ['least', 'n'], ['greatest', 'n'], [`0 to ${energy(most)}`]];
  return [
    table('Tiers', heads, tiers.map(t =>
      [t.tier, count(t.count), energy(t.avgEnergy), energy(t.minEnergy), energy(t.maxEnergy), range(t) || ''])),
    soft('Energies as of then, over every scope; rows that are set aside are left out.'),
  ];
}

// No route says how many memories a tier held before: the page collects it.
let points = [];
function collect({ tiers }) {
  points.push({ at: Date.now(), of: Object.fromEntries(tiers.map(({ tier, count }) => [tier, count])) });
  // Of a long watch every second point is enough.
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
    soft(`Collected by this page while it is open, ${count(points.length)} so far; nothing is known of before.`),
  ];
}

function memories({ memories }, _, { more }) {
  if (!memories.length) return soft(NONE);
  const sought = $('find').value.trim().toLowerCase(), age = at => -(Date.parse(at) || 0);
  const rank = {
    most: m => -(m.energy ?? -1), least: m => m.energy ?? 1e9, used: m => age(m.lastAccessed), made: m => age(m.created),
  };
  const by = rank[$('order').value], has = said => (said ?? '').toLowerCase().includes(sought);
  const found = memories.filter(m => has(m.id) || has(m.content)).sort((a, b) => by(a) - by(b)), shown = found.slice(0, 100);
  const pick = ({ id }) => {
    const pressed = String(id === looked.get('memory'));
    const button = el('button', { class: 'pick', type: 'button', 'data-key': id, 'aria-pressed': pressed }, text(id, 60));
    button.onclick = () => go('memory', id);
    return button;
  };
  const tier = m => m.quarantined ? el('span', { class: 'warn', title: m.quarantined }, 'set aside !') : standing(m);
  return [
    table('Memories', [['id'], ['tier'], ['energy', 'n'], ['used', 'n'], ['last'], ['content']], shown.map(m =>
      [pick(m), tier(m), energy(m.energy), count(m.accessCount), when(m.lastAccessed), text(m.content)])),
    soft(`${count(shown.length)} of ${count(found.length)}${sought ? ' that match' : ''}, of ${those(memories, more)}.`,
      ' Read anew every 30 s.'),
  ];
}
const NONE = 'There are no such memories in this scope.';
const standing = ({ tier, pinned }) => pinned ? `${tier}, pinned` : tier;
function those(memories, more) {
  const many = count(memories.length), tier = $('tier').value;
  return `${more ? `the first ${many} by id` : `all ${many}`} in this scope${tier ? `, ${tier} alone` : ''}`;
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
    picture('How many memories have how much energy', width, tall, legend, line(0, low, width, low, 'axis'), bins.map(bar)),
    soft(`Energies as of then: each bar from the number below it up to the next. Of ${those(memories, more)}.`),
  ];
}

function memory(m, width, { at }) {
  if (!m) return soft('Pick one from the list, or name its id.');
  const now = simulated ?? at, half = m.half_life_hours;
  const past = ({ at, what, count: times, energy: then, session }) =>
    [stamp(at), times > 1 ? `${what}, ${count(times)} times` : what, energy(then), text(session, 60)];
  return [
    curve(m, now, width),
    el('p', { class: 'text', dir: 'auto' }, short(m.content ?? '–', 600)),
    soft(m.because),
    facts([
      ['tier', standing(m)], ['energy', energy(m.energy)], ['half is gone in', half ? span(half * HOUR) : 'it rests'],
      ['used', count(m.accessCount)], ...m.crossings.map(c => [`below ${c.name} (${c.threshold})`, when(c.at, now)]),
    ]),
    table('History', [['at'], ['what'], ['energy', 'n'], ['session']], m.history.slice(0, 100).map(past)),
  ];
}

// From its anchor on, the last use or the last write, energy halves every half-life, or rests. Before it the answer knows
// the energies at promotions alone: these are dots.
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
  const runs = sources.status.said?.runs ?? [], open = ({ state }) => ['planned', 'claimed'].includes(state);
  const lease = ms => ms == null ? '–' : ms < 0 ? el('span', { class: 'warn' }, `over for ${span(ms)} !`) : span(ms);
  const numbers = ['holds', 'claimed', 'raised', 'lost'].map(name => [name, 'n']);
  const heads = [['attempt'], ['state'], ['began'], ['lease left'], ...numbers, ['holder']];
  const headsOfRuns = [['run'], ['occurrence'], ['lease left'], ['batch', 'n'], ['taken', 'n'], ['holder']];
  return [
    attempts.length ? table('Attempts', heads, attempts.map(a => [
      text(a.id.slice(-12)), a.state, when(a.started), open(a) ? lease(a.lease_left_ms) : '–', count(a.holds),
      count(a.claimed), count(a.applied), count(a.conflicts), text(a.holder, 40),
    ])) : soft('There was no consolidation attempt yet.'),
    runs.length ? table('Open runs', headsOfRuns, runs.map(r => [
      r.job, text(r.occurrence, 40), lease(r.lease_left_ms), count(r.batch), count(r.fence), text(r.holder, 40),
    ])) : soft('No run is open.'),
  ];
}

const spot = ({ label, id }) => text(`${label}:${id}`, 60);
function hot({ edges }) {
  if (!edges.length) return soft('Nothing lies on any trail of this scope.');
  const numbers = ['success', 'traversal', 'recency', 'cost'].map(name => [name, 'n']);
  const heads = [['from', 'name'], ['to', 'name'], ['type'], ...numbers];
  return table('Hot trails', heads, edges.map(e =>
    [spot(e.from), spot(e.to), e.type, trace(e.success), trace(e.traversal), trace(e.recency), trace(e.cost)]));
}
function cold({ nodes }) {
  if (!nodes.length) return soft('There are no places in this scope.');
  const heads = [['place', 'name'], ['exploitation', 'n'], ['exploration', 'n']];
  return table('Cold places', heads, nodes.map(n => [spot(n), trace(n.exploitation), trace(n.exploration)]));
}

// ---- Asking again: while somebody looks, and for no more than a third of the time.

const PAUSE = 5e3;
let paused = false, timer = null, busy = false, again = false;
async function round(anew) {
  if (busy) { again ||= Boolean(anew); return; }
  busy = true;
  clearTimeout(timer);
  const begun = Date.now();
  // The first answer says whether time is simulated, which the others are read by.
  if (!sources.status.tried) await learn(sources.status);
  await Promise.all(all.filter(({ rest, tried }) => anew || !rest || !tried || begun - tried >= rest).map(learn));
  busy = false;
  if (again) { again = false; return round(true); }
  if (told() && !paused && !document.hidden) timer = setTimeout(round, Math.max(PAUSE, 2 * (Date.now() - begun)));
}
// Says how it stands; whether it is worth asking again.
function told() {
  const refused = all.some(({ status }) => status === 401);
  const gone = all.find(({ status, problem }) => status === 0 && problem);
  // Without a key nothing stays, also of what was not asked for again.
  for (const source of all.filter(({ said }) => refused && said)) { Object.assign(source, { said: null }); show(source); }
  $('key').hidden = !refused;
  $('forget').hidden = !key;
  $('why').textContent = key ? 'This key is not taken; another:' : 'Ebb asks for a key:';
  const state = refused ? 'waits for a key' : gone ? gone.problem : paused ? 'paused' : 'live';
  if ($('state').textContent !== state) $('state').textContent = state;
  return !refused;
}
function go(name, value) {
  if (value) looked.set(name, value); else looked.delete(name);
  history.replaceState(null, '', looked.size ? `#${looked}` : location.pathname);
  $('id').value = looked.get('memory') ?? '';
  const changed = name === 'scope' ? ['memories', 'explain', 'hot', 'cold'] : ['explain'];
  for (const source of changed.map(of => sources[of])) { source.said = null; learn(source); }
  if (sources.memories.said) show(sources.memories);
}
function keep(value) {
  key = value || null;
  for (const source of all) source.said = null;
  try {
    if (key) sessionStorage.setItem('ebb-key', key); else sessionStorage.removeItem('ebb-key');
  } catch { /* As above. */ }
  round(true);
}
const submitted = (id, then) => $(id).addEventListener('submit', event => { event.preventDefault(); then(); });
submitted('key', () => { const value = $('secret').value.trim(); $('secret').value = ''; keep(value); });
submitted('scopes', () => go('scope', $('scope').value.trim()));
submitted('pick', () => go('memory', $('id').value.trim()));
$('forget').onclick = () => keep(null);
$('tier').onchange = () => learn(sources.memories);
$('order').onchange = $('find').oninput = () => { if (sources.memories.said) show(sources.memories); };
$('pause').onclick = () => {
  paused = !paused;
  $('pause').textContent = paused ? 'Resume' : 'Pause';
  clearTimeout(timer);
  if (paused) told(); else round();
};
document.addEventListener('visibilitychange', () => { clearTimeout(timer); if (!document.hidden && !paused) round(); });
addEventListener('resize', () => { for (const source of all) if (source.said) show(source); });
addEventListener('hashchange', () => location.reload());
setInterval(freshen, 1000);
$('scope').value = looked.get('scope') ?? '';
$('id').value = looked.get('memory') ?? '';
round();
