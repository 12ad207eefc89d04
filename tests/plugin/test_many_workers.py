"""More workers than cores change no verdict: scripts wait for a place before their clock starts."""

import pytest

from .pool import Pool

# Eight of them at once on two cores would each take longer than the time limit.
_BUSY = "import time, scipy\nwhile time.process_time() < 1.5: pass\n"


@pytest.mark.slow
def test_eight_workers_come_to_the_verdicts_of_one_process(pool: Pool) -> None:
    pool.configure("verify: {time_limit: 5, repeats: 1, memory: 268435456}")
    expected = {}
    for number in range(8):
        pool.add(f"good-{number}", _BUSY + 'print("ANSWER: 0.060723")')
        expected[f"good-{number}"] = "provisional verify"
    pool.add("endless", "while True: pass")
    pool.add("large", "block = bytearray(600 << 20)\nprint(len(block))")
    pool.add("other", 'import scipy\nprint("ANSWER: 0.058996")')
    expected["endless"] = "rejected verify timeout"
    expected["large"] = "rejected verify memory-limit"
    expected["other"] = "rejected verify mismatch"
    assert pool.run().verdicts == expected
    assert pool.run(workers=8).verdicts == expected
