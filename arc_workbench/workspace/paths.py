"""Names of files: where they lead, and whether that is allowed.

Containment is decided on resolved components, never by comparing the beginnings of two texts.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from arc_workbench.errors import ToolError

MAX_PATH_BYTES = 4096
MAX_NAME_BYTES = 255

Kind = Literal["absent", "file", "folder", "other"]


@dataclass(frozen=True)
class Place:
    """Where a name leads.

    `real` is the destination behind all links, and the one to open. The others are for eyes, rules
    and records, with bytes that are no UTF-8 escaped: `path` is the same destination, spelled below
    the root as the root was given; `shown` is relative inside the project, absolute outside; `via`
    is the spelling that was used, where links made it differ. A `confined` place never leaves
    `root`. `shadow` is where a dry run keeps what the file would hold.
    """

    given: str
    real: Path
    path: Path
    shown: str
    via: str
    root: Path
    confined: bool
    shadow: Path | None = None

    @property
    def held(self) -> Path:
        """Where the content lies now: the file itself, or what a dry run made of it."""
        return self.shadow or self.real

    @property
    def named(self) -> str:
        """The name, and the spelling that was used if that was another."""
        return f"{self.shown} (via {self.via})" if self.via else self.shown

    @property
    def fence(self) -> Path | None:
        """The folder that nothing below this place may leave, if there is one."""
        return self.root if self.confined else None


class Roots:
    """The project folder under its two names: as it was given, and as it really is."""

    def __init__(self, given: Path) -> None:
        self.given = Path(os.path.normpath(given.absolute()))
        self.real = Path(os.path.realpath(given))

    def inside(self, text: str) -> Place:
        """A relative name that stays in the project; anything else raises `ToolError`."""
        _require_usable(text)
        said = printable(text)
        if _is_absolute(text):
            raise ToolError(f"{said}: give the path relative to the project folder.")
        if _climbs_out(text) or not is_within(real := _real(self.given / text, said), self.real):
            raise ToolError(
                f"{said} leads outside the project folder; nothing was touched. Name a file in it."
            )
        return self._place(text, real, confined=True)

    def anywhere(self, text: str) -> Place:
        """Any name: relative to the project, or absolute. `~` is a name like any other."""
        _require_usable(text)
        return self._place(text, _real(self.given / text, printable(text)), confined=False)

    def at(self, real: Path) -> Place:
        """The very path `real`, which was resolved once; what became of it since is not asked."""
        return self._place(str(real), real, confined=is_within(real, self.real))

    def _place(self, text: str, real: Path, *, confined: bool) -> Place:
        path = self._respelled(real)
        spelled = self._respelled(Path(os.path.normpath(self.given / text)))
        return Place(
            given=text,
            real=real,
            path=Path(printable(str(path))),
            shown=self.shown(path),
            via="" if spelled == path else self.shown(spelled),
            root=self.real,
            confined=confined,
        )

    def _respelled(self, path: Path) -> Path:
        return self.given / path.relative_to(self.real) if is_within(path, self.real) else path

    def shown(self, path: Path) -> str:
        """`path` for eyes: relative and with `/` inside the project, else as it is."""
        inside = is_within(path, self.given)
        return printable((path.relative_to(self.given) if inside else path).as_posix())

    def relative(self, real: Path) -> str:
        """`real` as listings below it begin: relative to the project, "" for the project itself."""
        try:
            name = os.path.relpath(self._respelled(real), self.given)
        except ValueError:  # another drive
            name = str(real)
        return "" if name == "." else printable(Path(name).as_posix())


def is_within(path: Path, folder: Path) -> bool:
    """Whether `path` is `folder` or lies below it; both must be resolved."""
    return path.is_relative_to(folder)


def lies_in(path: Path, folders: Sequence[Path]) -> bool:
    """Whether a folder above `path` is one of these in person, under whatever name (a mount)."""
    wanted = set(map(_identity, folders)) - {None}
    return any(_identity(parent) in wanted for parent in path.parents)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def printable(name: str) -> str:
    """`name` with bytes that are no UTF-8 written as `\\xff`, so that it can be sent and stored."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def on_one_line(name: str) -> str:
    """`name` for a list of names by lines: control characters are shown, not done."""
    return "".join(
        char if char >= " " and char != "\x7f" else f"\\x{ord(char):02x}" for char in name
    )


def kind_of(path: Path, shown: str) -> Kind:
    """What stands at `path`, itself not a link; raises `ToolError` where that cannot be seen."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "absent"
    except OSError as fault:
        raise ToolError(f"{shown} cannot be looked at: {reason(fault)}.") from fault
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"


def require_file(place: Place) -> None:
    """Raise `ToolError` unless a regular file stands there."""
    kind = kind_of(place.held, place.shown)
    if kind == "absent":
        refuse_escaped(place)
        raise ToolError(
            f"File not found: {place.path} (working directory: {printable(str(place.root))}). "
            "Check the name, or list the folder."
        )
    if kind == "folder":
        raise ToolError(f"{place.shown} is a folder, not a file; list it instead (ls or glob).")
    if kind == "other" or is_kernel_view(place.real):
        raise ToolError(f"{place.shown} is not a regular file, so it is not opened.")


def refuse_escaped(place: Place) -> None:
    """Raise `ToolError` if the name of this absent file is how we show one that is not UTF-8."""
    absent = place.real
    while not absent.parent.exists():
        absent = absent.parent
    if "\\x" in absent.name and absent.name in _escaped_names(absent.parent):
        raise ToolError(
            f"{place.shown}: a name in this path is not UTF-8 and is shown escaped, so no path can "
            "be sent that leads there. Search its folder, or rename it with a command.",
            details={"nameIsNotUtf8": True},
        )


def _escaped_names(folder: Path) -> set[str]:
    """How the names in a folder that are not UTF-8 are shown."""
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError:
        return set()
    odd = {printable(name) for name in names if printable(name) != name}
    return odd | {on_one_line(name) for name in odd}


def is_kernel_view(path: Path) -> bool:
    """Whether `path` is a window on processes that only looks like files."""
    return is_within(path, Path("/proc"))


def require_folder(place: Place) -> None:
    """Raise `ToolError` unless a folder stands there."""
    kind = kind_of(place.held, place.shown)
    if kind == "absent":
        refuse_escaped(place)
        raise ToolError(f"{place.shown} does not exist; nothing was searched. Check the name.")
    if kind != "folder":
        raise ToolError(f"{place.shown} is not a folder; nothing was searched. Name a folder.")


def reason(fault: OSError) -> str:
    """What the system said, without the name of the file."""
    return (fault.strerror or type(fault).__name__).lower()


def _require_usable(text: str) -> None:
    if not text:
        raise ToolError("The path is empty; name a file or folder.")
    if "\0" in text:
        raise ToolError("The path holds a NUL character; no file has such a name.")
    try:
        raw = os.fsencode(text)
    except UnicodeEncodeError:
        raise ToolError("The path holds characters that no file name can have.") from None
    if len(raw) > MAX_PATH_BYTES or max(map(len, raw.split(b"/"))) > MAX_NAME_BYTES:
        raise ToolError(f"The path is too long ({len(raw)} bytes); no file has such a name.")


def _is_absolute(text: str) -> bool:
    return Path(text).is_absolute() or text.startswith("/") or Path(text).drive != ""


def _climbs_out(text: str) -> bool:
    depth = 0
    for part in Path(text).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False


def _real(path: Path, text: str) -> Path:
    try:
        real = Path(os.path.realpath(path))
        circular = real.is_symlink()
    except OSError as fault:
        raise ToolError(f"{text} cannot be followed: {reason(fault)}.") from fault
    if circular:
        raise ToolError(f"{text} is a link that leads back to itself.")
    return real
