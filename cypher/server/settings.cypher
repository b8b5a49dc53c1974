// purpose: Show the server's settings that Ebb depends on.
// mode: read
// params: none
// returns: name: String, value: String (a row a setting)
SHOW SETTINGS YIELD name, value
WHERE name IN ['db.transaction.timeout', 'db.lock.acquisition.timeout', 'db.memory.transaction.max', 'dbms.security.auth_enabled']
RETURN name, value
