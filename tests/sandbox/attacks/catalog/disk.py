"""Disk: bytes, files and directories without end, and what is hard to clear away."""

from ..attack import Attack

_LIMIT = "rejected verify disk-limit"
_FLOOD = """
import itertools
for number in itertools.count():
    with open(f"PLACE/{host.tag}-{number}", "wb") as stream:
        stream.write(bytes(1 << 20))
"""

ATTACKS = (
    Attack(
        "disk-flood",
        "disk",
        "Writes files without end into its working directory.",
        _FLOOD.replace("PLACE", "."),
        "excess",
        outcome=_LIMIT,
        ended="disk-limit",
        plain="would hurt",
    ),
    Attack(
        "tmp-flood",
        "disk",
        "Writes files without end into `/tmp`.",
        _FLOOD.replace("PLACE", "/tmp"),
        "excess",
        outcome=_LIMIT,
        ended="disk-limit",
        plain="would hurt",
    ),
    Attack(
        "dev-shm-flood",
        "disk",
        "Writes files without end into `/dev/shm`, which is memory.",
        _FLOOD.replace("PLACE", "/dev/shm"),
        "excess",
        outcome=_LIMIT,
        ended="disk-limit",
        plain="would hurt",
    ),
    Attack(
        "home-flood",
        "disk",
        "Writes files without end into its home and ignores the refusals.",
        """
        with open(os.path.expanduser("~/") + host.tag, "wb", buffering=0) as stream:
            while attempt(stream.write, bytes(1 << 20)):
                pass
        """,
        "excess",
        outcome=_LIMIT,
        ended="disk-limit",
        plain="would hurt",
    ),
    Attack(
        "files-without-a-name",
        "disk",
        "Fills files that it has removed, so that no listing shows them.",
        """
        files = []
        for number in range(200):
            files.append(open(host.tag, "wb", buffering=0))
            os.unlink(host.tag)
            files[-1].write(bytes(1 << 20))
        time.sleep(2)
        """,
        "excess",
        outcome=_LIMIT,
        ended="disk-limit",
        plain="would hurt",
    ),
    Attack(
        "enormous-file",
        "disk",
        "Makes a file of a terabyte that takes no room yet.",
        """
        with open(host.tag, "wb") as stream:
            stream.truncate(1 << 40)
        print("HARM: a file of", os.path.getsize(host.tag))
        os.unlink(host.tag)
        """,
        "word",
        outcome=_LIMIT,
        ended="disk-limit",
    ),
    Attack(
        "names-without-end",
        "disk",
        "Gives an empty file names without end, which take no room and yet use up a disk.",
        """
        import itertools
        os.mkdir("d")
        os.close(os.open("d/file", os.O_CREAT))
        for number in itertools.count():
            os.link("d/file", f"d/{number}")
        """,
        "excess",
        outcome=_LIMIT,
        ended="disk-limit",
        plain="would hurt",
    ),
    Attack(
        "deep-directories",
        "disk",
        "Makes directories within directories, deeper than any path can be long.",
        """
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
        time.sleep(1)
        """,
        "planted",
        agent_ended="disk-limit",
        plain="no harm to show",
    ),
    Attack(
        "what-cannot-be-removed",
        "disk",
        "Leaves locked directories, pipes, sockets and names that are no text in its working directory.",
        """
        import stat
        for name in (b"\\xff\\xfe", b"new\\nline", b"a" * 255):
            os.makedirs(name + b"/x/y")
            os.mkfifo(name + b"/x/pipe")
            os.mknod(name + b"/x/socket", 0o600 | stat.S_IFSOCK)
            os.symlink("/", name + b"/x/root")
            os.chmod(name + b"/x", 0)
            os.chmod(name, 0)
        """,
        "planted",
        plain="no harm to show",
    ),
)
