// purpose: Read which wording of each policy has had its first scheduled run, and in which occurrence.
// mode: read
// params: none
// returns: policy: String, wording: String, occurrence: String (a row for each policy that had one)
MATCH (c:EbbCounter)
USING INDEX SEEK c:EbbCounter(name)
WHERE c.name STARTS WITH 'policy:'
RETURN substring(c.name, size('policy:')) AS policy, c.wording AS wording, c.occurrence AS occurrence
