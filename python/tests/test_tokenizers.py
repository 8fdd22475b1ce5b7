# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of tokens against the tokenizers library that wrote the tokenizer.json, where it is installed."""

import os
import re
import subprocess

import numpy as np
import pytest

import normscope

tokenizers = pytest.importorskip("tokenizers")
CLI = os.environ.get("NORMSCOPE_CLI")
pytestmark = pytest.mark.skipif(not CLI, reason="NORMSCOPE_CLI, the path of normscope-cli, is not set")

TEXT = ["Naïve café — the quick brown fox.\n\tjumps over 12 lazy dogs 🙂\n", "the the quick quick brown\n" * 9]
ESCAPES = {b"\\n": b"\n", b"\\t": b"\t", b"\\r": b"\r"}


def byte_level():
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer, tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<|end|>"], initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()), ""


def unigram():
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
    return tokenizer, tokenizers.trainers.UnigramTrainer(vocab_size=90, special_tokens=["<unk>"], unk_token="<unk>"), " "


def written(word):
    """The bytes of a text that can be seen: the inverse of what was written out."""
    return re.sub(rb"\\(?:[ntr]|x[0-9a-f]{2})", lambda m: ESCAPES.get(m[0]) or bytes([int(m[0][2:], 16)]), word.encode())


@pytest.mark.parametrize("kind", [byte_level, unigram])
def test_rows_of_attention_have_the_texts_of_their_tokens(tmp_path, kind):
    tokenizer, trainer, before = kind()
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    ids = np.asarray([i for text in TEXT * 20 for i in tokenizer.encode(text).ids], dtype=np.uint16)
    ids.tofile(tmp_path / "tokens.bin")
    settings = {"data.source": "tokens", "data.path": tmp_path / "tokens.bin", "data.tokenizer": tmp_path / "tokenizer.json",
                "stack.vocab": tokenizer.get_vocab_size(), "stack.depth": 1, "stack.d_model": 8, "stack.heads": 2,
                "stack.context": 16, "batch": 2}
    subprocess.run([CLI, "train", "pre-ln", "--steps", "1", "--out", tmp_path / "run.h5",
                    *(word for key, value in settings.items() for word in ("--set", f"{key}={value}"))],
                   check=True, capture_output=True)
    sequences = normscope.open(tmp_path / "run.h5")["runs"]["a"].probes.theta.labels["tokens"]
    assert len(sequences) >= 2
    whole = "".join(before + text for text in TEXT * 20).encode()
    for sequence in sequences:
        words = sequence.split("\x1f")
        assert len(words) == 16
        assert b"".join(written(word) for word in words) in whole, words
