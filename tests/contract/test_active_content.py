"""Nothing that a model, a tool or a file says becomes active content, wherever it is shown."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import cast

import pytest

from arc_workbench.content import (
    ChangeRow,
    Changes,
    Declaration,
    Diff,
    Display,
    Matches,
    MatchLine,
    Name,
    Names,
    Outline,
    Output,
    Recovery,
    RecoveryEntry,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from arc_workbench.events import FileChanged, PermissionRequested, Steered
from arc_workbench.frontends import plain
from arc_workbench.frontends.notebook import render
from arc_workbench.frontends.notebook.elements import (
    ATTRIBUTES,
    LIVE_TAGS,
    TAGS,
    link,
    to_json,
)
from arc_workbench.frontends.notebook.static import static_bundle
from arc_workbench.frontends.odd import pieces
from arc_workbench.views import TurnView
from tests.requirements import requirement
from tests.unit.frontends.turns import Telling, command, question, resolved

# Each test reads its share of two thousand strings.
pytestmark = pytest.mark.timeout(60)
SHARES = 12
# Marks of our own inside a text: what is odd, coloured, changed, bold or left out.
INLINE = {
    "aw-bad", "aw-c", "aw-k", "aw-look", "aw-odd", "aw-out__bad", "aw-out__good", "aw-s", "aw-soft",
    "aw-space",
}  # fmt: skip

FORMS = (
    "TEXT",
    "![TEXT](TEXT)",
    "[TEXT](TEXT 'TEXT')",
    "<TEXT>",
    "`TEXT`",
    "|a|b|\n|-|-|\n|TEXT|x|",
    "```TEXT\nTEXT\n```",
    "[x]: TEXT\n\n[x] ![x]",
)


Shape = list[tuple[str, tuple[tuple[str, str | None], ...]]]


class Reader(HTMLParser):
    """Reads HTML as a browser does: elements with their attributes, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[tuple[str, tuple[tuple[str, str | None], ...]]] = set()
        self.shape: Shape = []
        self.text = ""
        self.other: list[str] = []
        self._marks: list[bool] = []
        self._warning = 0  # how deep inside the strip that names odd characters
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.add((tag, tuple(attrs)))
        inside = self._warning > 0 or given.get("class") == "aw-ask__risk"
        self._warning += inside and tag not in {"br", "hr"}
        is_mark = inside or tag in {"b", "del", "ins"} or given.get("class") in INLINE
        if tag not in {"br", "hr"}:
            self._marks.append(is_mark)
        if not is_mark:
            self.shape.append((tag, tuple((n, _even(n, v)) for n, v in given.items())))

    def handle_endtag(self, tag: str) -> None:
        self._warning -= self._warning > 0
        if not self._marks.pop():
            self.shape.append((f"/{tag}", ()))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)

    def unknown_decl(self, data: str) -> None:
        self.other.append(data)


def _even(name: str, value: str | None) -> str | None:
    """The width of a column, and whether its text may break, follow its length: no difference."""
    if name == "class" and value:
        return value.replace("aw-whole", "aw-long")
    return re.sub(r"\d+", "N", value) if name == "style" and value else value


@pytest.fixture(scope="module")
def strings(corpora: Path) -> list[str]:
    lines = (corpora / "xss/payloads/strings.jsonl").read_text(encoding="utf-8").splitlines()
    naughty = (corpora / "xss/naughty-strings/blns.json").read_text(encoding="utf-8")
    hostile = [
        '<div data-commandlinker-command="kernelmenu:run" data-commandlinker-args="{}">x</div>',
        '<form action="javascript:alert(1)"><input autofocus onfocus=alert(1)><button>x</button>',
        '<a href="javascript:alert(1)" id="cell" name="Jupyter">x</a><img name=body src=x>',
        "</span></pre></div></style><script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</textarea><svg onload=alert(1)>",
    ]
    return [json.loads(line)["text"] for line in lines] + json.loads(naughty) + hostile


def everywhere(text: str) -> TurnView:
    """A turn that shows a text in every place where something foreign can stand."""
    telling = Telling().open(model=f"m{text}")
    telling.view.prompt = f"p{text}"
    telling.notice(f"n{text}")
    say = (Thinking(text=f"t{text}"), ToolCall(id="a", name=text, arguments=f"a{text}"))
    telling.reply(*say, ToolCall(id="b", name=text, arguments="{}"))
    telling.start("a", f"x{text}", None)
    telling.finish(ToolResult.error(f"r{text}", note=f"n{text}"), "failed", call_id="a")
    telling.start("b", text, {f"k{text}": text, "list": [text, {text: 1}]}, f"s{text}")
    shown = (Output(text=f"o{text}"), diff_of(text), *found(text), *journal(text))
    telling.finish(ToolResult(content=(Text(text=text),), display=shown, note=text), call_id="b")
    changed = diff_of(text)
    telling.tell(
        FileChanged(
            call_id="b", change_id="c1", path=text, sha256="", diff=changed.unified, created=False
        ),
        Steered(text=f"s{text}"),
    )
    asked = command(f"ls {text}", description=f"d{text}", extra=text)
    answered(telling, asked.model_copy(update={"because": f"b{text}", "cwd": f"/{text}"}))
    answered(telling, question([diff_of(text)], effect="write", subject=text, tool=f"t{text}"))
    answered(telling, question(description=f"d{text}", given={f"k{text}": text}, tool=f"t{text}"))
    return telling.end("error", f"e{text}").view


def diff_of(text: str) -> Diff:
    lines = (
        "--- a/x",
        "+++ b/x",
        f"@@ -5,2 +5,2 @@ h{text}",
        f" {text}",
        f"-a {text}",
        f"+b {text}",
    )
    return Diff(path=f"f{text}", unified="\n".join(lines) + "\n")


def found(text: str) -> tuple[Display, ...]:
    """A text as the name of a file, as what matched in it, and as what it declares."""
    line = MatchLine(path=text, line=1, text=f"a{text}b", spans=((0, 1),))
    around = MatchLine(path=f"2{text}", line=2, text=f"c{text}", context=True)
    kinds = ("file", "folder", "link", "other")
    names = (Name.model_validate({"path": text, "kind": kind, "size": 1}) for kind in kinds)
    declared = Declaration(line=1, kind=f"k{text}", name=text, signature=f"d {text}", depth=1)
    return (
        Matches(lines=(line, around), count=1, note=f"n{text}"),
        Names(names=tuple(names), note=f"n{text}"),
        Outline(path=text, size=1, total_lines=1, declarations=(declared,)),
    )


def journal(text: str) -> tuple[Display, ...]:
    """A text as the name of a file that was changed, and as what is told of it."""
    row = ChangeRow(
        id=f"c{text}", op="edit", path=text, added=1, removed=1, status="undone", undoes=f"u{text}"
    )
    entry = RecoveryEntry(
        id=f"c{text}", path=text, op="edit", status="s", happened=f"h{text}", next=f"n{text}"
    )
    return (
        Changes(changes=(row,)),
        Recovery(verdict="ambiguous", mutation_blocked=True, entries=(entry,)),
    )


def answered(telling: Telling, asked: PermissionRequested) -> None:
    """Ask twice: one question is answered, one stays open."""
    for is_open in (False, True):
        telling.call("x", {}, "x")
        copy = asked.model_copy(update={"call_id": f"call{telling.calls}"})
        telling.ask(copy)
        if not is_open:
            telling.tell(resolved(copy, "deny", reason=f"w{copy.description}"))


def drawn(view: TurnView) -> Reader:
    page = static_bundle(view, prompt=True)["text/html"]
    style, _, body = page.partition("</style>")
    assert style.startswith("<style>")
    assert "<" not in style.removeprefix("<style>")
    return Reader(body)


def assert_inert(reader: Reader) -> None:
    assert not reader.other
    for tag, attrs in ((tag, dict(attrs)) for tag, attrs in reader.elements):
        assert tag in TAGS - LIVE_TAGS
        for name, value in attrs.items():
            assert name in ATTRIBUTES
            assert ATTRIBUTES[name].fullmatch(value or "")
            assert not name.startswith(("data-", "on"))
        href = attrs.get("href")
        assert href is None or href.startswith("#aw-") or link(href) is not None


@requirement("REQ-S19", "REQ-S20", "REQ-S25", "BUG-N16", "BUG-P13")
@pytest.mark.parametrize("share", range(SHARES))
def test_a_hostile_string_is_text_in_every_place_where_it_can_stand(
    strings: list[str], share: int
) -> None:
    expected = drawn(everywhere("x")).shape
    for text in strings[share::SHARES]:
        reader = drawn(everywhere(text))
        assert_inert(reader)
        assert reader.shape == expected, text
        if is_plain(text):
            assert text in reader.text


def is_plain(text: str) -> bool:
    """Nothing in it is printed as what it is instead of as itself."""
    return all(isinstance(piece, str) for piece in pieces(text, "action")) and len(text) < 80


@requirement("REQ-S19", "REQ-S20", "REQ-S23", "REQ-S29", "BUG-N16")
@pytest.mark.parametrize("share", range(SHARES))
def test_words_of_a_model_are_drawn_from_a_closed_set_without_a_picture_or_a_handler(
    strings: list[str], share: int
) -> None:
    for text in strings[share::SHARES]:
        words = "\n\n".join(FORMS).replace("TEXT", text)
        assert_inert(drawn(Telling().open().say(words).end().view))


@requirement("REQ-S7", "REQ-S19", "REQ-S31")
def test_the_live_form_has_only_words_that_our_code_wrote_beside_the_text(
    strings: list[str],
) -> None:
    strip = {
        f'{{"class": "{name}"}}' for name in INLINE | {"aw-ask__risk", "aw-mark aw-mark--warn"}
    }
    known = {"{}", '{"aria-hidden": "true", "class": "aw-mark aw-mark--warn"}', *strip}
    known |= attributes(to_json(render.turn(everywhere("x"))))
    known |= {each.replace("aw-whole", "aw-long") for each in known}
    for text in strings[::20]:
        assert attributes(to_json(render.turn(everywhere(text)))) <= known, text


def attributes(node: object) -> set[str]:
    """All attributes of a live form."""
    if not isinstance(node, list):
        return set()
    _, attrs, *children = cast("tuple[str, dict[str, object]]", node)
    own = {name: value for name, value in attrs.items() if name != "style"}
    return {json.dumps(own, sort_keys=True)}.union(*map(attributes, children))


@requirement("REQ-S24", "REQ-S25")
def test_plain_text_holds_no_character_that_a_terminal_would_obey(strings: list[str]) -> None:
    for text in [*strings, "\x1b]8;;http://x\x07y\x1b]8;;\x07", "\x9b2J", "a\rb", "\u202egnp.exe"]:
        view = everywhere(text)
        asked = [plain.question_text(call.question) for call in view.asking if call.question]
        for shown in [plain.turn(view), *asked]:
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", shown)
