"""`otalign align --method`: the baselines as a user runs them; options of other methods are refused."""

import pytest

from otalign.baselines import ArgMax, FastAlign, FastAligner, SimAlign, SimAligner
from otalign.cli.aligner_options import AlignerOptions, build_aligner_options, list_options
from otalign.cli.methods import OPTIONS, check_method
from otalign.gold import Gold
from otalign.io import write
from otalign.text.words import split, tokenize
from tests.cli.samples import SOURCE, TARGET, lines

FILES = ("source.txt", "target.txt")
PAIRS = list(zip(SOURCE, TARGET, strict=True))
MORE = [("the used car", "a car in use"), ("", "nothing"), ("rain today", "rain , today")]


def test_simalign_gives_a_line_for_each_line(run, model):
    rows = [line.split("\t") for line in lines(run("align", *FILES, "--method", "simalign", "--weights"))]
    expected = list(SimAligner.load(model).align_many(PAIRS))
    assert [links for links, _ in rows] == [alignment.pharaoh() for alignment in expected]
    weights = [[float(weight) for weight in row.split()] for _, row in rows]
    assert weights == [[link.weight for link in alignment.links] for alignment in expected]


def test_simalign_takes_its_options(run, model):
    own = ("--matching", "argmax", "--distortion", "0.5", "--null-threshold", "0.99")
    others = ("--pairing", "joint", "--centring", "--batch-size", "64", "--threads", "1", "--device", "cpu")
    aligner = SimAligner.load(model, SimAlign(ArgMax(), 0.5, 0.99), pairing="joint", centring=True)
    found = lines(run("align", *FILES, "--method", "simalign", *own, *others))
    assert found == [alignment.pharaoh() for alignment in aligner.align_many(PAIRS)]


def test_fast_align_needs_no_model_and_learns_from_its_input(command, command_server, tmp_path):
    given = command("align", *FILES, "--method", "fast-align", "-o", "out.txt")
    del given["env"]["OTALIGN_MODEL"]
    done = command_server.run(**given)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    expected = [alignment.pharaoh() for alignment in FastAligner().align_many(PAIRS)]
    assert (tmp_path / "out.txt").read_text().splitlines() == expected
    assert expected[1] == expected[3] == ""


def test_fast_align_learns_from_files_in_front(run, tmp_path):
    (tmp_path / "more.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in MORE))
    (tmp_path / "more.jsonl").write_text('{"source": ["old"], "target": ["used"]}\n')
    more = ("--train", "more.tsv", "--train", "more.jsonl")
    found = run("align", *FILES, "--method", "fast-align", "--pretokenized", "--symmetrise", "union", *more)
    front = [*((source.split(), target.split()) for source, target in MORE), (["old"], ["used"])]
    pairs = [(split(source).words, split(target).words) for source, target in PAIRS]
    expected = FastAlign().train([*front, *pairs]).aligned.symmetrise("union")[len(front) :]
    links = [{tuple(map(int, link.split("-"))) for link in line.split()} for line in lines(found)]
    assert links == expected


def test_fast_align_learns_from_a_corpus_by_its_splits(run, tmp_path):
    folder = tmp_path / "multimwa" / "MultiMWA-MTRef"
    folder.mkdir(parents=True)
    told = [("a b", "A B"), ("a c", "A C"), ("b c", "B C")] * 5
    for name, pairs in {"train": told, "dev": [("x", "y")], "test": [("c a", "A C")]}.items():
        golds = (Gold(target.split(), source.split(), frozenset()) for source, target in pairs)  # swapped
        write(golds, folder / f"mtref-{name}.tsv", "multimwa")
    options = ("align", "mtref", "--data", ".", "--method", "fast-align", "--train")
    assert lines(run(*options, "mtref:dev")) == ["0-0 1-1"]
    assert lines(run(*options, "mtref:dev", "--train", "mtref:train")) == ["0-1 1-0"]
    assert lines(run(*options, "mtref")) == ["0-1 1-0"]


def test_learning_reports_how_far_it_is():
    seen = []
    aligner = FastAligner(progress=lambda name, done, total: seen.append((name, done, total)))
    assert len(list(aligner.align_many(PAIRS))) == len(PAIRS)
    assert {("learning forward", 4, 4), ("learning reverse", 4, 4)} <= set(seen)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "giza"), "--method must be one of ot, simalign, fast-align, got 'giza'"),
        (("--method", "simalign", "--tau", "0.5"), "--tau applies only to --method ot; remove it"),
        (
            ("--method", "fast-align", "--model", "m"),
            "--model applies only to --method ot or simalign; remove it",
        ),
        (("--method", "simalign", "--matching", "max"), "--matching must be one of argmax, itermax, match"),
        (("--method", "simalign", "--null-threshold", "2"), "--null-threshold must be from 0 to 1, got 2"),
        (("--method", "fast-align", "--symmetrise", "no"), "--symmetrise must be one of intersection, union"),
        (("--method", "fast-align", "--train", "-"), "--train must be a file or one of msr-rte, newsela"),
        (("--method", "fast-align", "--train", "out.txt"), "out.txt is an input too"),
    ],
)
def test_errors_are_reported_and_nothing_is_lost(run, tmp_path, arguments, message):
    (tmp_path / "out.txt").write_text("what was\there before\n")
    done = run("align", *FILES, *arguments, "-o", "out.txt", rc=2)
    assert done.stderr.decode().startswith("otalign: ")
    assert message in done.stderr.decode()
    assert (tmp_path / "out.txt").read_text() == "what was\there before\n"


def test_every_option_is_of_some_method():
    names = {option.name for option in list_options()} - {"method"}
    assert names == {name for having in OPTIONS.values() for name in having}


@pytest.mark.parametrize("method", OPTIONS)
def test_options_of_other_methods_are_refused(method, monkeypatch):
    monkeypatch.delenv("OTALIGN_MODEL", raising=False)
    values = {"exact": True, "centring": False, "train": ["a.tsv"], "batch_size": 1, "distortion": 0.0}
    defaults = {option.name: option.default for option in list_options()}
    for name in defaults.keys() - {"method"}:
        options = build_aligner_options(**defaults | {"method": method, name: values.get(name, "0")})
        if name in OPTIONS[method]:
            check_method(options)
        else:
            with pytest.raises(ValueError, match=r"applies only to --method .*; remove it or choose"):
                check_method(options)


def test_a_model_set_for_all_commands_is_no_option_of_this_one(monkeypatch):
    monkeypatch.setenv("OTALIGN_MODEL", "somewhere")
    check_method(AlignerOptions(method="fast-align", model="somewhere"))


def test_words_are_those_of_the_tokeniser(run):
    (line,) = lines(run("align", SOURCE[0], TARGET[0], "--method", "fast-align", "--format", "columns"))
    assert line.split("\t")[:2] == [" ".join(tokenize(side).words) for side in PAIRS[0]]
