"""The options that choose an aligner, the same for every command that aligns."""

import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from otalign.aligner import Aligner
from otalign.alignment import Level
from otalign.baselines import Symmetrisation
from otalign.baselines.aligners import MATCHINGS
from otalign.cli.options import BatchSize, Device, Layer, Threads, complete_model, expand_parameter
from otalign.cli.panels import FAST_ALIGN, HARDWARE, MODEL, SIMALIGN, TRANSPORT
from otalign.ot import Entropic, Exact
from otalign.problems import PARAMETERS, PROBLEMS, ProblemName
from otalign.settings import (
    COMPLETION,
    DISTORTION,
    MUTUALITY,
    ORDER,
    SMOOTHING,
    STRUCTURE,
    WHITENING,
    Cost,
    Fertility,
    Settings,
)

if TYPE_CHECKING:
    MatchingName = str
else:
    MatchingName = Literal[tuple(MATCHINGS)]
MethodName = Literal["ot", "simalign", "fast-align"]
Precision = Literal["float32", "bfloat16"]
# Seconds for which a thread runs Python code while others wait to, instead of 0.005: the threads of an
# encoder and of a server have little to do between two batches or requests, and should not wait for long.
SWITCH_INTERVAL = 0.0005
MODEL_HELP = (
    "Model to align with: a folder, an aligner that otalign models lists, or the name of an encoder on the "
    "Hugging Face hub."
)


def _describe_problems() -> str:
    """Return the help of `--problem`, from the registry of problems."""
    parts = []
    for name, spec in PROBLEMS.items():
        kind, _, meaning = spec.description.rstrip(".").partition(": ")
        parts.append(f"{name} ({kind.lower()}): {meaning}")
    return "Rule for words without a counterpart. " + "; ".join(parts) + "."


def _declare_share(about: str, default: float, note: str = "") -> Any:
    """Declare an option of transport with a value from 0 to 1.

    Args:
        about: Help of the option.
        default: Its default value, which the help shows.
        note: What the help adds to the default.
    """
    shown = f"{default:g}; {note}" if note else f"{default:g}"
    return typer.Option(metavar="SHARE", help=about, show_default=shown, rich_help_panel=TRANSPORT)


ProblemOption = Annotated[
    ProblemName | None,
    typer.Option(help=_describe_problems(), show_default="the rule of the model", rich_help_panel=TRANSPORT),
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        metavar="WEIGHT",
        help="Weight of the entropy; links get sharper as it gets smaller.",
        show_default=f"{Entropic().eps:g}",
        rich_help_panel=TRANSPORT,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        envvar="OTALIGN_MODEL",
        metavar="MODEL",
        help=MODEL_HELP,
        show_default="the aligner in the package",
        rich_help_panel=MODEL,
        autocompletion=complete_model,
    ),
]
ExactOption = Annotated[
    bool,
    typer.Option(
        "--exact", help="Solve without entropy; slower, and no link is blurred.", rich_help_panel=TRANSPORT
    ),
]


@dataclass(frozen=True)
class AlignerOptions:
    """The options that choose an aligner; None stands for an option that was not given."""

    model: Model = None
    method: Annotated[
        MethodName,
        typer.Option(
            metavar="METHOD",
            help="Alignment method: ot (the model, trained or by optimal transport), or a baseline, simalign "
            "or fast-align.",
            rich_help_panel=MODEL,
        ),
    ] = "ot"
    links: Annotated[
        Level | None,
        typer.Option(
            help="Links to return, with a trained model: only sure ones, or all possible ones.",
            show_default="sure",
            rich_help_panel=MODEL,
        ),
    ] = None
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="SCORE",
            help="Minimum score of a link, 0–1; a link beside another one may need less.",
            show_default="the best for the model",
            rich_help_panel=MODEL,
        ),
    ] = None
    layer: Layer = None
    pairing: Annotated[
        Literal["joint", "separate"] | None,
        typer.Option(
            help="Encode the two sentences together, or each alone.",
            show_default="joint; separate for simalign",
            rich_help_panel=MODEL,
        ),
    ] = None
    centring: Annotated[
        bool | None,
        typer.Option(
            "--centring/--no-centring",
            help="Subtract the mean embedding from all embeddings.",
            show_default="on; off for simalign",
            rich_help_panel=MODEL,
        ),
    ] = None
    whitening: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Degree of whitening of the embeddings, from 0 (none) to 1 (equal variances).",
            show_default=f"{WHITENING:g}",
            rich_help_panel=MODEL,
        ),
    ] = None
    problem: ProblemOption = None
    parameters: Mapping[str, float] = field(default_factory=dict)  # of problems, by name
    cost: Annotated[
        Cost | None,
        typer.Option(
            help="Distance between the embeddings of two words.",
            show_default="cosine",
            rich_help_panel=TRANSPORT,
        ),
    ] = None
    fertility: Annotated[
        Fertility | None,
        typer.Option(
            help="Mass of each word: the same for all, the norm of its embedding, or more for longer words.",
            show_default="uniform",
            rich_help_panel=TRANSPORT,
        ),
    ] = None
    epsilon: Epsilon = None
    exact: ExactOption = False
    smoothing: Annotated[
        float | None, _declare_share("Weight of the similarity of neighbouring words, 0–1.", SMOOTHING)
    ] = None
    distortion: Annotated[
        float | None,
        _declare_share(
            "Penalty for words at different positions in their sentences, 0–1; for simalign too.",
            DISTORTION,
            "0 for simalign",
        ),
    ] = None
    order: Annotated[
        float | None,
        _declare_share("Reward for neighbouring words that are linked to neighbouring words, 0–1.", ORDER),
    ] = None
    structure: Annotated[
        float | None,
        _declare_share(
            "Weight of keeping the distances between words (fused Gromov–Wasserstein), 0–1; instead of "
            "--order.",
            STRUCTURE,
        ),
    ] = None
    mutuality: Annotated[
        float | None,
        _declare_share(
            "Degree to which scores are lower where two words are not each other's most similar, 0–1.",
            MUTUALITY,
        ),
    ] = None
    completion: Annotated[
        float | None,
        _declare_share(
            "Degree to which words without a link join the links of words nearby, 0–1.", COMPLETION
        ),
    ] = None
    matching: Annotated[
        MatchingName | None,
        typer.Option(help="How links are picked.", show_default="itermax", rich_help_panel=SIMALIGN),
    ] = None
    null_threshold: Annotated[
        float | None,
        typer.Option(
            metavar="ENTROPY",
            help="Maximum entropy of a link, 0–1.",
            show_default="none",
            rich_help_panel=SIMALIGN,
        ),
    ] = None
    symmetrise: Annotated[
        Symmetrisation | None,
        typer.Option(
            metavar="RULE",
            help=f"Rule that combines the links of both directions: {', '.join(get_args(Symmetrisation))}.",
            show_default="grow-diag-final-and",
            rich_help_panel=FAST_ALIGN,
        ),
    ] = None
    train: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|CORPUS",
            help="Further sentence pairs to learn from: a file, a corpus, or CORPUS:SPLIT; may be repeated.",
            rich_help_panel=FAST_ALIGN,
        ),
    ] = None
    device: Device = None
    precision: Annotated[
        Precision | None,
        typer.Option(
            help="Number format of the encoder; bfloat16 is faster on a GPU.",
            show_default="float32",
            rich_help_panel=HARDWARE,
        ),
    ] = None
    batch_size: BatchSize = None
    threads: Threads = None

    def load(self) -> Aligner:
        """Load the aligner for `--method ot`."""
        settings = self.select_options("links", "threshold", "pairing", "centring", "whitening", "precision")
        settings |= self.select_options("cost", "fertility", "smoothing", "distortion")
        settings |= self.select_options("order", "structure", "mutuality", "completion")
        settings |= {**self.select_options("problem"), **self.parameters, **self._build_solver()}
        return Aligner.load(**self.prepare_encoder_options(), **settings)

    def get_changes(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, by name."""
        options = [option for option in fields(self) if option.name != "parameters"]
        values = {option.name: getattr(self, option.name) for option in options}
        unset = {option.name: (option.default, []) for option in options}
        changed = {name: value for name, value in values.items() if value not in unset[name]}
        return {**changed, **self.parameters}

    def select_options(self, *names: str) -> dict[str, Any]:
        """Return the named options that were given."""
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def prepare_encoder_options(self) -> dict[str, Any]:
        """Set up the threads of this process, and return the arguments for loading an encoder."""
        sys.setswitchinterval(SWITCH_INTERVAL)
        if self.threads:
            os.environ.setdefault("RAYON_NUM_THREADS", str(self.threads))  # of the tokenizer
        return {name: getattr(self, name) for name in ("model", "layer", "device", "threads", "batch_size")}

    def _build_solver(self) -> dict[str, Entropic | Exact]:
        if self.exact and self.epsilon is not None:
            raise ValueError("--epsilon has no effect with --exact; remove one of them")
        if self.exact:
            return {"solver": Exact()}
        return {} if self.epsilon is None else {"solver": Entropic(self.epsilon, tol=Settings.solver.tol)}


def list_options() -> list[inspect.Parameter]:
    """Return the options, in the place of `parameters` one for each parameter of a problem."""
    options = []
    for option in inspect.signature(AlignerOptions).parameters.values():
        if option.name != "parameters":
            options.append(option.replace(kind=option.KEYWORD_ONLY))
            continue
        for name, spec in PARAMETERS.items():
            assert spec.parameter is not None
            declared = typer.Option(
                metavar="NUMBER",
                help=f"{spec.parameter.description.rstrip('.')}; for --problem {spec.name}.",
                show_default=f"{spec.parameter.default:g}",
                rich_help_panel=TRANSPORT,
            )
            options.append(
                option.replace(
                    name=name,
                    kind=option.KEYWORD_ONLY,
                    default=None,
                    annotation=Annotated[float | None, declared],
                )
            )
    return options


def build_aligner_options(**given: Any) -> AlignerOptions:
    """Build the options of an aligner from those of the command line."""
    values = {name: given.pop(name) for name in PARAMETERS}
    parameters = {name: value for name, value in values.items() if value is not None}
    return AlignerOptions(parameters=parameters, **given)


def with_aligner_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an aligner, instead of its parameter `aligner`."""
    return expand_parameter(command, "aligner", list_options(), build_aligner_options)
