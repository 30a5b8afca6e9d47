"""What `live.js` draws, and which presses it believes."""

import pytest

from arc_workbench.content import JsonObject
from tests.browser.board import Board
from tests.requirements import requirement

STILL_MS = 700


def ask(prompt: str = "p1", title: str = "Run this command?") -> list[object]:
    """A permission card."""

    def button(name: str, **do: object) -> list[object]:
        return ["button", {"class": "aw-btn", "do": {"prompt": prompt, **do}}, name]

    return [
        "section",
        {"class": "aw-ask", "key": f"card-{prompt}"},
        ["h4", {"class": "aw-ask__title"}, title],
        button("Deny", do="deny"),
        [
            "details",
            {},
            ["summary", {}, "Deny and say why…"],
            [
                "form",
                {},
                ["textarea", {"field": "reason", "rows": "2"}],
                button("Deny with this reason", do="deny"),
            ],
        ],
        button("Allow once", do="allow", scope="once"),
    ]


def show_question(board: Board, prompt: str = "p1") -> None:
    board.draw(ask(prompt))
    board.say({"op": "code", "prompt": prompt, "code": f"code-of-{prompt}"})


ALLOWED: JsonObject = {"do": "allow", "prompt": "p1", "scope": "once", "nonce": "code-of-p1"}
DENIED: JsonObject = {"do": "deny", "prompt": "p1", "nonce": "code-of-p1"}


# ---- buttons outside a question ----------------------------------------------------------------


def undo_bar(board: Board) -> None:
    """A button that takes a change back."""
    button = ["button", {"class": "aw-btn", "do": {"do": "undo", "prompt": "c1"}}, "Undo c1"]
    board.draw(["div", {"key": "press-c1"}, button])
    board.say({"op": "code", "prompt": "c1", "code": "code-of-c1"})


def test_a_press_outside_a_question_sends_its_code_and_rests_until_it_is_drawn_again(
    board: Board,
) -> None:
    undo_bar(board)

    board.button("Undo c1").click()
    board.button("Undo c1").click(force=True)

    assert board.sent == [{"do": "undo", "prompt": "c1", "nonce": "code-of-c1"}]
    assert board.button("Undo c1").is_disabled()


@requirement("REQ-S7", "REQ-S11")
def test_a_key_takes_nothing_back_where_a_script_moved_the_focus(board: Board) -> None:
    undo_bar(board)

    board.button("Undo c1").evaluate("button => button.focus()")
    board.page.keyboard.press("Enter")
    board.button("Undo c1").evaluate("button => button.click()")
    assert board.sent == []

    board.page.locator("#outside").focus()
    board.tab_to("Undo c1")
    board.page.keyboard.press("Enter")
    assert [message["do"] for message in board.sent] == ["undo"]


# ---- drawing ------------------------------------------------------------------------------------


@requirement("REQ-S19", "REQ-S20")
def test_words_are_never_markup(board: Board) -> None:
    board.draw(["p", {"class": "said"}, "<img src=x onerror=alert(1)><b>bold</b>"])
    assert board.page.locator("#place p").inner_text() == "<img src=x onerror=alert(1)><b>bold</b>"
    assert board.page.locator("#place img, #place b").count() == 0


@requirement("REQ-S20")
@pytest.mark.parametrize(
    "tag", ["script", "img", "iframe", "object", "svg", "style", "link", "base"]
)
def test_an_unknown_element_becomes_a_plain_one(board: Board, tag: str) -> None:
    board.draw([tag, {"src": "data:,x", "href": "https://example.org"}, "inside"])
    assert board.page.locator(f"#place {tag}").count() == 0
    assert "inside" in board.page.locator("#place").inner_text()


@requirement("REQ-S20")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("onclick", "alert(1)"),
        ("data-commandlinker-command", "notebook:run-all-cells"),
        ("href", "javascript:alert(1)"),
        ("href", "//example.org"),
        ("href", "data:text/html,x"),
        ("style", "background:url(https://example.org)"),
        ("style", "--aw-name:4ch;position:fixed"),
        ("name", "getElementById"),
        ("formaction", "https://example.org"),
        ("srcdoc", "<b>"),
        ("type", "image"),
    ],
)
def test_an_attribute_that_acts_does_not_reach_the_page(
    board: Board, name: str, value: str
) -> None:
    board.draw(["a", {"class": "probe", name: value}, "x"])
    assert board.page.locator("#place .probe").get_attribute(name) is None


def test_a_link_and_a_property_of_ours_reach_the_page(board: Board) -> None:
    board.draw(
        ["a", {"class": "probe", "href": "https://example.org/", "style": "--aw-name:4ch"}, "x"]
    )
    probe = board.page.locator("#place .probe")
    assert probe.get_attribute("href") == "https://example.org/"
    assert probe.get_attribute("style") == "--aw-name:4ch"


def test_text_that_streams_in_is_appended(board: Board) -> None:
    board.draw(["p", {"key": "words"}, "one"])
    board.say(
        {"op": "append", "key": "words", "text": " two"},
        {"op": "append", "key": "words", "text": " <i>"},
    )
    assert board.page.locator("#place p").inner_text() == "one two <i>"


def test_a_new_part_is_put_where_it_belongs(board: Board) -> None:
    board.draw(["ol", {"key": "steps"}])
    board.say({"op": "put", "key": "s1", "into": "steps", "tree": ["li", {"key": "s1"}, "first"]})
    board.say({"op": "put", "key": "s1", "into": "steps", "tree": ["li", {"key": "s1"}, "again"]})
    assert board.page.locator("#place ol").inner_text() == "again"


def test_what_the_person_opened_stays_open(board: Board) -> None:
    def row(words: str) -> list[object]:
        return ["div", {"key": "row"}, ["details", {}, ["summary", {}, "bash"], ["p", {}, words]]]

    board.draw(row("running"))
    board.page.locator("summary").click()
    board.put(row("done"), key="row")
    assert board.page.get_by_text("done").is_visible()
    assert board.focus == "bash"


def test_a_message_for_another_page_is_not_drawn(board: Board) -> None:
    board.draw(["p", {"key": "words"}, "mine"])
    board.say({"op": "append", "key": "words", "text": " theirs"}, page="another")
    assert board.page.locator("#place p").inner_text() == "mine"


def test_seconds_pass_without_the_kernel_and_stop_at_the_end(board: Board) -> None:
    board.draw(["span", {"class": "aw-elapsed"}, "0:00"])
    board.say({"op": "clock", "elapsed": 58})
    board.pass_time(4_000)
    assert board.page.locator(".aw-elapsed").inner_text() == "1:02"
    board.say({"op": "end"})
    board.pass_time(4_000)
    assert board.page.locator(".aw-elapsed").inner_text() == "1:02"


# ---- presses ------------------------------------------------------------------------------------


@requirement("REQ-S7")
def test_a_real_click_answers_with_the_code_of_the_card(board: Board) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.button("Allow once").click()
    assert board.sent == [ALLOWED]


@requirement("REQ-S7")
def test_the_code_stands_nowhere_in_the_page(board: Board) -> None:
    show_question(board)
    assert "code-of-p1" not in board.html
    assert "once" not in board.page.locator(".aw-ask").evaluate(
        "e => JSON.stringify({...e.dataset})"
    )


@requirement("REQ-S7")
@pytest.mark.parametrize(
    "script",
    [
        "button => button.click()",
        "button => button.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }))",
        "button => { for (const t of ['pointerdown', 'pointerup', 'click'])"
        " button.dispatchEvent(new PointerEvent(t, { bubbles: true, detail: 1 })) }",
        "button => { for (const t of ['keydown', 'keyup'])"
        " button.dispatchEvent(new KeyboardEvent(t, { bubbles: true, key: 'Enter' })) }",
    ],
)
def test_a_scripted_press_is_refused(board: Board, script: str) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.button("Allow once").evaluate(script)
    assert board.sent == []


@requirement("REQ-S11")
def test_a_press_on_a_card_that_has_only_just_appeared_is_refused(board: Board) -> None:
    show_question(board)
    board.pass_time(300)
    board.button("Allow once").click()
    assert board.sent == []
    assert "Press again" in board.announced
    board.pass_time(300)
    board.button("Allow once").click()
    assert board.sent == [ALLOWED]


@requirement("REQ-S11")
def test_a_press_on_a_card_that_has_only_just_moved_is_refused(board: Board) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.page.locator("#above").evaluate("e => { e.style.height = '40px' }")
    board.button("Allow once").click()
    assert board.sent == []


@requirement("REQ-S11")
@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_key_pressed_and_released_on_the_button_answers(board: Board, key: str) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.tab_to("Allow once")
    board.page.keyboard.press(key)
    assert board.sent == [ALLOWED]


@requirement("REQ-S11")
def test_a_key_on_a_button_that_a_script_gave_the_focus_allows_nothing(board: Board) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.button("Allow once").evaluate("button => button.focus()")
    board.page.keyboard.press("Enter")
    assert board.sent == []


@requirement("REQ-S11")
@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_key_that_is_held_down_answers_nothing(board: Board, key: str) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.tab_to("Allow once")
    for _ in range(3):
        board.page.keyboard.down(key)
    board.page.keyboard.up(key)
    assert board.sent == []


@requirement("REQ-S11")
def test_a_key_pressed_elsewhere_and_released_on_the_button_answers_nothing(board: Board) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.page.locator("#outside").focus()
    board.page.keyboard.down("Enter")
    board.button("Allow once").focus()
    board.page.keyboard.up("Enter")
    assert board.sent == []


@requirement("REQ-S11")
@pytest.mark.parametrize("keys", ["Control+Enter", "Shift+Enter", "Alt+Enter"])
def test_a_key_that_runs_cells_answers_nothing(board: Board, keys: str) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.tab_to("Allow once")
    board.page.keyboard.press(keys)
    assert board.sent == []


def test_escape_closes_the_form_and_answers_nothing(board: Board) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.page.locator("summary").click()
    board.page.keyboard.press("Escape")
    assert not board.page.locator("textarea").is_visible()
    assert board.sent == []


def test_the_words_of_the_form_go_along(board: Board) -> None:
    show_question(board)
    board.page.locator("summary").click()
    board.page.locator("textarea").fill("keep the log")
    board.pass_time(STILL_MS)
    board.button("Deny with this reason").click()
    assert board.sent == [{**DENIED, "reason": "keep the log"}]


@requirement("REQ-S7")
def test_a_card_answers_once(board: Board) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.button("Deny").click()
    assert board.button("Allow once").is_disabled()
    board.button("Allow once").click(force=True)
    assert board.sent == [DENIED]


@requirement("REQ-S10")
def test_a_question_answered_in_another_window_takes_no_answer_here(board: Board) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.say({"op": "answered", "prompt": "p1", "text": "Already answered."})
    assert board.button("Allow once").is_disabled()
    assert "Already answered." in board.page.locator(".aw-ask").inner_text()


@requirement("REQ-S9")
def test_a_click_that_began_on_one_question_never_answers_the_next(board: Board) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.button("Allow once").hover()
    board.page.mouse.down()
    show_question(board, "p2")
    board.page.mouse.up()
    assert board.sent == []


def test_the_stop_button_stops(board: Board) -> None:
    board.draw(["button", {"do": {"do": "stop"}}, "Stop"])
    board.button("Stop").click()
    assert board.sent == [{"do": "stop"}]


# ---- focus --------------------------------------------------------------------------------------


def test_the_focus_goes_to_deny_and_back(board: Board) -> None:
    board.page.locator("#outside").focus()
    show_question(board)
    assert board.focus == "Deny"
    board.draw(["p", {"class": "said"}, "denied"])
    assert board.focus == "outside"


def test_who_types_keeps_the_focus_and_is_told_once(board: Board) -> None:
    board.page.locator("#editor").focus()
    show_question(board)
    assert board.focus == "editor"
    assert board.announced == "Run this command?"


def test_the_focus_returns_to_who_left_it_to_answer(board: Board) -> None:
    board.page.locator("#editor").focus()
    show_question(board)
    board.pass_time(STILL_MS)
    board.button("Deny").click()
    board.draw(["p", {"class": "said"}, "denied"])
    assert board.focus == "editor"


def test_a_second_question_does_not_take_the_focus_from_the_first(board: Board) -> None:
    board.draw(ask("p1"))
    board.put(ask("p2", "Change this file?"), into="run")
    assert board.focus == "Deny"
    assert board.announced == "Change this file?"


# ---- the end ------------------------------------------------------------------------------------


@requirement("REQ-S17")
def test_a_saved_view_whose_run_is_not_there_says_so(board: Board) -> None:
    board.pass_time(6_000)
    assert (
        board.page.locator("#place").inner_text().strip() == "The run that was shown here is over."
    )
    assert board.page.locator("#place button").count() == 0


@requirement("REQ-S8")
@pytest.mark.parametrize("how", ["comm:close", "comm_live_update"])
def test_a_card_of_a_kernel_that_is_gone_is_dead(board: Board, how: str) -> None:
    show_question(board)
    board.pass_time(STILL_MS)
    board.emit(how)
    assert board.button("Allow once").is_disabled()
    assert "ended or restarted" in board.page.locator("#place").inner_text()


def test_a_view_that_was_left_hears_nothing_more(board: Board) -> None:
    board.draw(["p", {"key": "words"}, "one"])
    board.page.evaluate("() => window.leave()")
    board.say({"op": "append", "key": "words", "text": " two"})
    assert board.page.locator("#place p").inner_text() == "one"
