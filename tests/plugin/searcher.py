"""Looks for canaries wherever a process can look; a program of its own, for any Python 3.8 and later.

`python searcher.py '{"roots": ["/"], "also": [], "processes": null, "ports": []}'` prints one line `SEARCH {...}`.
Nobody tells it the canaries: it knows how they begin.
"""

# ruff: noqa: PTH115, PTH118, PTH121, PTH123, PTH208, SIM105

import json
import os
import re
import socket
import subprocess
import sys
import time
import zlib
from typing import Any

CANARY = re.compile(rb"TGC" + rb"([a-z-]+)-[0-9a-f]{16}")
MOST = 4 << 20
SOFTWARE = tuple(os.path.realpath(place) + "/" for place in ("/usr", sys.prefix, sys.base_prefix))
GIT = (["log", "-p", "--all"], ["rev-parse", "--show-toplevel"], ["cat-file", "--batch-all-objects", "--batch"])
BEGAN = time.time()
found: "set[str]" = set()
looked = {"files": 0, "processes": 0, "sockets": 0, "git": 0}


def look(data: bytes) -> None:
    """Note the canaries in some bytes."""
    found.update(match.group(1).decode() for match in CANARY.finditer(data))


def read(path: str, most: int = MOST) -> None:
    """Look into a file, compressed as git does it or not, and at its name."""
    look(os.fsencode(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        data = b""
        while len(data) < most:
            piece = os.read(descriptor, 1 << 20)
            if not piece:
                break
            data += piece
    except OSError:
        pass
    finally:
        os.close(descriptor)
    looked["files"] += 1
    look(data)
    try:
        look(zlib.decompressobj().decompress(data, MOST))
    except zlib.error:
        pass


def walk(root: str) -> None:
    """Look into all files below a directory; what belongs to the software and is old is only named."""
    for folder, folders, names in os.walk(root, onerror=lambda error: None):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys")]
        for name in names:
            path = os.path.join(folder, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if path.startswith(SOFTWARE) and status.st_mtime < BEGAN - 3600:
                look(os.fsencode(path))
            else:
                read(path)


def processes(only: "list[int] | None") -> None:
    """Look at all that /proc says of processes, into their files, roots and memory."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if only is not None and int(pid) not in only:
            continue
        looked["processes"] += 1
        home = "/proc/" + pid
        for name in ("environ", "cmdline", "maps", "mountinfo", "comm", "stack", "net/unix"):
            read(home + "/" + name)
        for name in ("cwd", "root", "exe"):
            try:
                look(os.fsencode(os.readlink(home + "/" + name)))
            except OSError:
                pass
        try:
            if not os.path.samefile(home + "/root", "/"):
                walk(home + "/root/")
        except OSError:
            pass
        walk(home + "/cwd/")
        try:
            for number in os.listdir(home + "/fd"):
                read(home + "/fd/" + number, 1 << 16)
        except OSError:
            pass
        if int(pid) != os.getpid():
            memory(home)


def memory(home: str) -> None:
    """Look into the writable memory of a process."""
    try:
        with open(home + "/maps") as maps, open(home + "/mem", "rb", 0) as mem:
            for line in maps:
                span, rights = line.split()[:2]
                first, last = (int(part, 16) for part in span.split("-"))
                if rights.startswith("rw") and last - first < MOST:
                    mem.seek(first)
                    look(mem.read(last - first))
    except (OSError, ValueError, OverflowError):
        pass


def talk(kind: int, address: "str | tuple[str, int]") -> None:
    """Connect, and look at what is said."""
    try:
        with socket.socket(kind, socket.SOCK_STREAM) as talker:
            talker.settimeout(1)
            talker.connect(address)
            looked["sockets"] += 1
            talker.sendall(b"GET / HTTP/1.0\r\n\r\n")
            look(talker.recv(1 << 16))
    except (OSError, ValueError):
        pass


def sockets(ports: "list[int]") -> None:
    """Ask everything that listens; where it is told no ports, ask at all of them."""
    for port in ports or range(1, 65536):
        talk(socket.AF_INET, ("127.0.0.1", port))
    try:
        with open("/proc/net/unix") as table:
            names = [line.split()[-1] for line in table]
    except OSError:
        names = []
    for name in names:
        look(name.encode())
        if not ports:
            talk(socket.AF_UNIX, "\0" + name[1:] if name.startswith("@") else name)


def git(places: "list[str]") -> None:
    """Ask git, here and wherever a repository may be."""
    for place in places:
        for words in GIT:
            try:
                said = subprocess.run(["git", "-C", place, *words], capture_output=True, timeout=20)
            except (OSError, subprocess.SubprocessError):
                return
            looked["git"] += 1
            look(said.stdout)


def main(order: "dict[str, Any]") -> None:
    """Look everywhere."""
    for name, value in os.environ.items():
        look((name + "=" + value).encode("utf-8", "replace"))
    for path in order["also"]:
        # What cannot be named from here may be reached another way.
        for way in ("", "/proc/1/root", "/proc/self/root", "/proc/self/cwd/../../../../..", "/.."):
            read(way + path)
            walk(way + path)
    processes(order["processes"])
    for root in order["roots"]:
        read(root)
        walk(root)
    for name in ("keys", "key-users", "mounts", "cmdline", "sysvipc/shm", "net/tcp", "net/tcp6", "net/unix", "locks"):
        read("/proc/" + name)
    sockets(order["ports"])
    git([".", *order["also"]])
    print("SEARCH " + json.dumps({"found": sorted(found), "began": BEGAN, "ended": time.time(), **looked}))


main(json.loads(sys.argv[1]))
