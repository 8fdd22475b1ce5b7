# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognises the structure of a model by the names of its modules (see structure.py)."""

from torch import nn

from .structure import Structure, UnknownStructure

# Names that a layer's modules have in the field, by form; the first row whose names are all there is taken.
# attention, feed-forward map, norms by place, parallel (None: the configuration decides).
FORMS = (
    ("sandwich", "self_attn", "mlp",
     {"attn.norm_in": "input_layernorm", "attn.norm_out": "post_attention_layernorm",
      "ffn.norm_in": "pre_feedforward_layernorm", "ffn.norm_out": "post_feedforward_layernorm"}, False),
    ("output", "self_attn", "mlp",
     {"attn.norm_out": "post_attention_layernorm", "ffn.norm_out": "post_feedforward_layernorm"}, False),
    ("llama", "self_attn", "mlp",
     {"attn.norm_in": "input_layernorm", "ffn.norm_in": "post_attention_layernorm"}, False),
    ("neox", "attention", "mlp",
     {"attn.norm_in": "input_layernorm", "ffn.norm_in": "post_attention_layernorm"}, None),
    ("gpt2", "attn", "mlp", {"attn.norm_in": "ln_1", "ffn.norm_in": "ln_2"}, False),
    ("gptj", "attn", "mlp", {"attn.norm_in": "ln_1"}, True),
    ("timm", "attn", "mlp", {"attn.norm_in": "norm1", "ffn.norm_in": "norm2"}, False),
)

_EMBEDDINGS = ("wte", "wpe", "embed_tokens", "embed_in", "tok_emb", "pos_emb", "patch_embed", "word_embeddings",
               "embed_positions")
_FINAL_NORMS = ("ln_f", "norm", "final_layer_norm", "final_layernorm", "norm_f", "final_norm", "ln_final")
_HEADS = ("lm_head", "embed_out", "head", "output")


def unwrapped(model):
    """The model inside DistributedDataParallel, FSDP and torch.compile, and the prefixes that were removed."""
    removed = []
    while True:
        for name in ("module", "_orig_mod", "_fsdp_wrapped_module"):
            inner = model._modules.get(name) if isinstance(model, nn.Module) else None
            if inner is not None and len(model._modules) == 1:
                removed.append(name)
                model = inner
                break
        else:
            return model, removed


def find_structure(model):
    """The structure of a model of a known form. UnknownStructure where it is of none: give Structure.of(…)."""
    layers = _longest_list(model)
    if layers is None:
        raise UnknownStructure(
            f"{type(model).__name__} has no list of equal layers; give structure=normscope.Structure.of(blocks=…, …)")
    block = layers[0]
    config = getattr(model, "config", None)
    if isinstance(block, nn.TransformerEncoderLayer):
        return _torch_encoder(model, list(layers), config)
    for family, attention, ffn, norms, parallel in FORMS:
        if all(isinstance(getattr(block, name, None), nn.Module) for name in (attention, ffn, *norms.values())):
            return _of_form(model, list(layers), config, family, attention, ffn, norms, parallel)
    children = ", ".join(name for name, _ in block.named_children())
    raise UnknownStructure(
        f"the layers of {type(model).__name__} ({type(block).__name__}: {children}) are of no known form; give "
        "structure=normscope.Structure.of(blocks=…, attention=…, feed_forward=…, norms=…, …)")


def _longest_list(model):
    best = None
    for module in model.modules():
        if isinstance(module, (nn.ModuleList, nn.Sequential)) and len(module) > 0:
            if len({type(layer) for layer in module}) != 1 or not list(module[0].named_children()):
                continue
            if best is None or _weight(module) > _weight(best):
                best = module
    return best


def _weight(module):
    return sum(parameter.numel() for parameter in module.parameters())


def _number(sources, *names):
    for source in sources:
        for name in names:
            value = getattr(source, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
    return None


def _named(model, names, wanted=nn.Module):
    """The first module of one of these names whose path is shortest."""
    found = [(path.count("."), names.index(path.rpartition(".")[2]), module)
             for path, module in model.named_modules()
             if path.rpartition(".")[2] in names and isinstance(module, wanted)]
    return min(found, key=lambda entry: entry[:2])[2] if found else None


def _of_form(model, layers, config, family, attention, ffn, norms, parallel):
    config = getattr(config, "text_config", config)
    block = layers[0]
    first_norm = getattr(block, next(iter(norms.values())))
    width = _number((config,), "hidden_size", "n_embd", "d_model")
    if width is None:
        parameter = next(first_norm.parameters(), None)
        if parameter is None:
            raise UnknownStructure(f"the width of {type(block).__name__} is not known: its norm has no parameters")
        width = parameter.shape[-1]
    heads = _number((config,), "num_attention_heads", "n_head", "num_heads") or _number(
        (getattr(block, attention),), "num_heads", "n_head", "num_attention_heads")
    if heads is None:
        raise UnknownStructure(f"the number of heads of {type(block).__name__} is not known")
    if parallel is None:
        parallel = bool(getattr(config, "use_parallel_residual", False))
    inside = {id(module) for layer in layers for module in layer.modules()}
    outside = [module for module in model.modules() if id(module) not in inside]
    embeddings = [module for path, module in model.named_modules()
                  if path.rpartition(".")[2] in _EMBEDDINGS or isinstance(module, nn.Embedding)]
    head = _named(model, _HEADS, nn.Linear) or next((m for m in reversed(outside) if isinstance(m, nn.Linear)), None)
    table = next((module for module in embeddings if isinstance(module, nn.Embedding)), None)
    structure = Structure.of(
        layers, attention, ffn, norms, heads=heads, d_model=width, family=family, parallel=parallel,
        final_norm=_final_norm(model, inside, type(first_norm)), head=head, embeddings=embeddings,
        kv_heads=_number((config,), "num_key_value_heads") or heads,
        d_ff=_number((config,), "intermediate_size", "n_inner", "ffn_dim") or _widest(getattr(block, ffn), width),
        context=_number((config,), "max_position_embeddings", "n_positions", "block_size", "n_ctx"),
        vocab=table.num_embeddings if table else None)
    return structure


def _final_norm(model, inside, kind):
    """By its name, else the last one of the layers' kind that is not inside them."""
    candidates = [(path.count("."), _FINAL_NORMS.index(path.rpartition(".")[2]), module)
                  for path, module in model.named_modules()
                  if path.rpartition(".")[2] in _FINAL_NORMS and id(module) not in inside
                  and not isinstance(module, nn.Identity)]
    if candidates:
        return min(candidates, key=lambda entry: entry[:2])[2]
    return next((m for m in reversed(list(model.modules())) if isinstance(m, kind) and id(m) not in inside), None)


def _widest(feed_forward, width):
    matrices = [p.shape for p in feed_forward.parameters() if p.dim() == 2]
    return max((size for shape in matrices for size in shape if size != width), default=width)


def _torch_encoder(model, layers, config):
    """nn.TransformerEncoder: norms after the sum, or before the map (norm_first)."""
    layer = layers[0]
    first = bool(layer.norm_first)
    norms = ({"attn.norm_in": "norm1", "ffn.norm_in": "norm2"} if first
             else {"attn.norm_post": "norm1", "ffn.norm_post": "norm2"})
    attention = layer.self_attn
    table = next((m for m in model.modules() if isinstance(m, nn.Embedding)), None)
    encoder = next((m for m in model.modules() if isinstance(m, nn.TransformerEncoder)), None)
    inside = {id(module) for one in layers for module in one.modules()}
    heads = [m for m in model.modules() if isinstance(m, nn.Linear) and id(m) not in inside]
    return Structure.of(
        layers, ["self_attn", "dropout1"], ["linear1", "linear2", "dropout2"], norms, heads=attention.num_heads,
        d_model=attention.embed_dim, family="torch_encoder", batch_first=bool(attention.batch_first),
        final_norm=getattr(encoder, "norm", None), head=heads[-1] if heads else None,
        embeddings=[m for m in model.modules() if isinstance(m, nn.Embedding)], kv_heads=attention.num_heads,
        d_ff=layer.linear1.out_features, context=None, vocab=table.num_embeddings if table else None)
