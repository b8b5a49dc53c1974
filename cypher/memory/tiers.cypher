// purpose: Count memories by tier, with their stored energy.
// mode: read
// params: none
// returns: tier: String, count: Integer, quarantined: Integer (a row a tier)
MATCH (m:Memory)
RETURN CASE WHEN m.tier IS :: STRING NOT NULL THEN m.tier ELSE 'none' END AS tier, count(*) AS count,
  sum(CASE WHEN m:EbbQuarantined THEN 1 ELSE 0 END) AS quarantined
ORDER BY tier
