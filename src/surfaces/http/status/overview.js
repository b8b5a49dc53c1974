// Numbers of the whole database: backlog, tiers, promotions with open runs, mirrors.

import { draw, el, facts, line, picture, soft, table, text } from './dom.js';
import { count, energy, kind, percent, relative, span } from './format.js';
import { now } from './state.js';

const when = at => at == null ? '–' : el('time', { datetime: at, title: at }, relative(Date.parse(at), now()));

export function waiting({ waiting: w, foreign }) {
  const bad = n => n > 0 ? el('span', { class: 'warn' }, count(n)) : count(n);
  return facts([
    ['due for decay', count(w.due)], ['ready for promotion', count(w.ripe)], ['sessions to count', count(w.sessions)],
    ['memories to cluster', count(w.clusters)], ['to embed', count(w.embed)], ['new, to reinforce', count(w.reinforce)],
    ['outcomes to learn', count(w.outcomes)], ['of other writers, to adopt', count(w.unstamped)],
    ['of other libraries', count(foreign.memories + foreign.facts)], ['quarantined', bad(w.quarantined)],
  ]);
}

export function tiers({ tiers: all }) {
  if (!all.length) return soft('No memories.');
  const most = Math.max(...all.map(tier => tier.maxEnergy ?? 0)) || 1, wide = 120, x = n => 3 + n / most * (wide - 6);
  const part = (left, top, width, height, tier) => ({ x: left, y: top, width, height, class: kind(tier) });
  const range = ({ tier, minEnergy, avgEnergy, maxEnergy }) => avgEnergy != null && picture(
    `${energy(minEnergy)} to ${energy(maxEnergy)}, average ${energy(avgEnergy)}`, wide, 12,
    line(3, 6, wide - 3, 6, 'axis'),
    draw('rect', { ...part(x(minEnergy), 4, Math.max(1, x(maxEnergy) - x(minEnergy)), 4, tier), opacity: .55 }),
    draw('rect', part(x(avgEnergy) - 1.5, 0, 3, 12, tier)));
  const heads = [['tier'], ['memories', 'n'], ['average energy', 'n'], ['least', 'n'], ['most', 'n'], [`0 to ${energy(most)}`]];
  return [
    table('Tiers', heads, all.map(t => [
      el('span', { class: `tier ${kind(t.tier)}` }, t.tier), count(t.count), energy(t.avgEnergy), energy(t.minEnergy),
      energy(t.maxEnergy), range(t) || '',
    ])),
    soft('All scopes, without quarantined rows, on the day shown.'),
  ];
}

export function attempts({ attempts: all }, runs) {
  const isOpen = ({ state }) => ['planned', 'claimed'].includes(state);
  const lease = ms => ms == null ? '–' : ms < 0 ? el('span', { class: 'warn' }, `over for ${span(ms)}`) : span(ms);
  const numbers = ['holds', 'claimed', 'promoted', 'conflicts'].map(name => [name, 'n']);
  const heads = [['promotion'], ['state'], ['started'], ['lease left'], ...numbers, ['process']];
  const headsOfRuns = [['open run'], ['occurrence'], ['lease left'], ['batch', 'n'], ['fence', 'n'], ['process']];
  return [
    all.length ? table('Promotions', heads, all.map(a => [
      text(a.id.slice(-12)), a.state, when(a.started), isOpen(a) ? lease(a.lease_left_ms) : '–', count(a.holds),
      count(a.claimed), count(a.applied), count(a.conflicts), text(a.holder, 40),
    ])) : soft('No promotion has been attempted yet.'),
    runs.length ? table('Open runs', headsOfRuns, runs.map(r => [
      r.job, text(r.occurrence, 40), lease(r.lease_left_ms), count(r.batch), count(r.fence), text(r.holder, 40),
    ])) : soft('No job is running.'),
  ];
}

export function mirrors({ mirrors: all }) {
  if (!all.length) return soft('No process holds a mirror of the graph in memory. The first recall loads one.');
  const numbers = ['generation', 'nodes', 'relationships', 'MiB'].map(name => [name, 'n']);
  const age = m => m.stale ? el('span', { class: 'warn' }, `${span(m.age_ms)} ago`) : `${span(m.age_ms)} ago`;
  return table('Mirrors', [['scope'], ['process'], ['refreshed'], ...numbers, ['holds']], all.map(m => [
    text(m.scope, 40), text(m.process, 40), age(m), count(m.generation), count(m.nodes), count(m.slots),
    (m.bytes / 2 ** 20).toFixed(1), m.whole ? 'all' : `hottest ${percent(m.held_share)}`,
  ]));
}
