"""The semi-Markov CRF over spans: gold paths, links of a path, and training."""

import pytest
import torch

from experiments.peers.semi_crf import SemiCrf, find_gold_path, get_path_links
from otalign.scoring import PairBatch


def make_links(pairs, n: int, m: int) -> torch.Tensor:
    links = torch.zeros(1, n, m)
    for i, j in pairs:
        links[0, i, j] = 1
    return links


def words(n: int) -> torch.Tensor:
    return torch.ones(1, n, dtype=torch.bool)


def get_gold_path_links(links: torch.Tensor) -> torch.Tensor:
    """Return the links of the gold path of links."""
    n, m = links.shape[1:]
    return get_path_links(find_gold_path(links, words(n), words(m)), m).float()


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
    links = make_links(pairs, 5, 5)
    torch.testing.assert_close(get_gold_path_links(links), links)


@pytest.mark.parametrize(
    ("pairs", "missed"),
    [({(0, 0), (0, 2)}, 1), ({(1, 0), (1, 1), (1, 2), (1, 3)}, 1), ({(0, 0), (0, 1), (0, 4)}, 1)],
)
def test_other_links_are_learned_as_closely_as_spans_can(pairs, missed):
    links = make_links(pairs, 3, 5)
    assert (get_gold_path_links(links) != links).sum() == missed


def test_phrases_are_one_span_and_null_words_one_each():
    path = find_gold_path(make_links({(1, 1), (1, 2), (2, 1), (2, 2)}, 5, 4), words(5), words(4))
    assert path.sizes.tolist() == [[1, 0, 2, 1, 1]]
    assert path.labels[0, [0, 2, 3, 4]].tolist() == [12, 7, 12, 12]  # 7: two words that end with the third


def make_batch(seed: int = 0) -> tuple[PairBatch, torch.Tensor]:
    """Make a padded batch of two pairs, 4 × 5 and 3 × 2 words, with links."""
    random = torch.Generator().manual_seed(seed)
    X, Y = torch.randn(2, 4, 8, generator=random), torch.randn(2, 5, 8, generator=random)
    is_source, is_target = (
        torch.arange(k) < torch.tensor(sizes)[:, None] for k, sizes in ((4, (4, 3)), (5, (5, 2)))
    )
    links = torch.zeros(2, 4, 5)
    for cell in ((0, 0, 1), (0, 1, 0), (0, 2, 3), (0, 2, 4), (1, 0, 0), (1, 1, 0), (1, 2, 1)):
        links[cell] = 1
    return PairBatch(X, Y, is_source, is_target), links


def test_pairs_have_the_same_loss_in_any_batch():
    torch.manual_seed(0)
    crf = SemiCrf(8).eval()
    batch, links = make_batch()
    for b, (n, m) in enumerate(((4, 5), (3, 2))):
        alone = PairBatch(batch.X[b : b + 1, :n], batch.Y[b : b + 1, :m], words(n), words(m))
        other = PairBatch(*(part[[b]] for part in batch))
        pair_links = links[b : b + 1]
        torch.testing.assert_close(crf(alone, pair_links[:, :n, :m]), crf(other, pair_links))
        torch.testing.assert_close(crf.score_links(alone), crf.score_links(other)[:, :n, :m])
        assert not crf.score_links(batch)[b, n:].any()
        assert not crf.score_links(batch)[b, :, m:].any()


def test_seen_from_the_target_all_is_the_same():
    torch.manual_seed(0)
    crf = SemiCrf(8).eval()
    batch, links = make_batch()
    swapped = PairBatch(batch.Y, batch.X, batch.is_target, batch.is_source)
    torch.testing.assert_close(crf(batch, links), crf(swapped, links.mT))
    assert crf(batch, links) > 0


def test_it_learns_the_links_that_it_is_given():
    torch.manual_seed(0)
    crf = SemiCrf(8)
    batch, links = make_batch()
    optimiser = torch.optim.Adam(crf.parameters(), lr=3e-3)
    for _ in range(60):
        optimiser.zero_grad()
        crf(batch, links).backward()
        optimiser.step()
    torch.testing.assert_close(crf.eval().score_links(batch), links)
