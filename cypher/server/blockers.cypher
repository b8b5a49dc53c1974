// purpose: List the transactions that block the waiting ones of a holder.
// mode: read
// params: $holder: String, $rows.text: List
// returns: status: String (a row for each transaction of $holder that runs a statement of $rows.text)
//
// The status of a transaction that waits for a lock names its holder.
SHOW TRANSACTIONS YIELD transactionId, status, parameters, currentQuery
WHERE parameters.holder = $holder AND any(text IN $rows.text WHERE currentQuery ENDS WITH text) AND status STARTS WITH 'Blocked by'
RETURN status
