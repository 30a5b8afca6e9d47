"""The harness itself: the kernel that a test asks for is the one it gets."""

from tests.notebook.conftest import LOWEST
from tests.notebook.kernel import Kernel


def test_the_kernel_has_the_version_that_was_asked_for(kernel: Kernel, is_lowest: bool) -> None:
    version = kernel.value("__import__('ipykernel').__version__")
    assert (version == LOWEST) == is_lowest


def test_the_package_is_the_one_in_the_repository(kernel: Kernel) -> None:
    assert kernel.run("import arc_workbench.views").status == "ok"
