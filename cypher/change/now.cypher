// purpose: Say what the server's clock shows: from when on changes are to be asked for.
// mode: read
// params: none
// returns: now: Integer (one row)
// clock: server
RETURN datetime.realtime().epochMillis AS now
