// purpose: Name the transactions that the waiting ones of a holder are blocked by.
// mode: read
// params: $holder: String, $text: String
// returns: status: String (a row for each transaction of $holder that runs the statement $text)
//
// The status of a transaction that waits for a lock names whoever has it.
SHOW TRANSACTIONS YIELD transactionId, status, parameters, currentQuery
WHERE parameters.holder = $holder AND currentQuery = $text AND status STARTS WITH 'Blocked by'
RETURN status
