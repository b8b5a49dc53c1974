// purpose: Ensure that lineages exist, lock them in the order given, and read their heads.
// mode: write
// params: $source: String, $rows.key: List, $rows.scope: List, $rows.relation: List
// returns: key: String, id: String, assertedAt: Integer, originAt: Integer (a row for each head; id null of a lineage without; originAt of a derived head alone)
// bound: a list of keys
// idempotent: by the unique key
UNWIND range(0, size($rows.key) - 1) AS i
MERGE (l:EbbLineage {key: $rows.key[i]})
ON CREATE SET l.scope = $rows.scope[i], l.relation = $rows.relation[i]
SET l.lock = true
WITH l
OPTIONAL MATCH (l)-[:HEAD]->(f:Fact)
RETURN l.key AS key, CASE WHEN f.id IS :: STRING THEN f.id END AS id,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.assertedAt < datetime({epochMillis: 253402300800000}) THEN f.assertedAt.epochMillis END AS assertedAt,
  CASE WHEN f.source = $source AND datetime({epochMillis: -62135596800000}) <= f.originAt < datetime({epochMillis: 253402300800000}) THEN f.originAt.epochMillis END AS originAt
