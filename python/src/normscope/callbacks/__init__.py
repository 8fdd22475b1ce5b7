# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorders for trainers of other libraries: .trainer (transformers), .lightning (PyTorch Lightning)."""
