// Trails: the ways that led to good outcomes, and the places that nobody visits. A place shows its neighbours in the graph.

import { pick, soft, table, text } from './dom.js';
import { trace } from './format.js';
import { get, query, set } from './state.js';

const LIST = 20;
export const hot = { ask: () => ({ path: query('/v1/trails/hot', { limit: LIST }) }), panels: { hot: edges }, interval: 30e3 };
export const cold = { ask: () => ({ path: query('/v1/trails/cold', { limit: LIST }) }), panels: { cold: nodes }, interval: 30e3 };

const place = (panel, { label, id }) =>
  pick(`${panel} ${label}:${id}`, text(`${label} ${id}`, 60), id === get('node'), () => set({ node: id }));

function edges({ edges: found }) {
  if (!found.length) return soft('No trail of this scope has pheromones. Agents lay them with POST /v1/trails/paths.');
  const heads = [['from', 'name'], ['to', 'name'], ['type'], ['success', 'n'], ['traversal', 'n'], ['recency', 'n'], ['cost', 'n']];
  return table('Trails that are used', heads, found.map((e, i) => [
    place(`from ${i}`, e.from), place(`to ${i}`, e.to), e.type, trace(e.success), trace(e.traversal), trace(e.recency), trace(e.cost),
  ]));
}
function nodes({ nodes: found }) {
  if (!found.length) return soft('There are no places in this scope.');
  const heads = [['place', 'name'], ['exploitation', 'n'], ['exploration', 'n']];
  return table('Places that are not used', heads, found.map(n => [place('cold', n), trace(n.exploitation), trace(n.exploration)]));
}
