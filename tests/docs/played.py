"""What the models of the pages say: a script for the server that plays them."""

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


# What the models of the pages say, by what stands in the question.
PLAYED = by_question(
    {
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
        "`guessed`": lambda asked: running("print('RESULT:', 0.5)", f"ANSWER: {asked.letter_of('0.50')}")(asked),
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
