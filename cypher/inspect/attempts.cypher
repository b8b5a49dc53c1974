// Attempts: consolidation attempts that have not ended, and the last that have
// purpose: Show consolidation attempts, open ones first.
// mode: read
// params: none
// returns: id, phase, state, started, holder, claimed, applied, conflicts (at most 25 rows)
MATCH (a:ConsolidationAttempt)
RETURN a.id AS id, a.phase AS phase, a.state AS state, a.started AS started, a.holder AS holder,
  a.claimed AS claimed, a.applied AS applied, a.conflicts AS conflicts
ORDER BY CASE WHEN a.state IN ['planned', 'claimed'] THEN 0 ELSE 1 END, started IS NULL, started DESC, id DESC
LIMIT 25
