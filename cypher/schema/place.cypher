// purpose: Key and indexes of a label that configuration adds to the places.
// mode: schema
// params: none
// names: :Room, _Room, n.id
CREATE CONSTRAINT ebb_place_key_Room IF NOT EXISTS FOR (n:Room) REQUIRE (n.scope, n.id) IS UNIQUE;
CREATE INDEX ebb_place_find_Room IF NOT EXISTS FOR (n:Room) ON (n.id);
CREATE INDEX ebb_place_cycle_Room IF NOT EXISTS FOR (n:Room) ON (n.pheromone_cycle);
