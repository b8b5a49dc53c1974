// purpose: Delete a page of what a replay wrote into a scratch database.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by their absence
//
// Without the marker nothing is deleted. What `ebb init` writes stays, and the marker itself.
MATCH (:EbbScratch {name: 'scratch'})
MATCH (n)
WHERE NOT n:EbbScratch AND NOT n:EbbMigration AND NOT n:EbbCounter AND NOT n:EbbSettings AND NOT n:ConsolidationConfig
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS rows
