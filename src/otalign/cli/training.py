"""What the options of `otalign train` say: gold to learn from, what is learned, how, and from whom."""

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otalign.aligner import SETTINGS, Aligner, load_settings
from otalign.cli import gold
from otalign.cli.input import read_pairs
from otalign.encoders import EXPORTED
from otalign.io import CORPORA
from otalign.ot import Balanced, Partial, Problem, Unbalanced
from otalign.settings import Learned

if TYPE_CHECKING:
    from otalign.training import Augmentation, CorpusSplits, PairTexts, Recipe


def sources(
    names: list[str], devs: list[Path], format: str, data: Path | None, limit: int | None
) -> "dict[str, CorpusSplits]":
    """Each corpus by name, and all files together."""
    from otalign.training import CorpusSplits

    files = [Path(name) for name in names if name not in CORPORA]
    if files and not devs:
        raise ValueError(f"give --dev, gold to choose by, for {files[0]}: training stops by it")
    if devs and not files:
        raise ValueError("--dev is for files to learn from; a corpus by name has its own")
    sources = {}
    for name in dict.fromkeys(name for name in names if name in CORPORA):
        sources[name] = CorpusSplits(
            *(gold.load_split(name, split, data, limit) for split in ("train", "dev"))
        )
    if files:
        sources[files[0].stem] = CorpusSplits(
            *(gold.read_gold_files(paths, format, limit) for paths in (files, devs))
        )
    return sources


def problem_of(said: str, tau: float, fraction: float) -> Problem | Learned:
    match said:
        case "learned":
            return Learned()
        case "bot":
            return Balanced()
        case "pot":
            return Partial(fraction)
        case "uot":
            return Unbalanced(tau)
    raise ValueError(f"--problem must be learned, bot, pot or uot, got {said!r}")


def check_given_with_teacher(folders: list[Path] | None, options: dict[str, Any]) -> None:
    """Raise ValueError where an option needs a teacher and there is none."""
    for name, value in options.items():
        if value not in (None, []) and not folders:
            raise ValueError(f"--{name} needs a teacher to learn from; give --teacher too")


def load_teachers(
    folders: list[Path], problem: Problem | Learned, device: str | None, bf16: bool
) -> list[Aligner]:
    """Load the aligners to learn from, and check that they can teach."""
    teachers = []
    for folder in folders:
        if not (folder / SETTINGS).is_file():
            raise ValueError(f"--teacher must be the folder of a trained aligner, got {folder}")
        exported = (folder / EXPORTED).is_file()
        precision = "bfloat16" if bf16 and not exported else "float32"
        teachers.append(Aligner.load(folder, device=None if exported else device, precision=precision))
    if teachers:
        from otalign.training.predictions import check_teachers

        check_teachers(teachers, problem)
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


def augmentation(said: list[str] | None, default: "Augmentation") -> "Augmentation":
    """The shares of augmented copies: the default ones, changed by KIND=SHARE."""
    from otalign.training.augmentation import KINDS

    changes: dict[str, float] = {}
    for one in said or ():
        kind, _, share = one.partition("=")
        try:
            named = dict.fromkeys(KINDS if kind == "all" else [kind], float(share))
        except ValueError:
            raise ValueError(f"--augment must be KIND=SHARE such as typos=0.1, got {one!r}") from None
        if not named.keys() <= set(KINDS):
            raise ValueError(f"--augment must name one of {', '.join(KINDS)} or all, got {kind!r}")
        changes |= named
    return replace(default, **changes)


def recipe_for(problem: Problem | Learned, encoder: str) -> "Recipe":
    """That of what is learned; where it goes on from an aligner that has learned it, the shorter one."""
    from otalign import training

    before = load_settings(Path(encoder))
    goes_on = before is not None and isinstance(before.problem, Learned) and isinstance(problem, Learned)
    return training.FURTHER if goes_on else training.recipe_for(problem)


def rates(said: str | None, recipe: "Recipe") -> list[float]:
    try:
        return [float(rate) for rate in said.split(",")] if said else [recipe.learning_rate]
    except ValueError:
        raise ValueError(
            f"--learning-rate must be numbers with commas such as 5e-5,1e-4, got {said!r}"
        ) from None


def half(precision: str | None, device: str | None) -> bool:
    if precision not in (None, "float32", "bfloat16"):
        raise ValueError(f"--precision must be float32 or bfloat16, got {precision!r}")
    if precision is None:
        import torch

        return torch.cuda.is_available() and device != "cpu"
    return precision == "bfloat16"
