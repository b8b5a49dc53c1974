// purpose: Begin or resume the import of a file; the last process to open it holds it.
// mode: write
// params: $key: String, $name: String, $scope: String, $holder: String
// returns: lines: Integer, digest: String, at: Integer, scope: String (one row)
// bound: one key
// idempotent: by the unique key
//
// As long as no line is done, the scope of the lines that name none is that of the last process to open it.
MERGE (i:EbbImport {key: $key})
ON CREATE SET i.name = $name, i.lines = 0, i.digest = ''
SET i.lock = $holder, i.defaultScope = CASE WHEN i.lines = 0 THEN $scope ELSE i.defaultScope END
RETURN i.lines AS lines, i.digest AS digest, i.at.epochMillis AS at, i.defaultScope AS scope
