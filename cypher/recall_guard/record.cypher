// purpose: Record the last result of the recall guard.
// mode: write
// params: $process: String, $questions: Integer, $recall: Float, $baseline: Float, $maxLoss: Float, $lostQuestions: Integer
// returns: recorded: Integer (one row)
// bound: one key
// idempotent: by the unique name
// clock: server
//
// All processes share one row, so a process that ended leaves none behind.
MERGE (c:EbbCounter {name: 'recall_guard'})
SET c.process = $process, c.seen = datetime.realtime(), c.questions = $questions, c.recall = $recall, c.baseline = $baseline,
  c.maxLoss = $maxLoss, c.lostQuestions = $lostQuestions
RETURN count(c) AS recorded
