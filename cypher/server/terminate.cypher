// purpose: Terminate a transaction whose client has vanished: its work is rolled back and its locks are freed.
// mode: read
// params: $id: String
// returns: message: String (one row)
TERMINATE TRANSACTIONS $id YIELD transactionId, message
RETURN message
