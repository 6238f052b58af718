"""Writes golden.json: what rows of BF16 become, by numpy and ml_dtypes (pip install numpy ml_dtypes).

Inputs follow from a formula that rows_test.go has too. Values are SHA-256 of bytes.
"""
import hashlib
import json
import os

import ml_dtypes
import numpy as np

GROUP = 128
F32 = np.float32


def words(seed, n):
    """The finaliser of splitmix64 of seed + i."""
    x = (np.uint64(seed) + np.arange(n, dtype=np.uint64)).astype(np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def patterns(seed, n):
    """n BF16 patterns, any."""
    return words(seed, (n + 3) // 4).view(np.uint16)[:n].copy()


def plain(seed, n):
    """n finite BF16 numbers from 2^-8 to below 2^8, and signs."""
    p = patterns(seed, n)
    return ((p & 0x8000) | ((119 + ((p >> 7) & 15)) << 7) | (p & 127)).astype(np.uint16)


def to_f32(bits):
    return bits.view(ml_dtypes.bfloat16).astype(F32)


def quantise(bits, scales):
    """BF16 bits to FP8 bytes, and the scales as they are stored."""
    out, stored = [], []
    for group in bits.reshape(-1, GROUP):
        size = group & 0x7FFF
        size = np.minimum(np.where(size > 0x7F80, 0, size), 0x7F7F).astype(np.uint16)
        amax = max(F32(1e-4), to_f32(size).max())
        scale, times = F32(amax / F32(448)), F32(F32(448) / amax)
        if scales != "f32":
            mantissa, exponent = np.frexp(scale)
            exponent = int(exponent) - (1 if mantissa == 0.5 else 0)
            scale, times = F32(2.0**exponent), F32(2.0**-exponent)
        with np.errstate(all="ignore"):
            y = to_f32(group) * times
        out.append(np.clip(y, -448, 448).astype(ml_dtypes.float8_e4m3fn).view(np.uint8))
        stored.append(np.array([scale], F32).view(np.uint32) >> 23 if scales == "ue8m0" else np.array([scale], F32))
    stored = np.concatenate(stored)
    return np.concatenate(out).tobytes(), (stored.astype(np.uint8) if scales == "ue8m0" else stored).tobytes()


def reduce(rows, weights):
    """The float32 sum of weight times row, in order, as BF16."""
    total = np.zeros(rows.shape[1], F32)
    for row, weight in zip(rows, weights):
        total = total + to_f32(row) * weight
    return total.astype(ml_dtypes.bfloat16).view(np.uint16).tobytes()


def digest(b):
    return hashlib.sha256(b).hexdigest()


def every(most):
    """All patterns in groups of 127 with a largest value; what is larger and finite becomes that."""
    p = np.arange(1 << 16, dtype=np.uint16)
    size = p & 0x7FFF
    p = np.where((size > most) & (size < 0x7F80), most, p).astype(np.uint16)
    p = np.where(size == 0x7F80, 0, p).astype(np.uint16)
    p = np.concatenate([p, np.zeros(127 - len(p) % 127, np.uint16)]).reshape(-1, 127)
    return np.concatenate([p, np.full((len(p), 1), most, np.uint16)], axis=1).reshape(-1)


golden = {}
for most in (0x3F80, 0x43E0, 0x4000, 0x3EAB, 0x477F, 0x7F7F):
    for scales in ("f32", "pow2", "ue8m0"):
        values, stored = quantise(every(most), scales)
        golden[f"every {most:04x} {scales}"] = digest(values + stored)
for channels in (128, 512, 2048, 7168):
    for scales in ("f32", "pow2", "ue8m0"):
        values, stored = quantise(patterns(channels, channels * 4), scales)
        golden[f"any {channels} {scales}"] = digest(values + stored)
        values, stored = quantise(plain(channels, channels * 4), scales)
        golden[f"plain {channels} {scales}"] = digest(values + stored)
values, stored = quantise(np.zeros(256, np.uint16), "f32")
golden["zeros"] = digest(values + stored)
for n in (0, 1, 2, 8, 64):
    rows = plain(1000 + n, max(n, 1) * 512).reshape(-1, 512)[:n] if n else np.zeros((0, 512), np.uint16)
    weights = (words(2000 + n, n) >> np.uint64(40)).astype(F32) / F32(1 << 24)
    golden[f"reduce {n}"] = digest(reduce(rows, weights))
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.json"), "w") as f:
    json.dump(golden, f, indent=1)
    f.write("\n")
