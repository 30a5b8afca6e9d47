"""A cell that asks: by buttons, in words, or by policy, and what an interrupt does to it."""

from pathlib import Path

from tests.browser.scripts import LOAD, agent
from tests.notebook.kernel import WIDGET, Kernel, PagePart
from tests.requirements import requirement

BEFORE = "Hello, Moon.\n"
AFTER = "Goodbye, Moon.\n"
NO_BUTTONS = "Buttons do not reach this front end; the question follows as text."


def greeting(project: Path) -> str:
    return (project / "hello.txt").read_text("utf-8")


def ask(kernel: Kernel, cell: str | None = None, *, subshell: bool = True) -> tuple[str, PagePart]:
    """Run an agent cell in a front end with buttons; its page has drawn the view."""
    page_subshell = kernel.open_subshell() if subshell else None
    kernel.run(LOAD)
    request = kernel.start(cell or agent(), allow_stdin=True)
    page = PagePart(kernel, subshell=page_subshell)
    page.ready()
    return request, page


# ---- buttons ------------------------------------------------------------------------------------


@requirement("BUG-N1", "BUG-N2", "BUG-N11")
def test_a_press_on_a_subshell_reaches_the_running_cell(kernel: Kernel, project: Path) -> None:
    request, page = ask(kernel)
    page.answer("allow", "p1", scope="once")
    run = kernel.finish(request)
    assert run.status == "ok"
    assert greeting(project) == AFTER
    assert "never awaited" not in run.printed


@requirement("BUG-N1")
def test_a_front_end_without_subshells_can_answer_too(
    kernel: Kernel, project: Path, is_lowest: bool
) -> None:
    request, page = ask(kernel, subshell=False)
    if is_lowest:  # what a page sends waits until the cell is done, so the ladder ends in words
        kernel.asked()
        kernel.type("n Keep it.")
    else:
        page.answer("deny", "p1", reason="Keep it.")
    run = kernel.finish(request)
    assert "Keep it." in run.shown[-1]["text/plain"]
    assert greeting(project) == BEFORE


def test_with_a_package_of_widgets_that_is_broken_the_question_follows_as_text(
    kernel: Kernel, project: Path
) -> None:
    (project / "anywidget.py").write_text("raise ImportError('broken')\n", encoding="utf-8")
    kernel.run(LOAD)
    request = kernel.start(agent(), allow_stdin=True)
    assert "y to allow once" in kernel.asked()
    kernel.type("y")
    run = kernel.finish(request)
    assert run.status == "ok"
    assert NO_BUTTONS in run.shown[-1]["text/plain"]
    assert greeting(project) == AFTER
    assert "buttons missing" in kernel.value(
        "repr(get_ipython().run_line_magic('agent', 'doctor'))"
    )


@requirement("BUG-N1")
def test_where_no_press_arrives_the_question_follows_as_text(kernel: Kernel, project: Path) -> None:
    kernel.run(LOAD)
    request = kernel.start(agent(), allow_stdin=True)
    assert "y to allow once" in kernel.asked()
    kernel.type("y")
    run = kernel.finish(request)
    assert run.status == "ok"
    assert NO_BUTTONS in run.shown[-1]["text/plain"]
    assert greeting(project) == AFTER


def test_typed_words_of_a_denial_reach_the_agent(kernel: Kernel, project: Path) -> None:
    kernel.run(LOAD)
    request = kernel.start(agent(options="--ask input"), allow_stdin=True)
    kernel.asked()
    kernel.type("n Keep the greeting.")
    run = kernel.finish(request)
    assert "Keep the greeting." in run.shown[-1]["text/plain"]
    assert greeting(project) == BEFORE


def test_two_questions_take_two_answers(kernel: Kernel, project: Path) -> None:
    request, page = ask(kernel, agent("two"))
    page.answer("allow", "p1", scope="once")
    page.answer("deny", "p2")
    assert kernel.finish(request).status == "ok"
    assert greeting(project) == AFTER


def test_the_live_view_makes_way_for_what_is_kept(kernel: Kernel) -> None:
    request, page = ask(kernel)
    page.answer("allow", "p1", scope="once")
    run = kernel.finish(request)
    assert [sorted(bundle) for bundle in run.shown] == [["text/html", "text/plain"]]
    assert "Goodbye" in run.shown[0]["text/html"]
    closed = kernel.hear(
        lambda m: m["msg_type"] == "comm_close" and m["content"]["comm_id"] == page.comm
    )
    assert closed


# ---- a page is hostile --------------------------------------------------------------------------


@requirement("REQ-S7", "REQ-S9", "REQ-S31")
def test_only_the_code_of_the_question_opens_it(kernel: Kernel, project: Path) -> None:
    request, page = ask(kernel)
    code = page.code("p1")
    for wrong in (
        {"do": "allow", "prompt": "p1", "scope": "once"},
        {"do": "allow", "prompt": "p1", "scope": "once", "nonce": ""},
        {"do": "allow", "prompt": "p1", "scope": "once", "nonce": code[::-1]},
        {"do": "allow", "prompt": "p1", "scope": "forever", "nonce": code},
        {"do": "allow", "prompt": "p2", "scope": "once", "nonce": code},
        {"do": "deny", "prompt": "p1", "nonce": code, "reason": "x" * 4_001},
        ["allow", "p1", code],
        "allow",
        None,
    ):
        page.send(wrong)
    page.answer("deny", "p1")
    run = kernel.finish(request)
    assert "I was told:" in run.shown[-1]["text/plain"]
    assert greeting(project) == BEFORE


@requirement("REQ-S7")
def test_the_code_is_in_no_state_that_is_kept_or_shown(kernel: Kernel) -> None:
    request, page = ask(kernel)
    code = page.code("p1")
    page.answer("deny", "p1")
    kernel.finish(request)
    carrying = [m for m in kernel.drain() if code in str(m["content"])]
    assert {m["msg_type"] for m in carrying} == {"comm_msg"}
    assert {m["content"]["data"]["method"] for m in carrying} == {"custom"}


@requirement("REQ-S31")
def test_a_page_cannot_change_the_module_that_draws(kernel: Kernel) -> None:
    request, page = ask(kernel)
    page.code("p1")
    evil = {
        "method": "update",
        "state": {"_esm": "export default {}", "_css": "* { display: none }"},
    }
    kernel.send_raw(page.comm, evil, subshell=page.subshell)
    kernel.send_raw(page.comm, {"method": "request_state"}, subshell=page.subshell)
    state = kernel.hear(lambda m: m["content"].get("data", {}).get("method") == "update")
    assert state["content"]["data"]["state"]["_esm"].startswith("// Draws the live view")
    page.answer("deny", "p1")
    kernel.finish(request)


@requirement("REQ-S32")
def test_a_flood_of_messages_leaves_the_kernel_responsive(kernel: Kernel, project: Path) -> None:
    request, page = ask(kernel)
    code = page.code("p1")
    for number in range(3_000):
        page.send({"do": "allow", "prompt": "p1", "scope": "once", "nonce": f"{number}"})
        if number % 100 == 0:
            kernel.drain()
    page.send({"do": "deny", "prompt": "p1", "nonce": code, "reason": "x" * 2_000_000})
    page.answer("allow", "p1", scope="once")
    assert kernel.finish(request).status == "ok"
    assert greeting(project) == AFTER


# ---- more than one page -------------------------------------------------------------------------


@requirement("REQ-S10")
def test_of_two_pages_the_first_answer_wins(kernel: Kernel, project: Path) -> None:
    request, page = ask(kernel)
    other = PagePart(kernel, subshell=page.subshell, name="load2-place1")
    other.ready()
    assert other.code("p1") == page.code("p1")
    other.answer("deny", "p1")
    page.answer("allow", "p1", scope="once")
    kernel.finish(request)
    assert greeting(project) == BEFORE


def test_a_page_that_comes_later_gets_all_of_it_and_the_others_nothing(kernel: Kernel) -> None:
    request, page = ask(kernel)
    page.code("p1")
    other = PagePart(kernel, subshell=page.subshell, name="load2-place1")
    other.ready()
    drawn = kernel.hear(lambda m: any(o["op"] == "all" for o in other.ops_of(m)))
    assert "Change this file?" in str(drawn["content"])
    assert page.ops_of(drawn) == []
    assert "%agent transcript t1" in str(drawn["content"])
    other.answer("deny", "p1")
    kernel.finish(request)


def test_a_page_that_comes_after_the_end_sees_the_end(kernel: Kernel) -> None:
    request, page = ask(kernel)
    other = PagePart(kernel, subshell=page.subshell, name="load2-place1")
    other.ready()
    other.answer("deny", "p1")
    kernel.finish(request)
    last = PagePart(kernel, subshell=page.subshell, name="load3-place1")
    last.ready()
    drawn = kernel.hear(lambda m: any(o["op"] == "all" for o in last.ops_of(m)))
    assert [o["op"] for o in last.ops_of(drawn)] == ["all", "clock", "end"]
    assert "Finished" in str(drawn["content"])


# ---- nobody -------------------------------------------------------------------------------------


@requirement("BUG-N8", "REQ-S12")
def test_where_nobody_can_answer_the_policy_does_so_at_once(kernel: Kernel, project: Path) -> None:
    kernel.run(LOAD)
    run = kernel.run(agent(options="--access full"), allow_stdin=False)
    assert run.status == "ok"
    text = run.shown[-1]["text/plain"]
    assert "Nobody can answer; policy rules decides." in text
    assert "I was told:" in text
    assert greeting(project) == BEFORE


@requirement("BUG-N8")
def test_a_cell_may_ask_for_the_policy(kernel: Kernel, project: Path) -> None:
    kernel.run(LOAD)
    run = kernel.run(agent(options="--ask policy --access full"), allow_stdin=True)
    assert run.status == "ok"
    assert greeting(project) == BEFORE


@requirement("BUG-N21")
def test_a_run_without_a_person_leaves_nothing_interactive(kernel: Kernel) -> None:
    kernel.run(LOAD)
    run = kernel.run(agent(options="--access full"))
    assert [sorted(bundle) for bundle in run.shown] == [["text/html", "text/plain"]]
    assert "<button" not in run.shown[0]["text/html"]
    assert not [m for m in kernel.drain() if m["msg_type"] == "comm_open"]
    assert WIDGET not in str(run.outputs)


@requirement("BUG-N9")
def test_a_flood_of_output_is_few_messages(kernel: Kernel) -> None:
    kernel.run(LOAD)
    run = kernel.run(agent("lines", options="--mode yolo --access full"))
    assert run.status == "ok", run.reply
    assert "The flood is over." in run.shown[-1]["text/plain"]
    assert len(run.outputs) < 20
    assert len(str(run.outputs)) < 1_000_000


# ---- interrupt, order, nesting ------------------------------------------------------------------


@requirement("BUG-N7")
def test_an_interrupt_of_a_cell_that_waits_is_one_line(kernel: Kernel, project: Path) -> None:
    request, page = ask(kernel)
    page.code("p1")
    kernel.interrupt()
    run = kernel.finish(request)
    assert run.status == "error"
    line = "Interrupted after step 1; every call is answered, nothing runs on."
    errors = [o for o in run.outputs if o["_type"] == "error"]
    assert [o["traceback"] for o in errors] == [[line]]
    left = "[s.busy, [*s.open_prompts], [c.state for c in s.turns[-1].calls.values()]]"
    kernel.run("s = get_ipython().arc_workbench.desk.current")
    assert kernel.value(left) == "[False, [], ['stopped']]"
    assert greeting(project) == BEFORE


@requirement("BUG-N7")
def test_after_an_interrupt_the_session_goes_on(kernel: Kernel, project: Path) -> None:
    request, page = ask(kernel)
    page.code("p1")
    kernel.interrupt()
    kernel.finish(request)
    again = kernel.start(agent(options="--ask input"), allow_stdin=True)
    kernel.asked()
    kernel.type("y")
    assert kernel.finish(again).status == "ok"
    assert greeting(project) == AFTER


@requirement("BUG-N12")
def test_cells_that_were_sent_together_run_in_order(kernel: Kernel) -> None:
    page_subshell = kernel.open_subshell()
    kernel.run(LOAD)
    first = kernel.start(agent(), allow_stdin=True)
    second = kernel.start("print(open('hello.txt').read())")
    third = kernel.start("print('the end')")
    page = PagePart(kernel, subshell=page_subshell)
    page.ready()
    page.code("p1")
    begun = [
        m["parent_header"]["msg_id"] for m in kernel.drain() if m["msg_type"] == "execute_input"
    ]
    assert first in begun
    assert not {second, third} & {*begun}
    page.answer("allow", "p1", scope="once")
    assert kernel.finish(first).status == "ok"
    assert AFTER in kernel.finish(second).printed
    assert kernel.finish(third).printed == "the end\n"


@requirement("BUG-N14", "BUG-N11")
def test_below_another_magic_the_question_is_asked_in_words(kernel: Kernel, project: Path) -> None:
    kernel.run(LOAD)
    request = kernel.start(f"%%time\n{agent()}", allow_stdin=True)
    kernel.asked()
    kernel.type("y")
    run = kernel.finish(request)
    assert run.status == "ok", run.reply
    assert NO_BUTTONS in run.shown[-1]["text/plain"]
    assert "already running" not in str(run.outputs)
    assert greeting(project) == AFTER


@requirement("BUG-N14")
def test_without_autoawait_a_cell_runs_all_the_same(kernel: Kernel, project: Path) -> None:
    kernel.run(f"{LOAD}\n%autoawait False")
    request = kernel.start(agent(), allow_stdin=True)
    kernel.asked()
    kernel.type("n")
    assert kernel.finish(request).status == "ok"
    assert greeting(project) == BEFORE


@requirement("BUG-N7", "BUG-N14")
def test_an_interrupt_below_another_magic_is_one_line_too(kernel: Kernel, project: Path) -> None:
    kernel.run(LOAD)
    request = kernel.start(f"%%time\n{agent()}", allow_stdin=True)
    kernel.asked()
    kernel.interrupt()
    run = kernel.finish(request)
    assert run.status == "error"
    assert "Interrupted after step 1" in run.reply["evalue"]
    assert greeting(project) == BEFORE


# ---- loading ------------------------------------------------------------------------------------


@requirement("REQ-S18")
def test_loading_imports_no_widgets_and_writes_nothing(kernel: Kernel, home: Path) -> None:
    run = kernel.run(LOAD)
    assert run.status == "ok"
    assert run.shown == []
    assert run.printed == ""
    heavy = "[n for n in ('anywidget', 'ipywidgets') if n in __import__('sys').modules]"
    assert kernel.value(heavy) == "[]"
    assert list(home.iterdir()) == []
