"""What stands around a statement: what makes it none, what may follow its letter, and what takes it back later."""

import re

from .forms import END, either

# --- before: the sentence, and the clause, that a statement stands in begin behind the last of these --------------

_SO = r"\b(?:so|therefore|thus|hence|consequently|daher|donc|quindi|portanto)\b|所以|因此|故|따라서|よって"
SENTENCE = re.compile(rf"[.!?](?<!\be\.g\.)(?<!\bi\.e\.)[\"”')\]*_]*+\s|[。！？\x00]|\n\s*+\n|{_SO}", re.IGNORECASE)
CLAUSE = re.compile(
    r"[,;:，；、：—–()（）]|(?-i:\n(?![ \t]*+[a-zà-ÿ]))|\b(?:but|however|and|aber|mais|pero|ma|mas|но|а)\b|但|而",
    re.IGNORECASE,
)
# Anywhere in the sentence: a condition, a first impression, an example.
CONDITIONAL = re.compile(
    r"\b"
    + either(
        *("if", "unless", r"suppos\w*+", r"assum\w*+", "whether", "wenn", "falls", "ob", "angenommen", "если", "ли"),
        *("at first", "initially", "originally", "naively", "auf den ersten blick", "examples?", r"e\.g"),
        *("for instance", "format", "template", "in the form"),
    )
    + r"\b|^\W*+(?:were|had|si|se)\b|(?:[,;]\s*+|\b(?:sais|sait|sé|sabe|so|sei|saber|savoir)\s++)(?:si|se)\b"
    r"|如果|假设|假設|假如|若|もし|만약|만일",
    re.IGNORECASE,
)
# In the clause: a denial, or somebody else's opinion.
DENIED = re.compile(
    r"\b"
    + either(
        *(
            "not",
            "cannot",
            "never",
            "no",
            "none",
            "nobody",
            "neither",
            "nor",
            r"doubt\w*+",
            r"disagree\w*+",
            "wrong",
            "incorrect",
        ),
        *("false", "unlikely", "hardly", "unclear", r"exclud\w++", r"rul\w{1,4}+ out", r"reject\w*+", r"refus\w++"),
        *(r"eliminat\w++", "against", "least", "worst", r"(?<!most\s)(?:possible|plausible)", "potential"),
        *("alternative", "another", r"kein\w*+", "nicht", "nie", r"falsch\w*+", "pas", "jamais", "aucune?", "faux"),
        *("mauvaise", "nunca", r"ningun\w*+", "tampoco", "incorrect[ao]", "err[oó]ne[ao]", "equivocad[ao]", "non"),
        *("mai", r"nessun\w*+", "sbagliat[ao]", "não", r"nenhum\w*+", "errada", "не", "нет", "нельзя"),
        *(r"неверн\w*+", r"неправильн\w*+"),
        *("might", "may", "could", "(?:most|some|few|other) (?:people|would|might|may|will|say|students?)", "many"),
        *("people", "students?", "others", "someone", "somebody", "anyone", "naive", r"tempt\w*+", "thought"),
        *("guessed", "assumed", "believed", r"claim\w*+", "argu(?:e|ed|es|ing)", r"pretend\w*+", "imagine"),
        *("textbooks?", "friends?", "colleagues?", "könnte", "pourrait", "podría", "potrebbe", "poderia"),
    )
    + r"\b|n['’]t\b|\bn['’]est|不|没|錯|错|無い|아니",
    re.IGNORECASE,
)
# "Either the answer is A or".
JOINED_OR = re.compile(r"(?:\b(?:or|oder|ou|или|o)|或|还是|または|또는)[ \t]*+\n?[ \t$*_(\\\[]*+\Z", re.IGNORECASE)
# "A, B and".
JOINED = re.compile(
    r"(?:[/&、+]|\b(?:or|and|nor|both|neither|either|oder|und|ou|et|y|o|e|или|и)\b|或|和|と|[A-D][)\]}]?,?)"
    r"[ \t]*+[(\[*$\\]*+\Z"
)

# --- behind the letter -----------------------------------------------------------------------------------------

CLOSE = re.compile(r"[)\]}>*_`~\"'”’»$|\\]*+")
# What may stand between a letter and its value: "B) ", "B = ", "B - ". A minus belongs to the value.
LABEL_END = re.compile(r"[)\]}>*_`~\"'”’$|\\\s]*+[.:,;]?+[)\]}*_`\"'”’$\s]*+")
LINK = re.compile(r"(?:[=≈:]|[–—-](?=\s))?+\s*+")
_REASON = either(
    *("because", "since", "as", "for", "given", "due", "from", "with", "by", "based", "according", "using", "which"),
    *("rather than", "instead of", "over", r"not \(?[A-D]"),
    "(?:is|would be|must be) (?:clearly |indeed )?+(?:the |my )?+(?:only )?+"
    "(?:correct|right|best|closest|answer|choice|final)",
    *("weil", "da", "denn", "aufgrund", "car", "parce", "puisque", "porque", "ya que", "pues", "perch[eé]", "poiché"),
    *("pois", "потому", "так как", "поскольку"),
)
_SUFFIX = (
    r"(?:\s*+(?:选项|選項|项|項|번))?+(?:\s*+(?:です(?!か)|だ(?:と(?:思|考え)\w{1,5}+)?+|である|となります|になります"
    r"|と(?:思い|考え)ます|입니다|이다|예요|이에요|이며|이고|임))?+"
)
# A sentence that ends, a sign that sets apart, or a reason; anything else makes the letter a word of its sentence.
_MAY_FOLLOW = (
    rf"{_SUFFIX}(?:(?P<stop>\s*+$|[.!]++(?=\s*+$|\s++(?-i:(?![a-zà-ÿ])))|[。！])|\s*+[,;，；—–|]|\s++-\s|\s++\(|\s*+</"
    rf"|\s*+[✓✔✅☑]++(?=\s*+$)|\s++{_REASON}\b|\s*+(?:因为|由于|因為))"
)
MAY_FOLLOW = re.compile(_MAY_FOLLOW, re.IGNORECASE)
# Behind the letter's own value also its unit.
MAY_FOLLOW_VALUE = re.compile(
    rf"{_MAY_FOLLOW}|(?P<unit>\s++(?!(?:wrong|false|no|not|incorrect|falsch|faux)\b)[^\s.,;:!?()]{{1,12}}+(?=\s*+$|[.,;!)]))",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(
    r"(?:[!?]|\.(?<!\bi\.e\.)(?<!\be\.g\.)(?<!\bz\.B\.)(?<!\bca\.)(?<!\bapprox\.))(?:\s|$)|[。！？]|\?"
)
ASKING = re.compile(r"[?？]|吗|嗎|呢|\bright\s*+$|ですか|까$")
ANOTHER = re.compile(rf"(?<![A-Za-z0-9À-ɏ_^'’\\.-])[A-D]{END}")
# What may stand between the chosen letter and another one of its sentence.
SETS_APART = re.compile(
    r"\b"
    + either(
        *("because", "since", "not", "nor", "than", "instead of", "over", "unlike", "given", r"as(?!\s++well)", "weil"),
        *("da", "denn", "nicht", "statt", "sondern", "car", "parce", "puisque", "pas", "porque", "perch[eé]", "não"),
        *("pois", "не", "потому", "так как", "поскольку"),
    )
    + r"\b|因为|因為|由于|不|而非",
    re.IGNORECASE,
)
# The next label of a list, on the same line or below.
LABEL = re.compile(r"(?<![\w.])[(\[*_]*+(?P<letter>[A-D])[*_]*+[.):\]](?=\s|\*)")
BELOW = re.compile(r"\s*+(?:[-*+>|•]\s++)?+[(\[*_]*+(?P<letter>[A-D])(?:[*_]*+[.):\]]|\s*+$)", re.MULTILINE)
VALUE_BELOW = re.compile(
    r"\s*+[\"'*_]*+(?:(?:value|result|option_text|text|wert|valeur|valor)[\"'*_]*+\s*+[:=])?+(?P<value>[^\n]{1,2100}+)",
    re.IGNORECASE,
)
JSON_NEXT = re.compile(r"\"\s*+(?:}|,\s*+(?:$|\"[^\"\n]{1,60}+\"\s*+:))")
JSON_VALUE = re.compile(
    r"\"(?:value|result|option_text|answer_text|text|option|content)\"\s*+:\s*+\"?(?P<value>[^\"\n]{1,2100}+)"
)

# --- behind the last statement ---------------------------------------------------------------------------------

CORRECTED = re.compile(
    r"\b"
    + either(
        *("wrong", "incorrect", "mistaken?", "wait", "correction", "actually", "sorry", "oops", r"re-?check\w*+"),
        *("on (?:second thought|reflection)", "further thought", r"reconsider\w*+", "revised", "corrected", "updated?"),
        *("edit(?:ed)?", "changed", "error", "falsch", "moment", "faux", "erreur", "espera", "sbagliato"),
        *("korrektur", "corrección", "correzione", "correção", "исправление"),
    )
    + r"\b|\b(?:no|nein|non|нет)[,.!]|不对|错|不對|錯|間違",
    re.IGNORECASE,
)
_START = (
    r"(?:^|[.!?…。！？:]\s*+|\n)[*_\"'( \t]{0,4}(?:(?:hmm+|oh|ok|okay|no|but|well|so|wait|actually)[,.…! ]{1,4}){0,2}"
)
WITHDRAWN = re.compile(
    _START
    + either(
        *(r"(?:correction|edit|update)\b", "scratch that", "(?:I (?:have )?+)?+changed my mind", r"I (?:mean|meant)\b"),
        *("I made", "I was (?:wrong|mistaken)", "I take (?:that|it) back", "I am (?:not sure|unsure)", "I erred"),
        r"(?:that|this|it)(?:['’]s| (?:is|was)) (?:wrong|incorrect|not (?:right|correct)|a mistake)",
        *("(?:no|nein|нет)[,.!]", "不对", "错了", "不對", "錯了", "違う", "いや", "아니"),
    ),
    re.IGNORECASE,
)
DOUBTED = re.compile(
    _START
    + either(
        r"(?:hmm|wait|actually|sorry|oops|moment|attendez|espera|aspetta)\b",
        *("on (?:second thought|reflection)", "let me (?:re|double|check|verify)", "I['’]m (?:not sure|unsure)"),
        *("等等", "等一下", "待って", "잠깐"),
    ),
    re.IGNORECASE,
)
UNSURE = re.compile(r"\b(?:unsure|not\s++sure|mistake|wrong|incorrect|error)\b", re.IGNORECASE)
