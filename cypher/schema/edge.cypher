// purpose: The index of a relationship type that configuration adds to the edges.
// mode: schema
// params: none
// names: :HALL, _HALL
CREATE INDEX ebb_edge_cycle_HALL IF NOT EXISTS FOR ()-[r:HALL]-() ON (r.pheromone_cycle);
