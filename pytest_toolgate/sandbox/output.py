"""Collect what a hostile program writes, in bounded memory."""

from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class Capped:
    """Keeps the first `limit` bytes and knows whether and how many more there were."""

    limit: int
    kept: bytearray = field(default_factory=bytearray)
    exceeded: bool = False
    size: int = 0

    def add(self, piece: bytes) -> None:
        """Take what was read next."""
        self.size += len(piece)
        room = self.limit - len(self.kept)
        self.exceeded = self.exceeded or len(piece) > room
        self.kept += piece[:room]


@dataclass(slots=True)
class HeadAndTail:
    """Keeps the first and the last half of `limit` bytes, for a stream whose excess is no fault."""

    limit: int
    head: bytearray = field(default_factory=bytearray)
    tail: deque[bytes] = field(default_factory=deque)
    tail_size: int = 0
    dropped: int = 0

    def add(self, piece: bytes) -> None:
        """Take what was read next."""
        room = self.limit // 2 - len(self.head)
        self.head += piece[:room]
        if rest := piece[room:]:
            self.tail.append(rest)
            self.tail_size += len(rest)
        most = self.limit - self.limit // 2
        while self.tail_size > most:
            first = self.tail.popleft()
            excess = self.tail_size - most
            if excess < len(first):
                self.tail.appendleft(first[excess:])
            cut = min(excess, len(first))
            self.tail_size -= cut
            self.dropped += cut

    @property
    def size(self) -> int:
        """Bytes of all that was read."""
        return len(self.head) + self.dropped + self.tail_size

    def text(self) -> bytes:
        """Head and tail, with a line between them where something was dropped."""
        between = b"\n[... %d bytes cut ...]\n" % self.dropped if self.dropped else b""
        return bytes(self.head) + between + b"".join(self.tail)
