"""The options that choose an aligner, the same for every command that aligns."""

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Annotated, Any

import typer

from otalign.aligner import Aligner
from otalign.encoders import BATCH_SIZE
from otalign.ot import Balanced, Entropic, Exact, Partial, Problem, Unbalanced
from otalign.settings import FRACTION, TAU

SETTINGS = (
    "threshold",
    "pairing",
    "cost",
    "fertility",
    "whitening",
    "smoothing",
    "distortion",
)  # said as they are named


@dataclass(frozen=True)
class AlignerOptions:
    """What the user said of the aligner; None is what was not said."""

    model: Annotated[
        str | None,
        typer.Option(
            envvar="OTALIGN_MODEL",
            help="An aligner's folder, an encoder's folder, or a model's name on the Hugging Face hub.",
        ),
    ] = None
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
    threshold: Annotated[float | None, typer.Option(help="Links must be stronger, 0 to 1.")] = None
    layer: Annotated[int | None, typer.Option(help="Of the encoder; 0 are its embeddings.")] = None
    pairing: Annotated[
        str | None,
        typer.Option(metavar="joint|separate", help="Encode both sentences together, or each alone."),
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
    no_centring: Annotated[
        bool, typer.Option("--no-centring", help="Do not subtract the mean embedding.")
    ] = False
    whitening: Annotated[
        float | None, typer.Option(help="How much embeddings are spread evenly over directions, 0 to 1.")
    ] = None
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, cuda:1, mps; else the best that is there.")
    ] = None
    batch_size: Annotated[int, typer.Option(help="Subwords that the encoder sees at once.")] = BATCH_SIZE
    threads: Annotated[int | None, typer.Option(min=1, help="Processor threads; else all.")] = None

    def load(self) -> Aligner:
        """The aligner, as said."""
        if self.model is None:
            raise ValueError(
                "give --model (or set OTALIGN_MODEL): an aligner's folder, an encoder's folder, "
                "or a model's name on the Hugging Face hub"
            )
        settings = {name: getattr(self, name) for name in SETTINGS}
        settings = {name: value for name, value in settings.items() if value is not None}
        settings |= self._problem() | self._solver() | ({"centring": False} if self.no_centring else {})
        if self.threads:
            os.environ.setdefault("RAYON_NUM_THREADS", str(self.threads))  # of the tokeniser
        return Aligner.load(
            self.model,
            layer=self.layer,
            device=self.device,
            threads=self.threads,
            batch_size=self.batch_size,
            **settings,
        )

    def _problem(self) -> dict[str, Problem | None]:
        said = self.problem
        if said is None:  # a parameter says it too
            said = "uot" if self.tau is not None else "pot" if self.fraction is not None else None
        for name, of in (("tau", "uot"), ("fraction", "pot")):
            if getattr(self, name) is not None and said != of:
                raise ValueError(f"--{name} is for --problem {of}, not {said}; leave it out")
        match said:
            case None:
                return {}
            case "bot":
                return {"problem": Balanced()}
            case "pot":
                return {"problem": Partial(FRACTION if self.fraction is None else self.fraction)}
            case "uot":
                return {"problem": Unbalanced(TAU if self.tau is None else self.tau)}
            case "none":
                return {"problem": None}
        raise ValueError(f"--problem must be bot, pot, uot or none, got {said!r}")

    def _solver(self) -> dict[str, Entropic | Exact]:
        if self.exact and self.epsilon is not None:
            raise ValueError("--exact has no entropy, so leave out --epsilon")
        if self.exact:
            return {"solver": Exact()}
        return {} if self.epsilon is None else {"solver": Entropic(self.epsilon)}


def with_aligner_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options instead of its parameter `aligner`."""
    names = [field.name for field in fields(AlignerOptions)]

    @wraps(command)
    def run(**given: Any) -> None:
        command(aligner=AlignerOptions(**{name: given.pop(name) for name in names}), **given)

    def keyword_only(signature: inspect.Signature) -> list[inspect.Parameter]:
        return [part.replace(kind=part.KEYWORD_ONLY) for part in signature.parameters.values()]

    own = [part for part in keyword_only(inspect.signature(command)) if part.name != "aligner"]
    model, *others = keyword_only(inspect.signature(AlignerOptions))
    parameters = [model, *own, *others]  # the order of the help: what is always needed comes first
    run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {part.name: part.annotation for part in parameters}
    return run
