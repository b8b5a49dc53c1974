// purpose: Record the response of a request, in the transaction of its effect.
// mode: write
// params: $id: String, $answer: String
// returns: answered: Integer (one row)
// bound: one key
// idempotent: by the unique id
MATCH (r:EbbRequest {id: $id})
SET r.answer = $answer
RETURN count(r) AS answered
