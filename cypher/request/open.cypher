// purpose: Lock a request and read its recorded response, if any.
// mode: write
// params: $id: String, $hash: String, $by: String, $seed: String
// returns: hash: String, answer: String, seed: String (one row; answer is null for a request that is new)
// bound: one key
// idempotent: by the unique id
// clock: server
//
// A property is removed that nothing writes, for the lock alone.
MERGE (r:EbbRequest {id: $id})
ON CREATE SET r.hash = $hash, r.by = $by, r.seed = $seed, r.at = datetime.realtime()
REMOVE r.lock
RETURN r.hash AS hash, r.answer AS answer, r.seed AS seed
