// Creates nodes of the page. Strings become text nodes and attributes are set; nothing here parses markup.

import { short } from './format.js';

export const $ = id => document.getElementById(id);

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value != null && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(9).filter(child => child != null && child !== false));
  return node;
}
export const el = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
// The page has an <svg> from which the namespace is read.
export const draw = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS($('space').namespaceURI, tag), attributes, children);
export const picture = (name, width, height, ...children) =>
  draw('svg', { width, height, role: 'img', 'aria-label': name }, children);
export const line = (x1, y1, x2, y2, kind) => draw('line', { x1, y1, x2, y2, class: kind });
export const words = (x, y, value, more = {}) => draw('text', { x, y, ...more }, String(value));
export const END = { 'text-anchor': 'end' };

// A sentence in which commands stand between backticks.
export const prose = value => value.split('`').map((part, i) => i % 2 ? el('code', {}, part) : part);
export const soft = (...value) => el('p', { class: 'soft text' }, value);
export const text = (value, most = 200) => value == null ? '–' :
  el('span', { class: 'text', dir: 'auto', title: value.length > 20 ? short(value, 2000) : null }, short(value, most));
export const facts = pairs =>
  el('dl', {}, pairs.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));

// Each head is [name, class of the column]. `data-key` keeps the focus when its panel is drawn again.
export const table = (name, heads, rows) => el('div',
  { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': name, 'data-key': `table ${name}` },
  el('table', {},
    el('thead', {}, el('tr', {}, heads.map(([head, kind]) => el('th', { scope: 'col', class: kind }, head)))),
    el('tbody', {}, rows.map(cells =>
      el('tr', {}, cells.map((cell, i) => el('td', { class: heads[i][1] }, cell ?? '–')))))));

// A button that looks like a link. `held` names it, so that it keeps the focus when its panel is drawn again.
export function pick(held, label, isPressed, then) {
  const button = el('button', { class: 'pick', type: 'button', 'data-key': held, 'aria-pressed': String(isPressed) }, label);
  button.onclick = then;
  return button;
}
export const submitted = (id, then) =>
  $(id).addEventListener('submit', event => { event.preventDefault(); then(); });
