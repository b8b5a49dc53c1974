// A recall: a question, its hits, and the way to each, which the graph shows.

import { $, draw, el, pick, picture, soft, submitted, text } from './dom.js';
import { get, inScope, set } from './state.js';
import { count, plural } from './format.js';

const HITS = 10;
// The hit whose way stands out in the graph.
let chosen = null;

const least = () => get('least') ? { min_relevance: Number(get('least')) } : {};

export const recall = {
  ask: () => get('q') && { path: '/v1/recall', body: { text: get('q'), top_k: HITS, why: true, ...least(), ...inScope() } },
  panels: { recall: panel },
  onData: () => { chosen = null; },
};

// Ids of the nodes of a recall, each once: seeds, hits, and what lies between.
export const idsOf = ({ seeds, hits }) =>
  [...new Set([...hits.map(hit => hit.id), ...hits.flatMap(hit => hit.path), ...seeds.map(seed => seed.id)])];
// The ways of all hits, or of the chosen one: pairs of ids that follow each other.
export function waysOf({ hits }) {
  const from = hits.filter(hit => !chosen || hit.id === chosen);
  return from.flatMap(({ path }) => path.slice(1).map((to, i) => [path[i], to]));
}
export const chosenHit = () => chosen;

function panel(found, width) {
  if (!found) return soft('Ask as an agent would. Each hit comes with its score, its relevance and the way that led to it.');
  if (!found.hits.length) {
    if (found.flags.includes('nothing_relevant')) return soft('Nothing relevant.');
    return soft('Nothing was found. Try other words; a new memory can take until the next refresh of the mirror to be found.');
  }
  const best = found.hits[0].score || 1;
  return [
    soft(`${plural(found.hits.length, 'hit')}, best first. Started from `,
      found.seeds.slice(0, 8).map((seed, i) => [i ? ', ' : '', text(seed.label || seed.id, 40)]),
      found.seeds.length > 8 && ` and ${count(found.seeds.length - 8)} more`, '.'),
    el('ol', { class: 'hits' }, found.hits.map(hit => el('li', {},
      el('div', { class: 'row' },
        pick(`hit ${hit.id}`, text(hit.id, 48), hit.id === chosen, () => choose(hit)),
        el('span', { class: 'soft' }, hit.kind),
        picture(`Score ${hit.score.toFixed(3)}`, 60, 8,
          draw('rect', { x: 0, y: 0, width: 60, height: 8, class: 'rail' }),
          draw('rect', { x: 0, y: 0, width: Math.max(1, 60 * hit.score / best), height: 8 })),
        el('span', { class: 'n' }, hit.score.toFixed(3)),
        hit.relevance != null && el('span', { class: 'n soft' }, `relevance ${hit.relevance.toFixed(2)}`),
        open(hit)),
      hit.content && el('div', {}, text(hit.content, 280)),
      el('div', { class: 'soft way' }, way(hit))))),
    found.flags.length > 0 && soft(`Notes: ${found.flags.join(', ').replaceAll('_', ' ')}.`),
  ];
}

// Why it was found: the relationships from a seed to it, or its words.
function way({ path, steps, text_rank: rank }) {
  const parts = path.map((id, i) => [i ? ` —${steps?.[i - 1]?.type ?? ''}→ ` : '', text(id, 40)]);
  const words = rank ? `place ${count(rank)} by its words` : '';
  if (path.length > 1) return ['Way: ', parts, words && `; ${words}`];
  return path.length ? ['It is a starting point', words && `; ${words}`] : [words || 'Found without a way'];
}

const open = hit => {
  const isMemory = hit.kind === 'Memory';
  return pick(`open ${hit.id}`, isMemory ? 'open' : 'show around', false, () => onOpen(hit));
};

let onChoice = () => {}, onOpen = () => {};
function choose(hit) {
  chosen = chosen === hit.id ? null : hit.id;
  onChoice();
}

export function wireRecall(whenChosen, whenOpened) {
  onChoice = whenChosen;
  onOpen = whenOpened;
  $('question').value = get('q');
  $('least').value = get('least');
  $('clear').hidden = !get('q');
  submitted('ask', () => {
    set({ q: $('question').value.trim(), least: $('least').value, node: '' });
    $('clear').hidden = !get('q');
  });
  $('clear').onclick = () => { $('question').value = $('least').value = ''; $('clear').hidden = true; set({ q: '', least: '' }); };
}
