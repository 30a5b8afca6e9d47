"""A Jupyter server of the tests: its own folders, its own port, nothing fetched from anywhere."""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, cast

ROOT = Path(__file__).parents[2]
Kind = Literal["lab", "notebook"]

MODULES: dict[Kind, str] = {"lab": "jupyterlab", "notebook": "notebook"}
QUIET = {
    "disabledExtensions": {
        "@jupyterlab/apputils-extension:announcements": True,
        "@jupyterlab/extensionmanager-extension": True,
    }
}


@dataclass(frozen=True)
class Server:
    """Where a server listens and which folder it shows."""

    kind: Kind
    url: str
    token: str
    root: Path

    def address_of(self, notebook: Path) -> str:
        """The page that shows a notebook."""
        name = notebook.relative_to(self.root).as_posix()
        path = {"lab": "lab/tree", "notebook": "notebooks"}[self.kind]
        query = "?reset&token=" if self.kind == "lab" else "?token="
        return f"{self.url}{path}/{name}{query}{self.token}"

    def shut_down_kernels(self) -> None:
        """End all sessions of the server, with their kernels."""
        for session in cast("list[dict[str, str]]", json.loads(self._ask("GET", "api/sessions"))):
            self._ask("DELETE", f"api/sessions/{session['id']}")

    def _ask(self, method: str, path: str) -> bytes:
        headers = {"Authorization": f"token {self.token}"}
        request = urllib.request.Request(self.url + path, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.read()


@contextmanager
def serving(kind: Kind, folder: Path) -> Generator[Server]:
    """Start a server in `folder` and end it, with its kernels, on the way out."""
    root = folder / "root"
    root.mkdir()
    process = subprocess.Popen(
        [
            *[sys.executable, "-m", MODULES[kind], "--no-browser", "--allow-root"],
            *["--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", "--IdentityProvider.token=tests"],
            *[f"--ServerApp.root_dir={root}", "--ServerApp.terminals_enabled=False"],
            *["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"],
        ],
        cwd=root,
        env=_environment(folder),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    assert process.stderr is not None
    drain = threading.Thread(target=process.stderr.read, daemon=True)
    try:
        url = _address_in(process.stderr)
        drain.start()
        yield Server(kind, url, "tests", root)
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=5)
        if drain.ident is not None:
            drain.join(timeout=5)
        process.stderr.close()


def _environment(folder: Path) -> dict[str, str]:
    names = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    for name in names.values():
        (folder / name).mkdir()
    (folder / "config" / "labconfig").mkdir()
    (folder / "config" / "labconfig" / "page_config.json").write_text(json.dumps(QUIET), "utf-8")
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        **{key: str(folder / name) for key, name in names.items()},
    }


def _address_in(log: IO[str]) -> str:
    seen: list[str] = []
    for line in log:
        seen.append(line)
        if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
            return found[0]
    raise RuntimeError("The server ended before it listened:\n" + "".join(seen))
