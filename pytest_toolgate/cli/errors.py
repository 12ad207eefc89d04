"""Why a command could not do its work."""


class CommandError(Exception):
    """One sentence for stderr; the command ends with exit code 2."""
