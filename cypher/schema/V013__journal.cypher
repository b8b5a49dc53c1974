// purpose: Indexes of the journal: by run to take one back, by instant to trim.
// mode: schema
// params: none
CREATE INDEX ebb_journal_run IF NOT EXISTS FOR (j:EbbJournal) ON (j.run);
CREATE INDEX ebb_journal_recorded IF NOT EXISTS FOR (j:EbbJournal) ON (j.recorded);
