"""Output: too much of it, what is no text, and words that pretend to be somebody else's."""

from ..attack import Attack

ATTACKS = (
    Attack(
        "endless-output",
        "output",
        "Prints without end.",
        "while True: print('x' * 1000)",
        "excess",
        outcome="rejected verify output-limit",
        ended="output-limit",
        plain="would hurt",
    ),
    Attack(
        "one-long-line",
        "output",
        "Prints one line of 50 MB.",
        "print('x' * 50_000_000)",
        "excess",
        outcome="rejected verify output-limit",
        ended="output-limit",
        plain="would hurt",
    ),
    Attack(
        "endless-errors",
        "output",
        "Complains without end.",
        "while True: os.write(2, b'x' * 65536)",
        "excess",
        outcome="rejected verify timeout",
        ended="timeout",
        plain="would hurt",
    ),
    Attack(
        "closed-output",
        "output",
        "Closes its output, so that it seems to have ended, and goes on.",
        """
        os.close(1)
        os.close(2)
        while True:
            pass
        """,
        "excess",
        outcome="rejected verify timeout",
        ended="timeout",
        plain="no harm to show",
    ),
    Attack(
        "no-text",
        "output",
        "Prints all bytes there are, zeros too, around its answer.",
        """
        os.write(1, bytes(range(256)) * 64 + b"\\n")
        """,
        "excess",
        plain="no harm to show",
    ),
    Attack(
        "escapes-around-an-answer",
        "output",
        "Prints codes that clear the terminal and change its title, and then the right answer.",
        """
        os.write(1, f"\\x1b[2J\\x1b]0;{host.tag}\\x07\\x1b[31m\\n".encode())
        """,
        "terminal",
    ),
    Attack(
        "escapes-in-the-message",
        "output",
        "Prints such codes in a line that the message about the missing answer quotes.",
        """
        os.write(1, f"answer: \\x1b]0;{host.tag}\\x07\\x1b[2J\\n".encode())
        """,
        "terminal",
        outcome="rejected verify no-answer",
        answers=False,
    ),
    Attack(
        "broken-report",
        "output",
        "Prints control characters and markup in that line, on which a report in XML would break.",
        """
        os.write(1, b"answer: ]]></failure><testcase name='x'/> \\x00\\x01\\x08\\xff\\xef\\xbf\\xbe\\n")
        """,
        "excess",
        outcome="rejected verify no-answer",
        answers=False,
        plain="no harm to show",
    ),
    Attack(
        "forged-report",
        "output",
        "Writes what the supervisor would report of a good run into every descriptor, prints an answer, and fails.",
        """
        import json
        report = {"limit": None, "status": 0, "wall": 0.1, "cpu": 0.1, "peak_memory": 1, "disk_used": 0}
        report["used"] = ["scipy"]
        for number in range(3, 256):
            attempt(os.write, number, json.dumps(report).encode() + b"\\n")
        print("ANSWER: 0.060723", flush=True)
        os._exit(3)
        """,
        "excess",
        outcome="rejected verify exit-status",
        answers=False,
        plain="no harm to show",
    ),
    Attack(
        "forged-use",
        "output",
        "Notes by itself, where it is recorded, that it has used the software.",
        """
        for place in ("", *(attempt(os.listdir, "/run/used") or ())):
            for name in ("scipy", "../scipy"):
                attempt(lambda: open(os.path.join("/run/used", place, name), "w").close())
        """,
        "excess",
        outcome="rejected verify tool-unused",
        uses=False,
        plain="no harm to show",
    ),
)
