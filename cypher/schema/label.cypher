// purpose: Index of a label that configuration adds to the mirror.
// mode: schema
// params: none
// names: :Room, _Room, n.id
CREATE INDEX ebb_label_key_Room IF NOT EXISTS FOR (n:Room) ON (n.scope, n.id);
