// purpose: Keys of places, and indexes of what is left on places and edges.
// mode: schema
// params: none
CREATE CONSTRAINT ebb_wing_id IF NOT EXISTS FOR (n:Wing) REQUIRE (n.scope, n.id) IS UNIQUE;
CREATE CONSTRAINT ebb_room_id IF NOT EXISTS FOR (n:Room) REQUIRE (n.scope, n.id) IS UNIQUE;
CREATE CONSTRAINT ebb_closet_id IF NOT EXISTS FOR (n:Closet) REQUIRE (n.scope, n.id) IS UNIQUE;
CREATE CONSTRAINT ebb_drawer_id IF NOT EXISTS FOR (n:Drawer) REQUIRE (n.scope, n.id) IS UNIQUE;
CREATE INDEX ebb_wing_find IF NOT EXISTS FOR (n:Wing) ON (n.id);
CREATE INDEX ebb_room_find IF NOT EXISTS FOR (n:Room) ON (n.id);
CREATE INDEX ebb_closet_find IF NOT EXISTS FOR (n:Closet) ON (n.id);
CREATE INDEX ebb_drawer_find IF NOT EXISTS FOR (n:Drawer) ON (n.id);
CREATE INDEX ebb_entity_find IF NOT EXISTS FOR (n:Entity) ON (n.name);
CREATE INDEX ebb_wing_cycle IF NOT EXISTS FOR (n:Wing) ON (n.pheromone_cycle);
CREATE INDEX ebb_room_cycle IF NOT EXISTS FOR (n:Room) ON (n.pheromone_cycle);
CREATE INDEX ebb_closet_cycle IF NOT EXISTS FOR (n:Closet) ON (n.pheromone_cycle);
CREATE INDEX ebb_drawer_cycle IF NOT EXISTS FOR (n:Drawer) ON (n.pheromone_cycle);
CREATE INDEX ebb_entity_cycle IF NOT EXISTS FOR (n:Entity) ON (n.pheromone_cycle);
CREATE INDEX ebb_has_room_cycle IF NOT EXISTS FOR ()-[r:HAS_ROOM]-() ON (r.pheromone_cycle);
CREATE INDEX ebb_has_closet_cycle IF NOT EXISTS FOR ()-[r:HAS_CLOSET]-() ON (r.pheromone_cycle);
CREATE INDEX ebb_has_drawer_cycle IF NOT EXISTS FOR ()-[r:HAS_DRAWER]-() ON (r.pheromone_cycle);
CREATE INDEX ebb_hall_cycle IF NOT EXISTS FOR ()-[r:HALL]-() ON (r.pheromone_cycle);
CREATE INDEX ebb_tunnel_cycle IF NOT EXISTS FOR ()-[r:TUNNEL]-() ON (r.pheromone_cycle);
CREATE INDEX ebb_relates_to_cycle IF NOT EXISTS FOR ()-[r:RELATES_TO]-() ON (r.pheromone_cycle);
CREATE INDEX ebb_references_cycle IF NOT EXISTS FOR ()-[r:REFERENCES]-() ON (r.pheromone_cycle);
CREATE INDEX ebb_similar_to_cycle IF NOT EXISTS FOR ()-[r:SIMILAR_TO]-() ON (r.pheromone_cycle);
