"""A reference implementation of unsupervised alignment: loops for costs and masses, POT for the plans."""

import math
import warnings

import numpy as np

import ot
from otalign.ot import Balanced, Exact, Partial, Unbalanced
from otalign.settings import Settings


def min_max_scale(matrix: list[list[float]]) -> list[list[float]]:
    least, most = min(map(min, matrix)), max(map(max, matrix))
    if most - least <= 1e-6 * max(abs(least), abs(most)):
        return [[1.0 for _ in row] for row in matrix]
    return [[(x - least) / (most - least) for x in row] for row in matrix]


def compute_norm(x) -> float:
    return math.sqrt(sum(value * value for value in x))


def compute_cosine(x, y) -> float:
    lengths = compute_norm(x) * compute_norm(y)
    return sum(a * b for a, b in zip(x, y, strict=True)) / lengths if lengths else 0.0


def compute_similarities(X, Y, settings: Settings) -> list[list[float]]:
    n, m = len(X), len(Y)
    match settings.cost:
        case "cosine":
            S = [[(compute_cosine(x, y) + 1) / 2 for y in Y] for x in X]
        case "euclidean":
            apart = [[compute_norm([a - b for a, b in zip(x, y, strict=True)]) for y in Y] for x in X]
            S = min_max_scale([[-distance for distance in row] for row in apart])
        case other:
            raise NotImplementedError(f"the reference has no cost {other!r}; add it")
    likeness = [row[:] for row in S]
    for i in range(n):
        for j in range(m):
            beside = [(i - 1, j - 1), (i + 1, j + 1)]
            near = [likeness[row][column] for row, column in beside if 0 <= row < n and 0 <= column < m]
            if near:
                S[i][j] += settings.smoothing * sum(near) / len(near)
    if n > 1 and m > 1:
        for i in range(n):
            for j in range(m):
                S[i][j] *= 1 - settings.distortion * (i / (n - 1) - j / (m - 1)) ** 2
    return min_max_scale(S)


def compute_masses(X, words, settings: Settings) -> list[float]:
    match settings.fertility:
        case "uniform":
            found = [1.0 for _ in X]
        case "norm":
            found = [compute_norm(x) for x in X]
        case "length":
            found = [(min(len(word), 6) / 6) ** 0.3 for word in words]
    total = sum(found) if isinstance(settings.problem, Balanced) else 1.0
    return [mass / total for mass in found]


def solve_with_pot(C: np.ndarray, a: np.ndarray, b: np.ndarray, settings: Settings) -> np.ndarray:
    many = {"numItermax": 100_000, "stopThr": 1e-8}
    exact = isinstance(settings.solver, Exact)
    eps = 0.0 if exact else settings.solver.eps
    match settings.problem:
        case Balanced():
            return ot.emd(a, b, C) if exact else ot.sinkhorn(a, b, C, eps, **many)
        case Partial(fraction):
            mass = fraction * min(a.sum(), b.sum())
            if exact:
                return ot.partial.partial_wasserstein(a, b, C, mass)
            return ot.partial.entropic_partial_wasserstein(a, b, C, eps, mass, **many)
        case Unbalanced(tau_source=tau, divergence=divergence):
            if exact:
                few = {"numItermax": 20_000, "stopThr": settings.solver.tol}
                return ot.unbalanced.mm_unbalanced(a, b, C, tau, div=divergence, **few)
            with warnings.catch_warnings():  # about a missing reference measure, which is intended
                warnings.simplefilter("ignore")
                return ot.unbalanced.sinkhorn_unbalanced(a, b, C, eps, tau, reg_type="entropy", **many)
    raise TypeError(settings.problem)


def linearise(S, plan, a, b, settings: Settings) -> np.ndarray:
    """Compute what order or structure adds to each cost, given a first plan."""
    n, m = len(S), len(S[0])
    mass = min(sum(a), sum(b))
    slope = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            if settings.order:
                for row, column in ((i - 1, j - 1), (i + 1, j + 1)):
                    if 0 <= row < n and 0 <= column < m:
                        both = S[i][j] * S[row][column]
                        slope[i, j] -= settings.order * both * plan[row][column] * min(n, m) / mass
            if settings.structure:
                for row in range(n):
                    for column in range(m):
                        apart = (min(abs(i - row), 5) - min(abs(j - column), 5)) / 5
                        slope[i, j] += 2 * settings.structure * apart**2 * plan[row][column] / mass
    return slope


def scale_by_mutuality(links, X, Y, weight: float) -> list[list[float]]:
    cosines = [[max(compute_cosine(x, y), 0.0) for y in Y] for x in X]
    rows, columns = [max(row) for row in cosines], [max(column) for column in zip(*cosines, strict=True)]
    ratios = [
        [value / math.sqrt(r * c) if r * c else 0.0 for value, c in zip(row, columns, strict=True)]
        for row, r in zip(cosines, rows, strict=True)
    ]
    shares = [
        sum(max(line) ** 10 for line in lines) / len(lines)
        for lines in (ratios, [*zip(*ratios, strict=True)])
    ]
    return [
        [score * (ratio * max(shares)) ** weight for score, ratio in zip(*both, strict=True)]
        for both in zip(links, ratios, strict=True)
    ]


def compute_support(X, i: int, k: int, y) -> float:
    """Compute how much the spans that begin at word k and contain word i support that i joins its link."""
    total, step = 0.0, 1 if i > k else -1
    for last in (k + step, k + 2 * step):
        if abs(last - k) >= abs(i - k) and 0 <= last < len(X):
            span = [sum(values) for values in zip(*X[min(k, last) : max(k, last) + 1], strict=True)]
            gain = compute_cosine(span, y) - compute_cosine(X[k], y)
            total += max(0.0, 1 + gain / 0.2)
    return total


def complete_phrases(links, S, X, Y, masses, weight: float) -> list[list[float]]:
    n, m = len(links), len(links[0])
    completed = [row[:] for row in links]
    relative = [[mass / max(side) if max(side) else 0.0 for mass in side] for side in masses]
    for i in range(n):
        for j in range(m):
            rows, columns = ([k for k in range(c - 2, c + 3) if k != c] for c in (i, j))
            above = [links[k][j] * compute_support(X, i, k, Y[j]) for k in rows if 0 <= k < n]
            beside = [links[i][k] * compute_support(Y, j, k, X[i]) for k in columns if 0 <= k < m]
            joined = (1 - max(links[i])) * max(above, default=0) * relative[1][j] ** 3
            joined += (1 - max(row[j] for row in links)) * max(beside, default=0) * relative[0][i] ** 3
            completed[i][j] = min(1, links[i][j] + weight * S[i][j] * joined)
    return completed


def score_links(X, Y, words, settings: Settings) -> np.ndarray:
    """Compute the scores (n, m) of all word pairs from centred embeddings and the words of both sides."""
    X, Y = [[[float(value) for value in vector] for vector in side] for side in (X, Y)]
    S = compute_similarities(X, Y, settings)
    a, b = np.ones(len(X)), np.ones(len(Y))
    if settings.problem is None:
        links = min_max_scale(S)
    else:
        a, b = (np.array(compute_masses(*side, settings)) for side in zip((X, Y), words, strict=True))
        C = 1 - np.array(S)
        plan = solve_with_pot(C, a, b, settings)
        plan = solve_with_pot(C + linearise(S, plan, a, b, settings), a, b, settings)
        links = min_max_scale(plan.tolist())
    if settings.mutuality:
        links = scale_by_mutuality(links, X, Y, settings.mutuality)
    return np.array(complete_phrases(links, S, X, Y, (a, b), settings.completion))
