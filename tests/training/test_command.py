"""`otalign train` as a user runs it, with a tiny encoder."""

import json
import shutil

import pytest

from otalign import Aligner, cli
from otalign.io import write
from otalign.scoring.heads import ProjectionHead, TransportHead
from otalign.training import FURTHER
from tests.training.examples import GOLDS

QUICK = ("--epochs", "2", "--batch-size", "4", "--device", "cpu")


@pytest.fixture
def run(tiny_model, tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in a folder with train and dev gold, and returns its output."""
    for name, golds in (("train.jsonl", GOLDS[:10]), ("dev.jsonl", GOLDS[10:])):
        write(golds, tmp_path / name, "jsonl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTALIGN_MODEL", str(tiny_model("bert")))
    monkeypatch.delenv("OTALIGN_DATA", raising=False)

    def run(*arguments: str, rc: int = 0) -> tuple[str, str]:
        monkeypatch.setattr("sys.argv", ["otalign", "train", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        assert ended.value.code == rc, captured.err
        return captured.out, captured.err

    return run


FILES = ("train.jsonl", "--dev", "dev.jsonl")


def test_own_files_become_an_aligner_with_its_record(run, tmp_path):
    out, err = run(*FILES, *QUICK, "-o", "mine")
    assert "train dev sure   F1" in out
    assert "train dev possible   F1" in out
    assert err.count("epoch") == 2
    record = json.loads((tmp_path / "mine/training.json").read_text())
    assert record["sources"] == {"train": {"train": 10, "dev": 4}}
    metrics = [json.loads(line) for line in (tmp_path / "mine/metrics.jsonl").read_text().splitlines()]
    assert [one["epoch"] for one in metrics] == [1, 2]
    assert not (tmp_path / "mine/.training").exists()
    aligner = Aligner.load(tmp_path / "mine", links="possible")
    assert isinstance(aligner.head, TransportHead)
    assert aligner.settings.threshold == aligner.settings.problem.possible  # pyright: ignore
    assert "trained:train, seed 1" in aligner.signature


def test_one_level_can_be_learned(run, tmp_path):
    out, _ = run(*FILES, *QUICK, "--level", "possible", "-o", "mine")
    assert "train dev possible   F1" in out
    assert "train dev sure   F1" not in out
    assert Aligner.load(tmp_path / "mine").settings.links == "possible"


def test_what_was_trained_is_trained_further_for_a_shorter_time(run, tmp_path):
    run(*FILES, *QUICK, "-o", "first")
    out, _ = run(*FILES, *QUICK, "--encoder", "first", "--level", "sure", "-o", "second")
    assert "trained:train, seed 1; train sure, seed 1|" in out
    first, second = (
        json.loads((tmp_path / name / "training.json").read_text())["recipe"] for name in ("first", "second")
    )
    assert (first["learning_rate"], second["learning_rate"]) == (1e-4, FURTHER.learning_rate)
    paper = ("--encoder", "first", "--problem", "uot", "--limit", "2")  # which it has not learned
    run(*FILES, *QUICK, *paper, "-o", "third")
    record = json.loads((tmp_path / "third/training.json").read_text())
    assert record["recipe"]["optimizer"] == "adafactor"


def test_of_several_learning_rates_the_best_is_kept(run, tmp_path):
    out, _ = run(*FILES, *QUICK, "--problem", "uot", "--learning-rate", "1e-9,1e-2", "-o", "mine")
    assert "problem:uot" in out
    metrics = [json.loads(line) for line in (tmp_path / "mine/metrics.jsonl").read_text().splitlines()]
    best = max(metrics, key=lambda one: one["dev_f1"])
    shown = float(out.split("F1 ")[1].split()[0])
    assert shown == pytest.approx(100 * best["dev_f1"], abs=0.05)
    assert isinstance(Aligner.load(tmp_path / "mine").head, ProjectionHead)


def test_a_refit_learns_the_dev_set_and_keeps_what_it_chose(run, tmp_path):
    run(*FILES, *QUICK, "-o", "first")
    run(*FILES, *QUICK, "--refit", "-o", "second")
    first, second = (Aligner.load(tmp_path / name) for name in ("first", "second"))
    assert isinstance(first.head, TransportHead)
    assert isinstance(second.head, TransportHead)
    assert (second.head.calibration == first.head.calibration).all()
    assert second.settings.problem == first.settings.problem
    assert (second.head.map != first.head.map).any()
    assert "dev sets too" in second.signature


def interrupt(monkeypatch, run, *arguments: str) -> None:
    """Run the command until its first checkpoint is written."""
    from otalign.training.run import TrainingRun

    save = TrainingRun._save_checkpoint

    def save_and_stop(self):
        save(self)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_save_checkpoint", save_and_stop)
        _, err = run(*arguments, rc=130)
    assert "interrupted; the same command continues" in err


def test_a_killed_run_continues_with_the_same_result(run, tmp_path, monkeypatch):
    run(*FILES, *QUICK, "-o", "whole")
    interrupt(monkeypatch, run, *FILES, *QUICK, "-o", "torn")
    _, err = run(*FILES, "--epochs", "3", *QUICK[2:], "-o", "torn", rc=2)
    assert "training with other settings (encoder, problem, recipe, teachers or unlabelled pairs); use" in err
    _, err = run(*FILES, *QUICK, "-o", "torn")
    assert err.count("epoch") == 1
    whole, torn = (Aligner.load(tmp_path / name).head for name in ("whole", "torn"))
    assert whole
    assert torn
    for name, array in whole.arrays().items():
        assert (torn.arrays()[name] == array).all(), name


def test_the_same_folder_with_another_train_or_dev_set_is_refused(run, tmp_path, monkeypatch):
    write(GOLDS[9:], tmp_path / "other.jsonl", "jsonl")
    interrupt(monkeypatch, run, *FILES, *QUICK, "-o", "torn")
    _, err = run("train.jsonl", "--dev", "other.jsonl", *FILES[3:], *QUICK, "-o", "torn", rc=2)
    assert "is the checkpoint of a training with another dev set; use the same inputs" in err
    write(GOLDS[:9], tmp_path / "train.jsonl", "jsonl")
    _, err = run(*FILES, *QUICK, "-o", "torn", rc=2)
    assert "is the checkpoint of a training with another train set; use the same inputs" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.jsonl", "--dev", "dev.jsonl"), "there is no file or corpus none.jsonl"),
        (("train.jsonl",), "--dev is missing: train.jsonl is a file"),
        (("mtref", "--dev", "dev.jsonl"), "--dev applies only to files; remove it"),
        (("newsela", "--data", "."), "newsela has no train set; take one that has: msr-rte"),
        ((*FILES, "--problem", "ot"), "--problem must be one of learned, bot, pot, uot, got 'ot'"),
        ((*FILES, "--tau", "0.5"), "--tau applies only to --problem uot; remove it or choose uot"),
        ((*FILES, "--problem", "uot", "--fraction", "1"), "--fraction applies only to --problem pot"),
        ((*FILES, "--level", "s"), "--level must be one of sure, possible, got 's'; it is now sure"),
        ((*FILES, "--learning-rate", "fast"), "--learning-rate must be numbers"),
        ((*FILES, "--precision", "float64"), "--precision must be one of float32, bfloat16, got 'float64'"),
        (
            (*FILES, "--ablate", "luck"),
            "--ablate must be one of competition, prices, neighbours, spelling, support, got 'luck'",
        ),
        (("bad.jsonl", "--dev", "dev.jsonl", "--from", "jsonl"), "bad.jsonl, line 1"),
        (("train.jsonl", "--dev", "empty.jsonl", "--from", "jsonl"), "empty dev set"),
    ],
)
def test_errors_are_reported_before_the_first_step_and_leave_no_trace(run, tmp_path, arguments, message):
    bad = '{"source": ["a"], "target": ["b"], "sure": [[0, 7]], "possible": []}\n'
    (tmp_path / "bad.jsonl").write_text(bad)
    (tmp_path / "empty.jsonl").write_text("")
    _, err = run(*arguments, *QUICK, "-o", "mine", rc=2)
    assert message in err
    assert not (tmp_path / "mine").exists()


def test_an_aligner_that_was_exported_in_int8_is_trained_further(run, tmp_path, exported):
    run(*FILES, *QUICK, "-o", "first")
    shutil.copytree(exported("bert", 3, int8=True), tmp_path / "small")
    for name in ("head.safetensors", "otalign.json"):
        shutil.copy(tmp_path / "first" / name, tmp_path / "small")
    run(*FILES, *QUICK, "--encoder", "small", "-o", "further")
    first, further = (Aligner.load(tmp_path / name).settings for name in ("first", "further"))
    assert further.trained == f"{first.trained}; train, seed 1"
    assert (further.pairing, further.layer) == (first.pairing, 3)


def test_installed_models_are_encoders_and_teachers_by_name(run, monkeypatch):
    commands = []
    monkeypatch.setattr("otalign.cli.train._Command.run", lambda command: commands.append(command))
    run(*FILES, *QUICK, "--encoder", "small", "--teacher", "small", "-o", "mine")
    (command,) = commands
    assert [teacher.signature for teacher in command.teachers] == [Aligner.load("small").signature]


def test_a_trained_aligner_can_be_calibrated_on_another_dev_set(run, tmp_path, monkeypatch, capsys):
    run(*FILES, *QUICK, "-o", "mine")
    tune = ["otalign", "tune", "dev.jsonl", "--from", "jsonl", "--model", "mine", "-o", "calibrate"]
    monkeypatch.setattr("sys.argv", tune)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    assert "dev.jsonl dev possible   F1" in capsys.readouterr().out
    before, after = (Aligner.load(tmp_path / name).head for name in ("mine", "calibrate"))
    assert before
    assert after
    assert (before.arrays()["map"] == after.arrays()["map"]).all()
