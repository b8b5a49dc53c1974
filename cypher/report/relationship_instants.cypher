// purpose: List the instants from which many relationships of a type between marked nodes are no longer live.
// mode: read
// params: $now: Integer, $today: String, $limit: Integer, $least: Integer, $examples: Integer, $rows.until: List
// returns: instant: String, rows: Integer, total: Integer (a row for each of the first $examples, the most first; total is of all)
// names: :Room, :HALL, n.mapped, m.mapped
//
// An end in the future retires nothing yet: the condition is that of report/relationship_days. A row two of whose ends are equal counts once.
MATCH (n:Room)
WHERE n.mapped IS NOT NULL
MATCH (n)-[r:HALL]->(m)
WHERE m.mapped IS NOT NULL
WITH r LIMIT $limit
WITH [name IN $rows.until WHERE r[name] IS NOT NULL AND CASE
      WHEN r[name] IS :: ZONED DATETIME NOT NULL THEN r[name] <= datetime({epochMillis: $now})
      WHEN r[name] IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN CASE WHEN -10000000000 < r[name] < 10000000000 THEN r[name] * 1000 ELSE r[name] END <= $now
      WHEN toStringOrNull(r[name]) =~ '[0-9]{4}-[0-9]{2}-[0-9]{2}.*' THEN left(toStringOrNull(r[name]), 19) <= $today
      ELSE false
    END | toStringOrNull(r[name])] AS ends
UNWIND reduce(each = [], at IN ends | CASE WHEN at IN each THEN each ELSE each + at END) AS instant
WITH instant, count(*) AS rows
WHERE rows >= $least
WITH instant, rows ORDER BY rows DESC, instant
WITH collect({instant: instant, rows: rows}) AS found, sum(rows) AS total
UNWIND found[0..$examples] AS shared
RETURN shared.instant AS instant, shared.rows AS rows, total
