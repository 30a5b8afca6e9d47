"""A dry run of a project folder: plans land in its shadow, are shown, and become plans again."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from arc_workbench.content import Diff
from arc_workbench.errors import ToolError
from arc_workbench.workspace import plans, undoing
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.paths import Place, Roots, on_one_line
from arc_workbench.workspace.plans import FilePlan
from arc_workbench.workspace.reading import sha256_of
from arc_workbench.workspace.shadow import Shadow, Shadowed, Wanted
from arc_workbench.workspace.walking import NAMED

HELD = (
    "A dry run is on, so no change of the project is undone. End it first: %agent dryrun apply or "
    "%agent dryrun discard."
)


class DryRun:
    """Changes that wait in `folder`; the project behind `roots` is only read."""

    def __init__(self, roots: Roots, folder: Path) -> None:
        self._roots = roots
        self._shadow = Shadow(folder)
        self._kept = 0

    def seen(self, place: Place) -> Place:
        """The place with what the dry run made of it."""
        held = self._shadow.held(place.real)
        return replace(place, shadow=held) if held is not None else place

    def take(self, plan: FilePlan) -> str:
        """Do a plan in the shadow; its name there: d1, d2, …

        Raises `ToolError` where the file, as the dry run sees it, is not what was planned on.
        """
        if plan.after_sha256 is None:
            raise ToolError(HELD)
        self._require_room_for(plan.place)
        now = self.seen(self._roots.at(plan.place.real))
        if plans.current_sha256(now, Deadline()) != plan.before_sha256:
            raise plans.changed_meanwhile(plan.place.shown)
        self._shadow.put(plan.place.real, plan.before_sha256, plan.content, plan.mode)
        self._kept += 1
        return f"d{self._kept}"

    @property
    def note(self) -> str:
        """What listings and searches must say, since they look at the project; "" for nothing."""
        names = [self._place(file).shown for file in self._shadow.files]
        if not names:
            return ""
        first = ", ".join(map(on_one_line, names[:NAMED]))
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return f"[Dry run: shown as on disk, without its changes of {first}{more}.]"

    def diffs(self) -> tuple[Diff, ...]:
        """How each file that the dry run touched would differ from the project's."""
        found = [self._difference(file) for file in self._shadow.files]
        return tuple(diff for diff in found if diff is not None)

    def plans(self) -> tuple[FilePlan, ...]:
        """What would make the project what the dry run has; a file that is that already is none.

        Raises `ToolError` where a file of the project is no longer what it was when the dry run
        first touched it.
        """
        found = [self._plan(file) for file in self._shadow.files]
        return tuple(plan for plan in found if plan is not None)

    def discard(self) -> int:
        """Throw it away; how many files it had."""
        return self._shadow.discard()

    def _place(self, file: Shadowed) -> Place:
        return self._roots.at(file.real)

    def _require_room_for(self, place: Place) -> None:
        """Raise `ToolError` where the dry run has a file above or below this name."""
        for file in self._shadow.files:
            if file.real in place.real.parents or place.real in file.real.parents:
                raise ToolError(
                    f"{place.shown} and {self._place(file).shown}: in the dry run one of them is a "
                    "file, so it cannot be a folder too; nothing was written. Choose another name."
                )

    # ---- what a command did in a copy -----------------------------------------------------------

    @property
    def files(self) -> tuple[Shadowed, ...]:
        """What was touched, in the order of the names."""
        return self._shadow.files

    def content(self, file: Shadowed) -> bytes | None:
        """The bytes that the dry run has for a file; None where it removed it."""
        return self._shadow.content(file)

    def take_all(self, wanted: Sequence[Wanted]) -> None:
        """Let the dry run hold all of this, whatever it has for these files by now."""
        self._shadow.put_all(wanted)

    # ---- inside ---------------------------------------------------------------------------------

    def _above(self, file: Shadowed) -> str:
        """A file of the project that stands where this one needs a folder; "" for none."""
        above = (
            other
            for other in self._shadow.files
            if other.before_sha256 is not None and other.real in file.real.parents
        )
        return next((self._place(other).shown for other in above), "")

    def _difference(self, file: Shadowed) -> Diff | None:
        place, content = self._place(file), self._shadow.content(file)
        try:
            now = plans.current_bytes(place, Deadline())
        except ToolError:  # something else stands in the way; applying says what
            now = None
        return None if now == content else undoing.difference(place, now, content, Deadline())

    def _plan(self, file: Shadowed) -> FilePlan | None:
        place, content = self._place(file), self._shadow.content(file)
        try:
            wanted = sha256_of(content) if content is not None else None
            if plans.current_sha256(place, Deadline()) == wanted:
                return None
            return plans.plan_content(
                place, file.before_sha256, content, Deadline(), verb="apply", mode=file.mode
            )
        except ToolError as fault:
            if above := self._above(file):
                raise ToolError(
                    f"{place.shown} cannot be made, since {above} is a file of the project until "
                    "the dry run is applied; nothing was applied. Look with "
                    "%agent dryrun diff, or %agent dryrun discard.",
                    details={"conflict": place.shown},
                ) from fault
            raise ToolError(
                f"{place.shown} changed since the dry run touched it; nothing was applied. "
                "Look with %agent dryrun diff, or %agent dryrun discard.",
                details={"conflict": place.shown},
            ) from fault
