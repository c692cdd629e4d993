"""The Tasks extension for the Python SDK's client, which has hooks for extensions, but not this extension.

If the server answers a call with a task, the extension polls the task until it ends, and returns its result. Requests of the task for
input go to `answer(method, params)`. Tasks of 2025-11-25 are not supported, because the SDK rejects their results.
"""

from typing import Any, Literal

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.client.extension import ClientExtension, ResultClaim
from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel


class Created(types.Result):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    result_type: Literal["task"]
    task_id: str
    status: Literal["working"]
    status_message: str | None = None
    created_at: str
    last_updated_at: str
    ttl_ms: int | None
    poll_interval_ms: int


class Named(types.RequestParams):
    task_id: str


class Get(types.Request[Named, Literal["tasks/get"]]):
    name_param = "taskId"
    method: Literal["tasks/get"] = "tasks/get"


class Answers(Named):
    input_responses: dict[str, Any]


class Update(types.Request[Answers, Literal["tasks/update"]]):
    name_param = "taskId"
    method: Literal["tasks/update"] = "tasks/update"


class Tasks(ClientExtension):
    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self, answer):
        self.answer = answer
        self.seen = []

    def claims(self):
        return [ResultClaim(result_type="task", model=Created, resolve=self.follow)]

    async def follow(self, created, context):
        anything = TypeAdapter(dict[str, Any])
        session, task_id = context.session, created.task_id
        statuses, answered = [created.status], set()
        self.seen.append(statuses)
        while True:
            task = await session.send_request(Get(params=Named(task_id=task_id)), anything)
            if task["status"] != statuses[-1]:
                statuses.append(task["status"])
            match task["status"]:
                case "completed":
                    return types.CallToolResult.model_validate(task["result"], by_name=False)
                case "failed":
                    raise MCPError(**task["error"])
                case "cancelled":
                    raise ValueError("the task was cancelled")
                case "input_required":
                    open_ = {key: it for key, it in task["inputRequests"].items() if key not in answered}
                    answered.update(open_)
                    answers = {key: await self.answer(**it) for key, it in open_.items()}
                    params = Answers(task_id=task_id, input_responses=answers)
                    await session.send_request(Update(params=params), anything)
            await anyio.sleep(task["pollIntervalMs"] / 1000)
