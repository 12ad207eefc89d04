"""The system calls a script is refused, compiled to the kernel's filter language (classic BPF).

A deny-list: what scientific software needs is too wide for the opposite. Each refusal is an error the program
can read (EPERM), never a kill, so libraries fall back as they do in any container.
"""

import errno
import platform
import struct
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from .job import SandboxError

# Name -> number on (x86_64, aarch64); None where the architecture has no such call.
_DENIED: Final[Mapping[str, tuple[int, int | None]]] = {
    # The network, and buffers that no memory limit sees.
    "socket": (41, 198),
    "socketpair": (53, 199),
    # Other processes' memory and descriptors.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # Who is served first: the supervisor could be put last.
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    # Namespaces and mounts.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # Kernel facilities with a record of holes, or whose state outlives the sandbox.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "syslog": (103, 116),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "modify_ldt": (154, None),
    # What others run and open, and places of which the kernel has few for all.
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "io_setup": (206, 0),
    # Memory that belongs to no process and so to no limit.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
}
# Where a script shares the host's space of System V objects and message queues: numbers that can be guessed.
_DENIED_ON_THE_HOST: Final[Mapping[str, tuple[int, int | None]]] = {
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "msgctl": (71, 187),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
# What Landlock does not govern, on files that may be the user's own: done as if, for copying a file calls them, and
# without effect.
_VOID_ON_THE_HOST: Final[Mapping[str, tuple[int, int | None]]] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}
# What only a program of somebody else's may call (see `program`): connections, in a network in which there is nothing
# but its door; and, if it makes sandboxes of its own, what these are made of.
_OF_PROGRAMS: Final = frozenset({"socket", "socketpair"})
_OF_SANDBOXES: Final = frozenset({"unshare", "mount", "umount2", "pivot_root"})
_SOCKET: Final = (41, 198)
_FAMILIES: Final = (1, 2, 10)  # of the machine itself, IPv4, IPv6
# Netlink, of which only what names the network's interfaces: the rest is the kernel's to whoever has a namespace.
_NETLINK: Final = 16
_NETLINK_ROUTE: Final = 0
_CLONE: Final = (56, 220)
_CLONE3: Final = (435, 435)
_IOCTL: Final = (16, 29)
_PRLIMIT: Final = (302, 261)
_SCHED_SETAFFINITY: Final = (203, 122)

# mount, cgroup, uts, ipc, user, pid and net namespaces.
_NAMESPACE_FLAGS: Final = 0x7E020000
_TERMINAL_TRICKS: Final = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX type into the terminal of whoever watches
# FS_IOC_SETFLAGS (two forms), FSSETXATTR, SET_ENCRYPTION_POLICY and ENABLE_VERITY: what an owner may do
# to a file that is open for reading.
_OF_AN_OWNER: Final = (0x40086602, 0x40046602, 0x401C5820, 0x800C6613, 0x40806685)
_X32_BIT: Final = 0x40000000

# Machine -> (its AUDIT_ARCH number, its column above).
_MACHINES: Final[Mapping[str, tuple[int, int]]] = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06  # BPF_LD|W|ABS, JMP|JEQ|K, JMP|JSET|K, RET|K
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000 | errno.EPERM
_DO_NOTHING: Final = 0x00050000
_ABSENT: Final = 0x00050000 | errno.ENOSYS
# Offsets in struct seccomp_data; arguments are 64 bits wide, their lower half first on both machines.
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32

Guest = Literal["plain", "nested"]
"""A program in place of a script: an ordinary one, or one that makes sandboxes of its own."""
type _Instruction = tuple[int, int, int, int]


@cache
def program(machine: str | None = None, *, on_the_host: bool = False, guest: Guest | None = None) -> bytes:
    """The filter for this machine, or the named one, as the bytes bubblewrap's `--seccomp` reads.

    Args:
        machine: As `platform.machine` names it.
        on_the_host: Whether the script has no namespaces, so that more of the host is within its reach.
        guest: The kind of program that is filtered; None for a script.

    Raises:
        SandboxError: No table for the machine.
    """
    machine = machine or platform.machine()
    if machine not in _MACHINES:
        raise SandboxError(f"The sandbox knows no system call table for {machine}; use x86_64 or aarch64.")
    architecture, column = _MACHINES[machine]
    # A foreign architecture's calls (i386 on x86_64) have other numbers, so none is let through.
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _ABSENT),
    ]
    code.append((_LOAD, 0, 0, _NUMBER))
    if machine == "x86_64":
        code += [(_ANY_BIT, 0, 1, _X32_BIT), (_RETURN, 0, 0, _ABSENT)]
    answers = [(_DENIED, _REFUSE)]
    if on_the_host:
        answers += [(_DENIED_ON_THE_HOST, _REFUSE), (_VOID_ON_THE_HOST, _DO_NOTHING)]
    let = frozenset[str]() if guest is None else _OF_PROGRAMS | (_OF_SANDBOXES if guest == "nested" else frozenset())
    for calls, answer in answers:
        for name, numbers in calls.items():
            if name not in let and (number := numbers[column]) is not None:
                code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]
    # The C library falls back to clone, whose flags a filter can read; clone3's lie in memory.
    code += [(_EQUAL, 0, 1, _CLONE3[column]), (_RETURN, 0, 0, _ABSENT)]
    if guest != "nested":
        code += _with_argument(_CLONE[column], _FIRST, [(_ANY_BIT, 0, 1, _NAMESPACE_FLAGS), (_RETURN, 0, 0, _REFUSE)])
    if guest is not None:
        known = [step for family in _FAMILIES for step in ((_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW))]
        route = [(_LOAD, 0, 0, _THIRD), (_EQUAL, 0, 1, _NETLINK_ROUTE), (_RETURN, 0, 0, _ALLOW)]
        known += [(_EQUAL, 0, len(route), _NETLINK), *route]
        code += _with_argument(_SOCKET[column], _FIRST, [*known, (_RETURN, 0, 0, _REFUSE)])
    requests = (*_TERMINAL_TRICKS, *(_OF_AN_OWNER if on_the_host else ()))
    tricks = [step for trick in requests for step in ((_EQUAL, 0, 1, trick), (_RETURN, 0, 0, _REFUSE))]
    code += _with_argument(_IOCTL[column], _SECOND, tricks)
    # Only one's own limits: the supervisor has the script's uid and would be a target. Zero means oneself.
    code += _with_argument(_PRLIMIT[column], _FIRST, [(_EQUAL, 1, 0, 0), (_RETURN, 0, 0, _REFUSE)])
    # Threads are pinned by OpenMP and MPI, by their ids; the supervisor is not. On the host ids are anybody's.
    others = (_EQUAL, 1, 0, 0) if on_the_host else (_EQUAL, 0, 1, 1)
    code += _with_argument(_SCHED_SETAFFINITY[column], _FIRST, [others, (_RETURN, 0, 0, _REFUSE)])
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *step) for step in code)


def _with_argument(number: int, offset: int, test: list[_Instruction]) -> list[_Instruction]:
    """Run `test` on an argument of one call; whatever the test does not refuse is allowed."""
    body: list[_Instruction] = [(_LOAD, 0, 0, offset), *test, (_RETURN, 0, 0, _ALLOW)]
    return [(_EQUAL, 0, len(body), number), *body]
