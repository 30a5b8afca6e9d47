"""Names that are refused when something is created, and names that stay protected."""

import re
from pathlib import Path

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
from arc_workbench.workspace.names import fold, is_protected, refusal
from tests.requirements import requirement

REFUSED = [
    ("CON", "device"),
    ("con.txt", "device"),
    ("NUL.txt", "device"),
    ("nul.tar.gz", "device"),
    ("aux", "device"),
    ("Aux .c", "device"),
    ("COM1", "device"),
    ("COM\u00b9", "device"),
    ("lpt\u00b3.log", "device"),
    ("CONIN$", "device"),
    ("C\u200bON", "device"),
    ("src/prn/a.txt", "device"),
    ("name.", "lost"),
    ("name ", "lost"),
    ("folder./a.txt", "lost"),
    ("...", "lost"),
    (" ", "lost"),
    ("\u200b", "lost"),
    ("file::$DATA", ":"),
    (".git::$INDEX_ALLOCATION", ":"),
    ("file.txt:stream", ":"),
    ("C:drive-relative.txt", ":"),
    ("what?.txt", "?"),
    ("<b>.html", "<"),
    ("two\nlines", "U+000A"),
    ("bell\x07", "U+0007"),
    ("half\udcff", "U+DCFF"),
    ("\\\\?\\C:\\a.txt", "backslash"),
    ("\\??\\C:\\a.txt", "backslash"),
    ("\\\\server\\share\\a.txt", "backslash"),
    ("src\\a.txt", "backslash"),
    ("PROGRA~1", "short name"),
    ("git~1/config", "short name"),
    ("LONGFI~2.TXT", "short name"),
    ("~/notes.txt", "home"),
    (".GIT/config", "take it for .git"),
    (".g\u200cit/config", "take it for .git"),
    (".gi\ufe0ft", "take it for .git"),
    (".BashRC", "take it for .bashrc"),
]

ALLOWED = [
    *("a.txt", "src/a.py", ".env", ".gitignore", ".github/workflows/ci.yml", ".git/info/exclude"),
    *("a b.txt", " lead.txt", "-rf", "#1", "%2e%2e", "[id].tsx", "a~b.txt", "notes.txt~", "a.b.c"),
    *("console.txt", "com", "com10", "com1a.txt", "nullable.py", "auxiliary/con1.txt", "lpt"),
    *(
        "café.txt",
        "cafe\u0301.txt",
        "日本語.md",
        "👩\u200d💻.png",
        "İstanbul",
        "straße",
        "COM\u2074",
    ),
    *("it's", "a;b", "a&b", "$HOME", "`x`", "{x}", "a,b=c+d@e!", ".", "a/../b", "a//b", ""),
]


@requirement("REQ-S57", "REQ-S58")
@pytest.mark.parametrize(("path", "said"), REFUSED)
def test_what_other_systems_cannot_hold_or_take_for_something_else_is_refused(
    path: str, said: str
) -> None:
    assert said in (refusal(path) or "")


@requirement("REQ-S57")
@pytest.mark.parametrize("path", ALLOWED)
def test_an_ordinary_name_is_not(path: str) -> None:
    assert refusal(path) is None


@requirement("REQ-S57")
@pytest.mark.parametrize(("path", "said"), [pair for pair in REFUSED if "\udcff" not in pair[0]])
def test_nothing_is_created_under_a_refused_name(
    workspace: Workspace, root: Path, path: str, said: str
) -> None:
    for place in (workspace.inside(path), workspace.anywhere(path)):
        with pytest.raises(ToolError, match=f"(?s)nothing was written: .*{re.escape(said)}"):
            workspace.plan_write(place, "x")

    assert list(root.iterdir()) == []


@requirement("REQ-S57")
@pytest.mark.parametrize("name", ["aux.c", "what?.txt", "name.", "a\\b", "PROGRA~1", "a:b/c: d"])
def test_what_has_such_a_name_already_is_read_changed_and_joined_by_others(
    workspace: Workspace, root: Path, name: str
) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("one", encoding="utf-8")
    place = workspace.inside(name)

    assert workspace.read(place).text == "one"
    assert workspace.plan_edit(place, "one", "two").content == b"two"
    assert workspace.plan_write(place, "two").content == b"two"
    (root / "odd: folder").mkdir()
    assert workspace.plan_write(workspace.inside("odd: folder/plain.txt"), "x").op == "create"


PROTECTED = [
    ".git",
    ".git/hooks/pre-commit",
    ".git/config",
    "sub/repo/.git/config",
    ".Git/Config",
    ".gIt/config",
    ".g\u200cit/config",
    ".git\ufeff/config",
    ".gi\ufe0ft/config",
    ".git./config",
    ".git /config",
    ".git . ./config",
    ".git::$INDEX_ALLOCATION/config",
    "GIT~1/config",
    "git~2/config",
    "GI7EBA~1",
    "GITMOD~1",
    ".gitmodules",
    ".hg/hgrc",
    ".bashrc",
    ".ZSHENV",
    ".vscode/tasks.json",
    ".claude/settings.json",
    ".mcp.json",
    ".arc_workbench/config.json",
    ".ipython/profile_default/startup/00.py",
    ".jupyter/jupyter_server_config.py",
    "jupyter_notebook_config.json",
    "etc/ipython_config.py",
    "lib/sitecustomize.py",
    "site-packages/x.pth",
    "site-packages/X.PTH",
    *("src/.dir-locals-2.el", "x.code-workspace", ".sublime-project", "My.Sublime-Project"),
    *(".helix/config.toml", ".devcontainer/devcontainer.json", ".lvimrc", ".opencode/agent/x.md"),
    *(".husky/pre-commit", ".config/git/config", "me/.CONFIG/systemd/user/x.service"),
    *(".config/autostart/x.desktop", ".ssh/authorized_keys", ".gnupg/gpg.conf"),
    ".local/share/jupyter/kernels/python3/kernel.json",
]


@requirement("REQ-S57")
@pytest.mark.parametrize("path", PROTECTED)
def test_what_programs_obey_is_protected_in_every_spelling(path: str) -> None:
    assert is_protected(path.split("/"))


@requirement("REQ-S57")
@pytest.mark.parametrize(
    "path",
    [
        *("a.txt", ".gitignore", ".gitattributes", ".github/workflows/ci.yml", "git/config"),
        *("agit", ".env", "digit~1", "g~1", "profile", "jupyter.md", "config.json", ".pth", ""),
        *(".config/app/x", ".config/gitk", "config/git", ".local/share/jupyter/runtime/kernel-1"),
        *("share/jupyter/kernels/x", "ssh/config", "code-workspace", "git/.config"),
    ],
)
def test_other_names_are_not_protected(path: str) -> None:
    assert not is_protected(path.split("/"))


@requirement("REQ-S57")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (".ENV", ".env"),
        ("CAFÉ", "cafe\u0301"),
        ("a\u00adb\u200d", "ab"),
        ("STRASSE. .", "straße"),
        ("file::$DATA", "File"),
        ("\u1e9b\u0323", "\u1e9b\u0323"),
    ],
)
def test_spellings_that_some_system_takes_for_one_name_are_folded_to_one(
    one: str, other: str
) -> None:
    assert fold(one) == fold(other) == fold(fold(one))
