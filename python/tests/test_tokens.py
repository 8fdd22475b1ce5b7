# SPDX-License-Identifier: GPL-3.0-or-later
"""Token ids out of datasets (needs pyarrow)."""

import subprocess
import sys

import numpy as np
import pytest

pyarrow = pytest.importorskip("pyarrow")

from normscope.tokens import CannotWrite, write_tokens  # noqa: E402

ROWS = [[5, 6, 7], [], [8], list(range(300))]
FLAT = [token for row in ROWS for token in row]


def stream(path, table):
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def file(path, table):
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


def parquet(path, table):
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, path)


@pytest.mark.parametrize("write, ending", [(stream, "arrow"), (file, "arrow"), (parquet, "parquet")])
@pytest.mark.parametrize("kind", [pyarrow.list_(pyarrow.int32()), pyarrow.large_list(pyarrow.int64())])
def test_rows_one_after_another(tmp_path, write, ending, kind):
    table = pyarrow.table({"text": ["a"] * 4, "input_ids": pyarrow.array(ROWS, kind)})
    write(tmp_path / f"a.{ending}", table)
    assert write_tokens([str(tmp_path / f"a.{ending}")], str(tmp_path / "out.npy")) == (4, len(FLAT))
    ids = np.load(tmp_path / "out.npy")
    assert ids.dtype == np.dtype("<u2") and ids.tolist() == FLAT
    # A slice of a column begins inside its buffers.
    write(tmp_path / f"b.{ending}", table.slice(2))
    write_tokens([str(tmp_path / f"b.{ending}"), str(tmp_path / f"a.{ending}")], str(tmp_path / "out.npy"))
    assert np.load(tmp_path / "out.npy").tolist() == FLAT[3:] + FLAT
    assert sorted(p.suffix for p in tmp_path.iterdir()) == sorted([f".{ending}"] * 2 + [".npy"])


def test_wide_ids_and_another_column(tmp_path):
    stream(tmp_path / "a.arrow", pyarrow.table({"ids": pyarrow.array([1, 70000], pyarrow.uint32())}))
    done = subprocess.run([sys.executable, "-m", "normscope.tokens", tmp_path / "a.arrow", tmp_path / "out.npy", "--column", "ids"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and "2 tokens of 2 rows" in done.stdout, done.stderr
    assert np.load(tmp_path / "out.npy").dtype == np.dtype("<u4")


def test_a_saved_dataset(tmp_path):
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_dict({"input_ids": ROWS}).save_to_disk(str(tmp_path / "data"), num_shards=2)
    write_tokens([str(tmp_path / "data")], str(tmp_path / "out.npy"))
    assert np.load(tmp_path / "out.npy").tolist() == FLAT


@pytest.mark.parametrize("table, line", [
    ({"text": ["a"]}, "has no column input_ids, allowed: text"),
    ({"input_ids": ["a"]}, "holds string"),
    ({"input_ids": [[1.5]]}, "holds list"),
    ({"input_ids": [[1, None]]}, "missing"),
    ({"input_ids": [[1, -2]]}, "-2 is no token id"),
    ({"input_ids": pyarrow.array([[]], pyarrow.list_(pyarrow.int32()))}, "holds no token"),
])
def test_what_is_no_column_of_tokens_gets_one_line(tmp_path, table, line):
    stream(tmp_path / "a.arrow", pyarrow.table(table))
    with pytest.raises(CannotWrite) as caught:
        write_tokens([str(tmp_path / "a.arrow")], str(tmp_path / "out.npy"))
    assert line in str(caught.value) and "\n" not in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["a.arrow"]


def test_other_files_get_one_line(tmp_path):
    for name, content in (("a.arrow", b"no arrow at all, but long enough to be read"), ("a.parquet", b"PAR1 and nothing"), ("b.arrow", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises((CannotWrite, OSError)) as caught:
            write_tokens([str(tmp_path / name)], str(tmp_path / "out.npy"))
        assert "\n" not in str(caught.value)
    (tmp_path / "parts" / "train").mkdir(parents=True)
    with pytest.raises(CannotWrite, match="the folders train"):
        write_tokens([str(tmp_path / "parts")], str(tmp_path / "out.npy"))
