"""The six corpora have the counts of the paper, if available; otherwise the error says how to get them."""

from statistics import mean

import pytest

from otalign.gold import Gold, WordlessLinks
from otalign.io import CORPORA, load, read, write
from tests.corpus_data import DATA, load_corpus, needs_data

SIZES = {
    "msr-rte": {"train": 600, "dev": 200, "test": 800},
    "newsela": {"test": 500},
    "edinburgh++": {"train": 514, "dev": 200, "test": 306},
    "mtref": {"train": 2398, "dev": 800, "test": 800},
    "arxiv": {"test": 200},
    "wiki": {"train": 2514, "dev": 533, "test": 1052},
}
NULL_RATES = {
    ("msr-rte", "sure"): 63.79,
    ("msr-rte", "possible"): 59.00,
    ("newsela", "sure"): 33.28,
    ("newsela", "possible"): 23.49,
    ("edinburgh++", "sure"): 27.40,
    ("edinburgh++", "possible"): 19.00,
    ("mtref", "sure"): 18.73,
    ("mtref", "possible"): 11.22,
    ("arxiv", "sure"): 12.78,
    ("arxiv", "possible"): 12.21,
    ("wiki", "sure"): 8.25,
    ("wiki", "possible"): 8.25,
}


def null_rate(alignment):
    nulls = len(alignment.source_nulls) + len(alignment.target_nulls)
    return nulls / sum(alignment.shape)


@needs_data
@pytest.mark.parametrize(("name", "split"), [(name, split) for name in SIZES for split in SIZES[name]])
def test_every_split_has_its_pairs_in_lower_case(name, split):
    golds = load_corpus(name, split)
    assert len(golds) == SIZES[name][split]
    assert all(word == word.lower() for gold in golds for word in gold.source + gold.target)


@needs_data
@pytest.mark.parametrize(("name", "level"), NULL_RATES)
def test_the_null_rates_of_the_test_sets_are_those_of_the_paper(name, level):
    rate = mean(null_rate(gold.alignment(level)) for gold in load_corpus(name, "test"))
    assert f"{100 * rate:.2f}" == f"{NULL_RATES[name, level]:.2f}"


@needs_data
@pytest.mark.parametrize("split", SIZES["msr-rte"])
def test_the_annotators_of_msr_rte_give_the_preprocessed_files(split):
    golds = load_corpus("msr-rte", split)
    for level, name in (("sure", "sure"), ("possible", "sure-and-possible")):
        expected = read(DATA / f"msr-rte/preprocessed/{name}_{split}.txt", "columns")
        for gold, alignment in zip(golds, expected, strict=True):
            assert gold.pairs(level) == alignment.pairs
            assert gold.source == tuple(word.lower() for word in alignment.source)
            assert gold.target == tuple(word.lower() for word in alignment.target)


@needs_data
def test_the_source_of_mtref_is_the_second_sentence():
    written = read(DATA / CORPORA["mtref"].files["test"][0], "multimwa")
    # Its sentences are in lower case already.
    assert [gold.transpose() for gold in load_corpus("mtref", "test")] == list(written)


@needs_data
@pytest.mark.parametrize("name", SIZES)
def test_a_corpus_survives_the_formats_of_two_levels(name, tmp_path):
    golds = list(load_corpus(name, "test"))
    for format in ("multimwa", "msr-rte", "jsonl"):
        write(golds, tmp_path / format, format)
        assert list(read(tmp_path / format, format)) == golds
    write(golds, tmp_path / "links", "pharaoh")
    assert list(read(tmp_path / "links", "pharaoh")) == [
        WordlessLinks(gold.sure, gold.possible) for gold in golds
    ]


def test_the_names_and_splits_are_known_without_the_data():
    assert {name: set(corpus.files) for name, corpus in CORPORA.items()} == {
        name: set(sizes) for name, sizes in SIZES.items()
    }


def test_a_corpus_is_read_from_the_folder_given_or_named(tmp_path, monkeypatch):
    files = CORPORA["edinburgh++"].files["dev"]
    for file, links in zip(files, ("0-0", "0-0 1-0"), strict=True):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(f"Red Boats\tShips\t{links}\n")
    gold = Gold(("red", "boats"), ("ships",), frozenset({(0, 0)}), frozenset({(1, 0)}))
    assert load("edinburgh++", "dev", tmp_path) == (gold,)
    monkeypatch.setenv("OTALIGN_DATA", str(tmp_path))
    assert load("edinburgh++", "dev") == (gold,)
    (tmp_path / files[1]).write_text("Red Ships\tShips\t\n")
    with pytest.raises(ValueError, match="must hold the same pairs"):
        load("edinburgh++", "dev")


@pytest.mark.parametrize("name", SIZES)
def test_a_missing_corpus_error_names_its_origin_and_its_layout(name, tmp_path, monkeypatch):
    with pytest.raises(
        FileNotFoundError, match=r"there is no .*\n.*Get the corpus from .*github\.com"
    ) as caught:
        load(name, "test", tmp_path)
    for file in CORPORA[name].files["test"]:
        assert file in str(caught.value)
    monkeypatch.delenv("OTALIGN_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"pass data= or set OTALIGN_DATA\n.*Get the corpus from"):
        load(name, "test")


def test_unknown_names_and_splits_are_named():
    with pytest.raises(ValueError, match=r"name must be one of msr-rte, .*, got 'mrpc'"):
        load("mrpc", "test")
    with pytest.raises(ValueError, match="split of newsela must be one of test, got 'train'"):
        load("newsela", "train")
