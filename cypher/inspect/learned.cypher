// Learned weights: the relationships strengthened by outcomes, and the learned weight that is left
// purpose: Show the relationships that learned most from outcomes, the most first.
// mode: read
// params: none
// returns: scope, from, relation, to, base, stays, fades, weight, strengthened, weakened, outcomes_ago (at most 50 rows)
//
// A row is one direction of a relationship. base is its weight without the learned part, when it last learned; fades
// follows the decay rate of the configuration, which a worker and ebb init store; without, 0.005. In an answer a weight is kept between the floor and the cap.
WITH coalesce(head(COLLECT { MATCH (e:EbbSettings {name: 'default'}) WHERE 0.0 < e.learnedKept <= 1.0 RETURN e.learnedKept LIMIT 1 }), 0.995) AS kept
MATCH (s:EbbSynapse)
MATCH (c:EbbCounter {name: 'tick:' + CASE WHEN s.scope IS :: STRING THEN s.scope END})
WHERE all(value IN [s.base, s.delta, s.perm] WHERE (value IS :: FLOAT NOT NULL OR value IS :: INTEGER NOT NULL) AND -1e6 <= value <= 1e6)
  AND all(value IN [c.tick, s.tick] WHERE value IS :: INTEGER NOT NULL AND 0 <= value <= 1000000000000)
WITH s, kept, c.tick - s.tick AS ago
WITH s, ago, s.delta * kept ^ ago AS fades
ORDER BY s.perm + fades DESC, s.key
LIMIT 50
OPTIONAL MATCH (a:Memory {scope: s.scope, id: s.source})
USING INDEX SEEK a:Memory(scope, id)
OPTIONAL MATCH (b:Memory {scope: s.scope, id: s.target})
USING INDEX SEEK b:Memory(scope, id)
RETURN s.scope AS scope, coalesce(left(toStringOrNull(a.content), 60), s.source) AS from, s.relation AS relation,
  coalesce(left(toStringOrNull(b.content), 60), s.target) AS to, s.base AS base, s.perm AS stays, fades,
  s.base + s.perm + fades AS weight, s.strengthened AS strengthened, s.weakened AS weakened, ago AS outcomes_ago
ORDER BY stays + fades DESC, from, relation, to
