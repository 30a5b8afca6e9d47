"""Which message of a page counts as an answer."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from arc_workbench.events import PermissionRequested, Scope
from arc_workbench.frontends.notebook.codes import MAX_REASON_CHARS, Codes, Verb
from tests.requirements import requirement


def asked(
    prompt: str = "p1", scopes: tuple[Scope, ...] = ("once", "session")
) -> PermissionRequested:
    return PermissionRequested(
        prompt=prompt,
        step=1,
        call_id=f"call-{prompt}",
        tool="bash",
        effect="execute",
        subject="ls",
        description="",
        because="",
        display=(),
        input={},
        cwd=".",
        digest=f"digest-of-{prompt}",
        scopes=scopes,
    )


def open_(*prompts: str) -> tuple[Codes, dict[str, str]]:
    codes = Codes()
    return codes, codes.keep([asked(prompt) for prompt in prompts])


def answer(code: str, **more: object) -> dict[str, object]:
    return {"do": "allow", "prompt": "p1", "nonce": code, "scope": "once", **more}


def test_the_answer_names_the_digest_of_what_was_shown() -> None:
    codes, known = open_("p1")
    verb = codes.accept(answer(known["p1"], scope="session"))
    assert verb == Verb("allow", "p1", "digest-of-p1", scope="session")


@requirement("REQ-S7", "REQ-S10")
def test_a_code_is_taken_once() -> None:
    codes, known = open_("p1")
    assert codes.accept({"do": "deny", "prompt": "p1", "nonce": known["p1"]}) is not None
    assert codes.accept(answer(known["p1"])) is None
    assert codes.was_answered("p1")
    assert codes.dropped == 1


@requirement("REQ-S7")
def test_of_many_threads_one_is_heard() -> None:
    codes, known = open_("p1")
    with ThreadPoolExecutor(8) as pool:
        heard = [pool.submit(codes.accept, answer(known["p1"])) for _ in range(64)]
        verbs = [future.result() for future in heard]
    assert len([verb for verb in verbs if verb is not None]) == 1
    assert codes.dropped == 63


@requirement("REQ-S7", "REQ-S9", "REQ-S31")
@pytest.mark.parametrize(
    "change",
    [
        {"nonce": ""},
        {"nonce": "wrong"},
        {"nonce": "\ud800"},
        {"nonce": None},
        {"nonce": "x" * 100_000},
        {"prompt": "p2"},
        {"prompt": "p3"},
        {"prompt": 1},
        {"do": "approve"},
        {"do": "stop"},
        {"scope": "forever"},
        {"scope": ["once"]},
        {"reason": "a yes has no words"},
        {"reason": "x" * (MAX_REASON_CHARS + 1), "do": "deny"},
        {"then_stop": True},
        {"then_stop": "yes", "do": "deny"},
        {"do": "deny", "scope": "session"},
        {"digest": "another"},
    ],
)
def test_anything_else_is_dropped_and_the_question_stays_open(change: Mapping[str, object]) -> None:
    codes, known = open_("p1", "p2")
    assert codes.accept({**answer(known["p1"]), **change}) is None
    assert codes.dropped == 1
    assert codes.accept(answer(known["p1"])) is not None


@requirement("REQ-S31")
@pytest.mark.parametrize("message", [None, "allow", 1, [], ["allow"], {}, {"do": {"do": "allow"}}])
def test_what_is_no_answer_at_all_is_dropped(message: object) -> None:
    codes, _ = open_("p1")
    assert codes.accept(message) is None
    assert codes.dropped == 1


def test_a_grant_that_was_not_offered_is_refused() -> None:
    codes = Codes()
    known = codes.keep([asked(scopes=("once",))])
    assert codes.accept(answer(known["p1"], scope="session")) is None


def test_a_denial_may_have_words_and_end_the_turn() -> None:
    codes, known = open_("p1")
    words = "x" * MAX_REASON_CHARS
    message = {
        "do": "deny",
        "prompt": "p1",
        "nonce": known["p1"],
        "reason": words,
        "then_stop": True,
    }
    assert codes.accept(message) == Verb("deny", "p1", "digest-of-p1", reason=words, then_stop=True)


@requirement("REQ-S8")
def test_a_question_that_is_no_longer_open_takes_no_answer() -> None:
    codes, known = open_("p1")
    codes.keep([])
    assert codes.accept(answer(known["p1"])) is None


def test_an_open_question_keeps_its_code_and_each_has_its_own() -> None:
    codes, known = open_("p1", "p2")
    assert codes.keep([asked("p1"), asked("p2")]) == known
    assert known["p1"] != known["p2"]
    assert all(len(code) >= 32 for code in known.values())


def test_an_answered_question_gets_no_new_code() -> None:
    codes, known = open_("p1")
    codes.accept(answer(known["p1"]))
    assert codes.keep([asked("p1")]) == {}
