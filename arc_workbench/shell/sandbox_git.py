"""Which new pieces of a repository can do no harm, so that `git clone` and `git init` may stay."""

import os
import re
from pathlib import Path

from arc_workbench.shell.protected import Found, Item, read_start

_MOST = 64 * 1024
_SECTION = re.compile(r'\[\s*([a-z0-9.-]+)(?:\s+"[^"\\\n]*")?\s*\]', re.IGNORECASE)
_ENTRY = re.compile(r"([a-z][a-z0-9-]*)\s*(?:=\s*([^\\\"]*))?", re.IGNORECASE)
_PLAIN = {
    "core": {
        *("repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase"),
        *("precomposeunicode", "symlinks", "autocrlf", "eol", "sharedrepository"),
    },
    "remote": {"url", "fetch", "mirror", "tagopt", "partialclonefilter", "promisor"},
    "branch": {"remote", "merge", "rebase"},
    "user": {"name", "email"},
    "init": {"defaultbranch"},
    "submodule": {"active", "url"},
    "extensions": {"objectformat", "partialclone", "refstorage"},
}
_HELPER = re.compile(r"^-|^[a-z0-9+.-]*::|^ext:|[\x00-\x1f]", re.IGNORECASE)


def harmless(item: Item, found: Found) -> bool:
    """Whether this piece of version control makes nothing run; False for all that is unsure."""
    if not item.repository:
        return False
    name = item.path.rpartition("/")[2]
    place = found.root / item.path
    if name == "hooks" and item.folder:
        return all(entry.endswith(".sample") for entry in _names(place))
    if item.folder:
        return False
    text = read_start(place, _MOST)
    if name in {"config", "config.worktree"}:
        return len(text) < _MOST and plain_config(text)
    if name == "commondir":
        return "/worktrees/" in f"/{item.path}" and text.strip() == "../.."
    return name.lower() == ".git" and _points_inside(place, text, found)


def plain_config(text: str) -> bool:
    """Whether a configuration of git only says where and how things are stored."""
    allowed: set[str] = set()
    for line in map(str.strip, text.splitlines()):
        if not line or line[0] in "#;":
            continue
        if section := _SECTION.fullmatch(line):
            allowed = _PLAIN.get(section[1].lower(), set())
            continue
        entry = _ENTRY.fullmatch(line)
        if not entry or entry[1].lower() not in allowed or _HELPER.search(entry[2] or ""):
            return False
    return True


def _points_inside(place: Path, text: str, found: Found) -> bool:
    """Whether a `.git` file leads to a repository that is looked after itself."""
    word, _, target = text.partition(":")
    if word != "gitdir" or "\n" in target.strip():
        return False
    leads = os.path.realpath(place.parent / target.strip())
    inside = os.path.relpath(leads, os.path.realpath(found.root))
    above, _, own = inside.rpartition("/worktrees/")
    return inside in found.repositories or (above in found.repositories and "/" not in own)


def _names(folder: Path) -> list[str]:
    try:
        return [place.name for place in folder.iterdir()]
    except OSError:
        return ["?"]
