// State of the page: the part that a link can share is in the URL after #, the key never is.
//
// scope; memory: the one in the panel of a memory; node: the centre of the graph; q and least: the question of a recall, and
// the least relevance of its hits; day: the instant of all energies.

const shared = new URLSearchParams(location.hash.slice(1));
if (!Date.parse(shared.get('day'))) shared.delete('day');
const listeners = [];
export const get = name => shared.get(name) ?? '';
export const onChange = listener => listeners.push(listener);
export function set(changes) {
  const changed = Object.keys(changes).filter(name => (changes[name] ?? '') !== get(name));
  if (!changed.length) return;
  for (const name of changed) {
    if (changes[name]) shared.set(name, changes[name]); else shared.delete(name);
  }
  history.replaceState(null, '', shared.size ? `#${shared}` : location.pathname);
  listeners.forEach(listener => listener(changed));
}

// The clock: simulated time, if the database has one.
let simulated = null;
export const setSimulated = at => { simulated = Date.parse(at) || null; };
export const now = () => simulated ?? Date.now();
// The instant of the energies, as milliseconds.
export const shown = () => Date.parse(get('day')) || now();

// Parts of requests.
export const inScope = () => get('scope') ? { scope: get('scope') } : {};
export const atDay = () => get('day') ? { at: get('day') } : {};
export function query(path, more = {}) {
  const parameters = new URLSearchParams({ ...more, ...inScope() });
  return parameters.size ? `${path}?${parameters}` : path;
}
