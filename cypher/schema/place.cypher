// purpose: Key and indexes of a label that configuration adds to the places.
// mode: schema
// params: none
// names: :Room, n.id
CREATE CONSTRAINT IF NOT EXISTS FOR (n:Room) REQUIRE (n.scope, n.id) IS UNIQUE;
CREATE INDEX IF NOT EXISTS FOR (n:Room) ON (n.id);
CREATE INDEX IF NOT EXISTS FOR (n:Room) ON (n.pheromone_cycle);
