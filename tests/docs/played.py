"""What the models of the pages say: a script for the server that plays them."""

import json

from scripted_server import (
    QUOTA,
    REFUSED,
    SERVER_ERROR,
    STALL,
    Asked,
    Reply,
    Script,
    always,
    avoiding,
    by_model,
    by_question,
    choosing,
    computing,
    in_turn,
    running,
    saying,
)


def _solved(value: str) -> Script:
    """No model knows the answer without the software, and an agent's model computes it."""
    return by_model({"screen-model": avoiding(value), "agent-model": computing(value)})


def _writing(value: str, needs: str = "json") -> Script:
    """An agent's model whose one script writes the answer itself, if it can import what it needs."""
    code = (
        f"import {needs}\nimport json\noptions = json.load(open('problem.json'))['options']\n"
        f"letter = next(letter for letter, text in options.items() if text == '{value}')\n"
        "open('answer.txt', 'w').write(letter)"
    )
    return running(code, "It cannot be done.")


def _proposed(question: str, value: str, **keys: object) -> Reply:
    """A generator's reply: what is asked, and what the answer is."""
    content = {
        "tags": ["special"],
        "question": f"What is {question}, to five decimals?",
        "options": {"A": value, "B": "0.33333", "C": "0.44444", "D": "0.22222"},
        "answer": "A",
        "distractors": {"B": "Another order.", "C": "Another argument.", "D": "Another kind."},
        "solution": "from scipy.special import jv, yv\n\nprint(f'ANSWER: {jv(2, 5.1) ** 2 + yv(2, 5.1) ** 3:.5f}')\n",
        **keys,
    }
    return Reply(f"```yaml\n{json.dumps(content)}\n```")


_AIRY = "from scipy import special\n\nprint(f'ANSWER: {special.airy(-1.3)[1] - 1 / special.ellipk(0.2):.5f}')\n"
_ERF = "from scipy import integrate\nimport numpy\n\nprint(f'ANSWER: {integrate.quad(numpy.sinc, 0, 2.3)[0]:.5f}')\n"
_PROPOSALS = [
    _proposed("J_2(5.1)^2 + Y_2(5.1)^3", "0.04926"),
    _proposed("the derivative of Ai at -1.3 less 1/K(0.2)", "-0.43054", solution=_AIRY, tags=["quadrature"]),
    _proposed("the zeta function at 5", "1.03693", distractors={"C": "At 4.", "D": "At 6."}),
    _proposed("J_2(5.1)^2 + Y_2(5.1)^3", "0.04926"),
    _proposed("the integral of sin(pi x)/(pi x) from 0 to 2.3", "0.47126", solution=_ERF, tags=["quadrature"]),
]
# What the models of the pages say, by what stands in the question.
PLAYED = by_question(
    {
        "Write one new benchmark candidate": in_turn(map(always, _PROPOSALS)),
        "J_2(5.1)": _solved("0.04926"),
        "cos(3 x)": _solved("0.0900"),
        "`accepted`": _solved("0.50"),
        "`too-easy`": choosing("0.50"),
        "`budget`": choosing("0.50"),
        "`inconclusive`": saying("It depends on the mesh."),
        "`provider`": always(SERVER_ERROR),
        "`first`": always(QUOTA),
        "`second`": always(QUOTA),
        "`wrong`": computing("0.60"),
        "`no-answer`": saying("Let me think about it."),
        "`bad-answer-file`": running("open('answer.txt', 'w').write('probably 0.50')"),
        "`timeout`": in_turn([running("print(1)"), always(STALL)]),
        "`agent`": always(REFUSED),
        "`tool-not-needed`": _writing("0.50"),
        "`guessed`": lambda asked: running("print('RESULT:', 0.5)", f"ANSWER: {asked.letter_of('0.50')}")(asked),
        "exp(-x^2)": _writing("0.7468", "scipy"),
        "zero of J_0": by_model({"small-model": computing("2.4084"), "large-model": _writing("2.4048", "scipy")}),
        "from 1 to 1000": _writing("500500"),
        "j_3 * J_1": _solved("0.63766"),
        "first 100 odd numbers": lambda asked: Reply(
            f"import numpy\nnumpy.array(1)\nopen('answer.txt', 'w').write('{asked.letter_of('199990000')}')"
        ),
    },
    otherwise=lambda asked: Reply("ANSWER: A"),
)


def tried(asked: Asked) -> Reply:
    """What the models say when they are only tried out: one of them takes no `reasoning`."""
    if asked.model != "strict-model" or asked.effort is None:
        return Reply("OK")
    sentence = "Unsupported parameter: 'reasoning_effort' is not supported with this model."
    return Reply(status=400, error={"message": sentence, "code": "unsupported_parameter"})
