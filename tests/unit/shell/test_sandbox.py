"""What is put before a command, what is protected, and what is said where nothing confines."""

import os
import struct
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.shell.notes import NO_SANDBOX
from arc_workbench.shell.protected import Found, Watch
from arc_workbench.shell.sandbox import Backends, Confinement, confine
from arc_workbench.shell.sandbox_filter import socket_filter, write_filter
from arc_workbench.shell.sandbox_git import plain_config
from arc_workbench.shell.sandbox_guard import Guard
from arc_workbench.shell.sandbox_kept import keep
from arc_workbench.shell.sandbox_probe import find_bubblewrap
from arc_workbench.shell.sandbox_session import Sandbox
from arc_workbench.shell.states import SandboxMode
from arc_workbench.workspace.names import is_protected
from tests.requirements import requirement

WORKS = Backends("/usr/bin/bwrap", True, 7, "")
LANDLOCK = Backends("", False, 7, "bubblewrap is not installed")
NOTHING = Backends("", False, 0, "bubblewrap is not installed")


def _confine(
    base: Path, mode: SandboxMode, backends: Backends = WORKS, **more: Path
) -> Confinement:
    for name in ("project", "state/scratch", "tmp"):
        (base / name).mkdir(parents=True, exist_ok=True)
    project = more.pop("project", base / "project")
    state = more.pop("state", base / "state")
    return confine(
        mode,
        project=project,
        cwd=project,
        scratch=state / "scratch",
        state=[state],
        backends=backends,
        found=Watch(project, is_protected).look(),
        temporary=more.pop("temporary", base / "tmp"),
        overlay=more.pop("overlay", None),
        uid=1000,
    )


def _pairs(confinement: Confinement) -> list[tuple[str, ...]]:
    words = confinement.prefix
    return [tuple(words[at : at + 3]) for at in range(len(words) - 2)]


@requirement("S1-141")
def test_off_puts_nothing_before_a_command(tmp_path: Path) -> None:
    assert _confine(tmp_path, "off") == Confinement()


@requirement("S1-143")
def test_writable_are_the_project_the_temporary_and_the_scratch_folder(tmp_path: Path) -> None:
    found = _confine(tmp_path, "workspace-write")

    opened = {pair[2] for pair in _pairs(found) if pair[0] == "--bind"}
    assert opened == {str(tmp_path / name) for name in ("project", "tmp", "state/scratch")}
    assert ("--ro-bind", "/", "/") in _pairs(found)
    assert found.prefix[-3:] == ("--chdir", str(tmp_path / "project"), "--")


@requirement("S1-144", "REQ-S79")
def test_only_required_closes_the_network(tmp_path: Path) -> None:
    assert "--unshare-net" not in _confine(tmp_path, "workspace-write").prefix
    assert "--unshare-net" in _confine(tmp_path, "required").prefix


def test_root_cannot_set_the_kernel(tmp_path: Path) -> None:
    (tmp_path / "state/scratch").mkdir(parents=True)

    def shuts(uid: int) -> bool:
        found = confine(
            "workspace-write",
            project=tmp_path,
            cwd=tmp_path,
            scratch=tmp_path / "state/scratch",
            state=[],
            backends=WORKS,
            uid=uid,
        )
        return ("--ro-bind", "/proc/sys", "/proc/sys") in _pairs(found)

    assert (shuts(0), shuts(1)) == (True, False)


def test_a_place_is_laid_over_what_holds_it(tmp_path: Path) -> None:
    found = _confine(
        tmp_path,
        "workspace-write",
        project=_made(tmp_path / "tmp/project"),
        state=_made(tmp_path / "tmp/project/state"),
    )

    places = [pair[2] for pair in _pairs(found) if pair[0] in {"--bind", "--ro-bind"}]
    order = [str(tmp_path / "tmp" / name) for name in ("project", "project/state")]
    assert places.index(str(tmp_path / "tmp")) < places.index(order[0]) < places.index(order[1])
    assert ("--ro-bind", order[1], order[1]) in _pairs(found)


def _made(folder: Path) -> Path:
    (folder / "scratch").mkdir(parents=True, exist_ok=True)
    return folder


@requirement("REQ-S144")
def test_a_copy_stands_in_the_projects_place_and_nothing_else_is_writable(tmp_path: Path) -> None:
    copy = _made(tmp_path / "copy")

    found = _confine(tmp_path, "off", overlay=copy)

    opened = {pair[1:] for pair in _pairs(found) if pair[0] == "--bind"}
    scratch, project = str(tmp_path / "state/scratch"), str(tmp_path / "project")
    assert (str(copy), project) in opened
    assert {source for source, _ in opened} == {str(copy), scratch}
    assert found.environment["TMPDIR"] == "/tmp"


def test_a_home_folder_is_no_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "tmp/me"))

    found = _confine(tmp_path, "workspace-write")

    assert str(tmp_path / "tmp") not in {pair[2] for pair in _pairs(found) if pair[0] == "--bind"}
    assert found.environment["TMPDIR"] == str(tmp_path / "state/scratch")


# ---- where nothing confines ---------------------------------------------------------------------


@requirement("S1-146", "REQ-S75")
def test_without_a_backend_the_note_says_so_in_the_words_of_the_page(tmp_path: Path) -> None:
    found = _confine(tmp_path, "workspace-write", NOTHING)

    assert found.note == "note: sandbox requested but unavailable on this platform" == NO_SANDBOX
    assert (found.prefix, found.landlock, found.backend) == ((), None, "")
    assert "not installed" in found.reason


@requirement("REQ-S75")
@pytest.mark.parametrize("backends", [NOTHING, LANDLOCK, Backends("/usr/bin/bwrap", False, 7, "x")])
def test_required_refuses_where_it_cannot_hold(tmp_path: Path, backends: Backends) -> None:
    with pytest.raises(ToolError, match=r"nothing ran\. The person can"):
        _confine(tmp_path, "required", backends)


@requirement("REQ-S144", "REQ-S75")
def test_a_copy_without_bubblewrap_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="nothing ran"):
        _confine(tmp_path, "workspace-write", LANDLOCK, overlay=_made(tmp_path / "copy"))


@requirement("S1-145", "REQ-S86")
def test_landlock_keeps_writes_in_the_same_folders(tmp_path: Path) -> None:
    found = _confine(tmp_path, "workspace-write", LANDLOCK)

    assert found.backend == "landlock"
    assert found.landlock is not None
    assert found.landlock.writable == tuple(
        os.fsencode(tmp_path / name) for name in ("project", "state/scratch", "tmp")
    )


@requirement("S1-145", "REQ-S77")
def test_landlock_gives_no_folder_that_holds_our_state(tmp_path: Path) -> None:
    state = _made(tmp_path / "tmp/state")
    found = _confine(tmp_path, "workspace-write", LANDLOCK, state=state)
    inside = _confine(
        tmp_path, "workspace-write", LANDLOCK, state=_made(tmp_path / "project/state")
    )

    assert found.landlock is not None
    assert os.fsencode(tmp_path / "tmp") not in found.landlock.writable
    assert found.environment["TMPDIR"] == str(state / "scratch")
    assert (inside.landlock, inside.note) == (None, NO_SANDBOX)


@requirement("S1-145", "REQ-S77")
def test_landlock_gives_no_project_that_lies_in_our_state(tmp_path: Path) -> None:
    state = _made(tmp_path / "state")
    found = _confine(
        tmp_path, "workspace-write", LANDLOCK, state=state, project=_made(state / "project")
    )

    assert found.landlock is not None
    assert os.fsencode(state / "project") not in found.landlock.writable


def test_a_user_without_a_home_folder_is_confined_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", _unknown_user)

    for mode in ("workspace-write", "required"):
        assert _confine(tmp_path, mode).backend == "bubblewrap"


def _unknown_user(uid: int) -> None:
    raise KeyError(uid)


@requirement("REQ-S77")
def test_a_folder_is_not_held_open_in_one_that_is_shut(tmp_path: Path) -> None:
    state = _made(tmp_path / "project/.vscode/deep/state")

    found = _confine(tmp_path, "workspace-write", state=state)

    opened = {pair[2] for pair in _pairs(found) if pair[0] in {"--bind", "--bind-try"}}
    assert opened == {str(tmp_path / name) for name in ("project", "tmp")} | {
        str(state / "scratch")
    }


@requirement("REQ-S75")
def test_the_whole_disk_is_no_project(tmp_path: Path) -> None:
    found = confine(
        "workspace-write",
        project=Path("/"),
        cwd=tmp_path,
        scratch=tmp_path,
        state=[],
        backends=Backends(WORKS.bubblewrap, True, 0, ""),
    )

    assert (found.note, found.prefix) == (NO_SANDBOX, ())


@requirement("REQ-S86")
@pytest.mark.parametrize(
    ("backends", "states"),
    [
        (WORKS, ["ok", "ok"]),
        (LANDLOCK, ["missing", "ok"]),
        (NOTHING, ["missing", "missing"]),
        (Backends("", False, 0, "it fails: no permission"), ["off", "missing"]),
        (Backends("/usr/bin/bwrap", False, 7, "it fails"), ["off", "ok"]),
    ],
)
def test_doctor_is_told_what_works_and_what_to_do(backends: Backends, states: list[str]) -> None:
    found = backends.findings

    assert [backend.state for backend in found] == states
    assert all(backend.detail for backend in found)
    assert all(backend.next for backend in found if backend.state != "ok")


@requirement("REQ-S86")
def test_an_old_landlock_says_what_it_does_not_keep() -> None:
    said = Backends("", False, 2, "not installed").findings[1].detail

    assert "cut off" in said
    assert "cut off" not in LANDLOCK.findings[1].detail


def test_bubblewrap_is_taken_from_the_system_and_not_from_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "bwrap"
    planted.write_text("#!/bin/sh\n", encoding="utf-8")
    planted.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_bubblewrap((str(tmp_path / "no"),)) == ("", "bubblewrap is not installed")
    assert find_bubblewrap()[0] != str(planted)


@requirement("REQ-S75")
def test_a_program_that_does_not_work_is_no_backend(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no user namespaces >&2; exit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    for name in ("project", "scratch"):
        (tmp_path / name).mkdir()
    sandbox = Sandbox(
        project=tmp_path / "project",
        scratch=tmp_path / "scratch",
        aside=tmp_path / "aside",
        state=[],
        is_protected=is_protected,
        backends=lambda: Backends(str(broken), True, 0, ""),
    )

    cage = sandbox.cage("workspace-write", cwd=tmp_path / "project")

    assert (cage.confinement.note, cage.guard) == (NO_SANDBOX, None)
    assert "no user namespaces" in cage.confinement.reason
    with pytest.raises(ToolError, match="no user namespaces"):
        sandbox.cage("required", cwd=tmp_path / "project")


# ---- the filter ---------------------------------------------------------------------------------


@requirement("REQ-S79")
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_of_the_filter_lands_in_it_and_it_ends_with_a_verdict(machine: str) -> None:
    program = list(struct.iter_unpack("=HBBI", socket_filter(machine)))

    jumps = [(at, line) for at, line in enumerate(program) if line[0] in {0x15, 0x35}]
    assert all(at + 1 + max(line[1], line[2]) < len(program) for at, line in jumps)
    assert program[-1] == (0x06, 0, 0, 0x7FFF0000)


def test_a_machine_whose_calls_are_unknown_has_no_filter(tmp_path: Path) -> None:
    assert socket_filter("s390x") == b""
    assert write_filter(tmp_path / "a/calls") in {tmp_path / "a/calls", None}


# ---- what is protected --------------------------------------------------------------------------


def _write(place: Path, text: str = "x") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place


def _paths(found: Found) -> set[str]:
    return {item.path for item in found.items}


@requirement("REQ-S77")
def test_protected_names_are_found_at_any_depth_and_of_git_only_what_runs(tmp_path: Path) -> None:
    for path in (
        *(".git/HEAD", ".git/config", ".git/hooks/x", ".git/index", ".git/modules/a/b/HEAD"),
        *(".git/modules/a/b/config", "a/b/.vscode/t", "a/.envrc", "lib/x.pth", "a/c.txt"),
        *(".hg/hgrc", ".hg/store/x", "n/node_modules/p/.vscode/s", "n/node_modules/p/.git/config"),
    ):
        _write(tmp_path / path)

    found = Watch(tmp_path, is_protected).look()

    assert _paths(found) == {
        *(".git/config", ".git/hooks", ".git/modules/a/b/config", "a/b/.vscode", "a/.envrc"),
        *("lib/x.pth", ".hg/hgrc", "n/node_modules/p/.git/config"),
    }
    assert {".git", ".git/modules/a/b", "n/node_modules/p"} <= set(found.anchors)
    assert "a" not in found.anchors


@requirement("REQ-S77")
def test_what_is_obeyed_in_one_folder_only_is_found_there(tmp_path: Path) -> None:
    for path in (
        *(".config/git/config", ".config/other/x", "me/.config/systemd/user/x", "git/config"),
        *("me/.local/share/jupyter/kernels/k/kernel.json", "me/.local/share/jupyter/runtime/x"),
        *("systemd/x", "share/jupyter/kernels/x", "node_modules/.config/git/x"),
    ):
        _write(tmp_path / path)

    assert _paths(Watch(tmp_path, is_protected).look()) == {
        *(".config/git", "me/.config/systemd", "me/.local/share/jupyter/kernels"),
    }


def test_a_folder_that_is_left_out_is_not_looked_at(tmp_path: Path) -> None:
    for path in ("a/b/.envrc", "a/.envrc", "b/.envrc", ".vscode/x"):
        _write(tmp_path / path)

    found = Watch(tmp_path, is_protected, but=("a/b", ".vscode")).look()

    assert _paths(found) == {"a/.envrc", "b/.envrc"}


@requirement("REQ-S77")
def test_hooks_that_the_configuration_puts_elsewhere_are_protected(tmp_path: Path) -> None:
    _write(tmp_path / ".git/config", "[core]\n\thooksPath = tools/hooks\n")
    _write(tmp_path / "tools/hooks/pre-commit")

    assert "tools/hooks" in _paths(Watch(tmp_path, is_protected).look())


def test_a_second_look_sees_what_is_new_gone_and_moved(tmp_path: Path) -> None:
    _write(tmp_path / "a/.envrc")
    watch = Watch(tmp_path, is_protected)
    watch.look()
    _write(tmp_path / "b/c/.envrc")
    (tmp_path / "a").rename(tmp_path / "d")

    assert _paths(watch.look()) == {"b/c/.envrc", "d/.envrc"}


def test_what_was_not_looked_at_is_said(tmp_path: Path) -> None:
    for number in range(5):
        _write(tmp_path / f"f{number}/.envrc")

    found = Watch(tmp_path, is_protected, most_folders=3).look()

    assert found.unseen == ("",)
    assert len(Watch(tmp_path, is_protected, most_folders=6).look().items) == 5


def test_a_protected_file_with_a_second_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "second").hardlink_to(_write(tmp_path / ".envrc"))

    assert Watch(tmp_path, is_protected).look().linked == (".envrc",)


def test_very_many_protected_names_are_bound_up_to_a_limit(tmp_path: Path) -> None:
    for number in range(200):
        _write(tmp_path / f"project/f{number}/.envrc")

    found = _confine(tmp_path, "workspace-write")

    assert len(found.bound) == 128


@requirement("REQ-S77")
@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.org/a.git\n', True),
        ("# nothing\n", True),
        ("[core]\n\tfsmonitor = ./evil\n", False),
        ("[core]\n\tbare = false\\\n\n\tpager = evil\n", False),
        ('[remote "o"]\n\turl = ext::sh -c evil\n', False),
        ('[remote "o"]\n\turl = --upload-pack=evil\n', False),
        ('[remote "o"]\n\tuploadpack = evil\n', False),
        ("[include]\n\tpath = ../evil\n", False),
        ("[core] fsmonitor = ./evil\n", False),
        ("[alias]\n\tst = !evil\n", False),
        ('[filter "x"]\n\tclean = evil\n', False),
        ("garbage\n", False),
    ],
)
def test_a_configuration_of_git_is_plain_when_it_only_says_where_things_are(
    text: str, plain: bool
) -> None:
    assert plain_config(text) is plain


# ---- the guard without mounts -------------------------------------------------------------------


def _guard(root: Path, aside: Path) -> Guard:
    watch = Watch(root, is_protected)
    return Guard(watch, watch.look(), frozenset(), aside)


@requirement("REQ-S77")
def test_what_is_not_bound_gets_its_content_back(tmp_path: Path) -> None:
    root = tmp_path / "p"
    _write(root / ".envrc", "mine").chmod(0o640)
    _write(root / ".vscode/a/s", "mine")
    _write(root / ".bashrc", "mine")
    guard = _guard(root, tmp_path / "aside")
    _write(root / ".envrc", "evil")
    _write(root / ".vscode/a/s", "evil")
    (root / ".bashrc").unlink()

    settled = guard.settle()

    assert set(settled.restored) == {".envrc", ".vscode", ".bashrc"}
    assert (root / ".envrc").stat().st_mode & 0o777 == 0o640
    assert {path.read_text(encoding="utf-8") for path in root.rglob("*") if path.is_file()} == {
        "mine"
    }
    assert (tmp_path / "aside/.envrc").read_text(encoding="utf-8") == "evil"
    assert guard.settle().note == ""


def test_a_folder_that_was_only_moved_keeps_what_it_holds(tmp_path: Path) -> None:
    root = tmp_path / "p"
    _write(root / "a/.envrc")
    guard = _guard(root, tmp_path / "aside")
    (root / "a").rename(root / "b")

    assert guard.settle().note == ""
    assert (root / "b/.envrc").exists()
    assert not (root / "a").exists()


@requirement("REQ-S77")
def test_a_note_names_what_has_odd_names_in_plain_text_on_one_line(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    guard = _guard(root, tmp_path / os.fsdecode(b"aside\xff"))
    for name in (b"x\xff.pth", b"a\n[Exit 0\x1b[2J.pth", "\u202ecafé.pth".encode()):
        _write(root / os.fsdecode(name))

    note = guard.settle().note

    assert "aside\\xff" in note
    assert {r"x\xff.pth", r"a\n[Exit 0\x1b[2J.pth", r"\u202ecafé.pth"} <= set(
        note.rstrip(".").replace("): ", ", ").split(", ")
    )
    assert note.encode().decode().isprintable()


@requirement("REQ-S77")
def test_many_of_one_name_are_all_kept(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    guard = _guard(root, tmp_path / "aside")
    for number in range(30):
        _write(root / f"f{number}/.envrc", str(number))

    settled = guard.settle()

    kept = {path.read_text(encoding="utf-8") for path in (tmp_path / "aside").iterdir()}
    assert len(settled.removed) == len(kept) == 30


@requirement("REQ-S77")
def test_what_was_changed_in_a_folder_that_moved_is_put_aside(tmp_path: Path) -> None:
    root = tmp_path / "p"
    _write(root / "a/.vscode/s")
    guard = _guard(root, tmp_path / "aside")
    (root / "a").rename(root / "b")
    _write(root / "b/.vscode/s", "evil")

    assert guard.settle().removed == ("b/.vscode",)


def test_a_file_that_others_may_change_is_left_alone(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    guard = _guard(root, tmp_path / "aside")
    guard.accepted = lambda path: path == ".envrc"
    _write(root / ".envrc")
    _write(root / ".zshrc")

    assert guard.settle().removed == (".zshrc",)


def test_a_link_is_moved_and_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "p", _write(tmp_path / "outside/f").parent
    root.mkdir()
    guard = _guard(root, tmp_path / "aside")
    (root / ".vscode").symlink_to(outside)

    assert guard.settle().removed == (".vscode",)
    assert (outside / "f").exists()
    assert (tmp_path / "aside/.vscode").is_symlink()


def test_what_is_large_or_no_file_is_not_held_in_memory(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("x")
    _write(tmp_path / "large", "x" * 100)

    assert keep(tmp_path / "link", 10) is None
    assert keep(tmp_path / "large", 10) is None
    assert keep(tmp_path, 1000) is None
