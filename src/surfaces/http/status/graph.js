// The graph around a node, or of a recall: a drawing by Cytoscape.js, and the same nodes as a list, which needs no mouse.
//
// Colours tell tiers and kinds, faint nodes have little energy on the day shown. A click goes on from a node.

import { $, el, pick, soft, table, text } from './dom.js';
import { energy, kind, short, standing } from './format.js';
import { atDay, get, inScope, set, shown } from './state.js';
import { chosenHit, idsOf, recall, waysOf } from './recall.js';

const MOST = 60;
// Relationships drawn at a node, the strongest; those of the centre are all drawn.
const DRAWN = 3;
const NAMED_ALL = 20, NAMED_FIRST = 6;
const isOfRecall = () => !get('node') && Boolean(recall.data?.hits.length);
let view = null, drawn = '';

export const graph = {
  ask() {
    const of = body => ({ path: '/v1/engine/around', body: { ...body, limit: MOST, ...inScope(), ...atDay() } });
    if (get('node')) return of({ ids: get('node') === get('memory') ? [get('node'), `Memory:${get('node')}`] : [get('node')], depth: 2 });
    return isOfRecall() ? of({ ids: idsOf(recall.data).slice(0, MOST), depth: 0 }) : null;
  },
  panels: { graph: panel },
  interval: 30e3,
  onEmpty: clear,
};

// A memory is named in the graph by its id, or by its label and id where a node of another label has the same.
const idOf = name => name.startsWith('Memory:') ? name.slice(7) : name;
export const go = node => set(node.kind === 'Memory' ? { node: node.id, memory: idOf(node.id) } : { node: node.id });
const isCentre = node => Boolean(get('node')) && node.hops === 0;
const KINDS = { Memory: 'other', Entity: 'entity' };
const color = node => node.tier ? kind(node.tier) : KINDS[node.kind] ?? 'place';
const isUnborn = node => node.created != null && shown() < Date.parse(node.created);
// From 0.25 without energy to 1 at an energy of 5 and above.
const strength = node => isUnborn(node) ? .15 : node.energy == null ? (node.tier ? .55 : 1)
  : .25 + .75 * Math.min(1, Math.log1p(node.energy) / Math.log1p(5));
const caption = node => short((node.label || node.id).replace(/\s+/g, ' '), 26);

function panel(found) {
  $('back').hidden = !(get('node') && recall.data?.hits.length);
  const isEmpty = !found?.nodes.length;
  if (isEmpty) clear(); else $('canvas').hidden = $('zoom').hidden = false;
  if (!found) return soft('Select a memory, an entity, a hit or a place: its neighbours appear here. Or ask a question.');
  if (isEmpty) {
    return soft(`The mirror does not hold ${get('node') || 'these nodes'}. It may be new, deleted, expired, or not among the hot part that `
      + 'fits into memory. The panel "Mirrors in memory" tells how much is held.');
  }
  paint(found);
  const [first] = found.nodes, names = new Map(found.nodes.map(node => [node.id, node.label]));
  const joined = id => {
    const edge = found.edges.find(e => [e.from, e.to].includes(id) && (id === first.id || [e.from, e.to].includes(first.id)))
      ?? found.edges.find(e => [e.from, e.to].includes(id));
    return edge ? `${edge.type} ${short(names.get(edge.from === id ? edge.to : edge.from) || '', 30)}` : '–';
  };
  const energyThen = node => isUnborn(node) ? 'not yet created' : !node.tier ? '–' : node.energy == null ? 'not recorded' : energy(node.energy);
  const heads = [['node', 'name'], ['kind'], ['energy', 'n'], ['joined by', 'name']];
  return [
    legend(found.nodes),
    table('Nodes of the graph', heads, found.nodes.map(node => [
      pick(`node ${node.id}`, text(node.label || node.id, 60), isCentre(node), () => go(node)),
      el('span', { class: `tier ${color(node)}` }, node.tier ? standing(node) : node.kind),
      energyThen(node), text(joined(node.id), 60),
    ])),
    soft(isOfRecall() ? 'The ways of the recall are lit. ' : `${found.nodes.length} nodes, ${found.edges.length} relationships. `,
      found.truncated && `There are more; these are the nearest and most strongly joined, at most ${MOST}. `,
      `Faint: little energy on the day shown. Drawn at each node: its ${DRAWN} strongest relationships.`),
  ];
}

function legend(nodes) {
  const names = { working: 'working', shortTerm: 'shortTerm', longTerm: 'longTerm', other: 'expired or archived', entity: 'entity', place: 'place or other' };
  const there = new Set(nodes.map(color));
  return el('p', { class: 'legend' }, Object.entries(names).filter(([name]) => there.has(name))
    .map(([name, label]) => el('span', { class: `tier ${name}` }, label)));
}

const css = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
function styles() {
  const ink = css('ink'), card = css('card');
  const colored = ['working', 'shortTerm', 'longTerm', 'other', 'entity', 'place'].map(name =>
    ({ selector: `node.${name}`, style: { 'background-color': css(name) } }));
  return [
    { selector: 'node', style: {
      width: 16, height: 16, label: 'data(caption)', color: ink, 'font-size': 11, 'font-family': 'system-ui, sans-serif',
      'text-valign': 'bottom', 'text-margin-y': 3, 'text-wrap': 'wrap', 'text-max-width': 90,
      'text-background-color': card, 'text-background-opacity': .75, 'text-background-padding': 1,
      'background-opacity': 'data(strength)', 'text-opacity': 'data(legible)', 'border-width': 1, 'border-color': css('soft'),
      'border-opacity': .6, 'min-zoomed-font-size': 5,
    } },
    ...colored,
    { selector: 'node.entity', style: { shape: 'diamond', width: 20, height: 20 } },
    { selector: 'node.place', style: { shape: 'round-rectangle' } },
    { selector: 'node.pointed', style: { label: 'data(full)', 'z-index': 20, 'text-opacity': 1, 'text-background-opacity': 1 } },
    { selector: 'node.unborn', style: { 'border-style': 'dashed' } },
    { selector: 'edge', style: {
      width: 'data(width)', 'line-color': css('edge'), 'curve-style': 'bezier', 'target-arrow-shape': 'triangle',
      'target-arrow-color': css('edge'), 'arrow-scale': .6, opacity: .8,
    } },
    { selector: '.lit', style: { 'line-color': css('mark'), 'target-arrow-color': css('mark'), 'border-color': css('mark'), 'border-width': 3, 'border-opacity': 1, opacity: 1, 'z-index': 9 } },
    { selector: 'edge.lit', style: { width: 3.5 } },
    { selector: 'node.centre', style: { 'border-color': ink, 'border-width': 3, 'border-opacity': 1, width: 24, height: 24, 'font-weight': 'bold' } },
  ];
}

// Draws the nodes anew if they are others, and only their energies if they are the same.
function paint({ nodes, edges }) {
  const degree = id => edges.filter(edge => edge.from === id || edge.to === id).length;
  // Of many nodes the nearest are named, and those that lead on; a pointer over another shows its name.
  const named = new Set(nodes.slice(0, NAMED_FIRST).map(node => node.id));
  const isNamed = node => nodes.length <= NAMED_ALL || named.has(node.id) || (node.kind !== 'Memory' && degree(node.id) > 1);
  const dataOf = node => ({
    id: node.id, full: caption(node), caption: isNamed(node) ? caption(node) : '', strength: strength(node),
    legible: Math.max(.7, strength(node)),
  });
  const drawnEdges = thinned(nodes, edges);
  const key = JSON.stringify([nodes.map(node => node.id), edges.map(edge => [edge.from, edge.to, edge.type])]);
  view ??= open();
  if (key !== drawn) {
    drawn = key;
    view.elements().remove();
    view.add(nodes.map(node => ({ data: dataOf(node) })));
    view.add(drawnEdges.map(({ from, to, type, weight }) =>
      ({ data: { source: from, target: to, type, width: 1 + 2 * Math.min(1, weight) } })));
    view.resize();
    arrange(nodes);
  }
  const ways = isOfRecall() ? waysOf(recall.data) : [];
  const isOn = (from, to) => ways.some(([a, b]) => (a === from && b === to) || (a === to && b === from));
  view.batch(() => {
    for (const node of nodes) {
      const classes = [color(node), isUnborn(node) && 'unborn', isCentre(node) && 'centre',
        isOfRecall() && (node.id === chosenHit() || ways.some(way => way.includes(node.id))) && 'lit'];
      view.getElementById(node.id).data(dataOf(node)).classes(classes.filter(Boolean).join(' '));
    }
    view.edges().forEach(edge => { edge.toggleClass('lit', isOn(edge.data('source'), edge.data('target'))); });
  });
}

function clear() {
  $('canvas').hidden = $('zoom').hidden = true;
  view?.elements().remove();
  drawn = '';
}

// The strongest come first, so that each node keeps those that tell most.
function thinned(nodes, edges) {
  const centres = new Set(nodes.filter(isCentre).map(node => node.id)), drawnAt = new Map();
  const ways = isOfRecall() ? waysOf(recall.data) : [];
  const isKept = ({ from, to }) => centres.has(from) || centres.has(to) || ways.some(way => way.includes(from) && way.includes(to));
  return edges.filter(edge => {
    const most = Math.max(...[edge.from, edge.to].map(id => drawnAt.get(id) ?? 0));
    const least = Math.min(...[edge.from, edge.to].map(id => drawnAt.get(id) ?? 0));
    const kept = isKept(edge) || least === 0 || most < DRAWN;
    if (kept) [edge.from, edge.to].forEach(id => drawnAt.set(id, (drawnAt.get(id) ?? 0) + 1));
    return kept;
  });
}

// From a spiral of the nodes in their order, so that the same graph has the same picture.
function arrange(nodes) {
  nodes.forEach(({ id }, i) => view.getElementById(id).position({ x: 30 * Math.sqrt(i) * Math.cos(2.4 * i), y: 30 * Math.sqrt(i) * Math.sin(2.4 * i) }));
  view.layout({
    name: 'cose', animate: false, randomize: false, nodeDimensionsIncludeLabels: false, padding: 16, nodeRepulsion: () => 12000,
    idealEdgeLength: () => 70, edgeElasticity: () => 60, gravity: 1.2, componentSpacing: 40, nodeOverlap: 10,
  }).run();
  // The layout knows nothing of the shape of the window.
  const box = view.nodes().boundingBox({ includeLabels: false }), wanted = view.width() / view.height();
  const stretch = Math.sqrt(Math.min(4, Math.max(.25, wanted / ((box.w || 1) / (box.h || 1)))));
  view.nodes().positions(node => ({ x: node.position('x') * stretch, y: node.position('y') / stretch }));
  fit();
}

function fit() {
  view.fit(undefined, 16);
  // Few nodes are not blown up.
  if (view.zoom() > 1.1) { view.zoom(1.1); view.center(); }
}

function open() {
  const opened = globalThis.cytoscape({ container: $('canvas'), style: styles(), minZoom: .2, maxZoom: 3, selectionType: 'single' });
  opened.on('tap', 'node', event => {
    const node = graph.data?.nodes.find(one => one.id === event.target.id());
    if (node) go(node);
  });
  opened.on('mouseover', 'node', event => event.target.addClass('pointed'));
  opened.on('mouseout', 'node', event => event.target.removeClass('pointed'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => opened.style(styles()));
  return opened;
}

export function wireGraph() {
  const zoom = by => () => view?.zoom({ level: view.zoom() * by, renderedPosition: { x: view.width() / 2, y: view.height() / 2 } });
  $('bigger').onclick = zoom(1.3);
  $('smaller').onclick = zoom(1 / 1.3);
  $('fit').onclick = () => view && fit();
  $('back').onclick = () => set({ node: '' });
  addEventListener('resize', () => { if (view && !$('canvas').hidden) { view.resize(); fit(); } });
}
