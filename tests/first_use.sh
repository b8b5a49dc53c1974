#!/usr/bin/env bash
# A new user's first five minutes, as a script: EBB names the program. Works in a folder of its own and leaves nothing.
set -euo pipefail
ebb=${EBB:?the program}
folder=$(mktemp -d)
cd "$folder"
unset NEO4J_URI
finish() {
  for home in neo4j demo; do
    EBB__NEO4J__HOME=.ebb/$home "$ebb" neo4j stop --force >/dev/null 2>&1 || true
  done
  rm -rf "$folder"
}
trap finish EXIT
ends() { # code, words of the command
  local want=$1 got=0
  shift
  "$@" >out 2>err </dev/null || got=$?
  if [ "$got" -ne "$want" ]; then
    echo "FAILED: '$*' ended with $got, not $want"; cat out err
    exit 1
  fi
}
ends 0 "$ebb" --help
ends 2 "$ebb" memry
ends 0 "$ebb" config validate
EBB__NEO4J__BOLTPORT=1 ends 6 "$ebb" config validate
NEO4J_URI=bolt://127.0.0.1:1 NEO4J_PASSWORD=x ends 5 "$ebb" status
echo "the demo"
ends 0 "$ebb" demo -o json
[ "$(grep -c '"agrees": true' out)" -eq 14 ] || { echo "FAILED: every expected value agrees with the laws"; cat out; exit 1; }
ends 0 env EBB__NEO4J__HOME=.ebb/demo "$ebb" neo4j status -o json
grep -q '"seconds_left": [0-9]' out || { echo "FAILED: the server of the demo runs on for a while"; cat out; exit 1; }
ends 0 env EBB__NEO4J__HOME=.ebb/demo "$ebb" neo4j stop
ends 0 env EBB__NEO4J__HOME=.ebb/demo EBB__NEO4J__KEEP=0s "$ebb" memory list
ends 0 env EBB__NEO4J__HOME=.ebb/demo "$ebb" neo4j status -o json
grep -q '"server": null' out || { echo "FAILED: a server that is not kept runs on"; cat out; exit 1; }
echo "a memory of one's own"
ends 0 "$ebb" init
grep -q 'schema/V001' out || { echo "FAILED: init says what it made"; cat out; exit 1; }
ends 0 "$ebb" init
grep -q '"applied": \[\]' out || { echo "FAILED: a second init finds all there"; cat out; exit 1; }
ends 0 "$ebb" memory add "The staging database is read-only on Fridays" --id fridays --session s1 --mention staging
ends 0 "$ebb" memory access fridays --session s2
ends 0 "$ebb" memory access fridays --session s3
ends 0 "$ebb" job run --all
ends 0 "$ebb" memory explain fridays
grep -q '"because": "It is shortTerm' out || { echo "FAILED: two accesses promote"; cat out; exit 1; }
ends 1 "$ebb" memory show nothing-there
ends 3 "$ebb" memory forget fridays
ends 0 "$ebb" memory forget fridays --yes
ends 0 "$ebb" doctor
echo "first use: passed"
