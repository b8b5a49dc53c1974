// Panels: each shows the answer to one request, and is drawn again when that changes.
//
// A source has `ask`, which makes the request or nothing, and `panels`, which turn the answer into nodes. If a request fails,
// the old data stays, greyed out, with the reason; if the key does not show the data, it goes. `onEmpty` removes what else shows it.

import { $, el, prose } from './dom.js';
import { keyChanges, request } from './api.js';
import { span } from './format.js';

const WITHOUT_DATA = 26;
const nameOf = asked => JSON.stringify([keyChanges(), asked ?? null]);

export async function refresh(source) {
  const asked = source.ask(), name = nameOf(asked);
  const response = asked ? await request(asked) : { data: null };
  // Discard the response if the request would be another by now.
  if (name !== nameOf(source.ask())) return;
  Object.assign(source, { problem: null, status: null, tried: Date.now() });
  const { data, ...rest } = response;
  Object.assign(source, rest);
  if (data !== undefined) source.data = data;
  if (data) {
    source.got = Date.now();
    source.onData?.(data);
  }
  show(source);
}

// Forget the data, so that nothing of another scope, key or day stays while the next answer is on its way.
export function renew(source, isKept = false) {
  if (!isKept) source.data = null;
  return refresh(source);
}

export function show(source) {
  for (const [id, panel] of Object.entries(source.panels)) {
    const section = $(id), chosen = getSelection();
    // Keep a text selection that the user may be about to copy.
    if (!chosen.isCollapsed && section.contains(chosen.anchorNode) && !source.problem) continue;
    const held = document.activeElement?.dataset?.key;
    const scrolls = [...section.querySelectorAll('.scroll')].map(one => [one.scrollLeft, one.scrollTop]);
    section.querySelectorAll('.data').forEach(node => node.remove());
    section.firstElementChild.after(el('span', { class: 'fresh data' }));
    // That nothing answers, or that a key is needed, is said once.
    const isSaid = [0, 401].includes(source.status) && id !== 'attention';
    let nodes = [], problem = isSaid ? null : source.problem;
    try {
      if (source.data || !source.ask()) nodes = panel(source.data, Math.max(240, section.clientWidth - WITHOUT_DATA));
      else source.onEmpty?.();
    } catch (why) {
      console.error(why);
      problem = `The answer of Ebb cannot be shown: ${why.message}. Reload the page; if that does not help, report it.`;
    }
    showProblem(section, problem);
    section.append(el('div', { class: `body data ${source.problem ? 'stale' : ''}` }, nodes));
    section.querySelectorAll('.scroll').forEach((one, i) => one.scrollTo(...scrolls[i] ?? [0, 0]));
    if (held && document.activeElement === document.body) {
      [...section.querySelectorAll('[data-key]')].find(one => one.dataset.key === held)?.focus({ preventScroll: true });
    }
  }
  showAge(source);
}

// A problem that is shown already stays in place, since a screen reader reads each new one aloud.
function showProblem(section, problem) {
  const shown = section.querySelector('.problem');
  const wanted = problem && el('p', { class: 'problem text', role: 'alert' }, prose(problem));
  if (wanted && shown?.isEqualNode(wanted)) return;
  shown?.remove();
  if (wanted) section.append(wanted);
}

// Says how old the data is once that is worth knowing.
export function showAge({ panels, data, got, problem }) {
  for (const id of Object.keys(panels)) {
    const fresh = $(id).querySelector('.fresh');
    if (!fresh) continue;
    const age = Date.now() - got;
    const value = data && (problem || age > 60e3) ? `from ${span(age)} ago` : '';
    if (fresh.textContent !== value) fresh.textContent = value;
  }
}
