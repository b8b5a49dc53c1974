#!/usr/bin/env bash
# Makes the pictures of the docs from the bundled month of the demo: five plots as SVG, and the status page as PNG.
#
#   cargo build && EBB=target/debug/ebb docs/pictures.sh
#
# Needs: EBB (the program), curl, and for its managed Neo4j a Docker engine or Java 17 with Maven. For the screenshot
# Chromium: CHROMIUM, or chromium on the PATH; without it the screenshot stays as it is. Works in a folder of its own.
set -euo pipefail
ebb=$(realpath "${EBB:?the program}")
month=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../config/demo")
images=$(realpath "$(dirname "${BASH_SOURCE[0]}")")/images
chromium=${CHROMIUM:-chromium}
port=${PORT:-8391}
folder=$(mktemp -d)
serving=""
finish() {
  [ -z "$serving" ] || kill "$serving" 2>/dev/null || true
  [ -z "$serving" ] || wait "$serving" 2>/dev/null || true
  EBB__NEO4J__HOME=.ebb/demo "$ebb" neo4j stop --force >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap finish EXIT
mkdir -p "$images"
cd "$folder"
unset NEO4J_URI
export EBB__NEO4J__KEEP=0s
cat >fridays.ndjson <<'END'
{"at": "2026-03-02T08:00:00Z", "kind": "memory", "id": "fridays", "content": "The staging database is read-only on Fridays", "session": "s1"}
{"at": "2026-03-02T09:00:00Z", "kind": "access", "id": "fridays", "session": "s2"}
{"at": "2026-03-02T09:30:00Z", "kind": "access", "id": "fridays", "session": "s3"}
{"at": "2026-03-02T16:00:00Z", "kind": "access", "id": "fridays", "session": "s4"}
{"at": "2026-03-03T09:00:00Z", "kind": "access", "id": "fridays", "session": "s5"}
{"at": "2026-03-03T11:00:00Z", "kind": "access", "id": "fridays", "session": "s6"}
{"at": "2026-03-03T15:00:00Z", "kind": "access", "id": "fridays", "session": "s7"}
{"at": "2026-03-04T09:00:00Z", "kind": "access", "id": "fridays", "session": "s8"}
END
"$ebb" replay fridays.ndjson --until 2026-03-04T12:00:00Z 2>&1 | tee replay.txt
home=$(sed -n 's/^Replaying on a managed server of its own, in //p' replay.txt)
EBB__NEO4J__HOME=$home "$ebb" plot energy fridays --svg "$images/energy.svg" -o json
"$ebb" eval "$month/month.ndjson" "$month/questions.ndjson" --svg "$images/recall.svg" -o json >recall.json
"$ebb" demo -o json >demo.json
export EBB__NEO4J__HOME=.ebb/demo
"$ebb" neo4j start -o json >started.json
"$ebb" plot tiers --svg "$images/tiers.svg" -o json
"$ebb" plot decay --limit 10 --svg "$images/relations.svg" -o json
"$ebb" plot trails --limit 10 --svg "$images/trails.svg" -o json
if ! command -v "$chromium" >/dev/null; then
  echo "no $chromium, so the status page is not photographed: apt-get install chromium"
  exit
fi
EBB__HTTP__LISTEN=127.0.0.1:$port "$ebb" serve --roles http &
serving=$!
for _ in $(seq 60); do
  curl -fsS "127.0.0.1:$port/readyz" >/dev/null 2>&1 && break
  sleep 1
done
# The view of a name, and the part of the address that shows it; pictures of 256 colours are a third as large.
photograph() {
  "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$folder/chromium" \
    --window-size="$3" --timeout=60000 --virtual-time-budget=20000 --screenshot="$images/$1.png" "http://127.0.0.1:$port/#$2" 2>/dev/null
  if command -v pngquant >/dev/null; then pngquant --force --ext .png 256 "$images/$1.png"; fi
}
photograph status "memory=mem-money-strings" 1400,1420
photograph status-recall "q=why+did+we+drop+redis+streams" 1400,820
