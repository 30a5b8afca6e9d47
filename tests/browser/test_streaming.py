"""What streaming costs: bytes on the wire, and long tasks in the page."""

import json

from tests.browser.conftest import Open

MOST_BYTES = 200_000
WATCH = """() => {
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
  }).observe({ entryTypes: ["longtask"] });
}"""
RUN = """
stage = Stage()
await stage.stream(1000, 100)
stage.finish()
"""


def test_a_thousand_tokens_cost_less_than_two_hundred_kilobytes(
    in_lab: Open,
) -> None:
    notebook = in_lab("from tests.notebook.stage import Stage", RUN)
    notebook.run(0)
    notebook.wait_until_done(0)
    notebook.page.evaluate(WATCH)
    notebook.received.clear()
    notebook.run(1)
    notebook.see("word999", cell=1)
    notebook.wait_until_done(1)
    notebook.see("Finished", cell=1)

    received = sum(map(len, notebook.received))
    longest = max(notebook.page.evaluate("longTasks"), default=0)
    measured = {"bytes": received, "messages": len(notebook.received), "longest_task_ms": longest}
    notebook.keep("streaming.json", json.dumps(measured))
    assert received < MOST_BYTES
    words = notebook.output(1).locator(".aw-text").inner_text().split()
    assert words == [f"word{number}" for number in range(1000)]
