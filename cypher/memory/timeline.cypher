// purpose: Count the memories that were created, promoted and expired in each hour.
// mode: read
// params: none
// returns: hour: Integer, what: String, count: Integer (a row for each hour and kind)
//
// An expiry that a later access reverted is not counted: a memory keeps only the date of its last one.
CALL () {
  MATCH (m:Memory)
  WHERE m.promotionKey IS NULL AND datetime({epochMillis: -62135596800000}) <= m.created < datetime({epochMillis: 253402300800000})
  RETURN datetime.truncate('hour', m.created).epochMillis AS hour, 'made' AS what
  UNION ALL
  MATCH (:Memory)-[p:PROMOTED_TO]->(:Memory)
  WHERE datetime({epochMillis: -62135596800000}) <= p.at < datetime({epochMillis: 253402300800000})
  RETURN datetime.truncate('hour', p.at).epochMillis AS hour, 'rose' AS what
  UNION ALL
  MATCH (:Memory)-[p:CRYSTALLIZED_INTO]->(:Memory)
  WHERE datetime({epochMillis: -62135596800000}) <= p.at < datetime({epochMillis: 253402300800000})
  RETURN datetime.truncate('hour', p.at).epochMillis AS hour, 'crystallised' AS what
  UNION ALL
  MATCH (m:Memory {tier: 'expiredWorking'})
  WITH coalesce(m.lastExpired, m.energyAt) AS at
  WHERE datetime({epochMillis: -62135596800000}) <= at < datetime({epochMillis: 253402300800000})
  RETURN datetime.truncate('hour', at).epochMillis AS hour, 'expired' AS what
}
RETURN hour, what, count(*) AS count
ORDER BY hour, what
