"""Which packages a script called, as opposed to imported: from a start of its own and from a warm one."""

import pytest

from .conftest import DOLFINX, Script, text

WATCH = ("numpy", "scipy")
CALLS = {
    "a function": ("import numpy; numpy.zeros(3)", "numpy"),
    "a function in C": ("import numpy; numpy.array([1])", "numpy"),
    "a ufunc of its own": ("from scipy.special import jv; jv(0, 1.0)", "scipy"),
    "a class": ("from scipy.sparse import csr_matrix; csr_matrix((2, 2))", "scipy"),
    "a subclass of one": ("import numpy\nclass Mine(numpy.ndarray): pass\nMine((2,))", "numpy"),
    "a method": ("import numpy\na = numpy.ma.masked\na.any()", "numpy"),
    "a method in C": ("import numpy\na = numpy.random.mtrand._rand\na.random()", "numpy"),
    "in a function": ("import numpy\ndef f():\n    return [numpy.zeros(k) for k in range(2)]\nf()", "numpy"),
    "by a library": ("import functools, numpy\nfunctools.reduce(lambda a, b: numpy.add(a, b), [1, 2])", "numpy"),
    "by map": ("from scipy.special import jv\nlist(map(jv, [0], [1.0]))", "scipy"),
    "with unpacked arguments": ("import numpy; numpy.zeros(*[3], **{})", "numpy"),
    "in a loop that has done other things": ("import numpy\nfor f in [abs] * 9 + [numpy.abs]:\n    f(1)", "numpy"),
    "in a string": ("exec(\"import numpy; numpy.zeros(3)\")", "numpy"),
    "in a string in a string": ("exec(\"import numpy; exec('numpy.zeros(3)')\")", "numpy"),
    "in a module of its own": ("import mine", "numpy"),
    "in a child": (
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import numpy; numpy.zeros(3)'])", "numpy"
    ),
    "from stdin of a child": (
        "import subprocess, sys; subprocess.run([sys.executable, '-'], input=b'import numpy; numpy.zeros(3)')", "numpy"
    ),
    "in a fork": ("import os, numpy\nif os.fork() == 0:\n    numpy.zeros(3)\n    os._exit(0)\nos.wait()", "numpy"),
    "in a thread": (
        "import threading, numpy\nt = threading.Thread(target=lambda: numpy.zeros(3))\nt.start(); t.join()", "numpy"
    ),
    "before a crash": ("import os, numpy\nnumpy.zeros(3)\nos._exit(0)", "numpy"),
}  # fmt: skip
NO_CALLS = {
    "an import": "import numpy, scipy.special, scipy.stats",
    "names": "import numpy\nprint(numpy.pi, numpy.zeros, repr(numpy))",
    "another's": "import numpy, json; json.dumps([1])",
    "a class that forges where it is from": "class A: pass\nA.__module__ = 'numpy'\nA()",
    "a file of that name": "import numpy; numpy.zeros(3)",
    "a dataclass": "import numpy\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\nA(1)",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_seen(script: Script, call: str) -> None:
    source, package = CALLS[call]
    finished = script(source, watch=WATCH, files={"mine.py": b"import numpy\nnumpy.zeros(3)\n"})
    assert (finished.exit_code, finished.stderr) == (0, b"")
    assert finished.called == (package,)
    assert finished.called[0] in finished.used


@pytest.mark.parametrize("kind", NO_CALLS)
def test_what_is_no_call_is_none(script: Script, kind: str) -> None:
    files = {"numpy.py": b"def zeros(k): return k\n"} if kind == "a file of that name" else {}
    finished = script(NO_CALLS[kind], watch=WATCH, files=files)
    assert (finished.exit_code, finished.stderr) == (0, b"")
    assert finished.called == ()


def test_it_disturbs_nothing(script: Script) -> None:
    source = """
        import sys
        class Held:
            def __getattr__(self, name): raise SystemExit("looked at")
            def __call__(self): return 1
        class Meta(type):
            def __getattribute__(cls, name): raise SystemExit("looked at")
        class Odd(metaclass=Meta): pass
        Held()(); Odd()
        print(sum(Held()() for _ in range(1000)), sys.gettrace(), sys.getprofile())
    """
    assert text(script(source, watch=WATCH)) == "1000 None None\n"


def test_code_that_is_gone_costs_no_memory(script: Script) -> None:
    source = """
        import sys
        import numpy
        before = sys.getallocatedblocks()
        for number in range(5000):
            eval(f"abs({number})")
        print(sys.getallocatedblocks() - before)
        eval("numpy.zeros(3)")
    """
    finished = script(source, watch=WATCH)
    assert int(text(finished)) < 1000
    assert finished.called == ("numpy",)


def test_another_tool_can_watch_as_well(script: Script) -> None:
    source = """
        import sys
        import numpy
        m, seen = sys.monitoring, []
        m.use_tool_id(m.PROFILER_ID, "mine")
        m.register_callback(m.PROFILER_ID, m.events.CALL, lambda *given: seen.append(given[2]))
        m.set_events(m.PROFILER_ID, m.events.CALL)
        numpy.zeros(3)
        m.set_events(m.PROFILER_ID, 0)
        print(numpy.zeros in seen)
    """
    finished = script(source, watch=WATCH)
    assert (text(finished), finished.called) == ("True\n", ("numpy",))


@pytest.mark.skipif(not DOLFINX, reason="needs DOLFINx")
def test_dolfinx(script: Script) -> None:
    watch = ("dolfinx", "basix", "ufl", "ffcx")
    imports = "import dolfinx_solver, ufl, dolfinx, basix\nfrom dolfinx import fem, mesh, cpp\nfrom mpi4py import MPI\n"
    assert script(imports, watch=watch).called == ()
    assert script(f"{imports}mesh.create_unit_square(MPI.COMM_WORLD, 2, 2)", watch=watch).called == ("dolfinx",)
    assert script(f"{imports}cpp.common.has_debug_x = cpp.common.Timer", watch=watch).called == ()
    assert script(f"{imports}cpp.common.Timer('x')", watch=watch).called == ("dolfinx",)
    assert script(f"{imports}ufl.sin(0.5)", watch=watch).called == ("ufl",)
