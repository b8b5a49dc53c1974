// purpose: Append a part to the response of a request that this transaction has recorded.
// mode: write
// params: $id: String, $part: String
// returns: nothing
// bound: one key
// idempotent: by the receipt of its transaction
MATCH (r:EbbRequest {id: $id})
USING INDEX SEEK r:EbbRequest(id)
SET r.answer = r.answer + $part
