"""`python -m experiments supervised` as a user runs it, over a tiny encoder and corpora made here."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("accelerate")

from experiments import paper
from experiments.cli import app
from experiments.columns import COLUMNS, DEVS, dev_levels
from experiments.study_data import StudySource
from experiments.supervised import (
    ROWS,
    Failure,
    StudyContext,
    figures,
    run_study,
    tables,
    trainers,
    training,
)
from experiments.supervised.jobs import ALL, BOTH, Job, JobQueue, ModelId, list_models, order_jobs
from experiments.supervised.reliability import MIN_PROBABILITY, measure_reliability
from experiments.supervised.workers import run_jobs
from otalign.metrics import Counts, compute_scores
from tests.experiments.runner import files, run_experiment

REFIT = ("learned-refit", "learned-further-refit")
BEST = ("learned-best", "learned-best-refit")
TRAINED = ("uot", "learned-union", "learned-one", "learned-further", *REFIT, *BEST, "ablation-layers")
KINDS = ["--seeds", "2", "--rows", ",".join(TRAINED)]


def run(capsys, *arguments, rc: int = 0) -> tuple[str, str]:
    return run_experiment(capsys, "supervised", *arguments, rc=rc)


@pytest.fixture(scope="module", autouse=True)
def short():
    """Train every row for an epoch or two; the quality of the models is not tested."""
    with pytest.MonkeyPatch.context() as patch:
        for name, row in ROWS.items():
            epochs = 1 if row.by_level or not row.tested else 2
            patch.setitem(ROWS, name, replace(row, recipe=row.recipe.replace(epochs=epochs, steps=0)))
        yield


@pytest.fixture(scope="module")
def options(model, corpora):
    return ["--encoder", str(model), "--data", str(corpora), "--device", "cpu", "--limit", "5"]


@pytest.fixture(scope="module")
def context(model, corpora):
    def prepare(folder):
        return StudyContext.prepare(StudySource(str(model), corpora, 5, "cpu"), folder)

    return prepare


@pytest.fixture(scope="module")
def results(options, tmp_path_factory):
    """Return the results of a run with rows of every kind and two seeds."""
    from typer.testing import CliRunner

    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "write", lambda study, folder: [])
        output = CliRunner().invoke(app, ["supervised", *options, "-o", str(folder), *KINDS])
    assert output.exit_code == 0, output.output
    return folder


def test_the_tables_hold_all_rows_seeds_and_columns(results):
    table = json.loads((results / "supervised.json").read_text())
    assert [row["row"] for row in table["rows"]] == list(TRAINED)
    for row in table["rows"]:
        known = {(key, result["seed"]) for result in row["results"] for key in result["test"]}
        tested = COLUMNS if ROWS[row["row"]].tested else ()
        assert known == {(column.key, seed) for column in tested for seed in (1, 2)}
    text = (results / "supervised.md").read_text()
    for row in (ROWS[name] for name in TRAINED):
        lines = [line for line in text.splitlines() if line.startswith(f"| {row.title} |")]
        assert len(lines) >= (3 if row.tested else 1)  # F1, precision, recall; dev F1
        assert all("–" not in line for line in lines)
    assert text.count("| _paper_ |") == 1
    for name, title in paper.PEERS.items():
        assert f"| _{title}_ | _{paper.SUPERVISED[name][0]}_" in text
    assert "± " in text
    with (results / "supervised.csv").open() as file:
        lines = list(csv.DictReader(file))
    tests = [line for line in lines if line["split"] == "test"]
    assert len(tests) == 2 * len(COLUMNS) * sum(ROWS[name].tested for name in TRAINED)
    assert all(line["signature"].endswith("version:0.1.0") for line in tests)


def test_the_peers_have_rows_of_their_own_beside_the_papers(options, tmp_path, capsys):
    run(capsys, *options, "--rows", ",".join(paper.PEERS), "--seeds", "1", "-o", tmp_path)
    text = (tmp_path / "supervised.md").read_text()
    assert text.count("| _paper_ |") == len(paper.PEERS)
    for name, title in paper.PEERS.items():
        assert f"| {ROWS[name].title} |" in text
        assert f"| _{title}_ |" not in text
    results = [json.loads(path.read_text()) for path in (tmp_path / "runs").glob("*.json")]
    assert {one["problem"]["name"] for one in results} == set(paper.PEERS)
    assert {key for one in results for key in one["test"]} == {column.key for column in COLUMNS}


def test_what_was_counted_is_kept_and_gives_the_figures_again(results):
    for path in (results / "runs").glob("*_1_*.json"):
        result = json.loads(path.read_text())
        if not result["test"]:
            assert not path.with_suffix(".npy").exists()
            continue
        table, start = np.load(path.with_suffix(".npy")), 0
        assert table.dtype == np.int32
        for key, figures_ in result["test"].items():
            counts = Counts(table[start : start + figures_["pairs"]], key.split(" ")[1])
            assert compute_scores(counts, ["f1"])["f1"] == pytest.approx(figures_["f1"])
            start += figures_["pairs"]
        assert start == len(table)


def test_the_first_seed_chooses_by_dev_f1_and_the_others_take_it_over(results):
    runs = [json.loads(path.read_text()) for path in (results / "runs").glob("uot_*.json")]
    first = {(r["corpus"], r["level"]): r for r in runs if r["seed"] == 1}
    for result in runs:
        best = first[result["corpus"], result["level"]]
        tried = [one["dev_f1"] for one in best["tried"]]
        assert len(tried) == len(ROWS["uot"].tries)
        assert best["chosen"] == tried.index(max(tried)) == result["chosen"]
        assert len(result["tried"]) == (1 if result["seed"] > 1 else len(tried))
        assert result["recipe"]["learning_rate"] == ROWS["uot"].tries[best["chosen"]].learning_rate


@pytest.mark.parametrize("row", BEST)
def test_the_better_of_two_rows_is_that_with_the_higher_dev_f1_of_a_corpus_and_level(results, row):
    table = json.loads((results / "supervised.json").read_text())
    rows = {one["row"]: one["results"] for one in table["rows"]}
    for best in rows[row]:
        corpus, level, seed = best["corpus"], best["level"], best["seed"]
        those = [
            next(one for one in rows[name] if one["seed"] == seed and level in one["dev"].get(corpus, ()))
            for name in ROWS[row].better_of
        ]
        better = max(those, key=lambda one: one["dev"][corpus][level]["f1"])
        assert best["dev"] == {corpus: {level: better["dev"][corpus][level]}}
        decided = {column.key for column in COLUMNS if (column.dev, column.level) == (corpus, level)}
        assert best["test"] == {key: better["test"][key] for key in decided}


def test_one_model_of_all_corpora_has_one_threshold_a_level_unless_it_is_tuned(results):
    def thresholds(row):
        (path,) = (results / "runs").glob(f"{row}_all_both_1_*.json")
        result = json.loads(path.read_text())
        return result, {key: of["threshold"] for key, of in result["test"].items()}

    result, one = thresholds("learned-one")
    for key, threshold in one.items():
        assert threshold == result["problem"]["sure" if key.endswith(" sure") else "possible"]
    result, tuned = thresholds("learned-union")
    for column in COLUMNS:
        levels = result["dev"][column.dev]
        assert tuned[column.key] == levels.get(column.level, levels["sure"])["threshold"]
    assert set(result["reliability"]) == {"sure", "possible"}


def test_a_finished_study_is_not_made_again(results, options, capsys, monkeypatch):
    before, table = files(results / "runs"), (results / "supervised.json").read_text()
    monkeypatch.setattr(trainers, "train", None)
    monkeypatch.setattr(figures, "write", lambda study, folder: [])
    _, output = run(capsys, *options, "-o", results, *KINDS)
    assert output == ""
    assert files(results / "runs") == before
    assert (results / "supervised.json").read_text() == table


def test_failures_are_reported_and_repeated_by_the_next_run(options, capsys, monkeypatch, tmp_path):
    train = trainers.train
    monkeypatch.setattr(figures, "write", lambda study, folder: [])

    def failing(encoder, sources, *rest, **more):
        if list(sources) == ["mtref"]:
            raise RuntimeError("the lights went out")
        return train(encoder, sources, *rest, **more)

    monkeypatch.setattr(trainers, "train", failing)
    some = (*options, "-o", tmp_path, "--seeds", 1, "--rows", "learned-further")
    _, output = run(capsys, *some, rc=1)
    for level in ("sure", "possible"):
        assert f"learned-further, mtref {level}, seed 1: failed, RuntimeError: the lights went out" in output
    assert f"otalign: 2 failed; see {tmp_path / 'failed.txt'}" in output
    assert "Traceback" in (tmp_path / "failed.txt").read_text()
    made = files(tmp_path / "runs")
    assert len([name for name in made if name.endswith(".json")]) == 6  # the one of all, and five
    steps = []
    monkeypatch.setattr(trainers, "train", train)
    monkeypatch.setattr("otalign.training.run.TrainingRun._step", _count_steps(steps))
    _, output = run(capsys, *some)
    assert output.count("seed 1: dev F1") == 2
    assert len(steps) == 2  # those of mtref alone, at two levels: the model of all was kept
    after = files(tmp_path / "runs")
    assert not [name for name in after if name.endswith(".model")]
    assert {
        name: after[name] for name in made if name in after and name.endswith(".json")
    }.items() <= made.items()
    assert not (tmp_path / "failed.txt").exists()


def test_a_model_that_cannot_be_tested_is_not_trained_again(options, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(figures, "write", lambda study, folder: [])
    monkeypatch.setattr(training, "CHECKPOINT_INTERVAL", 0.0)
    some = (*options, "-o", tmp_path, "--seeds", 1, "--rows", "uot")

    def failing(*_):
        raise MemoryError("no room")

    steps = []
    with monkeypatch.context() as patch:
        patch.setattr(training, "count", failing)
        run(capsys, *some, rc=1)
    assert list((tmp_path / "runs").glob("*.pt"))
    monkeypatch.setattr("otalign.training.run.TrainingRun._step", _count_steps(steps))
    run(capsys, *some)
    assert not steps
    assert {path.suffix for path in (tmp_path / "runs").iterdir()} == {".json", ".npy"}


def _count_steps(steps):
    from otalign.training.run import TrainingRun

    step = TrainingRun._step

    def count_step(self, parts):
        steps.append(parts)
        return step(self, parts)

    return count_step


def test_several_processes_come_to_what_one_does(context, tmp_path):
    jobs = [Job((ModelId("ablation-layers", ALL, BOTH, 1),))]
    # A process has the rows as they are written, not as they are here.
    with pytest.MonkeyPatch.context() as patch:
        row = ROWS["ablation-layers"]
        patch.setitem(ROWS, row.name, replace(row, recipe=row.recipe.replace(epochs=6, steps=600)))
        alone = list(run_jobs(jobs, context(tmp_path / "one")))
        # The first kills its process, which costs nothing but itself.
        several = list(run_jobs([Job(()), *jobs], context(tmp_path / "two"), 2))
        key = {result.model: (result.key, result.dev_f1) for result in alone}
        assert {result.model: (result.key, result.dev_f1) for result in several} == key


def test_a_job_waits_for_the_choice_that_it_takes_over_and_for_nothing_else():
    row = ROWS["uot"]
    models = [*list_models(row, 3), *list_models(ROWS["bot"], 2)]
    jobs = order_jobs(models, lambda model: len(model.corpus))
    queue = JobQueue(jobs)
    first = [queue.next() for _ in range(sum(len(dev_levels(dev)) for dev in DEVS))]
    assert {job.models[0].seed for job in first if job} == {1}
    assert all(job.models[0].row == "uot" for job in first if job)
    assert queue.next().models[0].row == "bot"  # pyright: ignore[reportOptionalMemberAccess]
    queue.finish(first[3])  # pyright: ignore[reportArgumentType]
    assert queue.next().after == first[3].models[0]  # pyright: ignore[reportOptionalMemberAccess]


def test_jobs_come_in_the_order_of_their_urgency_and_size():
    models = [model_id for row in ROWS.values() for model_id in list_models(row)]
    jobs = order_jobs(models, lambda model: len(model.corpus))
    assert sorted(model_id for job in jobs for model_id in job.models) == sorted(models)
    rows = list(dict.fromkeys(job.models[0].row for job in jobs))
    assert rows[:8] == ["learned-union", "learned-further", "uot", "bot", "pot", "learned", *paper.PEERS]
    assert all(row.startswith("ablation-") for row in rows[8:])
    assert len(jobs[0].models) == 3  # the union, one, refit
    assert all(len(job.models) == 2 and job.after == jobs[0].models[0] for job in jobs[1:8])  # further
    sizes = [len(job.models[0].corpus) for job in jobs if job.models[0].row == "learned"]
    assert sizes[:4] == sorted(sizes[:4], reverse=True)


def test_ablations_touch_no_test_set():
    for name in ROWS:
        for model_id in list_models(ROWS[name]):
            assert bool(model_id.columns) != name.startswith("ablation-")


def test_without_a_choice_the_other_seeds_say_what_is_missing(context, tmp_path):
    model_id = ModelId("uot", "wiki", "sure", 2)
    (failure,) = run_jobs([Job((model_id,))], context(tmp_path))
    assert isinstance(failure, Failure)
    assert "uot, wiki sure, seed 1 is missing" in failure.error


def test_reliability_sees_every_cell_and_every_word(context, model, tmp_path):
    from otalign.training import RunOptions, train

    here = context(tmp_path)
    golds = here.data.get_golds("mtref", "test")
    trained = train(
        str(model), {"wiki": here.get_splits("wiki")}, *_get_recipe(), options=RunOptions(device="cpu")
    )
    found = measure_reliability(trained.aligner, golds, "sure")
    assert found["all cells"].counts.sum() == sum(n * m for n, m in (gold.shape for gold in golds))
    assert found["all cells"].observed.sum() == sum(len(gold.sure) for gold in golds)
    assert found["nulls"].counts.sum() == sum(sum(gold.shape) for gold in golds)
    assert found["links"].counts[1:].tolist() == found["all cells"].counts[1:].tolist()
    assert found["links"].expected[0] >= MIN_PROBABILITY * found["links"].counts[0]


def _get_recipe():
    row = ROWS["learned"]
    return row.tries[0].problem, row.recipe


def test_figures_are_drawn_of_what_is_there(results, context):
    pytest.importorskip("matplotlib")
    study = run_study(context(results), TRAINED, seeds=2)
    written = figures.write(study, results / "figures")
    names = ["supervised-f1-by-null-rate", "supervised-f1-by-phrase-share", "reliability"]
    assert [path.name for path in written] == [f"{name}.{kind}" for name in names for kind in ("svg", "png")]
    assert all(path.stat().st_size for path in written)


def test_tables_and_figures_of_nothing_are_no_error(context, tmp_path):
    study = run_study(context(tmp_path), [])
    assert tables.format_markdown(study).startswith("# Supervised alignment")
    assert figures.write(study, tmp_path / "figures") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rows", "main,potts"), "rows must be main, all, or one of semi-crf, span-prediction, bot"),
        (("--precision", "int8"), "--precision must be one of float32, bfloat16, got 'int8'"),
        (("--device", "tpu"), "device must be cpu or cuda, got 'tpu'"),
        (("--data", "nowhere"), "there is no nowhere/"),
        (("-o", __file__), "cannot write into"),
    ],
)
def test_what_cannot_be_done_is_a_clear_error(options, capsys, tmp_path, arguments, message):
    _, output = run(capsys, *options, "-o", tmp_path / "x", *arguments, rc=2)
    assert message in output


def test_without_a_data_folder_the_error_says_how_to_give_one(model, capsys, tmp_path):
    _, output = run(capsys, "--encoder", model, "-o", tmp_path, rc=2)
    assert "no data folder is given; pass data= or set OTALIGN_DATA" in output


def test_it_explains_itself_with_an_example(capsys):
    out, _ = run(capsys, "--help")
    assert "Example: python -m experiments supervised --encoder" in " ".join(out.split())
