// purpose: Read what a write is dated and computed by: the server's clock, the simulated time of a scratch database, the tunables.
// mode: read
// params: none
// returns: serverNow: Integer, marked: Boolean, simulated: Integer, names: List, values: List (one row; both lists null without tunables, as in config/read)
// clock: server
OPTIONAL MATCH (s:EbbScratch {name: 'scratch'})
OPTIONAL MATCH (c:ConsolidationConfig {name: 'default'})
WITH s, c, CASE WHEN c IS NOT NULL THEN [key IN keys(c) WHERE key <> 'name'] END AS names
RETURN datetime.realtime().epochMillis AS serverNow, s IS NOT NULL AS marked,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= s.now < datetime({epochMillis: 253402300800000}) THEN s.now.epochMillis END AS simulated,
  names, [key IN names | CASE WHEN c[key] IS :: FLOAT OR c[key] IS :: INTEGER THEN toFloat(c[key]) END] AS values
