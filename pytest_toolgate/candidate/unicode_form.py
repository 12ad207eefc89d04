"""One form for text that people write in several, at a cost that no text can drive up."""

import unicodedata

# Unicode's own bound for text that can be normalised in a stream (UAX #15, "Stream-Safe Text Format").
MAX_MARKS = 30
# Characters that nobody sees: zero-width spaces and joiners, soft hyphens, marks of direction.
_UNSEEN = dict.fromkeys(
    [
        0x00AD,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2065),
        *range(0x2066, 0x206A),
        0xFEFF,
    ]
)


def compose(text: str) -> str:
    """`text` in normalisation form NFC.

    Putting a run of combining marks in order takes quadratic time, so text with a longer run than any
    language has is left as it is.
    """
    return text if text.isascii() or has_mark_run(text) else unicodedata.normalize("NFC", text)


def has_mark_run(text: str) -> bool:
    """Whether more than `MAX_MARKS` combining marks follow each other."""
    run = 0
    for character in text:
        if character < "\u0300" or not unicodedata.combining(character):
            run = 0
        elif (run := run + 1) > MAX_MARKS:
            return True
    return False


def visible(text: str) -> str:
    """`text` without characters that nobody sees."""
    return text if text.isascii() else text.translate(_UNSEEN)
