// purpose: Show what the content, the tags and the metadata of a memory were.
// mode: read
// params: $scope: String, $id: String
// returns: content: String, tags: List, metadata: String, since: Integer, until: Integer, mergedFrom: String (a row a version, newest first)
MATCH (m:Memory {scope: $scope, id: $id})-[:PREVIOUS_VERSION]->(v:EbbVersion)
USING INDEX SEEK m:Memory(scope, id)
WITH v, datetime({epochMillis: -62135596800000}) AS first, datetime({epochMillis: 253402300800000}) AS end
RETURN toStringOrNull(v.content) AS content,
  CASE WHEN v.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN v.tags ELSE [] END AS tags,
  CASE WHEN v.metadata IS :: STRING NOT NULL THEN v.metadata END AS metadata,
  CASE WHEN first <= v.since < end THEN v.since.epochMillis END AS since,
  CASE WHEN first <= v.until < end THEN v.until.epochMillis END AS until,
  toStringOrNull(v.mergedFrom) AS mergedFrom
ORDER BY until DESC, since DESC, mergedFrom, content
