# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the token ids of a dataset of Hugging Face as one .npy file, which data.source tokens reads.

    python -m normscope.tokens DATASET OUT.npy [--column input_ids]

DATASET is a folder that datasets' save_to_disk() wrote, or files of Arrow (.arrow) or Parquet (.parquet); they are
read by pyarrow, batch by batch. Rows are written one after another, without anything between them.
"""

import argparse
import json
import os
import sys

import numpy as np


class CannotWrite(ValueError):
    """What is no column of token ids; one line."""


def write_tokens(paths, out, column="input_ids"):
    """Writes the column of all files, in their order. Returns (rows, tokens). CannotWrite, OSError."""
    files = _files(paths)
    temporary = f"{out}.{os.getpid()}.tmp"
    rows, largest, pieces = 0, 0, temporary + ".ids"
    try:
        with open(pieces, "wb") as raw:
            for path in files:
                for array in _columns(path, column):
                    ids = _ids(array, path, column)
                    rows += len(array)
                    if len(ids):
                        if ids.min() < 0 or ids.max() > np.iinfo(np.int32).max:
                            raise CannotWrite(f"{path}: {column}: {ids.min() if ids.min() < 0 else ids.max()} is no token id")
                        largest = max(largest, int(ids.max()))
                    raw.write(ids.astype("<u4").tobytes())
        count = os.path.getsize(pieces) // 4
        if count == 0:
            raise CannotWrite(f"{files[0]}: {column}: holds no token")
        wide = np.memmap(pieces, dtype="<u4", mode="r", shape=(count,))
        target = np.lib.format.open_memmap(temporary, mode="w+", dtype="<u2" if largest < 1 << 16 else "<u4", shape=(count,))
        target[:] = wide
        target.flush()
        del wide, target
        os.replace(temporary, out)
        return rows, count
    finally:
        for path in (pieces, temporary):
            if os.path.exists(path):
                os.remove(path)


def _files(paths):
    files = []
    for path in paths:
        if not os.path.isdir(path):
            files.append(path)
            continue
        state = os.path.join(path, "state.json")
        if os.path.exists(state):  # in the order in which the dataset has them
            with open(state, encoding="utf-8") as file:
                names = [entry["filename"] for entry in json.load(file)["_data_files"]]
        else:
            names = sorted(name for name in os.listdir(path) if name.endswith((".arrow", ".parquet")))
        if not names:
            parts = ", ".join(sorted(n for n in os.listdir(path) if os.path.isdir(os.path.join(path, n))))
            raise CannotWrite(f"{path}: holds no .arrow and no .parquet file" + (f", but the folders {parts}" if parts else ""))
        files += [os.path.join(path, name) for name in names]
    return files


def _columns(path, column):
    """The column's arrays, batch by batch."""
    import pyarrow
    import pyarrow.parquet

    try:
        if path.endswith(".parquet"):
            file = pyarrow.parquet.ParquetFile(path)
            _require(column, file.schema_arrow.names, path)
            for batch in file.iter_batches(columns=[column]):
                yield batch.column(0)
            return
        with pyarrow.memory_map(path) as source:
            try:
                stream = pyarrow.ipc.open_stream(source)
            except pyarrow.ArrowInvalid:
                source.seek(0)
                opened = pyarrow.ipc.open_file(source)
                stream, schema = (opened.get_batch(i) for i in range(opened.num_record_batches)), opened.schema
            else:
                schema = stream.schema
            _require(column, schema.names, path)
            for batch in stream:
                yield batch.column(schema.get_field_index(column))
    except pyarrow.ArrowException as error:
        raise CannotWrite(f"{path}: is no file of Arrow or Parquet: {str(error).splitlines()[0]}") from None


def _require(column, names, path):
    if column not in names:
        raise CannotWrite(f"{path}: has no column {column}, allowed: {', '.join(names)}")


def _ids(array, path, column):
    import pyarrow

    flat = array
    while pyarrow.types.is_list(flat.type) or pyarrow.types.is_large_list(flat.type) or pyarrow.types.is_fixed_size_list(flat.type):
        flat = flat.flatten()
    if not pyarrow.types.is_integer(flat.type):
        raise CannotWrite(f"{path}: {column}: holds {array.type}, allowed: whole numbers, or lists of them")
    if flat.null_count:
        raise CannotWrite(f"{path}: {column}: has entries that are missing")
    return flat.to_numpy(zero_copy_only=False)


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m normscope.tokens", description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="+", help="a folder of save_to_disk(), .arrow or .parquet files")
    parser.add_argument("out", help="the .npy file to write")
    parser.add_argument("--column", default="input_ids")
    options = parser.parse_args(arguments)
    try:
        rows, count = write_tokens(options.dataset, options.out, options.column)
    except ImportError:
        print("normscope.tokens: pyarrow is not installed (pip install pyarrow)", file=sys.stderr)
        return 2
    except (CannotWrite, OSError) as error:
        print(f"normscope.tokens: {error}", file=sys.stderr)
        return 2
    print(f"{options.out}: {count} tokens of {rows} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
