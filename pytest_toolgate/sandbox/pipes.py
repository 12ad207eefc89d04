"""What joins two processes: pipes, and content that is handed over without a name."""

import os
from contextlib import ExitStack
from typing import IO


def pipe(ours: ExitStack, theirs: ExitStack) -> tuple[IO[bytes], int]:
    """Our end of a pipe, to read from, and theirs."""
    read, write = os.pipe()
    theirs.callback(os.close, write)
    return ours.enter_context(os.fdopen(read, "rb", buffering=0)), write


def control_pipe(ours: ExitStack, theirs: ExitStack) -> tuple[int, IO[bytes]]:
    """Their end of a pipe, and ours, the closing of which they notice."""
    inside, outside = os.pipe()
    theirs.callback(os.close, inside)
    return inside, ours.enter_context(os.fdopen(outside, "wb", buffering=0))


def content(text: bytes, theirs: ExitStack) -> int:
    """A descriptor that reads `text`; it has no name and vanishes with its last user."""
    descriptor = os.memfd_create("toolgate")
    theirs.callback(os.close, descriptor)
    with os.fdopen(descriptor, "wb", closefd=False) as stream:
        stream.write(text)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
