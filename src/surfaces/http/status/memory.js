// One memory: why it is as it is, and the course of its energy.
//
// The course is drawn from what `explain` answers: stretches between accesses, each a fall, and what lies ahead. An access is
// a jump. A marker stands at the day shown.

import { END, draw, el, facts, line, picture, soft, table, text, words } from './dom.js';
import { count, energy, HOUR, kind, plural, relative, short, span, stamp, standing } from './format.js';
import { atDay, get, now, query, shown } from './state.js';

const path = more => query(`/v1/memories/${encodeURIComponent(get('memory'))}/explain`, more);

// Its course, which the day shown does not change.
export const course = { ask: () => get('memory') && { path: path({ curve: true }) }, panels: {} };
// Its state on the day shown.
export const memory = { ask: () => get('memory') && { path: path(atDay()) }, panels: { memory: panel } };

function panel(m, width) {
  if (!m) return soft('Select a memory: in the list, in the graph, among the hits of a recall, or by its id.');
  const known = course.data?.id === m.id ? course.data : null, half = m.half_life_hours;
  const then = energyAt(known ?? m, shown());
  const past = ({ at, what, count: times, energy: value, session }) =>
    [stamp(at), times > 1 ? `${what}, ${count(times)} times` : what, energy(value), text(session, 60)];
  return [
    el('p', { class: 'text strong', dir: 'auto' }, short(m.content ?? '–', 600)),
    known?.curve && sawtooth(known, then, width),
    facts([
      ['tier', el('span', { class: `tier ${kind(m.tier)}` }, standing(m))],
      ['energy', then == null ? 'not recorded' : energy(then)],
      ['half-life', half ? span(half * HOUR) : 'no decay'], ['accesses', count(m.accessCount)],
      ...m.crossings.map(c => [`falls below ${c.name} (${c.threshold})`, relative(Date.parse(c.at), shown())]),
    ]),
    soft(m.because),
    table('History', [['at'], ['event'], ['energy', 'n'], ['session']], m.history.slice(0, 100).map(past)),
  ];
}

const points = list => list.map(({ at, energy: e }) => ({ t: Date.parse(at), e }));
const anchor = m => Math.max(Date.parse(m.energyAt), Date.parse(m.lastAccessed));

// Its energy at an instant: by its law from the last access or change on, before it as the records tell, or null.
function energyAt(m, t) {
  if (m.energy == null || t < Date.parse(m.created)) return null;
  const ahead = points(m.curve?.ahead ?? []);
  if (t >= anchor(m) && ahead.length) {
    const first = ahead[0], half = m.half_life_hours && m.half_life_hours * HOUR;
    return half ? first.e * 2 ** ((first.t - t) / half) : first.e;
  }
  for (const stretch of (m.curve?.past ?? []).map(points)) {
    const after = stretch.findIndex(point => point.t >= t);
    if (after === 0 && stretch[0].t === t) return stretch[0].e;
    if (after > 0) {
      const [a, b] = [stretch[after - 1], stretch[after]];
      return a.e + (b.e - a.e) * (t - a.t) / (b.t - a.t);
    }
  }
  return null;
}

const LABELS = { promotion: 'promoted above', expiry: 'expires below' };

function sawtooth(m, then, width) {
  const past = m.curve.past.map(points), ahead = points(m.curve.ahead), day = shown(), present = now();
  const begun = past[0]?.[0].t ?? ahead[0].t, ends = Math.max(ahead.at(-1).t, present);
  // Of a long past twice as much as lies ahead, or the last eight falls; the day shown is always inside.
  const reach = Math.max(ends - present, 6 * HOUR);
  const from = Math.min(day, Math.max(begun, Math.min(past.at(-8)?.[0].t ?? begun, present - 2 * reach)));
  const until = Math.max(ends, day) + 1;
  const inside = point => point.t >= from && point.t <= until;
  const half = m.half_life_hours ? m.half_life_hours * HOUR : Infinity;
  const law = t => ahead[0].e * 2 ** ((ahead[0].t - t) / half);
  const last = ahead.filter(inside);
  if (day > ends) last.push({ t: day, e: law(day) });
  const seen = [...past.flat().filter(inside), ...last];
  const most = 1.12 * Math.max(.01, ...seen.map(p => p.e), ...m.curve.thresholds.map(level => level.energy));
  const tall = 220, top = 16, low = tall - 22, left = 44, right = width - 10;
  const x = t => left + (t - from) / (until - from) * (right - left), y = e => low - e / most * (low - top);
  // Stretches are joined upright: that is what an access adds.
  const behind = [...past.flat(), ...ahead.filter(p => p.t <= present)].filter(inside);
  const next = [...last.filter(p => p.t > present)];
  if (ahead[0].t <= present) next.unshift({ t: present, e: law(present) });
  const d = list => list.map((p, i) => `${i ? 'L' : 'M'}${x(p.t).toFixed(1)} ${y(p.e).toFixed(1)}`).join('');
  const power = 10 ** Math.floor(Math.log10(most / 4)), tick = [1, 2, 5, 10].find(n => n * power >= most / 4) * power;
  const ticks = [0, 1, 2, 3, 4].map(i => i * tick).filter(e => e < most);
  const events = m.history.map(h => ({ ...h, t: Date.parse(h.at) })).filter(inside);
  const isLate = x(day) > (left + right) / 2;
  const jumps = events.filter(h => h.what === 'accessed').length, promoted = events.filter(h => h.energy != null);
  return el('figure', {}, picture(`Energy over time; ${then == null ? 'not recorded' : energy(then)} on the day shown`, width, tall,
    line(left, low, right, low, 'axis'), line(left, top, left, low, 'axis'),
    ticks.map(e => words(left - 6, y(e) + 4, +e.toPrecision(3), END)),
    m.curve.thresholds.map(({ name, energy: level }) => [
      line(left, y(level), right, y(level), 'rule'),
      words(isLate ? left + 4 : right, y(level) - 4, `${LABELS[name] ?? name} ${level}`, isLate ? {} : END),
    ]),
    events.filter(h => h.what === 'accessed' || h.what === 'created').map(h =>
      draw('line', { x1: x(h.t), x2: x(h.t), y1: low, y2: low + 6, class: 'tick' }, draw('title', {}, `${h.what} ${stamp(h.t)}`))),
    behind.length > 1 && draw('path', { d: d(behind), class: `curve ${kind(m.tier)}` }),
    next.length > 1 && draw('path', { d: d(next), class: `curve ahead ${kind(m.tier)}` }),
    promoted.map(h =>
      draw('circle', { cx: x(h.t), cy: y(h.energy), r: 4, class: 'event' }, draw('title', {}, `${h.what} ${stamp(h.t)}`))),
    line(x(day), top, x(day), low, 'now'),
    then != null && draw('circle', { cx: x(day), cy: y(then), r: 4.5, class: kind(m.tier) }),
    words(x(day) + (isLate ? -6 : 6), 11,
      `${Math.abs(day - present) < 60e3 ? 'now' : stamp(day).slice(0, 10)} ${then == null ? '' : energy(then)}`,
      { class: 'ink', ...(isLate ? END : {}) }),
    words(left, tall - 5, stamp(from).slice(0, 10)), words(right, tall - 5, stamp(until).slice(0, 10), END)),
  el('figcaption', { class: 'soft' }, past.length
    ? `Solid: the past${jumps ? `, with ${plural(jumps, 'access', 'accesses')} as jumps` : ''}. Dashed: what comes without another access.`
    : 'The records do not explain its energy before the last access or change, so only what follows is drawn.'));
}
