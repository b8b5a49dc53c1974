// purpose: See whether the server answers, by the shortest question there is.
// mode: read
// params: none
// returns: one: Integer (one row)
RETURN 1 AS one
