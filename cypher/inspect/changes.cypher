// Changes: the latest changes, with their callers; a change is kept for an hour or somewhat longer
// purpose: Show the latest changes and their callers.
// mode: read
// params: none
// returns: at, by, everything, what, keys, more (at most 50 rows; keys are the first five of what was touched)
//
// by is the id of an API key (ebb key list), cli, mcp, import, worker for a job, or anonymous where no key is needed.
MATCH (c:EbbChange)
USING INDEX SEEK c:EbbChange(at)
WHERE c.at > datetime({epochMillis: 0})
WITH c
ORDER BY c.at DESC
LIMIT 50
RETURN c.at AS at, c.by AS by, c.everything AS everything,
  reduce(all = [], one IN c.labels | CASE WHEN one IN all THEN all ELSE all + one END) AS what,
  c.keys[..5] AS keys, CASE WHEN size(c.keys) > 5 THEN size(c.keys) - 5 ELSE 0 END AS more
