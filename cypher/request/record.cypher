// purpose: Record the responses to requests and what they changed, for their callers, the learner, and the mirrors of all processes.
// mode: write
// params: $id: String, $everything: Boolean, $rows.label: List, $rows.scope: List, $rows.key: List, $rows.kind: List, $rows.request: List, $rows.hash: List, $rows.by: List, $rows.seed: List, $rows.answer: List, $rows.waits: List, $rows.active: List, $rows.reward: List
// returns: at: Integer, isRepeat: Boolean (one row; whether one of them has a response already or is another request, and stays as it is)
// bound: a list of ids
// idempotent: by the unique id of the request
// clock: server
//
// A node is both: an EbbRequest, kept for as long as a repeat may come, with the hash that a repeat must have (null where
// nobody else knows its id); and for an hour an EbbChange. The first has the change of the transaction, as `change/record`
// writes it, under $id. Where $rows.waits has the scope of a learner, an outcome waits on it.
//
// A request without a response is one that was opened: another one under its id has another hash. A hash of Ebb 0.1,
// of 64 digits, cannot be compared.
WITH datetime.realtime() AS at
UNWIND range(0, size($rows.request) - 1) AS i
MERGE (r:EbbRequest {id: $rows.request[i]})
WITH r, i, at, r.answer IS NOT NULL
  OR coalesce(r.hash <> $rows.hash[i] AND NOT r.hash =~ '[0-9a-fA-F]{64}', false) AS isRepeat
FOREACH (_ IN CASE WHEN isRepeat THEN [] ELSE [1] END |
  SET r:EbbChange, r.at = at, r.hash = $rows.hash[i], r.by = $rows.by[i], r.seed = $rows.seed[i], r.answer = $rows.answer[i],
    r.waits = $rows.waits[i], r.active = CASE WHEN $rows.waits[i] IS NOT NULL THEN $rows.active[i] END, r.reward = $rows.reward[i],
    r.change = CASE WHEN i = 0 THEN $id END, r.everything = i = 0 AND $everything,
    r.labels = CASE WHEN i = 0 THEN $rows.label ELSE [] END, r.scopes = CASE WHEN i = 0 THEN $rows.scope ELSE [] END,
    r.keys = CASE WHEN i = 0 THEN $rows.key ELSE [] END, r.kinds = CASE WHEN i = 0 THEN $rows.kind ELSE [] END)
RETURN max(at.epochMillis) AS at, max(CASE WHEN isRepeat THEN 1 ELSE 0 END) = 1 AS isRepeat
