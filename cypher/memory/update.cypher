// purpose: Replace the content, the tags and the metadata of a memory that this transaction has locked, and keep what they were.
// mode: write
// params: $scope: String, $id: String, $isReworded: Boolean, $content: String, $isRetagged: Boolean, $rows.tags: List, $isRedescribed: Boolean, $metadata: String, $isEmbedded: Boolean, $rows.embedding: List, $embeds: Boolean, $at: Integer, $kept: Integer
// returns: kept: Integer (one row)
// bound: one key, and the versions of one memory beyond $kept
// idempotent: by the receipt of its transaction
//
// Each part is replaced if its flag says so; any other stays, also one of another writer that cannot be read. Without one of the
// first three there is no version. With $isEmbedded the embedding is replaced as well, or removed if $rows.embedding is empty; if $embeds, a memory without one is
// queued to be embedded. A memory has its last change as updated; a version has the instants between which it was in force.
MATCH (m:Memory {scope: $scope, id: $id})
USING INDEX SEEK m:Memory(scope, id)
FOREACH (_ IN CASE WHEN $isReworded OR $isRetagged OR $isRedescribed THEN [1] ELSE [] END |
  CREATE (m)-[:PREVIOUS_VERSION]->(:EbbVersion {
    scope: $scope,
    content: m.content,
    tags: m.tags,
    metadata: m.metadata,
    since: coalesce(m.updated, m.created),
    until: datetime({epochMillis: $at})
  })
  SET m.updated = datetime({epochMillis: $at}))
FOREACH (_ IN CASE WHEN $isReworded THEN [1] ELSE [] END | SET m.content = $content)
FOREACH (_ IN CASE WHEN $isRetagged THEN [1] ELSE [] END |
  SET m.tags = CASE WHEN size($rows.tags) > 0 THEN $rows.tags END)
FOREACH (_ IN CASE WHEN $isRedescribed THEN [1] ELSE [] END | SET m.metadata = $metadata)
FOREACH (_ IN CASE WHEN $isEmbedded THEN [1] ELSE [] END |
  SET m.embedding = CASE WHEN size($rows.embedding) > 0 THEN $rows.embedding END, m.ebbEmbeddingModel = null, m.ebbEmbeddingEnds = null,
    m.embedDue = CASE WHEN $embeds AND size($rows.embedding) = 0 THEN datetime({epochMillis: $at}) END)
WITH m
CALL (m) {
  MATCH (m)-[:PREVIOUS_VERSION]->(v:EbbVersion)
  WITH v ORDER BY v.until DESC, v.since DESC, v.mergedFrom, v.content
  WITH collect(v) AS versions
  FOREACH (v IN versions[$kept..] | DETACH DELETE v)
  RETURN size(versions[..$kept]) AS kept
}
RETURN kept
