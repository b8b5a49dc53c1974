// Reinforcements: promoted memories that were strengthened by similar newer ones, and the most similar of these
// purpose: Show the memories that were strengthened most often, and by which memories.
// mode: read
// params: none
// returns: times, strongest, memory, by (at most 25 rows)
MATCH (n:Memory)-[r:REINFORCES]->(o:Memory)
WITH o, n, r ORDER BY r.strength DESC, n.id
WITH o, count(r) AS times, max(r.strength) AS strongest, collect(left(toStringOrNull(n.content), 60))[0] AS by
RETURN times, strongest, left(toStringOrNull(o.content), 60) AS memory, by
ORDER BY times DESC, strongest DESC, memory
LIMIT 25
