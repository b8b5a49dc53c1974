// purpose: Read the server's version and clock.
// mode: read
// params: none
// returns: name: String, version: String, edition: String, serverNow: Integer (one row)
// clock: server
//
// Where there are several languages, a component Cypher has them as its versions.
CALL dbms.components() YIELD name, versions, edition
WHERE name <> 'Cypher'
RETURN name, versions[0] AS version, edition, datetime.realtime().epochMillis AS serverNow
LIMIT 1
