// purpose: Read the policies of the graph in their order, and whether they are in force.
// mode: read
// params: none
// returns: version, id, relation, scope, mode, ttl, halfLife, minConfidence, exemptRelations (a row for each policy; of a graph without one, one row of nulls, or with the version alone)
//
// version is null as long as no policy was changed: then those of the configuration are in force.
OPTIONAL MATCH (c:EbbCounter {name: 'policies'})
OPTIONAL MATCH (p:EbbPolicy)
RETURN c.version AS version, p.id AS id, p.relation AS relation, p.scope AS scope, p.mode AS mode, p.ttlS AS ttl,
  p.halfLifeS AS halfLife, p.minConfidence AS minConfidence, p.exemptRelations AS exemptRelations
ORDER BY p.place, p.id
