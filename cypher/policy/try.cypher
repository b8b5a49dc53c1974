// purpose: Record that wordings of policies had their first scheduled run.
// mode: write
// params: $rows.policy: List, $rows.wording: List, $occurrence: String
// returns: policies: Integer (one row)
// bound: the policies
// idempotent: by the policy
UNWIND range(0, size($rows.policy) - 1) AS i
MERGE (c:EbbCounter {name: 'policy:' + $rows.policy[i]})
SET c.wording = $rows.wording[i], c.occurrence = $occurrence
RETURN count(c) AS policies
