"""What of a reply was said to the reader, in one form.

Thinking is not said, nor is what was struck out or stands behind the model's own sign that it is done. What people
write in several ways (full-width signs, circled letters, line ends) is written in one.
"""

import re
import unicodedata

from ..candidate.unicode_form import compose, visible

# Characters that are a letter of an option, or a sign around one, in another shape.
_SHAPES = [*range(0xFF01, 0xFF5F), *range(0x249C, 0x24EA), *range(0x1D400, 0x1D6A4), *range(0x1F130, 0x1F14A)]
_ONE_FORM: dict[int, str] = {
    **{code: form for code in _SHAPES if len(form := unicodedata.normalize("NFKC", chr(code))) == 1},
    **{first + i: letter for first in (0x249C, 0x1F110, 0x1F150, 0x1F170) for i, letter in enumerate("ABCD")},
    **{ord(character): "(" for character in "【〔「『《〈｢«‹"},
    **{ord(character): ")" for character in "】〕」』》〉｣»›"},
    **{ord(character): ":" for character in "﹕︰∶꞉"},
    **{ord(character): "\n" for character in "\r\v\f\x85\u2028\u2029"},
    **{0x3000: " ", 0xFE0E: "", 0xFE0F: ""},
}
_NAMES = r"(?:seed:)?(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad)"
_THINKING = re.compile(
    rf"(?P<close></{_NAMES}\s?>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|channel\|>final\b)"
    rf"|<{_NAMES}(?:\s[^<>\n]{{0,80}})?>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|channel\|>(?:analysis|commentary)\b",
    re.IGNORECASE,
)
_STRUCK_OUT = re.compile(r"~~[^~\n]{1,200}~~|<(del|strike|s)>[^<\n]{1,200}</\1>(?=[ \t]*+[^\s<])", re.IGNORECASE)
_DONE = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|end|return|endoftext|end_of_text|end[▁_]of[▁_]sentence|end_of_turn_token)\|>"
    r"|</s>|<end_of_turn>|<eos>",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"<\|[\w▁]{1,40}\|>|</?s>|<start_of_turn>(?:model)?|<bos>|\[/?INST\]|^[ \t]*+```[\w+-]{0,20}[ \t]*+$"
    r"|<(?:br|/?p|/?div)\s?/?>",
    re.IGNORECASE | re.MULTILINE,
)
_EMPHASIS = re.compile(r"<(b|strong|em|i|u|mark|code)>([^<\n]{0,200}+)</\1>")


def one_form(text: str) -> str:
    """`text` with composed letters, nothing unseen, and one shape for each letter and sign."""
    text = visible(compose(text.replace("\r\n", "\n")))
    return text.translate(_ONE_FORM)


def spoken(text: str) -> str:
    """The part of a reply that is meant for the reader."""
    text = _STRUCK_OUT.sub("", _without_thinking(one_form(text)))
    begin = 0
    for end in _DONE.finditer(text):
        if _TOKEN.sub("", text[begin : end.start()]).strip():
            text = text[: end.start()]
            break
        begin = end.end()
    return _EMPHASIS.sub(r"\2", _TOKEN.sub("\n", text))


def _without_thinking(text: str) -> str:
    """`text` without thinking; what is never closed goes to the end, and what was never opened begins at the start."""
    kept: list[str] = []
    begin, inside = 0, False
    for tag in _THINKING.finditer(text):
        if tag["close"]:
            if not inside:
                kept.clear()
            begin, inside = tag.end(), False
        elif not inside:
            kept.append(text[begin : tag.start()])
            inside = True
    if not inside:
        kept.append(text[begin:])
    return "\n".join(kept)
