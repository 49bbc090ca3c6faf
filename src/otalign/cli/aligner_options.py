"""The options that choose an aligner, the same for every command that aligns."""

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Annotated, Any, get_args

import typer

from otalign.aligner import Aligner
from otalign.baselines import Symmetrisation
from otalign.baselines.aligners import MATCHINGS
from otalign.ot import Entropic, Exact, Problem
from otalign.settings import PARAMETERS, Settings, build_problem

SYMMETRISATIONS = get_args(Symmetrisation)


Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps; else the best that is there.")]
BatchSize = Annotated[
    int | None, typer.Option(help="Subwords that the encoder sees at once; else what suits the device.")
]
Threads = Annotated[int | None, typer.Option(min=1, help="Processor threads; else all.")]


@dataclass(frozen=True)
class AlignerOptions:
    """What the user said of the aligner; None is what was not said."""

    model: Annotated[
        str | None,
        typer.Option(
            envvar="OTALIGN_MODEL",
            help="An aligner's folder, an encoder's folder, or a model's name on the Hugging Face hub; "
            "else the aligner that comes with the package.",
        ),
    ] = None
    method: Annotated[
        str, typer.Option(metavar="ot|simalign|fast-align", help="Optimal transport, or a baseline.")
    ] = "ot"
    problem: Annotated[
        str | None,
        typer.Option(
            metavar="bot|pot|uot|none",
            help="Transport: balanced, partial, unbalanced; none is a threshold on the costs.",
        ),
    ] = None
    tau: Annotated[float | None, typer.Option(help="Of uot: the price of leaving words out.")] = None
    fraction: Annotated[float | None, typer.Option(help="Of pot: the share of the words to be linked.")] = (
        None
    )
    links: Annotated[
        str | None,
        typer.Option(metavar="sure|possible", help="Of an aligner that has learned which are; else sure."),
    ] = None
    threshold: Annotated[float | None, typer.Option(help="Links must be stronger, 0 to 1.")] = None
    layer: Annotated[int | None, typer.Option(help="Of the encoder; 0 are its embeddings.")] = None
    pairing: Annotated[
        str | None,
        typer.Option(
            metavar="joint|separate",
            help="Encode both sentences together, or each alone, as simalign does unless told.",
        ),
    ] = None
    cost: Annotated[str | None, typer.Option(metavar="cosine|euclidean", help="Between two words.")] = None
    fertility: Annotated[
        str | None,
        typer.Option(metavar="uniform|norm", help="The mass of a word: 1, or its vector's length."),
    ] = None
    epsilon: Annotated[float | None, typer.Option(help="Weight of the entropy.")] = None
    exact: Annotated[bool, typer.Option("--exact", help="Transport without entropy.")] = False
    smoothing: Annotated[
        float | None, typer.Option(help="How much words with like neighbours are made more alike, 0 to 1.")
    ] = None
    distortion: Annotated[
        float | None, typer.Option(help="How much words far apart in order are made less alike, 0 to 1.")
    ] = None
    centring: Annotated[
        bool | None,
        typer.Option(
            "--centring/--no-centring",
            help="Subtract the mean embedding, or do not, as simalign unless told.",
            show_default=False,
        ),
    ] = None
    whitening: Annotated[
        float | None, typer.Option(help="How much embeddings are spread evenly over directions, 0 to 1.")
    ] = None
    matching: Annotated[
        str | None,
        typer.Option(metavar="|".join(MATCHINGS), help="Of simalign: how it picks links; else itermax."),
    ] = None
    null_threshold: Annotated[
        float | None,
        typer.Option(help="Of simalign: links of a higher entropy are dropped, 0 to 1; else none."),
    ] = None
    symmetrise: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help=f"Of fast-align: {', '.join(SYMMETRISATIONS)}; else the last of these."
        ),
    ] = None
    train: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|CORPUS[:SPLIT]",
            help="Of fast-align: more pairs to learn from; may be given several times.",
        ),
    ] = None
    device: Device = None
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="float32|bfloat16", help="In which the encoder works; a GPU is faster in the second."
        ),
    ] = None
    batch_size: BatchSize = None
    threads: Threads = None

    def load(self) -> Aligner:
        """The aligner by transport, as said."""
        settings = self.select_given("links", "threshold", "pairing", "centring", "whitening", "precision")
        settings |= self.select_given("cost", "fertility", "smoothing", "distortion")
        settings |= self._problem() | self._solver()
        return Aligner.load(**self.encoder(), **settings)

    def select_given(self, *names: str) -> dict[str, Any]:
        """Those of the options that were said."""
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def encoder(self) -> dict[str, Any]:
        """What `load` of any method takes to find and run its encoder."""
        if self.threads:
            os.environ.setdefault("RAYON_NUM_THREADS", str(self.threads))  # of the tokeniser
        return {name: getattr(self, name) for name in ("model", "layer", "device", "threads", "batch_size")}

    def _problem(self) -> dict[str, Problem | None]:
        parameters = self.select_given(*PARAMETERS)
        problem = self.problem or next((PARAMETERS[name].name for name in parameters), None)
        return {} if problem is None else {"problem": build_problem(problem, **parameters)}

    def _solver(self) -> dict[str, Entropic | Exact]:
        if self.exact and self.epsilon is not None:
            raise ValueError("--exact has no entropy, so leave out --epsilon")
        if self.exact:
            return {"solver": Exact()}
        return {} if self.epsilon is None else {"solver": Entropic(self.epsilon, tol=Settings.solver.tol)}


def with_aligner_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options instead of its parameter `aligner`."""
    names = [field.name for field in fields(AlignerOptions)]

    @wraps(command)
    def run(**given: Any) -> None:
        command(aligner=AlignerOptions(**{name: given.pop(name) for name in names}), **given)

    def keyword_only(signature: inspect.Signature) -> list[inspect.Parameter]:
        return [part.replace(kind=part.KEYWORD_ONLY) for part in signature.parameters.values()]

    own = [part for part in keyword_only(inspect.signature(command)) if part.name != "aligner"]
    model, method, *others = keyword_only(inspect.signature(AlignerOptions))
    parameters = [model, method, *own, *others]  # the order of the help: what is always needed comes first
    run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {part.name: part.annotation for part in parameters}
    return run
