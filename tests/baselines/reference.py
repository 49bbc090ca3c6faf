"""Reference implementations of the baselines, in plain loops, as their papers describe them."""

import math
from collections import defaultdict


def argmax(values):
    values = list(values)
    return values.index(max(values))


def link_mutual_argmax(S):
    n, m = len(S), len(S[0])
    row = [argmax(S[i]) for i in range(n)]
    column = [argmax(S[i][j] for i in range(n)) for j in range(m)]
    return {(i, j) for i in range(n) for j in range(m) if row[i] == j and column[j] == i}


def itermax(S, rounds, discount):
    n, m = len(S), len(S[0])
    links = link_mutual_argmax(S)
    if min(n, m) <= 2:
        return links
    for _ in range(rounds - 1):
        sources, targets = {i for i, _ in links}, {j for _, j in links}
        if len(sources) == n or len(targets) == m:
            break
        M = [[0.0] * m for _ in range(n)]
        for i in range(n):
            for j in range(m):
                if i not in sources and j not in targets:
                    M[i][j] = S[i][j] * min(2 * discount, 1)
                elif i not in sources or j not in targets:
                    M[i][j] = S[i][j] * discount
        links = links | {(i, j) for i, j in link_mutual_argmax(M) if i not in sources or j not in targets}
    return links


def apply_distortion(S, distortion):
    n, m = len(S), len(S[0])
    if min(n, m) < 2:
        return S
    return [
        [S[i][j] * (1 - distortion * (i / (n - 1) - j / (m - 1)) ** 2) for j in range(m)] for i in range(n)
    ]


def compute_entropy(values):
    total = sum(values)
    shares = [value / total for value in values]
    return -sum(p * math.log(p) for p in shares if p > 0) / math.log(len(values))


def grow_diag_final(forward, reverse, how):
    """Apply Koehn's heuristic to a table of cells."""
    union, links = set(forward) | set(reverse), set(forward) & set(reverse)
    n, m = (1 + max((link[side] for link in union), default=0) for side in (0, 1))
    added = True

    def linked_words():
        return {i for i, _ in links}, {j for _, j in links}

    while added:
        added = False
        for i in range(n):
            for j in range(m):
                sources, targets = linked_words()
                touches = any(max(abs(i - k), abs(j - v)) == 1 for k, v in links)
                if (i, j) in union - links and touches and (i not in sources or j not in targets):
                    links.add((i, j))
                    added = True
    if how == "grow-diag":
        return links
    for direction in (forward, reverse):
        for i, j in sorted(direction):
            sources, targets = linked_words()
            free = [i not in sources, j not in targets]
            if all(free) if how == "grow-diag-final-and" else any(free):
                links.add((i, j))
    return links


def digamma(x):
    below = 0.0
    while x < 60:
        below += 1 / x
        x += 1
    return math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - below


def compute_weight(i, j, n, m, tension):
    return math.exp(-tension * abs(i / n - j / m))


def sum_weights(j, n, m, tension):
    """The sum of weights from the diagonal both ways, as the tool has it: endless where j is beyond m."""
    below = math.floor(j * n / m)
    if below <= n:
        return sum(compute_weight(i, j, n, m, tension) for i in range(1, n + 1))
    endless = compute_weight(below + 1, j, n, m, tension) / (1 - math.exp(-tension / n))
    return sum(compute_weight(i, j, n, m, tension) for i in range(1, below + 1)) + endless


def fit_tension(tension, posterior_feature, pairs):
    words = sum(len(generated) for _, generated in pairs)
    for _ in range(8):
        mean = 0.0
        for given, generated in pairs:
            n, m = len(given), len(generated)
            for j in range(1, m + 1):
                total = sum(
                    -abs(i / n - j / m) * compute_weight(i, j, n, m, tension) for i in range(1, n + 1)
                )
                mean += total / sum_weights(j, m, n, tension) / words
        tension = min(max(tension + 20 * (posterior_feature - mean), 0.1), 14.0)
    return tension


def train_model2(pairs, iterations, p0=0.08, alpha=0.01, tension=4.0):
    """Return t[given, generated] with None for null, the tension, and the links of each pair."""
    pairs = [(given, generated) for given, generated in pairs if given and generated]
    words = sum(len(generated) for _, generated in pairs)
    t = defaultdict(lambda: 1.0)

    def joint(given, generated, j):
        n, m = len(given), len(generated)
        total = sum(compute_weight(i, j, n, m, tension) for i in range(1, n + 1))
        probabilities = [t[None, generated[j - 1]] * p0]
        for i in range(1, n + 1):
            place = (1 - p0) * compute_weight(i, j, n, m, tension) / total
            probabilities.append(t[given[i - 1], generated[j - 1]] * place)
        return probabilities

    for iteration in range(1, iterations):
        counts, feature = defaultdict(float), 0.0
        for given, generated in pairs:
            for j in range(1, len(generated) + 1):
                probabilities = joint(given, generated, j)
                for i, word in enumerate([None, *given]):
                    share = probabilities[i] / sum(probabilities)
                    counts[word, generated[j - 1]] += share
                    if i:
                        feature -= share * abs(i / len(given) - (j - 1) / len(generated)) / words
        if iteration > 1:
            tension = fit_tension(tension, feature, pairs)
        totals = defaultdict(float)
        for (word, _), count in counts.items():
            totals[word] += count + alpha
        t = {key: math.exp(digamma(count + alpha) - digamma(totals[key[0]])) for key, count in counts.items()}
    links = [
        {(best - 1, j) for j in range(len(generated)) if (best := argmax(joint(given, generated, j + 1))) > 0}
        for given, generated in pairs
    ]
    return t, tension, links
