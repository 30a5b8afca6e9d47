"""Commands in a real cage try to get out, as root and as another user; nothing outside changes."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.shell.protected import Watch
from arc_workbench.shell.sandbox import Backends
from arc_workbench.shell.sandbox_guard import Guard
from arc_workbench.shell.sandbox_session import Sandbox
from arc_workbench.supervisor import landlock
from arc_workbench.workspace.names import is_protected
from tests.integration.shell.cages import NOBODY, World, make_world, users, working_backends
from tests.requirements import requirement

Mode = Literal["workspace-write", "required"]
MODES: list[Mode] = ["workspace-write", "required"]
MOST_SOCKET_NAME = 100

# Each leaves a mark outside, in our state or in a protected place if it works, or says ESCAPED, and
# harms nothing else: all of these places lie in the test's own folder.
# Those of FREE do so where there is no cage, which shows that they are attempts.
FREE = {
    "a path": 'echo x > "$OUTSIDE/marker"; : > "$OUTSIDE/new"',
    "two dots": "echo x > ../outside/marker",
    "append": 'echo x >> "$OUTSIDE/marker"',
    "cutting off": 'truncate -s 0 "$OUTSIDE/marker"',
    "another folder": 'cd "$OUTSIDE" && echo x > marker',
    "a link": 'ln -s "$OUTSIDE" way; echo x > way/marker; echo x > way/new',
    "a link to a file": 'ln -s "$OUTSIDE/marker" way; echo x > way; cp a.txt way',
    "the root of a process": 'echo x > "/proc/self/root$OUTSIDE/marker"',
    "the folder of a process": (
        'for p in /proc/self/cwd /proc/$$/cwd; do echo x > "$p/../outside/marker"; done'
    ),
    "a hard link": 'ln "$OUTSIDE/marker" hard && echo x > hard',
    "a hard link to a protected file": "ln .vscode/settings.json hard && echo x > hard",
    "a hard link to the configuration": "ln .git/config hard && echo x > hard",
    "removing": 'rm -rf "$OUTSIDE/folder" "$OUTSIDE/marker"',
    "moving out": 'mv a.txt "$OUTSIDE/moved"; mv "$OUTSIDE/marker" here',
    "the mode": 'chmod 777 "$OUTSIDE/marker" "$OUTSIDE/folder"',
    "our state": 'echo x > "$STATE/record"; rm -f "$STATE/record"; mkdir "$STATE/new"',
    "moving our state": 'mv "$STATE" "$BASE/gone"; mv "$STATE/scratch" "$STATE/gone"',
    "the home folder": 'echo x > "$HOME/.profile"; echo x > "$HOME/.bashrc"',
    "overwriting": (
        "for f in .bashrc .gitmodules .vscode/settings.json lib/site.pth; do echo x > $f; done"
    ),
    "replacing": "for f in .bashrc .gitmodules lib/site.pth; do echo x > n; mv -f n $f; done",
    "removing what is protected": "rm -rf .bashrc .gitmodules .vscode lib/site.pth",
    "hooks": "for h in pre-commit post-checkout; do echo x > .git/hooks/$h; done",
    "hooks of a nested repository": "echo x > sub/.git/hooks/pre-commit; rm -rf sub/.git/hooks",
    "hooks moved away": "mv .git/hooks .git/old; mkdir .git/hooks; echo x > .git/hooks/pre-commit",
    "the configuration": "$GIT config core.fsmonitor ./evil; echo x > .git/config",
    "the configuration replaced": "echo x > .git/n; mv -f .git/n .git/config",
    "the repository moved away": "mv .git old; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
    "the repository begun anew": "rm -rf .git; $GIT init -q .; echo x > .git/hooks/pre-commit",
    "the folder of a nested repository": (
        "mv sub old; mkdir -p sub/.git/hooks; echo x > sub/.git/hooks/pre-commit"
    ),
    "another common folder": "mkdir e; echo ../e > .git/commondir; echo x > .git/config.worktree",
    "names that did not exist": (
        "echo x > .envrc; echo x > .zshrc; mkdir .idea; echo x > .idea/workspace.xml;"
        "mkdir -p .ipython/profile_default/startup; echo x > .ipython/profile_default/startup/a.py;"
        "echo x > sitecustomize.py; echo x > lib/e.pth; echo x > .mcp.json;"
        "mkdir -p deep/er/.claude; echo x > deep/er/.claude/settings.json;"
        "ln -s ../outside .cursor; echo x > jupyter_server_config.py; echo x > .GIT"
    ),
    "exchanging": "$PYTHON exchange.py .vscode evil; $PYTHON exchange.py .git evil2",
    "exchanging the configuration": "$PYTHON exchange.py .git/hooks evil",
    "exchanging a folder": "$PYTHON exchange.py sub evil",
}
CAGED = {
    "the root of the first process": 'echo x > "/proc/1/root$OUTSIDE/marker"',
    "mounting again": (
        'for m in / "$OUTSIDE" "$PROJECT/.vscode"; do mount -o remount,rw,bind "$m"; done;'
        'echo x > "$OUTSIDE/marker"; echo x > .vscode/settings.json'
    ),
    "binding": 'mkdir m; mount --bind "$OUTSIDE" m && echo x > m/marker; umount m',
    "moving a mount": "mkdir m; mount --move .git/hooks m; echo x > .git/hooks/pre-commit",
    "unmounting": "umount -l .git/hooks .vscode; echo x > .vscode/settings.json",
    "new namespaces": (
        "for f in -Urm -m -Um -Urmpf; do unshare $f sh -c '"
        "mount -o remount,rw,bind /; umount -l .git/hooks; echo x > .git/hooks/pre-commit;"
        'echo x > "$OUTSIDE/marker"\'; done; unshare -U true && echo ESCAPED'
    ),
    "the namespace of another": "nsenter -t 1 -m sh -c 'echo x > \"$OUTSIDE/marker\"'",
    "changing the root": "chroot /proc/1/root /bin/sh -c 'echo x > \"$OUTSIDE/marker\"'",
    "a disk": "for d in 'd b 7 0' 'c c 1 1'; do mknod $d && echo ESCAPED; done",
    "the owner": 'chown 1:1 "$OUTSIDE/marker" && echo ESCAPED',
    "settings of the kernel": (
        "for f in /proc/sys/kernel/hostname /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness"
        " /proc/sysrq-trigger /sys/kernel/uevent_helper /proc/sys/kernel/modprobe;"
        " do (exec 3>> $f) 2>/dev/null && echo ESCAPED; done"
    ),
    "more rights": "grep -q 'NoNewPrivs:.1' /proc/self/status || echo ESCAPED",
    "capabilities": (
        "grep -E '^Cap(Eff|Prm|Bnd|Amb)' /proc/self/status | grep -qv 0000000000000000 &&"
        " echo ESCAPED"
    ),
}
_EXCHANGE = """
import ctypes, os, sys
a, b = map(os.fsencode, sys.argv[1:])
os.makedirs(b, exist_ok=True)
with open(b + b"/pre-commit", "w") as file:
    file.write("x")
ctypes.CDLL(None).renameat2(-100, a, -100, b, 2)
"""


@pytest.fixture(params=users(), ids=lambda uid: "root" if uid == 0 else "another user")
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """Folders of one user; the interpreter-run attempts find their program in the project."""
    made = make_world(tmp_path / "w", int(request.param))
    (made.project / "exchange.py").write_text(_EXCHANGE, encoding="utf-8")
    return made


@pytest.fixture
def own(tmp_path: Path) -> World:
    """A world of the user that runs the tests."""
    return make_world(tmp_path / "w", os.geteuid())


@requirement("S1-142", "S1-143", "REQ-S77", "REQ-S78", "REQ-S81")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*FREE, *CAGED])
def test_an_attempt_changes_nothing_outside(world: World, mode: Mode, name: str) -> None:
    if "$PYTHON" in (FREE | CAGED)[name]:
        world.python()
    before = world.facts()

    said, _ = world.attempt(mode, f"({(FREE | CAGED)[name]})\necho it was tried")

    assert "it was tried" in said
    assert "ESCAPED" not in said
    assert world.facts() == before


@pytest.mark.parametrize("name", FREE)
def test_an_attempt_works_where_there_is_no_cage(tmp_path: Path, name: str) -> None:
    world = make_world(tmp_path / "w", os.geteuid())
    (world.project / "exchange.py").write_text(_EXCHANGE, encoding="utf-8")
    before = world.facts()

    world.run((), FREE[name])

    assert world.facts() != before


# ---- what stays possible ------------------------------------------------------------------------


@requirement("S1-143", "S1-144")
@pytest.mark.parametrize("mode", MODES)
def test_a_command_can_work_and_commit_in_the_project(world: World, mode: Mode) -> None:
    said, settled = world.attempt(
        mode,
        'echo n > new.txt && mkdir d && mv a.txt d/ && echo x > "$TMPDIR/t" && cat "$TMPDIR/t" && '
        "$GIT add new.txt d && $GIT commit -q -m one && $GIT checkout -q -b side && "
        "$GIT -C sub commit -q --allow-empty -m two && $GIT log --format=%s && echo ok > /dev/null"
        " && mv pkg other && echo fine",
    )

    assert said.split()[0] == "x"
    assert "\none\nfine\n" in said
    assert settled.note == ""
    assert (world.project / "d/a.txt").read_text(encoding="utf-8") == "a\n"


@requirement("S1-143", "S1-144")
def test_workspace_write_reads_everywhere_and_uses_the_temporary_folder(world: World) -> None:
    said, _ = world.attempt(
        "workspace-write",
        'cat "$OUTSIDE/marker"; echo t > "$TMPDIR/made"; echo s > "$STATE/scratch/n"',
    )

    assert said == "untouched\n"
    assert (world.temporary / "made").read_text(encoding="utf-8") == "t\n"
    assert (world.scratch / "n").read_text(encoding="utf-8") == "s\n"


@requirement("REQ-S76", "REQ-S79")
def test_required_has_a_temporary_folder_of_its_own(world: World) -> None:
    said, _ = world.attempt(
        "required", 'echo "$TMPDIR"; echo t > /tmp/made; ls "$BASE/tmp"; echo u > "$BASE/tmp/own"'
    )
    again, _ = world.attempt("required", "cat /tmp/made; ls /run")

    assert said.splitlines()[0] == "/tmp"
    assert "seen" not in said
    assert again == "t\n"
    assert not (world.temporary / "own").exists()
    assert not Path("/tmp/made").exists()


@requirement("REQ-S81")
@pytest.mark.parametrize("mode", MODES)
def test_a_cage_leaks_no_open_file_and_required_makes_files_for_one_alone(
    world: World, mode: Mode
) -> None:
    said, _ = world.attempt(mode, "umask; ls /proc/self/fd | tr '\\n' ' '")
    umask = os.umask(0o22)
    os.umask(umask)
    wanted = 0o77 if mode == "required" else umask

    assert said.split() == [f"{wanted:04o}", "0", "1", "2", "3"]  # 3 is the folder being listed


@requirement("S1-143")
@pytest.mark.parametrize("mode", MODES)
def test_a_folder_outside_the_project_can_be_worked_in_but_not_written(
    world: World, mode: Mode
) -> None:
    confinement, _ = world.guarded(mode, cwd=world.outside)

    ran = world.run(confinement.prefix, "pwd; cat marker; echo x > marker; echo x > new")

    assert ran.stdout == f"{world.outside}\nuntouched\n"
    assert sorted(path.name for path in world.outside.iterdir()) == ["folder", "marker"]


@requirement("REQ-S77", "REQ-S78")
def test_a_project_below_the_temporary_folder_keeps_its_place(world: World) -> None:
    deep = world.base / "deep/er"
    deep.mkdir(parents=True)
    shutil.move(world.project, deep / "project")
    shutil.move(world.state, deep / "state")
    world.project, world.state = deep / "project", deep / "state"
    world.scratch = world.state / "scratch"
    confinement, _ = world.guarded("workspace-write", temporary=world.base)

    ran = world.run(
        confinement.prefix,
        'mv "$BASE/deep" "$BASE/gone"; mv "$BASE/deep/er" "$BASE/deep/gone";'
        'mv "$STATE" "$STATE.x"; echo x > "$STATE/record"; echo x > .git/config;'
        'echo t > "$BASE/t"; echo p > p; echo tried',
    )

    assert ran.stdout == "tried\n"
    assert (world.state / "record").read_text(encoding="utf-8") == "record\n"
    assert (world.project / "p").exists()
    assert (world.base / "t").exists()
    assert "[core]" in (world.project / ".git/config").read_text(encoding="utf-8")


@requirement("REQ-S81")
def test_a_setuid_program_in_the_project_gives_no_rights(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("unavailable: only root can make a program that belongs to root")
    world = make_world(tmp_path / "w", NOBODY)
    program = world.project / "who"
    shutil.copy("/usr/bin/id", program)
    program.chmod(0o4755)

    free = world.run((), "./who -u")
    said, _ = world.attempt("workspace-write", "./who -u")

    assert (free.stdout, said) == ("0\n", f"{NOBODY}\n")


# ---- processes and sockets ----------------------------------------------------------------------


@requirement("REQ-S79")
@pytest.mark.parametrize("mode", MODES)
def test_a_process_outside_cannot_be_ended_or_looked_into(world: World, mode: Mode) -> None:
    python = world.python()
    with subprocess.Popen(["sleep", "60"], user=world.uid or None) as outside:
        said, _ = world.attempt(
            mode,
            f"kill -9 {outside.pid} && echo ESCAPED; kill -9 -{outside.pid} && echo ESCAPED;"
            f'(exec 3>> /proc/{outside.pid}/mem) && echo ESCAPED; {python} -I -c "'
            f'import ctypes; print(ctypes.CDLL(None).ptrace(16, {outside.pid}, 0, 0))";'
            "echo tried",
        )
        ended = outside.poll()
        outside.send_signal(signal.SIGKILL)

    assert ended is None
    assert "ESCAPED" not in said
    assert "-1\n" in said


@contextmanager
def _listening(server: socket.socket) -> Generator[None]:
    """Answer each caller with one word until the end."""

    def answer() -> None:
        while True:
            try:
                caller, _ = server.accept()
            except OSError:
                return
            with closing(caller), caller:
                caller.sendall(b"ESCAPED")

    server.listen()
    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


def _call(family: str, address: str) -> str:
    return (
        "import socket\n"
        f"s = socket.socket(socket.{family})\n"
        f"s.connect({address})\n"
        "print(s.recv(9).decode())\n"
    )


def _says(world: World, mode: Mode, code: str) -> str:
    (world.project / "call.py").write_text(code, encoding="utf-8")
    return world.attempt(mode, f"{world.python()} -I call.py")[0]


@requirement("REQ-S79", "REQ-S80", "S1-144")
def test_the_network_is_open_in_workspace_write_and_closed_in_required(world: World) -> None:
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    call = _call("AF_INET", f"('127.0.0.1', {server.getsockname()[1]})")
    with _listening(server):
        assert "ESCAPED" in _says(world, "workspace-write", call)
        assert "ConnectionRefused" in _says(world, "required", call)


@contextmanager
def _socket_outside(world: World, patch: pytest.MonkeyPatch) -> Generator[str]:
    """A server outside the project that answers; code that calls it from its own folder.

    Named from its folder, as a path in one may be too long for a socket.
    """
    server = socket.socket(socket.AF_UNIX)
    with patch.context() as here:
        here.chdir(world.outside)
        server.bind("s")
        Path("s").chmod(0o666)
    with _listening(server):
        yield _call("AF_UNIX", "'s'")


@requirement("REQ-S79")
def test_a_unix_socket_outside_is_closed_in_required(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _socket_outside(world, monkeypatch) as call:
        script = f'ls -d s; {world.python()} -I -c "{call}"'
        opened, _ = world.guarded("workspace-write", cwd=world.outside)
        closed, _ = world.guarded("required", cwd=world.outside)

        assert "ESCAPED" in world.run(opened.prefix, script).stdout
        assert world.run(closed.prefix, script).stdout == "s\n"


@requirement("REQ-S79")
def test_where_calls_cannot_be_filtered_known_sockets_are_covered(own: World) -> None:
    place = own.outside / "s"
    if len(str(place)) > MOST_SOCKET_NAME:
        pytest.skip("unavailable: the test's folder has too long a name for a socket")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(place))
    script = f'ls -d s; {own.python()} -I -c "{_call("AF_UNIX", repr(str(place)))}"'
    with _listening(server):
        covered, _ = own.guarded("required", cwd=own.outside, unfiltered=True)
        ran = own.run(covered.prefix, script)

    assert ran.stdout == "s\n"
    assert "ConnectionRefused" in ran.stderr


@requirement("REQ-S79")
def test_an_abstract_socket_is_closed_in_required(world: World) -> None:
    name = f"\0arc-{os.getpid()}-{world.uid}"
    server = socket.socket(socket.AF_UNIX)
    server.bind(name)
    call = _call("AF_UNIX", repr(name))
    with _listening(server):
        assert "ESCAPED" in _says(world, "workspace-write", call)
        assert "ESCAPED" not in _says(world, "required", call)


@requirement("REQ-S79")
def test_ways_around_the_walls_of_required_are_closed(world: World) -> None:
    calls = "import ctypes, socket; c = ctypes.CDLL(None, use_errno=True)\n" + "".join(
        f"print(c.syscall({number}, 0, 0, 0, 0, 0))\n" for number in (425, 323, 250)
    )
    said = _says(world, "required", calls + "a, b = socket.socketpair(); print('pairs stay')\n")

    assert said == "-1\n-1\n-1\npairs stay\n"


# ---- the guard ----------------------------------------------------------------------------------


@requirement("REQ-S77")
def test_what_is_put_aside_is_named_and_kept(world: World) -> None:
    _, settled = world.attempt(
        "workspace-write", "echo one > .envrc; mkdir -p deep/.vscode; echo x > deep/.vscode/t"
    )

    assert settled.removed == (".envrc", "deep/.vscode")
    assert ".envrc, deep/.vscode" in settled.note
    assert (Path(settled.aside) / ".envrc").read_text(encoding="utf-8") == "one\n"
    assert (Path(settled.aside) / ".vscode/t").exists()


@requirement("REQ-S78")
def test_a_protected_file_that_is_written_through_its_second_name_is_told(world: World) -> None:
    (world.project / "second").hardlink_to(world.project / ".bashrc")

    _, quiet = world.attempt("workspace-write", "cat second")
    said, settled = world.attempt("workspace-write", "echo x > .bashrc; echo y > second")

    assert "Read-only" in said
    assert (quiet.note, settled.changed) == ("", (".bashrc",))
    assert settled.linked == (".bashrc",)


@requirement("REQ-S77", "REQ-S78")
def test_a_protected_folder_made_anew_after_its_parent_was_moved_is_put_aside(world: World) -> None:
    _, settled = world.attempt(
        "workspace-write", "mv pkg old; mkdir -p pkg/.vscode; echo evil > pkg/.vscode/tasks.json"
    )

    assert settled.removed == ("pkg/.vscode",)
    assert (world.project / "old/.vscode/tasks.json").read_text(encoding="utf-8") == "{}\n"
    assert not (world.project / "pkg/.vscode").exists()


@requirement("REQ-S77")
def test_a_new_repository_stays_and_loses_only_what_would_run(world: World) -> None:
    _, settled = world.attempt(
        "workspace-write",
        "$GIT init -q new; $GIT clone -q . copy; $GIT init -q bad;"
        "echo x > bad/.git/hooks/pre-commit;"
        "$GIT -C new config core.fsmonitor ./evil; $GIT init -q --bare plain.git;"
        "mkdir -p store/objects store/refs; echo 'ref: refs/heads/m' > store/HEAD;"
        "printf '[core]\\n\\tfsmonitor = ./evil\\n' > store/config",
    )

    assert set(settled.removed) == {"bad/.git/hooks", "new/.git/config", "store/config"}
    assert (world.project / "copy/.git/config").exists()
    assert (world.project / "bad/.git/config").exists()
    assert (world.project / "plain.git/config").exists()


@requirement("REQ-S77")
def test_a_worktree_stays_and_a_file_that_leads_elsewhere_does_not(world: World) -> None:
    _, settled = world.attempt(
        "workspace-write",
        "$GIT commit -q --allow-empty -m x; $GIT worktree add -q tree; mkdir e;"
        'echo "gitdir: $OUTSIDE" > e/.git',
    )
    _, later = world.attempt("workspace-write", "$GIT worktree remove tree")

    assert settled.removed == ("e/.git",)
    assert later.note == ""
    assert not (world.project / "tree").exists()


@requirement("REQ-S77")
def test_a_folder_whose_times_were_set_back_is_looked_at(world: World) -> None:
    watch = Watch(world.project, is_protected)
    watch.look()
    _, settled = world.attempt(
        "workspace-write", "touch -r lib m; echo x > lib/e.pth; touch -r m lib"
    )

    assert settled.removed == ("lib/e.pth",)
    assert "lib/e.pth" not in {item.path for item in watch.look().items}


# ---- where bubblewrap is missing ----------------------------------------------------------------

LANDLOCKED = [
    *(
        "a path",
        "two dots",
        "append",
        "cutting off",
        "another folder",
        "a link",
        "a link to a file",
    ),
    *("the root of a process", "a hard link", "removing", "moving out", "our state"),
    *("the home folder", "overwriting", "replacing", "removing what is protected", "hooks"),
    *("hooks of a nested repository", "hooks moved away", "the configuration"),
    *("the configuration replaced", "names that did not exist", "moving our state"),
    *("a disk", "the root of the first process", "changing the root"),
    *("another common folder", "exchanging the configuration"),
]


def _landlock(python: str, *writable: Path) -> list[str]:
    """What confines a command as the supervisor does where bubblewrap does not work."""
    return [python, "-I", "-S", landlock.__file__, *map(str, writable), "--"]


@requirement("REQ-S77", "REQ-S86", "S1-145")
@pytest.mark.parametrize("name", LANDLOCKED)
def test_landlock_and_the_guard_leave_nothing_changed(world: World, name: str) -> None:
    if not landlock.abi():
        pytest.skip("unavailable: this kernel has no Landlock")
    before = {path: (mode, told[-1]) for path, (mode, *told) in world.facts().items()}
    watch = Watch(world.project, is_protected)
    guard = Guard(watch, watch.look(), frozenset(), world.base / "aside")
    prefix = _landlock(world.python(), world.project, world.scratch, world.temporary)

    ran = world.run(prefix, f"({(FREE | CAGED)[name]})\necho it was tried")
    guard.settle()

    assert "it was tried" in ran.stdout
    assert "ESCAPED" not in ran.stdout
    after = {path: (mode, told[-1]) for path, (mode, *told) in world.facts().items()}
    assert after == before
    assert guard.settle().restored == ()


@requirement("REQ-S86", "S1-145")
def test_landlock_ends_no_process_outside_and_drops_what_root_can(tmp_path: Path) -> None:
    if landlock.abi() < 6:
        pytest.skip("unavailable: this kernel's Landlock does not hold signals")
    world = make_world(tmp_path / "w", os.geteuid())
    prefix = _landlock(sys.executable, world.project)
    with subprocess.Popen(["sleep", "60"]) as outside:
        ran = world.run(
            prefix,
            f"kill -9 {outside.pid} && echo ESCAPED; echo a > n && cat n;"
            "echo > /dev/null && echo b; grep CapEff /proc/self/status;"
            "sh -c 'sleep 9 & kill $!' && echo own",
        )
        ended = outside.poll()
        outside.kill()

    assert ended is None
    assert ran.stdout == "a\nb\nCapEff:\t0000000000000000\nown\n"


@requirement("REQ-S86")
def test_output_can_be_opened_again_under_landlock(tmp_path: Path) -> None:
    if not landlock.abi():
        pytest.skip("unavailable: this kernel has no Landlock")
    inside, spool = tmp_path / "inside", tmp_path / "spool"
    inside.mkdir()
    with spool.open("ab") as output:
        subprocess.run(
            [*_landlock(sys.executable, inside), "/bin/sh", "-c", "echo one >> /dev/stdout"],
            stdout=output,
            check=True,
        )

    assert spool.read_bytes() == b"one\n"


# ---- the sandbox of a session -------------------------------------------------------------------


def _sandbox(world: World, backends: Backends | None = None) -> Sandbox:
    found = backends or working_backends()
    return Sandbox(
        project=world.project,
        scratch=world.scratch,
        aside=world.state / "aside",
        state=[world.state],
        is_protected=is_protected,
        temporary=world.temporary,
        backends=lambda: found,
    )


@requirement("S1-142", "REQ-S75")
@pytest.mark.parametrize("mode", MODES)
def test_a_session_confines_and_settles_one_command_after_another(own: World, mode: Mode) -> None:
    sandbox = _sandbox(own)
    before = own.facts()
    for name in ("names that did not exist", "the repository moved away", "our state"):
        cage = sandbox.cage(mode, cwd=own.project)
        own.run(cage.confinement.prefix, FREE[name], cage.confinement.environment)
        assert cage.guard is not None
        cage.guard.settle()

    after = {path: fact for path, fact in own.facts().items() if not path.startswith("state/aside")}
    assert after == before


@requirement("REQ-S77", "REQ-S78")
def test_a_folder_that_a_running_command_can_move_is_not_laid_over_itself(own: World) -> None:
    sandbox = _sandbox(own)
    running = sandbox.cage("workspace-write", cwd=own.project)
    own.run(running.confinement.prefix, "$GIT init -q later; mkdir x; $GIT init -q x/.git/y")

    beside = sandbox.cage("workspace-write", cwd=own.project)
    own.run(beside.confinement.prefix, "mv later old; ln -s ../outside later")
    own.run(sandbox.cage("workspace-write", cwd=own.project).confinement.prefix, "echo > later/new")

    assert running.held == {".git", "sub", "sub/.git"} == beside.held
    assert not (own.outside / "new").exists()
    (own.project / "later").unlink()
    (own.project / "old").rename(own.project / "later")
    for cage in (running, beside):
        cage.settled()
    assert "later" in sandbox.cage("workspace-write", cwd=own.project).held


@requirement("REQ-S77")
def test_a_long_command_in_a_file_of_ours_can_be_read_in_required(own: World) -> None:
    script = own.state / "command.sh"
    script.write_text("echo read\n", encoding="utf-8")
    cage = _sandbox(own).cage("required", cwd=own.project)

    assert own.run(cage.confinement.prefix, f"sh {script}; echo x > {script}").stdout == "read\n"
    assert script.read_text(encoding="utf-8") == "echo read\n"


@requirement("REQ-S144")
def test_a_command_over_a_copy_changes_neither_project_nor_temporary_folder(own: World) -> None:
    copy = own.state / "copy"
    shutil.copytree(own.project, copy, symlinks=True)
    cage = _sandbox(own).cage("off", cwd=own.project, overlay=copy)

    ran = own.run(
        cage.confinement.prefix,
        'pwd; echo new > a.txt; echo x > "$BASE/tmp/t"; echo x > .git/config; cat a.txt',
    )

    assert ran.stdout == f"{own.project}\nnew\n"
    assert (own.project / "a.txt").read_text(encoding="utf-8") == "a\n"
    assert (copy / "a.txt").read_text(encoding="utf-8") == "new\n"
    assert not (own.temporary / "t").exists()
    assert "[core]" in (copy / ".git/config").read_text(encoding="utf-8")


@requirement("REQ-S75")
def test_a_project_that_cannot_be_mounted_is_refused_by_required(own: World) -> None:
    if os.geteuid():
        pytest.skip("unavailable: only root can give a folder to another user")
    closed = own.base / "closed"
    closed.mkdir()
    shutil.move(own.project, closed / "project")
    own.project = closed / "project"
    os.chown(closed, NOBODY, NOBODY)
    closed.chmod(0o700)
    sandbox = _sandbox(own)

    with pytest.raises(ToolError, match="nothing ran"):
        sandbox.cage("required", cwd=own.project)

    assert sandbox.cage("workspace-write", cwd=own.project).confinement.backend in {"landlock", ""}


@requirement("S1-143")
@pytest.mark.parametrize("mode", MODES)
def test_a_home_folder_can_be_the_project(
    own: World, monkeypatch: pytest.MonkeyPatch, mode: Mode
) -> None:
    monkeypatch.setenv("HOME", str(own.project))
    cage = _sandbox(own).cage(mode, cwd=own.project)

    ran = own.run(cage.confinement.prefix, "echo n > new; echo x > .bashrc; cat .bashrc new")

    assert ran.stdout == "# shell\nn\n"


@requirement("REQ-S77")
def test_state_in_the_project_is_read_only_for_commands(own: World) -> None:
    inner = own.project / "lesson/state"
    inner.parent.mkdir()
    shutil.move(own.state, inner)
    own.state, own.scratch = inner, inner / "scratch"
    cage = _sandbox(own).cage("workspace-write", cwd=own.project)

    ran = own.run(
        cage.confinement.prefix,
        'echo x > "$STATE/record"; mv lesson l; mv "$STATE" s; echo n > "$STATE/scratch/n";'
        "echo tried",
    )

    assert ran.stdout == "tried\n"
    assert (inner / "record").read_text(encoding="utf-8") == "record\n"
    assert (inner / "scratch/n").exists()


# ---- where our state lies -----------------------------------------------------------------------

# The home folder of our state, that of the sessions, the project and the temporary folder.
LAYOUTS = {
    "sessions in the project": ("home", "p/lesson", "p", "tmp"),
    "sessions deep in the project": ("home", "p/a/b/lesson", "p", "tmp"),
    "home in the project": ("p/st", "p/st/sessions", "p", "tmp"),
    "home in a protected folder": ("p/.claude/x/y/st", "p/.claude/x/y/st/sessions", "p", "tmp"),
    "home in the temporary folder": ("tmp/a/st", "tmp/a/st/sessions", "p", "tmp"),
    "sessions in the temporary folder": ("home", "tmp/a/lesson", "p", "tmp"),
    "all in the temporary folder": ("tmp/p/a/st", "tmp/p/b/lesson", "tmp/p", "tmp"),
    "the temporary folder in the project": ("p/tmp/st", "p/tmp/st/sessions", "p", "p/tmp"),
    "the temporary folder in our home": ("st", "st/sessions", "p", "st/tmp"),
    "home is the temporary folder": ("tmp", "tmp/sessions", "p", "tmp"),
    "the project in our home": ("st", "st/sessions", "st/project", "tmp"),
    "the project is our session": ("st", "st/sessions", "st/sessions/s", "tmp"),
    "the project is our sessions": ("st", "st/sessions", "st/sessions", "tmp"),
    "home is the project": ("p", "p/sessions", "p", "tmp"),
}
_EVERYWHERE = """
for f in $(find "$HOME_OF_STATE" "$SESSIONS" -type f); do
    echo x >> "$f"; printf "" > "$f"; echo x > n && mv -f n "$f"; chmod 777 "$f"; rm -f "$f"
done
for d in $(find "$HOME_OF_STATE" "$SESSIONS" -type d); do
    echo > "$d/hacked"; mv "$d" "$d.gone"; chmod 777 "$d"
done
at=$SESSIONS/s/shell
while [ ${#at} -gt ${#BASE} ]; do
    mv "$at" "$at.gone"; ln -s "$OUTSIDE" "$at"; at=${at%/*}
done
echo n > "$SESSIONS/s/shell/scratch/n"
echo tried
"""


@requirement("REQ-S77", "REQ-S78")
@pytest.mark.parametrize("how", ["workspace-write", "required", "over a copy"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_our_state_is_read_only_wherever_it_lies(tmp_path: Path, layout: str, how: str) -> None:
    base = tmp_path.resolve()
    home, sessions, project, temporary = (base / place for place in LAYOUTS[layout])
    own = sessions / "s/shell"
    for folder in (home / "workspaces", project, temporary, own / "scratch", own / "s1"):
        folder.mkdir(parents=True, exist_ok=True)
    files = (sessions / "s/transcript.jsonl", own / "s1/output", home / "workspaces/journal.jsonl")
    for file in (*files, sessions / "s/lock", home / "settings.json", own / "s1/command.sh"):
        file.write_text("echo ours\n", encoding="utf-8")
    copy = base / "copy"
    copy.mkdir()
    backends = working_backends()
    sandbox = Sandbox(
        project=project,
        scratch=own / "scratch",
        aside=own / "aside",
        state=[home, sessions, own],
        is_protected=is_protected,
        temporary=temporary,
        backends=lambda: backends,
    )
    before = _all_of(home, sessions)

    over = copy if how == "over a copy" else None
    mode: Mode = "workspace-write" if how == "workspace-write" else "required"
    cage = sandbox.cage(mode, cwd=project, overlay=over)
    ran = subprocess.run(
        [*cage.confinement.prefix, "/bin/sh", "-c", f"sh {own}/s1/command.sh; {_EVERYWHERE}"],
        env={
            "PATH": os.defpath,
            "BASE": str(base),
            "OUTSIDE": str(base / "copy"),
            "HOME_OF_STATE": str(home),
            "SESSIONS": str(sessions),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert cage.confinement.backend == "bubblewrap"
    assert ran.stdout == "ours\ntried\n"
    assert cage.settled() == ""
    assert _all_of(home, sessions) == before
    assert (own / "scratch/n").exists() == (how == "workspace-write")
    assert not [place for place in base.rglob("*.gone") if "copy" not in place.parts]


def _all_of(*folders: Path) -> dict[str, tuple[int, int, bytes]]:
    """What commands must not change; the folders that only they and the sandbox write left out."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for place in (place for folder in folders for place in (folder, *folder.rglob("*"))):
        if not {"scratch", "aside", "copy"} & set(place.parts):
            told = place.lstat()
            content = place.read_bytes() if place.is_file() else b""
            found[str(place)] = (told.st_mode, told.st_ino, content)
    return found


@requirement("REQ-S78")
def test_one_command_cannot_move_the_way_to_the_project_of_another(own: World) -> None:
    own.temporary = own.base
    deep = own.base / "deep/er"
    deep.mkdir(parents=True)
    shutil.move(own.project, deep / "project")
    own.project = deep / "project"
    sandbox = _sandbox(own)

    first = sandbox.cage("required", cwd=own.project).confinement
    own.run(first.prefix, 'for f in "$BASE" /tmp /var/tmp; do mv $f/deep $f/gone; done')

    assert not list(own.scratch.rglob("gone"))
    again = sandbox.cage("required", cwd=own.project).confinement
    assert own.run(again.prefix, "pwd; cat a.txt").stdout == f"{own.project}\na\n"


@requirement("REQ-S77")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", ["project/a/later", "tmp/later"])
def test_state_that_comes_after_the_first_command_is_read_only(
    own: World, mode: Mode, place: str
) -> None:
    later = own.base / place
    backends = working_backends()
    sandbox = Sandbox(
        project=own.project,
        scratch=own.scratch,
        aside=own.state / "aside",
        state=[own.state, later, later / "sessions"],
        is_protected=is_protected,
        temporary=own.temporary,
        backends=lambda: backends,
    )
    script = 'mkdir -p "$L/sessions"; echo x > "$L/settings.json"; echo x > "$L/sessions/x"'

    own.run(sandbox.cage(mode, cwd=own.project).confinement.prefix, script, {"L": str(later)})
    (later / "sessions").mkdir(parents=True, exist_ok=True)
    (later / "journal").write_text("", encoding="utf-8")
    own.run(sandbox.cage(mode, cwd=own.project).confinement.prefix, script, {"L": str(later)})

    assert sorted(path.name for path in later.rglob("*")) == ["journal", "sessions"]


@requirement("REQ-S77")
def test_a_link_that_leads_to_our_state_is_put_back(own: World) -> None:
    (own.project / "lesson").symlink_to(own.state)
    backends = working_backends()
    sandbox = Sandbox(
        project=own.project,
        scratch=own.scratch,
        aside=own.state / "aside",
        state=[own.project / "lesson"],
        is_protected=is_protected,
        temporary=own.temporary,
        backends=lambda: backends,
    )

    cage = sandbox.cage("workspace-write", cwd=own.project)
    own.run(cage.confinement.prefix, "rm lesson; mkdir lesson; echo x > lesson/settings.json")

    assert cage.settled() == "The link lesson was changed and put back."
    assert (own.project / "lesson/record").read_text(encoding="utf-8") == "record\n"
    assert sandbox.cage("workspace-write", cwd=own.project).settled() == ""
