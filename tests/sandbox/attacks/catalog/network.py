"""Every way out: the internet protocols, and what connects processes of one machine."""

from ..attack import Attack

ATTACKS = (
    Attack(
        "tcp",
        "network",
        "Connects to a port of the host and sends what it knows.",
        """
        import socket
        connection = attempt(socket.create_connection, ("127.0.0.1", host.tcp), timeout=2)
        if connection:
            connection.sendall(host.tag.encode())
        """,
        "contact",
    ),
    Attack(
        "tcp-version-6",
        "network",
        "The same over IPv6.",
        """
        import socket
        connection = attempt(socket.create_connection, ("::1", host.tcp6), timeout=2)
        if connection:
            connection.sendall(host.tag.encode())
        """,
        "contact",
        plain="harm where offered",
    ),
    Attack(
        "shell",
        "network",
        "Connects from a shell that it starts.",
        """
        import subprocess
        say = f"exec 3<>/dev/tcp/127.0.0.1/{host.tcp} && printf %s '{host.tag}' >&3"
        attempt(subprocess.run, ["bash", "-c", say], stderr=subprocess.DEVNULL)
        """,
        "contact",
    ),
    Attack(
        "udp",
        "network",
        "Sends a datagram, for which no connection is needed.",
        """
        import socket
        sender = attempt(socket.socket, socket.AF_INET, socket.SOCK_DGRAM)
        if sender:
            attempt(sender.sendto, host.tag.encode(), ("127.0.0.1", host.udp))
        """,
        "contact",
    ),
    Attack(
        "dns",
        "network",
        "Hides its words in a question to a name server.",
        """
        import socket, struct
        label = host.tag.encode()[:63]
        head, tail = struct.pack("!6H", 1, 256, 1, 0, 0, 0), struct.pack("!x2H", 1, 1)
        question = head + bytes([len(label)]) + label + tail
        sender = attempt(socket.socket, socket.AF_INET, socket.SOCK_DGRAM)
        if sender:
            attempt(sender.sendto, question, ("127.0.0.1", host.udp))
        """,
        "contact",
    ),
    Attack(
        "unix-socket",
        "network",
        "Connects to a unix socket of the host by its path.",
        """
        import socket
        connection = attempt(socket.socket, socket.AF_UNIX)
        if connection and attempt(connection.connect, host.unix) is None:
            attempt(connection.sendall, host.tag.encode())
        """,
        "contact",
    ),
    Attack(
        "abstract-socket",
        "network",
        "Connects to a unix socket that has no path, for which no file needs to be seen.",
        """
        import socket
        connection = attempt(socket.socket, socket.AF_UNIX)
        if connection and attempt(connection.connect, host.abstract) is None:
            attempt(connection.sendall, host.tag.encode())
        """,
        "contact",
    ),
    Attack(
        "vsock",
        "network",
        "Connects through the channel between virtual machines and their host.",
        """
        import socket
        connection = attempt(socket.socket, socket.AF_VSOCK, socket.SOCK_STREAM)
        if connection and attempt(connection.connect, (1, host.vsock)) is None:
            attempt(connection.sendall, host.tag.encode())
        """,
        "contact",
        plain="harm where offered",
    ),
    Attack(
        "named-pipe",
        "network",
        "Writes into a named pipe that a process of the host reads.",
        """
        pipe = attempt(os.open, host.fifo, os.O_WRONLY | os.O_NONBLOCK)
        if pipe is not None:
            os.write(pipe, host.tag.encode())
        """,
        "contact",
    ),
    Attack(
        "netlink",
        "network",
        "Asks the kernel for its network interfaces and routes.",
        """
        import socket
        if attempt(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW, 0):
            print("HARM: a netlink socket")
        """,
        "word",
    ),
    Attack(
        "connections-of-the-host",
        "network",
        "Reads in `/proc/net` who listens and who is connected.",
        """
        for name in ("tcp", "unix"):
            for line in attempt(open, f"/proc/net/{name}") or ():
                if (name == "tcp" and f":{host.tcp:04X} " in line) or (name == "unix" and host.unix in line):
                    print("HARM: saw", line)
        """,
        "word",
    ),
    Attack(
        "raw-packets",
        "network",
        "Makes packets of its own, below the protocols.",
        """
        import socket
        for family, kind, protocol in ((socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_PACKET, socket.SOCK_RAW, 3)):
            if attempt(socket.socket, family, kind, protocol):
                print("HARM: a raw socket of family", family)
        """,
        "word",
        plain="harm as root",
    ),
    Attack(
        "message-queue",
        "network",
        "Makes a message queue that any process of the machine can open.",
        """
        import ctypes
        library = ctypes.CDLL("librt.so.1", use_errno=True)
        library.mq_open(f"/{host.tag}".encode(), os.O_CREAT | os.O_WRONLY, 0o600, None)
        """,
        "planted",
    ),
    Attack(
        "socket-of-a-foreign-architecture",
        "network",
        "Makes a socket by a system call of 32-bit programs, whose numbers are others, in machine code of its own.",
        """
        import ctypes, mmap, platform, socket
        if platform.machine() == "x86_64":
            # push rbx; eax = 359 (socket), ebx = AF_INET, ecx = SOCK_STREAM, edx = 0; int 0x80; pop rbx; ret
            code = mmap.mmap(-1, 4096, prot=7)
            code.write(bytes.fromhex("53 b867010000 bb02000000 b901000000 ba00000000 cd80 5b c3"))
            made = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
            if made >= 0:
                connection = socket.socket(fileno=made)
                connection.connect(("127.0.0.1", host.tcp))
                connection.sendall(host.tag.encode())
        """,
        "contact",
        plain="harm where offered",
    ),
    Attack(
        "socket-of-the-x32-abi",
        "network",
        "Makes a socket by the number that the call has in the x32 ABI.",
        """
        made = call(0x40000000 + 41, None, 2, 1, 0)
        if made >= 0:
            print("HARM: an x32 socket")
        """,
        "word",
        plain="harm where offered",
    ),
)
