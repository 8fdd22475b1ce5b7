# SPDX-License-Identifier: GPL-3.0-or-later
"""Models and trainers of other libraries, where they are installed."""

import contextlib
import os
import subprocess

import h5py
import numpy as np
import pytest
import torch

import normscope
from normscope.families import find_structure

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("default")

SMALL = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 40, "max_position_embeddings": 32, "pad_token_id": None,
         "bos_token_id": 0, "eos_token_id": 1}
MODELS = {
    "GPT2": dict(n_embd=32, n_layer=2, n_head=4, vocab_size=40, n_positions=32, resid_pdrop=0.0, attn_pdrop=0.0,
                 embd_pdrop=0.0, bos_token_id=0, eos_token_id=1),
    "Llama": SMALL, "Qwen2": SMALL, "Qwen3": {**SMALL, "head_dim": 16}, "Mistral": {**SMALL, "sliding_window": 16}, "Olmo": SMALL, "Olmo2": SMALL,
    "Gemma": {**SMALL, "head_dim": 16}, "Gemma2": {**SMALL, "head_dim": 8, "query_pre_attn_scalar": 8},
    "Gemma2 uncapped": {**SMALL, "head_dim": 8, "query_pre_attn_scalar": 12, "attn_logit_softcapping": None},
    "Gemma3": {**SMALL, "num_hidden_layers": 5, "head_dim": 12, "query_pre_attn_scalar": 20, "sliding_window": 16,
               "layer_types": ["full_attention" if l % 2 else "sliding_attention" for l in range(5)],
               "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1e6},
                                   "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}},
    "Phi3": SMALL,
    "GPTNeoX": {**SMALL, "hidden_dropout": 0.0, "attention_dropout": 0.0},
    "GPTJ": dict(n_embd=32, n_layer=2, n_head=4, vocab_size=40, n_positions=32, rotary_dim=4, resid_pdrop=0.0,
                 attn_pdrop=0.0, embd_pdrop=0.0, bos_token_id=0, eos_token_id=1),
}
SCALED = {"llama3": dict(factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16),
          "yarn": dict(factor=4.0, original_max_position_embeddings=8), "linear": dict(factor=2.5)}
for kind, rope in SCALED.items():
    MODELS["Llama " + kind] = {**SMALL, "rope_parameters": {"rope_type": kind, "rope_theta": 10000.0, **rope}}
SCHEMES = {"Olmo2": "output", "Gemma2": "peri", "Gemma2 uncapped": "peri", "Gemma3": "peri"}


def model_of(name, attention="sdpa"):
    torch.manual_seed(0)
    family = name.split()[0]
    config = getattr(transformers, "Gemma3TextConfig" if family == "Gemma3" else family + "Config")(**MODELS[name], attn_implementation=attention)
    kind = getattr(transformers, family + ("LMHeadModel" if name == "GPT2" else "ForCausalLM"))
    return kind(config)


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("name", list(MODELS))
def test_models(tmp_path, name, attention):
    if name.startswith("Gemma2") and attention == "sdpa":
        pytest.skip("transformers has no such attention for Gemma 2")
    plain, model = model_of(name, attention), model_of(name, attention)
    tokens = torch.randint(0, 40, (3, 8))
    losses = []
    for one, recorder in ((plain, None), (model, True)):
        optimizer = torch.optim.SGD(one.parameters(), lr=1e-2)
        if recorder:
            recorder = normscope.record(one, tmp_path / "run.h5", optimizer=optimizer, probes="full", every=1)
        for step in range(3):
            optimizer.zero_grad()
            out = one(input_ids=tokens, labels=tokens)
            out.loss.backward()
            optimizer.step()
            if recorder:
                recorder.step()
            losses.append(out.loss.item())
        if recorder:
            recorder.close()
    assert losses[:3] == losses[3:]
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert run.steps["loss"].tolist() == losses[:3]
    fresh = model_of(name, attention).train()
    hidden = fresh(input_ids=tokens, output_hidden_states=True).hidden_states
    rms = np.asarray(run.probes.growth.rms)[0]
    assert rms.shape == (len(find_structure(fresh).sublayers) + 1,) and np.isfinite(rms).all()
    # The last of transformers' hidden states is after the final norm.
    np.testing.assert_allclose(rms[:4:2], [float(h.detach().square().mean().sqrt()) for h in hidden[:2]], rtol=1e-5)
    assert np.isfinite(np.asarray(run.probes.gradients.hidden)).all()
    assert np.isfinite(np.asarray(run.probes.residual.branch_ratio)).all()
    assert np.isfinite(np.asarray(run.probes.attention.entropy)).all()
    # Gemma's norms are 1 + γ with γ = 0 at first: an update of something of length 0 has no ratio.
    assert np.isfinite(np.asarray(run.probes.updates.update_ratio)[1:]).all()
    assert run.recipe["stack"]["scheme"] == SCHEMES.get(name, "pre")
    stack = run.recipe["stack"]
    assert (stack["norm"].get("affine", True), stack.get("head_bias", False), stack.get("shared_norm", False),
            stack.get("attention_soft_cap", 0)) == (name != "Olmo", name == "GPTJ", name == "GPTJ", 50 if name == "Gemma2" else 0)
    structure = find_structure(fresh)
    assert structure.sizes["vocab"] == 40 and "other" not in run.probes.updates.labels["groups"]


def frequencies_in_float64(config, count, layers=None):
    rotation = getattr(config, "rope_parameters", None) or {}
    if layers:  # Gemma 3 has some for each kind of layer
        rotation = rotation[layers]
    kind = rotation.get("rope_type", "default")
    if layers or kind == "default":
        assert kind in ("default", "linear")
        base = rotation.get("rope_theta", 10000.0)
        return base ** -(torch.arange(count, dtype=torch.float64) / count) / rotation.get("factor", 1.0)
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    narrow = torch.float, torch.float32
    torch.float = torch.float32 = torch.float64
    try:
        return ROPE_INIT_FUNCTIONS[kind](config, "cpu")[0]
    finally:
        torch.float, torch.float32 = narrow


@contextlib.contextmanager
def in_float64(model):
    """transformers rounds norms, angles and probabilities to float32 whatever the weights are: not here."""
    to, as_float, softmax = torch.Tensor.to, torch.Tensor.float, torch.nn.functional.softmax

    def keep(self, *arguments, **named):
        narrow = self.dtype == torch.float64 and torch.float32 in (*arguments, *named.values())
        return self if narrow else to(self, *arguments, **named)

    torch.Tensor.to = keep
    torch.Tensor.float = lambda self: self if self.dtype == torch.float64 else as_float(self)
    torch.nn.functional.softmax = lambda x, dim=None, dtype=None: softmax(x, dim=dim)
    for module in model.modules():
        for prefix in ("", "full_attention_", "sliding_attention_"):
            if isinstance(frequencies := getattr(module, prefix + "inv_freq", None), torch.Tensor):
                setattr(module, prefix + "inv_freq", frequencies_in_float64(model.config, len(frequencies), prefix[:-1]))
        if isinstance(table := getattr(module, "embed_positions", None), torch.Tensor):  # GPT-J: [sines, cosines]
            count = table.shape[1] // 2
            angles = torch.arange(len(table), dtype=torch.float64)[:, None] * 10000.0 ** -(torch.arange(count, dtype=torch.float64) / count)
            module.embed_positions = torch.cat((angles.sin(), angles.cos()), dim=1)
        if hasattr(module, "scalar_embed_scale"):
            module.embed_scale = torch.tensor(module.scalar_embed_scale, dtype=torch.float64)
    try:
        yield
    finally:
        torch.Tensor.to, torch.Tensor.float, torch.nn.functional.softmax = to, as_float, softmax


def varied(model, dtype):
    """Biases, gains and class tokens too."""
    with torch.no_grad():
        for parameter in model.to(getattr(torch, dtype)).eval().parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return model


CLI = os.environ.get("NORMSCOPE_CLI")


@pytest.mark.skipif(not CLI, reason="NORMSCOPE_CLI, the path of normscope-cli, is not set")
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-10), ("float32", 1e-6)])
@pytest.mark.parametrize("name", list(MODELS))
def test_files_of_transformers(tmp_path, name, dtype, tolerance):
    """What its classes write is imported exactly."""
    model = varied(model_of(name, "eager"), dtype)
    # Of a small file two shards are written where it is told so.
    model.save_pretrained(tmp_path / "model", max_shard_size="20KB" if dtype == "float64" else "1GB")
    recipe, weights, text, out = (tmp_path / n for n in ("r.json", "w.h5", "t.h5", "out.h5"))
    done = subprocess.run([CLI, "import", tmp_path / "model", "--recipe", recipe, "--weights", weights],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    tokens = torch.randint(0, 40, (2, 30))  # longer than the windows
    with h5py.File(text, "w") as file:
        file["tokens"], file["targets"] = tokens.numpy().astype("i4"), tokens.numpy().astype("i4")
    subprocess.run([CLI, "evaluate", recipe, "--weights", weights, "--tokens", text, "--dtype", dtype, "--out", out],
                   check=True, capture_output=True)
    with torch.no_grad(), in_float64(model) if dtype == "float64" else contextlib.nullcontext():
        theirs = model(input_ids=tokens).logits.double().numpy()
    with h5py.File(out) as file:
        ours = file["logits"][()]
    assert np.abs(ours - theirs).max() <= tolerance * np.abs(theirs).max()


@pytest.mark.skipif(not CLI, reason="NORMSCOPE_CLI, the path of normscope-cli, is not set")
@pytest.mark.parametrize("kind", ["F32", "F16", "BF16"])
@pytest.mark.parametrize("name", ["Llama", "Qwen2", "Qwen3"])
def test_gguf(tmp_path, name, kind):
    """A file as llama.cpp's converter writes it: the logits are the model's, and what transformers makes of the file."""
    gguf = pytest.importorskip("gguf")
    model = varied(model_of(name, "eager"), "float32")
    if kind != "F32":
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 2:
                    parameter.copy_(parameter.to(torch.float16 if kind == "F16" else torch.bfloat16))
    config, arch = model.config, name.lower()
    writer = gguf.GGUFWriter(str(tmp_path / "m.gguf"), arch)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    if name == "Qwen3":
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    writer.add_vocab_size(config.vocab_size)
    writer.add_token_list([f"t{i}" for i in range(config.vocab_size)])
    names = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    parts = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
             "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
             "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate",
             "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
    for layer in range(config.num_hidden_layers):
        names |= {f"model.layers.{layer}.{ours}": f"blk.{layer}.{theirs}" for ours, theirs in parts.items()}
    for path, tensor in model.state_dict().items():
        module, end = path.rsplit(".", 1)
        values = tensor.numpy()
        if name == "Llama" and ("q_proj" in module or "k_proj" in module):  # the converter's permute()
            heads = config.num_attention_heads if "q_proj" in module else config.num_key_value_heads
            values = values.reshape(heads, 2, values.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(values.shape)
        dtype = None
        if values.ndim == 2 and kind != "F32":
            dtype = getattr(gguf.GGMLQuantizationType, kind)
            values = values.astype(np.float16) if kind == "F16" else gguf.quants.quantize(values, dtype)
        writer.add_tensor(f"{names[module]}.{end}", np.ascontiguousarray(values), raw_dtype=dtype)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    models = [model]
    if name != "Qwen3":  # transformers does not read the width of its heads
        models.append(transformers.AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file="m.gguf", dtype=torch.float32))
    recipe, weights, text, out = (tmp_path / n for n in ("r.json", "w.h5", "t.h5", "out.h5"))
    subprocess.run([CLI, "import", tmp_path / "m.gguf", "--recipe", recipe, "--weights", weights], check=True)
    tokens = torch.randint(0, 40, (2, 16))
    with h5py.File(text, "w") as file:
        file["tokens"], file["targets"] = tokens.numpy().astype("i4"), tokens.numpy().astype("i4")
    subprocess.run([CLI, "evaluate", recipe, "--weights", weights, "--tokens", text, "--dtype", "float32", "--out", out],
                   check=True, capture_output=True)
    with torch.no_grad(), h5py.File(out) as file:
        for one in models:
            theirs = one.eval()(input_ids=tokens).logits.numpy()
            assert np.abs(file["logits"][()] - theirs).max() <= 1e-6 * np.abs(theirs).max()


def images_of(folder, dtype, size):
    """Our logits of four random images at their class tokens, and the images."""
    recipe, weights, text, out = (folder / n for n in ("r.json", "w.h5", "t.h5", "out.h5"))
    images = torch.randn(4, 3, size, size)
    with h5py.File(text, "w") as file:
        file["images"], file["targets"] = images.numpy(), np.arange(4, dtype="i4")
    subprocess.run([CLI, "import", folder / "model", "--recipe", recipe, "--weights", weights], check=True)
    subprocess.run([CLI, "evaluate", recipe, "--weights", weights, "--tokens", text, "--dtype", dtype, "--out", out],
                   check=True, capture_output=True)
    with h5py.File(out) as file:
        return file["logits"][:, 0], images.to(getattr(torch, dtype))


@pytest.mark.skipif(not CLI, reason="NORMSCOPE_CLI, the path of normscope-cli, is not set")
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-10), ("float32", 1e-6)])
def test_vit(tmp_path, dtype, tolerance):
    torch.manual_seed(0)
    config = transformers.ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                                    image_size=12, patch_size=4, num_labels=5, attn_implementation="eager")
    model = varied(transformers.ViTForImageClassification(config), dtype)
    model.save_pretrained(tmp_path / "model")
    ours, images = images_of(tmp_path, dtype, 12)
    with torch.no_grad(), in_float64(model) if dtype == "float64" else contextlib.nullcontext():
        theirs = model(pixel_values=images).logits.double().numpy()
    assert np.abs(ours - theirs).max() <= tolerance * np.abs(theirs).max()


@pytest.mark.skipif(not CLI, reason="NORMSCOPE_CLI, the path of normscope-cli, is not set")
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-10), ("float32", 1e-6)])
@pytest.mark.parametrize("name, arguments", [
    ("vit_tiny_patch16_224", dict(img_size=32, patch_size=8, depth=2)),
    ("deit_small_patch16_224", dict(img_size=16, patch_size=4, depth=1, embed_dim=32, num_heads=4, mlp_ratio=3.0)),
    ("vit_base_patch16_224", dict(img_size=32, patch_size=16, depth=1, embed_dim=48))])
def test_vit_of_timm(tmp_path, name, arguments, dtype, tolerance):
    timm = pytest.importorskip("timm")
    torch.manual_seed(0)
    model = varied(timm.create_model(name, num_classes=5, **arguments), dtype)
    timm.models.save_for_hf(model, tmp_path / "model", model_config={"num_classes": 5}, safe_serialization=True)
    ours, images = images_of(tmp_path, dtype, arguments["img_size"])
    with torch.no_grad():
        theirs = model(images).double().numpy()
    assert np.abs(ours - theirs).max() <= tolerance * np.abs(theirs).max()


@pytest.mark.skipif(not CLI, reason="NORMSCOPE_CLI, the path of normscope-cli, is not set")
@pytest.mark.parametrize("settings", [["stack.block=gpt2"], ["stack.block=llama", "stack.kv_heads=2"],
                                      ["stack.block=llama", "stack.attention_bias=on"], ["stack.block=llama", "stack.head_width=12"],
                                      ["stack.block=llama", "stack.rope_scaling.kind=llama3",
                                       "stack.rope_scaling.factor=4", "stack.rope_scaling.original_context=8"],
                                      ["stack.block=llama", "stack.rope_scaling.kind=yarn", "stack.rope_scaling.factor=4",
                                       "stack.rope_scaling.original_context=8", "stack.rope_scaling.attention_factor=1.3"]])
def test_what_is_exported_loads_in_transformers(tmp_path, settings):
    run, folder = tmp_path / "run.h5", tmp_path / "model"
    folder.mkdir()
    small = ["stack.depth=3", "stack.d_model=32", "stack.heads=4", "stack.context=16", "batch=2"]
    options = [word for setting in settings + small for word in ("--set", setting)]
    subprocess.run([CLI, "train", "pre-ln", "--steps", "3", "--out", run, *options], check=True, capture_output=True)
    subprocess.run([CLI, "export", run, "--out", folder / "model.safetensors"], check=True, capture_output=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
    recipe, weights, text, out = (tmp_path / n for n in ("r.json", "w.h5", "t.h5", "out.h5"))
    subprocess.run([CLI, "import", folder, "--recipe", recipe, "--weights", weights], check=True, capture_output=True)
    tokens = torch.randint(0, model.config.vocab_size, (2, 16))
    with h5py.File(text, "w") as file:
        file["tokens"], file["targets"] = tokens.numpy(), tokens.numpy()
    subprocess.run([CLI, "evaluate", recipe, "--weights", weights, "--tokens", text, "--dtype", "float32", "--out", out],
                   check=True, capture_output=True)
    with torch.no_grad():
        theirs = model(input_ids=tokens).logits.numpy()
    with h5py.File(out) as file:
        assert np.abs(file["logits"][()] - theirs).max() <= 2e-6 * np.abs(theirs).max()


def test_trainer(tmp_path):
    from normscope.callbacks.trainer import NormscopeCallback

    def losses(callbacks):
        model = model_of("Llama")
        data = [{"input_ids": row, "labels": row} for row in torch.randint(0, 40, (32, 8), generator=torch.Generator().manual_seed(1))]
        arguments = transformers.TrainingArguments(
            output_dir=str(tmp_path / "out"), per_device_train_batch_size=4, gradient_accumulation_steps=2, max_steps=4,
            logging_steps=1, report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True)
        trainer = transformers.Trainer(model=model, args=arguments, train_dataset=data, callbacks=callbacks)
        trainer.train()
        return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry], model

    plain, model = losses([])
    watched, recorded_model = losses([NormscopeCallback(tmp_path / "run.h5", every=1)])
    assert plain == watched
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), recorded_model.parameters()))
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert len(run.steps["loss"]) == 4 and run.recipe["steps"] == 4 and run.probes.growth.samples == 4
    assert np.isfinite(run.steps["lr"]).all() and run.steps["lr"][0] > run.steps["lr"][3]
    assert run.recipe["optimizer"]["lr"] == 5e-5  # TrainingArguments' default, before the schedule
    assert np.isfinite(run.steps["grad_norm"]).all()


def test_lightning(tmp_path):
    lightning = pytest.importorskip("lightning")
    from models import Model, batches

    from normscope.callbacks.lightning import NormscopeCallback

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Model()

        def training_step(self, batch, index):
            return self.model(*(x[0] for x in batch))[1]

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-2)

    data = torch.utils.data.DataLoader(list(batches(6)))
    trainer = lightning.Trainer(max_steps=6, accelerator="cpu", logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
                                callbacks=[NormscopeCallback(tmp_path / "run.h5", module="model", every=1)])
    trainer.fit(Module(), data)
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert len(run.steps["loss"]) == 6 and np.isfinite(np.asarray(run.probes.growth.rms)).all()
    assert run.state == "finished"


def test_timm(tmp_path):
    timm = pytest.importorskip("timm")
    torch.manual_seed(0)
    model = timm.create_model("vit_tiny_patch16_224", img_size=32, patch_size=8, num_classes=10, depth=2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer, probes="full", every=1) as recorder:
        for _ in range(2):
            loss = torch.nn.functional.cross_entropy(model(torch.randn(4, 3, 32, 32)), torch.arange(4))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            recorder.step(loss)
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    normscope.snapshot.write_snapshot(model, tmp_path / "model")
    if CLI:
        ours, images = images_of(tmp_path, "float32", 32)
        with torch.no_grad():
            np.testing.assert_allclose(ours, model.eval()(images).numpy(), rtol=1e-4, atol=1e-5)
    for name, array in (("growth", "rms"), ("gradients", "hidden"), ("residual", "branch_ratio"), ("attention", "entropy")):
        assert np.isfinite(np.asarray(run.probes[name][array])).all(), name
