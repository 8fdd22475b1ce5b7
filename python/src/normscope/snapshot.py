# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a model's weights as Normscope opens them: safetensors and a configuration."""

import json
import os

import torch

_DTYPES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
           torch.int64: "I64", torch.int32: "I32", torch.uint8: "U8", torch.bool: "BOOL"}


def write_safetensors(path, tensors, metadata=None):
    """Tensors by name as a safetensors file: length of the header, JSON, bytes. Appears at `path` at once."""
    header, pieces, at = {}, [], 0
    if metadata:
        header["__metadata__"] = metadata
    for name, tensor in tensors.items():
        if tensor.dtype not in _DTYPES:
            raise ValueError(f"{name}: the type {tensor.dtype} cannot be written")
        data = tensor.detach().cpu().contiguous()
        piece = data.reshape(-1).view(torch.uint8).numpy().tobytes() if data.numel() else b""
        header[name] = {"dtype": _DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + len(piece)]}
        pieces.append(piece)
        at += len(piece)
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def write_snapshot(model, folder):
    """The folder with model.safetensors, in the model's own names (of tied tensors one), and config.json.

    ValueError where the model has no configuration that Normscope reads.
    """
    config, of_timm = getattr(model, "config", None), getattr(model, "pretrained_cfg", None) or {}
    if hasattr(config, "to_dict"):
        described = config.to_dict()
    elif hasattr(model, "patch_embed") and of_timm.get("architecture"):
        described = {"architecture": of_timm["architecture"], "global_pool": getattr(model, "global_pool", "token"),
                     "model_args": {"num_heads": model.blocks[0].attn.num_heads}}
    elif config is not None and hasattr(config, "n_layer"):
        described = {key: value for key, value in vars(config).items() if isinstance(value, (int, float, bool))}
    else:
        raise ValueError(f"snapshot: {type(model).__name__} has no configuration that Normscope reads; save it with "
                         "your own code, in a form of docs/guide/data.md")
    tensors, seen, tied = {}, set(), False
    for name, tensor in model.state_dict().items():
        place = (tensor.data_ptr(), tensor.shape, tensor.stride())
        if tensor.numel() and place in seen:
            tied = True
            continue
        seen.add(place)
        tensors[name] = tensor
    if not of_timm:
        described.setdefault("tie_word_embeddings", tied)
    os.makedirs(folder, exist_ok=True)
    write_safetensors(os.path.join(folder, "model.safetensors"), tensors, {"format": "pt"})
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(described, file, indent=2)
    return folder
