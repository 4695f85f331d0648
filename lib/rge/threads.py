"""Work in threads with a bounded number of items under way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def as_completed(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    n_at_once: int,
    *,
    stop: Callable[[], None],
) -> Iterator[Result]:
    """Results as they come, with never more than `n_at_once` items under way.

    Parameters
    ----------
    work
        Called in a thread for each item.
    items
        Taken up in this order.
    n_at_once
        Threads.
    stop
        Told that nothing new shall begin, when an item raises or the caller stops listening. Items
        under way are waited for: what they bring may be paid for.
    """
    pool = ThreadPoolExecutor(n_at_once)
    left = iter(items)
    try:
        running = {pool.submit(work, item) for item in islice(left, n_at_once)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            # Results first: a failure that ends the run must not take a finished one with it.
            for future in sorted(done, key=lambda finished: finished.exception() is not None):
                yield future.result()
            running |= {pool.submit(work, item) for item in islice(left, len(done))}
    except BaseException:
        stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
