"""What strangers wrote reaches the terminal, JUnit and the database without doing anything there."""

import os
from pathlib import Path

from scripted_server import Reply, ScriptedServer, by_question, saying

from .pool import PROVIDER, SCREEN, Pool

_ESCAPES = "\x1b[2J\x1b]0;owned\x07"


def test_control_characters_are_shown_and_not_obeyed(pool: Pool, workers: int) -> None:
    pool.add("answer", f'import scipy\nprint("ANSWER: {_escaped(_ESCAPES)}")')
    pool.add("stderr", f'import sys\nsys.exit("{_escaped(_ESCAPES)}")')
    pool.add("bytes", 'import sys\nsys.stdout.buffer.write(b"ANSWER: \\xff\\x00\\xfe\\n")')
    pool.add("surrogate", r'import sys; sys.stdout.reconfigure(errors="surrogatepass"); print("ANSWER: \ud800")')
    pool.add("question", question=f"What {_ESCAPES}?")
    session = pool.run(workers=workers)
    assert session.verdicts == {
        "answer": "rejected verify unreadable",
        "stderr": "rejected verify exit-status",
        "bytes": "rejected verify unreadable",
        "surrogate": "rejected verify unreadable",
        "question": "rejected lint bad-yaml",
    }
    assert "\x1b[2J" not in session.out
    assert "\x07" not in session.out
    assert "\x00" not in session.out
    assert "\x1b" not in str(pool.rows("SELECT sentence FROM outcomes"))


def test_names_of_files(pool: Pool, workers: int) -> None:
    text = pool.add("plain").read_bytes()
    names = ["With Space.yaml", "brackets[1].yaml", "ünï.yaml", "two\nlines.yaml", "-k.yaml", "a::b.yaml"]
    for number, name in enumerate(names):
        pool.write(f"candidates/{name}", text.replace(b"of plain", b"of file %d" % number))
    latin = os.fsdecode(os.fsencode(pool.root / "candidates") + b"/caf\xe9.yaml")
    Path(latin).write_bytes(text.replace(b"of plain", b"of bytes"))
    session = pool.run("--toolgate-gates=lint", workers=workers)
    assert "INTERNALERROR" not in session.out
    assert len(session.cases) == len(names) + 2
    passed = {name for name, case in session.cases.items() if case.verdict == "provisional lint"}
    assert passed == {"plain", "-k"}
    assert {case.verdict for name, case in session.cases.items() if name not in passed} == {"rejected lint bad-schema"}


def test_a_reply_of_a_model_is_only_text(pool: Pool, server: ScriptedServer) -> None:
    pool.add("case-long")
    pool.add("case-odd")
    pool.configure(PROVIDER, SCREEN, url=server.base_url)
    server.script = by_question(
        {"case-long": saying("Perhaps (B)? " + "-" * 2_000_000)},
        lambda asked: Reply(f"{_ESCAPES}\x00\ud800 <failure/> ]]> nothing"),
    )
    session = pool.run("--toolgate-gates=screen")
    assert set(session.verdicts.values()) == {"error screen inconclusive"}
    assert "\x1b[2J" not in session.out
    assert max(len(row["text"]) for row in pool.recorded("replies")) < 1_000_000


def _escaped(text: str) -> str:
    return "".join(f"\\x{ord(character):02x}" for character in text)
