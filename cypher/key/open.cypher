// purpose: Remove the mark that an API key has existed, where no key is left.
// mode: write
// params: none
// returns: opened: Integer (one row; 0 where a key is left, or where it was open)
// bound: one node
// idempotent: by what is left
MATCH (c:EbbCounter {name: 'keys'})
WHERE NOT EXISTS { MATCH (:EbbKey) }
DELETE c
RETURN count(*) AS opened
