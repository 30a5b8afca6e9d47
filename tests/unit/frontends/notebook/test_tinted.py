"""Output in the colours of the command that printed it."""

import re
import sys
from functools import partial
from pathlib import Path
from typing import get_args

import pytest

from arc_workbench.content import Colour, Look, Output, Style, ToolResult
from arc_workbench.frontends.notebook.elements import Element, classes_of, text_of, to_html
from arc_workbench.frontends.notebook.render import turn
from arc_workbench.frontends.notebook.style import LOOK, style_for
from arc_workbench.frontends.notebook.values import MAX_TINTS, display
from arc_workbench.frontends.plain import turn as plain_turn
from arc_workbench.secret_names import shape_finds
from arc_workbench.shell.colours import styled
from arc_workbench.store.redaction import Redactor
from tests.requirements import requirement
from tests.unit.frontends.turns import Telling

READABLE = 4.5
LOOKS = (*get_args(Colour), "bold", "dim", "italic", "underline")
KEY = "sk-ant-api03-" + "a8Kq2Zt5Rw9Xe3Lb7Nc1Vd" * 4


def output(raw: str) -> Output:
    text, styles = styled(raw, 50_000)
    return Output(text=text, styles=styles, styled_chars=len(text))


def drawn(block: Output) -> Element:
    (element,) = display([block], "")
    return element


def test_each_stretch_has_the_look_it_was_printed_with() -> None:
    html = to_html(drawn(output("a \x1b[31mred\x1b[1m fat\x1b[0m <b>\n\x1b[94mblue\x1b[0m\n")))

    assert html == (
        '<div class="aw-out"><pre>a <span class="aw-tint-red">red</span>'
        '<span class="aw-tint-red aw-tint-bold"> fat</span> &lt;b&gt;\n'
        '<span class="aw-tint-bright-blue">blue</span></pre></div>'
    )


def test_only_the_last_lines_are_drawn_and_their_colours_stand_where_they_belong() -> None:
    lines = [f"\x1b[3{n % 8}mline {n}\x1b[0m" for n in range(100)]

    html = to_html(drawn(output("\n".join(lines))))

    assert '<span class="aw-tint-magenta">line 93</span>\n<span class="aw-tint-cyan">' in html
    assert "line 75<" not in html
    assert "76 lines above" in html


def test_a_line_that_tells_of_a_failure_keeps_the_colours_it_has() -> None:
    assert "aw-out__bad" in to_html(drawn(output("ERROR x\n\x1b[31mok\x1b[0m")))
    assert "aw-out__bad" not in to_html(drawn(output("\x1b[31mERROR\x1b[0m x")))


@requirement("REQ-S24", "REQ-S134")
def test_a_secret_broken_up_by_colours_is_found_and_no_style_is_drawn_over_the_rest() -> None:
    raw = f"\x1b[32mkey\x1b[0m {KEY[:30]}\x1b[31m{KEY[30:]}\x1b[0m \x1b[34mend\x1b[0m"
    block = output(raw)
    assert list(shape_finds(block.text, 0))

    shown = Output.model_validate(Redactor({}).value(block.model_dump(mode="json")))

    assert shown.styles == block.styles
    assert shown.drawn_styles == ()
    html = to_html(drawn(shown))
    assert "aw-tint" not in html
    assert not any(KEY[at : at + 12] in html for at in range(13, len(KEY) - 12))


@requirement("REQ-S20", "REQ-S30")
def test_styles_that_no_output_can_have_do_no_harm() -> None:
    odd = [(-5, 2), (2, 1), (1, 3), (1, 3), (2, 10**9), (0, 0), (50, 60)]
    styles = tuple(Style(start=start, end=end, look="red") for start, end in odd)
    block = Output(text="abcd", styles=styles, styled_chars=4)

    assert text_of(drawn(block)) == "abcd"
    assert classes_of(drawn(block)) == {"aw-out", "aw-tint-red"}


@requirement("REQ-S24")
def test_a_text_that_is_not_plain_is_made_so_and_loses_its_styles() -> None:
    text = "\x1b[2Jabc\x07"
    block = Output(text=text, styles=(Style(start=0, end=5, look="red"),), styled_chars=len(text))

    assert to_html(drawn(block)) == '<div class="aw-out"><pre>abc</pre></div>'


@requirement("REQ-S30")
def test_a_flood_of_colours_is_drawn_within_bounds() -> None:
    letters = "".join(f"\x1b[3{n % 7}mx" for n in range(50_000))

    html = to_html(drawn(output(letters.replace("x", "x" * 20 + "\n", 1))))
    lines = to_html(drawn(output("\n".join(letters[i : i + 500] for i in range(0, 99_000, 500)))))

    assert html.count("<span") <= MAX_TINTS + 24
    assert len(lines) < 120_000


def test_the_text_beside_the_html_has_no_colour() -> None:
    result = ToolResult.of_text("x", display=(output("\x1b[31mred\x1b[0m"),))
    view = Telling().open().call("bash", {"command": "x"}, "x").finish(result).view

    assert "aw-tint-red" in to_html(turn(view))
    assert "\x1b" not in plain_turn(view)


@pytest.mark.parametrize("above", ["", "\n", "x\n\n", "x" * 70_000, "x\n" * 40_000 + "\n" * 22])
def test_the_words_are_the_same_with_and_without_colours(above: str) -> None:
    text, styles = styled(
        f"{above}\x1b[31mone\x1b[0m\t\x1b[4mtwo\x1b[0m\u202e\n\x1b[7mthree\n", 90_000
    )
    block = Output(text=text, styles=styles, styled_chars=len(text))

    assert '"aw-tint-bold">three<' in to_html(drawn(block))
    assert text_of(drawn(block)) == text_of(drawn(block.model_copy(update={"styles": ()})))


def test_every_look_has_a_rule_that_is_called_for() -> None:
    for look in LOOKS:
        block = Output(text="x", styles=(Style(start=0, end=1, look=look),), styled_chars=1)
        name = f"aw-tint-{look.replace('_', '-')}"

        assert name in classes_of(drawn(block))
        assert re.search(rf"\.{name}(?![\w-])", style_for({name}))


# ---- contrast -----------------------------------------------------------------------------------

Rgb = tuple[float, float, float]
MATERIAL = {  # of Lab itself; one theme relies on them
    "--md-red-500": "#f44336",
    "--md-green-500": "#4caf50",
    "--md-orange-500": "#ff9800",
    "--md-cyan-500": "#00bcd4",
}
NAMED = {"white": "#ffffff", "black": "#000000", "green": "#008000"}


def theme(name: str) -> dict[str, str]:
    """The variables of one of Lab's themes; the empty name is a host that has none."""
    if not name:
        return {}
    folder = Path(sys.prefix, "share", "jupyter", "lab", "themes", "@jupyterlab")
    file = folder / f"theme-{name}-extension" / "index.css"
    if not file.exists():
        pytest.skip(f"no JupyterLab with a theme {name} is installed here")
    return MATERIAL | variables(file.read_text(encoding="utf-8"))


def variables(css: str) -> dict[str, str]:
    return {name: value.strip() for name, value in re.findall(r"(--[\w-]+):([^;}]*)", css)}


def rgb(value: str, known: dict[str, str]) -> Rgb:
    """A colour of the stylesheet as numbers from 0 to 255."""
    value = NAMED.get(value.strip(), value.strip())
    if value.startswith("#"):
        digits = value[1:] if len(value) > 4 else "".join(2 * digit for digit in value[1:])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    kind, _, rest = value.removesuffix(")").partition("(")
    first, *others = parts(rest)
    if kind == "var":
        return rgb(known[first] if first in known else others[0], known)
    if kind == "rgba":
        return over(float(others[2]), [float(part) for part in (first, *others[:2])], known)
    assert (kind, first) == ("color-mix", "in srgb"), value
    colour, percent = others[0].rsplit(" ", 1)
    share = float(percent.removesuffix("%")) / 100
    return mixed(share, rgb(colour, known), rgb(others[1], known))


def parts(inside: str) -> list[str]:
    """Cut at commas outside parentheses."""
    return [part.strip() for part in re.findall(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+", inside)]


def over(alpha: float, colour: list[float], known: dict[str, str]) -> Rgb:
    return mixed(alpha, (colour[0], colour[1], colour[2]), rgb("var(--aw-well)", known))


def mixed(share: float, one: Rgb, other: Rgb) -> Rgb:
    red, green, blue = (a * share + b * (1 - share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def luminance(colour: Rgb) -> float:
    def linear(part: float) -> float:
        part /= 255
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = map(linear, colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Rgb, other: Rgb) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def colour_of(look: str) -> str:
    """What the stylesheet says of a look."""
    rules = LOOK.read_text(encoding="utf-8")
    name = re.escape(f".aw-tint-{look.replace('_', '-')}")
    found = re.search(rf"{name}(?:,[^{{]*)? {{ color: (.*); }}", rules)
    assert found, look
    return found[1]


@pytest.mark.parametrize("name", ["", "light", "dark", "dark-high-contrast"])
@pytest.mark.parametrize("look", [*get_args(Colour), "dim"])
def test_each_colour_can_be_read_in_light_and_dark(look: Look, name: str) -> None:
    host = theme(name)
    block = LOOK.read_text(encoding="utf-8").partition("High Contrast")[0]
    known = host | {key: value for key, value in variables(block).items() if "--aw-" in key}
    of = partial(rgb, known=known)

    for ground in ("var(--aw-well)", "var(--aw-paper)"):
        assert contrast(of(colour_of(look)), of(ground)) >= READABLE, ground


def test_the_measure_of_contrast_is_the_usual_one() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.01)
