// purpose: Index of nodes by their name in a backup, while it is restored.
// mode: schema
// params: none
CREATE INDEX ebb_restored IF NOT EXISTS FOR (n:EbbRestored) ON (n.ebbRestored)
