// Starts the status page: joins the panels to their requests, and asks again while the page is visible.

import { $, submitted } from './dom.js';
import { currentKey, useKey } from './api.js';
import { atDay, get, now, onChange, set, setSimulated } from './state.js';
import { refresh, renew, show, showAge } from './panel.js';
import { attention } from './attention.js';
import { showDay, showRefusal, wireDay } from './day.js';
import { go, graph, wireGraph } from './graph.js';
import { jobs, runs } from './jobs.js';
import { memories, wireMemories } from './memories.js';
import { course, memory } from './memory.js';
import { attempts, mirrors, tiers, waiting } from './overview.js';
import { recall, wireRecall } from './recall.js';
import { stamp } from './format.js';
import { cold, hot } from './trails.js';

const status = {
  ask: () => ({ path: '/v1/status' }),
  panels: { attention: data => attention(data, health.data), waiting, jobs, mirrors },
  onData(data) {
    setSimulated(data.simulated_now);
    const { name, version, edition, uri } = data.server;
    $('server').textContent = `${name} ${version} ${edition} at ${uri}${data.simulated_now ? `; simulated time, now ${stamp(now())}` : ''}`;
    showDay();
  },
  onEmpty() { $('server').textContent = ''; },
};
const health = {
  ask: () => ({ path: `/v1/health?${new URLSearchParams(atDay())}` }),
  panels: { tiers },
  interval: 15e3,
  onData() { if (status.data) show(status); },
};
const promotions = {
  ask: () => ({ path: '/v1/attempts?all=true&limit=20' }),
  panels: { attempts: data => attempts(data, status.data?.runs ?? []) },
  interval: 15e3,
};
course.onData = () => { if (memory.data) show(memory); };
course.interval = memory.interval = 15e3;
recall.interval = Infinity;
const all = [status, health, memories, recall, course, memory, graph, runs, promotions, hot, cold];

// ---- Asking again: only while the page is visible, and for at most a third of the time.

const PAUSE = 5e3;
let isPaused = false, timer = null, isBusy = false, isWanted = false;
async function poll(isForced) {
  if (isBusy) { isWanted ||= Boolean(isForced); return; }
  isBusy = true;
  clearTimeout(timer);
  const begun = Date.now();
  const isDue = ({ interval, tried }) => isForced || !interval || !tried || begun - tried >= interval;
  try {
    // The first answer tells whether time is simulated, on which the others depend; a recall, which nodes the graph shows.
    if (!status.tried) await refresh(status);
    if (isDue(recall)) await refresh(recall);
    await Promise.all(all.filter(source => source !== recall && isDue(source)).map(refresh));
  } finally {
    isBusy = false;
    if (isWanted) { isWanted = false; poll(true); }
    else if (showState() && !isPaused && !document.hidden) timer = setTimeout(poll, Math.max(PAUSE, 2 * (Date.now() - begun)));
  }
}

// Shows the state; returns whether to ask again.
function showState() {
  const isRefused = all.some(source => source.status === 401);
  const gone = all.find(source => source.status === 0 && source.problem);
  showRefusal(get('day') && [400, 403].includes(memories.status) ? memories.problem : '');
  // Without a key, remove all data, including data that was not requested again.
  for (const source of all.filter(({ data }) => isRefused && data)) { source.data = null; show(source); }
  $('key').hidden = !isRefused;
  $('forget').hidden = !currentKey();
  $('why').textContent = currentKey() ? 'This key is not valid. Enter another:' : 'Enter an API key:';
  if (!status.tried) return true;
  const state = isRefused ? 'needs a key' : gone ? 'Ebb does not answer' : isPaused ? 'paused' : 'up to date';
  if ($('state').textContent !== state) $('state').textContent = state;
  return !isRefused;
}

onChange(async changed => {
  const has = (...names) => names.some(name => changed.includes(name));
  $('id').value = get('memory');
  if (has('scope')) return startOver();
  const work = [];
  if (has('memory')) work.push(renew(course), renew(memory));
  // Energies move; what is drawn stays until they are there.
  if (has('day')) work.push(...[health, memories, memory].map(source => renew(source, true)));
  if (has('q', 'least')) await renew(recall);
  if (has('node', 'day', 'q', 'least')) work.push(renew(graph, has('day') && !has('node', 'q', 'least')));
  await Promise.all(work);
  if (has('memory') && memories.data) show(memories);
  showState();
});

// Nothing of another key or scope stays while the next answers are on their way.
function startOver() {
  for (const source of all) { Object.assign(source, { data: null, problem: null }); show(source); }
  poll(true);
}

function setKey(value) {
  useKey(value);
  startOver();
}

submitted('key', () => { const value = $('secret').value.trim(); $('secret').value = ''; setKey(value); });
submitted('scopes', () => set({ scope: $('scope').value.trim(), memory: '', node: '' }));
submitted('pick', () => { const id = $('id').value.trim(); set({ memory: id, node: id }); });
$('forget').onclick = () => setKey(null);
$('pause').onclick = () => {
  isPaused = !isPaused;
  $('pause').textContent = isPaused ? 'Resume' : 'Pause';
  clearTimeout(timer);
  if (isPaused) showState(); else poll();
};
document.addEventListener('visibilitychange', () => { clearTimeout(timer); if (!document.hidden && !isPaused) poll(); });
addEventListener('resize', () => { for (const source of all) if (source.data && source !== graph) show(source); });
addEventListener('hashchange', () => location.reload());
setInterval(() => all.forEach(showAge), 1000);

wireDay();
wireMemories();
wireRecall(() => { show(recall); if (graph.data) show(graph); }, go);
wireGraph();
// A link to a memory shows its neighbours, too.
if (get('memory') && !get('node') && !get('q')) set({ node: get('memory') });
$('scope').value = get('scope');
$('id').value = get('memory');
poll();
