"""`ebb serve` for as long as a block lasts, and requests to it."""
import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

# Seconds until it listens, and until it has ended.
STARTED, ENDED = 60, 60


class Server:
    def __init__(self, program, environment, folder, **settings):
        self.program, self.folder = program, folder
        self.environment = environment | {"EBB__HTTP__LISTEN": "127.0.0.1:0"} | settings
        self.url, self.code = None, None

    def __enter__(self):
        with open(self.folder / "serve.log", "w") as log:
            self.process = subprocess.Popen([self.program, "serve"], env=self.environment, cwd=self.folder, stdout=log, stderr=log)
        until = time.monotonic() + STARTED
        while not self.url and self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.1)
            named = re.search(r"API at (http://[\d.:]+)", self.log())
            self.url = named and named.group(1)
        if not self.url:
            self.__exit__()
            raise OSError(f"ebb serve does not listen: {self.log()[-1500:]}")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.code = self.process.wait(timeout=ENDED)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.code = self.process.wait()

    def log(self):
        return (self.folder / "serve.log").read_text()

    def get(self, path):
        return request(self.url + path)

    def post(self, path, **body):
        return request(self.url + path, body)


def request(url, body=None, headers=None, timeout=60):
    """The response; of a refusal, its problem, which has a `status`."""
    data = None if body is None else json.dumps(body).encode()
    message = urllib.request.Request(url, data, {"Content-Type": "application/json"} | (headers or {}))
    try:
        with urllib.request.urlopen(message, timeout=timeout) as response:
            return json.load(response)
    except urllib.error.HTTPError as refused:
        return json.load(refused)
