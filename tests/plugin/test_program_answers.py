"""Solve by a program of its own: judged by the file that it leaves when it ends, and nothing survives it."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from agent_server import HANG, KEY, AgentServer, turns

from . import plain_agent
from .pool import PROVIDER, Pool, processes

pytestmark = pytest.mark.slow

GATE = "--toolgate-gates=solve"
PASS = "provisional solve"
BAD = "review solve bad-answer-file"
NONE = "review solve no-answer"
WRONG = "review solve wrong"
ROOT = os.geteuid() == 0
# What it does, and what becomes of the candidate.
CASES: Mapping[str, tuple[str, str]] = {
    "solves": ("import scipy.special as s; s.jv(0, 1.0); write(right)", PASS),
    "wrong": ("write(wrong)", WRONG),
    "says-otherwise": ("print('ANSWER:', right); write(wrong)", WRONG),
    "reads-stdin": ("assert sys.stdin.read() == ''; write(right)", PASS),
    "value": ("write(options[right] + '\\n')", PASS),
    "another-value": ("write('0.0607')", BAD),
    "nothing": ("", NONE),
    "fails": ("sys.exit(1)", "error solve agent"),
    "crashes": ("os.abort()", "error solve agent"),
    "fails-after": ("write(right); sys.exit(3)", PASS),
    "crashes-after": ("write(right); os.abort()", PASS),
    "limited": ("print('x' * (33 << 20))", "error solve agent"),
    "limited-after": ("write(right); print('x' * (33 << 20))", PASS),
    "empty": ("write('')", NONE),
    "blank": ("write(' \\r\\n\\t')", NONE),
    "crlf": ("write(right + '\\r\\n')", PASS),
    "bom": ("write(b'\\xef\\xbb\\xbf' + right.encode())", PASS),
    "nul": ("write(right + '\\0')", BAD),
    "utf-16": ("write(right.encode('utf-16'))", BAD),
    "binary": ("write(bytes(range(256)))", BAD),
    "huge": ("write(b'B' * (16 << 20))", BAD),
    "sparse": ("write(right)\nos.truncate('answer.txt', 32 << 20)", BAD),
    "two-letters": ("write('A or B')", BAD),
    "two-lines": ("write(right + '\\n' + right)", BAD),
    "small-letter": ("write(right.lower())", BAD),
    "link": ("os.symlink('/etc/passwd', 'answer.txt')", BAD),
    "link-to-answer": ("open('x', 'w').write(right); os.symlink('x', 'answer.txt')", BAD),
    "link-to-itself": ("os.symlink('answer.txt', 'answer.txt')", BAD),
    "link-to-nothing": ("os.symlink('/nowhere', 'answer.txt')", BAD),
    "link-to-stdin": ("os.symlink('/proc/self/fd/0', 'answer.txt')", BAD),
    "hard-link": ("open('x', 'w').write(right); os.link('x', 'answer.txt')", PASS),
    "fifo": ("os.mkfifo('answer.txt')", BAD),
    "directory": ("os.mkdir('answer.txt')", BAD),
    "socket": ("import socket; socket.socket(socket.AF_UNIX).bind('answer.txt')", BAD),
    "unreadable": ("write(right); os.chmod('answer.txt', 0)", PASS if ROOT else BAD),
    "closed": ("write(right); os.chmod('.', 0)", PASS),
    "other-name": ("open('ANSWER.TXT', 'w').write(right)", NONE),
    "elsewhere": ("os.mkdir('d'); os.chdir('d'); write(right)", NONE),
    "no-workspace": ("write(right); os.rename('answer.txt', 'x'); os.unlink('problem.json')", NONE),
    "late": ("""
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                import time; time.sleep(1); write(right); time.sleep(61.7306)
            os._exit(0)
    """, NONE),
    "late-change": ("""
        write(right)
        if os.fork() == 0:
            os.setsid()
            import time; time.sleep(1); write(wrong)
            os.execvp("sleep", ["sleep", "61.7306"])
    """, PASS),
    "kept-open": ("""
        write(right)
        if os.fork() == 0:
            file = open("answer.txt", "r+")
            import time; time.sleep(1); file.write(wrong); file.flush()
            os.execvp("sleep", ["sleep", "61.7306"])
    """, PASS),
}  # fmt: skip
# An answer that is changed all the time is one of the two, and never keeps anybody waiting.
_UNSTABLE = """
    write(right)
    if os.fork() == 0:
        os.setsid()
        while True:
            os.mkfifo("f"); os.replace("f", "answer.txt"); open("x", "w").write(right); os.replace("x", "answer.txt")
"""
_LITTER = """
    import ctypes, socket, subprocess, tempfile
    libc = ctypes.CDLL(None)
    made = [libc.shmget(0x746f6f6c, 4096, 0o1666), libc.semget(0x746f6f6c, 1, 0o1666), libc.msgget(0x746f6f6c, 0o1666)]
    for folder in ("/tmp", "/var/tmp", "/dev/shm", os.environ["HOME"], tempfile.gettempdir(), "/run", "/"):
        try:
            open(folder + "/toolgate-litter", "w").close()
        except OSError:
            pass
    socket.socket(socket.AF_UNIX).bind("\\0toolgate-litter")
    for start in ([], ["setsid"], ["setsid", "nohup"]):
        subprocess.Popen([*start, "sleep", "61.7306"], start_new_session=True, stdout=subprocess.DEVNULL)
    subprocess.run(["unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/mnt"], stderr=subprocess.DEVNULL)
    libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)
    write(right)
"""


_LATE = """
if os.fork() == 0:
    os.setsid()
    import time; time.sleep(4); write(right)
    os.execvp("sleep", ["sleep", "61.7306"])
"""
_DEAF = """
import signal
for number in range(1, 32):
    number in (signal.SIGKILL, signal.SIGSTOP) or signal.signal(number, signal.SIG_IGN)
"""
_BUSY = """
import threading
for _ in range(8):
    threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()
"""


def traces(pool: Pool) -> dict[str, object]:
    """What a solve might leave on the machine."""
    return {
        "mounts": sorted(line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()),
        "processes": processes("sleep 61.7306"),
        "temporary": sorted(path.name for path in pool.temporary.iterdir()),
        "litter": [root for root in ("/tmp", "/var/tmp", "/dev/shm", "/") if Path(root, "toolgate-litter").exists()],
        "sockets": "toolgate-litter" in Path("/proc/net/unix").read_text(),
        "objects": [
            line
            for kind in ("shm", "sem", "msg")
            for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
            if int(line.split()[0]) == 0x746F6F6C
        ],
    }  # fmt: skip


def test_the_file_alone_decides(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows G of programs, and nothing of them is there afterwards."""
    scripts = {f"case-{name}": script for name, (script, _) in CASES.items()}
    plain_agent.install(pool, monkeypatch, {**scripts, "case-unstable": _UNSTABLE, "case-litter": _LITTER})
    pool.configure(PROVIDER, plain_agent.SOLVE, url="http://127.0.0.1:9")
    before = traces(pool)
    session = pool.run(GATE, workers=2)

    verdicts = {name.removeprefix("case-"): verdict for name, verdict in session.verdicts.items()}
    assert verdicts.pop("unstable") in (PASS, BAD)
    assert verdicts.pop("litter") == PASS
    assert verdicts == {name: verdict for name, (_, verdict) in CASES.items()}, session.out
    assert traces(pool) == before
    assert not list(pool.root.rglob("answer.txt"))
    assert "root:" not in session.out
    assert "warning: the agent's program ended at its output-limit" in session.line_about("case-limited-after")
    rows = {row["name"].removeprefix("case-"): row for row in pool.recorded("agent_runs")}
    assert (rows["solves"]["used"], rows["solves"]["called"]) == ('["scipy"]', '["scipy"]')
    assert (rows["wrong"]["used"], rows["wrong"]["called"]) == ("[]", "[]")
    assert len(rows["huge"]["answer"] or "") <= 1024


def test_time_over_is_a_review_whatever_lies_there(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that comes late, or that its author was still working on, is recorded and does not count."""
    sleep = "import time; time.sleep(60)\n"
    scripts = {
        "case-late": _LATE + sleep,
        "case-working": f"write(right)\n{sleep}",
        "case-silent": sleep,
        "case-deaf": _DEAF + sleep,
        "case-busy": _BUSY,
    }
    plain_agent.install(pool, monkeypatch, scripts)
    pool.configure(PROVIDER, plain_agent.SOLVE.replace("20", "3"), url="http://127.0.0.1:9")
    before = traces(pool)
    begun = time.monotonic()
    session = pool.run(GATE, workers=2)
    assert time.monotonic() - begun < 60
    assert session.verdicts == dict.fromkeys(scripts, "review solve timeout"), session.out
    answers = {row["name"]: row["answer"] for row in pool.recorded("agent_runs")}
    assert answers.pop("case-working") in ("A", "B", "C", "D")
    assert set(answers.values()) == {None}
    assert "it had left" in session.line_about("case-working")
    assert traces(pool) == before


_IN_FLIGHT = """
import threading, urllib.request
def ask():
    body = json.dumps({"model": "agent-model", "input": [{"role": "user", "content": "x"}]}).encode()
    json_type = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:8080/v1/responses", body, json_type))
threading.Thread(target=ask, daemon=True).start()
write(right)
time.sleep(2.5)
os._exit(0)
"""


def test_what_we_do_before_and_after_is_no_time_of_its_own(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, model: AgentServer
) -> None:
    """It takes half of its time, is proven for as long before, and leaves a call that is waited for afterwards."""
    monkeypatch.setenv("CANARY_KEY", KEY)
    model.script = turns(HANG)
    plain_agent.install(pool, monkeypatch, {"case": f"import time\n{_IN_FLIGHT}"})
    module = pool.root / "site/plain_agent_of_the_tests.py"
    begin = "def invoke(task):\n"
    slow = f"{begin}    import time; time.sleep(2.5)\n"
    module.write_text(module.read_text("utf-8").replace(begin, slow), "utf-8")
    provider = PROVIDER.replace("timeout: 5", "timeout: 60")
    pool.configure(provider, plain_agent.SOLVE.replace("20", "5"), url=model.base_url)
    session = pool.run(GATE)
    assert session.verdicts == {"case": PASS}, session.out
    [reply] = pool.recorded("agent_replies")
    assert reply["status"] == "abandoned"  # it was on its way, and given up
