"""Memory: more of it than allowed, and kinds of it that belong to no process."""

from ..attack import Attack

# Memory of the kernel is counted nowhere but for the whole machine.
_HELD = """
def held():
    return next(int(line.split()[1]) >> 10 for line in open("/proc/meminfo") if line.startswith("SUnreclaim"))
before = held()
"""
_MAP = """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
children = []
while len(children) < 3:
    children.append(attempt(os.fork))
    if not children[-1]:
        children = None
        break
for _ in range(32000):  # two with other rights than their neighbours each
    place = libc.mmap(None, ctypes.c_size_t(8192), 1, 0x22, -1, ctypes.c_long(0))
    libc.mprotect(ctypes.c_void_p(place), ctypes.c_size_t(4096), 0)
if children is None:
    time.sleep(30)
time.sleep(0.2)
"""
_LOCK = """
import fcntl, struct
os.mkdir("locks")
files = [os.open(f"locks/{number}", os.O_RDWR | os.O_CREAT) for number in range(240)]
wanted = [struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 2 * start, 1, 0) for start in range(1000, 0, -1)]
children = []
for file in files:
    for lock in wanted:
        fcntl.fcntl(file, fcntl.F_SETLK, lock)
"""
_COMPARE = """
if held() - before > 25:
    print("HARM: the kernel holds 25 MiB more for it")
for child in children:
    os.kill(child, 9)
"""

ATTACKS = (
    Attack(
        "memory-of-one",
        "memory",
        "Takes memory without end.",
        """
        blocks = []
        while True:
            blocks.append(bytearray(b"x") * (16 << 20))
        """,
        "excess",
        outcome="rejected verify memory-limit",
        ended="memory-limit",
        plain="would hurt",
    ),
    Attack(
        "memory-of-sixty",
        "memory",
        "Spreads 1.9 GB over 60 processes, each of which takes little.",
        """
        for _ in range(60):
            if attempt(os.fork) == 0:
                block = bytearray(b"x") * (32 << 20)
                time.sleep(30)
        time.sleep(30)
        """,
        "excess",
        outcome="rejected verify memory-limit",
        ended="memory-limit",
        plain="would hurt",
    ),
    Attack(
        "shared-memory",
        "memory",
        "Takes memory that several processes share and that none of them alone answers for.",
        """
        import mmap
        blocks = []
        for _ in range(100):
            blocks.append(mmap.mmap(-1, 16 << 20))
            if attempt(os.fork) == 0:
                break
            blocks[-1].write(b"x" * (16 << 20))
        time.sleep(30)
        """,
        "excess",
        outcome="rejected verify memory-limit",
        ended="memory-limit",
        plain="would hurt",
    ),
    Attack(
        "memory-files",
        "memory",
        "Makes files that lie in memory and have no name.",
        """
        made = call(319, 279, b"x", 0)
        secret = call(447, 447, 0)
        if made >= 0 or secret >= 0:
            print("HARM: memory files", made, secret)
        """,
        "word",
    ),
    Attack(
        "system-v-memory",
        "memory",
        "Makes shared memory that outlives every process.",
        "call(29, 194, host.key, 1 << 20, 0o1600)",
        "sysv",
    ),
    Attack(
        "system-v-queues",
        "memory",
        "Makes a message queue and semaphores that outlive every process.",
        """
        call(68, 186, host.key, 0o1600)
        call(64, 190, host.key, 1, 0o1600)
        """,
        "sysv",
    ),
    Attack(
        "socket-buffers",
        "memory",
        "Fills the buffers of sockets, which no limit of a process counts.",
        """
        import socket
        pairs = attempt(socket.socketpair)
        if pairs:
            pairs[0].setblocking(False)
            print("HARM: buffered", attempt(pairs[0].send, bytes(1 << 16)))
        """,
        "word",
    ),
    Attack(
        "pipe-buffers",
        "memory",
        "Fills the buffers of as many and as large pipes as eight processes can open.",
        """
        import fcntl
        for _ in range(7):
            if attempt(os.fork) == 0:
                break
        filled = 0
        pipes = []
        while len(pipes) < 126:
            made = attempt(os.pipe)
            if made is None:
                break
            pipes.append(made)
            attempt(fcntl.fcntl, made[1], 1031, 1 << 20)
            os.set_blocking(made[1], False)
            filled += attempt(os.write, made[1], bytes(1 << 20)) or 0
        if filled > 100 << 20:
            os.write(1, b"HARM: one process has filled more than 100 MiB\\n")
        if os.getppid() > 1 and len(visible()) > 2:
            time.sleep(30)  # the first process alone is to answer
        """,
        "word",
        plain="would hurt",
    ),
    Attack(
        "locked-memory",
        "memory",
        "Locks memory, so that the kernel cannot take it back.",
        """
        import ctypes
        block = bytearray(1 << 20)
        address = ctypes.addressof(ctypes.c_char.from_buffer(block))
        if ctypes.CDLL(None).mlock(ctypes.c_void_p(address), 1 << 20) == 0:
            print("HARM: locked")
        """,
        "word",
    ),
    Attack(
        "mappings-without-number",
        "memory",
        "Has the kernel keep records of 256,000 mappings, which no process answers for.",
        _HELD + _MAP + _COMPARE,
        "word",
        opens=frozenset({"candidate", "agent"}),
    ),
    Attack(
        "record-locks",
        "memory",
        "Has the kernel keep records of 240,000 locks on its own files; there could be any number.",
        _HELD + _LOCK + _COMPARE,
        "word",
        outcome="rejected verify killed",
        ended="killed",
    ),
    Attack(
        "mapped-flood",
        "memory",
        "Maps a file in `/dev/shm` that is larger than what is there and writes into it.",
        """
        import mmap
        with open("/dev/shm/" + host.tag, "w+b") as file:
            file.truncate(60 << 20)
            area = mmap.mmap(file.fileno(), 60 << 20)
        others = [open(place + "/" + host.tag, "wb") for place in ("/tmp", ".")]
        for start in range(0, 60 << 20, 1 << 20):
            area[start : start + (1 << 20)] = bytes(1 << 20)
            for other in others:
                other.write(bytes(1 << 20))
                other.flush()
        """,
        "excess",
        outcome="rejected verify disk-limit",
        ended="disk-limit",
        plain="would hurt",
    ),
)
