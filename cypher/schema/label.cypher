// purpose: Index of a label that configuration adds to the mirror.
// mode: schema
// params: none
// names: :Room, n.id
CREATE INDEX IF NOT EXISTS FOR (n:Room) ON (n.scope, n.id);
