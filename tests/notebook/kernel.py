"""A kernel and the messages of a front end: run a cell, press, type, interrupt, listen."""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any, cast

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

Json = dict[str, Any]

PATIENCE_SEC = 30.0
SHOWING = {"display_data", "update_display_data", "execute_result"}
WIDGET = "application/vnd.jupyter.widget-view+json"


@dataclass
class Run:
    """What came out of one cell."""

    reply: Json = field(default_factory=dict[str, Any])
    outputs: list[Json] = field(default_factory=list[Json])

    @property
    def status(self) -> str:
        return str(self.reply.get("status", ""))

    @property
    def printed(self) -> str:
        """Standard output and standard error."""
        return "".join(str(o["text"]) for o in self.outputs if "text" in o)

    @property
    def shown(self) -> list[Json]:
        """The MIME bundles of this cell, each as it was last."""
        last: dict[str, Json] = {}
        for number, output in enumerate(self.outputs):
            if output["_type"] in SHOWING:
                transient = cast("Json", output.get("transient") or {})
                name = str(transient.get("display_id") or number)
                if name in last or output["_type"] != "update_display_data":
                    last[name] = output["data"]
        return list(last.values())


class Kernel:
    """One kernel process and one client of it."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client
        self.heard: list[Json] = []

    # ---- cells ------------------------------------------------------------------------------

    def start(self, code: str, *, allow_stdin: bool = False) -> str:
        """Send a cell; returns the id of the request without waiting."""
        return self.client.execute(code, allow_stdin=allow_stdin)

    def run(self, code: str, *, allow_stdin: bool = False) -> Run:
        """Send a cell and wait for its end."""
        return self.finish(self.start(code, allow_stdin=allow_stdin))

    def finish(self, request: str) -> Run:
        """Wait until a cell is done and collect what it put out."""
        run = Run(reply=self.reply_to(request))
        self.hear(lambda m: is_idle(m, request))
        for message in self.heard:
            if message["parent_header"].get("msg_id") == request:
                run.outputs.append(_output(message))
        return run

    def value(self, expression: str) -> str:
        """What an expression prints."""
        run = self.run(f"print({expression}, end='')")
        assert run.status == "ok", run.reply
        return run.printed

    def reply_to(self, request: str) -> Json:
        """The content of the answer to a request on the shell channel."""
        deadline = time.monotonic() + PATIENCE_SEC
        while True:
            message = self._next(self.client.get_shell_msg, deadline, f"a reply to {request}")
            if message["parent_header"].get("msg_id") == request:
                return {**message["content"], "_subshell": message["header"].get("subshell_id")}

    def interrupt(self) -> None:
        """What the ■ button does."""
        self.manager.interrupt_kernel()

    # ---- what the kernel says ---------------------------------------------------------------

    def hear(self, wanted: Callable[[Json], bool]) -> Json:
        """The first message on IOPub, of those heard and those to come, that is wanted."""
        for message in self.heard:
            if wanted(message):
                return message
        deadline = time.monotonic() + PATIENCE_SEC
        while True:
            message = self._next(self.client.get_iopub_msg, deadline, "a message on IOPub")
            self.heard.append(message)
            if wanted(message):
                return message

    def drain(self) -> list[Json]:
        """Everything heard so far, with what lies in the queue."""
        while True:
            try:
                self.heard.append(self.client.get_iopub_msg(timeout=0.05))
            except Empty:
                return self.heard

    def _next(self, get: Callable[..., Json], deadline: float, what: str) -> Json:
        try:
            return get(timeout=max(0.01, deadline - time.monotonic()))
        except Empty:
            raise TimeoutError(f"waited in vain for {what}") from None

    # ---- what a person types ----------------------------------------------------------------

    def asked(self) -> str:
        """Wait until the kernel asks for input; returns its words."""
        deadline = time.monotonic() + PATIENCE_SEC
        return str(
            self._next(self.client.get_stdin_msg, deadline, "a question")["content"]["prompt"]
        )

    def type(self, line: str) -> None:
        """Answer the question."""
        self.client.input(line)

    # ---- what a page sends ------------------------------------------------------------------

    def open_subshell(self) -> str:
        """What JupyterLab does for widget messages."""
        message = self.client.session.msg("create_subshell_request", {})
        self.client.control_channel.send(message)
        deadline = time.monotonic() + PATIENCE_SEC
        while True:
            reply = self._next(self.client.get_control_msg, deadline, "a subshell")
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return str(reply["content"]["subshell_id"])

    def send(self, comm: str, content: object, *, subshell: str | None = None) -> None:
        """A custom widget message, on the main shell or on a subshell."""
        self.send_raw(comm, {"method": "custom", "content": content}, subshell=subshell)

    def send_raw(self, comm: str, data: object, *, subshell: str | None = None) -> None:
        """Any widget message."""
        message = self.client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        cast("Json", message["header"])["subshell_id"] = subshell
        self.client.shell_channel.send(message)


class PagePart:
    """The page of a front end, as far as one live view is concerned: it reads and it presses."""

    def __init__(
        self, kernel: Kernel, *, subshell: str | None = None, name: str = "load1-place1"
    ) -> None:
        opened = kernel.hear(_opens_our_widget)
        self.kernel = kernel
        self.comm = str(opened["content"]["comm_id"])
        self.subshell = subshell
        self.name = name

    def ready(self) -> None:
        """Say that the view is drawn."""
        self.send({"do": "ready", "page": self.name})

    def send(self, content: object) -> None:
        self.kernel.send(self.comm, content, subshell=self.subshell)

    def answer(self, do: str, prompt: str, **more: object) -> None:
        """Press a button of the card of `prompt`."""
        self.send({"do": do, "prompt": prompt, "nonce": self.code(prompt), **more})

    def code(self, prompt: str) -> str:
        """Wait for the one-time code of a prompt."""
        message = self.kernel.hear(
            lambda m: any(o["op"] == "code" and o["prompt"] == prompt for o in self.ops_of(m))
        )
        return next(
            str(o["code"])
            for o in self.ops_of(message)
            if o["op"] == "code" and o["prompt"] == prompt
        )

    def ops_of(self, message: Json) -> list[Json]:
        """The drawing operations in a message of the kernel."""
        content = cast("Json", message["content"])
        if message["msg_type"] != "comm_msg" or content.get("comm_id") != self.comm:
            return []
        data = cast("Json", content["data"])
        sent = cast("Json", data["content"]) if data.get("method") == "custom" else {}
        return cast("list[Json]", sent["ops"]) if sent.get("page", self.name) == self.name else []


def is_idle(message: Json, request: str) -> bool:
    """Whether the kernel says that it is done with a request."""
    return (
        message["msg_type"] == "status"
        and message["content"]["execution_state"] == "idle"
        and message["parent_header"].get("msg_id") == request
    )


def _opens_our_widget(message: Json) -> bool:
    if message["msg_type"] != "comm_open":
        return False
    data = cast("Json", message["content"]["data"])
    return cast("Json", data.get("state") or {}).get("_model_name") == "AnyModel"


def _output(message: Json) -> Json:
    return {**message["content"], "_type": message["msg_type"]}


@contextmanager
def kernel_in(folder: Path, environment: Mapping[str, str]) -> Generator[Kernel]:
    """Start a kernel whose working directory is `folder`, and end it on the way out."""
    manager = KernelManager()
    manager.start_kernel(cwd=str(folder), env=dict(environment))
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
