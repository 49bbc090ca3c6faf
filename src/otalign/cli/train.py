"""`otalign train`: train an aligner on gold links."""

import inspect
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otalign import __version__
from otalign.atomic import write_atomic
from otalign.cli import training
from otalign.cli.epochs import EpochLog, is_main_process, print_scores
from otalign.cli.output import open_work_folder
from otalign.cli.terminal import resumable, show_activity, show_bars
from otalign.cli.train_options import TrainOptions
from otalign.models import resolve_model
from otalign.settings import load_settings

if TYPE_CHECKING:
    from otalign.training import Distillation, Recipe, TrainingResult

WORK = ".training"  # folder inside the output that holds checkpoints until the aligner is saved
METRICS, RECORD, PREDICTIONS = "metrics.jsonl", "training.json", "predictions"


def train(**options: Any) -> None:
    """Train an aligner on gold links.

    An encoder is fine-tuned, and the aligner that is best on the dev sets is saved. By default the transport
    itself is learned, at both levels of links, with calibrated probabilities; --problem bot, pot or uot
    follows the paper. Several corpora are learned together. A trained aligner given by --encoder is trained
    further. The same command continues an interrupted training after its last epoch. For several GPUs, run
    accelerate launch -m otalign train …

    Examples:
        otalign train gold.tsv --dev dev.tsv --encoder small -o my-aligner/
        otalign train mtref wiki --data corpora/ --encoder bert-base-uncased -o my-aligner/
    """
    _Command(TrainOptions(**options)).run()


train.__signature__ = inspect.signature(TrainOptions)  # pyright: ignore[reportFunctionMemberAccess]
train.__annotations__ = {part.name: part.annotation for part in train.__signature__.parameters.values()}  # pyright: ignore[reportFunctionMemberAccess]


class _Command:
    """One call of `otalign train`; everything that can be wrong with its options is found when it is made."""

    def __init__(self, given: TrainOptions) -> None:
        with show_activity("loading torch"):
            import torch  # noqa: F401 (if it is missing, say so before the corpora are read)

            from otalign.training import RunOptions

        self.given = given
        self.sources = training.read_sources(
            given.corpora, given.dev or [], given.format, given.data, given.limit, given.fold
        )
        self.problem = training.make_problem(given.problem, tau=given.tau, fraction=given.fraction)
        self.recipe = _make_recipe(given, self.problem)
        self.rates = training.parse_learning_rates(given.learning_rate, self.recipe.learning_rate)
        bf16 = training.uses_bf16(given.precision, given.device)
        self.options = RunOptions(
            device=given.device, bf16=bf16, accumulate=given.accumulate, workers=given.workers
        )
        needing = ("teaching", "unlabelled", "predictions", "predict", "unlabelled_weight", "gold_share")
        training.check_needs_teacher(
            given.teacher, {name.replace("_", "-"): getattr(given, name) for name in needing}
        )
        with show_activity("loading the teachers"):
            self.teachers = training.load_teachers(
                given.teacher or [], self.problem, given.level, given.device, bf16
            )
        self.unlabelled = training.read_unlabelled_pairs(given.unlabelled or [], given.unlabelled_limit)
        self.part = training.parse_part("--predict", given.predict) if given.predict else None
        if self.part and not given.predictions:
            raise ValueError("--predict needs --predictions, the folder that keeps what is predicted")

    def run(self) -> None:
        """Train, save the aligner, and print its scores."""
        from otalign.training import Distillation

        output = self.given.output
        if self.part and self.given.predictions:
            with resumable():
                return self._predict_part(self.part, self.given.predictions)
        with resumable(), open_work_folder(output, WORK) as work:
            folder = self.given.predictions or work / PREDICTIONS
            distillation, log = Distillation(self.teachers, self.unlabelled, folder), EpochLog(work)
            result = self._train_best(distillation, log)
            if self.given.refit:
                result = self._refit(result, distillation, log)
            if is_main_process():
                _save(result, output, work, self._make_record())
        if is_main_process():
            print_scores(result.dev, result.aligner, output)

    def _predict_part(self, part: tuple[int, int], folder: Path) -> None:
        """Let the teachers predict a part of the pairs."""
        from otalign.training import Distillation
        from otalign.training.predictions import predict_part
        from otalign.training.sources import TrainingPairs

        golds = TrainingPairs.collect(self.sources, self.given.level).golds
        texts = Distillation(self.teachers, self.unlabelled).collect_texts(golds)
        with show_bars() as progress:
            predict_part(
                self.teachers, texts, folder, part, workers=self.given.workers or 0, progress=progress
            )

    def _train_best(self, distillation: "Distillation", log: EpochLog) -> "TrainingResult":
        """Train with each learning rate, and return the best result on the dev sets."""
        from otalign.training import train

        best = None
        for rate in self.rates:
            name = f"{rate:g}"
            with log.open(
                name, f"learning rate {name}: " if len(self.rates) > 1 else "", self.options
            ) as run:
                result = train(
                    self.given.encoder,
                    self.sources,
                    self.problem,
                    self.recipe.replace(learning_rate=rate),
                    level=self.given.level,
                    distillation=distillation,
                    options=run,
                )
            if best is None or result.f1 > best.f1:
                best = result
        assert best is not None
        return best

    def _refit(
        self, result: "TrainingResult", distillation: "Distillation", log: EpochLog
    ) -> "TrainingResult":
        from otalign.training import refit

        with log.open("refit", "refit: ", self.options) as run:
            return refit(self.given.encoder, self.sources, result, distillation=distillation, options=run)

    def _make_record(self) -> dict[str, Any]:
        """Return all that decides the training, for a file beside the aligner."""
        given = self.given
        sizes = {
            name: {"train": len(of.train) + len(of.extra), "dev": len(of.dev)}
            for name, of in self.sources.items()
        }
        return {
            "encoder": given.encoder,
            "sources": sizes,
            "fold": given.fold,
            "problem": repr(self.problem),
            "recipe": self.recipe.to_dict(),
            "level": given.level,
            "bf16": self.options.bf16,
            "accumulate": given.accumulate,
            "refit": given.refit,
            "teachers": [teacher.signature for teacher in self.teachers],
            "unlabelled": len(self.unlabelled),
            "synonyms": repr(self.recipe.augmentation.lexicon),
            "siblings": repr(self.recipe.augmentation.siblings),
            "version": __version__,
        }


def _make_recipe(given: TrainOptions, problem: Any) -> "Recipe":
    """Return the default recipe of a problem, changed by the options."""
    from otalign.training import choose_recipe
    from otalign.training.word_groups import WordGroups

    recipe = choose_recipe(problem, load_settings(Path(resolve_model(given.encoder))))
    names = ("epochs", "batch_size", "patience", "depth", "teaching", "unlabelled_weight", "gold_share")
    changes = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    if given.epochs:
        changes["steps"] = 0  # no more epochs than are asked for
    augmentation = training.parse_augmentation(given.augment, recipe.augmentation)
    if given.synonyms:
        augmentation = replace(augmentation, lexicon=WordGroups.read(given.synonyms))
    if given.siblings:
        augmentation = replace(augmentation, siblings=WordGroups.read(given.siblings))
    return recipe.replace(
        seed=given.seed,
        ablate=tuple(part.value for part in given.ablate or ()),
        augmentation=augmentation,
        **changes,
    )


def _save(result: "TrainingResult", output: Path, work: Path, record: dict[str, Any]) -> None:
    """Save the aligner, its epochs, and the record of the training."""
    from otalign.training.epochs import scores_to_dict

    result.aligner.save(output)
    lines = [path.read_text(encoding="utf-8") for path in sorted(work.glob("*.jsonl"))]
    write_atomic(output / METRICS, "".join(lines))
    record |= {"learning_rate": result.recipe.learning_rate, "dev": scores_to_dict(result.dev)}
    write_atomic(output / RECORD, json.dumps(record, indent=2, allow_nan=False) + "\n")
    shutil.rmtree(work)
