"""What of a record is for the public."""

from pathlib import Path

import pytest

from pytest_toolgate.release.public import Public, of_store, without_credentials
from pytest_toolgate.store import Store


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://api.example.org/v1", "https://api.example.org/v1"),
        ("https://me:secret@api.example.org:8000/v1?key=abc#x", "https://api.example.org:8000/v1"),
        ("http://[broken@x/", "<hidden>"),
    ],
)
def test_addresses(url: str, shown: str) -> None:
    assert without_credentials(url) == shown


def test_texts() -> None:
    public = Public(["/data/lab/venv"], ["sk-12345"])
    found = public.value({
        "stderr": 'File "/data/lab/venv/lib/x.py" and /home/ann/notes and /root/.ssh, sk-12345',
        "python": "/data/lab/venv/bin/python",
        "note": "see http://u:p@h/v1?k=1 for more",
        "seal": "tripwire",
        "list": ["/opt/program/run", 1, None, True],
        "machine": {"directory": "/scratch/toolgate-run-1"},
        "environment": {"directory": "/sandbox/run-again"},
    })  # fmt: skip
    assert found == {
        "stderr": 'File "<host>/lib/x.py" and <home>/notes and <home>/.ssh, <hidden>',
        "python": "<host>/python",
        "note": "see http://h/v1 for more",
        "list": ["<host>/run", 1, None, True],
        "machine": {},
        "environment": {"directory": "/sandbox/run-again"},
    }
    assert public.text("ratio 1/2, a/b, /usr/bin/python \ud800") == "ratio 1/2, a/b, /usr/bin/python \\ud800"


def test_what_a_database_gives_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "sk-of-the-lab")
    store = Store(tmp_path / "toolgate.db")
    provider = {"base_url": "https://u:password1@lab/v1", "api_key_env": "LAB_KEY"}
    store.append("runs", {
        "version": "1", "seed": 0, "gates": [], "settings": {"providers": {"lab": provider}},
        "machine": {"directory": "/scratch/ann/toolgate-run-1", "python": "3.12"}, "seal": "tripwire",
    })  # fmt: skip
    public = of_store(store)
    assert (
        public.text("in /scratch/ann/toolgate-run-1/x with sk-of-the-lab, password1")
        == "in <host>/x with <hidden>, <hidden>"
    )
