// purpose: Say which of these promotions have happened before.
// mode: read
// params: $rows.key: List
// returns: key: String (a row for each that has)
UNWIND $rows.key AS key
MATCH (s:Memory {promotionKey: key})
RETURN s.promotionKey AS key
