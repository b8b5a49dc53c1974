// purpose: Identify the database and its latest change record, and look for a record that was the latest one.
// mode: read
// params: $element: String
// returns: id: String, initialised: Integer (null if never), now: Integer, newest: String (null without changes), newestAt: Integer, knownAt: Integer (null if it is no record of changes) (one row)
// clock: server
//
// A database that was restored from a backup has its id, but not the record of a later change.
CALL db.info() YIELD id
OPTIONAL MATCH (m:EbbMigration {version: 'V001'})
OPTIONAL MATCH (k:EbbChange) WHERE elementId(k) = $element
CALL () {
  OPTIONAL MATCH (c:EbbChange)
  USING INDEX SEEK c:EbbChange(at)
  WHERE datetime({epochMillis: 0}) <= c.at < datetime({epochMillis: 253402300800000})
  RETURN c
  ORDER BY c.at DESC
  LIMIT 1
}
RETURN id, m.applied.epochMillis AS initialised, datetime.realtime().epochMillis AS now, elementId(c) AS newest,
  c.at.epochMillis AS newestAt, k.at.epochMillis AS knownAt
