"""The words of background jobs."""

import pytest

from arc_workbench.frontends import jobs
from arc_workbench.shell.states import JobState, Survivor
from arc_workbench.views import JobStatus, JobView
from tests.requirements import requirement


def job(status: JobStatus = "completed", **more: object) -> JobView:
    """A job of one command."""
    view = JobView(id="j2", spool="s3", command="make docs", cwd="/project", status=status)
    view.exit_code = 0 if status == "completed" else None
    for name, value in more.items():
        setattr(view, name, value)
    return view


@requirement("BUG-B13")
@pytest.mark.parametrize(
    ("view", "title", "row"),
    [
        (job("running"), "Job 2, running", "j2  running  make docs"),
        (job(), "Job 2, ended: exit 0", "j2  exit 0  make docs"),
        (job("failed", exit_code=3), "Job 2, ended: exit 3", "j2  exit 3  make docs"),
        (
            job("failed", signal="SIGSEGV"),
            "Job 2, ended by signal 11 (SIGSEGV)",
            "j2  SIGSEGV  make docs",
        ),
        (
            job("timed_out", duration_sec=120.0),
            "Job 2, timed out after 2:00",
            "j2  timed out  make docs",
        ),
        (job("killed"), "Job 2, stopped", "j2  stopped  make docs"),
        (job("aborted"), "Job 2, stopped", "j2  stopped  make docs"),
        (job("limited"), "Job 2, ended at a limit", "j2  limited  make docs"),
        (
            job("limited", limit="file size"),
            "Job 2, ended at the file size limit",
            "j2  file size limit  make docs",
        ),
        (
            job("limited", limit="supervisor"),
            "Job 2, ended, since what watched over it was killed",
            "j2  limited  make docs",
        ),
    ],
)
def test_each_state_has_its_words(view: JobView, title: str, row: str) -> None:
    assert jobs.title(view) == title
    assert jobs.row(view) == row


def test_a_signal_that_this_machine_does_not_know_is_named_all_the_same() -> None:
    assert jobs.title(job("failed", signal="SIGODD")) == "Job 2, ended by signal SIGODD"


def test_a_command_is_one_bounded_line_in_which_nothing_hides() -> None:
    shown = jobs.command("printf '\u202e'\n  && " + "x" * 500)

    assert "\u202e" not in shown
    assert "\n" not in shown
    assert "more characters" in shown
    assert len(shown) < 400


def test_what_the_shell_knows_of_a_job_is_shown_with_what_there_is_to_say() -> None:
    state = JobState(
        spool_id="s3",
        command="make docs",
        cwd="/project",
        status="completed",
        job_id="j2",
        exit_code=0,
        total_bytes=41_200,
        backend="bubblewrap",
        lingering=(Survivor(12, "sleep"),),
    )

    view = jobs.view_of(state)

    assert jobs.facts(view, step=6)[:3] == [
        "41.2 KB",
        "confined by bubblewrap",
        "started by step 6",
    ]
    assert "sleep (pid 12)" in view.note


@requirement("REQ-F37")
def test_a_job_whose_output_was_lost_or_that_met_a_limit_is_marked_as_such() -> None:
    assert jobs.mark(job(lost=True)) == ("warn", "!")
    assert jobs.mark(job("limited", limit="memory")) == ("warn", "!")
    assert jobs.mark(job("failed", exit_code=1, lost=True))[0] == "failed"
    assert jobs.LOST in jobs.facts(job(lost=True))


def test_what_the_shell_knows_of_limits_and_losses_reaches_the_card() -> None:
    state = JobState("s3", "make", "/project", limit_sec=90, lost_from=9, limit="memory")

    view = jobs.view_of(state)

    assert (view.timeout_sec, view.lost, view.limit) == (90, True, "memory")


def test_jobs_of_an_earlier_kernel_are_marked() -> None:
    listed = jobs.table([(job("running"), False), (job("killed"), True)])

    assert listed == "j2  running  make docs\nj2  stopped  make docs  of an earlier kernel"
    assert jobs.table([]) == jobs.NO_JOBS
