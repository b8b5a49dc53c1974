// purpose: No index on Fact(id): neo4j-agent-memory creates a constraint there, which an index of the same property prevents.
// mode: schema
// params: none
DROP INDEX ebb_fact_find IF EXISTS;
