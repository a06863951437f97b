"""Kernels on disk: whatever happens to the cache, answers are right."""

import gc
import os
import random
import weakref
from collections import deque

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import gough
from gough.engine.run import cache as disk
from gough.engine.run import compiled, identity
from gough.mechanics import programs
from gough.model.execution import fields_of, numpy_executor, trace
from gough.show import installation as doctor

FIELDS = {
    "position": np.array([[0.02, -0.01, 0.81], [0.0, 0.0, 0.8], [0.05, 0.03, 0.78]]),
    "rotation": np.eye(3)[np.newaxis],
    "velocity": np.array([[0.1, 0.2, 0.3]]),
    "angular_velocity": np.array([[0.3, 0.2, -0.1]]),
    "acceleration": np.zeros((1, 3)),
    "angular_acceleration": np.zeros((1, 3)),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder, and no kernels in memory."""
    monkeypatch.setenv("GOUGH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "_kernels", {})
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def robot():
    return gough.load("kim-ryu-2002")


@pytest.fixture(scope="module")
def right(robot):
    """Leg coordinates by NumPy."""
    return numpy_executor(robot.mechanism)(programs.jacobian, 3, FIELDS)["jacobian"]


def jacobian(robot):
    """The Jacobian through the cache, as a new process would compute it, and where the kernel was."""
    compiled._kernels.clear()
    mechanism = robot.mechanism
    run = compiled.CompiledExecutor(mechanism, fields_of(mechanism))
    bound = run.bind(programs.jacobian, {})
    return bound.run(3, FIELDS)["jacobian"], bound.kernel.from_disk


def assert_right(found, right):
    np.testing.assert_allclose(found, right, rtol=0, atol=1e-13)


def kernels(folder):
    return sorted(folder.glob("*.kernel"))


def test_a_kernel_is_made_once_and_then_comes_from_disk(folder, robot, right):
    first, from_disk = jacobian(robot)
    assert_right(first, right)
    assert not from_disk
    (file,) = kernels(folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted([file.name, disk.SECRET])
    stamp = file.stat().st_mtime_ns
    second, from_disk = jacobian(robot)
    assert from_disk
    assert_array_equal(second.view(np.int64), first.view(np.int64))
    assert file.stat().st_mtime_ns == stamp


def damage_at(share):
    """Flip one bit of a file, so far into it."""

    def damage(data):
        place = int(share * (len(data) - 1))
        return data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]

    return damage


def resealed(change):
    """A file whose hash fits, but whose contents are not a kernel's."""

    def damage(data):
        content = change(data[len(disk.MAGIC) + 32 :])
        (name,) = (path.name for path in kernels(disk.folder()))
        return disk.seal(name, content, (disk.folder() / disk.SECRET).read_bytes()) + content

    return damage


def without_description(content):
    size = int.from_bytes(content[:8], "little")
    return (2).to_bytes(8, "little") + b"{}" + content[8 + size :]


DAMAGES = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "only the magic": lambda data: disk.MAGIC,
    "no contents": lambda data: data[: len(disk.MAGIC) + 32],
    "half": lambda data: data[: len(data) // 2],
    "all but one byte": lambda data: data[:-1],
    "one byte more": lambda data: data + b"\0",
    "wrong magic": lambda data: b"gough-kernel-0\n" + data[len(disk.MAGIC) :],
    "garbage": lambda data: random.Random(0).randbytes(len(data)),
    "zeros": lambda data: bytes(len(data)),
    "magic and garbage": lambda data: disk.MAGIC + random.Random(1).randbytes(len(data)),
    "a text": lambda data: b"# not a kernel\n" * 1000,
    "bit flipped in the magic": damage_at(0.0),
    "bit flipped in the hash": damage_at(30 / 20000),
    "bit flipped in the description": damage_at(0.2),
    "bit flipped in the code": damage_at(0.9),
    "bit flipped in the last byte": damage_at(1.0),
    "sealed nothing": resealed(lambda content: b""),
    "sealed garbage": resealed(lambda content: random.Random(2).randbytes(500)),
    "sealed, no description": resealed(without_description),
    "sealed, description too long": resealed(lambda content: b"\xff" * 8 + content[8:]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_made_anew(folder, robot, right, damage):
    folder.mkdir()
    sound = _sound(robot)
    path = folder / sound[0]
    (folder / disk.SECRET).write_bytes(sound[2])
    (folder / disk.SECRET).chmod(0o600)
    path.write_bytes(sound[1])
    assert jacobian(robot)[1]
    path.write_bytes(DAMAGES[damage](sound[1]))
    found, from_disk = jacobian(robot)
    assert_right(found, right)
    assert not from_disk
    assert path.read_bytes()[: len(disk.MAGIC)] == disk.MAGIC
    again, from_disk = jacobian(robot)
    assert from_disk
    assert_array_equal(again, found)


_kept = {}


def _sound(robot):
    """Name and contents of the sound file, and the secret of its hash."""
    if not _kept:
        jacobian(robot)
        (path,) = kernels(disk.folder())
        secret = disk.folder() / disk.SECRET
        _kept["file"] = (path.name, path.read_bytes(), secret.read_bytes())
        secret.unlink()
        path.unlink()
    return _kept["file"]


def test_a_kernel_under_the_name_of_another_is_not_loaded(folder, robot):
    """As a tool that mixes up files may leave it: whole, and sealed with the folder's own secret."""
    jacobian(robot)
    (file,) = kernels(folder)
    whole = file.read_bytes()
    program = trace(programs.inverse_dynamics, robot.mechanism, {"wrench": (6,)})
    disk.load_or_make(("a",), lambda: program)
    (other,) = {*kernels(folder)} - {file}
    file.write_bytes(other.read_bytes())
    assert not jacobian(robot)[1]
    assert file.read_bytes() == whole


def test_a_folder_that_is_named_from_where_a_command_runs_is_no_cache(robot, tmp_path, monkeypatch):
    """Whoever sends an archive chooses what lies there, secret and kernels, once it is unpacked."""
    jacobian(robot)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOUGH_CACHE", "cache")
    assert not jacobian(robot)[1]
    assert not [*tmp_path.iterdir()]
    monkeypatch.setattr(doctor, "CHECKED", ())
    (said,) = [one for one in doctor.report() if one.what == "kernel cache"]
    assert not said.ok
    assert "not used: its name does not begin at the root" in said.finding


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
def test_a_signal_while_a_file_is_made_leaves_nothing(folder, monkeypatch):
    true = os.open

    def struck(path, flags, *rest, **options):
        handle = true(path, flags, *rest, **options)
        if flags & os.O_CREAT:
            os.close(handle)
            raise KeyboardInterrupt
        return handle

    with disk.private(folder) as place:
        monkeypatch.setattr(os, "open", struck)
        with pytest.raises(KeyboardInterrupt):
            place.write("a", b"mine")
    assert not [*folder.iterdir()]


def test_a_folder_in_place_of_a_file(folder, robot, right):
    folder.mkdir()
    name, *_ = _sound(robot)
    (folder / name / "more").mkdir(parents=True)
    for _ in range(2):
        found, from_disk = jacobian(robot)
        assert_right(found, right)
        assert not from_disk
    assert {path.name for path in folder.iterdir()} == {name, disk.SECRET}  # nothing else is left


@pytest.mark.parametrize("place", ["file/below", "/dev/null/cache", "/proc/gough"])
def test_a_folder_that_cannot_be_made(tmp_path, monkeypatch, robot, right, place):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GOUGH_CACHE", str(tmp_path / place))
    found, from_disk = jacobian(robot)
    assert_right(found, right)
    assert not from_disk


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_a_folder_without_write_permission(folder, robot, right):
    folder.mkdir()
    folder.chmod(0o500)
    try:
        found, _ = jacobian(robot)
        assert_right(found, right)
        assert os.geteuid() == 0 or not list(folder.iterdir())  # root may write anywhere
    finally:
        folder.chmod(0o700)


def test_a_full_disk(folder, robot, right, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.os, "replace", full)
    found, from_disk = jacobian(robot)
    assert_right(found, right)
    assert not from_disk
    assert not kernels(folder)
    assert not list(folder.glob(".writing-*"))


def test_without_a_home_folder(monkeypatch, robot, right):
    """A user number without an entry and without HOME, as some containers run."""
    for name in ("GOUGH_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert_right(jacobian(robot)[0], right)


def test_doctor_counts_kernels_and_damaged_ones(folder, robot, monkeypatch):
    monkeypatch.setattr(doctor, "CHECKED", ())

    def finding():
        (found,) = [one for one in doctor.report() if one.what == "kernel cache"]
        return found

    assert "0 kernels" in finding().finding
    assert not folder.exists()  # looking changes nothing
    jacobian(robot)
    found = finding()
    assert found.ok
    assert str(folder) in found.finding
    assert "1 kernels" in found.finding
    assert found.advice == ""
    (folder / "other.kernel").write_bytes(b"garbage")
    (folder / "another.kernel").mkdir()
    found = finding()
    assert found.ok
    assert "3 kernels" in found.finding
    assert "2 damaged" in found.finding
    assert "other.kernel" in found.advice
    monkeypatch.setenv("GOUGH_CACHE", "/dev/null/cache")
    found = finding()
    assert not found.ok
    assert "not writable: Not a directory" in found.finding
    assert "GOUGH_CACHE" in found.advice


def test_every_structure_program_and_version_has_its_own_kernel(folder, robot, monkeypatch):
    machine = robot.mechanism
    keys = set()

    def note(key, make, *kind):
        keys.add(disk._digest((key, *kind)))
        raise StopIteration

    monkeypatch.setattr(disk, "load_or_make", note)

    def ask(one, function=programs.inverse_dynamics, **inputs):
        compiled._kernels.clear()
        before = len(keys)
        run = compiled.CompiledExecutor(one, fields_of(one))
        with pytest.raises(StopIteration):
            run.bind(function, inputs or {"wrench": (6,)})
        return len(keys) - before

    assert ask(machine) == 1
    assert ask(machine) == 0
    assert ask(robot.edited({"platform.mass": 20.0}).mechanism) == 0  # numbers are inputs
    assert ask(robot.edited({"platform.mass": 0.0}).mechanism) == 1  # zeros are structure
    assert ask(robot.edited({"legs.branch": "plus"}).mechanism) == 0
    assert ask(gough.load("sinatra-xi-staicu-2009").mechanism) == 1
    assert ask(machine, programs.direct_dynamics, forces=(6,), wrench=(6,)) == 1
    assert ask(machine, wrench=(6,), preload=(6,)) == 1
    assert ask(machine, wrench=(6,), loads=(3, 6)) == 1
    monkeypatch.setattr(disk, "VERSION", "0.0.0")
    assert ask(machine) == 1
    monkeypatch.setattr(identity, "content_digest", lambda *_: b"other equations")
    assert ask(machine) == 1
    monkeypatch.setattr(disk, "lanes", lambda: 2)
    assert ask(machine) == 1
    monkeypatch.setattr(disk.llvm, "get_host_cpu_name", lambda: "other")
    assert ask(machine) == 1


def test_what_is_stored_is_what_was_made(folder, robot):
    program = trace(programs.inverse_dynamics, robot.mechanism, {"wrench": (6,)})
    made = disk.load_or_make(("a",), lambda: program)
    stored = disk.load_or_make(("a",), lambda: pytest.fail("made twice"))
    assert (made.from_disk, stored.from_disk) == (False, True)
    assert stored.prologue == made.prologue == program.prologue
    assert stored.hoisted == made.hoisted == program.hoisted
    assert list(stored.field_shapes.items()) == list(program.fields.items())
    assert {name: one.shape for name, one in program.outputs.items()} == stored.outputs
    assert list(stored.outputs) == list(program.outputs)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
def test_a_folder_that_others_can_write_to_is_not_used(folder, robot, right):
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    assert_right(jacobian(robot)[0], right)
    assert not list(folder.glob("*.kernel"))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
def test_a_kernel_from_elsewhere_is_not_loaded(folder, robot, right, tmp_path):
    """It has the right name and is sound, but another folder's secret sealed it."""
    jacobian(robot)
    (mine,) = kernels(folder)
    made = mine.read_bytes()
    secret = folder / disk.SECRET
    assert secret.stat().st_mode & 0o777 == 0o600
    own = secret.read_bytes()
    secret.write_bytes(bytes(32))
    assert not jacobian(robot)[1]
    secret.write_bytes(own)
    mine.write_bytes(made)
    assert jacobian(robot)[1]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
@pytest.mark.parametrize("spoil", ["open to others", "empty", "too long"])
def test_a_secret_that_is_none_is_made_anew(folder, robot, right, spoil):
    jacobian(robot)
    secret = folder / disk.SECRET
    before = secret.read_bytes()
    if spoil == "open to others":
        secret.chmod(0o644)
    else:
        secret.write_bytes(b"" if spoil == "empty" else bytes(40))
    found, from_disk = jacobian(robot)
    assert_right(found, right)
    assert not from_disk
    assert secret.read_bytes() != before
    assert secret.stat().st_mode & 0o777 == 0o600
    assert jacobian(robot)[1]


def test_the_longest_unused_kernels_go_first(folder, monkeypatch):
    folder.mkdir(mode=0o700, exist_ok=True)
    for i in range(10):
        file = folder / f"{i}.kernel"
        file.write_bytes(bytes(1000))
        os.utime(file, (1000 + i, 1000 + i))
    stale, fresh, other = folder / ".writing-old", folder / ".writing-new", folder / "notes.txt"
    for file in (stale, fresh, other):
        file.touch()
    for file in (stale, other):
        os.utime(file, (1000, 1000))
    monkeypatch.setattr(disk, "MOST_BYTES", 5500)
    with disk.private(folder) as place:
        disk._prune(place)
    assert sorted(file.name for file in folder.glob("*.kernel")) == [
        f"{i}.kernel" for i in range(5, 10)
    ]
    assert not stale.exists()
    assert fresh.exists()
    assert other.exists()


def test_a_kernel_in_use_counts_as_new_and_one_that_is_gone_is_made_again(folder, robot, right):
    jacobian(robot)
    (file,) = kernels(folder)
    os.utime(file, (1000, 1000))
    assert jacobian(robot)[1]
    assert file.stat().st_mtime > 1e6
    file.unlink()
    again, from_disk = jacobian(robot)
    assert not from_disk
    assert_right(again, right)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
@pytest.mark.parametrize("spoil", ["of another user", "open to others", "a link", "a pipe"])
def test_a_file_that_another_user_may_have_left_is_not_loaded(folder, robot, right, spoil):
    """Its folder was open once and is private now; the secret is sound and so is the file."""
    jacobian(robot)
    (file,) = kernels(folder)
    assert jacobian(robot)[1]
    if spoil == "of another user":
        if os.geteuid() != 0:
            pytest.skip("only root gives files away")
        os.chown(file, 12345, 12345)
    elif spoil == "open to others":
        file.chmod(0o666)
    elif spoil == "a link":
        file.rename(folder.parent / "elsewhere")
        file.symlink_to(folder.parent / "elsewhere")
    else:
        file.unlink()
        os.mkfifo(file)
    found, from_disk = jacobian(robot)
    assert_right(found, right)
    assert not from_disk
    assert jacobian(robot)[1]  # made anew in its place


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
@pytest.mark.parametrize(
    "spoil", ["of another user", "of who started a setuid program", "open to others", "a link"]
)
def test_a_doubtful_folder_is_no_cache_and_doctor_says_so(
    folder, robot, right, monkeypatch, tmp_path, spoil
):
    jacobian(robot)
    if spoil == "of another user":
        if os.geteuid() != 0:
            pytest.skip("only root gives files away")
        os.chown(folder, 12345, 12345)
    elif spoil == "of who started a setuid program":
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    elif spoil == "open to others":
        folder.chmod(0o770)
    else:
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere")
    found, from_disk = jacobian(robot)
    assert_right(found, right)
    assert not from_disk
    monkeypatch.setattr(doctor, "CHECKED", ())
    (said,) = [one for one in doctor.report() if one.what == "kernel cache"]
    assert not said.ok
    assert "not used: " in said.finding
    assert "GOUGH_CACHE" in said.advice


def test_a_folder_is_made_before_it_is_trusted(tmp_path):
    """Whoever makes it first in a place that all may write to, it is looked at when it is there."""
    place = tmp_path / "cache"
    with disk.private(place) as made:
        assert place.stat().st_mode & 0o777 == 0o700
        made.write("a", b"mine")
        place.rename(tmp_path / "away")  # somebody puts another folder in its place
        place.mkdir()
        (place / "a").write_bytes(b"not mine")
        assert made.read("a", 100) == b"mine"


def test_kernels_are_freed_with_their_robots(folder, monkeypatch):
    monkeypatch.setattr(compiled, "_kernels", weakref.WeakValueDictionary())
    monkeypatch.setattr(compiled, "_recent", deque(maxlen=2))
    robot = gough.load("kim-ryu-2002").edited({"platform.mass": 31.0})
    robot.jacobian(robot.home)
    kernel = weakref.ref(next(iter(compiled._kernels.values())).engine)
    assert kernel() is not None
    del robot
    for _ in range(2):  # the last ones are kept: most often they are wanted again
        assert kernel() is not None
        compiled._recent.append(None)
    gc.collect()
    assert kernel() is None
