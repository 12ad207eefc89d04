"""A process of the host that attacks aim at: it holds secrets, and keeps whatever is done to it visible.

All signals are blocked, so that one that arrives stays pending for the host to see.
"""

import ctypes
import os
import signal
import sys
import tempfile

_PR_SET_PTRACER, _ANYBODY = 0x59616D61, ctypes.c_ulong(-1)

secret = sys.argv[1].encode()
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
# Where the kernel restricts tracing to parents, this one allows it to all: it shall be as easy a prey as there is.
ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANYBODY, 0, 0, 0)
buffer = ctypes.create_string_buffer(secret)
with tempfile.TemporaryFile() as file:
    file.write(secret)
    file.flush()
    print(ctypes.addressof(buffer), len(secret), file.fileno(), flush=True)
    os.read(0, 1)  # until the host closes it
