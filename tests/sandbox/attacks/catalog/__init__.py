"""All attacks, by kind."""

from ..attack import Attack
from . import (
    answers,
    disk,
    kernel,
    memory,
    network,
    output,
    persistence,
    privileges,
    processes,
    reading_files,
    reading_processes,
    shared_kernel,
    terminal,
)

CATALOG: tuple[Attack, ...] = (
    *reading_files.ATTACKS,
    *reading_processes.ATTACKS,
    *network.ATTACKS,
    *processes.ATTACKS,
    *memory.ATTACKS,
    *disk.ATTACKS,
    *output.ATTACKS,
    *terminal.ATTACKS,
    *persistence.ATTACKS,
    *privileges.ATTACKS,
    *kernel.ATTACKS,
    *answers.ATTACKS,
    *shared_kernel.ATTACKS,
)
