// The jobs with their schedules and reasons, and past runs from the ledger in the database.

import { el, prose, soft, table, text } from './dom.js';
import { count, plural, relative, span, stamp } from './format.js';
import { now } from './state.js';

// Runs are recorded by the clock of the server, also where time is simulated.
const ran = at => at == null ? '–' : el('time', { datetime: at, title: at }, relative(Date.parse(at), Date.now()));
const when = at => at == null ? '–' : el('time', { datetime: at, title: at }, relative(Date.parse(at), now()));
const schedule = job => job.cron ? `${job.cron} ${job.timezone ?? ''}` : job.every_seconds ? `every ${span(job.every_seconds * 1000)}` : '–';
const LATE_S = 60;

export const isLate = job => job.enabled && job.lag_seconds >= LATE_S;
export const isLost = job => (job.stranded_seconds ?? 0) >= LATE_S;

// Its state in words, with what keeps it.
export function stateOf(job, isUnscheduled) {
  const last = job.last_run;
  if (!job.enabled) return 'switched off in the configuration';
  if (isLost(job)) return warn(`its worker was lost ${span(job.stranded_seconds * 1000)} ago, and none has taken over`);
  if (last?.state === 'open') return 'running';
  if (last?.state === 'failed') return warn(`failed: ${last.reason ?? 'no reason recorded'}`);
  if (last?.state === 'guarded') return warn(`stopped by the guard: ${last.reason ?? 'no reason recorded'}`);
  if (isUnscheduled) return 'runs by hand only';
  if (isLate(job)) return warn(`due for ${span(job.lag_seconds * 1000)}, no worker has run it`);
  return last?.reason ? text(last.reason) : last ? 'on time' : 'has not run yet';
}
const warn = value => el('span', { class: 'warn' }, value);

export function jobs({ jobs: all, unscheduled }) {
  const heads = [['job'], ['state', 'wide'], ['last run'], ['next'], ['schedule'], ['task', 'wide']];
  return table('Jobs', heads, all.map(job => [
    job.job, stateOf(job, Boolean(unscheduled)), ran(job.last_run?.finished ?? job.last_run?.started),
    !job.enabled || unscheduled ? '–' : when(job.next), schedule(job), el('span', { class: 'soft' }, job.about),
  ]));
}

export const runs = {
  ask: () => ({ path: '/v1/jobs/history?limit=50' }),
  panels: { runs: past },
  interval: 30e3,
};

function past({ runs: all }) {
  if (!all.length) return soft(prose('No run is recorded. The command `ebb job run --all` runs every job once.'));
  const took = run => run.started && run.finished ? span(Date.parse(run.finished) - Date.parse(run.started)) : '–';
  const did = run => [
    run.scanned && `${count(run.scanned)} looked at`, run.changed && `${count(run.changed)} changed`,
    run.promoted && `${count(run.promoted)} promoted`, run.expired && `${count(run.expired)} expired`,
    run.quarantined && `${plural(run.quarantined, 'row')} quarantined`, run.truncated && 'stopped before all was done',
  ].filter(Boolean).join(', ') || 'nothing to do';
  const heads = [['started'], ['job'], ['by'], ['state'], ['took', 'n'], ['result', 'wide'], ['reason', 'wide']];
  return [
    table('Past runs', heads, all.map(run => [
      run.started ? stamp(run.started) : run.occurrence, run.job, run.trigger === 'manual' ? 'hand' : 'schedule',
      ['failed', 'guarded'].includes(run.state) ? warn(run.state) : run.state, took(run), did(run), text(run.reason, 300),
    ])),
    soft(`The last ${plural(all.length, 'run')}, kept in the database as long as retention.runs says.`),
  ];
}
