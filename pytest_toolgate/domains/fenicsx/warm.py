"""How a warm process loads FEniCSx, and how each copy of it begins. Read as text; it runs inside the sandbox only.

MPI and PETSc must not be begun before the copy: MPI's shared segment would stay writable by every script. Forms are
compiled by one call of the C compiler with the flags that DOLFINx gives, and loaded without a Python module around
them: the same machine code, without a second spent on setuptools and Python.h. What was compiled is kept for the next
run of the same job.
"""
# ruff: noqa: PTH123

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pytest_toolgate.sandbox.inside.keepsake import NEW, OLD

_FFI: list[Any] = []  # the C declarations, read
_LOADED: dict[str, tuple[list[Any], Any]] = {}  # module name -> what the form compiler hands back
_KEPT: dict[str, bytes] = {}
_PETSC: list[Any] = []  # the module
_BEGUN: list[str] = []  # in this process
_CELLS = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS"
_LEVELS: dict[str, int] = {}  # of threads in MPI, as `mpi4py.rc` names them


def load() -> None:
    """Import everything, and begin nothing."""
    import mpi4py

    mpi4py.rc.initialize = False
    with suppress(ImportError):
        import dolfinx_solver  # noqa: F401 - before all others, where a build has it

        _BEGUN.append("wheel")
    import petsc4py.lib
    from petsc4py.lib import ImportPETSc

    _PETSC.append(ImportPETSc())
    petsc4py.lib.ImportPETSc = _import_petsc  # type: ignore[assignment]
    import basix.ufl  # noqa: F401
    import cffi  # type: ignore[import-untyped]
    import dolfinx.fem.petsc
    import dolfinx.io
    import dolfinx.mesh
    import dolfinx.nls.petsc  # noqa: F401
    import ffcx.codegeneration.jit
    import ffcx.compiler
    import ufl  # noqa: F401
    from mpi4py import MPI

    if MPI.Is_initialized():
        raise RuntimeError("MPI is initialised as soon as it is imported, and copies would share its memory.")
    mpi4py.rc.initialize = True
    for name in ("serialized", "multiple", "single", "funneled"):
        _LEVELS[name] = getattr(MPI, f"THREAD_{name.upper()}")
    jit: Any = ffcx.codegeneration.jit
    ffi = cffi.FFI()
    # What a form is to C, of every scalar type.
    ffi.cdef(jit.UFC_HEADER_DECL.format("any") + jit.UFC_INTEGRAL_DECL + jit.UFC_FORM_DECL + jit.UFC_EXPRESSION_DECL)
    _FFI.append(ffi)
    jit.get_cached_module = _already_loaded
    jit._compile_objects = _compile
    jit._load_objects = _load


def _begin_mpi() -> None:
    from mpi4py import MPI, rc

    _BEGUN.append("mpi")
    if rc.initialize and not MPI.Is_initialized():
        with _few_cells():
            MPI.Init_thread(_LEVELS[rc.thread_level] if rc.threads else MPI.THREAD_SINGLE)
        if rc.finalize is not False:
            _BEGUN.append("to end")


@contextmanager
def _few_cells() -> Iterator[None]:
    """Have MPICH prepare one buffer for messages to processes that a script cannot have, and not 64 in each script."""
    if _CELLS in os.environ:
        yield
        return
    os.environ[_CELLS] = "1"
    try:
        yield
    finally:
        del os.environ[_CELLS]


def _begin_petsc() -> None:
    _find_mpi()
    _PETSC[0]._initialize()


def _import_petsc(arch: str | None = None) -> object:
    """What `petsc4py` loads PETSc with, before it begins it with a script's own options or none."""
    _find_mpi()
    module = sys.modules["petsc4py.PETSc"] = _PETSC[0]
    vars(sys.modules["petsc4py"])["PETSc"] = module
    return module


def _find_mpi() -> None:
    """The wheel's libraries find MPI only where `mpi4py` or `dolfinx_solver` has loaded it before."""
    if "wheel" in _BEGUN and "mpi" not in _BEGUN:
        raise ImportError("libmpi.so.12: cannot open shared object file: No such file or directory")


# What importing them does otherwise.
ON_IMPORT = {"mpi4py.MPI": _begin_mpi, "petsc4py.PETSc": _begin_petsc, "dolfinx": _find_mpi}


def end() -> None:
    """Do what MPI and PETSc do at the end of a process in which they were begun."""
    if petsc := sys.modules.get("petsc4py.PETSc"):
        petsc._finalize()
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi and "to end" in _BEGUN and not mpi.Is_finalized():
        mpi.Finalize()


def _bring() -> None:
    """Read what was kept; of what is damaged, or was cut off, nothing is taken."""
    with suppress(OSError, ValueError, IndexError), open(OLD, "rb") as stream:
        while head := stream.readline().split():
            name, size, digest = head[0].decode(), int(head[1]), head[2].decode()
            content = stream.read(size)
            if hashlib.sha256(content).hexdigest() == digest:
                _KEPT[name] = content


def _already_loaded(
    module_name: str, object_names: list[str], cache_dir: str | Path, timeout: int
) -> tuple[list[Any] | None, Any]:
    if module_name in _LOADED:
        return _LOADED[module_name]
    if not _LOADED:
        _bring()
    if module_name not in _KEPT:
        return None, None
    _put(_library(cache_dir, module_name), _KEPT[module_name])
    return _load(cache_dir, module_name, object_names)


def _compile(
    decl: str, ufl_objects: list[Any], object_names: list[str], module_name: str, options: dict[str, Any],
    cache_dir: Path, extra: list[str], verbose: bool, debug: bool, libraries: list[str] | None,
    visualise: bool = False,
) -> str:  # fmt: skip
    import ffcx.compiler
    from cffi import VerificationError

    code, _ = ffcx.compiler.compile_ufl_objects(
        ufl_objects, namespace=module_name, options=options, visualise=visualise
    )
    library = _library(cache_dir, module_name)
    source = library.with_suffix(f".{os.getpid()}.{threading.get_ident()}.c")
    _put(source, code[1].encode())
    made = source.with_suffix(".so")
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    flags = (os.environ.get("CFLAGS") or sysconfig.get_config_var("CFLAGS") or "").split()
    done = subprocess.run(
        [
            *compiler, *flags, "-shared", "-fPIC", "-pipe", "-std=c17", *(["-g"] if debug else ["-g0"]), *extra,
            f"-I{Path(ffcx.codegeneration.__file__).parent}", str(source), "-o", str(made),
            "-lm", *(f"-l{name}" for name in libraries or ()),
        ],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if verbose:
        print(done.stdout + done.stderr)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        raise VerificationError(f"CompileError: command {compiler[0]!r} failed with exit code {done.returncode}")
    made.rename(library)
    return code[1]


def _library(cache_dir: str | Path, module_name: str) -> Path:
    """Where a form is, in a directory that the form compiler of another process does not look into."""
    return Path(cache_dir, "warm", f"{module_name}.so")


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _load(cache_dir: str | Path, module_name: str, object_names: list[str]) -> tuple[list[Any], Any]:
    path = _library(cache_dir, module_name)
    library = ctypes.CDLL(str(path))
    kind = "ufcx_expression" if module_name.startswith("libffcx_expressions_") else "ufcx_form"
    ffi = _FFI[0]
    objects = [ffi.cast(f"{kind} *", ctypes.addressof(ctypes.c_char.in_dll(library, name)))[0] for name in object_names]
    names = SimpleNamespace(**dict(zip(object_names, objects, strict=True)))
    _LOADED[module_name] = objects, SimpleNamespace(ffi=ffi, lib=names, __name__=module_name, library=library)
    if module_name not in _KEPT:
        _keep(module_name, path.read_bytes())
    return _LOADED[module_name]


def _keep(module_name: str, content: bytes) -> None:
    head = f"{module_name} {len(content)} {hashlib.sha256(content).hexdigest()}\n"
    with suppress(OSError):  # where it is full, it is compiled again
        descriptor = os.open(NEW, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, head.encode() + content)
        finally:
            os.close(descriptor)
