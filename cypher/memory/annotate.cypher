// purpose: Write the tags, the metadata and the provenance of memories that this transaction has locked or created.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.tags: List, $rows.metadata: List, $rows.sourcePath: List, $rows.lineStart: List, $rows.lineEnd: List, $rows.excerpt: List, $rows.namespace: List, $rows.canonical: List
// returns: nothing
// bound: a list of keys
// idempotent: by the values
//
// A null leaves the property unchanged: a request adds and never removes.
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK m:Memory(scope, id)
SET m.tags = coalesce($rows.tags[i], m.tags),
  m.metadata = coalesce($rows.metadata[i], m.metadata),
  m.sourcePath = coalesce($rows.sourcePath[i], m.sourcePath),
  m.lineStart = coalesce($rows.lineStart[i], m.lineStart),
  m.lineEnd = coalesce($rows.lineEnd[i], m.lineEnd),
  m.excerpt = coalesce($rows.excerpt[i], m.excerpt),
  m.namespace = coalesce($rows.namespace[i], m.namespace),
  m.canonical = coalesce($rows.canonical[i], m.canonical)
