"""What a command did in the copy of a dry run goes into the dry run.

Taken over are files that came, went or hold something else; not taken over is what `NOT_TAKEN` of
`snapshot_dry` says, and what cannot be a change of the project's files as they are now.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from arc_workbench.content import Diff
from arc_workbench.errors import ToolError
from arc_workbench.workspace import snapshot_tree, undoing
from arc_workbench.workspace.deadline import Deadline
from arc_workbench.workspace.dry_run import DryRun
from arc_workbench.workspace.paths import Roots, is_within
from arc_workbench.workspace.reading import sha256_of
from arc_workbench.workspace.shadow import Wanted
from arc_workbench.workspace.snapshot_dry import Copied, DryCopy, read_file
from arc_workbench.workspace.snapshot_record import first_names
from arc_workbench.workspace.snapshot_tree import MAX_FILE_BYTES, Seen, Tree, UnseenError


def take(copy: DryCopy, roots: Roots, dry: DryRun, deadline: Deadline) -> tuple[Diff, ...]:
    """Let the dry run hold what differs in the copy; what that is, as diffs.

    What cannot be taken over is named in the copy's `note`.
    """
    taker = _Taker(copy, roots, dry, deadline)
    try:
        now = snapshot_tree.walk(copy.folder, deadline, rules=copy.rules)
    except UnseenError as fault:
        raise ToolError(
            f"Nothing of what the command did in the copy was taken over: {fault}."
        ) from fault
    taker.look(now)
    dry.take_all(taker.wanted)
    if taker.left:
        copy.note += f" Nor is this: {first_names(sorted(taker.left))}."
    return tuple(taker.diffs)


class _Taker:
    def __init__(self, copy: DryCopy, roots: Roots, dry: DryRun, deadline: Deadline) -> None:
        self.wanted: list[Wanted] = []
        self.diffs: list[Diff] = []
        self.left: list[str] = []
        self._copy = copy
        self._roots = roots
        self._dry = dry
        self._deadline = deadline
        self._shadowed = {file.real: file for file in dry.files}

    def look(self, tree: Tree) -> None:
        """Go through all that may have changed."""
        now = dict(tree.entries)
        for path in self._copy.covered - now.keys():
            if (found := self._still_there(path)) is not None:
                now[path] = found
        blocked = set(self._blocked(now))
        self.left += blocked
        for path, found in sorted(now.items()):
            self._deadline.check()
            if path not in blocked and self._may_have_changed(path, found):
                self._take(path, found)
        for path in sorted(self._copy.covered - now.keys() - blocked):
            self._deadline.check()
            self._take(path, None)

    def _still_there(self, path: str) -> Seen | None:
        """A name that is ignored by now, but was known before."""
        try:
            facts = (self._copy.folder / path).lstat()
        except OSError:
            return None
        if not (stat.S_ISREG(facts.st_mode) or stat.S_ISLNK(facts.st_mode)):
            return None
        return snapshot_tree.seen(facts)

    def _blocked(self, now: Mapping[str, Seen]) -> Iterator[str]:
        """Files where a folder was, and what lies in folders where a file was, with that file.

        A file that the dry run removed still stands in the project: nothing can be below it.
        """
        removed = self._removed()
        for path in now.keys() - self._copy.made.keys():
            if f"{path}/" in self._copy.folders:
                yield path
            folder = path.rpartition("/")[0]
            while folder:
                if folder in self._copy.made:
                    yield path
                    yield folder
                elif folder in removed:
                    yield path
                folder = folder.rpartition("/")[0]

    def _removed(self) -> frozenset[str]:
        """The files of the project that the dry run removed."""
        root = self._roots.real
        return frozenset(
            file.real.relative_to(root).as_posix()
            for file in self._dry.files
            if file.removed and is_within(file.real, root)
        )

    def _may_have_changed(self, path: str, found: Seen) -> bool:
        was = self._copy.made.get(path)
        if was is None or was.copy != found.stamp:
            return True
        return was.sha256 != "" and was.sha256 != self._sha256(path)

    def _sha256(self, path: str) -> str:
        try:
            return sha256_of(read_file(self._copy.folder / path)[0])
        except OSError:
            return ""

    def _take(self, path: str, found: Seen | None) -> None:
        """Have one name as the copy has it."""
        was = self._copy.made.get(path)
        after = self._new_content(path, found)
        if after is None and found is not None:
            self.left.append(path)
            return
        real = self._roots.real / path
        try:
            before, sha256 = self._base(real, was)
        except (OSError, ToolError):
            self.left.append(path)
            return
        if before == after:
            if found is not None and was is not None and found.mode != was.mode:
                self.left.append(path)
            return
        mode = found.mode & 0o777 if found is not None and before is None else 0
        self.wanted.append(Wanted(real, sha256, after, mode))
        place = self._roots.at(real)
        self.diffs.append(undoing.difference(place, before, after, self._deadline))

    def _new_content(self, path: str, found: Seen | None) -> bytes | None:
        if found is None or found.kind == "link" or found.size > MAX_FILE_BYTES:
            return None
        try:
            return read_file(self._copy.folder / path)[0]
        except OSError:
            return None

    def _base(self, real: Path, was: Copied | None) -> tuple[bytes | None, str | None]:
        """What the dry run sees without the command, and the hash of what the project has.

        Raises `ToolError` where the project is no longer what was copied.
        """
        file = self._shadowed.get(real)
        if file is not None:
            return self._dry.content(file), file.before_sha256
        if was is None:
            if os.path.lexists(real):
                raise ToolError("It came meanwhile.")
            return None, None
        data, stamp = read_file(real)
        if stamp != was.source:
            raise ToolError("It changed meanwhile.")
        return data, sha256_of(data)
