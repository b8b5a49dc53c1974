// purpose: The index of a relationship type that configuration adds to the edges.
// mode: schema
// params: none
// names: :HALL
CREATE INDEX IF NOT EXISTS FOR ()-[r:HALL]-() ON (r.pheromone_cycle);
