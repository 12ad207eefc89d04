"""What scripts and host share because there is one kernel: these stay open, and are shown to be."""

from ..attack import Attack

ATTACKS = (
    Attack(
        "lock-on-a-system-file",
        "shared kernel",
        "Locks a file of the system that it can read, on which any other process that locks it would wait.",
        """
        import fcntl
        with open(host.lock, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            time.sleep(0.3)
        """,
        "lock",
        opens=frozenset({"candidate", "agent"}),
    ),
    Attack(
        "figures-of-the-machine",
        "shared kernel",
        "Reads how much memory the machine has and how busy it is.",
        """
        for name in ("meminfo", "loadavg", "stat", "uptime", "cpuinfo"):
            if attempt(lambda: open(f"/proc/{name}").read(1)):
                print("HARM: read", name)
        """,
        "word",
        opens=frozenset({"candidate", "agent"}),
    ),
    Attack(
        "identity-of-the-boot",
        "shared kernel",
        "Reads the number that the kernel drew at its start, by which two runs know that they are on one machine.",
        """
        if attempt(lambda: open("/proc/sys/kernel/random/boot_id").read()) == host.boot:
            print("HARM: knows the machine again")
        """,
        "word",
        opens=frozenset({"candidate", "agent"}),
    ),
    Attack(
        "place-of-the-workspace",
        "shared kernel",
        "Reads in its table of mounts where on the host its working directory lies.",
        """
        if host.plain:
            print("HARM: works in", os.getcwd())
        for line in open("/proc/self/mountinfo"):
            if host.temporary in line:
                print("HARM: lies in", line)
        """,
        "word",
        opens=frozenset({"agent"}),
    ),
)
