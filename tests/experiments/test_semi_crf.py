"""The CRF over spans: the path to learn, the links of a path, and that it learns."""

import pytest
import torch

from experiments.peers.semi_crf import SemiCrf, gold_path, path_links
from otalign.scoring import PairBatch


def tensor_of(pairs, n: int, m: int) -> torch.Tensor:
    links = torch.zeros(1, n, m)
    for i, j in pairs:
        links[0, i, j] = 1
    return links


def words(n: int) -> torch.Tensor:
    return torch.ones(1, n, dtype=torch.bool)


def relearned(links: torch.Tensor) -> torch.Tensor:
    """The links of the gold path of links."""
    n, m = links.shape[1:]
    return path_links(gold_path(links, words(n), words(m)), m).float()


@pytest.mark.parametrize(
    "pairs",
    [
        set(),
        {(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)},
        {(0, 4), (1, 3), (2, 2), (3, 1)},
        {(0, 0), (0, 1), (0, 2), (1, 3), (2, 3), (3, 3)},
        {(i, j) for i in (1, 2) for j in (2, 3, 4)},
        {(0, 0), (0, 1), (1, 1)},
    ],
)
def test_links_of_spans_are_learned_as_they_are(pairs):
    links = tensor_of(pairs, 5, 5)
    torch.testing.assert_close(relearned(links), links)


@pytest.mark.parametrize(
    ("pairs", "missed"),
    [({(0, 0), (0, 2)}, 1), ({(1, 0), (1, 1), (1, 2), (1, 3)}, 1), ({(0, 0), (0, 1), (0, 4)}, 1)],
)
def test_other_links_are_learned_as_closely_as_spans_can(pairs, missed):
    links = tensor_of(pairs, 3, 5)
    assert (relearned(links) != links).sum() == missed


def test_phrases_are_one_span_and_null_words_one_each():
    path = gold_path(tensor_of({(1, 1), (1, 2), (2, 1), (2, 2)}, 5, 4), words(5), words(4))
    assert path.sizes.tolist() == [[1, 0, 2, 1, 1]]
    assert path.labels[0, [0, 2, 3, 4]].tolist() == [12, 7, 12, 12]  # 7: two words that end with the third


def ragged(seed: int = 0) -> tuple[PairBatch, torch.Tensor]:
    """Two pairs, 4 × 5 and 3 × 2 words, in a tile of one size, with links."""
    random = torch.Generator().manual_seed(seed)
    X, Y = torch.randn(2, 4, 8, generator=random), torch.randn(2, 5, 8, generator=random)
    is_source, is_target = (
        torch.arange(k) < torch.tensor(of)[:, None] for k, of in ((4, (4, 3)), (5, (5, 2)))
    )
    links = torch.zeros(2, 4, 5)
    for cell in ((0, 0, 1), (0, 1, 0), (0, 2, 3), (0, 2, 4), (1, 0, 0), (1, 1, 0), (1, 2, 1)):
        links[cell] = 1
    return PairBatch(X, Y, is_source, is_target), links


def test_pairs_are_worth_the_same_in_any_company():
    torch.manual_seed(0)
    crf = SemiCrf(8).eval()
    tile, links = ragged()
    for b, (n, m) in enumerate(((4, 5), (3, 2))):
        alone = PairBatch(tile.X[b : b + 1, :n], tile.Y[b : b + 1, :m], words(n), words(m))
        other = PairBatch(*(part[[b]] for part in tile))
        of_pair = links[b : b + 1]
        torch.testing.assert_close(crf(alone, of_pair[:, :n, :m]), crf(other, of_pair))
        torch.testing.assert_close(crf.weights(alone), crf.weights(other)[:, :n, :m])
        assert not crf.weights(tile)[b, n:].any()
        assert not crf.weights(tile)[b, :, m:].any()


def test_seen_from_the_target_all_is_the_same():
    torch.manual_seed(0)
    crf = SemiCrf(8).eval()
    tile, links = ragged()
    turned = PairBatch(tile.Y, tile.X, tile.is_target, tile.is_source)
    torch.testing.assert_close(crf(tile, links), crf(turned, links.mT))
    assert crf(tile, links) > 0


def test_it_learns_the_links_that_it_is_given():
    torch.manual_seed(0)
    crf = SemiCrf(8)
    tile, links = ragged()
    optimiser = torch.optim.Adam(crf.parameters(), lr=3e-3)
    for _ in range(60):
        optimiser.zero_grad()
        crf(tile, links).backward()
        optimiser.step()
    torch.testing.assert_close(crf.eval().weights(tile), links)
