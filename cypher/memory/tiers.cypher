// purpose: Count memories by tier.
// mode: read
// params: none
// returns: tier: String, count: Integer, quarantined: Integer (a row a tier)
//
// From the index of the tier, the count of the label and the few quarantined rows, so that no other node is read. What is in the
// label and not in the index, or is there with a tier that is no text, has the tier none.
CALL () {
  MATCH (m:Memory)
  USING INDEX m:Memory(tier)
  WHERE m.tier IS NOT NULL
  WITH m.tier AS tier, count(*) AS count
  UNWIND CASE WHEN tier IS :: STRING THEN [[tier, count], ['none', -count]] ELSE [] END AS row
  RETURN row[0] AS tier, row[1] AS count, 0 AS quarantined
UNION ALL
  MATCH (m:Memory)
  RETURN 'none' AS tier, count(m) AS count, 0 AS quarantined
UNION ALL
  MATCH (m:EbbQuarantined)
  WHERE m:Memory
  RETURN CASE WHEN m.tier IS :: STRING NOT NULL THEN m.tier ELSE 'none' END AS tier, 0 AS count, count(*) AS quarantined
}
WITH tier, sum(count) AS count, sum(quarantined) AS quarantined
WHERE count > 0
RETURN tier, count, quarantined
ORDER BY tier
