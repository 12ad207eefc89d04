r"""The forms in which a reply states its answer: patterns that end where the letter or the value stands.

Replies are strangers' text of any length: every repetition is possessive or bounded, so that each pattern takes
linear time.
"""

import re


def either(*words: str) -> str:
    """A pattern for any of `words`, each a pattern in which a space stands for any run of spaces."""
    return "(?:" + "|".join(word.replace(" ", r"\s++") for word in words) + ")"


_WORD = either(
    *("(?<![A-Za-z])answer", r"\bans\b\.?", "antwort", "réponse", "reponse", "respuesta", "risposta", "resposta"),
    *("gabarito", "ответ", "відповідь", "odpowiedź", "odpověď", "antwoord", "svaret", "svar", "vastaus", "cevap"),
    *("válasz", "răspuns", "απάντηση", "đáp án", "jawaban", "答案", "答え", "回答", "解答", "(?<!不)正解", "정답"),
    *("(?<!오)답", "উত্তর", "उत्तर", "الإجابة", "الجواب", "תשובה"),
)
# Words that stand for the answer only where a line begins with them, or behind "correct".
_CHOICE = either(
    *("option", "choice", "selection", "pick", "guess", "estimate", "solution", "letter", "lösung", "wahl", "choix"),
    *("opción", "opzione", "scelta", "opção", "alternativa", "letra", "вариант", "选项", "選項", "選択肢"),
)
_CORRECT = either(
    *("correct", "right", "best", "chosen", "final", "my", "closest", "most (?:plausible|likely|probable)"),
    *("richtige", "korrekte", "bonne", "correcta", "corretta", "opción correcta", "opzione corretta"),
    *("(?:opção|alternativa) correta", "правильный", "верный"),
)
# "answer choice", "answer_letter", "answer (one letter)", "respuesta correcta".
_QUALIFIED = (
    r"(?:[\s_-]*+"
    + either(
        *("choice", "option", "letter", "here", "to (?:the|this) question", "correcta", "correcte", "corretta"),
        *("correta", "finale?", "definitiva", "الصحيحة", "đúng"),
    )
    + r")?+(?:\s*+\([^()\n]{0,40}+\))?+"
)
# What people put around a word: emphasis, quotes, TeX dollars, ticks, space.
_DRESS = r"[*_`~$\"'“”‘’„✅✔☑👉➡\s]*+"
_SURE = either(
    *("therefore", "thus", "then", "hence", "clearly", "indeed", "definitely", "certainly", "simply", "probably"),
    *("(?:most )?likely", "also", "daher", "somit", "wahrscheinlich", "wohl", "donc", "probablement"),
    *("probablemente", "quindi", "dunque", "portanto", "provavelmente"),
)
_IS = (
    r"(?:(?P<mark>[:=|]>?+|(?<=答案)\):?+|->|=>|→|⇒|>|[-–—](?=\s))|(?:\b"
    + either(
        *("is", "(?:should|would|must|will|has to)(?: (?:therefore|thus|then|hence))?+ be", "ist", "wäre", "lautet"),
        *("est", "serait", "es", "sería", "è", "sarebbe", "é", "seria", "это", "är", "là", "adalah"),
    )
    + rf"\b|(?:应该?|應該?|就)?+[是为為选選]|[は은는]|هي|هو)(?:\s++{_SURE})?+\s*+:?+)"
)
# "option", "the letter", "l'option", "a letra", 选项.
_NOUN = (
    r"(?:(?:the\s++|my\s++|die\s++|la\s++|l['’]|le\s++|(?<=é )a\s++|a\s++(?=letra|opção|alternativa))?+"
    + either(
        *("letter", "option", "choice", "answer", "antwort", "réponse", "lettre", "proposition", "opción"),
        *("respuesta", "letra", "opzione", "lettera", "risposta", "opção", "alternativa", "вариант", "ответ"),
    )
    + r"\s++|(?:the|la|le|die)\s++|(?<=é )a\s++(?=[A-D]\b)|(?:选项|選項|選択肢|선택지|보기)\s*+)?+"
)
_TEX = rf"(?:\\[(\[]{_DRESS})?+(?:\\[a-z]{{2,8}}\s?\{{{_DRESS}){{0,3}}+"
_OPEN = rf"{_DRESS}{_TEX}(?i:{_NOUN})[(\[{{<]{{0,2}}+{_DRESS}"
# A letter that stands alone: not in a word, "D'oh", "B-spline", "C++", "B'", "C_1".
END = (
    r"(?![A-Za-z0-9À-ɏͰ-ӿ^])(?!_{1,3}[A-Za-z0-9{])(?!['’‑–-][A-Za-z])(?!\+|#)"
    r"(?:(?<=['‘’][A-Da-d])|(?!['’′]))"
)
_LETTER = rf"{_OPEN}(?P<letter>[A-Da-d]){END}"

# "Answer: ", "Die Antwort ist ", "<answer>": a letter or a value is to follow.
STATED = re.compile(rf"{_WORD}{_QUALIFIED}{_DRESS}(?:\](?=:))?+{_IS}(?:\s*+\}})?+", re.IGNORECASE)
LETTER = re.compile(_LETTER)
# The line that the prompt asks for, in capitals, wherever it stands.
ASKED = re.compile(rf"(?<![A-Za-z0-9])ANSWER{_DRESS}[:=]{_LETTER}")
# Nothing but a letter, and a value perhaps: "B", "(B) 0.060723", "Therefore, **B**.".
ALONE = re.compile(rf"(?:[\s*_#>$(-]*+(?:so|therefore|thus|hence|finally)\b[,:]?+)?+[#> ]*+{_LETTER}", re.IGNORECASE)
# "0.060723 (B)", "0.060723, which is option B": the letter behind the value.
LETTER_BEHIND = re.compile(
    r"[\s,.=–—-]*+[(\[*]{0,3}(?:(?:which\s++is|i\.e\.|corresponding\s++to)\s++)?+(?:the\s++)?+"
    rf"(?:(?:option|choice|answer|letter)\s++)?+[(\[*]{{0,3}}(?P<letter>[A-D]){END}[)\]*.]{{0,4}}(?![\w'’])",
    re.IGNORECASE,
)
BOXED = re.compile(r"\\[fF]?boxed\s?\{")

# "### Answer" above the letter; "Option: B"; "The correct choice is B"; "I pick B"; "Ich wähle B"; 选B.
CHOSEN = (
    re.compile(
        rf"^[#>*_ \t]*+(?:(?:the|my|your|final|correct)\s++){{0,2}}+{_WORD}[*_ \t]*+(?P<below>\n){_LETTER}",
        re.MULTILINE | re.IGNORECASE,
    ),
    re.compile(
        rf"^[#>*_`\"'{{<|\[( \t-]*+(?:(?:the|my|final|selected|chosen|correct|best|die|la|mi|meine)\s++)?+"
        rf"(?:{_CHOICE}|correct){_QUALIFIED}{_DRESS}(?:[:=>]|\bis\b:?+|\bist\b|\best\b){_LETTER}",
        re.MULTILINE | re.IGNORECASE,
    ),
    re.compile(
        rf"\b{_CORRECT}\s++(?:{_CHOICE})?+{_DRESS}(?:\b(?:is|ist|est|es|è|é|это)\b|:|[—–-](?=\s)){_LETTER}",
        re.IGNORECASE,
    ),
    re.compile(rf"正[确確]的?(?:选项|選項){_DRESS}[是为為:]{_LETTER}"),
    re.compile(
        r"\bI(?:['’](?:d|ll|m)|\s++(?:would|will|shall|must|am|have\s++to))?+\s++"
        + either(
            *("pick(?:ing)?+", "choos(?:e|ing)", "select(?:ing)?+", "go(?:ing)?+ (?:with|for)", "say", "guess"),
            *("opt for", "answer(?: with)?+"),
        )
        + f":?+{_LETTER}"
    ),
    re.compile(
        r"\b"
        + either(
            *("ich (?:wähle|nehme|tippe auf)", "je (?:choisis|dirais|prends|réponds)", "elijo", "escojo", "selecciono"),
            *("scelgo", "seleziono", "escolho", "seleciono", "выбираю", "выберу"),
        )
        + rf"\s++{_LETTER}",
        re.IGNORECASE,
    ),
    re.compile(rf"(?:选择?|選擇?|選ぶのは){_LETTER}"),
    # "we pick B" may be about anything; only a sentence that ends there is about the options.
    re.compile(
        r"\b(?:we|let['’]?s|let\s++us)(?:['’](?:d|ll|re)|\s++(?:would|will|must|are))?+\s++"
        + either("pick", "choose", "select", "go(?:ing)?+ (?:with|for)", "answer(?: with)?+")
        + rf"{_LETTER}(?=[)\]}}*_`$.! \t]*+(?:$|\n|because\b|since\b))",
        re.IGNORECASE,
    ),
)
# "B is correct", "Option B (0.060723) is the right one": the letter first. `value` is what stands between.
_VALUE = r"(?P<value>[)\]}*_:. ]*+\s*+[($]*+[-+−0-9][-+−0-9.,eE^{}\\×·]{0,40}+[$)*]*+)?+"
_RIGHT = either(
    r"(?:is|would be|must be) (?:the |therefore )?+(?:correct|right|best)(?: (?:answer|option|choice|one))?+",
    r"ist (?:die )?+(?:richtige?|korrekte?)(?: (?:Antwort|Option|Lösung))?+",
    r"est (?:la )?+(?:correcte?|bonne|juste|exacte)(?: réponse)?+",
    r"(?:es|é|è) (?:la |a )?+(?:respuesta |risposta |resposta )?+(?:correct[ao]|corrett[ao]|corret[ao]|giusta)",
    r"(?:верн|правильн)\w{1,4}+(?: ответ)?+",
)
_NEXT = r"(?=[*_]*+\s*+(?:[.,;!\n]|$|(?:because|since|as|weil|car|porque)\b))"
_RIGHT_CJK = (
    r"(?:选项|選項|项|項)?+\s*+(?:是?(?:正[确確]|对|對)(?:的|答案|选项)?+|が(?:正解|正しい)|を(?:選|選択)(?:び|し)?ます"
    r"|[이가]\s?(?:정답|맞))(?:です(?!か)|だ|である|と思います|입니다|이다)?+(?=\s*+(?:$|[.。，,；;!！]))"
)
LETTER_FIRST = re.compile(
    r"(?:^|[.!?;:,，；。]|\b"
    + either(
        *("option", "choice", "answer", "letter", "only", "that", "so", "thus", "therefore", "hence", "then"),
        *("antwort", "réponse", "opción", "respuesta", "opzione", "risposta", "opção", "alternativa", "вариант"),
    )
    + r"\b|['’]option|选项|選項|選択肢|只有)"
    rf"[*_(\[\"'$#> \t]*+(?P<letter>[A-D]){END}[)\]}}*_`\"'$]*+(?:{_VALUE}\s++{_RIGHT}{_NEXT}|{_RIGHT_CJK})",
    re.MULTILINE | re.IGNORECASE,
)
# A line that begins with a letter and a sign behind it, or is a letter.
LINE_LABEL = re.compile(
    r"^[-*+>|•#_ \t(\[]*+(?P<label>[A-D])(?:[*_]*+[.):\]]|[)\]*_.| \t]*+$|[*_ \t]*+\|)", re.MULTILINE
)
# Another question: whatever is answered behind it is not ours.
NEXT_TURN = re.compile(
    r"^[#>*_ \t]*+(?:answer\s++the\s++following\b|question\s[0-9]{1,4}\b"
    r"|(?:question|problem|user|human|exercise|task|q|frage|问题|题目)[*_ ]*+[0-9]{0,4}[*_]*+\s?:)",
    re.MULTILINE | re.IGNORECASE,
)
