// purpose: Check that the server responds and read its clock, with the shortest query.
// mode: read
// params: none
// returns: now: Integer (one row)
// clock: server
RETURN datetime.realtime().epochMillis AS now
