// purpose: Read which wording of each policy was accepted in each scope, and the most facts that it retracted there in a run.
// mode: read
// params: none
// returns: scope: String, policy: String, wording: String, most: Integer (a row for each policy that was accepted in a scope)
//
// A record that another writer corrupted is no acceptance.
MATCH (c:EbbCounter)
USING INDEX SEEK c:EbbCounter(name)
WHERE c.name STARTS WITH 'guard:' AND c.scope IN ['local', 'team', 'company', 'public'] AND c.policy IS :: STRING NOT NULL
  AND c.wording IS :: STRING NOT NULL AND c.most IS :: INTEGER
RETURN c.scope AS scope, c.policy AS policy, c.wording AS wording, c.most AS most
