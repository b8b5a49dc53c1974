#!/usr/bin/env python3
"""Writes ebb_memory/models.py and ebb_memory/operations.py from the OpenAPI document of the server.

  generate.py            writes both
  generate.py --check    writes nothing; ends with 1 if one of them is not what the document gives

Models are those of datamodel-code-generator. Operations are methods, named by their `operationId`. Needs the packages of
requirements.txt.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE / "ebb_memory"
# The document as the tests of the server keep it: a header between two lines of three dashes, then JSON.
SNAPSHOTS = HERE.parents[1] / "surfaces/http/snapshots"
DOCUMENT = SNAPSHOTS / "ebb__surfaces__http__openapi__tests__the_document_of_this_version.snap"
SCHEMAS = "#/components/schemas/"
HEADER = '"""{}\n\nGenerated from the OpenAPI document of Ebb by generate.py: do not edit.\n"""\n'
IMPORTS = """
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Generic, Literal

from . import models
from .request import Call, Noun, Request, lines, new_key, operation
"""
OPTIONS = [
    *("--input-file-type", "openapi", "--openapi-scopes", "schemas", "--output-model-type", "pydantic_v2.BaseModel"),
    *("--target-python-version", "3.10", "--base-class", "ebb_memory.model.Model", "--enum-field-as-literal", "all"),
    *("--snake-case-field", "--use-union-operator", "--use-standard-collections", "--use-double-quotes", "--wrap-string-literal"),
    *("--use-schema-description", "--use-field-description", "--use-attribute-docstrings", "--use-single-line-docstring"),
    *("--strict-nullable", "--disable-timestamp", "--formatters", "builtin"),
]
# The server checks values and says what is wrong with one. A client that checked them too would refuse what a newer server takes.
CHECKS = {"pattern", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum"}
# Names of Python get an underscore behind them.
RESERVED = {"from": "from_"}
KINDS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "Mapping[str, Any]"}
EMPTY: Schema = {"array": [], "boolean": False}
KEY = "Writes with the same key take effect once in 24 hours; default a new key."
CURSOR = "Cursor of the next page; none if this is the last."


def is_lines(operation: Schema) -> bool:
    """Whether the answer of an operation has a JSON document in each line."""
    return "application/x-ndjson" in operation["responses"]["200"]["content"]


class Document:
    """The document of this version, with simpler schemas: without checks of values, with enumerations in place of unions of
    constants, and with references to objects alone."""

    def __init__(self) -> None:
        found: Schema = json.loads(DOCUMENT.read_text().split("---\n", 2)[2])
        self.info: Schema = found["info"]
        self.schemas: dict[str, Schema] = found["components"]["schemas"]
        every = [(path, verb, one) for path, item in found["paths"].items() for verb, one in item.items()]
        # Pages and probes of the process are not JSON.
        self.operations = [one for one in every if one[2]["tags"] != ["process"]]

    def named(self, schema: Schema) -> Schema:
        found: Schema = self.schemas[schema["$ref"].removeprefix(SCHEMAS)]
        return found

    def simple(self, schema: Any) -> Any:
        if isinstance(schema, list):
            return [self.simple(one) for one in schema]
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema and not self.named(schema).keys() & {"properties", "allOf"}:
            return self.simple(self.named(schema) | {key: value for key, value in schema.items() if key != "$ref"})
        choices = schema.get("oneOf", [])
        if choices and all("const" in choice for choice in choices):
            kept = {key: value for key, value in schema.items() if key != "oneOf"}
            schema = kept | {"type": "string", "enum": [choice["const"] for choice in choices]}
        kept = {key: value for key, value in schema.items() if key not in CHECKS}
        if kept.get("format") not in ("date", "date-time"):
            kept.pop("format", None)
        # The base of the models keeps fields that have no name here.
        if "properties" in kept and isinstance(kept.get("additionalProperties"), dict):
            del kept["additionalProperties"]
        required = kept.get("required", [])
        fields = {name: self.simple(field) for name, field in kept.pop("properties", {}).items()}
        for name, field in fields.items():
            # An answer leaves out lists that are empty, and what is false.
            kind = str(field.get("type"))
            if name not in required and kind in EMPTY:
                field.setdefault("default", EMPTY[kind])
        return {key: self.simple(value) for key, value in kept.items()} | ({"properties": fields} if fields else {})

    def answer(self, operation: Schema) -> Schema:
        """The schema of an answer. One that comes with a header gets a name of its own, and a field for the header."""
        response = operation["responses"]["200"]
        schema: Schema = response["content"]["application/json"]["schema"]
        schema = schema.get("allOf", [schema])[0]
        headers = response.get("headers", {})
        if not headers:
            found: Schema = self.simple(schema)
            return found
        field, description = ("change", headers["Ebb-Change"]["description"]) if "Ebb-Change" in headers else ("cursor", CURSOR)
        properties = {field: {"type": ["string", "null"], "description": description}}
        if "$ref" in schema:
            base = schema["$ref"].removeprefix(SCHEMAS)
            name = f"{base}With{field.capitalize()}"
            added = {"allOf": [{"$ref": SCHEMAS + base}, {"type": "object", "properties": properties}]}
            self.schemas[name] = added | {"description": self.schemas[base].get("description", "")}
        else:
            items = operation["operationId"].split(".")[0]
            name = f"{items.capitalize()}Page"
            self.schemas[name] = {"type": "object", "required": [items], "properties": {items: schema} | properties}
        return {"$ref": SCHEMAS + name}

    def reached(self, names: set[str]) -> dict[str, Schema]:
        """The schemas of these names, and those that they refer to."""
        found: dict[str, Schema] = {}
        while names:
            found |= {name: self.simple(self.schemas[name]) for name in names}
            text = json.dumps(found)
            names = {name for name in self.schemas if name not in found and f'"{SCHEMAS}{name}"' in text}
        return dict(sorted(found.items()))


def widened(schema: Any) -> Any:
    """A simple schema whose enumerations have any other text as well: a newer server may answer with one."""
    if isinstance(schema, list):
        return [widened(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "enum" not in schema:
        return {key: widened(value) for key, value in schema.items()}
    kept = {key: value for key, value in schema.items() if key not in ("type", "enum")}
    known = [value for value in schema["enum"] if value is not None]
    nothing = [{"type": "null"}] if "null" in schema["type"] else []
    return kept | {"anyOf": [{"type": "string", "enum": known}, {"type": "string"}, *nothing]}


def annotation(schema: Schema, names: set[str]) -> str:
    """The type of a simple schema, without None. Adds the names of its models to `names`."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(SCHEMAS)
        names.add(name)
        return f"models.{name}"
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'] if value is not None)}]"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if not choices and isinstance(schema["type"], list):
        choices = [schema | {"type": kind} for kind in schema["type"]]
    if choices:
        return " | ".join(dict.fromkeys(annotation(one, names) for one in choices if one.get("type") != "null"))
    if schema["type"] == "array":
        return f"Sequence[{annotation(schema['items'], names)}]"
    return {"date": "date", "date-time": "datetime"}.get(schema.get("format", ""), KINDS[schema["type"]])


@dataclass
class Argument:
    """An argument of a method: a part of the path, of the query or of the body, or the items of a batch."""

    name: str
    place: str
    is_required: bool
    schema: Schema
    description: str

    @property
    def python(self) -> str:
        return RESERVED.get(self.name, re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", self.name))

    def parameter(self, names: set[str]) -> str:
        return f"{self.python}: {annotation(self.schema, names)}" + ("" if self.is_required else " | None = None")

    @property
    def is_scope(self) -> bool:
        """Whether it is the name of a scope. That of a fact is one of four, and no client's default."""
        return self.name == "scope" and "enum" not in json.dumps(self.schema)


def arguments(operation: Schema, document: Document) -> list[Argument]:
    found = [
        Argument(one["name"], one["in"], one["required"], document.simple(one["schema"]), one["description"])
        for one in operation.get("parameters", [])
        if one["in"] != "header"
    ]
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if content is None:
        return found
    body = document.simple(content)
    if body.get("type") == "array":
        return [*found, Argument("items", "items", True, body, "The items of the batch.")]
    fields = document.named(body)
    # A policy may repeat the id of its path.
    there = {one.name for one in found}
    return found + [
        Argument(name, "body", name in fields.get("required", []), document.simple(field), field.get("description", ""))
        for name, field in fields["properties"].items()
        if name not in there
    ]


def scope_place(given: list[Argument], document: Document) -> str | None:
    """Where the name of a scope is, if the operation takes one."""
    for one in given:
        if one.place == "items":
            fields = document.named(one.schema["items"])["properties"]
            field = Argument("scope", "items", False, document.simple(fields.get("scope", {"enum": []})), "")
            return "items" if field.is_scope else None
    return next((one.place for one in given if one.is_scope and not one.is_required), None)


def docstring(operation: Schema, described: list[tuple[str, str]]) -> str:
    parts = [textwrap.fill(f"{operation['summary']}.", 110)]
    if "description" in operation:
        parts.append(textwrap.fill(operation["description"], 110))
    if described:
        lines = [textwrap.fill(f"    {name}: {text}", 110, subsequent_indent="        ") for name, text in described]
        parts.append("\n".join(["Args:", *lines]))
    return '"""' + "\n\n".join(parts) + ('"""' if len(parts) == 1 else '\n"""')


@dataclass
class Names:
    """Names of models: those that arguments name, and those that answers name."""

    asked: set[str] = dataclasses.field(default_factory=set)
    answered: set[str] = dataclasses.field(default_factory=set)


def method(path: str, verb: str, operation: Schema, document: Document, names: Names) -> str:
    """The method of an operation. Parts of the path come first, and a field if it is the only required one; others have names."""
    given = arguments(operation, document)
    writes = any(one["in"] == "header" for one in operation.get("parameters", []))
    required = [one for one in given if one.is_required]
    first = [one for one in required if one.place in ("path", "items")]
    others = [one for one in required if one not in first]
    first += others if len(others) == 1 else []
    rest = sorted((one for one in given if one not in first), key=lambda one: not one.is_required)
    in_lines = is_lines(operation)
    answer = "dict[str, Any]" if in_lines else annotation(document.answer(operation), names.answered)

    parameters = ["self", *(one.parameter(names.asked) for one in first)]
    parameters += ["*"] if rest or writes else []
    parameters += [one.parameter(names.asked) for one in rest]
    described = [(one.python, one.description) for one in [*first, *rest]]
    parts = [json.dumps(verb.upper()), json.dumps(path), answer]
    for place, name in (("path", "path_parts"), ("query", "query"), ("body", "body")):
        fields = [f"{json.dumps(one.name)}: {one.python}" for one in given if one.place == place]
        parts += [f"{name}={{{', '.join(fields)}}}"] if fields else []
    parts += ["body=list(items)"] if any(one.place == "items" for one in given) else []
    place_of_scope = scope_place(given, document)
    parts += [f"scope={json.dumps(place_of_scope)}"] if place_of_scope else []
    if writes:
        parameters.append("idempotency_key: str | None = None")
        described.append(("idempotency_key", KEY))
        parts.append("idempotency_key=idempotency_key or new_key()")
    parts += ["is_lines=True"] if in_lines else []
    name = operation["operationId"].split(".")[1]
    head = f"@{'lines' if in_lines else 'operation'}\ndef {name}({', '.join(parameters)}) -> Request[{answer}]:\n"
    return head + textwrap.indent(f"{docstring(operation, described)}\nreturn Request({', '.join(parts)})", "    ")


def operations(document: Document) -> tuple[str, Names]:
    """The text of the operations, and the names of the models in it."""
    names = Names()
    nouns: dict[str, list[str]] = {}
    for path, verb, operation in document.operations:
        noun = operation["operationId"].split(".")[0]
        nouns.setdefault(noun, []).append(method(path, verb, operation, document, names))
    text = HEADER.format("Operations of the HTTP API: a class for each noun, a method for each operation.") + IMPORTS
    for noun, methods in sorted(nouns.items()):
        text += f"\n\nclass {noun.capitalize()}(Noun[Call]):\n" + textwrap.indent("\n\n".join(methods), "    ") + "\n"
    text += "\n\nclass Nouns(Generic[Call]):\n    def __init__(self, send: Callable[[Request[Any]], Any]) -> None:\n"
    text += "".join(f"        self.{noun}: {noun.capitalize()}[Call] = {noun.capitalize()}(send)\n" for noun in sorted(nouns))
    return text, names


def models(document: Document, names: Names) -> str:
    schemas = document.reached(names.asked) | {name: widened(schema) for name, schema in document.reached(names.answered).items()}
    found = {"openapi": "3.1.0", "info": document.info, "paths": {}, "components": {"schemas": dict(sorted(schemas.items()))}}
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder, "openapi.json"), pathlib.Path(folder, "models.py")
        given.write_text(json.dumps(found))
        command = [sys.executable, "-m", "datamodel_code_generator", "--input", str(given), "--output", str(made), *OPTIONS]
        subprocess.run(command, check=True)
        # Without its own header, a comment.
        return HEADER.format("Requests and answers of the HTTP API.") + "\n" + made.read_text().split("\n\n", 1)[1]


def formatted(text: str) -> str:
    for command in (["check", "--fix", "--select", "F401,I"], ["format"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--quiet", "--config", str(HERE / "pyproject.toml")]
        ruff += ["--stdin-filename", str(PACKAGE / "generated.py"), "-"]
        text = subprocess.run(ruff, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    is_check = parser.parse_args().check
    document = Document()
    text, names = operations(document)
    made = {PACKAGE / "operations.py": formatted(text), PACKAGE / "models.py": formatted(models(document, names))}
    stale = [path.name for path, text in made.items() if not path.exists() or path.read_text() != text]
    if is_check and stale:
        sys.exit(f"{' and '.join(stale)} of ebb_memory: not what the OpenAPI document gives. Run generate.py, and read the diff")
    for path, text in made.items():
        if not is_check:
            path.write_text(text)


if __name__ == "__main__":
    main()
