"""The stylesheet and its blocks."""

import re

from arc_workbench.content import Diff, ToolResult
from arc_workbench.frontends.notebook import render
from arc_workbench.frontends.notebook.elements import classes_of
from arc_workbench.frontends.notebook.style import LOOK, blocks, style_for
from tests.unit.frontends.turns import CLOCK, Telling


def test_each_block_has_a_name_of_its_own_and_whole_rules() -> None:
    names = [block.name for block in blocks()]

    assert len(names) == len(set(names)) > 20
    for block in blocks():
        assert block.rules.count("{") == block.rules.count("}") > 0
        assert "/*" not in block.rules


def test_some_blocks_are_always_there_and_others_only_where_they_are_used() -> None:
    assert "--aw-paper" in style_for(set())
    assert ".aw-diff" not in style_for(set())
    assert ".aw-file__head" in style_for({"aw-file"})


def test_blocks_keep_their_order() -> None:
    everything = {name for block in blocks() for name in block.classes}

    assert style_for(everything) == "\n".join(block.rules for block in blocks())


def test_every_rule_of_an_element_outweighs_the_notebook() -> None:
    text = re.sub(r"/\*.*?\*/", "", LOOK.read_text(encoding="utf-8"), flags=re.DOTALL)
    selectors = re.findall(r"^ *(\.aw[^{]*)\{", text, flags=re.MULTILINE)

    assert all(each.startswith(".aw.aw ") or each.strip() == ".aw" for each in selectors)


def test_no_rule_fetches_anything() -> None:
    text = LOOK.read_text(encoding="utf-8")

    assert "@import" not in text
    assert all(
        url.startswith('"data:image/svg+xml,') for url in re.findall(r"url\(([^)]{0,30})", text)
    )


def test_every_class_that_is_drawn_and_styled_is_called_for_by_a_block() -> None:
    shown = (Diff(path="a.py", unified=CLOCK),)
    telling = Telling().open().call("edit", {"path": "a"}, "a")
    drawn = classes_of(render.turn(telling.finish(ToolResult.of_text("", display=shown)).view))
    style = style_for(drawn)
    everywhere = LOOK.read_text(encoding="utf-8")

    for name in drawn - {"mathjax_ignore", "tex2jax_ignore"}:
        rule = re.compile(rf"\.{name}(?![\w-])")
        assert bool(rule.search(style)) == bool(rule.search(everywhere)), name
