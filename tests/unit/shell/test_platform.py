"""Which program runs a command line, as a function of the platform."""

from arc_workbench.shell.platform import interpreter, spawn_flags
from tests.requirements import requirement


@requirement("S1-064")
def test_posix_runs_bin_sh_whatever_the_person_uses() -> None:
    sh = interpreter("posix", {"SHELL": "/bin/zsh"})

    assert sh.line("echo hi") == ["/bin/sh", "-c", "--", "echo hi"]
    assert spawn_flags("posix") == 0


@requirement("S1-065")
def test_windows_runs_what_comspec_names() -> None:
    cmd = interpreter("nt", {"ComSpec": r"D:\Windows\cmd.exe"})

    assert cmd.line('dir "a b"') == r'"D:\Windows\cmd.exe" /d /s /c "dir "a b""'


@requirement("S1-065")
def test_windows_without_comspec_runs_cmd() -> None:
    assert interpreter("nt", {}).program == "cmd.exe"


@requirement("S1-066", "S1-067")
def test_the_words_for_a_description_name_the_shell_and_its_idioms() -> None:
    assert "/bin/sh -c" in interpreter("posix", {}).described
    windows = interpreter("nt", {"COMSPEC": "cmd.exe"}).described
    assert "cmd.exe" in windows
    assert "heredocs" in windows
