"""Compiled loops: kept by content, found again anywhere, and never the cause of a failure."""

import ast
import errno
import json
import logging
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import codegen

import linnaeus
from linnaeus import Taxonomy, compiled, compiler
from linnaeus.cli import output
from linnaeus.taxonomy import closure_fast
from marks import slow

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs the compiler")
PACKAGE = Path(linnaeus.__file__).parent
FAST = sorted(PACKAGE.rglob("*_fast.py"))
CALLEE = "from linnaeus.compiled import loop\n\n\n@loop\ndef step(x):\n    return x + {0}\n"
CALLER = """
from linnaeus.compiled import loop
from linnaeus.first_fast import step


@loop(error_model="numpy")
def twice(x):
    return step(step(x))
"""
USE = """
import json
from linnaeus.second_fast import twice
value = twice(1.0)
"""
TELL = """
from linnaeus import compiled
made = sum(sum(f.stats.cache_misses.values()) for f in compiled.LOOPS.values())
found = sum(sum(f.stats.cache_hits.values()) for f in compiled.LOOPS.values())
print(json.dumps([value, made, found, sorted(compiled.kept())]))
"""
BOTH = ["first_fast.step", "second_fast.twice"]


@pytest.fixture
def package(tmp_path):
    """A package of two loops in two files, the second calling the first."""
    return make_package(tmp_path / "here")


def make_package(folder, added=1.0):
    home = folder / "linnaeus"
    home.mkdir(parents=True)
    (home / "__init__.py").write_text("")
    shutil.copy(PACKAGE / "compiled.py", home)
    shutil.copy(PACKAGE / "compiler.py", home)
    (home / "first_fast.py").write_text(CALLEE.format(added))
    (home / "second_fast.py").write_text(CALLER)
    return folder


def start(package, cache, code=USE, **more):
    """A fresh process; `cache` None leaves LINNAEUS_CACHE_DIR out."""
    own = {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"} | more
    kept = {k: v for k, v in os.environ.items() if k not in ("LINNAEUS_CACHE_DIR", "HOME")}
    where = {} if cache is None else {"LINNAEUS_CACHE_DIR": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-W", "always", "-c", code + TELL], env=kept | own | where, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(*arguments, **more):
    """[value, loops compiled, loops found, names kept], and what stood on standard error."""
    out, err = start(*arguments, **more).communicate()
    assert out, err
    return json.loads(out), err


def loops(cache):
    return sorted(cache.rglob("*.loop"))


@pytest.mark.slow
def test_a_second_process_finds_what_the_first_has_compiled(package, tmp_path):
    before = sorted(package.rglob("*"))
    assert run(package, tmp_path / "cache") == ([3.0, 2, 0, BOTH], "")
    assert run(package, tmp_path / "cache") == ([3.0, 0, 1, BOTH], "")
    assert sorted(package.rglob("*")) == before  # nothing is written beside the sources
    assert not [f for f in (tmp_path / "cache").rglob("*") if f.is_file() and f.suffix != ".loop"]


def test_a_caller_notices_a_changed_callee_in_another_file(package, tmp_path):
    cache, callee = tmp_path / "cache", package / "linnaeus" / "first_fast.py"
    assert run(package, cache)[0][0] == 3.0
    times = os.stat(callee)
    callee.write_text(CALLEE.format(5.0))
    os.utime(callee, ns=(times.st_atime_ns, times.st_mtime_ns))  # times and sizes tell nothing
    assert run(package, cache)[0][:3] == [11.0, 2, 0]
    callee.write_text(CALLEE.format(1.0))
    assert run(package, cache)[0][:3] == [3.0, 0, 1]  # the first folder is still there


@pytest.mark.slow
def test_the_same_content_at_another_path_needs_no_compiler(package, tmp_path):
    run(package, tmp_path / "cache")
    shutil.copytree(tmp_path / "cache", tmp_path / "moved")
    other = make_package(tmp_path / "elsewhere" / "deep")
    assert run(other, tmp_path / "moved")[0] == [3.0, 0, 1, BOTH]


@pytest.mark.slow
def test_another_setting_of_the_compiler_has_a_folder_of_its_own(package, tmp_path):
    run(package, tmp_path / "cache")
    assert run(package, tmp_path / "cache", NUMBA_BOUNDSCHECK="1")[0][:3] == [3.0, 2, 0]
    assert len(list((tmp_path / "cache").iterdir())) == 2


@pytest.mark.parametrize("cache", [slow("/dev/null/loops"), slow("/proc/loops"), None])
def test_without_a_place_to_write_to_loops_are_compiled_in_memory(package, cache):
    answer, err = run(package, cache, HOME="/nonexistent", XDG_CACHE_HOME="")
    assert answer == [3.0, 2, 0, []] and err == ""
    assert not Path("/nonexistent").exists()


def test_the_library_works_on_a_read_only_installation_without_a_home():
    code = """
import json
import numpy as np
from linnaeus.taxonomy.closure_fast import longest_depth
depth = np.zeros(2, dtype=np.int32)
longest_depth(10**9, np.array([0, 0, 1]), np.array([0], dtype=np.int32), depth)
value = int(depth[1]) + 1
"""
    answer, err = run(PACKAGE.parent, "/dev/null/loops", code, HOME="/nonexistent")
    assert answer[0] == 2 and answer[1] > 0 and answer[3] == [] and err == ""


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["write_bytes", "mkdir"])
def test_a_full_disk_is_no_reason_to_fail(package, tmp_path, broken):
    code = f"""
import errno, pathlib
def full(*_, **__):
    raise OSError({errno.ENOSPC}, "No space left on device")
pathlib.Path.{broken} = full
"""
    answer, err = run(package, tmp_path / "cache", code + USE)
    assert answer == [3.0, 2, 0, []] and err == ""


JUNK = compiled.pickle.dumps(["nothing", "of", "use"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:-9] + bytes(9),
        lambda _: compiled.hashlib.sha256(JUNK).digest() + JUNK,  # a right checksum of wrong things
    ],
    ids=["cut off", "overwritten", "of another making"],
)
def test_damaged_files_are_compiled_again(package, tmp_path, damage):
    cache = tmp_path / "cache"
    run(package, cache)
    whole = {file: len(file.read_bytes()) for file in loops(cache)}
    for file in whole:
        file.write_bytes(damage(file.read_bytes()))
    assert run(package, cache)[0] == [3.0, 2, 0, BOTH]
    assert {file: len(file.read_bytes()) for file in loops(cache)} == whole


@pytest.mark.slow
def test_processes_may_fill_the_same_folder_at_once(package, tmp_path):
    started = [start(package, tmp_path / "cache") for _ in range(3)]
    answers = [json.loads(process.communicate()[0]) for process in started]
    assert [a[0] for a in answers] == [3.0] * 3
    assert len(list((tmp_path / "cache").rglob("*"))) == 1 + 2  # the folder and two loops
    assert run(package, tmp_path / "cache")[0][1] == 0


@pytest.mark.slow
def test_sources_edited_while_a_program_runs_are_not_kept(package, tmp_path):
    code = """
import pathlib, linnaeus
from linnaeus import first_fast
path = pathlib.Path(linnaeus.__file__).with_name("second_fast.py")
path.write_text(path.read_text().replace("step(step(x))", "step(x)"))
"""
    answer, _ = run(package, tmp_path / "cache", code + USE)
    assert answer == [2.0, 2, 0, []]
    assert not loops(tmp_path / "cache")


@pytest.mark.slow
def test_folders_that_nobody_uses_are_removed(package, tmp_path):
    cache = tmp_path / "cache"
    for name, days in (("loops-old", 40), ("loops-recent", 20), ("mine", 400)):
        (cache / name).mkdir(parents=True)
        (cache / name / "file").write_text("")
        then = time.time() - 86_400 * days
        os.utime(cache / name, (then, then))
    run(package, cache)
    left = {file.name for file in cache.iterdir()}
    assert {"loops-recent", "mine"} < left and "loops-old" not in left


@pytest.mark.slow
def test_a_folder_in_use_counts_as_used(package, tmp_path):
    run(package, tmp_path / "cache")
    (folder,) = (tmp_path / "cache").iterdir()
    os.utime(folder, (0, 0))
    run(package, tmp_path / "cache")
    assert time.time() - folder.stat().st_mtime < 3600


# -- whom to trust ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
@pytest.mark.parametrize("below", [False, True])
def test_a_folder_that_everyone_may_write_to_is_not_used(package, tmp_path, below):
    cache = tmp_path / "cache"
    run(package, cache)
    place = next(cache.iterdir()) if below else cache
    place.chmod(0o777)
    answer, err = run(package, cache)
    assert answer == [3.0, 2, 0, []]
    assert err.count("may be written to by everyone") == 1 and str(place) in err
    assert "Set LINNAEUS_CACHE_DIR to a folder of your own" in err


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_whose_folders_are_trusted(tmp_path, monkeypatch):
    assert compiled._doubt(tmp_path, sticky=True) is None
    monkeypatch.setattr(os, "geteuid", lambda: 54_321)
    assert compiled._doubt(Path("/"), sticky=False) is None  # root's, read-only for this user
    tmp_path.chmod(0o1777)
    if os.getuid() == 0:
        os.chown(tmp_path, 12_345, -1)
    assert compiled._doubt(tmp_path, sticky=True) == "belongs to another user"
    if os.getuid() == 0:
        os.chown(tmp_path, 54_321, -1)
        assert stat.S_ISVTX & tmp_path.stat().st_mode
        assert compiled._doubt(tmp_path, sticky=True) is None  # as /tmp
        assert compiled._doubt(tmp_path, sticky=False) == "may be written to by everyone"


# -- where ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "given", "expected"),
    [
        ("linux", {}, "home/.cache/linnaeus"),
        ("linux", {"XDG_CACHE_HOME": "{}/xdg"}, "xdg/linnaeus"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "home/.cache/linnaeus"),
        ("darwin", {"XDG_CACHE_HOME": "{}/xdg"}, "home/Library/Caches/linnaeus"),
        ("win32", {"LOCALAPPDATA": "{}/local"}, "local/linnaeus/Cache"),
        ("linux", {"LINNAEUS_CACHE_DIR": "{}/own"}, "own"),
        ("linux", {"HOME": "{}/missing"}, None),
        ("win32", {}, None),
    ],
)
def test_the_folder_of_the_user(platform, given, expected, tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    for name in ("LINNAEUS_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, value in given.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert compiled.default_root() == (None if expected is None else tmp_path / expected)


# -- what is said ---------------------------------------------------------------------------------


LISTEN = "import logging\nlogging.basicConfig(format='%(message)s')\n"
LISTEN += "logging.getLogger('linnaeus.compiled').setLevel(logging.INFO)\n"


@pytest.mark.slow
def test_the_first_call_that_compiles_says_so_once(package, tmp_path):
    _, err = run(package, tmp_path / "cache", LISTEN + USE)
    assert err.count("\n") == err.count("Compiling numerical loops") == 1
    assert "this happens once" in err
    assert run(package, tmp_path / "cache", LISTEN + USE)[1] == ""
    assert "in every run" in run(package, "/dev/null/loops", LISTEN + USE)[1]


@pytest.mark.parametrize(
    ("terminal", "arguments", "said"),
    [
        (True, ["train"], True),
        (True, ["train", "--quiet"], False),
        (True, ["train", "-q"], False),
        (True, ["train", "--json"], False),
        (False, ["train"], False),
    ],
)
def test_the_command_line_says_so_on_a_terminal(terminal, arguments, said, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    for _ in range(2):  # a second command in the same process does not say it twice
        output.tell_of_compiling(arguments)
    logging.getLogger("linnaeus.compiled").info("Compiling")
    assert capsys.readouterr().err == ("Compiling\n" if said else "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    output.tell_of_compiling([])


# -- Numba ------------------------------------------------------------------------------------


def test_a_numba_that_keeps_nothing_costs_a_warning(monkeypatch):
    monkeypatch.setattr(compiled, "_warned", False)
    with pytest.warns(UserWarning, match="does not let compiled loops be kept"):
        compiled._attach(object(), compiled._Kept("name"))


@pytest.mark.slow
def test_results_that_cannot_be_taken_apart_cost_one_warning(package, tmp_path):
    code = "from numba.core.compiler import CompileResult\ndel CompileResult._reduce\n"
    answer, err = run(package, tmp_path / "cache", code + USE)
    assert answer == [3.0, 2, 0, []]
    assert err.count("does not let compiled loops be kept") == 1


def test_files_of_loops_depend_on_nothing_that_the_digest_leaves_out():
    """They may import the standard library, NumPy and each other; what they hold is then known."""
    assert len(FAST) > 20
    for file in FAST:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module]
            else:
                continue
            for module in modules:
                known = module in ("numpy", "math", "typing", "__future__", "linnaeus.compiled")
                assert known or module.endswith("_fast"), f"{file.name} imports {module}"


def test_named_tuples_with_other_fields_are_other_signatures():
    """A loop finds a field by its place, so the same types in another order are other code."""
    from collections import namedtuple

    numbers = [numba.types.int64, numba.types.int64]
    one, other = (
        numba.types.NamedTuple(numbers, namedtuple("Pair", fields)) for fields in ("a b", "b a")
    )
    assert compiled._described(one) != compiled._described(other)
    assert compiled._described(one) == compiled._described(one)


def test_a_part_of_loops_is_not_for_python():
    def half(x):
        return x / 2

    made = compiled.part(half)
    assert (made.py_func if made is not half else made)(3.0) == 1.5
    if made is not half:
        with pytest.raises(TypeError, match="half is a part of other loops"):
            made(3.0)


def test_small_work_is_not_compiled_and_gives_the_same():
    edges = [(f"n{(3 * v) // 7}", f"n{v + 1}") for v in range(300)]
    starts = np.arange(301, dtype=np.int32)
    found = []
    for made in (None, True):  # by the interpreter, then by the compiler
        dag = Taxonomy.from_edges(edges).dag
        work = np.full(301, -1, dtype=np.int32), np.empty(301, dtype=np.int32)
        ptr, depth = np.zeros(302, dtype=np.int64), np.empty(301, dtype=np.int32)
        n_steps = closure_fast.SMALL + 1 if made else 1
        closure_fast.longest_depth(n_steps, dag.parent_ptr, dag.parents, depth)
        none = np.empty(0, dtype=np.int32)
        closure_fast.list_ancestors(n_steps, starts, dag.parent_ptr, dag.parents, *work, ptr, none)
        found.append((depth, ptr))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.slow
def test_parts_are_kept_within_loops(package, tmp_path):
    first = package / "linnaeus" / "first_fast.py"
    first.write_text(first.read_text().replace("loop", "part"))
    assert run(package, tmp_path / "cache") == ([3.0, 1, 0, BOTH[1:]], "")
    assert run(package, tmp_path / "cache") == ([3.0, 0, 1, BOTH[1:]], "")


@pytest.mark.parametrize("why", ["version", "name"])
def test_another_numba_compiles_in_its_own_way(why, monkeypatch):
    if why == "version":
        monkeypatch.setattr(compiler, "KNOWN", set())
    else:
        monkeypatch.delattr(codegen.CPUCodegen, "_pass_builder")
    assert compiler.compilers.__wrapped__() == {"loop": {}, "part": {}}
