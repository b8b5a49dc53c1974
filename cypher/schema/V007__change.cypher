// purpose: The instants of changes, by which mirrors ask for those that they have not seen.
// mode: schema
// params: none
CREATE INDEX ebb_change_at IF NOT EXISTS FOR (c:EbbChange) ON (c.at);
