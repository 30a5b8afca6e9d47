"""The card of a background job."""

from arc_workbench.frontends.notebook import job_card
from arc_workbench.frontends.notebook.elements import Element, text_of, to_html, to_json
from arc_workbench.frontends.notebook.job_card import Facts
from arc_workbench.frontends.notebook.spool_pages import Page
from arc_workbench.views import JobStatus, JobView
from tests.requirements import requirement


def job(status: JobStatus = "running", tail: str = "line 1\nline 2\n") -> JobView:
    return JobView(
        id="j2",
        spool="s3",
        command="make docs",
        cwd="/project",
        status=status,
        exit_code=None if status == "running" else 0,
        started_at=1_000.0,
        duration_sec=0.0 if status == "running" else 12.4,
        bytes=len(tail),
        tail=tail,
        timeout_sec=600,
    )


def buttons(element: Element) -> list[str]:
    """The words of all buttons."""
    if element.tag == "button":
        return [text_of(element)]
    return [b for child in element.children if isinstance(child, Element) for b in buttons(child)]


def test_a_live_card_can_be_stopped_and_says_how_long_it_may_take() -> None:
    card = job_card.live(job(), Facts(step=6))

    assert buttons(card) == ["Whole output", "Stop job"]
    assert "Job 2, running" in text_of(card)
    assert "of 10:00" in text_of(card)
    assert "started by step 6" in text_of(card)
    assert "line 2" in text_of(card)


def test_a_press_on_stop_is_answered_by_the_card_and_cannot_be_repeated() -> None:
    card = job_card.live(job(), Facts(stopping=True))

    assert "Job 2, stopping" in text_of(card)
    assert buttons(card) == ["Whole output"]


@requirement("BUG-N4")
def test_what_is_kept_of_a_running_job_does_not_say_that_it_runs_now() -> None:
    html = job_card.kept(job(), Facts())

    assert "Job 2, running when this was kept" in html
    assert "%agent jobs" in html
    assert "aw-mark--running" not in html.partition("</style>")[2]
    assert "<button" not in html
    assert "aw-elapsed" not in html.partition("</style>")[2]


def test_what_is_kept_of_a_job_that_is_over_says_how_long_it_took_and_where_all_of_it_is() -> None:
    html = job_card.kept(job("completed"), Facts())

    assert "Job 2, ended: exit 0" in html
    assert "12.4 s" in html
    assert "%agent jobs tail j2" in html


@requirement("REQ-F37")
def test_a_card_warns_where_output_was_lost_and_names_the_limit_that_ended_it() -> None:
    view = job("completed")
    view.lost = True
    assert "aw-mark--warn" in to_html(job_card.parts(view, Facts())["head"])
    assert "not all of its output was kept" in text_of(job_card.parts(view, Facts())["sub"])
    assert "aw-mark--warn" in to_html(job_card.parts(view, Facts())["sub"])

    view = job("limited")
    view.limit = "memory"
    assert "Job 2, ended at the memory limit" in job_card.kept(view, Facts())


def test_a_card_says_how_what_the_command_changed_is_taken_back_once_it_is_over() -> None:
    assert "%agent undo s3" in job_card.kept(job("completed"), Facts(undo="s3"))
    assert "%agent undo" not in job_card.kept(job(), Facts(undo="s3"))
    assert "%agent undo" not in job_card.kept(job("completed"), Facts())


@requirement("REQ-S19")
def test_output_and_command_are_never_markup() -> None:
    view = job(tail="<script>alert(1)</script>\n\u202ereversed\n")
    view.command = "echo '<b>'\nrm -r x"
    html = job_card.kept(view, Facts())

    assert "<script>" not in html
    assert "<b>" not in html.partition("</style>")[2]
    assert "\u202e" not in html
    assert "1 more line" in html


def test_a_long_tail_is_bounded_and_begins_with_a_whole_line() -> None:
    lines = "".join(f"a rather long line with the number {number}\n" for number in range(5_000))
    view = job(tail=lines[-8_000:])
    view.bytes = len(lines)
    tail = job_card.parts(view, Facts())["tail"]

    assert len(str(to_json(tail))) < 6_000
    assert text_of(tail).rstrip().endswith("number 4999")


def test_only_what_changed_is_another_drawing() -> None:
    before, more = job(), job(tail="line 1\nline 2\nline 3\n")

    old, new = job_card.parts(before, Facts()), job_card.parts(more, Facts())

    assert [key for key in old if to_json(old[key]) != to_json(new[key])] == ["sub", "tail"]


def test_a_page_of_the_whole_output_has_ways_on_only_where_there_is_more() -> None:
    page = Page("/state/s3/output", "one\n", 0, 4, 9)
    whole = job_card.parts(job(), Facts(page=page))["whole"]

    assert buttons(whole) == ["Later", "End"]
    assert "Bytes 0 to 4 of 9" in text_of(whole)
    assert "/state/s3/output" in text_of(whole)
    assert "<button" not in to_html(whole)
