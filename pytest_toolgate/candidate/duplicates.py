"""Which of the candidates of a run say the same thing twice."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """What identifies a candidate or an accepted item among others.

    Attributes:
        path: Where it stands, as shown to people.
        id: Its id.
        twin_key: `Candidate.twin_key`.
        fingerprint: `Candidate.fingerprint`.
    """

    path: str
    id: str
    twin_key: str
    fingerprint: str


def find_duplicates(entries: Iterable[Entry], accepted: Iterable[Entry] = ()) -> Mapping[str, str]:
    """The candidates that lose to an earlier one.

    Accepted items come before every candidate, except that a candidate is never its own duplicate: an
    accepted item that was read from the same path, or has the same id and fingerprint, is that
    candidate's own record. A candidate with such a record comes before one without, so that a copy cannot take an
    accepted item's place by its name; among the others the earlier path stays.

    Returns:
        Path of the later one -> a sentence that names the earlier one.
    """
    losers: dict[str, str] = {}
    by_id: dict[str, Entry] = {}
    by_twin: dict[str, Entry] = {}
    items = list(accepted)
    items_by_id = {item.id: item for item in items}
    items_by_twin = {item.twin_key: item for item in items}

    def newcomer(entry: Entry) -> bool:
        known = items_by_id.get(entry.id), items_by_twin.get(entry.twin_key)
        return not any(item is not None and _own_record(entry, item) for item in known)

    for entry in sorted(entries, key=lambda entry: (newcomer(entry), entry.path)):
        named, twin = by_id.get(entry.id), by_twin.get(entry.twin_key)
        item_named, item_twin = items_by_id.get(entry.id), items_by_twin.get(entry.twin_key)
        if twin is not None:
            losers[entry.path] = f"asks the same question with the same options as `{twin.path}`"
        elif named is not None:
            losers[entry.path] = f"has the same id `{entry.id}` as `{named.path}`"
        elif item_twin is not None and not _own_record(entry, item_twin):
            losers[entry.path] = f"asks the same question with the same options as the accepted item `{item_twin.id}`"
        elif item_named is not None and not _own_record(entry, item_named):
            losers[entry.path] = f"has the same id as the accepted item `{item_named.id}` read from `{item_named.path}`"
        by_id.setdefault(entry.id, entry)
        by_twin.setdefault(entry.twin_key, entry)
    return losers


def _own_record(entry: Entry, item: Entry) -> bool:
    return entry.path == item.path or (entry.id == item.id and entry.fingerprint == item.fingerprint)
