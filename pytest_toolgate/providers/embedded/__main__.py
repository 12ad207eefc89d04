"""``python -m pytest_toolgate.providers.embedded``: bring the embedded model into the user cache, once."""

import sys

from pytest_toolgate.providers.embedded.model import ModelError, fetch_model


def main() -> int:
    """Fetch the model with one line of progress per step; exit 1 with a sentence where that fails."""
    try:
        model = fetch_model(lambda line: print(line, flush=True))
    except ModelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(model.path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
