# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a small LLaMA of transformers with its Trainer, recorded live: trainer.py RUN.h5 [STEPS]."""
import sys
import tempfile
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
from normscope.callbacks.trainer import NormscopeCallback

steps = int(sys.argv[2]) if len(sys.argv) > 2 else 200
torch.manual_seed(42)
model = LlamaForCausalLM(LlamaConfig(hidden_size=64, intermediate_size=172, num_hidden_layers=6, num_attention_heads=4,
                                     num_key_value_heads=2, vocab_size=64, max_position_embeddings=64))
halves = torch.randint(3, 64, (2048, 32))
data = [{"input_ids": text, "labels": text} for text in torch.cat([halves, halves], 1)]
arguments = TrainingArguments(output_dir=tempfile.mkdtemp(), max_steps=steps, per_device_train_batch_size=16,
                              learning_rate=1e-3, report_to=[], save_strategy="no", disable_tqdm=True)
Trainer(model=model, args=arguments, train_dataset=data, callbacks=[NormscopeCallback(sys.argv[1])]).train()
