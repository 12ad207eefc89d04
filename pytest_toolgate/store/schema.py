"""The database schema. Rows are only ever added; no row is changed or removed.

`docs/database.md` explains the tables for readers; keep the two together.
"""

import re

VERSION = 6
CHAINED_SINCE = 6
"""The first version whose rows have links."""

TABLES = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, version TEXT NOT NULL, seed INTEGER NOT NULL,
    gates TEXT NOT NULL, settings TEXT NOT NULL, machine TEXT NOT NULL, seal TEXT, audit TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS run_events (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, run_id TEXT NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS candidates (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, fingerprint TEXT NOT NULL, presented TEXT NOT NULL,
    twin_key TEXT NOT NULL, content TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS attempts (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, run_id TEXT NOT NULL, path TEXT NOT NULL,
    candidate_id TEXT, content_id TEXT, fingerprint TEXT, round_id TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS gates (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, gate TEXT NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL, sentence TEXT NOT NULL, warnings TEXT NOT NULL, seconds REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS script_runs (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, number INTEGER NOT NULL,
    presentation TEXT NOT NULL, environment TEXT NOT NULL, sandbox TEXT NOT NULL, ended TEXT NOT NULL,
    exit_code INTEGER, signal INTEGER, answer TEXT, matched TEXT, wall REAL NOT NULL, cpu REAL NOT NULL,
    peak_memory INTEGER NOT NULL, disk_used INTEGER NOT NULL, used TEXT NOT NULL, stdout TEXT NOT NULL,
    stderr TEXT NOT NULL, alone INTEGER NOT NULL DEFAULT 0, files_made INTEGER, stdout_bytes INTEGER,
    stderr_bytes INTEGER, called TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS checks (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, name TEXT NOT NULL, verdict TEXT NOT NULL,
    sentence TEXT NOT NULL, evidence TEXT NOT NULL, seconds REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS replies (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, run_id TEXT NOT NULL,
    reuse_key TEXT NOT NULL,
    screen TEXT NOT NULL, call_index INTEGER NOT NULL, settings TEXT NOT NULL, provider TEXT NOT NULL,
    base_url TEXT NOT NULL, model_asked TEXT NOT NULL, model_served TEXT, seed INTEGER NOT NULL,
    presentation TEXT NOT NULL, status TEXT NOT NULL, text TEXT NOT NULL, note TEXT NOT NULL, chosen TEXT,
    value TEXT, correct INTEGER, input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER,
    reasoning_tokens INTEGER, cost REAL, requests INTEGER NOT NULL, latency REAL NOT NULL,
    request TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE TABLE IF NOT EXISTS cues (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, cue TEXT NOT NULL, picks TEXT NOT NULL,
    score REAL
) STRICT;
CREATE TABLE IF NOT EXISTS preflights (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, run_id TEXT NOT NULL, provider TEXT NOT NULL, base_url TEXT NOT NULL,
    settings TEXT NOT NULL, status TEXT NOT NULL, text TEXT NOT NULL, note TEXT NOT NULL, model_served TEXT,
    input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER, cost REAL,
    requests INTEGER NOT NULL, latency REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS agent_runs (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, run_id TEXT NOT NULL,
    reuse_key TEXT NOT NULL,
    agent TEXT NOT NULL, settings TEXT NOT NULL, seed INTEGER NOT NULL, presentation TEXT NOT NULL,
    environment TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, note TEXT NOT NULL, answer TEXT,
    chosen TEXT, value TEXT, correct INTEGER, used TEXT NOT NULL, transcript TEXT NOT NULL,
    turns INTEGER NOT NULL,
    input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER, cost REAL,
    wall REAL NOT NULL, solver TEXT, control INTEGER NOT NULL DEFAULT 0, agent_version TEXT,
    called TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS agent_replies (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, run_id TEXT NOT NULL, number INTEGER NOT NULL,
    provider TEXT NOT NULL, base_url TEXT NOT NULL, model_asked TEXT NOT NULL, model_served TEXT, status TEXT NOT NULL,
    text TEXT NOT NULL, note TEXT NOT NULL, input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER,
    reasoning_tokens INTEGER, cost REAL, requests INTEGER NOT NULL, latency REAL NOT NULL,
    solver TEXT, control INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS rounds (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, run_id TEXT NOT NULL, domain TEXT NOT NULL, number INTEGER NOT NULL,
    prompt TEXT NOT NULL, known TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS proposals (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, run_id TEXT NOT NULL, round_id TEXT NOT NULL, ended TEXT NOT NULL,
    note TEXT NOT NULL, content TEXT, settings TEXT NOT NULL, agent TEXT NOT NULL, agent_version TEXT,
    environment TEXT NOT NULL,
    used TEXT NOT NULL, called TEXT, transcript TEXT NOT NULL, turns INTEGER NOT NULL, input_tokens INTEGER,
    cached_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER, cost REAL, wall REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS uses (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, kind TEXT NOT NULL,
    used_id TEXT NOT NULL,
    reused INTEGER NOT NULL, correct INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS outcomes (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, attempt_id TEXT NOT NULL, outcome TEXT NOT NULL,
    gate TEXT NOT NULL,
    reason TEXT NOT NULL, sentence TEXT NOT NULL, warnings TEXT NOT NULL, reused INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS reviews (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, candidate_id TEXT NOT NULL, fingerprint TEXT NOT NULL,
    verdict TEXT NOT NULL, reviewer TEXT NOT NULL, note TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS origins (
    id TEXT PRIMARY KEY, time TEXT NOT NULL, place TEXT NOT NULL, follows TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS links (
    origin TEXT NOT NULL, position INTEGER NOT NULL, table_name TEXT NOT NULL, row_id TEXT NOT NULL,
    row_digest TEXT NOT NULL, chain_digest TEXT NOT NULL, PRIMARY KEY (origin, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS replies_by_key ON replies (reuse_key, call_index);
CREATE INDEX IF NOT EXISTS agent_runs_by_key ON agent_runs (reuse_key);
CREATE INDEX IF NOT EXISTS attempts_by_run ON attempts (run_id);
CREATE INDEX IF NOT EXISTS attempts_by_fingerprint ON attempts (fingerprint);
CREATE INDEX IF NOT EXISTS replies_by_run ON replies (run_id);
CREATE INDEX IF NOT EXISTS agent_runs_by_run ON agent_runs (run_id);
CREATE INDEX IF NOT EXISTS agent_replies_by_run ON agent_replies (run_id);
CREATE INDEX IF NOT EXISTS gates_by_attempt ON gates (attempt_id);
CREATE INDEX IF NOT EXISTS script_runs_by_attempt ON script_runs (attempt_id);
CREATE INDEX IF NOT EXISTS uses_by_attempt ON uses (attempt_id);
CREATE INDEX IF NOT EXISTS outcomes_by_attempt ON outcomes (attempt_id);
CREATE INDEX IF NOT EXISTS candidates_by_fingerprint ON candidates (fingerprint);
CREATE INDEX IF NOT EXISTS cues_by_attempt ON cues (attempt_id);
CREATE INDEX IF NOT EXISTS preflights_by_run ON preflights (run_id);
CREATE INDEX IF NOT EXISTS checks_by_attempt ON checks (attempt_id);
CREATE INDEX IF NOT EXISTS rounds_by_domain ON rounds (domain, number);
CREATE INDEX IF NOT EXISTS proposals_by_round ON proposals (round_id);
CREATE INDEX IF NOT EXISTS attempts_by_round ON attempts (round_id);
CREATE INDEX IF NOT EXISTS reviews_by_fingerprint ON reviews (fingerprint);
CREATE INDEX IF NOT EXISTS links_by_row ON links (table_name, row_id);
"""
# What brings a database of an earlier version up to date, before what is new is added.
_UPGRADES = {
    1: (
        "ALTER TABLE replies ADD COLUMN request TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE uses ADD COLUMN correct INTEGER",
    ),
    2: (
        "ALTER TABLE script_runs ADD COLUMN alone INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE script_runs ADD COLUMN files_made INTEGER",
        "ALTER TABLE script_runs ADD COLUMN stdout_bytes INTEGER",
        "ALTER TABLE script_runs ADD COLUMN stderr_bytes INTEGER",
    ),
    3: (
        "ALTER TABLE agent_runs ADD COLUMN solver TEXT",
        "ALTER TABLE agent_runs ADD COLUMN control INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE agent_runs ADD COLUMN agent_version TEXT",
        "ALTER TABLE agent_runs ADD COLUMN called TEXT",
        "ALTER TABLE agent_replies ADD COLUMN solver TEXT",
        "ALTER TABLE agent_replies ADD COLUMN control INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE script_runs ADD COLUMN called TEXT",
        "ALTER TABLE runs ADD COLUMN seal TEXT",
    ),
    4: (
        "ALTER TABLE attempts ADD COLUMN round_id TEXT",
        "ALTER TABLE runs ADD COLUMN audit TEXT",
    ),
}


def statements(version: int) -> tuple[str, ...]:
    """The statements that make a database of some version one of this version; 0 is a new one."""
    upgrades = tuple(statement for since, steps in _UPGRADES.items() if 0 < version <= since for statement in steps)
    return upgrades + tuple(statement for statement in TABLES.split(";") if statement.strip())


def chained() -> tuple[str, ...]:
    """The tables whose rows have links: all but that of the links."""
    return tuple(name for name in re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", TABLES) if name != "links")
