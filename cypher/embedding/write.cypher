// purpose: Write the embeddings of memories whose texts are still those that were embedded, and take memories off the backlog.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.text: List, $rows.embedding: List, $rows.due: List, $model: String, $chars: Integer, $now: Integer
// returns: at: Integer (index in $rows.id; a row for each memory that was embedded)
// bound: a list of keys
// idempotent: by embedDue
//
// A memory without a text is only taken off the backlog; one without an embedding was refused, and is due again at
// $rows.due. A new memory that waited for this to reinforce similar ones need not wait any longer. Each row is locked first
// and checked after: a memory that another program took off the backlog, gave an embedding or another content, is left as
// it is. The first and the last number are kept beside an embedding: if it has
// others, another program has replaced it.
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK m:Memory(scope, id)
SET m.ebbLock = true
WITH m, i
WHERE m.embedDue IS NOT NULL
  AND ($rows.text[i] IS NULL OR left(toStringOrNull(m.content), $chars) = $rows.text[i] AND (m.embedding IS NULL
    OR coalesce(CASE WHEN m.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN m.ebbEmbeddingEnds = [m.embedding[0], m.embedding[-1]] END, false)))
SET m.embedDue = CASE WHEN $rows.due[i] IS NULL THEN null ELSE datetime({epochMillis: $rows.due[i]}) END,
  m.reinforceDue = CASE WHEN m.reinforceDue > datetime({epochMillis: $now}) THEN datetime({epochMillis: $now}) ELSE m.reinforceDue END
WITH m, i
WHERE $rows.embedding[i] IS NOT NULL
SET m.embedding = $rows.embedding[i], m.ebbEmbeddingModel = $model,
  m.ebbEmbeddingEnds = [$rows.embedding[i][0], $rows.embedding[i][-1]]
RETURN i AS at
