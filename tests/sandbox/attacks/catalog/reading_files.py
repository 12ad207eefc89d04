"""Files of the host: candidates, the database, homes, keys."""

from ..attack import Attack

ATTACKS = (
    Attack(
        "candidate-listing",
        "reading files",
        "Walks through the directory of the candidates and prints every file.",
        """
        for folder, _, names in os.walk(host.candidates):
            for name in names:
                attempt(read, os.path.join(folder, name))
        """,
        "loot",
    ),
    Attack(
        "candidate-by-name",
        "reading files",
        "Reads another candidate by its exact path, also through `/proc/self/root` and `/proc/self/cwd`.",
        """
        for prefix in ("", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/" + "../" * 12):
            attempt(read, prefix + host.candidates + "/neighbour.yaml")
        """,
        "loot",
    ),
    Attack(
        "files-that-exist",
        "reading files",
        "Asks which files of the host exist, without reading them.",
        """
        repository = [host.repository, host.candidates, host.database, host.accepted]
        for place in [*repository, host.home, host.temporary, "/etc/shadow"]:
            if os.path.lexists(place):
                print("HARM: exists:", place)
        """,
        "word",
    ),
    Attack(
        "database",
        "reading files",
        "Reads the database of all attempts.",
        """
        for name in attempt(os.listdir, host.database) or ("toolgate.db", "notes.txt"):
            attempt(read, os.path.join(host.database, name))
        """,
        "loot",
    ),
    Attack(
        "accepted-items",
        "reading files",
        "Reads the answers of accepted items.",
        """
        for name in attempt(os.listdir, host.accepted) or ("old.json",):
            attempt(read, os.path.join(host.accepted, name))
        """,
        "loot",
    ),
    Attack(
        "keys-in-the-home",
        "reading files",
        "Reads private keys and tokens in the home of whoever runs pytest.",
        """
        for name in (".ssh/id_ed25519", ".netrc", ".config/token"):
            attempt(read, os.path.join(host.home, name))
            attempt(read, os.path.join(os.path.expanduser("~"), name))
        """,
        "loot",
    ),
    Attack(
        "passwords-of-the-system",
        "reading files",
        "Reads the system's password hashes.",
        """
        if attempt(open, "/etc/shadow", "rb"):
            print("HARM: /etc/shadow opened")
        """,
        "word",
        plain="harm as root",
    ),
    Attack(
        "other-workspaces",
        "reading files",
        "Looks for the workspaces of other agents in the temporary directories.",
        """
        for place in (host.temporary, os.environ.get("TMPDIR", "/tmp"), ".."):
            for folder, _, names in os.walk(place):
                for name in names:
                    if name == "answer.txt":
                        attempt(read, os.path.join(folder, name))
        """,
        "loot",
    ),
    Attack(
        "raw-disks",
        "reading files",
        "Opens the disks themselves, and makes device nodes for them.",
        """
        import stat
        for name in os.listdir("/dev"):
            path = "/dev/" + name
            found = attempt(os.stat, path)
            if found and stat.S_ISBLK(found.st_mode) and attempt(os.open, path, os.O_RDONLY) is not None:
                print("HARM: opened", path)
        node = host.tag + "-disk"
        if attempt(os.mknod, node, 0o600 | stat.S_IFBLK, os.makedev(8, 0)) is None and os.path.lexists(node):
            print("HARM: made a node for a disk")
            os.unlink(node)
        """,
        "word",
        plain="harm as root",
    ),
    Attack(
        "kernel-memory",
        "reading files",
        "Reads the kernel's memory, addresses and log.",
        """
        for path in ("/proc/kcore", "/dev/mem", "/dev/kmem", "/proc/kmsg", "/dev/kmsg"):
            if attempt(os.open, path, os.O_RDONLY | os.O_NONBLOCK) is not None:
                print("HARM: opened", path)
        if call(103, 116, 3, bytes(4096), 4096) > 0:
            print("HARM: read the kernel's log")
        """,
        "word",
        plain="harm where offered",
    ),
    Attack(
        "name-of-the-machine",
        "reading files",
        "Asks for the machine's name and number.",
        """
        import platform
        if platform.node() == host.node or attempt(open, "/etc/machine-id"):
            print("HARM: this is", platform.node())
        """,
        "word",
    ),
    Attack(
        "file-by-handle",
        "reading files",
        "Opens a file by its number on the disk instead of its name.",
        """
        import ctypes
        handle = (ctypes.c_uint * 34)(128, 0)
        mount = ctypes.c_int()
        if call(303, 264, -100, b"/usr", handle, ctypes.byref(mount), 0) == 0:
            print("HARM: got a handle")
            root = os.open("/usr", os.O_RDONLY)
            if call(304, 265, root, handle, os.O_RDONLY) >= 0:
                print("HARM: opened a file by its handle")
        """,
        "word",
    ),
    Attack(
        "inherited-descriptors",
        "reading files",
        "Reads whatever descriptors were left open by the processes that started it.",
        """
        import fcntl
        for number in range(3, 256):
            if attempt(fcntl.fcntl, number, fcntl.F_GETFD) is not None:
                print(number, attempt(os.pread, number, 4096, 0))
        """,
        "loot",
    ),
)
