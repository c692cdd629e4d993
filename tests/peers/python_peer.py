"""Drives one MCP server with the Python SDK's client, over stdio or, if it is given a URL, over HTTP.

A URL that ends in /sse is that of HTTP+SSE.

    python_peer.py [--era auto|legacy] [--timeout SECONDS] -- (SERVER [ARGUMENT ...] | URL)

The plan is one JSON document on stdin, the report one JSON document on stdout.

Plan:
    {"steps": [STEP, ...],
     "environment": {"NAME": "value"},                        for the server, over stdio
     "elicitation": {"knows": {...}, "refuses": {...}},       the person who is asked, see below
     "sampling": "text",                                      answer to every sampling request
     "roots": ["file:///a", ...],
     "log_level": "info",                                     modern opt-in to log messages
     "login": {...},                                          who logs in to the server, see python_login.py
     "tasks": true}                                           it looks after tasks, see python_tasks.py
What is absent of elicitation, sampling, roots and tasks, the client does not declare.

A person fills in forms with what it knows, by the names of the fields, and agrees to visit any page, but for messages
that it refuses: {"message": "decline" or "cancel"}.

Steps, by "do":
    tools | resources | templates | prompts                   every page of the list
    call      name, arguments
    cancel    name, arguments, after                          after: "progress" (default) or seconds
    read      uri
    prompt    name, arguments
    complete  prompt or template, argument, value, context
    watch     uri, trigger                                    trigger: the step that causes the update
    hear      list, trigger                                   "tools", "prompts" or "resources" is changed by the trigger
    log       level, name, count                              calls a tool and waits for so many log messages
    log_level level                                           legacy logging/setLevel
    save      path, text                                      writes a file, such as a source of the server
    ping                                                      legacy
    expire                                                    the time of the client's token is over

Report:
    {"protocol": "2026-07-28", "server": {...}, "capabilities": {...}, "instructions": "...",
     "steps": [OUTCOME, ...], "asked": [...], "logs": [...],
     "tasks": [["working", ...], ...],                        every status of each task that it saw
     "logins": [...], "tokens": [...],                        with a login
     "complaints": [...],                                     what the SDK disliked on the wire
     "killed": false}                                         whether the SDK killed a server that did not end with its stdin

Who could not log in has no connection: then "rejected" says why, and there are no steps.

An outcome has exactly one of
    "result"     what the server answered
    "error"      {"code", "message", "data"?}: the JSON-RPC error it answered
    "rejected"   why the SDK refused the answer
and, for call and cancel, "progress": [{"progress", "total", "message"}, ...].

The exit status is 0 whenever there is a report; the server's stderr passes through.
"""

import argparse
import functools
import json
import logging
import sys
import warnings

import anyio
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client import stdio
from mcp.client.auth import OAuthFlowError
from mcp.client.sse import sse_client
from pydantic import BaseModel, ValidationError

from python_login import Login
from python_tasks import Tasks

LISTS = {
    "tools": ("list_tools", "tools"),
    "resources": ("list_resources", "resources"),
    "templates": ("list_resource_templates", "resource_templates"),
    "prompts": ("list_prompts", "prompts"),
}
CHANGES = {
    "tools": types.ToolListChangedNotification,
    "prompts": types.PromptListChangedNotification,
    "resources": types.ResourceListChangedNotification,
}


def plain(value):
    """Returns a model of the SDK as the JSON that was sent, without defaults."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, mode="json", exclude_unset=True)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


class Complaints(logging.Handler):
    """Collects the warnings of the SDK, which logs messages that it cannot parse, and continues."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(self.format(record))


class Peer:
    """A connected client, and the messages that it has received."""

    def __init__(self, plan):
        self.plan = plan
        self.client = None
        self.asked = []
        self.logs = []
        self.heard = []
        self.complaints = Complaints()
        self.tasks = Tasks(self.on_task_input)
        self.login = None

    def connect(self, server, era):
        answers = {
            "elicitation": ("elicitation_callback", self.on_elicitation),
            "sampling": ("sampling_callback", self.on_sampling),
            "roots": ("list_roots_callback", self.on_roots),
        }
        callbacks = dict(callback for key, callback in answers.items() if key in self.plan)
        environment = self.plan.get("environment")
        process = StdioServerParameters(command=server[0], args=server[1:], env=environment)
        place = server[0] if server[0].startswith("http://") else process
        if server[0].endswith("/sse"):
            place = sse_client(place)
        elif "login" in self.plan:
            self.login = Login(place, self.plan["login"])
            place = self.login.transport(place)
        self.client = Client(
            place,
            mode=era,
            client_info=types.Implementation(name="python-peer", version="1"),
            # A cached list would hide the second answer of the server.
            cache=None,
            log_level=self.plan.get("log_level"),
            logging_callback=self.on_log,
            message_handler=self.on_message,
            extensions=[self.tasks] if self.plan.get("tasks") else None,
            **callbacks,
        )
        return self.client

    async def on_elicitation(self, context, params):
        self.asked.append({"elicitation": plain(params)})
        person = self.plan["elicitation"]
        if refusal := person.get("refuses", {}).get(params.message):
            return types.ElicitResult(action=refusal)
        if isinstance(params, types.ElicitRequestURLParams):
            return types.ElicitResult(action="accept")
        known, fields = person["knows"], params.requested_schema["properties"]
        content = {name: known[name] for name in fields if name in known}
        return types.ElicitResult(action="accept", content=content)

    async def on_task_input(self, method, params):
        assert method == "elicitation/create", method
        params = types.ElicitRequestFormParams.model_validate(params, by_name=False)
        return plain(await self.on_elicitation(None, params))

    async def on_sampling(self, context, params):
        self.asked.append({"sampling": plain(params)})
        text = types.TextContent(type="text", text=self.plan["sampling"])
        return types.CreateMessageResult(role="assistant", content=text, model="python-peer")

    async def on_roots(self, context):
        self.asked.append({"roots": {}})
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in self.plan["roots"]])

    async def on_log(self, params):
        self.logs.append(plain(params))

    async def on_message(self, message):
        if isinstance(message, Exception):
            self.complaints.texts.append(repr(message))
        else:
            self.heard.append(message)

    async def take(self, step):
        """Carries out one step. Errors become part of the outcome."""
        progress = []

        async def on_progress(value, total, message):
            progress.append({"progress": value, "total": total, "message": message})

        try:
            outcome = {"result": plain(await self.ask(step, on_progress))}
        except MCPError as error:
            outcome = {"error": plain(error.error)}
        except (ValidationError, RuntimeError, ValueError) as error:
            outcome = {"rejected": f"{type(error).__name__}: {error}"}
        if step["do"] in ("call", "cancel"):
            outcome["progress"] = progress
        return outcome

    async def ask(self, step, on_progress):
        client, do = self.client, step["do"]
        if do in LISTS:
            return await self.every_page(*LISTS[do])
        if do == "call":
            return await client.call_tool(step["name"], step.get("arguments"), progress_callback=on_progress)
        if do == "cancel":
            return await self.cancel(step, on_progress)
        if do == "read":
            return await client.read_resource(step["uri"])
        if do == "prompt":
            return await client.get_prompt(step["name"], step.get("arguments"))
        if do == "complete":
            return await self.complete(step)
        if do == "watch":
            return await self.watch(step)
        if do == "hear":
            return await self.hear(step)
        if do == "log":
            return await self.log(step)
        if do == "log_level":
            return await client.set_logging_level(step["level"])
        if do == "save":
            return await anyio.Path(step["path"]).write_text(step["text"])
        if do == "ping":
            return await client.send_ping()
        if do == "expire":
            return self.login.expire()
        raise ValueError(f"no such step: {do}")

    async def every_page(self, method, items):
        found, cursor = [], None
        while True:
            page = await getattr(self.client, method)(cursor=cursor)
            found.extend(getattr(page, items))
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def complete(self, step):
        if "prompt" in step:
            ref = types.PromptReference(type="ref/prompt", name=step["prompt"])
        else:
            ref = types.ResourceTemplateReference(type="ref/resource", uri=step["template"])
        argument = {"name": step["argument"], "value": step.get("value", "")}
        return (await self.client.complete(ref, argument, step.get("context"))).completion

    async def cancel(self, step, on_progress):
        """Starts a call and abandons it; the SDK then sends `notifications/cancelled`."""
        running, scope = anyio.Event(), anyio.CancelScope()
        answered = []

        async def on_first_progress(*update):
            await on_progress(*update)
            running.set()

        async def call():
            with scope:
                result = await self.client.call_tool(
                    step["name"], step.get("arguments"), progress_callback=on_first_progress
                )
                answered.append(result)
            running.set()

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            after = step.get("after", "progress")
            await (running.wait() if after == "progress" else anyio.sleep(after))
            scope.cancel()
        return {"cancelled": scope.cancelled_caught, "answer": plain(answered[0]) if answered else None}

    async def watch(self, step):
        """Subscribes to a resource, runs the trigger and waits for the update."""
        uri, trigger = step["uri"], step["trigger"]
        if self.is_modern():
            async with self.client.listen(resource_subscriptions=[uri]) as stream:
                outcome = await self.take(trigger)
                event = await anext(stream)
            return {"trigger": outcome, "updated": event.uri}
        await self.client.subscribe_resource(uri)
        outcome = await self.take(trigger)
        message = await self.next_heard(types.ResourceUpdatedNotification)
        await self.client.unsubscribe_resource(uri)
        return {"trigger": outcome, "updated": str(message.params.uri)}

    async def hear(self, step):
        """Runs the trigger, and waits for the notification that a list has changed."""
        name, trigger = step["list"], step["trigger"]
        if self.is_modern():
            async with self.client.listen(**{f"{name}_list_changed": True}) as stream:
                outcome = await self.take(trigger)
                await anext(stream)
        else:
            outcome = await self.take(trigger)
            await self.next_heard(CHANGES[name])
        return {"trigger": outcome, "changed": name}

    async def log(self, step):
        """Requests log messages in the way of the era, and calls a tool."""
        meta = None
        if self.is_modern():
            meta = {types.LOG_LEVEL_META_KEY: step["level"]}
        else:
            await self.client.set_logging_level(step["level"])
        known = len(self.logs)
        await self.client.call_tool(step["name"], meta=meta)
        while len(self.logs) < known + step["count"]:
            await anyio.sleep(0.01)
        return self.logs[known:]

    def is_modern(self):
        return self.client.protocol_version >= "2026-07-28"

    async def next_heard(self, kind):
        """Removes and returns the first received notification of this kind."""
        while not (found := [it for it in self.heard if isinstance(it, kind)]):
            await anyio.sleep(0.01)
        self.heard.remove(found[0])
        return found[0]


# The SDK kills a server that has not ended two seconds after the end of its stdin. On a busy machine this timeout is too short.
stdio.PROCESS_TERMINATION_TIMEOUT = 60.0
KILLED = []
terminate_process_tree = stdio._terminate_process_tree


async def kill(process):
    KILLED.append(process.pid)
    await terminate_process_tree(process)


stdio._terminate_process_tree = kill


async def run(server, era, timeout, plan):
    peer = Peer(plan)
    logging.getLogger("mcp").addHandler(peer.complaints)
    logging.getLogger("client").addHandler(peer.complaints)
    with anyio.fail_after(timeout):
        try:
            report = await talk(peer, server, era)
        except* OAuthFlowError as errors:
            # The SDK has also logged these errors.
            peer.complaints.texts.clear()
            report = {"rejected": [str(it) for it in flat(errors)], "steps": [], "killed": False}
    if peer.login:
        report |= peer.login.report()
    return report | {
        "asked": peer.asked,
        "logs": peer.logs,
        "tasks": peer.tasks.seen,
        "complaints": peer.complaints.texts,
    }


async def talk(peer, server, era):
    steps = []
    async with peer.connect(server, era) as client:
        report = {
            "protocol": client.protocol_version,
            "server": plain(client.server_info),
            "capabilities": plain(client.server_capabilities),
            "instructions": client.instructions,
        }
        for step in peer.plan["steps"]:
            steps.append(await peer.take(step))
    return report | {"steps": steps, "killed": bool(KILLED)}


def flat(errors):
    for error in errors.exceptions:
        yield from flat(error) if isinstance(error, BaseExceptionGroup) else [error]


def main():
    parser = argparse.ArgumentParser(description="Drive an MCP server by the plan on stdin.")
    parser.add_argument("--era", choices=["auto", "legacy"], default="auto")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="SECONDS")
    parser.add_argument("server", nargs="+", help="the server's command line, after --, or its URL")
    options = parser.parse_args()
    # The SDK deprecates the legacy calls that this script makes on purpose.
    warnings.simplefilter("ignore")
    plan = json.load(sys.stdin)
    report = anyio.run(functools.partial(run, options.server, options.era, options.timeout, plan))
    json.dump(report, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
