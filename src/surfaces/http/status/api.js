// Sends requests to Ebb's own routes, and says in a sentence what failed and what to do.

let key = null;
try { key = sessionStorage.getItem('ebb-key'); } catch { /* Without storage, the key lasts as long as the page. */ }
export const currentKey = () => key;
// How often the key was changed, by which an answer to a former key is known.
let changes = 0;
export const keyChanges = () => changes;
export function useKey(value) {
  key = value || null;
  changes += 1;
  try {
    if (key) sessionStorage.setItem('ebb-key', key); else sessionStorage.removeItem('ebb-key');
  } catch { /* As above. */ }
}

const closed = text => /[.!?]$/.test(text) ? text : `${text}.`;
const capital = text => text.charAt(0).toUpperCase() + text.slice(1);
const REMEDIES = {
  400: detail => `${detail} Change the input and try again.`,
  401: () => 'An API key is needed. Enter one at the top of the page; the command `ebb key create` makes one.',
  403: detail => `${detail} Use a key that may do this, at the top of the page.`,
  404: detail => detail,
  429: detail => `${detail} The page tries again by itself.`,
  503: detail => `${detail} The page tries again by itself; the command \`ebb doctor\` tells more.`,
};
function sentence(status, detail) {
  const remedy = REMEDIES[status] ?? (told => `${told} The command \`ebb doctor\` and the log of Ebb tell more.`);
  return remedy(capital(closed(detail ?? `The answer had the status ${status}`)));
}

// A request is a path, or a path with a body that is posted.
export async function request({ path, body }) {
  try {
    const headers = key ? { Authorization: `Bearer ${key}` } : {};
    if (body) headers['Content-Type'] = 'application/json';
    const response = await fetch(path, {
      method: body ? 'POST' : 'GET', body: body && JSON.stringify(body),
      headers, cache: 'no-store', redirect: 'error', signal: AbortSignal.timeout(35e3),
    });
    const data = await response.json().catch(() => null);
    const { status } = response;
    if (response.ok && data) return { data, status };
    return { data: [401, 403].includes(status) ? null : undefined, status, problem: sentence(status, data?.detail) };
  } catch (why) {
    const problem = why.name === 'TimeoutError'
      ? 'Ebb did not answer within 35 seconds. The page tries again by itself.'
      : 'Ebb does not answer. Start it with the command `ebb serve`; the page then goes on by itself.';
    return { status: 0, problem };
  }
}
