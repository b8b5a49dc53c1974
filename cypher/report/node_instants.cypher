// purpose: List the instants from which many marked nodes of a label are no longer live.
// mode: read
// params: $now: Integer, $today: String, $limit: Integer, $least: Integer, $examples: Integer, $rows.until: List
// returns: instant: String, rows: Integer, total: Integer (a row for each of the first $examples, the most first; total is of all)
// names: :Room, n.mark IS NOT NULL
//
// An end in the future retires nothing yet: the condition is that of report/node_days. A row two of whose ends are equal counts once.
MATCH (n:Room)
WHERE n.mark IS NOT NULL
WITH n LIMIT $limit
WITH [name IN $rows.until WHERE n[name] IS NOT NULL AND CASE
      WHEN n[name] IS :: ZONED DATETIME NOT NULL THEN n[name] <= datetime({epochMillis: $now})
      WHEN n[name] IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN CASE WHEN -10000000000 < n[name] < 10000000000 THEN n[name] * 1000 ELSE n[name] END <= $now
      WHEN toStringOrNull(n[name]) =~ '[0-9]{4}-[0-9]{2}-[0-9]{2}.*' THEN left(toStringOrNull(n[name]), 19) <= $today
      ELSE false
    END | toStringOrNull(n[name])] AS ends
UNWIND reduce(each = [], at IN ends | CASE WHEN at IN each THEN each ELSE each + at END) AS instant
WITH instant, count(*) AS rows
WHERE rows >= $least
WITH instant, rows ORDER BY rows DESC, instant
WITH collect({instant: instant, rows: rows}) AS found, sum(rows) AS total
UNWIND found[0..$examples] AS shared
RETURN shared.instant AS instant, shared.rows AS rows, total
