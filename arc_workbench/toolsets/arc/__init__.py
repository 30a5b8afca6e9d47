"""Arc's managed runtime tools, in the order of the page."""

from arc_workbench.toolsets.arc import (
    shell_exec,
    shell_job,
    shell_output,
    workspace_edit,
    workspace_history,
    workspace_list,
    workspace_read,
    workspace_recovery_status,
    workspace_search,
    workspace_undo,
    workspace_write,
)

TOOLS = (
    workspace_list.TOOL,
    workspace_read.TOOL,
    workspace_search.TOOL,
    workspace_write.TOOL,
    workspace_edit.TOOL,
    workspace_history.TOOL,
    workspace_recovery_status.TOOL,
    workspace_undo.TOOL,
    shell_exec.TOOL,
    shell_output.TOOL,
    shell_job.TOOL,
)
