"""Drives an MCP client of Python. Steps arrive on stdin and answers leave on stdout, a JSON document on each line.

    driver.py ADAPTER [OPTION ...]

`adapters/ADAPTER.py` has one asynchronous context manager, `connect(place)`, which yields an object with
    async tools()                  {"FORM": {"TOOL": schema}}: the input schemas that the client gives to a model, in each form that it has
    async call(name, arguments, structured)
                                   {"text": ...} as a model gets it, {"structured": ...} if the step asks for that, or {"error": ...};
                                   an exception counts as an error

Steps, by "do":
    open     "at": {"transport": "stdio" | "http" | "sse", "command" and "environment", or "url"}, "login": bool
    tools
    call     "name", "arguments", "structured": bool
    rest     lets the client notice what has happened to its connections meanwhile
    close

The answer to a step is an object, which has "failed" where the client failed. An answer to `call` also has the numbers of the
"progress" and the "asked" messages. Between a step and its answer {"browse": URL} can ask for a user to log in there; the client waits
for the user on a port of its own.
"""

import asyncio
import contextlib
import importlib.util
import json
import os
import pathlib
import socket
import sys
import traceback
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

ANSWERS = {"username": "ada", "email": "ada@example.com"}


class Wire:
    """Pipes to the test. The output of a client goes to stderr."""

    def __init__(self):
        self.output = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)
        sys.stdout = sys.stderr

    async def next(self):
        line = await asyncio.to_thread(sys.stdin.readline)
        return json.loads(line) if line else None

    def tell(self, message):
        self.output.write(json.dumps(message, default=plain) + "\n")


def plain(value):
    """A model of pydantic as JSON; other values as text."""
    return value.model_dump(mode="json", by_alias=True) if hasattr(value, "model_dump") else str(value)


@dataclass
class Place:
    """A server, and the user in front of the client."""

    wire: Wire
    at: dict
    login: bool
    options: list
    progress: list = field(default_factory=list)
    asked: list = field(default_factory=list)

    @property
    def transport(self):
        return self.at["transport"]

    @property
    def url(self):
        return self.at["url"]

    @property
    def command(self):
        return self.at["command"]

    @property
    def environment(self):
        return self.at["environment"]

    async def on_progress(self, progress, total=None, message=None, *_):
        self.progress.append(progress)

    async def on_elicitation(self, context, params, *_):
        """The callback of the Python SDK."""
        from mcp import types

        self.asked.append(params.message)
        return types.ElicitResult(action="accept", content=ANSWERS)

    def oauth(self, kind=None):
        """The OAuth client of the Python SDK, with a user who logs in."""
        from mcp.client.auth import OAuthClientProvider
        from mcp.shared.auth import OAuthClientMetadata

        browser = Browser(self.wire)
        metadata = OAuthClientMetadata(client_name="client", redirect_uris=[browser.redirect])
        kind = kind or OAuthClientProvider
        return kind(self.url, metadata, Storage(), browser.open, browser.come_back)


class Storage:
    """Keeps the tokens and the registration of the OAuth client of the SDK."""

    def __init__(self):
        self.tokens, self.client_info = None, None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info):
        self.client_info = client_info


class Browser:
    """Has the test log a user in, and waits for the redirect."""

    def __init__(self, wire):
        self.wire = wire
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.redirect = f"http://127.0.0.1:{self.listener.getsockname()[1]}/callback"
        self.query = None

    def __deepcopy__(self, memo):
        # mcpadapt copies its parameters, but a listening port cannot be copied.
        return self

    async def open(self, url):
        loop = asyncio.get_running_loop()
        self.query = loop.create_future()

        async def on_request(reader, writer):
            path = (await reader.readline()).split()[1].decode()
            while (await reader.readline()).strip():
                pass
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            writer.close()
            if not self.query.done():
                self.query.set_result(parse_qs(urlsplit(path).query))

        await asyncio.start_server(on_request, sock=self.listener)
        self.wire.tell({"browse": url})

    async def come_back(self):
        query = {name: values[0] for name, values in (await self.query).items()}
        try:
            from mcp.client.auth import AuthorizationCodeResult
        except ImportError:
            return query["code"], query.get("state")
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


async def take(connection, place, step):
    if step["do"] == "tools":
        return {"tools": await connection.tools()}
    if step["do"] == "rest":
        await asyncio.sleep(0.5)
        return {"rested": True}
    place.progress.clear()
    place.asked.clear()
    try:
        outcome = await connection.call(step["name"], step["arguments"], step.get("structured", False))
    except Exception as error:
        outcome = {"error": told(error)}
    # Some clients run callbacks in a separate task, which needs a moment to finish.
    await asyncio.sleep(0.05)
    return outcome | {"progress": list(place.progress), "asked": list(place.asked)}


def told(error):
    """Text of an exception, of its causes and of its group."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(told(it) for it in error.exceptions)
    cause = f" ({told(error.__cause__)})" if error.__cause__ else ""
    return f"{type(error).__name__}: {error}{cause}"


def load(name):
    path = pathlib.Path(__file__).parent / "adapters" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"adapter_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def main(name, options):
    wire = Wire()
    connect = load(name).connect
    wire.tell({"ready": True})
    while (step := await wire.next()) is not None:
        if step["do"] != "open":
            wire.tell({"failed": "there is no connection"})
            continue
        place = Place(wire, step["at"], step.get("login", False), options)
        answered = False
        try:
            async with contextlib.AsyncExitStack() as stack:
                connection = await stack.enter_async_context(connect(place))
                wire.tell({"opened": True})
                answered = True
                while (step := await wire.next()) is not None and step["do"] != "close":
                    answered = False
                    wire.tell(await take(connection, place, step))
                    answered = True
                answered = False
            wire.tell({"closed": True})
        except (Exception, asyncio.CancelledError) as error:
            traceback.print_exc()
            if not answered:
                wire.tell({"failed": told(error)})


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
    # Threads of a client must not keep the process alive.
    os._exit(0)
