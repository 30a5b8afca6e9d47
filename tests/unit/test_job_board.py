"""Background jobs folded into what a person sees."""

import pytest

from arc_workbench.events import JobEnded, JobOutput, JobStarted, Notice
from arc_workbench.views import JOB_TAIL_CHARS, JobBoard, JobView


def started(job: str = "j1", began_at: float = 100.0) -> JobStarted:
    return JobStarted(
        job=job, spool="s1", call_id="a", command="make", cwd="/p", began_at=began_at, at=101.0
    )


def board(*jobs: str) -> JobBoard:
    made = JobBoard()
    for job in jobs:
        made.fold(started(job))
    return made


def test_a_job_that_began_runs() -> None:
    view = JobBoard().fold(started())

    assert view == JobView(
        id="j1", spool="s1", command="make", cwd="/p", call_id="a", started_at=100.0
    )
    assert view is not None
    assert view.running
    assert view.state == "running"


def test_its_output_is_kept_up_to_a_length() -> None:
    made = board("j1")

    view = made.fold(JobOutput(job="j1", text="x" * JOB_TAIL_CHARS, bytes=8_000))
    assert view is made.fold(JobOutput(job="j1", text="end", bytes=8_003))

    assert view is not None
    assert len(view.tail) == JOB_TAIL_CHARS
    assert view.tail.endswith("xend")
    assert view.bytes == 8_003


def test_its_end_says_how_and_when() -> None:
    made = board("j1", "j2")

    view = made.fold(
        JobEnded(
            job="j1", status="failed", exit_code=3, duration_sec=2.5, bytes=9, note="N", tail="T"
        )
    )

    assert view is not None
    assert (view.state, view.running, view.ended_at) == ("exit 3", False, 102.5)
    assert (view.bytes, view.note, view.tail) == (9, "N", "T")
    assert [job.id for job in made.running] == ["j2"]
    assert list(made.jobs) == ["j1", "j2"]


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (JobEnded(job="j1", status="completed", exit_code=0), "exit 0"),
        (JobEnded(job="j1", status="failed", signal="SIGKILL"), "SIGKILL"),
        (JobEnded(job="j1", status="timed_out"), "timed out"),
        (JobEnded(job="j1", status="killed"), "stopped"),
        (JobEnded(job="j1", status="aborted"), "stopped"),
        (JobEnded(job="j1", status="limited"), "limited"),
        (JobEnded(job="j1", status="limited", limit="memory"), "memory limit"),
    ],
)
def test_the_state_is_a_word_or_two(end: JobEnded, state: str) -> None:
    view = board("j1").fold(end)

    assert view is not None
    assert view.state == state


def test_other_events_and_unknown_jobs_change_nothing() -> None:
    made = board("j1")

    assert made.fold(Notice(level="info", text="x")) is None
    assert made.fold(JobOutput(job="j9", text="x")) is None
    assert made.fold(JobEnded(job="j9", status="killed")) is None


def test_a_copy_goes_its_own_way() -> None:
    made = board("j1")
    copy = made.copy()

    made.fold(JobEnded(job="j1", status="killed"))

    assert copy.jobs["j1"].running
