// purpose: Read the server's version and clock.
// mode: read
// params: none
// returns: name: String, version: String, edition: String, serverNow: Integer (one row)
// clock: server
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions[0] AS version, edition, datetime.realtime().epochMillis AS serverNow
LIMIT 1
