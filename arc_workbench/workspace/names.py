"""Names that other systems cannot hold or take for another name; nothing here touches a file.

Names are compared as the most forgiving file system compares them, on every system alike, so that
what is refused or protected does not depend on where the project lies today.
"""

import re
import unicodedata
from collections.abc import Sequence

# ---- names with a meaning to some program -------------------------------------------------------

_FOLDERS = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", ".jj"),
        *(".vscode", ".idea", ".zed", ".fleet", ".vim", ".nvim", ".emacs.d", ".helix"),
        *(".claude", ".codex", ".continue", ".cursor", ".gemini", ".windsurf", ".opencode"),
        *(".arc_workbench", ".devcontainer", ".husky", ".ipython", ".jupyter", ".ssh", ".gnupg"),
    }
)
_FILES = frozenset(
    {
        *(".gitmodules", ".gitconfig", ".hgrc"),
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".inputrc"),
        *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc"),
        *(".cshrc", ".tcshrc", ".login", ".logout", ".envrc"),
        *(".vimrc", ".lvimrc", ".nvimrc", ".exrc", ".nvim.lua", ".emacs"),
        *(".dir-locals.el", ".dir-locals-2.el"),
        *(".mcp.json", ".aider.conf.yml", ".cursorrules", ".windsurfrules"),
        *("sitecustomize.py", "usercustomize.py"),
    }
)
_PATTERNS = re.compile(
    r".+\.pth|.*\.(?:code-workspace|sublime-project)"
    r"|jupyter(?:_[a-z_]+)?_config\.(?:py|json)|ipython(?:_[a-z_]+)?_config\.py"
)
_PROTECTED = _FOLDERS | _FILES
_NESTED = (
    *(f"/.config/{name}/" for name in ("git", "systemd", "autostart", "environment.d", "fish")),
    *(f"/.config/{name}/" for name in ("nvim", "helix", "emacs", "zed")),
    *(f"/.local/share/jupyter/{name}/" for name in ("kernels", "labextensions", "nbextensions")),
)

_SHORT = re.compile(r"([^.]{1,6})~[1-9][0-9]{0,5}(?:\.[^.]{0,3})?")
_HASHED = re.compile(r"[0-9a-f]{4}")
_SHORT_CHARS = 8


def is_protected(parts: Sequence[str]) -> bool:
    """Whether a path with these names is, or lies below, something that programs obey.

    Version control's own files, what shells, editors, agents, Jupyter and Python run or read at
    their start; at any depth, whether it exists or not, in any spelling that a system takes for it.
    """
    folded = [fold(part) for part in parts]
    return any(map(_meant, folded)) or _is_nested("/".join(folded))


def _is_nested(path: str) -> bool:
    """Whether a path goes through a name that means something in one folder only."""
    return any(place in f"/{path}/" for place in _NESTED)


def _meant(folded: str) -> bool:
    if folded in _PROTECTED or _PATTERNS.fullmatch(folded):
        return True
    short = _short(folded)
    return short is not None and any(_shortens(short[1], name) for name in _PROTECTED)


def fold(name: str) -> str:
    """One name as the most forgiving file system sees it.

    Without case, characters that are ignored, the name of a stream, and blanks and dots at the end.
    """
    kept = "".join(char for char in unicodedata.normalize("NFD", name) if not _is_ignored(char))
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFD", kept.casefold()))
    return plain.split(":", 1)[0].rstrip(" .")


def _is_ignored(char: str) -> bool:
    return unicodedata.category(char) in {"Cf", "Cc"} or char in _FILLERS


_FILLERS = frozenset(
    {
        *map(chr, range(0xFE00, 0xFE10)),  # variation selectors
        *map(chr, range(0xE0100, 0xE01F0)),
        *map(chr, range(0x180B, 0x180E)),
        *map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0)),
    }
)


def _short(folded: str) -> re.Match[str] | None:
    """The name as one of the short ones that Windows makes up, if it looks like one."""
    found = _SHORT.fullmatch(folded)
    return found if found and len(folded.split(".", 1)[0]) <= _SHORT_CHARS else None


def _shortens(stem: str, name: str) -> bool:
    """Whether Windows may have made the short name with this stem for `name`."""
    plain = re.sub(r"[. ]", "", name.rsplit(".", 1)[0] or name)
    return plain[:6] == stem or bool(plain.startswith(stem[:2]) and _HASHED.fullmatch(stem[2:]))


# ---- names that are not created -----------------------------------------------------------------

_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "123456789\u00b9\u00b2\u00b3"}
)
_FORBIDDEN = frozenset('<>:"|?*')


def refusal(path: str) -> str | None:
    """Why nothing may be created under this name, for the caller; None if it may.

    `path` are the names that would be new, divided by `/`; what exists already may keep its name.
    """
    if "\\" in path:
        return "a backslash divides folders on other systems; write / between folders"
    for name in path.split("/"):
        if name not in {"", ".", ".."} and (why := _refused(name)):
            return why
    return None


def _refused(name: str) -> str | None:
    folded = fold(name)
    for char in name:
        if char in _FORBIDDEN or unicodedata.category(char) in {"Cc", "Cs"}:
            shown = char if char in _FORBIDDEN else f"U+{ord(char):04X}"
            return f"no name may hold {shown} on Windows; leave it out"
    if name == "~":
        return "~ does not stand for the home folder here; write the path out"
    if not folded or name[-1] in ". ":
        return "blanks and dots at the end of a name are lost on Windows; leave them out"
    if folded.split(".", 1)[0].rstrip() in _DEVICES:
        return "that name stands for a device on Windows, with any ending; choose another"
    if _short(folded):
        return "it looks like a short name that Windows makes up for another file; choose another"
    if name != folded and folded in _PROTECTED:
        return f"other systems take it for {folded}; choose another name"
    return None
