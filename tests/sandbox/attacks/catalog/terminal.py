"""The terminal of whoever runs pytest."""

from ..attack import Attack

ATTACKS = (
    Attack(
        "typing",
        "terminal",
        "Types a command into the terminal from which it was started (TIOCSTI).",
        """
        import fcntl
        for number in (0, 1, 2, attempt(os.open, "/dev/tty", os.O_RDWR)):
            if number is not None:
                for letter in host.tag.encode() + b"\\n":
                    attempt(fcntl.ioctl, number, 0x5412, bytes([letter]))
        """,
        "terminal",
        plain="harm where offered",
    ),
    Attack(
        "pasting",
        "terminal",
        "Pastes into a virtual console (TIOCLINUX).",
        """
        import fcntl
        for path in ("/dev/tty", "/dev/tty0", "/dev/tty1", "/dev/console"):
            console = attempt(os.open, path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            if console is not None and attempt(fcntl.ioctl, console, 0x541C, bytes([6])) is not None:
                print("HARM: a console obeys", path)
        """,
        "word",
        plain="harm where offered",
    ),
    Attack(
        "writing-to-the-terminal",
        "terminal",
        "Opens the terminal itself and writes past everything that reads its output.",
        """
        for path in ("/dev/tty", "/dev/console", "/proc/self/fd/0", "/dev/pts/0", "/dev/pts/1"):
            screen = attempt(os.open, path, os.O_WRONLY | os.O_NOCTTY) if not host.plain or path == "/dev/tty" else None
            if screen is not None:
                attempt(os.write, screen, host.tag.encode())
        """,
        "terminal",
    ),
)
