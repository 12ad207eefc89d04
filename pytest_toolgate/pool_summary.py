"""What the summary says of a run's candidates together: into how many templates they fall."""

import json

from .pool.clusters import templates
from .pool.shingles import MAX_TEXT, Shingles, of_texts
from .store import Store

# In fewer, a share or an effective number says nothing that the list of files does not.
LEAST = 10
# Of a file that was judged again, after a process had died over it, the last attempt counts. No more is read of a text
# than is looked at, whatever its size.
_ROWS = """
SELECT attempts.path, json_extract(content, '$.options') AS options,
    substr(json_extract(content, '$.question'), 1, :most) AS question,
    substr(json_extract(content, '$.solution'), 1, :most) AS solution
FROM attempts JOIN candidates ON candidates.id = attempts.content_id
WHERE attempts.run_id = :run AND EXISTS (
    SELECT 1 FROM gates WHERE gates.attempt_id = attempts.id AND gate = 'lint' AND verdict = 'passed'
) ORDER BY attempts.time, attempts.rowid
"""


def pool_lines(store: Store, run_id: str) -> list[str]:
    """A line on the templates of the candidates that passed lint in a run, where there are at least `LEAST`."""
    items: dict[str, Shingles] = {}
    for row in store.query(_ROWS, {"run": run_id, "most": MAX_TEXT}):
        items[row["path"]] = of_texts(row["question"], json.loads(row["options"]).values(), row["solution"])
    return [f"templates  {templates(items)}"] if len(items) >= LEAST else []
