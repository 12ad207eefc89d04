"""The host that attacks aim at: secrets in every place that matters, listeners, victims, and a look afterwards."""

import contextlib
import ctypes
import fcntl
import itertools
import json
import os
import platform
import random
import site
import sysconfig
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .attack import Attack
from .listeners import Listeners
from .victims import Victim, victim

# A file that scripts see too, on which the host looks for locks.
_LOCKED = Path(json.__file__).resolve()
# Where a file that nobody expects would be found by its name.
_SHARED = tuple(map(Path, ("/tmp", "/var/tmp", "/dev/shm", "/run", "/etc/cron.d", "/etc/profile.d", "/usr/local/bin")))


_SECRETS = (
    *("neighbour", "database", "accepted", "ssh", "netrc", "token"),
    *("workspace", "environment", "victim", "inherited"),
)


@dataclass(slots=True)
class World:
    """One repository with its user's home, and what stands around it.

    Attributes:
        root: The directory of it all.
        mark: In the name of every file that an attack makes, and nowhere else on the machine.
        secrets: Where each lies -> what must not be seen in any script's output.
        listeners: What hears connections.
        victims: Attack -> the process it may aim at.
        locked: What the host ran into when it locked a file of the system.
        key: Key of the System V objects that attacks make.
        descriptor: An inheritable descriptor of a secret file.
    """

    root: Path
    mark: str
    secrets: dict[str, str]
    listeners: Listeners
    victims: dict[str, Victim] = field(default_factory=dict)
    locked: list[str] = field(default_factory=list)
    key: int = 0
    descriptor: int = -1

    @property
    def repository(self) -> Path:
        """Where pytest is run."""
        return self.root / "repository"

    @property
    def home(self) -> Path:
        """The home of whoever runs it."""
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        """Its temporary directory, where runs have theirs."""
        return self.root / "temporary"

    def facts(self, attack: Attack, *, plain: bool) -> dict[str, object]:
        """What the attack knows of the host: where everything is, and no secret."""
        repository = self.repository
        victim = self.victims.get(attack.name)
        return {
            "plain": plain,
            "mark": self.mark,
            "repository": str(repository),
            "candidates": str(repository / "candidates"),
            "database": str(repository / ".toolgate"),
            "accepted": str(repository / "accepted"),
            "home": str(self.home),
            "temporary": str(self.temporary),
            "node": platform.node(),
            "boot": Path("/proc/sys/kernel/random/boot_id").read_text(),
            "key": self.key,
            "lock": str(_LOCKED),
            **self.listeners.places,
            "victim": victim.pid if victim else 0,
            "victim_address": victim.address if victim else 0,
            "victim_length": victim.length if victim else 0,
            "victim_file": victim.file if victim else 0,
        }

    def environment(self) -> dict[str, str]:
        """Of whoever runs pytest: a key, a home, a temporary directory."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TOOLGATE_"))}
        return kept | {
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "LAB_KEY": self.secrets["environment"],
            "NO_COLOR": "1",
            "COLUMNS": "120",
        }

    # --- afterwards -----------------------------------------------------------------------------------------------

    def planted(self, purelib: Path | None = None) -> list[str]:
        """Files that bear the mark in their name, or hold it where no script of ours should have written."""
        ours = itertools.chain.from_iterable(map(_below, (self.home, self.repository, self.temporary)))
        found = [str(path) for path in ours if self.mark in path.name]
        home = Path.home()
        listed = [*_SHARED, home, home / ".config", home / ".cache", Path(site.getusersitepackages())]
        paths = sysconfig.get_paths()
        listed += [Path(paths[name]) for name in ("purelib", "platlib", "stdlib")]
        listed += [_LOCKED.parent / "__pycache__", *filter(None, [purelib])]
        for place in dict.fromkeys(listed):
            with contextlib.suppress(OSError):
                found += [str(path) for path in place.iterdir() if self.mark in path.name]
        kept = (self.home, self.repository / "accepted", self.repository / "candidates" / "neighbour.yaml")
        for file in [path for place in kept for path in (place, *_below(place)) if path.is_file()]:
            if self.mark.encode() in file.read_bytes():
                found += [f"{file}: {line}" for line in file.read_text("latin-1").splitlines() if self.mark in line]
        return found + self._message_queues()

    def _message_queues(self) -> list[str]:
        library = ctypes.CDLL("librt.so.1", use_errno=True)
        names = [f"/{self.mark}-{name}" for name in ("message-queue",)]
        return [f"message queue {name}" for name in names if library.mq_unlink(name.encode()) == 0]

    def remove_planted(self, found: list[str]) -> None:
        """Remove what was found outside of the world; inside it goes with it."""
        for line in found:
            if (path := Path(line)).is_absolute() and self.mark in path.name and path.exists():
                path.unlink() if path.is_file() else None

    def system_v(self) -> list[str]:
        """System V objects with the world's key; they are removed."""
        libc = ctypes.CDLL(None)
        found = []
        for kind, remove in (("shm", libc.shmctl), ("msg", libc.msgctl), ("sem", libc.semctl)):
            for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]:
                key, number = map(int, line.split()[:2])
                if key & 0xFFFFFFFF == self.key:
                    found.append(f"{kind} {number}")
                    remove(number, *((0, 0) if kind == "sem" else (0, None)))
        return found

    def mounts(self) -> list[str]:
        """Mounts of this process's view that are the work of an attack; they are undone."""
        found = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if self.mark in line]
        for line in found:
            ctypes.CDLL(None).umount2(line.split()[4].encode(), 2)
        return found

    def leftovers(self) -> list[str]:
        """What is in the temporary directory that the host did not put there."""
        expected = ("toolgate-run-other", "pytest-of-")
        return [path.name for path in self.temporary.iterdir() if not path.name.startswith(expected)]


def _below(place: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(place):
        yield from (Path(folder, name) for name in (*names, *files))


@contextmanager
def build(root: Path, attacks: tuple[Attack, ...]) -> Iterator[World]:
    """Put up the world, with a victim for every attack that wants one, and take it down."""
    mark = f"tg{uuid.uuid4().hex[:12]}"
    secrets = {place: f"canary-{place}-{uuid.uuid4().hex}" for place in _SECRETS}
    for name in ("home/.ssh", "home/.config", "repository/candidates", "repository/.toolgate", "repository/accepted"):
        (root / name).mkdir(parents=True)
    (root / "temporary" / "toolgate-run-other" / "solve-x").mkdir(parents=True)
    files = {
        "home/.ssh/id_ed25519": secrets["ssh"],
        "home/.netrc": secrets["netrc"],
        "home/.config/token": secrets["token"],
        "home/.bashrc": "# a shell's own\n",
        "home/note": secrets["victim"],
        "repository/.toolgate/notes.txt": secrets["database"],
        "repository/accepted/old.json": secrets["accepted"],
        "temporary/toolgate-run-other/solve-x/answer.txt": secrets["workspace"],
    }
    for name, text in files.items():
        (root / name).write_text(text)
    with ExitStack() as stack:
        listeners = stack.enter_context(Listeners(root, mark))
        world = World(root, mark, secrets, listeners, key=random.randrange(1 << 28, 1 << 31))
        inherited = stack.enter_context((root / "inherited").open("w+"))
        inherited.write(secrets["inherited"])
        inherited.flush()
        world.descriptor = inherited.fileno()
        for attack in attacks:
            if "host.victim" in attack.script:
                world.victims[attack.name] = stack.enter_context(victim(secrets["victim"], world.home))
        stack.enter_context(_lock_watch(world.locked))
        yield world


@contextmanager
def _lock_watch(locked: list[str]) -> Iterator[None]:
    """Now and then lock a file of the system, as its owner might, and note when somebody else has."""
    over = threading.Event()

    def look() -> None:
        with _LOCKED.open("rb") as file:
            while not over.wait(0.05):
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    fcntl.flock(file, fcntl.LOCK_UN)
                except BlockingIOError:
                    locked.append(f"{_LOCKED.name} is locked")

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
