"""The kernel: namespaces, mounts, settings, and system calls with a record of holes."""

from ..attack import Attack

# Each call happens in a child of its own: what succeeds must not change the rest of the script.
_IN_A_CHILD = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if os.fork() == 0:
    try:
        {action}
    finally:
        os._exit(0)
os.wait()
"""


def _calls(name: str, tries: str, action: str, **more: object) -> Attack:
    script = _IN_A_CHILD.format(action=action.strip().replace("\n", "\n        "))
    return Attack(name, "kernel", tries, script, "word", **more)  # type: ignore[arg-type]


ATTACKS = (
    _calls(
        "user-namespace",
        "Makes a user namespace, in which it would be root.",
        """
if libc.unshare(0x10000000) == 0:
    os.write(1, b"HARM: a user namespace\\n")
""",
        plain="harm where offered",
    ),
    _calls(
        "other-namespaces",
        "Makes mount, process and network namespaces.",
        """
for flag in (0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000):
    if libc.unshare(flag) == 0:
        os.write(1, b"HARM: a namespace %#x\\n" % flag)
""",
        plain="harm as root",
    ),
    _calls(
        "clone-with-a-namespace",
        "Clones itself into a user namespace, by `clone` and by `clone3`, whose flags a filter cannot read.",
        """
import struct
for made in (call(56, 220, 0x10000000 | 17, 0, 0, 0, 0),
             call(435, 435, struct.pack("8Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0), 64)):
    if made == 0:
        os._exit(0)
    if made > 0:
        os.write(1, b"HARM: a child in a namespace\\n")
""",
        plain="harm where offered",
    ),
    _calls(
        "joining-a-namespace",
        "Enters the namespaces of another process.",
        """
for process in (1, host.victim):
    for kind in ("mnt", "net", "pid"):
        opened = attempt(os.open, f"/proc/{process}/ns/{kind}", os.O_RDONLY)
        if opened is not None and libc.setns(opened, 0) == 0:
            os.write(1, b"HARM: entered a namespace\\n")
""",
        plain="harm as root",
    ),
    Attack(
        "mount",
        "kernel",
        "Mounts a file system, by the old calls and by the new ones.",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        os.makedirs(host.tag, exist_ok=True)
        libc.mount(b"none", host.tag.encode(), b"tmpfs", 0, None)
        if call(430, 430, b"tmpfs", 0) >= 0:
            print("HARM: a file system without a place")
        for line in open("/proc/self/mountinfo"):
            if host.tag in line:
                print("HARM: mounted", line)
        """,
        "mount",
        plain="harm as root",
    ),
    _calls(
        "unmount",
        "Unmounts and remounts what hides the host or is read-only.",
        """
for place in (b"/proc", b"/dev", b"/tmp", b"/usr", b"/"):
    if libc.umount2(place, 2) == 0 or libc.mount(None, place, None, 0x1020, None) == 0:
        os.write(1, b"HARM: changed " + place + b"\\n")
""",
        plain="would hurt",
    ),
    _calls(
        "chroot",
        "Changes its root, from which one can break out upwards.",
        """
os.makedirs("root", exist_ok=True)
if libc.chroot(b"root") == 0:
    os.write(1, b"HARM: another root\\n")
""",
        plain="harm as root",
    ),
    _calls(
        "pivot-root",
        "Exchanges the root of all its file systems.",
        """
os.makedirs("root", exist_ok=True)
if call(155, 41, b".", b"root") == 0:
    os.write(1, b"HARM: another root\\n")
""",
        plain="would hurt",
    ),
    _calls(
        "settings",
        "Writes settings of the kernel.",
        """
for name in ("kernel/core_pattern", "vm/overcommit_memory", "kernel/hostname", "net/ipv4/ip_forward"):
    if attempt(open, f"/proc/sys/{name}", "r+"):
        os.write(1, b"HARM: could write " + name.encode() + b"\\n")
if attempt(open, "/proc/sysrq-trigger", "a"):
    os.write(1, b"HARM: could reset the machine\\n")
""",
        plain="harm as root",
    ),
    _calls(
        "rename-the-machine",
        "Sets the name of the machine.",
        """
import socket
name = socket.gethostname().encode()
if libc.sethostname(name, len(name)) == 0:
    os.write(1, b"HARM: named the machine\\n")
""",
        plain="harm as root",
    ),
    _calls(
        "turn-the-clock",
        "Sets the clock of the machine.",
        """
if attempt(time.clock_settime, time.CLOCK_REALTIME, 1e9) is None and time.time() < 1.5e9:
    os.write(1, b"HARM: turned the clock\\n")
""",
        plain="would hurt",
    ),
    _calls(
        "kernel-keys",
        "Keeps data in the kernel's keyring, which outlives its process.",
        """
if call(248, 217, b"user", host.tag.encode(), b"x", 1, -2) > 0:
    os.write(1, b"HARM: added a key\\n")
""",
    ),
    _calls(
        "io-uring",
        "Makes an io_uring, which does forbidden calls on its behalf.",
        """
if call(425, 425, 4, ctypes.create_string_buffer(120)) >= 0:
    os.write(1, b"HARM: an io_uring\\n")
""",
        plain="harm where offered",
    ),
    _calls(
        "bpf",
        "Loads something into the kernel's virtual machine.",
        """
if call(321, 280, 0, (ctypes.c_uint32 * 4)(2, 4, 8, 1), 16) >= 0:
    os.write(1, b"HARM: a BPF map\\n")
""",
        plain="harm as root",
    ),
    _calls(
        "perf",
        "Counts events of the machine's processors.",
        """
attributes = ctypes.create_string_buffer((1).to_bytes(4, "little") + (112).to_bytes(4, "little"), 112)
if call(298, 241, attributes, 0, -1, -1, 0) >= 0:
    os.write(1, b"HARM: counts events\\n")
""",
        plain="harm as root",
    ),
    _calls(
        "userfaultfd",
        "Makes the kernel wait for it in the middle of a system call.",
        """
if call(323, 282, 0) >= 0 or call(323, 282, 1) >= 0:
    os.write(1, b"HARM: handles page faults\\n")
""",
        plain="harm where offered",
    ),
    _calls(
        "modify-ldt",
        "Reads and writes the processor's table of segments.",
        """
if call(154, None, 0, bytes(64), 64) >= 0:
    os.write(1, b"HARM: the table of segments\\n")
""",
        plain="harm where offered",
    ),
    _calls(
        "watching-the-disk",
        "Watches every file that anybody opens.",
        """
if call(300, 262, 0, 0) >= 0:
    os.write(1, b"HARM: watches the disk\\n")
""",
        plain="harm where offered",
    ),
)
