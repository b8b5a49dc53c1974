// purpose: Record the schedules of jobs, and since when each applies, if another one did before.
// mode: write
// params: $rows.job: List, $rows.schedule: List, $now: Integer
// returns: recorded: Integer (one row)
// bound: a list of keys
// idempotent: equal schedules write nothing
UNWIND range(0, size($rows.job) - 1) AS i
WITH i
ORDER BY $rows.job[i]
MERGE (c:EbbCounter {name: 'job:' + $rows.job[i]})
WITH c, $rows.schedule[i] AS schedule
WHERE NOT coalesce(c.schedule = schedule, false)
SET c.since = CASE WHEN c.schedule IS NOT NULL THEN datetime({epochMillis: $now}) END, c.schedule = schedule
RETURN count(c) AS recorded
