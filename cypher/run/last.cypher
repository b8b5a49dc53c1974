// purpose: Read the last scheduled occurrence of each job.
// mode: read
// params: $rows.counter: List
// returns: counter: String, now: Integer (a row for each job that ever ran on schedule)
UNWIND $rows.counter AS counter
MATCH (c:EbbCounter {name: counter})
WHERE datetime({epochMillis: -62135596800000}) <= c.last < datetime({epochMillis: 253402300800000})
RETURN c.name AS counter, c.last.epochMillis AS now
