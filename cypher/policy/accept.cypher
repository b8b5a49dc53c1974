// purpose: Record that wordings of policies are accepted in scopes, and the most facts that each retracted there in a run.
// mode: write
// params: $rows.scope: List, $rows.policy: List, $rows.wording: List, $rows.most: List, $now: Integer
// returns: policies: Integer (one row)
// bound: the policies, in each scope
// idempotent: by scope and policy
UNWIND range(0, size($rows.policy) - 1) AS i
MERGE (c:EbbCounter {name: 'guard:' + $rows.scope[i] + ':' + $rows.policy[i]})
SET c.acceptedAt = CASE WHEN c.wording = $rows.wording[i] THEN c.acceptedAt ELSE datetime({epochMillis: $now}) END
SET c.scope = $rows.scope[i], c.policy = $rows.policy[i], c.wording = $rows.wording[i], c.most = $rows.most[i]
RETURN count(c) AS policies
