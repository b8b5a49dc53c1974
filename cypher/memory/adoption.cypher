// purpose: Count memories, those that Ebb has adopted, and those of other libraries at the last adoption pass.
// mode: read
// params: none
// returns: rows: Integer, adopted: Integer, foreign: Integer (one row)
//
// The first two come from the count store, so the cost does not grow with the graph.
CALL () { MATCH (m:Memory) RETURN count(m) AS rows }
CALL () { MATCH (s:EbbMemory) RETURN count(s) AS adopted }
OPTIONAL MATCH (c:EbbCounter {name: 'foreign:Memory'})
RETURN rows, adopted, CASE WHEN 0 <= c.rows <= 1000000000000 THEN toInteger(c.rows) ELSE 0 END AS foreign
