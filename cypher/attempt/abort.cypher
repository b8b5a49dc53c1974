// purpose: Give up what a holder's attempts of one phase still hold.
// mode: write
// params: $holder: String, $phase: String
// returns: aborted: Integer, marks: Integer (one row)
// bound: the attempts that one program has open, with the marks of each claim
// idempotent: by the state
MATCH (a:ConsolidationAttempt)
WHERE a.state IN ['planned', 'claimed'] AND a.holder = $holder AND a.phase = $phase
WITH a ORDER BY a.id
SET a.lock = true
WITH a
WHERE a.state IN ['planned', 'claimed'] AND a.holder = $holder
SET a.state = 'aborted'
WITH a
CALL (a) {
  OPTIONAL MATCH ()-[c:CONSOLIDATING]->(a)
  DELETE c
  RETURN count(c) AS marks
}
RETURN count(a) AS aborted, coalesce(sum(marks), 0) AS marks
