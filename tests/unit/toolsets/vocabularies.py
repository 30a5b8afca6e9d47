"""The same three acts in the words of both vocabularies."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from arc_workbench.content import ToolResult
from arc_workbench.errors import ToolError
from arc_workbench.tools.tool import Tool
from arc_workbench.toolsets import arc, arcturn
from tests.unit.toolsets.filetools import FileTools

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*arc.TOOLS, *arcturn.TOOLS)}


@dataclass(frozen=True)
class Vocabulary:
    """Reading, writing and editing of one vocabulary; what is there may be changed."""

    name: str

    def read(self, files: FileTools, path: str) -> ToolResult:
        """A file's text, or the error."""
        return files.call(self._tool("read"), path=path)

    def write(self, files: FileTools, path: str, content: str) -> ToolResult:
        """A whole file."""
        return files.call(
            self._tool("write"), path=path, content=content, **self._seen(files, path)
        )

    def edit(
        self, files: FileTools, path: str, old: str, new: str, *, every: bool = False
    ) -> ToolResult:
        """One text in a file, or every occurrence of it."""
        keys = ("old_string", "new_string", "replace_all")
        if self.name == "arcturn":
            keys = ("oldText", "newText", "replaceAll")
        arguments = dict(zip(keys, (old, new, every), strict=True))
        return files.call(self._tool("edit"), path=path, **arguments, **self._seen(files, path))

    def _tool(self, act: str) -> Tool:
        return TOOLS[act if self.name == "arcturn" else f"workspace_{act}"]

    def _seen(self, files: FileTools, path: str) -> dict[str, str]:
        """The hash that Arc wants for a file that is there."""
        if self.name == "arcturn":
            return {}
        try:
            real = files.workspace.inside(path).real
        except ToolError:
            return {}
        return {"expected_sha256": sha256(real)} if real.is_file() else {}


VOCABULARIES = (Vocabulary("arc"), Vocabulary("arcturn"))


def sha256(path: Path) -> str:
    """The hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def listing(folder: Path) -> dict[bytes, tuple[int, int]]:
    """All names below a folder, links not followed, with the mode and size of each."""
    found: dict[bytes, tuple[int, int]] = {}
    for where, folders, names in os.walk(os.fsencode(folder)):
        for name in (*folders, *names):
            path = where + b"/" + name
            status = os.lstat(path)
            found[path] = (status.st_mode, status.st_size if name in names else 0)
    return found
