"""Where names lead: inside the project, out of it, or nowhere."""

import json
import os
import socket
from pathlib import Path
from urllib.parse import unquote

import pytest

from arc_workbench.errors import ToolError
from arc_workbench.workspace import Workspace
from tests.requirements import requirement


def test_a_relative_name_leads_below_the_root(workspace: Workspace, root: Path) -> None:
    place = workspace.inside("src/../src//./a.py")

    assert place.path == root / "src/a.py"
    assert place.shown == "src/a.py"
    assert place.via == ""


@requirement("REQ-S58", "S2-020")
@pytest.mark.parametrize(
    "text",
    [
        "..",
        "../proj_evil/secret.txt",
        "a/../../proj_evil/secret.txt",
        "../proj/a.txt",
        "/etc/passwd",
        "//etc/passwd",
        "",
        "a\0b",
        "a/" * 3000,
        "n" * 256,
        "\ud800",
    ],
)
def test_a_name_that_leaves_the_project_or_cannot_be_is_refused(
    workspace: Workspace, outside: Path, text: str
) -> None:
    assert outside.exists()
    with pytest.raises(ToolError):
        workspace.inside(text)


@requirement("REQ-S58")
def test_an_absolute_name_is_refused_even_when_it_is_inside(
    workspace: Workspace, root: Path
) -> None:
    with pytest.raises(ToolError, match="relative to the project"):
        workspace.inside(str(root / "a.txt"))


@requirement("REQ-S58")
@pytest.mark.parametrize("text", ["~", "%2e%2e/x", "..;/x", "back\\slash", "...", " "])
def test_an_odd_name_is_only_a_name(workspace: Workspace, root: Path, text: str) -> None:
    assert workspace.inside(text).path == root / text


@requirement("REQ-S59", "S2-020")
@pytest.mark.parametrize("target", ["{out}/secret.txt", "../proj_evil/secret.txt"])
def test_a_link_to_the_outside_is_refused(
    workspace: Workspace, root: Path, outside: Path, target: str
) -> None:
    (root / "link.txt").symlink_to(target.format(out=outside))

    with pytest.raises(ToolError, match="outside the project"):
        workspace.inside("link.txt")


@requirement("REQ-S59")
@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("{out}", "link/secret.txt"),
        ("{out}/new.txt", "link"),
        ("/proc/self/root", "link/etc/passwd"),
        ("/", "link/etc/passwd"),
    ],
)
def test_a_way_out_through_a_linked_folder_or_a_dangling_link_is_refused(
    workspace: Workspace, root: Path, outside: Path, link: str, name: str
) -> None:
    (root / "link").symlink_to(link.format(out=outside))

    with pytest.raises(ToolError, match="outside the project"):
        workspace.inside(name)


@requirement("REQ-S59")
def test_a_chain_of_forty_links_that_stays_inside_is_followed(
    workspace: Workspace, root: Path
) -> None:
    (root / "end.txt").write_text("end", encoding="utf-8")
    target = "end.txt"
    for number in range(39):
        (root / f"l{number}").symlink_to(target)
        target = f"l{number}"

    assert workspace.inside("l38").shown == "end.txt"


@requirement("REQ-S59", "J-13")
def test_links_in_a_circle_are_named_as_such(workspace: Workspace, root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")

    with pytest.raises(ToolError, match="back to itself"):
        workspace.inside("a")
    with pytest.raises(ToolError, match="back to itself"):
        workspace.anywhere("a")


@requirement("S1-176", "J-11")
def test_a_link_is_followed_and_the_spelling_is_kept_as_via(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    (root / "inner.txt").write_text("x", encoding="utf-8")
    (root / "near").symlink_to("inner.txt")
    (root / "far").symlink_to(outside / "secret.txt")

    near, far = workspace.anywhere("near"), workspace.anywhere("far")

    assert (near.shown, near.via) == ("inner.txt", "near")
    assert (far.path, far.shown) == (outside / "secret.txt", str(outside / "secret.txt"))
    assert far.via == "far"


@requirement("J-12")
def test_a_dangling_link_leads_to_what_it_would_create(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    (root / "later").symlink_to(outside / "new.txt")

    assert workspace.anywhere("later").path == outside / "new.txt"


def test_an_absolute_name_is_taken_as_it_is_and_a_tilde_is_not_expanded(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    assert workspace.anywhere(str(outside / "secret.txt")).via == ""
    assert workspace.anywhere(str(root / "a/b.txt")).shown == "a/b.txt"
    assert workspace.anywhere("~/x").path == root / "~/x"


def test_a_root_behind_a_link_keeps_the_name_it_was_given(
    tmp_path: Path, root: Path, home: Path
) -> None:
    (tmp_path / "alias").symlink_to(root)
    workspace = Workspace(tmp_path / "alias", home)

    assert workspace.root == tmp_path / "alias"
    assert workspace.real_root == root
    for place in (workspace.inside("a.txt"), workspace.anywhere(str(root / "a.txt"))):
        assert (place.path, place.real) == (tmp_path / "alias/a.txt", root / "a.txt")
        assert (place.shown, place.via) == ("a.txt", "")


@requirement("REQ-S63", "REQ-F50", "BUG-G12")
@pytest.mark.parametrize("kind", ["fifo", "device", "socket", "folder", "proc", "stdin"])
def test_what_is_no_regular_file_is_never_opened(
    workspace: Workspace, root: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    special = root / "special"
    if kind == "fifo":
        os.mkfifo(special)
    elif kind == "socket":
        monkeypatch.chdir(root)  # the name of a socket must be short
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("special")
    elif kind == "folder":
        special.mkdir()
    names = {"device": "/dev/zero", "proc": "/proc/self/environ", "stdin": "/dev/stdin"}
    place = workspace.anywhere(names.get(kind, "special"))

    for attempt in (
        lambda: workspace.read(place),
        lambda: workspace.read_image(place),
        lambda: workspace.plan_write(place, "x"),
        lambda: workspace.plan_edit(place, "a", "b"),
    ):
        with pytest.raises(ToolError):
            attempt()


@requirement("REQ-S58", "J-63")
def test_no_traversal_text_of_the_corpus_reaches_a_file_outside(
    corpora: Path, workspace: Workspace, root: Path
) -> None:
    lines = (corpora / "paths/traversal.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"].replace("{FILE}", "etc/passwd") for line in lines]
    assert len(texts) > 800
    (root / "sub").mkdir()

    escaped: list[str] = []
    for text in texts:
        for spelling in (text, unquote(text), unquote(unquote(text))):
            for name in (spelling, "sub/" + spelling):
                try:
                    place = workspace.inside(name)
                except ToolError:
                    continue
                if not Path(os.path.realpath(place.real)).is_relative_to(root):
                    escaped.append(name)

    assert escaped == []
