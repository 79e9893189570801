# SPDX-License-Identifier: Apache-2.0
"""How many sentences does a bag of words tell apart? Logistic regression on the words that occur,
and on pairs of neighbours, in tables of a sentence, a tab and 0 or 1 a line:

    python bench/peers/bag_of_words.py train.tsv dev.tsv test.tsv

The strength of weight decay is the one that does best on the second file; the third is asked once.
"""

import sys

import torch


def read(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").rsplit("\t", 1) for line in file if line.strip()]
    return [text.split() for text, _ in rows], torch.tensor([float(label) for _, label in rows])


def features(words, pairs):
    return words + [" ".join(two) for two in zip(words, words[1:])] if pairs else words


def matrix(texts, columns, pairs):
    places = [
        (row, columns[one])
        for row, words in enumerate(texts)
        for one in sorted(set(features(words, pairs)))
        if one in columns
    ]
    return torch.sparse_coo_tensor(
        torch.tensor(places).T, torch.ones(len(places)), (len(texts), len(columns))
    ).coalesce()


def fit(x, y, decay):
    weight = torch.zeros(x.shape[1], 1, requires_grad=True)
    bias = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=200, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        logits = (x @ weight)[:, 0] + bias
        total = torch.nn.functional.binary_cross_entropy_with_logits(logits, y, reduction="sum")
        total = total + decay * (weight**2).sum() / 2
        total.backward()
        return total

    optimizer.step(loss)
    return weight.detach(), bias.detach()


def accuracy(model, x, y):
    return ((((x @ model[0])[:, 0] + model[1]) > 0) == (y > 0.5)).double().mean().item()


(train, y_train), (dev, y_dev), (test, y_test) = map(read, sys.argv[1:4])
for pairs in (False, True):
    names = sorted({one for words in train for one in features(words, pairs)})
    columns = {name: number for number, name in enumerate(names)}
    x_train, x_dev, x_test = (matrix(some, columns, pairs) for some in (train, dev, test))
    models = {decay: fit(x_train, y_train, decay) for decay in (0.3, 1.0, 3.0, 10.0)}
    best = max(models, key=lambda decay: accuracy(models[decay], x_dev, y_dev))
    print(
        f"{'words and pairs' if pairs else 'words'}: {len(columns):,} features, "
        f"weight decay {best}, dev {accuracy(models[best], x_dev, y_dev):.2%}, "
        f"test {accuracy(models[best], x_test, y_test):.2%}"
    )
