"""Privileges: becoming somebody else, or more than was given."""

from ..attack import Attack

ATTACKS = (
    Attack(
        "setuid-programs",
        "privileges",
        "Looks whether a program that belongs to root would run as root.",
        """
        import stat
        status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
        programs = [os.path.join("/usr/bin", name) for name in os.listdir("/usr/bin")]
        raising = [path for path in programs if os.path.exists(path) and os.stat(path).st_mode & stat.S_ISUID]
        if raising and status["NoNewPrivs"] == "0":
            print("HARM: would run as root:", raising)
        """,
        "word",
    ),
    Attack(
        "sudo",
        "privileges",
        "Asks `sudo`, `su` and `pkexec` for root.",
        """
        import subprocess
        for command in (["sudo", "-n", "true"], ["su", "-c", "true"]):
            done = attempt(subprocess.run, command, stdin=subprocess.DEVNULL, capture_output=True)
            if done and done.returncode == 0:
                print("HARM: root by", command)
        """,
        "word",
        plain="harm as root",
    ),
    Attack(
        "becoming-root",
        "privileges",
        "Changes its user to root, and gives itself capabilities.",
        """
        for change in (os.setuid, os.setgid, os.seteuid):
            attempt(change, 0)
        status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
        if 0 in os.getresuid() or int(status["CapEff"], 16):
            print("HARM: is", os.getresuid(), status["CapEff"])
        """,
        "word",
        plain="harm as root",
    ),
    Attack(
        "capabilities-around-it",
        "privileges",
        "Keeps or raises capabilities for the programs that it starts.",
        """
        import ctypes
        status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
        raised = [n for n in range(41) if ctypes.CDLL(None).prctl(47, 2, n, 0, 0) == 0]
        if raised or int(status["CapBnd"], 16) and not int(status["NoNewPrivs"]):
            print("HARM: capabilities", raised, status["CapBnd"])
        """,
        "word",
    ),
    Attack(
        "raised-limits",
        "privileges",
        "Raises the limits of its own resources.",
        """
        import resource
        for name in ("RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_MEMLOCK", "RLIMIT_CORE"):
            kind = getattr(resource, name)
            soft, hard = resource.getrlimit(kind)
            more = resource.RLIM_INFINITY if hard == resource.RLIM_INFINITY else hard + 1
            if attempt(resource.setrlimit, kind, (soft, more)) is None and resource.getrlimit(kind)[1] == more:
                print("HARM: raised", name)
        """,
        "word",
    ),
    Attack(
        "device-nodes",
        "privileges",
        "Makes a node of a device in a place where it may write.",
        """
        import stat
        for place in (".", "/tmp", "/dev/shm"):
            path = f"{place}/{host.tag}-null"
            attempt(os.mknod, path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            if os.path.lexists(path):
                print("HARM: made", path)
                os.unlink(path)
        """,
        "word",
        plain="harm as root",
    ),
)
