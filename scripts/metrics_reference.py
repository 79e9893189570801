#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of tests/unit/metric/sets.cpp: figures of scikit-learn and SciPy for random rows.

    python3 -m venv V && V/bin/pip install scikit-learn scipy
    V/bin/python scripts/metrics_reference.py
"""
import warnings

import numpy as np
from scipy.stats import pearsonr
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

warnings.filterwarnings("ignore")
AVERAGES = "macro", "micro", "weighted", "samples"


def draws(seed):
    """The numbers that the test draws, too: below 256."""
    while True:
        seed = (seed * 1664525 + 1013904223) % 2**32
        yield seed >> 24


def sets(seed, rows, classes, share):
    """A class is there if a draw is below `share`, and predicted wrongly if the next is below 64."""
    draw = draws(seed)
    pairs = [(next(draw) < share, next(draw) < 64) for _ in range(rows * classes)]
    actual = np.array([has for has, _ in pairs], int).reshape(rows, classes)
    return actual, np.array([has != wrong for has, wrong in pairs], int).reshape(rows, classes)


def classes_of(seed, rows, classes):
    draw = draws(seed)
    pairs = np.array([(next(draw) % classes, next(draw) % classes) for _ in range(rows)])
    return pairs[:, 0], pairs[:, 1]


def numbers(seed, rows, columns):
    draw = draws(seed)
    pairs = [(next(draw), next(draw)) for _ in range(rows * columns)]
    actual = np.array([a / 16 for a, _ in pairs]).reshape(rows, columns)
    return actual, np.array([(a + b) / 16 for a, b in pairs]).reshape(rows, columns)


def figures(actual, predicted, averages):
    for score in f1_score, precision_score, recall_score:
        yield from (score(actual, predicted, average=a, zero_division=0) for a in averages)


for case in (1, 64, 5, 90), (2, 200, 9, 40), (3, 7, 12, 12), (4, 6, 3, 0), (5, 1, 4, 128):
    actual, predicted = sets(*case)
    row = [accuracy_score(actual, predicted), *figures(actual, predicted, AVERAGES)]
    print("sets", "{%s, {%s}}," % (", ".join(map(str, case)), ", ".join(map(repr, map(float, row)))))
for case in (6, 100, 4), (7, 9, 7), (8, 2, 3):
    row = list(figures(*classes_of(*case), AVERAGES[:3]))
    print("classes", "{%s, {%s}}," % (", ".join(map(str, case)), ", ".join(map(repr, map(float, row)))))
for case in (9, 50, 1), (10, 333, 3), (11, 2, 1):
    actual, predicted = numbers(*case)
    mean = np.mean([pearsonr(actual[:, k], predicted[:, k])[0] for k in range(case[2])])
    print("numbers", "{%s, %r}," % (", ".join(map(str, case)), float(mean)))
