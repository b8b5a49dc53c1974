// purpose: Begin the transaction that applies an attempt: lock it until commit and list the memories it has claimed.
// mode: write
// params: $id: String, $holder: String, $leaseMs: Integer
// returns: state: String, applied: Integer, scopes: List, ids: List (one row; none if the attempt was lost)
// bound: one key
// idempotent: by the state: one that is done answers with its receipt
// law: domain::attempt::step
// clock: server
MATCH (a:ConsolidationAttempt {id: $id})
USING INDEX SEEK a:ConsolidationAttempt(id)
SET a.lock = true
WITH a
WHERE a.holder = $holder AND a.state IN ['claimed', 'done']
SET a.leaseUntil = CASE a.state WHEN 'claimed' THEN datetime.realtime().epochMillis + $leaseMs ELSE a.leaseUntil END
WITH a
OPTIONAL MATCH (m:Memory)-[:CONSOLIDATING]->(a)
WITH DISTINCT a, m.scope AS scope, m.id AS id
ORDER BY scope, id
RETURN a.state AS state, coalesce(a.applied, 0) AS applied, collect(scope) AS scopes, collect(id) AS ids
