// purpose: Count the memories that were created, promoted and expired in each hour.
// mode: read
// params: none
// returns: hour: Integer, what: String, count: Integer (a row for each hour and kind)
//
// Rows of other libraries and quarantined ones are left out. A memory that was adopted in a tier, without a dated promotion to it,
// was in that tier from its creation on. An expiry that a later access reverted is not counted: a memory keeps only the date of its
// last one.
MATCH (m:EbbMemory)
WHERE NOT m:EbbQuarantined AND m.tier IN ['working', 'shortTerm', 'longTerm', 'expiredWorking']
  AND datetime({epochMillis: -62135596800000}) <= m.created < datetime({epochMillis: 253402300800000})
WITH m, m.tier AS tier, m.created AS created, coalesce(m.lastExpired, m.energyAt) AS expired
UNWIND [['made', created]]
  + CASE WHEN tier IN ['shortTerm', 'longTerm'] THEN [['rose', coalesce(
      [(:Memory)-[p:PROMOTED_TO]->(m)
        WHERE datetime({epochMillis: -62135596800000}) <= p.at < datetime({epochMillis: 253402300800000}) | p.at][0],
      created)]] ELSE [] END
  + CASE WHEN tier = 'longTerm' THEN [['crystallised', coalesce(
      [(:Memory)-[p:CRYSTALLIZED_INTO]->(m)
        WHERE datetime({epochMillis: -62135596800000}) <= p.at < datetime({epochMillis: 253402300800000}) | p.at][0],
      created)]] ELSE [] END
  + CASE WHEN tier = 'expiredWorking' THEN [['expired', CASE
      WHEN datetime({epochMillis: -62135596800000}) <= expired < datetime({epochMillis: 253402300800000}) THEN expired
      ELSE created END]] ELSE [] END AS event
RETURN datetime.truncate('hour', event[1]).epochMillis AS hour, event[0] AS what, count(*) AS count
ORDER BY hour, what
