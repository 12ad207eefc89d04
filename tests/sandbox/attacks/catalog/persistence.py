"""Persistence: what a script plants for a later run, for the host or for its user."""

from ..attack import Attack

# Each looks first for what an earlier run of itself has left.
_LOOK_THEN_WRITE = """
import pathlib
for place in PLACES:
    path = pathlib.Path(place)
    if attempt(lambda: path.read_text().startswith("# " + host.tag)):
        print("HARM: found what an earlier run has left in", path)
    if attempt(path.parent.mkdir, parents=True, exist_ok=True) is None:
        attempt(path.write_text, "# " + host.tag)
"""


def _plants(name: str, tries: str, places: str, before: str = "") -> Attack:
    script = before + _LOOK_THEN_WRITE.replace("PLACES", places)
    return Attack(name, "persistence", tries, script, "planted", twice=True)


ATTACKS = (
    _plants(
        "site-packages",
        "Puts a module among the installed packages.",
        '[sysconfig.get_paths()[kind] + f"/{host.tag}.py" for kind in ("purelib", "platlib", "stdlib")]'
        ' if not host.plain else [sysconfig.get_paths()["purelib"] + f"/{host.tag}.py"]',
        "import sysconfig\n",
    ),
    _plants(
        "path-file",
        "Puts a `.pth` file there, whose lines every Python of the environment would run.",
        '[sysconfig.get_paths()["purelib"] + f"/{host.tag}.pth"]',
        "import sysconfig\n",
    ),
    Attack(
        "sitecustomize",
        "persistence",
        "Plants `sitecustomize` and `usercustomize` wherever Python looks for them at its start.",
        """
        import site, sys, sysconfig
        planted = f"import os; os.write(1, b'HARM: code of {host.tag} ran\\\\n')\\n"
        places = [site.getusersitepackages(), *os.environ.get("PYTHONPATH", "").split(":")]
        if not host.plain:
            places += [*sys.path, "/run/toolgate/site"]
        for place in filter(None, places):
            for name in ("usercustomize", "sitecustomize"):
                attempt(os.makedirs, place, exist_ok=True)
                attempt(lambda: open(f"{place}/{name}.py", "x").write(planted))
        """,
        "word",
        twice=True,
    ),
    _plants(
        "compiled-forms",
        "Poisons the cache of compiled forms that another script would load.",
        '[os.path.expanduser(f"~/.cache/fenics/{host.tag}.py"), f"{host.home}/.cache/fenics/{host.tag}.py"]',
    ),
    _plants(
        "compiled-modules",
        "Poisons the compiled form of a module of Python's own.",
        '[os.path.dirname(json.__file__) + f"/__pycache__/{host.tag}.pyc",'
        ' os.path.expanduser(f"~/.cache/{host.tag}.pyc")]'
        ' if not host.plain else [os.path.expanduser(f"~/.cache/{host.tag}.pyc")]',
        "import json\n",
    ),
    _plants(
        "user-configuration",
        "Writes configuration that the user's programs read when they start.",
        '[os.path.expanduser(f"~/.config/{host.tag}"), f"{host.home}/.config/autostart/{host.tag}",'
        ' f"{host.home}/.bashrc", os.path.expanduser("~/.profile")]',
    ),
    _plants(
        "shared-directories",
        "Leaves a file where every user may write.",
        '[f"{place}/{host.tag}" for place in ("/tmp", "/var/tmp", "/dev/shm")]',
    ),
    _plants(
        "scheduled-jobs",
        "Leaves a job for the system's scheduler, and what the system starts.",
        '[f"{place}/{host.tag}" for place in ("/etc/cron.d", "/etc/profile.d", "/usr/local/bin", "/run")]'
        ' if not host.plain else [f"{host.home}/.config/systemd/user/{host.tag}"]',
    ),
    _plants(
        "candidates-of-its-own",
        "Adds a candidate and a `conftest.py` to the repository, and changes its neighbour.",
        '[f"{host.candidates}/{host.tag}.yaml", f"{host.candidates}/{host.tag}/conftest.py"]'
        ' + ([] if host.plain else [f"{host.candidates}/neighbour.yaml"])',
    ),
    _plants(
        "accepted-by-itself",
        "Writes itself among the accepted items, and into the database's directory.",
        '[f"{host.accepted}/{host.tag}.json", f"{host.database}/{host.tag}"]',
    ),
    _plants(
        "own-files-rewritten",
        "Rewrites its own script and problem, and leaves words for others in the temporary directory.",
        '[f"{host.temporary}/{host.tag}"] + ([] if host.plain else ["solution.py", "problem.json"])',
    ),
)
