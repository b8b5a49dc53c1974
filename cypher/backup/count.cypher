// purpose: Count the nodes and relationships of a range that a backup contains, the relationships between them and other nodes, and what it leaves out of the documented shape.
// mode: read
// params: $first: Integer, $last: Integer, $rows.own: List, $rows.scoped: List
// returns: nodes: Integer, relationships: Integer, outward: Integer, memories: Integer, facts: Integer, entities: Integer, relations: Integer, edges: Integer (one row; from memories on of what is left out)
//
// A node is in it by a label of $rows.own, or by one of $rows.scoped and a scope or a pheromone, which a place without a scope
// has once it is adopted. A relationship counts where it begins. Numbers are unwound, since a list of them is sought by a scan
// where the plan was made for an empty database.
//
// Left out are rows that adoption has yet to take, by what it asks of them, and edges of trails with an end that is not in it.
// Types and labels are compared as texts, since a planner that may name them may scan; the CASE keeps other relationships unread.
UNWIND range($first, $last) AS number
MATCH (a)
WHERE id(a) = number
WITH a, any(label IN labels(a) WHERE label IN $rows.own) OR coalesce(a.scope, a.pheromone_cycle, a.exploitation_pheromone, a.exploration_pheromone) IS NOT NULL AND any(label IN labels(a) WHERE label IN $rows.scoped) AS inside,
  'Entity' IN labels(a) AND a.uuid IS NULL AND a.id IS NULL AS named
CALL (a, inside, named) {
  MATCH (a)-[r]->(b)
  WITH r, b, any(label IN labels(b) WHERE label IN $rows.own) OR coalesce(b.scope, b.pheromone_cycle, b.exploitation_pheromone, b.exploration_pheromone) IS NOT NULL AND any(label IN labels(b) WHERE label IN $rows.scoped) AS reached
  RETURN count(*) AS outgoing,
    count(CASE WHEN reached THEN 1 END) AS inward,
    count(CASE WHEN named AND NOT (inside AND reached) AND type(r) = 'RELATES_TO' AND r.ebbKey IS NULL AND r.ebbReason IS NULL AND r.type IS NOT NULL AND r.weight IS NOT NULL
      AND 'Entity' IN labels(b) AND b.uuid IS NULL AND b.id IS NULL THEN 1 END) AS relations,
    count(CASE WHEN NOT (inside AND reached) AND coalesce(r.pheromone_cycle, r.success_pheromone, r.traversal_pheromone, r.recency_pheromone) IS NOT NULL THEN 1 END) AS edges
}
WITH inside, outgoing, inward, relations, edges,
  NOT inside AND 'Memory' IN labels(a) AND a.id IS NOT NULL AND a.content IS NOT NULL AND (a.tier IS NOT NULL OR a.energy IS NOT NULL) AS memory,
  NOT inside AND 'Fact' IN labels(a) AND a.entity IS NOT NULL AND a.relation IS NOT NULL AND a.value IS NOT NULL AS fact,
  CASE WHEN named AND NOT inside AND a.ebbReason IS NULL AND a.name IS :: STRING NOT NULL THEN EXISTS {
      MATCH (a)-[r]-(o)
      WHERE type(r) = 'RELATES_TO' AND r.ebbKey IS NOT NULL OR type(r) IN ['MENTIONS', 'ABOUT'] AND any(label IN labels(o) WHERE label IN ['EbbMemory', 'EbbFact'])
    } AND NOT EXISTS { MATCH (same:EbbEntity {scope: coalesce(a.scope, 'local'), name: a.name}) USING INDEX SEEK same:EbbEntity(scope, name) } ELSE false END AS entity
RETURN sum(CASE WHEN inside THEN 1 ELSE 0 END) AS nodes,
  sum(CASE WHEN inside THEN inward ELSE 0 END) AS relationships,
  sum(CASE WHEN inside THEN outgoing - inward ELSE inward END) AS outward,
  sum(CASE WHEN memory THEN 1 ELSE 0 END) AS memories,
  sum(CASE WHEN fact THEN 1 ELSE 0 END) AS facts,
  sum(CASE WHEN entity THEN 1 ELSE 0 END) AS entities,
  sum(relations) AS relations,
  sum(edges) AS edges
