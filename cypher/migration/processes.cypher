// purpose: List the processes that use the database now.
// mode: read
// params: none
// returns: processes: List (one row)
// clock: server
//
// A process is detected by the lease of a run, or by a mirror status that is less than two of its refreshes old. A
// process that stopped in an orderly way has released both.
CALL () {
  MATCH (r:EbbRun)
  WHERE r.state = 'open' AND r.leaseUntil > datetime.realtime().epochMillis
  RETURN collect(DISTINCT toStringOrNull(r.holder)) AS holders
}
CALL () {
  MATCH (c:EbbCounter)
  WHERE c.name STARTS WITH 'mirror:' AND c.seen > datetime.realtime() - duration({milliseconds: 2 * coalesce(c.refreshMs, 30000)})
  RETURN collect(DISTINCT toStringOrNull(c.process)) AS mirrors
}
RETURN holders + [process IN mirrors WHERE NOT process IN holders] AS processes
