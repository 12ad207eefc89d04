"""The two ways in which the embedded model can fail; each message is one sentence for the user."""


class ModelError(Exception):
    """The model file is missing, damaged or cannot be fetched."""


class EmbeddedError(Exception):
    """The embedded server cannot be started or reached; never a statement about a candidate."""
