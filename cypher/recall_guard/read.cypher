// purpose: Show the last result of the recall guard, and its age.
// mode: read
// params: none
// returns: process: String, ageMs: Integer, questions: Integer, recall: Float, baseline: Float, maxLoss: Float, lostQuestions: Integer (one row, if it was asked)
// clock: server
//
// A malformed row is left out until the questions are asked again.
MATCH (c:EbbCounter {name: 'recall_guard'})
WHERE c.process IS :: STRING NOT NULL AND datetime({epochMillis: -62135596800000}) <= c.seen < datetime({epochMillis: 253402300800000})
  AND all(n IN [c.questions, c.lostQuestions] WHERE n IS :: INTEGER NOT NULL AND n >= 0)
  AND all(n IN [c.recall, c.baseline, c.maxLoss] WHERE n IS :: FLOAT NOT NULL AND 0 <= n <= 1)
RETURN c.process AS process, datetime.realtime().epochMillis - c.seen.epochMillis AS ageMs, c.questions AS questions, c.recall AS recall,
  c.baseline AS baseline, c.maxLoss AS maxLoss, c.lostQuestions AS lostQuestions
