// purpose: End a transaction of somebody who has vanished; what it did is rolled back, and its locks are free.
// mode: read
// params: $id: String
// returns: message: String (one row)
TERMINATE TRANSACTIONS $id YIELD transactionId, message
RETURN message
