"""Limits of a GPU that show when a kernel is compiled or launched."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from astile.analysis.counts import gpu_limits
from astile.errors import LoweringError
from astile.intrinsics.plain import SharedMemoryError
from astile.runtime import compile as compiling
from astile.runtime import launch_limits


def refused(check: object, *arguments: object) -> LoweringError:
    with pytest.raises(LoweringError) as caught:
        check(*arguments)  # type: ignore[operator]
    return caught.value


# --- each limit ---------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", "xyz")
def test_blocks_of_a_grid(axis: str) -> None:
    most = gpu_limits.MOST_BLOCKS[axis]
    grid = dict.fromkeys("xyz", 1) | {axis: most}
    launch_limits.check_grid("f_kernel", tuple(grid.values()))
    grid[axis] += 1
    error = refused(launch_limits.check_grid, "f_kernel", tuple(grid.values()))
    assert error.code == "lowering.limit"
    assert f"{most + 1} blocks along {axis}; a grid has at most {most}" in str(error)


def test_registers_of_a_block() -> None:
    launch_limits.check_compiled("f_kernel", 128, 0, 512)
    error = refused(launch_limits.check_compiled, "f_kernel", 129, 0, 512)
    assert "136 registers for each of the 512 threads of a block" in str(error)
    assert error.code == "lowering.limit"


def test_memory_of_a_thread() -> None:
    launch_limits.check_compiled("f_kernel", 1, 512 * 1024, 1)
    error = refused(launch_limits.check_compiled, "f_kernel", 1, 512 * 1024 + 1, 1)
    assert error.code == "lowering.local-memory"


def test_shared_memory_of_a_block() -> None:
    launch_limits.check_shared("f_kernel", 166912, 166912, "sm_80")
    error = refused(launch_limits.check_shared, "f_kernel", 166913, 166912, "sm_80")
    assert error.code == "lowering.shared-memory"
    assert "166913 bytes of shared memory in one block; sm_80 gives 166912" in str(error)
    assert "GPUs of compute capability 9.0, 10.0 give as much" in str(error)


@pytest.mark.parametrize(
    ("cc", "kibibytes"),
    [((7, 5), 64), ((8, 0), 163), ((8, 6), 99), ((9, 0), 227), ((12, 1), 99), ((6, 0), 48)],
)
def test_shared_memory_by_capability(cc: tuple[int, int], kibibytes: int) -> None:
    assert gpu_limits.most_shared(cc) == kibibytes * 1024


# --- launches -----------------------------------------------------------------------------------


class Dispatcher:
    """Stands for what `cuda.jit` makes."""

    def __init__(self, registers: int = 32, local: int = 0) -> None:
        self.made = SimpleNamespace(regs_per_thread=registers, local_mem_per_thread=local)
        self.configured: list[object] = []

    def configure(self, *configuration: object) -> object:
        self.configured.append(configuration)
        return configuration

    def compile(self, signature: object) -> object:
        return self.made


def test_a_launch_over_a_limit_is_not_made() -> None:
    kernel = Dispatcher()
    launch_limits.checked(kernel, "f_kernel", 64)
    assert kernel.configure((4, 65535), 64) == ((4, 65535), 64)
    assert kernel.configure(70000, 64, 0, 50000) == (70000, 64, 0, 50000)
    refused(kernel.configure, (4, 65536), 64)
    assert len(kernel.configured) == 2


def test_a_kernel_over_a_limit_is_not_launched() -> None:
    fitting, greedy = Dispatcher(), Dispatcher(registers=255)
    launch_limits.checked(fitting, "f_kernel", 1024)
    assert fitting.compile("types") is fitting.made
    launch_limits.checked(greedy, "f_kernel", 1024)
    refused(greedy.compile, "types")


def test_a_gpu_that_gives_less_is_told() -> None:
    with pytest.raises(LoweringError) as caught, compiling.retelling("cuda", "", None):
        raise SharedMemoryError(98304, 65536)
    assert caught.value.code == "lowering.shared-memory"
    assert "98304 bytes of shared memory in one block; this GPU gives 65536" in str(caught.value)
