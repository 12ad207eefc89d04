"""The `toolgate` command: everything that is not a test run."""
