// purpose: See whether the server answers and what its clock shows, by the shortest question there is.
// mode: read
// params: none
// returns: now: Integer (one row)
// clock: server
RETURN datetime.realtime().epochMillis AS now
