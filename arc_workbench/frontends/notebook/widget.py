"""The widget of a run. Importing this module imports ipywidgets, so only `live` does, and late."""

# pyright: basic

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget

from arc_workbench.content import JsonObject
from arc_workbench.frontends.notebook.style import blocks

HERE = Path(__file__).parent


class RunWidget(anywidget.AnyWidget):
    """Draws with `live.js`; takes custom messages, and nothing that a page may want to set."""

    _esm = HERE / "live.js"
    _css = "\n".join(block.rules for block in blocks())

    def __init__(self, hear: Callable[[object], None], drop: Callable[[], None]) -> None:
        self._hear = hear
        self._drop = drop
        super().__init__()
        _answer_where_it_was_sent(self.comm)

    def _handle_msg(self, msg: dict[str, Any]) -> None:
        """All that a page sends arrives here; state is ours alone to set (REQ-S31)."""
        data = msg.get("content", {}).get("data")
        method = data.get("method") if isinstance(data, dict) else None
        if method == "custom":
            self._hear(data.get("content"))
        elif method == "request_state":
            self.send_state()
        else:
            self._drop()

    def tell(self, message: JsonObject) -> None:
        """Send a custom message to every page that shows the widget."""
        self.send(message)

    def close(self) -> None:
        """Close the comms of the widget and of its layout."""
        layout = self.layout
        super().close()
        layout.close()


def _answer_where_it_was_sent(comm: object) -> None:
    """Let a press reach the subshell that the page chose.

    ipykernel 7.4 sends it to the shell that last wrote to the comm, which may be blocked or, once
    a page was reloaded, gone. The hook is private, so it is only used where it is found.
    """
    if hasattr(comm, "_reply_subshell_for"):
        vars(comm)["_reply_subshell_for"] = lambda data, chosen: chosen
