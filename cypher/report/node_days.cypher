// purpose: Count the marked nodes of a label by the day on which they were written and by whether they are live.
// mode: read
// params: $status: String, $now: Integer, $today: String, $limit: Integer, $rows.written: List, $rows.until: List, $rows.live: List
// returns: day: String, isLive: Boolean, rows: Integer (a row for each day and value; day is null of undated rows)
// names: :Room, n.mark IS NOT NULL
//
// An instant may be a date with or without a zone, text, or a number of seconds or milliseconds since 1970. Nothing that
// fails on another value is called: text is compared as text, and a day is the number of days since 1970, or the first ten characters.
MATCH (n:Room)
WHERE n.mark IS NOT NULL
WITH n LIMIT $limit
WITH head([name IN $rows.written WHERE n[name] IS NOT NULL | n[name]]) AS at,
  NOT any(name IN $rows.until WHERE n[name] IS NOT NULL AND CASE
      WHEN n[name] IS :: ZONED DATETIME NOT NULL THEN n[name] <= datetime({epochMillis: $now})
      WHEN n[name] IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN CASE WHEN -10000000000 < n[name] < 10000000000 THEN n[name] * 1000 ELSE n[name] END <= $now
      WHEN toStringOrNull(n[name]) =~ '[0-9]{4}-[0-9]{2}-[0-9]{2}.*' THEN left(toStringOrNull(n[name]), 19) <= $today
      ELSE false
    END)
    AND NOT coalesce(n[$status] IS NOT NULL AND NOT n[$status] IN $rows.live, false) AS isLive
WITH CASE
    WHEN at IS :: ZONED DATETIME NOT NULL AND datetime({epochMillis: -62135596800000}) <= at < datetime({epochMillis: 253402300800000}) THEN toString(at.epochMillis / 86400000)
    WHEN at IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN toString(toIntegerOrNull(at / CASE WHEN -10000000000 < at < 10000000000 THEN 86400 ELSE 86400000 END))
    ELSE left(toStringOrNull(at), 10)
  END AS day, isLive
RETURN day, isLive, count(*) AS rows
