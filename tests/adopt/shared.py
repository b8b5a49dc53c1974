"""Shared by the scripts of the libraries: the server, a deterministic stand-in of a model, and the steps' output.

A script defines `write`, `search` and `again` (a second write, then a search) and ends with `main(write, search, again)`.
`SCRIPT STEP` runs one of them and writes one JSON object to answer.json of its folder: `results`, what the library answered, without random ids
and instants; `prompts`, every text that went to the model; `failures`, the library's exceptions and logged errors. The
model's answers depend on the prompt alone.
"""
import asyncio
import hashlib
import inspect
import json
import logging
import math
import os
import re
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

URI = os.environ["NEO4J_URI"]
USER = os.environ.get("NEO4J_USERNAME", "neo4j")
PASSWORD = os.environ["NEO4J_PASSWORD"]
# A folder for files of the library's own, kept over the steps of one run.
FOLDER = os.environ["ADOPT_FOLDER"]

DIMENSIONS = 64
PROMPTS = []

# Texts of the first write and of the second, which repeats some of it: each is a statement `NAME verb_verb NAME.`
FIRST = [f"{one} {verb} {two}." for one, verb, two in [
    ("Ann", "works_at", "Acme"), ("Bob", "works_at", "Acme"), ("Ann", "works_on", "Apollo"), ("Bob", "works_on", "Borealis"),
    ("Carol", "lives_in", "Oslo"), ("Carol", "works_on", "Apollo"), ("Dan", "lives_in", "Turin"), ("Ann", "lives_in", "Oslo"),
]]
SECOND = ["Ann works_at Acme.", "Dan works_on Apollo.", "Eve works_at Acme.", "Ann lives_in Turin."]
QUESTIONS = ["Ann works_at Acme.", "Carol lives_in Oslo.", "Dan works_on Apollo."]

STATEMENT = re.compile(r"\b([A-Z][a-z]+) (works_at|works_on|lives_in) ([A-Z][a-z]+)\b")
KINDS = {"Acme": "Company", "Apollo": "Project", "Borealis": "Project", "Oslo": "City", "Turin": "City"}


def statements(text):
    """The statements of a text, each once."""
    return list(dict.fromkeys(STATEMENT.findall(text)))


def vector(text, dimensions=DIMENSIONS):
    """An embedding of length 1: a hashed bag of words, and a little of the whole text, so that no two are as similar."""
    words = re.findall(r"[a-z_]+", text.lower())
    numbers = [0.0] * dimensions
    for word, weight in [(word, 1.0) for word in words] + [(" ".join(words), 0.05)]:
        digest = hashlib.sha256(word.encode()).digest()
        numbers[int.from_bytes(digest[:4], "big") % dimensions] += weight if digest[4] % 2 else -weight
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]


def model(answer):
    """A server of OpenAI's chat and embedding protocol. `answer(messages, request)` returns a message. Returns its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/embeddings"):
                texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
                rows = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(texts)]
                body = {"object": "list", "data": rows}
            else:
                PROMPTS.append(json.dumps(request["messages"]))
                message = {"role": "assistant", "content": None} | answer(request["messages"], request)
                body = {"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            body = json.dumps({"id": "x", "created": 0, "model": request["model"], "usage": usage} | body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"


def errors_logged():
    """The errors that a library logs where it raises none, whatever it configures of its logs."""
    lines, handle = [], logging.Logger.handle

    def noted(logger, record):
        # Graphiti creates its indexes twice at a time and passes over the second: its own doing, with or without Ebb.
        if record.levelno >= logging.ERROR and "EquivalentSchemaRuleAlreadyExists" not in record.getMessage():
            lines.append(f"{record.name}: {record.getMessage()}")
        handle(logger, record)

    logging.Logger.handle = noted
    return lines


def main(write, search=None, again=None):
    logged, failures, results = errors_logged(), [], None
    try:
        done = {"write": write, "search": search, "again": again}[sys.argv[1]]()
        results = asyncio.run(done) if inspect.isawaitable(done) else done
    except Exception:
        failures.append(traceback.format_exc())
    with open(os.path.join(FOLDER, "answer.json"), "w") as file:
        json.dump({"results": results, "prompts": PROMPTS, "failures": failures + logged}, file)
    # Threads of libraries' telemetry and pools do not outlive their step.
    os._exit(0)
