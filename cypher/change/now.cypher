// purpose: Read the server's clock: the instant from which to read changes.
// mode: read
// params: none
// returns: now: Integer (one row)
// clock: server
RETURN datetime.realtime().epochMillis AS now
