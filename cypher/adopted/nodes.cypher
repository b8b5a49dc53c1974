// purpose: Read nodes of a mapped label and scope by their keys.
// mode: read
// params: $rows.keys: List, $rows.groups: List, $rows.read: List, $rows.live: List, $status: String
// returns: key: String, values: List, now: Integer (a row for each that is there)
// clock: server
// names: UNWIND $rows.keys AS key, :Room, n.id, n.mark IS NOT NULL, n.scope IN $rows.groups
//
// Values are those of the properties $rows.read, in their order and of any type; a text is cut at 65,536 characters, a list at 1,000 texts of 1,000 characters.
UNWIND $rows.keys AS key
MATCH (n:Room)
WHERE n.id = key AND n.scope IN $rows.groups AND n.mark IS NOT NULL
  AND ($status IS NULL OR n[$status] IN $rows.live)
RETURN key, [name IN $rows.read | CASE
    WHEN n[name] IS :: STRING NOT NULL THEN left(n[name], 65536)
    WHEN n[name] IS :: LIST<STRING NOT NULL> NOT NULL THEN [text IN n[name][..1000] | left(text, 1000)]
    ELSE n[name]
  END] AS values,
  datetime.realtime().epochMillis AS now
