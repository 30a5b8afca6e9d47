"""Words of a model: what Markdown becomes, and what stays text."""

import pytest

from arc_workbench.frontends.notebook.elements import Element, el, text_of, to_html
from arc_workbench.frontends.notebook.markdown import MAX_MARKDOWN, MAX_PLAIN, markdown
from tests.requirements import requirement


def html(text: str) -> str:
    return to_html(el("div", "", *markdown(text)))[5:-6]


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("a **b** *c* ~~d~~ `e`",
         "<p>a <strong>b</strong> <em>c</em> <s>d</s> <code>e</code></p>"),
        ("# T\n\n#### U", "<h3>T</h3><h4>U</h4>"),
        ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("> q", "<blockquote><p>q</p></blockquote>"),
        ("a  \nb\nc", "<p>a<br>b\nc</p>"),
        ("---", "<hr>"),
        ("    x <y>", "<pre><code>x &lt;y&gt;</code></pre>"),
        ("```python\ndef f(): pass  # c\n```",
         '<pre><code><span class="aw-k">def</span> f(): <span class="aw-k">pass</span>  '
         '<span class="aw-c"># c</span></code></pre>'),
        ("|a|b|\n|-|-:|\n|c|d|",
         '<table class="aw-table"><thead><tr><th>a</th><th class="aw-num">b</th></tr></thead>'
         '<tbody><tr><td>c</td><td class="aw-num">d</td></tr></tbody></table>'),
    ],
)  # fmt: skip
def test_markdown_becomes_elements(text: str, drawn: str) -> None:
    assert html(text) == drawn


@requirement("REQ-S19", "REQ-S23")
@pytest.mark.parametrize(
    "text", ["<b>x</b>", "<!-- x -->", "<script>x</script>", "<?x?>", "&lt;i&gt;"]
)
def test_html_is_text(text: str) -> None:
    assert "<b>" not in html(text)
    assert "<script" not in html(text)
    assert text_of(el("div", "", *markdown(text))) in {text, "<i>"}


@requirement("REQ-S23", "REQ-S29")
@pytest.mark.parametrize(
    "text", ["![a chart](https://evil.org/?d=1)", "![a chart][1]\n\n[1]: https://evil.org/?d=1"]
)
def test_a_picture_is_its_words_and_its_address_as_text(text: str) -> None:
    assert html(text) == "<p>[picture: a chart] (https://evil.org/?d=1)</p>"


@requirement("REQ-S23")
def test_a_link_shows_the_host_that_it_leads_to() -> None:
    drawn = html("[https://bank.com](https://evil.org/x 'a title')")

    assert 'href="https://evil.org/x"' in drawn
    assert ">https://bank.com</a>" in drawn
    assert "(evil.org)" in drawn
    assert "title" not in drawn
    assert 'rel="noopener noreferrer" target="_blank"' in drawn


def test_an_address_that_is_its_own_text_needs_no_host_beside_it() -> None:
    assert html("<https://x.org/a>").endswith(">https://x.org/a</a></p>")


@requirement("REQ-S20", "REQ-S23")
@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "#cell", "/lab", "https://a@b.org", "file:///x"],
)
def test_an_address_of_another_kind_stays_text(url: str) -> None:
    drawn = html(f"[click]({url})")

    assert "<a" not in drawn
    assert "click" in drawn
    assert url in drawn


@requirement("REQ-S26")
def test_formulas_are_text() -> None:
    assert html(r"$\href{javascript:x}{y}$ and \(\style{a}{b}\)").startswith("<p>$\\href")


@requirement("REQ-S24")
def test_what_a_screen_would_obey_is_printed_by_its_name() -> None:
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in html("a\u202eb")
    assert "U+001B ESCAPE" in html("```\na\x1b[2J\n```")


def test_a_carriage_return_ends_a_line_and_hides_nothing() -> None:
    assert html("rm -rf /\rls") == "<p>rm -rf /\nls</p>"


@pytest.mark.parametrize(
    "text", ["> " * 5_000 + "x", "- " * 5_000 + "x", "[" * 9_000, "**a " * 4_000]
)
def test_nesting_is_bounded(text: str) -> None:
    assert deepest(el("div", "", *markdown(text))) < 100


def deepest(element: Element) -> int:
    inside = [deepest(child) for child in element.children if isinstance(child, Element)]
    return 1 + max(inside, default=0)


@requirement("REQ-S30")
def test_very_long_words_are_shown_as_they_are_and_cut_with_a_word() -> None:
    assert html("**" + "x" * MAX_MARKDOWN) == f'<p class="aw-asis">**{"x" * MAX_MARKDOWN}</p>'
    assert "1,000 more characters are in the transcript." in html("x" * (MAX_PLAIN + 1_000))
