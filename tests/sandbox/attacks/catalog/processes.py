"""Processes: signals to others, more of them than allowed, and those that do not end."""

from ..attack import Attack

ATTACKS = (
    Attack(
        "kill-another",
        "processes",
        "Sends signals to a process of the host.",
        """
        for number in (10, 15):
            attempt(os.kill, host.victim, number)
        """,
        "victim",
    ),
    Attack(
        "kill-by-descriptor",
        "processes",
        "Sends a signal through a descriptor of the process.",
        """
        opened = call(434, 434, host.victim, 0)
        call(424, 424, opened, 15, 0, 0)
        """,
        "victim",
    ),
    Attack(
        "stop-another",
        "processes",
        "Stops a process of the host and leaves it standing.",
        "attempt(os.kill, host.victim, 19)",
        "victim",
    ),
    Attack(
        "kill-everybody",
        "processes",
        "Kills every process it may kill.",
        "attempt(os.kill, -1, 9)",
        "victim",
        plain="would hurt",
    ),
    Attack(
        "stop-the-supervisor",
        "processes",
        "Stops, interrupts and kills its supervisor, and then works for ever.",
        """
        for number in (19, 20, 9, 15, 2, 1, 17):
            for process in {1, os.getppid()} - {0}:
                attempt(os.kill, process, number)
        while True:
            pass
        """,
        "excess",
        outcome="rejected verify timeout",
        ended="timeout",
        plain="would hurt",
    ),
    Attack(
        "stop-itself",
        "processes",
        "Stops itself, so that it never ends.",
        "os.kill(os.getpid(), 19)",
        "excess",
        outcome="rejected verify timeout",
        ended="timeout",
        plain="no harm to show",
    ),
    Attack(
        "fork-bomb",
        "processes",
        "Forks without end.",
        """
        while True:
            try:
                os.fork()
            except OSError:
                pass
        """,
        "excess",
        outcome="rejected verify timeout",
        ended="timeout",
        plain="would hurt",
    ),
    Attack(
        "many-processes",
        "processes",
        "Starts 300 processes.",
        """
        children = []
        for _ in range(300):
            child = attempt(os.fork)
            if child == 0:
                time.sleep(30)
                os._exit(0)
            children.append(child)
        if None not in children:
            print("HARM: 300 processes")
        for child in filter(None, children):
            os.kill(child, 9)
        """,
        "word",
    ),
    Attack(
        "many-threads",
        "processes",
        "Starts 300 threads.",
        """
        import threading
        event = threading.Event()
        try:
            for _ in range(300):
                threading.Thread(target=event.wait, daemon=True).start()
            print("HARM: 300 threads")
        except RuntimeError:
            pass
        event.set()
        """,
        "word",
    ),
    Attack(
        "zombies",
        "processes",
        "Leaves 300 ended children that nobody collects.",
        """
        children = []
        for _ in range(300):
            child = attempt(os.fork)
            if child == 0:
                os._exit(0)
            children.append(child)
        if None not in children:
            print("HARM: 300 zombies")
        """,
        "word",
    ),
    Attack(
        "daemon",
        "processes",
        "Leaves a process behind that has a session of its own and ignores signals.",
        """
        import signal, subprocess
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for number in (1, 2, 3, 15):
                    signal.signal(number, signal.SIG_IGN)
                for number in (0, 1, 2):
                    os.close(number)
                os.execv(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(60)", host.tag])
            os._exit(0)
        os.wait()
        time.sleep(0.1)
        """,
        "survivor",
    ),
    Attack(
        "late-child",
        "processes",
        "Has a child print another answer after the script has ended.",
        """
        if os.fork() == 0:
            os.setsid()
            time.sleep(0.2)
            os.write(1, b"HARM: a late child was heard\\nANSWER: 0.058996\\n")
            os._exit(0)
        """,
        "word",
    ),
    Attack(
        "signals-ignored",
        "processes",
        "Ignores every signal that can be ignored and goes on.",
        """
        import signal
        for number in signal.valid_signals() - {9, 19}:
            attempt(signal.signal, number, signal.SIG_IGN)
        while True:
            pass
        """,
        "excess",
        outcome="rejected verify timeout",
        ended="timeout",
        plain="no harm to show",
    ),
    Attack(
        "priority-of-another",
        "processes",
        "Puts another process last in line, and itself first.",
        """
        for process in (1, host.victim) if not host.plain else (host.victim,):
            attempt(os.setpriority, os.PRIO_PROCESS, process, 19)
            attempt(os.sched_setscheduler, process, os.SCHED_BATCH, os.sched_param(0))
        attempt(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))
        if os.sched_getscheduler(0) == os.SCHED_FIFO:
            print("HARM: runs before all others")
        """,
        "victim",
    ),
    Attack(
        "processors-of-another",
        "processes",
        "Binds another process to one processor, where it keeps it busy.",
        """
        for process in (1, host.victim) if not host.plain else (host.victim,):
            attempt(os.sched_setaffinity, process, {min(os.sched_getaffinity(0))})
        """,
        "victim",
    ),
    Attack(
        "limits-of-another",
        "processes",
        "Takes descriptors and processor time from another process, its supervisor first.",
        """
        import resource
        for process in (1, host.victim) if not host.plain else (host.victim,):
            for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE):
                attempt(resource.prlimit, process, kind, (3, 3))
        """,
        "victim",
    ),
    Attack(
        "sacrifice-another",
        "processes",
        "Names another process as the first to be killed when memory runs out.",
        """
        for process in (1, host.victim) if not host.plain else (host.victim,):
            file = attempt(open, f"/proc/{process}/oom_score_adj", "w")
            if file:
                file.write("999")
                file.close()
        """,
        "victim",
    ),
    Attack(
        "own-last-in-line",
        "processes",
        "Takes back that it is the first to be killed when memory runs out.",
        """
        before = int(open("/proc/self/oom_score_adj").read())
        for less in (0, -1000):
            try:
                with open("/proc/self/oom_score_adj", "w") as file:
                    file.write(str(less))
            except OSError:
                continue
        time.sleep(0.5)
        now = int(open("/proc/self/oom_score_adj").read())
        if now < before:
            print("HARM: from", before, "to", now)
        """,
        "word",
        plain="harm where offered",
    ),
)
