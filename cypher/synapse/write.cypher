// purpose: Write the learned weights of directed relationships.
// mode: write
// params: $scope: String, $rows.key: List, $rows.source: List, $rows.relation: List, $rows.target: List, $rows.base: List, $rows.delta: List, $rows.perm: List, $rows.strengthened: List, $rows.weakened: List, $rows.ltp: List, $rows.ltd: List, $rows.tick: List
// returns: written: Integer (one row)
// bound: a list of keys
// idempotent: by the unique key and the tick
//
// base is the weight of the relationship at that time without the learned part. It is for people: the learner reads it
// from the graph.
UNWIND range(0, size($rows.key) - 1) AS i
MERGE (s:EbbSynapse {key: $rows.key[i]})
SET s.scope = $scope, s.source = $rows.source[i], s.relation = $rows.relation[i], s.target = $rows.target[i],
  s.base = $rows.base[i], s.delta = $rows.delta[i], s.perm = $rows.perm[i],
  s.strengthened = $rows.strengthened[i], s.weakened = $rows.weakened[i],
  s.ltp = $rows.ltp[i], s.ltd = $rows.ltd[i], s.tick = $rows.tick[i]
RETURN count(s) AS written
