"""fast_align, trained on all pairs of a corpus, test set included, without their links.

For a corpus without train and dev sets, those of MTRef are added.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from experiments.columns import COLUMNS
from experiments.study_data import StudyData
from experiments.unsupervised.system import Tuning, make_alignments
from otalign.alignment import Alignment, Level
from otalign.baselines import FastAlign, Symmetrisation
from otalign.tuning import EncoderChoice


@dataclass(frozen=True)
class FastAlignRow:
    """fast_align with the default options of the tool, both directions symmetrised."""

    name: str
    title: str
    options: FastAlign = FastAlign()
    symmetrisation: Symmetrisation = "grow-diag-final-and"

    embeds = False

    def tune(
        self, data: StudyData, corpus: str, choice: EncoderChoice, levels: tuple[Level, ...]
    ) -> dict[Level, Tuning]:
        """Return the same for all levels, since there is nothing to tune."""
        settings = {"system": "fast-align", **asdict(self.options), "symmetrisation": self.symmetrisation}
        return dict.fromkeys(levels, Tuning(settings, dict(settings), None))

    def align(self, data: StudyData, corpus: str, tuning: Tuning) -> Iterable[Alignment]:
        (front,) = {column.dev for column in COLUMNS if column.corpus == corpus}
        tests = data.get_golds(corpus, "test")
        golds = [*data.get_golds(front, "train"), *data.get_golds(front, "dev"), *tests]

        def progress(step) -> None:
            done = step.iteration + (self.options.iterations if step.direction == "reverse" else 0)
            data.progress(f"{self.name}, {corpus}", done, 2 * self.options.iterations - 1)

        trained = self.options.train([(gold.source, gold.target) for gold in golds], progress)
        links = trained.aligned.symmetrise(self.symmetrisation)
        return make_alignments(tests, links[-len(tests) :])
