"""What a noun shows: text, rows for programs, and HTML where there is a drawing."""

# pyright: basic

from importlib import import_module
from typing import Any

from arc_workbench.content import Value

NO_PANDAS = "pandas is not installed, so there is no frame. Use .rows, or: pip install pandas"


class NoPandas(ImportError):
    """Shown as one line."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Look:
    """The result of a `%agent` line: it can be assigned, and shows itself."""

    def __init__(self, text: str, rows: list[dict[str, Any]], html: str = "") -> None:
        self.text = text
        self.rows = rows
        self._html = html

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str | None:
        return self._html or None

    def to_frame(self) -> Any:
        """The rows as a pandas frame; raises `NoPandas` where pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ModuleNotFoundError:
            raise NoPandas(NO_PANDAS) from None
        return pandas.DataFrame(self.rows)


def rows_of(values: tuple[Value, ...]) -> list[dict[str, Any]]:
    """Values as rows of a frame."""
    return [value.model_dump() for value in values]
