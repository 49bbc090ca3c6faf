"""`otalign train`: an aligner that has learned from gold links."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otalign import __version__
from otalign.aligner import SETTINGS, Aligner
from otalign.cli import gold
from otalign.cli.aligning import Device
from otalign.cli.convert import FORMAT_HELP, as_level
from otalign.cli.corpora import DataFolder
from otalign.cli.epochs import Told, is_main
from otalign.cli.results import place
from otalign.corpus import CORPORA
from otalign.encoders import EXPORTED
from otalign.ot import Balanced, Partial, Problem, Unbalanced
from otalign.peers.settings import PEERS, Peer
from otalign.settings import FRACTION, Learned

if TYPE_CHECKING:
    from otalign.training import Recipe, Source, Trained

WORK = ".training"  # what is kept in the folder until the aligner is there
METRICS, RECORD = "metrics.jsonl", "training.json"
TAU = 0.4  # of unbalanced transport that is trained


def train(
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS…", help=f"By name ({', '.join(CORPORA)}), or files of gold to learn from."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder for the aligner.")
    ],
    encoder: Annotated[
        str,
        typer.Option(
            envvar="OTALIGN_MODEL",
            help="An encoder's folder or name on the Hugging Face hub, or a trained aligner to go on from.",
        ),
    ],
    dev: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Gold to choose by, for files; may be given several times."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(metavar=f"ot|{'|'.join(PEERS)}", help="Transport, or one of its supervised peers."),
    ] = "ot",
    problem: Annotated[
        str, typer.Option(metavar="learned|bot|pot|uot", help="Learned transport, or one of the paper's.")
    ] = "learned",
    tau: Annotated[float, typer.Option(help="Of uot: the price of leaving words out.")] = TAU,
    fraction: Annotated[float, typer.Option(help="Of pot: the share of the words to be linked.")] = FRACTION,
    level: Annotated[
        str | None,
        typer.Option(metavar="s|s+p", help="The links to learn. Else both if learned, and s if not."),
    ] = None,
    learning_rate: Annotated[
        str | None,
        typer.Option(metavar="RATE[,RATE…]", help="Of several, the best on the dev set is kept."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="At most.")] = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Pairs in a step.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many epochs without a better dev F1.")
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=1, help="Keep only the first so many layers of the encoder.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="competition|prices|neighbours", help="Leave out a part of what is learned."),
    ] = None,
    teacher: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="A trained aligner, of any encoder, whose probabilities are learned too."
        ),
    ] = None,
    teaching: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="With --teacher: its share, beside the gold, in what is learned."),
    ] = None,
    refit: Annotated[
        bool,
        typer.Option("--refit", help="Train once more, dev sets too, with all that was chosen by them."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    accumulate: Annotated[
        int, typer.Option(min=1, help="Read a batch in so many parts, where memory is short.")
    ] = 1,
    precision: Annotated[
        str | None, typer.Option(metavar="float32|bfloat16", help="Else bfloat16 on a GPU, float32 without.")
    ] = None,
    format: Annotated[
        str, typer.Option("--from", metavar="FORMAT", help="Of files. " + FORMAT_HELP)
    ] = "multimwa",
    data: DataFolder = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Take the first so many pairs of each set.")
    ] = None,
    device: Device = None,
) -> None:
    """Fine-tune an encoder through the transport on gold links; save the aligner that is best on dev sets.

    By default transport itself is learned: prices for words without a counterpart, competition, both levels
    of links, probabilities that are calibrated. With --problem bot, pot or uot it is the paper's recipe.
    With --method semi-crf or span-prediction it is one of the systems that the paper compares with.
    Several corpora are learned together. With --teacher, what another aligner says of their pairs is learned
    beside the gold. Interrupted, the same command goes on after the last whole epoch.

    For several GPUs: accelerate launch -m otalign train …

    Example: otalign train mtref wiki --data corpora/ --encoder bert-base-uncased -o my-aligner/
    """
    sources = _sources(corpora, dev or [], format, data, limit)
    chosen = _learnt(method, problem, tau, fraction, without=without, teacher=teacher, refit=refit)
    from otalign.training import recipe_for

    recipe = recipe_for(chosen).changed(seed=seed, without=tuple(without or ()))
    said = {"epochs": epochs, "batch_size": batch_size, "patience": patience, "depth": depth}
    said |= {"teaching": teaching, "steps": epochs and 0}  # no more epochs than are asked for
    recipe = recipe.changed(**{name: value for name, value in said.items() if value is not None})
    recipes = [recipe.changed(learning_rate=rate) for rate in _rates(learning_rate, recipe)]
    options: dict[str, Any] = {"half": _half(precision, device), "accumulate": accumulate}
    told = {"level": level and as_level(level)}
    teaches = _teacher(teacher, teaching, chosen, device)
    more = {"refit": refit, "teacher": teaches and teaches.signature}
    about = _about(encoder, sources, chosen, recipe, told | options | more)
    options |= {"device": device, "teacher": teaches}
    with place(output, WORK) as work:
        heard = Told(work)
        found = _best_of(encoder, sources, chosen, recipes, told | options, heard)
        if refit:
            found = _refit(encoder, sources, found, options, heard)
        _save(found, output, work, about)
    _show(found, output)


def _best_of(
    encoder: str,
    sources: "dict[str, Source]",
    problem: Problem | Learned | Peer,
    recipes: "list[Recipe]",
    options: dict[str, Any],
    told: Told,
) -> "Trained":
    """Trained by each of the recipes, and the best on the dev sets kept."""
    from otalign.training import train as trained_on

    best = None
    for recipe in recipes:
        name = f"{recipe.learning_rate:g}"
        with told.run(name, f"learning rate {name}: " if len(recipes) > 1 else "") as kept:
            found = trained_on(encoder, sources, problem, recipe, **kept, **options)
        if best is None or found.f1 > best.f1:
            best = found
    assert best is not None
    return best


def _refit(
    encoder: str, sources: "dict[str, Source]", found: "Trained", options: dict[str, Any], told: Told
) -> "Trained":
    from otalign.training import refit

    with told.run("refit", "refit: ") as kept:
        return refit(encoder, sources, found, **kept, **options)


def _save(found: "Trained", output: Path, work: Path, about: dict[str, Any]) -> None:
    """The aligner, what its epochs came to, and what made it."""
    if not is_main():
        return
    found.aligner.save(output)
    lines = [path.read_text(encoding="utf-8") for path in sorted(work.glob("*.jsonl"))]
    (output / METRICS).write_text("".join(lines), encoding="utf-8")
    dev = {name: {k: score._asdict() for k, score in of.items()} for name, of in found.dev.items()}
    record = about | {"learning_rate": found.recipe.learning_rate, "dev": dev}
    (output / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(work)


def _show(found: "Trained", output: Path) -> None:
    if not is_main():
        return
    for name, levels in found.dev.items():
        for level, score in levels.items():
            figures = f"F1 {100 * score.f1:.1f}   precision {100 * score.precision:.1f}"
            print(f"{name} dev {level}   {figures}   recall {100 * score.recall:.1f}   at {score.threshold}")
    print(found.aligner.signature)
    print(f"{output}: ready; otalign align --model {output} …")


def _sources(
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


def _learnt(method: str, problem: str, tau: float, fraction: float, **only: Any) -> Problem | Learned | Peer:
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


def _teacher(
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


def _rates(said: str | None, recipe: "Recipe") -> list[float]:
    try:
        return [float(rate) for rate in said.split(",")] if said else [recipe.learning_rate]
    except ValueError:
        raise ValueError(
            f"--learning-rate must be numbers with commas such as 5e-5,1e-4, got {said!r}"
        ) from None


def _half(precision: str | None, device: str | None) -> bool:
    if precision not in (None, "float32", "bfloat16"):
        raise ValueError(f"--precision must be float32 or bfloat16, got {precision!r}")
    if precision is None:
        import torch

        return torch.cuda.is_available() and device != "cpu"
    return precision == "bfloat16"


def _about(
    encoder: str,
    sources: "dict[str, Source]",
    problem: Problem | Learned | Peer,
    recipe: "Recipe",
    options: dict[str, Any],
) -> dict[str, Any]:
    """All that decides the run."""
    sizes = {name: {"train": len(of.train), "dev": len(of.dev)} for name, of in sources.items()}
    return {
        "encoder": encoder,
        "sources": sizes,
        "problem": repr(problem),
        "recipe": recipe.to_dict(),
        **options,
        "version": __version__,
    }
