"""Other processes: their environment, arguments, memory and files."""

from ..attack import Attack

ATTACKS = (
    Attack(
        "key-in-the-environment",
        "reading processes",
        "Prints its own environment, where the key of a provider would be.",
        "print(dict(os.environ))",
        "loot",
    ),
    Attack(
        "environment-of-all",
        "reading processes",
        "Reads `/proc/PID/environ` of every process it sees, the first one's too.",
        """
        for process in [*visible(), host.victim]:
            attempt(read, f"/proc/{process}/environ")
        """,
        "loot",
    ),
    Attack(
        "arguments-of-all",
        "reading processes",
        "Reads the command line of every process it sees.",
        """
        for process in [*visible(), host.victim]:
            attempt(read, f"/proc/{process}/cmdline")
        """,
        "loot",
    ),
    Attack(
        "memory-of-all",
        "reading processes",
        "Reads `/proc/PID/mem` of the processes it sees.",
        """
        for process in {1, os.getppid(), host.victim}:
            memory = attempt(open, f"/proc/{process}/mem", "rb", buffering=0)
            if memory and attempt(memory.seek, host.victim_address) is not None:
                print(process, attempt(memory.read, host.victim_length))
        """,
        "loot",
    ),
    Attack(
        "files-of-all",
        "reading processes",
        "Reads what other processes have open through `/proc/PID/fd`, such as a file without a name that holds an "
        "answer.",
        """
        for process in [*visible(), host.victim]:
            for number in attempt(os.listdir, f"/proc/{process}/fd") or ():
                path = f"/proc/{process}/fd/{number}"
                if os.path.isfile(path):
                    attempt(read, path)
        """,
        "loot",
    ),
    Attack(
        "directories-of-all",
        "reading processes",
        "Walks into the working and root directories of other processes.",
        """
        for process in [*visible(), host.victim]:
            attempt(read, f"/proc/{process}/cwd/note")
            attempt(read, f"/proc/{process}/root{host.home}/.netrc")
        """,
        "loot",
    ),
    Attack(
        "the-first-process",
        "reading processes",
        "Reads environment, memory and descriptors of process 1, which is the sandbox's own machinery.",
        """
        for name in ("environ", "maps"):
            if attempt(lambda: open(f"/proc/1/{name}", "rb").read(1)) is not None:
                print("HARM: read", name)
        for name in ("fd", "cwd", "root"):
            if attempt(os.listdir, f"/proc/1/{name}"):
                print("HARM: listed", name)
        if attempt(open, "/proc/1/mem", "rb"):
            print("HARM: opened its memory")
        """,
        "word",
        plain="harm as root",
    ),
    Attack(
        "trace",
        "reading processes",
        "Attaches to another process as a debugger does.",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for process in {1, os.getppid(), host.victim} if not host.plain else {host.victim}:
            if libc.ptrace(0x4206, process, 0, 0) == 0:
                print("HARM: attached to", process)
        """,
        "word",
    ),
    Attack(
        "process-vm-readv",
        "reading processes",
        "Copies another process's memory with one system call.",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        copied = ctypes.create_string_buffer(host.victim_length)
        here = (ctypes.c_void_p * 2)(ctypes.addressof(copied), host.victim_length)
        there = (ctypes.c_void_p * 2)(host.victim_address, host.victim_length)
        for process in (1, host.victim):
            libc.process_vm_readv(process, here, 1, there, 1, 0)
            print(copied.value)
        """,
        "loot",
    ),
    Attack(
        "pidfd-getfd",
        "reading processes",
        "Takes an open file out of another process.",
        """
        for process in (1, host.victim):
            opened = call(434, 434, process, 0)
            taken = call(438, 438, opened, host.victim_file, 0)
            if taken >= 0:
                print(os.pread(taken, 4096, 0))
        """,
        "loot",
    ),
)
