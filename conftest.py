"""Tests of the plugin run pytest in pytest."""

import signal

pytest_plugins = ["pytester"]

# A shell that starts pytest in the background has it ignore Ctrl-C, and so would all that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
