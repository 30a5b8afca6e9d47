"""The closed vocabulary: what can be built, and its two forms."""

import pytest

from arc_workbench.frontends.notebook.elements import (
    Element,
    classes_of,
    el,
    joined,
    link,
    text_of,
    to_html,
    to_json,
)
from tests.requirements import requirement


@requirement("REQ-S19", "REQ-S20", "BUG-N16")
@pytest.mark.parametrize("tag", ["script", "img", "iframe", "svg", "style", "input", "object", "A"])
def test_an_element_outside_the_vocabulary_cannot_be_built(tag: str) -> None:
    with pytest.raises(ValueError, match="not in the vocabulary"):
        Element(tag, {}, ())  # type: ignore[arg-type]


@requirement("REQ-S19", "REQ-S20", "BUG-N16")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("data-commandlinker-command", "x"),
        ("onclick", "x"),
        ("name", "x"),
        ("title", "x"),
        ("src", "https://x.org"),
        ("id", "body"),
        ("id", "aw-"),
        ("class", "jp-Cell"),
        ("class", "aw-a\naw-b"),
        ("style", "background:url(https://x.org)"),
        ("style", "--aw-name:5ch;color:red"),
        ("style", "--aw-name:5ch\n"),
        ("href", "javascript:alert(1)"),
        ("href", "data:text/html,x"),
        ("href", "#x"),
        ("href", "//x.org"),
        ("target", "_top"),
        ("aria-label", "from a file: x"),
        ("type", "submit"),
    ],
)
def test_an_attribute_outside_the_vocabulary_cannot_be_built(name: str, value: str) -> None:
    with pytest.raises(ValueError, match="not in the vocabulary"):
        Element("a", {name: value}, ())


@requirement("REQ-S23")
@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://docs.example.org", "docs.example.org"),
        ("http://EXAMPLE.org:8080/a?b=c#d", "example.org"),
        ("https://[2001:db8::1]/x", "[2001:db8::1]"),
        ("https://xn--exmple-4nf.org/", "xn--exmple-4nf.org"),
        ("mailto:a.b+c@example.org", "example.org"),
    ],
)
def test_a_link_says_where_it_leads(url: str, host: str) -> None:
    found = link(url)

    assert found is not None
    assert (found.href, found.host) == (url, host)


@requirement("REQ-S20", "REQ-S23")
@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\nscript:x",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "https://bank.com@evil.org/",
        "https://bank.com\\@evil.org/",
        "https://ex\u0430mple.org",
        "https://x.org/\u202e",
        "https://x.org/ y",
        'https://x.org/"onclick=',
        "https://x.org/<",
        "//x.org",
        "/lab?reset",
        "#cell",
        "https://",
        "https://x.org\n",
        "mailto:a@b.org?cc=x",
        "blob:https://x.org/1",
        "https://-x.org/",
        "",
    ],
)
def test_any_other_address_is_no_link(url: str) -> None:
    assert link(url) is None


def test_the_saved_form_escapes_text_and_leaves_out_what_acts() -> None:
    tree = el(
        "div", "aw-x", "<b>&", el("button", "aw-btn", "Stop", do={"do": "stop"}, key="k"),
        el("span", "", "live", only="live"), el("p", "", "saved", only="saved"), el("br"), key="k",
    )  # fmt: skip

    assert to_html(tree) == '<div class="aw-x">&lt;b&gt;&amp;<p>saved</p><br></div>'


def test_the_live_form_is_lists_with_verbs_keys_and_fields() -> None:
    tree = el(
        "form", "", "<b>", el("button", "aw-btn", "Deny", type="button", do={"do": "deny"}),
        el("textarea", "", field="reason", rows="2"), el("p", "", "saved", only="saved"), key="k",
    )  # fmt: skip

    assert to_json(tree) == [
        "form",
        {"key": "k"},
        "<b>",
        ["button", {"class": "aw-btn", "type": "button", "do": {"do": "deny"}}, "Deny"],
        ["textarea", {"rows": "2", "field": "reason"}],
    ]


def test_a_newline_at_the_start_of_preformatted_text_survives_reading() -> None:
    assert to_html(el("pre", "", "\nx")) == "<pre>\n\nx</pre>"


@requirement("REQ-S25")
def test_characters_that_no_page_can_hold_are_replaced_in_both_forms() -> None:
    tree = el("p", "", "a\x00b\ud800c\x1bd")

    assert to_html(tree) == "<p>a\ufffdb\ufffdc\ufffdd</p>"
    assert to_json(tree) == ["p", {}, "a\ufffdb\ufffdc\ufffdd"]
    assert to_html(tree).encode("utf-8")


def test_words_and_classes_can_be_asked_for() -> None:
    tree = el("div", "aw-a aw-b", "x", el("span", "aw-c", "y"), el("button", "aw-btn", "z"))

    assert text_of(tree) == "xyz"
    assert classes_of(tree) == {"aw-a", "aw-b", "aw-c"}


def test_neighbouring_strings_become_one() -> None:
    line = el("br")

    assert list(joined(["a", "b", line, "c", ""])) == ["ab", line, "c"]
