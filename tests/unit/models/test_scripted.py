"""The scripted provider: where scripts come from, how it streams, and what it plays on purpose."""

import asyncio
import selectors
from collections.abc import Coroutine
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import pytest

from arc_workbench.errors import ProviderError, ScriptError, SettingsError
from arc_workbench.models import PLANNED, make_provider
from arc_workbench.models.provider import ArgumentsPiece, ModelEvent, TextPiece
from arc_workbench.models.script_pace import Pace
from arc_workbench.models.scripted import MAX_BYTES, bundled_names
from tests.requirements import requirement
from tests.unit.models.talk import Heard, Talk, hear, model, script, talk

T = TypeVar("T")

LONG = "- say: " + "word " * 100
CALL = """
    - say: I call.
      call: shell_exec
      with: {command: echo hello}
    - say: Done.
"""

# ---- where scripts come from --------------------------------------------------------------------


def test_the_package_brings_the_tour_and_two_examples() -> None:
    assert bundled_names() == ["greeting", "hello", "tour"]


def test_a_scripted_model_says_plainly_that_it_is_one() -> None:
    provider = make_provider("script:tour", pace=0)

    assert provider.label == "script:tour"
    assert provider.notice == (
        "Scripted model. These words come from tour.yaml, not from a language model. "
        "The tools are real."
    )


async def test_asked_anything_but_its_tour_it_says_what_it_is() -> None:
    heard = await Talk(make_provider("script:tour", pace=0)).ask("Write a poem about the sea")

    assert heard.text == "I am a script and know only the tour. For other tasks: %agent help model"
    assert heard.stop_reason == "end_turn"


async def test_a_script_can_be_any_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yml"
    file.write_text(script("- say: Mine."), encoding="utf-8-sig", newline="\r\n")

    provider = make_provider(f"script:{file}", pace=0)

    assert provider.label == f"script:{file}"
    assert "come from mine.yml," in provider.notice
    assert (await Talk(provider).ask("go")).text == "Mine."


def test_a_script_is_looked_for_where_the_kernel_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.yaml").write_text(script("- stop"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert make_provider("script:mine.yaml", pace=0).label == "script:mine.yaml"


def refusal(spec: str) -> str:
    with pytest.raises(ScriptError) as refused:
        make_provider(spec, pace=0)
    return str(refused.value)


def test_a_script_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    missing, folder = tmp_path / "no.yaml", tmp_path / "folder.yaml"

    assert refusal(f"script:{missing}") == (
        f"No file {missing}; nothing ran. Check the path behind script:"
    )
    assert refusal(f"script:{folder}").startswith("No file ")
    assert refusal("script:\0.yaml").startswith("No file ")
    assert refusal("script:tuor") == (
        "No script tuor; nothing ran. Known: script:greeting, script:hello, script:tour, "
        "script:FILE.yaml"
    )
    assert refusal("script:").startswith("No script named; nothing ran.")
    assert refusal("script:../scripts/tour").startswith("No script ")


def test_a_faulty_file_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(script("- sya: hello"), encoding="utf-8")
    assert refusal(f"script:{file}").startswith("bad.yaml line 4: sya is unknown; nothing ran.")

    file.write_bytes(b"script: 1\ntitle: caf\xe9\n")
    assert refusal(f"script:{file}") == (
        "bad.yaml line 2: this is no UTF-8; nothing ran. Save it as UTF-8."
    )


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "big.yaml"
    file.write_bytes(b"#" * (MAX_BYTES + 1))

    assert refusal(f"script:{file}").endswith("is larger than 256 KiB; nothing ran. Shorten it.")


@pytest.mark.parametrize("spec", ["nonsense", "gpt:5", "", "Script:tour", "tour", "script"])
def test_what_is_no_model_is_answered_with_the_forms(spec: str) -> None:
    with pytest.raises(SettingsError) as refused:
        make_provider(spec, pace=0)

    assert str(refused.value) == f"{spec} is no model; nothing ran. Forms: %agent help model"
    assert refused.value.key == "model"


@pytest.mark.parametrize("spec", [*(f"{kind}:x" for kind in PLANNED), "claude-haiku-5-5", "human:"])
def test_a_model_of_a_later_version_is_said_not_to_be_there_yet(spec: str) -> None:
    with pytest.raises(SettingsError) as refused:
        make_provider(spec, pace=0)

    assert str(refused.value) == (
        f"{spec} is not available in this version; nothing ran. "
        "Now: script:tour or script:FILE.yaml"
    )


# ---- streaming ----------------------------------------------------------------------------------


async def test_without_a_pace_a_reply_comes_in_as_few_pieces_as_it_has_parts() -> None:
    heard = await talk(CALL).ask("go")

    assert [type(piece).__name__ for piece in heard.pieces] == [
        "TextPiece", "CallOpened", "ArgumentsPiece", "CallClosed", "ReplyEnded",
    ]  # fmt: skip


def sizes(pace: float, text: str) -> list[int]:
    return [len(piece) for piece in Pace(pace).pieces(text)]


def test_words_come_token_by_token() -> None:
    assert sizes(40, "x" * 10) == [4, 4, 2]
    assert sizes(100, "x" * 10) == [4, 4, 2]
    assert sizes(1_000, "x" * 100) == [40, 40, 20]
    for unpaced in (0, -1, float("inf"), float("nan")):
        assert sizes(unpaced, "x" * 100) == [100]
    assert sizes(40, "") == []


class LeapingSelector(selectors.DefaultSelector):
    """Waits for nothing: the time to wait is added to the clock instead."""

    now = longest = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        self.longest = max(self.longest, timeout or 0.0)
        return super().select(0)


class LeapingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock leaps over every wait."""

    def __init__(self) -> None:
        self.leaping = LeapingSelector()
        super().__init__(self.leaping)

    def time(self) -> float:
        return self.leaping.now


def leaping(work: Coroutine[object, object, T]) -> T:
    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        return runner.run(work)


async def timed(pace: float, steps: str) -> list[tuple[float, ModelEvent]]:
    clock = asyncio.get_running_loop().time
    session = Talk(model(steps, pace=pace))
    return [(clock(), piece) async for piece in session.provider.stream(session.request())]


def test_at_a_hundred_tokens_a_second_a_piece_comes_every_ten_milliseconds() -> None:
    times = [at for at, piece in leaping(timed(100, LONG)) if isinstance(piece, TextPiece)]

    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(times) == 125
    assert gaps == pytest.approx([0.01] * 124)


@pytest.mark.parametrize("pace", [2, 40, 333, 10_000])
def test_words_and_arguments_keep_the_pace(pace: float) -> None:
    pieces = leaping(timed(pace, f"{LONG}\n- call: x\n  with: {{a: {'y' * 500}}}"))

    sizes = [len(p.text) for _, p in pieces if isinstance(p, TextPiece | ArgumentsPiece)]
    tokens = sum(sizes[:-1]) / 4
    assert pieces[-1][0] == pytest.approx(tokens / pace, rel=0.01)


@requirement("BUG-N7")
def test_a_slow_reply_never_sleeps_longer_than_an_interrupt_may_wait() -> None:
    loop = LeapingLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        pieces = runner.run(timed(0.5, "- say: twelve chars"))

    assert [at for at, _ in pieces] == pytest.approx([0, 2, 4, 4])
    assert loop.leaping.longest < 0.101


async def test_cancelling_a_slow_reply_ends_it_and_leaves_nothing_behind() -> None:
    provider, begun = model(LONG, pace=0.001), asyncio.Event()

    async def listen() -> None:
        async for _ in provider.stream(Talk(provider).request()):
            begun.set()

    before = asyncio.all_tasks()
    async with asyncio.timeout(5):
        task = asyncio.create_task(listen())
        await begun.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    assert task.cancelled()
    assert asyncio.all_tasks() == before


# ---- played faults ------------------------------------------------------------------------------


async def test_raw_arguments_are_sent_as_they_are() -> None:
    session = talk("""
        - call: shell_exec
          raw: '{"command": "ls {prompt}'
    """)

    assert (await session.ask("go")).calls[0].arguments == '{"command": "ls {prompt}'


async def test_a_reply_can_end_for_another_reason() -> None:
    steps = "- say: I wri\n  stop_reason: max_tokens\n- call: ls\n  stop_reason: refusal"
    session = talk(steps)

    assert (await session.ask("go")).stop_reason == "max_tokens"
    assert (await session.reply()).stop_reason == "refusal"


async def test_a_cut_reply_breaks_off_inside_its_last_call() -> None:
    steps = "- together: [{call: ls, with: {a: 1}}, {call: ls, with: {a: 2}}]\n  cut: true"

    heard = await talk(steps).ask("go")

    assert heard.stop_reason is None
    assert [call.arguments for call in heard.calls] == ['{"a": 1}', '{"a"']
    assert heard.closed == 1


async def played(session: Talk) -> tuple[Heard, str]:
    """What came before the fault, and its kind."""
    heard = Heard()
    try:
        async for piece in session.provider.stream(session.request()):
            heard.pieces.append(piece)
    except ProviderError as fault:
        return heard, fault.kind
    return heard, "no fault"


async def test_a_failure_comes_before_the_first_word() -> None:
    steps = "- say: Never said.\n  fail: overloaded"

    heard, kind = await played(talk(steps))

    assert (heard.pieces, kind) == ([], "overloaded")


async def test_a_cut_can_be_a_failure_after_words() -> None:
    heard, kind = await played(talk("- say: Half a\n  cut: network"))

    assert (heard.pieces, kind) == ([TextPiece("Half a")], "network")


async def test_a_failure_that_is_played_twice_lets_the_third_attempt_through() -> None:
    provider = model("- say: At last.\n  call: ls\n  fail: rate_limit\n  times: 2\n- say: Done.")
    session = Talk(provider)

    assert [(await played(session))[1] for _ in range(2)] == ["rate_limit", "rate_limit"]
    third = await hear(provider, session.request())
    assert (third.text, [call.name for call in third.calls]) == ("At last.", ["ls"])
    assert third.stop_reason == "tool_use"
