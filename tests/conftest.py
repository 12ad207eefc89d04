"""What all tests need of the process they run in."""

import signal

# A shell that starts pytest in the background has it ignore Ctrl-C, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
