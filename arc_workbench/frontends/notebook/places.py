"""A place in the notebook that can be drawn again, from whichever thread."""

# pyright: basic

import sys
from typing import Any
from uuid import uuid4


class Place:
    """One output of the cell in which it was drawn first; later drawings take its place.

    Nothing but this, and widgets, may be written to once the cell has ended: what is printed or
    displayed then lands in the newest cell.
    """

    def __init__(self, shell: Any) -> None:
        self._publisher = shell.display_pub
        self._where = {"display_id": uuid4().hex}
        self._drawn = False

    def show(self, data: dict[str, object]) -> None:
        """Draw a bundle here."""
        self._publisher.publish(data=data, transient=self._where, update=self._drawn)
        self._drawn = True


def print_between(shell: Any, line: str) -> None:
    """Print a line in a terminal, from whichever thread, above the prompt if one is there."""
    app: Any = getattr(getattr(shell, "pt_app", None), "app", None)
    loop = getattr(app, "loop", None)
    if loop is None or not app.is_running:
        _print(line)
        return
    # It came with IPython's terminal, so it is there.
    from prompt_toolkit.application import run_in_terminal
    from prompt_toolkit.application.current import set_app

    def above() -> None:
        with set_app(app):
            run_in_terminal(lambda: _print(line))

    loop.call_soon_threadsafe(above)


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
