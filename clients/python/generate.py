"""Makes the generated modules of the package: ``python generate.py openapi.json``.

Types are those of datamodel-code-generator; here are the calls of all operations, and the synchronous form of what is written
asynchronously.
"""

from __future__ import annotations

import json
import keyword
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent / "src" / "svc_memory"
OUT = PACKAGE / "_generated"
HEAD = '"""Generated from the OpenAPI document. Do not edit."""\n\nfrom __future__ import annotations\n\n'
NOT_REQUIRED = """
if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired
"""
METHODS = ("get", "post", "put", "patch", "delete")

#: Members of a request as keywords of a call of `memory.py`, without those that it names itself.
OPTIONS = {
    "StoreOptions": ("StoreRequest", {"content", "user_id", "event_time"}),
    "IngestOptions": ("IngestRequest", {"content", "user_id", "session_id", "messages"}),
    "SearchOptions": ("RetrieveRequest", {"query", "user_id", "limit", "token_budget"}),
    "ForgetOptions": (
        "ForgetRequest",
        {"ids", "session_id", "containing", "user_id", "mode", "confirm", "preview"},
    ),
}

ASYNC_TO_SYNC = (
    (r"^import anyio\n", "import threading\n"),
    (r"^import anyio.*\n", ""),
    (r"anyio\.Semaphore", "threading.Semaphore"),
    (r"await anyio\.to_thread\.run_sync\(([\w.]+)\)", r"\1()"),
    (r"await anyio\.sleep", "time.sleep"),
    (r"_wire\.event_loop\(\)", "None"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bAsyncBaseTransport\b", "BaseTransport"),
    (r"\bAsync(Client|Api|Memory|Operations)\b", r"\1"),
    (r"\basync_operations\b", "operations"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\ba(close|read|iter_bytes)\b", r"\1"),
    (r"\b_async\b", "_sync"),
    (r"``_mem0_sync.py`` is made of this file by ``generate.py``\.", "Made of ``_mem0_async.py``. Do not edit."),
    (r"The asynchronous client\. .*generate.py``\.", "The synchronous client, made of ``_async.py``. Do not edit."),
)


def main(document_path: str) -> None:
    document = json.loads(Path(document_path).read_text("utf-8"))
    OUT.mkdir(exist_ok=True)
    (OUT / "__init__.py").write_text(HEAD.rstrip() + "\n", "utf-8")
    calls = "\n".join(map(async_call, operations(document)))
    text = HEAD + OPERATIONS_HEAD + calls
    (OUT / "async_operations.py").write_text(text, "utf-8")
    (OUT / "operations.py").write_text(to_sync(text), "utf-8")
    for name in ("_async.py", "_mem0_async.py"):
        source = (PACKAGE / name).read_text("utf-8")
        (PACKAGE / name.replace("async", "sync")).write_text(to_sync(source), "utf-8")
    make_models(document_path, document)


def to_sync(text: str) -> str:
    for pattern, replacement in ASYNC_TO_SYNC:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


def make_models(document_path: str, document: dict[str, Any]) -> None:
    path = PACKAGE / "models.py"
    options = "--input-file-type openapi --output-model-type typing.TypedDict --target-python-version 3.10"
    styles = "--openapi-scopes schemas --enum-field-as-literal all --use-schema-description --formatters builtin"
    quiet = "--disable-timestamp --disable-warnings --no-use-closed-typed-dict"
    program = Path(sys.executable).with_name("datamodel-codegen")
    command = [str(program), "--input", document_path, "--output", str(path)]
    subprocess.run([*command, *options.split(), *styles.split(), *quiet.split()], check=True)
    text = path.read_text("utf-8").replace("from typing_extensions import NotRequired\n", NOT_REQUIRED)
    text = re.sub(r"\A(?:#.*\n)+\nfrom __future__ import annotations\n\n", HEAD + "import sys\n", text)
    queries = (query_type(operation) for operation in operations(document))
    path.write_text(text + "".join(option_types(text)) + "".join(queries), "utf-8")


def option_types(models: str) -> Iterator[str]:
    for name, (source, named) in OPTIONS.items():
        found = re.search(rf"^class {source}\(TypedDict.*?\n((?:    .*\n|\n(?=    ))+)", models, re.MULTILINE)
        if found is None:
            raise SystemExit(f"generate.py: the document has no {source}")
        members = re.findall(r"^    (\w+): (?:NotRequired\[(.*)\]|(.*))$", found[1], re.MULTILINE)
        lines = [f"    {member}: {a or b}\n" for member, a, b in members if member not in named]
        yield f"\n\nclass {name}(TypedDict, total=False):\n" + "".join(lines)


def operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield {**item[method], "path": path, "method": method.upper()}


def parameters(operation: dict[str, Any], place: str) -> list[dict[str, Any]]:
    return [p for p in operation.get("parameters", []) if p["in"] == place]


def python_name(name: str) -> str:
    plain = name.lower().replace("-", "_")
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def wire_name(parameter: dict[str, Any]) -> str:
    name = str(parameter["name"])
    return name.lower() if parameter["in"] == "header" else name


def query_type(operation: dict[str, Any]) -> str:
    named = [p for p in parameters(operation, "query") if p["name"] != "user_id" and not keyword.iskeyword(p["name"])]
    lines = [f"    {p['name']}: {type_of(p['schema'])}\n" for p in named]
    name = "".join(word.capitalize() for word in operation["operationId"].split("_"))
    return f"\n\nclass {name}Query(TypedDict, total=False):\n{''.join(lines)}" if lines else ""


def type_of(schema: dict[str, Any]) -> str:
    """The type of a parameter of a path or query."""
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}]"
    kind = schema.get("type")
    if kind == "array":
        return f"list[{type_of(schema['items'])}]"
    if isinstance(kind, list):
        return " | ".join(type_of({**schema, "type": one}) for one in kind)
    simple = {"integer": "int", "number": "float", "boolean": "bool", "null": "None"}
    return simple.get(str(kind), "str")


def schema_type(schema: dict[str, Any]) -> str:
    """The type of a body or answer."""
    if "$ref" in schema:
        return f"models.{schema['$ref'].rsplit('/', 1)[1]}"
    if schema.get("type") == "array":
        return f"list[{schema_type(schema['items'])}]"
    return "bytes" if schema.get("format") == "binary" else "Any"


def async_call(operation: dict[str, Any]) -> str:
    """The method of an operation."""
    in_path = parameters(operation, "path")
    query, headers = parameters(operation, "query"), parameters(operation, "header")
    arguments = ["self", *(f"{p['name']}: str" for p in in_path)]
    body = operation.get("requestBody")
    if body is not None:
        kind = schema_type(next(iter(body["content"].values()))["schema"])
        arguments.append(f"body: {kind}" + ("" if body.get("required") else " | None = None"))
    keywords = [
        f"{python_name(p['name'])}: {type_of(p['schema'])}" + ("" if p.get("required") else " | None = None")
        for p in [*query, *headers]
    ]
    if keywords:
        arguments += ["*", *keywords]
    content = operation["responses"]["200"].get("content", {})
    schema = next(iter(content.values()))["schema"] if content else {}
    is_json = "application/json" in content
    answer = schema_type(schema) if is_json else "bytes"
    path = json.dumps(operation["path"])
    if in_path:
        names = ", ".join(f"{json.dumps(p['name'])}: {p['name']}" for p in in_path)
        path = f"path_of({path}, {{{names}}})"
    call = [f'"{operation["method"]}"', path]
    for name, values in (("query", query), ("headers", headers)):
        if values:
            pairs = ", ".join(f"{json.dumps(wire_name(p))}: {python_name(p['name'])}" for p in values)
            call.append(f"{name}={{{pairs}}}")
    if body is not None:
        call.append("body=body")
    if not is_json:
        call.append("raw=True")
    summary = " ".join(operation["summary"].split()).rstrip(".")
    return (
        f"    async def {operation['operationId']}({', '.join(arguments)}) -> {answer}:\n"
        f'        """{summary}: `{operation["method"]} {operation["path"]}`."""\n'
        f"        answer: {answer} = await self._call({', '.join(call)})\n"
        f"        return answer\n"
    )


OPERATIONS_HEAD = '''from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from .._wire import path_of

if TYPE_CHECKING:
    from .. import models


class AsyncOperations:
    """A method for each operation of the HTTP interface."""

    async def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: object = None,
        raw: bool = False,
    ) -> Any:
        raise NotImplementedError

'''

if __name__ == "__main__":
    main(sys.argv[1])
