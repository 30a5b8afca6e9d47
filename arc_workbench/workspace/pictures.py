"""Image files that a model can be shown."""

from dataclasses import dataclass, field
from pathlib import Path

from arc_workbench.errors import ToolError
from arc_workbench.workspace.paths import Place, require_file
from arc_workbench.workspace.reading import opened

MAX_PICTURE_BYTES = 3_750_000  # base64 makes 5 MB of it, the most a model service takes
PICTURE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})


@dataclass(frozen=True)
class Picture:
    """An image file; `mime` is what its bytes are, whatever its name says."""

    place: Place
    mime: str
    data: bytes = field(repr=False)


def read_picture(place: Place) -> Picture:
    """An image file. Raises `ToolError` when its bytes are no picture that a model can see."""
    require_file(place)
    with opened(place) as file:
        data = file.read(MAX_PICTURE_BYTES + 1)
    if len(data) > MAX_PICTURE_BYTES:
        raise ToolError(
            f"{place.shown} is a picture over {MAX_PICTURE_BYTES} bytes; make it smaller."
        )
    mime = picture_type(data)
    if mime is None:
        raise ToolError(f"{place.shown} is named like a picture, but its bytes are not one.")
    return Picture(place, mime, data)


def is_picture_name(place: Place) -> bool:
    """Whether the name, as given or behind links, has the ending of a picture."""
    return any(Path(name).suffix.lower() in PICTURE_SUFFIXES for name in (place.given, place.real))


def picture_type(data: bytes) -> str | None:
    """The media type that the first bytes show."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
