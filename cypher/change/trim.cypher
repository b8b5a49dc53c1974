// purpose: Remove change records older than an hour, but the latest of them: a mirror that has not refreshed for so long reloads.
// mode: write
// params: $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
//
// A request stays as such where a repeat of it may come, and while its outcome is not yet learned. By the latest record of
// all a process knows whether the database was set back, as by a dump: it stays until a later one is an hour old.
CALL () {
  MATCH (c:EbbChange)
  USING INDEX SEEK c:EbbChange(at)
  WHERE datetime({epochMillis: 0}) <= c.at < datetime.realtime() - duration({hours: 1})
  RETURN c AS latest
  ORDER BY c.at DESC
  LIMIT 1
}
MATCH (c:EbbChange)
USING INDEX SEEK c:EbbChange(at)
WHERE c.at < datetime.realtime() - duration({hours: 1}) AND c <> latest
WITH c LIMIT $limit
WITH c, c:EbbRequest AND (c.hash IS NOT NULL OR c.waits IS NOT NULL) AS stays
FOREACH (_ IN CASE WHEN stays THEN [1] ELSE [] END |
  REMOVE c:EbbChange, c.change, c.everything, c.labels, c.scopes, c.keys, c.kinds)
FOREACH (_ IN CASE WHEN stays THEN [] ELSE [1] END | DELETE c)
RETURN count(*) AS trimmed
