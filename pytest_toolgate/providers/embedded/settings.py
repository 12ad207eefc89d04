"""What the embedded server is started with: the one line of JSON from launcher to server."""

import json
import os
from dataclasses import asdict, dataclass
from typing import Self

from pytest_toolgate.providers.embedded.errors import EmbeddedError
from pytest_toolgate.providers.embedded.model import ModelFile


def available_cores() -> int:
    """The cores this process may use, which in a container are fewer than the machine has."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What a user of the launcher chooses; the defaults are measured for two cores and 4 GB of memory.

    One slot, because requests computed together round differently: only one at a time gives the same reply
    whatever else is asked. Four slots give about a fifth more tokens per processor second to four callers.
    """

    model: ModelFile | None = None
    """The model to serve; None looks for it (`find_model`) when the first call is due."""
    context: int = 16384
    """Tokens of context per slot: prompt and reply of one request together."""
    slots: int = 1
    """Requests worked on at the same time; more wait their turn."""
    threads: int = 0
    """Threads of computation; 0 takes the cores this process may use."""
    seed: int = 0
    """The sampler's seed for requests that give none."""


@dataclass(frozen=True, slots=True)
class ServerOrder:
    """What one server process is told on its standard input."""

    path: str
    """Path of the GGUF file."""
    name: str
    """The model's name in the API."""
    context: int
    slots: int
    threads: int
    seed: int
    api_key: str
    """Required of every request; random per server, so that no other user of the machine can ask."""

    @classmethod
    def of(cls, settings: ServerSettings, model: ModelFile, api_key: str) -> Self:
        """Complete the chosen settings with what only the launcher knows."""
        return cls(
            path=str(model.path),
            name=model.name,
            context=settings.context,
            slots=settings.slots,
            threads=settings.threads or available_cores(),
            seed=settings.seed,
            api_key=api_key,
        )

    def to_line(self) -> str:
        """One line of JSON, without the line end."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Self:
        """Read `to_line`'s form.

        Raises:
            EmbeddedError: The line is not such an order.
        """
        try:
            order = cls(**json.loads(line))
            numbers = (order.context, order.slots, order.threads)
            usable = all(type(number) is int and number > 0 for number in numbers)
        except (TypeError, ValueError) as error:
            raise EmbeddedError(f"The embedded server's order cannot be read: {error}.") from error
        if not usable or not order.api_key:
            raise EmbeddedError("The embedded server's order needs positive numbers and an API key.")
        return order
