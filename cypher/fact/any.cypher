// purpose: Say how many facts there are and how many of them Ebb has seen; the count store answers.
// mode: read
// params: none
// returns: facts: Integer, seen: Integer (one row)
CALL () { MATCH (f:Fact) RETURN count(f) AS facts }
CALL () { MATCH (s:EbbFact) RETURN count(s) AS seen }
RETURN facts, seen
