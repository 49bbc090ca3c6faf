"""What the options of `otalign train` say: gold to learn from, what is learned, how, and from whom."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from otalign.aligner import SETTINGS, Aligner, saved_settings
from otalign.cli import gold
from otalign.corpus import CORPORA
from otalign.encoders import EXPORTED
from otalign.ot import Balanced, Partial, Problem, Unbalanced
from otalign.peers.settings import PEERS, Peer
from otalign.settings import Learned

if TYPE_CHECKING:
    from otalign.training import Recipe, Source


def sources(
    names: list[str], devs: list[Path], format: str, data: Path | None, limit: int | None
) -> "dict[str, Source]":
    """Each corpus by name, and all files together."""
    from otalign.training import Source

    files = [Path(name) for name in names if name not in CORPORA]
    if files and not devs:
        raise ValueError(f"give --dev, gold to choose by, for {files[0]}: training stops by it")
    if devs and not files:
        raise ValueError("--dev is for files to learn from; a corpus by name has its own")
    sources = {}
    for name in dict.fromkeys(name for name in names if name in CORPORA):
        sources[name] = Source(*(gold.of_corpus(name, split, data, limit) for split in ("train", "dev")))
    if files:
        sources[files[0].stem] = Source(*(gold.of_files(paths, format, limit) for paths in (files, devs)))
    return sources


def learnt(method: str, problem: str, tau: float, fraction: float, **only: Any) -> Problem | Learned | Peer:
    """What is learned; `only` are options that peers have no use for."""
    if method == "ot":
        return _problem(problem, tau, fraction)
    peers: dict[str, Peer] = {name: name for name in PEERS}
    if method not in peers:
        raise ValueError(f"--method must be ot, {' or '.join(PEERS)}, got {method!r}")
    if problem != "learned":
        raise ValueError(f"--problem is for --method ot, not {method}; leave it out")
    for name, value in only.items():
        if value:
            raise ValueError(f"--{name} is for --method ot, not {method}; leave it out")
    return peers[method]


def _problem(said: str, tau: float, fraction: float) -> Problem | Learned:
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


def teacher_in(
    folder: Path | None, teaching: float | None, problem: Problem | Learned | Peer, device: str | None
) -> Aligner | None:
    """The aligner to learn from, if there is one and it can teach."""
    if folder is None:
        if teaching is not None:
            raise ValueError("--teaching is the share of a teacher; give --teacher too")
        return None
    if not (folder / SETTINGS).is_file():
        raise ValueError(f"--teacher must be the folder of a trained aligner, got {folder}")
    exported = (folder / EXPORTED).is_file()
    teacher = Aligner.load(folder, device=None if exported else device)
    from otalign.training.teaching import check_teacher

    assert not isinstance(problem, str)  # a peer has none, and was told so
    check_teacher(teacher, problem)
    return teacher


def recipe_for(problem: Problem | Learned | Peer, encoder: str) -> "Recipe":
    """That of what is learned; where it goes on from an aligner that has learned it, the shorter one."""
    from otalign import training

    before = saved_settings(Path(encoder))
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
