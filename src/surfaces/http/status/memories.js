// The memories of the scope by conditions, a page at a time.

import { $, el, pick, soft, submitted, table, text } from './dom.js';
import { energy, kind, plural, relative, standing } from './format.js';
import { atDay, get, inScope, set, shown } from './state.js';
import { renew, refresh } from './panel.js';

const PAGE = 50;
// Conditions as last submitted, and how many pages are shown.
let conditions = {}, pages = 1;

export const memories = {
  ask: () => ({
    path: '/v1/memories:search',
    body: { ...conditions, limit: Math.min(1000, pages * PAGE), ...inScope(), ...atDay() },
  }),
  panels: { memories: list },
  interval: 30e3,
};

export const select = id => set({ memory: id, node: id });

function list({ memories: found, cursor }) {
  if (!found.length) return soft('No memory of this scope fulfils these conditions.');
  const row = m => [
    pick(m.id, text(m.id, 60), m.id === get('memory'), () => select(m.id)),
    text(m.content),
    m.quarantined ? el('span', { class: 'warn', title: m.quarantined }, 'quarantined !')
      : el('span', { class: `tier ${kind(m.tier)}` }, standing(m)),
    energyThen(m), ago(m.lastAccessed),
  ];
  const heads = [['id', 'name'], ['content', 'wide'], ['tier'], ['energy', 'n'], ['last access']];
  const more = el('button', { type: 'button', 'data-key': 'more' }, 'More');
  more.onclick = () => { pages += 1; refresh(memories); };
  // Texts have a limit too, at which a page ends before it is full.
  const isMost = pages * PAGE >= 1000 || found.length < pages * PAGE;
  return [
    table('Memories', heads, found.map(row)),
    el('div', { class: 'row' }, cursor && !isMost && more, soft(
      cursor ? `The first ${plural(found.length, 'memory', 'memories')}.` : `All ${plural(found.length, 'memory', 'memories')}.`,
      cursor && isMost && ' Narrow the conditions to see others.')),
  ];
}

const ago = at => at == null ? '–' : el('time', { datetime: at, title: at }, relative(Date.parse(at), shown()));

// Before its last access or change, the stored energy does not tell.
function energyThen(m) {
  const t = shown();
  if (m.energy == null) return '–';
  if (t < Date.parse(m.created)) return el('span', { class: 'soft' }, 'not yet created');
  if (t < Math.max(Date.parse(m.energyAt), Date.parse(m.lastAccessed)) - 1000) {
    return el('span', { class: 'soft', title: 'It was accessed or changed later. Select it to see its course.' }, 'see course');
  }
  return energy(m.energy);
}

export function wireMemories() {
  const submit = () => {
    const tags = $('tags').value.split(',').map(tag => tag.trim()).filter(Boolean);
    const filter = {};
    if ($('find').value.trim()) filter.text = $('find').value.trim();
    if (tags.length) filter.tags = tags;
    if ($('tier').value) filter.tiers = [$('tier').value];
    conditions = { filter, sort: $('order').value };
    pages = 1;
    return renew(memories);
  };
  conditions = { filter: {}, sort: $('order').value };
  submitted('search', submit);
  $('tier').onchange = $('order').onchange = submit;
}
