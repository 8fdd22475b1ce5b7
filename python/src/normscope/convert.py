# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns a checkpoint of PyTorch (.pt, .pth, .bin) into a folder that Normscope imports.

    python -m normscope.convert ckpt.pt FOLDER

A pickle can hold programs. It is read by torch.load(weights_only=True), which builds tensors, numbers, texts and
containers of them and refuses anything else, so that no code of the file is ever run. PyTorch 1.13 refuses
fractions as well: use 2.0 or later for checkpoints with an optimizer.
"""

import json
import os
import pickle
import sys

import torch

from .snapshot import write_safetensors

_HOLDERS = ("model", "state_dict", "model_state_dict", "module", "params")
_ARGUMENTS = ("model_args", "config", "hyper_parameters", "args")


class CannotConvert(ValueError):
    """The file holds no weights that can be read safely; one line."""


def convert(path, folder):
    """Writes model.safetensors and, where the checkpoint or a config.json next to it states one, config.json.

    Returns the lines that say what was done. CannotConvert, OSError.
    """
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except pickle.UnpicklingError as error:
        older = " (PyTorch before 2.0 refuses fractions too)" if torch.__version__.startswith("1.") else ""
        reason = str(error).split("WeightsUnpickler error: ")[-1].splitlines()[0]
        raise CannotConvert(f"{path}: holds more than tensors and is not read{older}: {reason}") from None
    except Exception as error:  # a damaged file fails anywhere in the reader
        reason = (str(error).splitlines() or [""])[0]
        raise CannotConvert(f"{path}: is no checkpoint of PyTorch: {type(error).__name__}: {reason}") from None
    tensors, place = _weights(loaded)
    if not tensors:
        raise CannotConvert(f"{path}: holds no tensors by name, allowed: a state dict, or one under {', '.join(_HOLDERS)}")
    lines = [f"{len(tensors)} tensors" + (f" of {place}" if place else "")]
    tensors, tied = _each_once(tensors)
    os.makedirs(folder, exist_ok=True)
    write_safetensors(os.path.join(folder, "model.safetensors"), tensors, {"format": "pt"})
    config = _configuration(loaded, path)
    if config is None:
        lines.append("no configuration was found: put the model's config.json into the folder")
        return lines
    if tied:
        config.setdefault("tie_word_embeddings", True)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file, indent=2)
    return lines


def _is_state(value):
    return isinstance(value, dict) and any(torch.is_tensor(one) for one in value.values())


def _weights(loaded):
    """(tensors by name, where they were)"""
    if _is_state(loaded):
        return {name: one for name, one in loaded.items() if torch.is_tensor(one)}, ""
    for holder in _HOLDERS:
        if isinstance(loaded, dict) and _is_state(loaded.get(holder)):
            return {name: one for name, one in loaded[holder].items() if torch.is_tensor(one)}, holder
    return {}, ""


def _each_once(tensors):
    """Without the further names of shared tensors, and whether the head was one of them."""
    kept, seen, tied = {}, {}, False
    for name, tensor in tensors.items():
        place = (tensor.data_ptr(), tensor.shape, tensor.stride())
        if tensor.numel() and place in seen:
            tied = tied or "head" in name or "head" in seen[place]
            continue
        seen[place] = name
        kept[name] = tensor
    return kept, tied


def _configuration(loaded, path):
    """Sizes as the checkpoint states them (nanoGPT's model_args), else the config.json next to it."""
    for key in _ARGUMENTS:
        stated = loaded.get(key) if isinstance(loaded, dict) else None
        if isinstance(stated, dict) and ("n_layer" in stated or "hidden_size" in stated):
            return {name: value for name, value in stated.items() if isinstance(value, (int, float, bool, str))}
    beside = os.path.join(os.path.dirname(os.path.abspath(path)), "config.json")
    if os.path.exists(beside):
        with open(beside, encoding="utf-8") as file:
            return json.load(file)
    return None


def main(arguments):
    if len(arguments) != 2:
        print("usage: python -m normscope.convert CHECKPOINT FOLDER", file=sys.stderr)
        return 2
    try:
        for line in convert(*arguments):
            print(f"{arguments[1]}: {line}")
    except (CannotConvert, OSError) as error:
        print(f"normscope.convert: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
