"""Values that the options of `otalign train` stand for: corpora, problem, teachers, recipe, precision."""

import re
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from otalign.aligner import Aligner
from otalign.alignment import Level
from otalign.cli import gold
from otalign.cli.input import check_input, read_pairs
from otalign.cli.options import complete_model
from otalign.encoders import EXPORTED
from otalign.io import CORPORA
from otalign.models import resolve_model
from otalign.ot import Problem
from otalign.problems import PARAMETERS, build_problem
from otalign.settings import SETTINGS, Learned
from otalign.suggestions import suggest

if TYPE_CHECKING:
    from otalign.training import Augmentation, CorpusSplits, PairTexts

TrainableProblem = Literal["learned", "bot", "pot", "uot"]
Precision = Literal["float32", "bfloat16"]
DEFAULTS = {"tau": 0.4}  # parameters that differ from those of an aligner that is not trained


def read_sources(
    names: list[str],
    devs: list[Path],
    format: str | None,
    data: Path | None,
    limit: int | None,
    fold: str | None = None,
) -> "dict[str, CorpusSplits]":
    """Read corpora by name, and all files together as one more corpus.

    Args:
        names: Names of corpora, and files to learn from.
        devs: Files of the dev set.
        format: Format of the files, or None to guess it for each.
        data: Folder of the corpora.
        limit: Maximum number of pairs of each set.
        fold: The only fold of each dev set that is not learned from, as K/N.
    """
    from otalign.training import CorpusSplits

    files = [Path(name) for name in names if name not in CORPORA]
    for file in files:
        check_input(str(file), or_corpus=True)
    if files and not devs:
        raise ValueError(f"--dev is missing: {files[0]} is a file, and training needs a dev set too")
    if devs and not files:
        raise ValueError("--dev applies only to files; remove it, since a corpus by name has its own dev set")
    sources = {}
    for name in dict.fromkeys(name for name in names if name in CORPORA):
        splits = (gold.load_split(name, split, data, limit) for split in ("train", "dev"))
        sources[name] = CorpusSplits(*splits)
    if files:
        splits = (gold.read_gold_files(paths, format, limit) for paths in (files, devs))
        sources[files[0].stem] = CorpusSplits(*splits)
    if fold is None:
        return sources
    held_out, folds = parse_part("--fold", fold)
    return {name: splits.move_folds(held_out, folds) for name, splits in sources.items()}


def parse_part(option: str, value: str) -> tuple[int, int]:
    """Parse the number of a part and the number of parts, given as K/N."""
    match = re.fullmatch(r"(\d+)/(\d+)", value)
    number, count = map(int, match.groups()) if match else (0, 0)
    if not 1 <= number <= count or count < 2:
        raise ValueError(
            f"{option} must be K/N such as 1/5, with K from 1 to N and N at least 2, got {value!r}"
        )
    return number, count


def make_problem(name: TrainableProblem, **parameters: float | None) -> Problem | Learned:
    """Make the problem to train, given by its name and parameters; None stands for the default."""
    for parameter, value in parameters.items():
        owner = PARAMETERS[parameter].name
        if value is not None and owner != name:
            raise ValueError(f"--{parameter} applies only to --problem {owner}; remove it or choose {owner}")
    if name == "learned":
        return Learned()
    own = {key: DEFAULTS.get(key) if value is None else value for key, value in parameters.items()}
    problem = build_problem(name, **{key: own[key] for key in own if PARAMETERS[key].name == name})
    assert problem is not None
    return problem


def check_needs_teacher(folders: list[Path] | None, options: dict[str, Any]) -> None:
    """Raise ValueError if an option needs a teacher and there is none."""
    for name, value in options.items():
        if value not in (None, []) and not folders:
            raise ValueError(f"--{name} needs a teacher to learn from; give --teacher too")


def load_teachers(
    folders: list[Path], problem: Problem | Learned, level: Level | None, device: str | None, bf16: bool
) -> list[Aligner]:
    """Load the teachers, and check that the problem can be learned from them."""
    teachers = []
    for given in folders:
        folder = Path(resolve_model(given))
        if not (folder / SETTINGS).is_file():
            raise ValueError(
                "--teacher must be the folder of a trained aligner, or an installed model, "
                f"got {given}{suggest(str(given), complete_model(''))}"
            )
        exported = (folder / EXPORTED).is_file()
        precision = "bfloat16" if bf16 and not exported else "float32"
        teachers.append(Aligner.load(folder, device=None if exported else device, precision=precision))
    if teachers:
        from otalign.training.objectives import make_objective

        make_objective(problem, level).check_teachers(teachers)
    return teachers


def read_unlabelled_pairs(files: list[Path], limit: int | None) -> "PairTexts":
    """Read sentence pairs without links, as text that is split into words or as words.

    Pairs without words on one side are left out.
    """
    from otalign.training import PairTexts

    pairs = (
        pair for file in files for pair in read_pairs([str(file)], None, False, "", None, read_before=False)
    )
    words = ((source.words, target.words) for source, target in pairs)
    return PairTexts.build(islice((pair for pair in words if all(pair)), limit))


def parse_augmentation(shares: list[str] | None, default: "Augmentation") -> "Augmentation":
    """Parse shares of augmented copies, given as KIND=SHARE; kinds that are not given keep the default."""
    from otalign.training.augmentation import KINDS

    changes: dict[str, float] = {}
    for one in shares or ():
        kind, _, share = one.partition("=")
        try:
            named = dict.fromkeys(KINDS if kind == "all" else [kind], float(share))
        except ValueError:
            raise ValueError(f"--augment must be KIND=SHARE such as typos=0.1, got {one!r}") from None
        if not named.keys() <= set(KINDS):
            raise ValueError(f"--augment must name one of {', '.join(KINDS)} or all, got {kind!r}")
        changes |= named
    return replace(default, **changes)


def parse_learning_rates(rates: str | None, default: float) -> list[float]:
    """Parse learning rates that are separated by commas."""
    try:
        return [float(rate) for rate in rates.split(",")] if rates else [default]
    except ValueError:
        raise ValueError(
            f"--learning-rate must be numbers separated by commas such as 5e-5,1e-4, got {rates!r}"
        ) from None


def uses_bf16(precision: Precision | None, device: str | None) -> bool:
    """Return whether to compute in bfloat16; by default on a GPU."""
    if precision is not None:
        return precision == "bfloat16"
    import torch

    return torch.cuda.is_available() and device != "cpu"
