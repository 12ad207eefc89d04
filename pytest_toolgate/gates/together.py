"""Several waits at once, from synchronous code."""

import threading
from collections.abc import Callable, Sequence


def together[T](tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Do all tasks at once and return their results in order; the first failure is raised once all have ended.

    The threads are daemons: an interrupted run does not wait for replies that are under way.
    """
    if len(tasks) == 1:
        return [tasks[0]()]
    results: dict[int, T] = {}
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            results[number] = tasks[number]()
        except BaseException as problem:  # noqa: BLE001 - raised again below, in the thread that waits
            failures.append(problem)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return [results[number] for number in range(len(tasks))]
