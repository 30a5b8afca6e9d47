"""Arcturn's built-in tools, in the order of the page."""

from arc_workbench.toolsets.arcturn import bash, bash_job, edit, glob, grep, ls, read, write

TOOLS = (
    read.TOOL,
    write.TOOL,
    edit.TOOL,
    bash.TOOL,
    bash_job.TOOL,
    grep.TOOL,
    glob.TOOL,
    ls.TOOL,
)
