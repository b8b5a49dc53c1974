// purpose: Lock a job, so that one program at a time decides who works on it.
// mode: write
// params: $job: String
// returns: serverNow: Integer (one row)
// bound: one key
// idempotent: by the unique name
// clock: server
//
// The server's clock is read after the lock is held: the statement's own instant is older than its wait.
MERGE (c:EbbCounter {name: 'job:' + $job})
SET c.lock = true
RETURN datetime.realtime().epochMillis AS serverNow
