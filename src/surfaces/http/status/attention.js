// What needs attention, in plain words, each with what to do; or that nothing does.

import { el, prose } from './dom.js';
import { count, percent, plural, span } from './format.js';
import { isLate, isLost } from './jobs.js';

// `status` and `health` are answers, or null where the key does not show them.
export function attention(status, health) {
  const items = status ? [...ofStatus(status), ...ofHealth(health)] : [];
  if (!status) return el('p', { class: 'soft' }, 'Jobs and health concern the whole database; a key of one scope does not show them.');
  if (!items.length) return el('p', { class: 'fine' }, 'Nothing. Jobs are on time, and every row can be processed.');
  return el('ul', { class: 'items' }, items.map(([what, todo]) =>
    el('li', {}, el('strong', { class: 'text' }, prose(what)), ' ', el('span', { class: 'text' }, prose(todo)))));
}

function ofStatus({ stopped, fallback_tunables: fallback, unscheduled, jobs, mirrors, recall_guard: guard, scratch }) {
  const items = [];
  if (stopped) items.push([`No job can run: ${stopped}.`, 'The command `ebb status` names the value and what corrects it.']);
  if (fallback) items.push(['A tunable in the graph is invalid.', 'Energies follow other values meanwhile; `ebb status` names it.']);
  if (unscheduled) items.push([`Jobs run by hand only: ${unscheduled}.`, scratch ? 'By hand: `ebb job run --all`.' : 'Start a worker: `ebb worker`.']);
  for (const job of jobs) {
    const last = job.last_run;
    if (isLost(job)) items.push([`The worker of ${job.job} was lost ${span(job.stranded_seconds * 1000)} ago.`, 'Start one: `ebb worker`.']);
    else if (last?.state === 'failed') items.push([`${job.job} failed: ${last.reason ?? 'no reason is recorded'}.`, 'It is tried again at its next time; `ebb doctor` looks for the cause.']);
    else if (last?.state === 'guarded') items.push([`The guard stopped ${job.job}: ${last.reason ?? ''}.`, `If that many are right: \`ebb job run ${job.job} --accept-affected NUMBER\`.`]);
    else if (!unscheduled && !stopped && last?.state !== 'open' && isLate(job)) items.push([`${job.job} is due for ${span(job.lag_seconds * 1000)}.`, 'No worker has run it; start one: `ebb worker`.']);
  }
  for (const mirror of mirrors ?? []) {
    if (mirror.stale) items.push([`A mirror of the scope ${mirror.scope} is out of date.`, 'Recalls answer from it; `ebb graph refresh` reads the graph anew.']);
  }
  if (guard && guard.baseline - guard.recall > guard.max_loss) {
    items.push([`Recalls find less than before: ${percent(guard.recall)} of what they should, ${percent(guard.baseline)} at the baseline.`, 'See `ebb status`.']);
  }
  return items;
}

function ofHealth(health) {
  if (!health) return [];
  const items = [];
  if (health.quarantined) items.push([`${plural(health.quarantined, 'row')} cannot be processed.`, 'They stay as they are; `ebb inspect quarantine` lists them with reasons.']);
  if (health.stuck_attempts) items.push([`${plural(health.stuck_attempts, 'promotion')} lost the process that did it.`, `A worker takes ${health.stuck_attempts === 1 ? 'it' : 'them'} over within seconds; if not, start one: \`ebb worker\`.`]);
  return items.map(([what, todo]) => [what.replace(/^\d+/, n => count(Number(n))), todo]);
}
