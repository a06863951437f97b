"""Folders of studies, cut, flipped, emptied or forged: they resume to the same bits, or are refused."""

import json
import random
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
import zarr

from cases.errors import refusal
from cases.studies import SWEEP
from gough.base import sources
from gough.errors import FileError
from gough.studies.plan import make_plan
from gough.studies.run import run
from gough.studies.store import Store, read_study

CHUNKS = ("inputs/0.0", "values/0.0", "values/1.0", "failed/1", "seal/0", "seal/2")


@pytest.fixture(scope="module")
def plan():
    return make_plan(SWEEP.format(points=150))


@pytest.fixture(scope="module")
def whole(plan, tmp_path_factory):
    return run(plan, tmp_path_factory.mktemp("whole") / "s.zarr").path


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def spoiled(kind, data, rng):
    if kind == "flipped":
        place = rng.randrange(len(data))
        return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]
    return {"emptied": b"", "cut": data[:10], "longer": data + b"\0", "junk": b"x" * 5000}[kind]


@pytest.mark.second_tier_from(2)
@pytest.mark.parametrize("kind", ["emptied", "cut", "flipped", "longer", "junk", "gone"])
def test_a_torn_study_resumes_to_the_same_bits(plan, whole, tmp_path, kind):
    rng = random.Random(kind)
    for number, chunk in enumerate(CHUNKS):
        torn = tmp_path / f"{number}.zarr"
        shutil.copytree(whole, torn)
        if kind == "gone":
            (torn / chunk).unlink()
        else:
            (torn / chunk).write_bytes(spoiled(kind, (torn / chunk).read_bytes(), rng))
        assert run(plan, torn).finished.all(), chunk
        assert content(torn) == content(whole), chunk


@pytest.mark.second_tier
@pytest.mark.parametrize("chunk", ["seal/0", "failed/1"])
def test_bits_that_no_reader_looks_at_are_put_right(plan, whole, tmp_path, chunk):
    """Each bit of a chunk in turn: padding of its compression changes no number."""
    torn = tmp_path / "s.zarr"
    shutil.copytree(whole, torn)
    sound, store = (torn / chunk).read_bytes(), Store(torn, plan)
    still = 0
    for bit in range(8 * len(sound)):
        data = bytearray(sound)
        data[bit // 8] ^= 1 << bit % 8
        (torn / chunk).write_bytes(data)
        vars(store).pop("finished", None)
        if store.finished.all():
            still += 1
            assert (torn / chunk).read_bytes() == sound
    assert still


def test_parts_in_other_places_or_of_another_study_are_done_again(plan, whole, tmp_path):
    """Each is whole and sealed; points of the other study are the same, what it measures is not."""
    other = run(
        make_plan(SWEEP.format(points=150).replace("= false", "= true")), tmp_path / "o.zarr"
    ).path
    for number, (source, there) in enumerate([(whole, "1"), (other, "0")]):
        torn = tmp_path / f"{number}.zarr"
        shutil.copytree(whole, torn)
        for name in ("inputs/0.0", "values/0.0", "failed/0", "seal/0"):
            shutil.copy(source / name.replace("0", there, 1), torn / name)
        with refusal(FileError, "part 0"):
            read_study(torn)
        assert content(run(plan, torn).path) == content(whole)


@pytest.mark.parametrize("half", [False, True])
def test_a_folder_whose_parts_lie_elsewhere_is_refused(plan, whole, tmp_path, half):
    shutil.copytree(whole, tmp_path / "s.zarr")
    (tmp_path / "s.zarr" / "values").rename(tmp_path / "precious")
    (tmp_path / "s.zarr" / "values").symlink_to(tmp_path / "precious")
    (tmp_path / "precious" / "0.0").write_bytes(b"precious")
    if half:
        (tmp_path / "s.zarr" / ".zattrs").unlink()
    for asked in (lambda: run(plan, tmp_path / "s.zarr"), lambda: read_study(tmp_path / "s.zarr")):
        with refusal(FileError, "s.zarr"):
            asked()
    assert (tmp_path / "precious" / "0.0").read_bytes() == b"precious"


def test_a_clock_that_jumps_changes_nothing(plan, whole, tmp_path, monkeypatch):
    true, rng = time.time, random.Random(1)
    monkeypatch.setattr("time.time", lambda: true() + rng.choice((-1e9, 0, 1e9)))
    said = []
    run(plan, tmp_path / "s.zarr", progress=lambda *one: said.append(one))
    assert content(tmp_path / "s.zarr") == content(whole)
    assert said[-1][:2] == (plan.points, plan.points)


def test_results_of_a_torn_study_are_not_read(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "s.zarr")
    (tmp_path / "s.zarr" / "values" / "1.0").write_bytes(b"")
    with refusal(FileError, "part 1"):
        read_study(tmp_path / "s.zarr")
    (tmp_path / "s.zarr" / "seal" / "1").unlink()
    assert 0 < read_study(tmp_path / "s.zarr").attrs["finished"] < 1


def metadata_files(folder):
    return [name for name in content(folder) if name.rpartition("/")[2].startswith(".z")]


def test_metadata_that_are_not_ours_are_refused(plan, whole, tmp_path):
    assert len(metadata_files(whole)) == 14
    for number, name in enumerate(metadata_files(whole)):
        for kind, text in enumerate(("", "{", "[" * 100_000, "[]", '{"zarr_format": 3}', "\xff")):
            torn = tmp_path / f"{number}-{kind}.zarr"
            shutil.copytree(whole, torn)
            (torn / name).write_text(text, "latin-1")
            with pytest.raises(FileError, match=r"damaged|not the folder"):
                Store(torn, plan)
            if not name.startswith((".zgroup", "input/", "quantity/")):  # which other readers need
                with pytest.raises(FileError, match=r"damaged|not the folder"):
                    read_study(torn)


@pytest.mark.parametrize("old", ["150", "50", "160", '"<f8"', '"zlib"', "2"])
@pytest.mark.parametrize("new", ["0", "-1", "1e400", "9" * 30, "null", "[]", "{}", '"x"', "true"])
def test_shapes_that_are_not_ours_are_refused(whole, tmp_path, old, new):
    shutil.copytree(whole, tmp_path / "s.zarr")
    for name in ("inputs", "failed", "values", "seal"):
        file = tmp_path / "s.zarr" / name / ".zarray"
        file.write_text(file.read_text().replace(old, new))
    with pytest.raises(FileError, match=r"damaged|not the folder"):
        read_study(tmp_path / "s.zarr")


def emptied(whole, folder, points, part):
    """A study of so many points of which no part is there."""
    shutil.copytree(whole, folder, ignore=shutil.ignore_patterns("[0-9]*"))
    for name in ("inputs", "failed", "values", "seal"):
        file = folder / name / ".zarray"
        about = json.loads(file.read_text())
        about["shape"][0] = points if name != "seal" else -(-points // part)
        about["chunks"][0] = part if name != "seal" else 1
        file.write_text(json.dumps(about))
    return folder


@pytest.mark.parametrize(("points", "part"), [(10**9, 1), (10**7 + 1, 50), (10**7, 10**6)])
def test_a_folder_of_too_many_points_is_refused(whole, tmp_path, points, part):
    with refusal(FileError, "s.zarr", 10000000, 100000):
        read_study(emptied(whole, tmp_path / "s.zarr", points, part))


def test_parts_that_are_not_there_take_no_time(whole, tmp_path):
    folder, begun = emptied(whole, tmp_path / "s.zarr", 10**6, 1), time.process_time()
    dataset = read_study(folder)
    assert time.process_time() - begun < 5
    assert dataset.attrs["finished"] == 0
    assert np.isnan(dataset[next(iter(dataset))].values).all()


def test_pickles_in_a_folder_are_never_read(plan, whole, tmp_path):
    """Object arrays with a pickle filter: numcodecs before 0.16.6 runs what they hold."""
    marker = tmp_path / "marker"
    payload = f"cposix\nsystem\n(S'touch {marker}'\ntR.".encode()
    forged = tmp_path / "s.zarr"
    shutil.copytree(whole, forged)
    metadata = json.loads((forged / "failed" / ".zarray").read_text())
    metadata |= {
        "dtype": "|O",
        "compressor": None,
        "filters": [{"id": "vlen-utf8"}, {"id": "pickle", "protocol": 2}],
    }
    (forged / "failed" / ".zarray").write_text(json.dumps(metadata))
    for part in range(plan.parts):
        (forged / "failed" / str(part)).write_bytes(payload)
    for reading in (lambda: run(plan, forged), lambda: read_study(forged)):
        with refusal(FileError, "damaged"):
            reading()
    assert not marker.exists()


def test_a_folder_that_was_half_made_is_completed(plan, whole, tmp_path):
    shutil.copytree(whole, tmp_path / "s.zarr")
    for name in (".zattrs", "failed/.zarray", "values/0.0"):
        (tmp_path / "s.zarr" / name).unlink()
    assert content(run(plan, tmp_path / "s.zarr").path) == content(whole)


def test_a_second_study_on_a_folder_is_refused(plan, whole, tmp_path):
    store = Store(whole, plan)
    with store.alone(), refusal(FileError, "another", "process"):
        run(plan, whole)
    run(plan, whole)
    file = tmp_path / "s.toml"
    file.write_text(SWEEP.format(points=5000).replace("part = 50", "part = 2"))
    words = [sys.executable, "-m", "gough", "study", str(file)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as first:
        end = time.monotonic() + 120
        while not list(tmp_path.glob("s.zarr/seal/[0-9]*")):
            assert time.monotonic() < end
            assert first.poll() is None
            time.sleep(0.05)
        second = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        assert first.poll() is None
        first.kill()
    assert second.returncode == 2
    assert "another process writes this study" in second.stderr


def test_other_code_does_not_resume(plan, whole, monkeypatch):
    before = plan.digest
    monkeypatch.setattr("gough.studies.plan.package_digest", lambda: b"an edited equation")
    assert plan.digest != before
    with refusal(FileError, "another", "version"):
        run(plan, whole)


def test_the_digest_is_of_contents(tmp_path):
    (tmp_path / "below").mkdir()
    for name in ("a.py", "below/b.py"):
        (tmp_path / name).write_text("x = 1\n")
    seen = {sources.content_digest(str(tmp_path))}
    for name in ("a.py", "below/b.py"):
        (tmp_path / name).write_text("x = 2\n")
        sources.content_digest.cache_clear()
        seen.add(sources.content_digest(str(tmp_path)))
    assert len(seen) == 3


def test_zarr_reads_what_is_written(plan, whole):
    group = zarr.open_group(str(whole), mode="r", zarr_format=2)
    assert group["quantity"][:].tolist() == ["peak_force", "stroke", "cost"]
    assert np.isfinite(group["values"][:]).any()
