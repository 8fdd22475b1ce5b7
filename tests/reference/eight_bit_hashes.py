#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the hashes of tests/backend/operand_formats_test.cpp: the casts of ml_dtypes over every float32 whose lower
half is zero. Needs NumPy and ml_dtypes (pip)."""
import ml_dtypes
import numpy as np

x = (np.arange(0x10000, dtype=np.uint32) << 16).view(np.float32)
for name, dtype in (("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)):
    bits = x.astype(dtype).astype(np.float32).view(np.uint32).copy()
    bits[np.isnan(bits.view(np.float32))] = 0x7FC00000
    state = 0xCBF29CE484222325
    for byte in bits.astype("<u4").tobytes():
        state = ((state ^ byte) * 0x100000001B3) & (2**64 - 1)
    print(name, hex(state))
