// Policies: the decay policies in the graph, and the results of sweeps on request
// purpose: Show the policies that are in force once one was changed, and the last sweeps that matched each.
// mode: read
// params: none
// returns: place, id, relation, scope, mode, ttlS, halfLifeS, minConfidence, exemptRelations, sweeps, retracted, reduced (a row for each policy; the counts are those of the sweeps on request that it took part in, whichever policy decided)
//
// A sweep on request is kept as long as its run, 30 days by default (retention.runs).
MATCH (p:EbbPolicy)
CALL (p) {
  MATCH (j:EbbSweepJob)
  WHERE j.state = 'done' AND p.id IN j.matched
  RETURN count(j) AS sweeps, sum(j.retracted) AS retracted, sum(j.reduced) AS reduced
}
RETURN p.place AS place, p.id AS id, p.relation AS relation, p.scope AS scope, p.mode AS mode, p.ttlS AS ttlS,
  p.halfLifeS AS halfLifeS, p.minConfidence AS minConfidence, p.exemptRelations AS exemptRelations,
  sweeps, retracted, reduced
ORDER BY place, id
