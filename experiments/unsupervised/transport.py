"""Rows of transport, or of a threshold on the similarity: tuned by `tuning.tune`, coarsely and then finely.

The coarse search tries the distortions and the parameters (tau or fraction) of the row. The fine search tries
the parameters around the best, in steps of 0.02 as in the paper. Both try all thresholds.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from experiments.study_data import StudyData
from experiments.unsupervised.system import Figures, Tuning
from otalign.aligner import Aligner
from otalign.alignment import Alignment, Level
from otalign.encoders.chunks import EmbeddedPairs
from otalign.ot import Entropic, Problem, Solver, Unbalanced
from otalign.problems import find_spec
from otalign.settings import Cost, Fertility, Settings
from otalign.text.words import join_words
from otalign.tuning import THRESHOLDS, EncoderChoice, SearchGrid, TuningResult, tune

DISTORTIONS = tuple(k / 10 for k in range(11))
MASS = (1e-6,)  # a threshold that keeps all mass but rounding errors


@dataclass(frozen=True)
class TransportRow:
    """A row of transport: problem, solver, cost, fertility. Without distortions it uses the best of UOT.

    The names and values of the fields are part of the keys of cells.
    """

    name: str
    title: str
    problem: Problem | None
    solver: Solver
    cost: Cost = "cosine"
    fertility: Fertility = "uniform"
    whitening: float = 0.0
    smoothing: float = 0.0
    parameters: tuple[float, ...] = ()
    distortions: tuple[float, ...] = ()
    thresholds: tuple[float, ...] = THRESHOLDS
    step: float = 0.02  # step of the fine search
    reach: int = 4  # number of steps of the fine search to either side
    seekers: tuple[float, ...] = (0.06, 0.2, 0.6, 1.0)  # taus with which distortions are searched

    embeds = True

    def tune(
        self, data: StudyData, corpus: str, choice: EncoderChoice, levels: tuple[Level, ...]
    ) -> dict[Level, Tuning]:
        pairs = len(data.get_golds(corpus, "dev"))
        found: dict[Level, Tuning] = {}
        for level, best in self._search(data, corpus, choice, levels).items():
            dev = Figures(best.best.precision, best.best.recall, pairs)
            found[level] = Tuning(best.settings.to_dict(), best.settings.signature_fields(), dev)
        return found

    def align(self, data: StudyData, corpus: str, tuning: Tuning) -> Iterable[Alignment]:
        settings = Settings.from_dict(tuning.settings)
        choice = EncoderChoice(settings.layer, settings.pairing)
        embeddings = data.get_centred_embeddings(corpus, choice, settings.whitening)
        pairs = [
            (join_words(gold.source), join_words(gold.target)) for gold in data.get_golds(corpus, "test")
        ]
        return Aligner(data.encoder, settings).align_chunk(EmbeddedPairs(pairs, embeddings))

    def _search(
        self, data: StudyData, corpus: str, choice: EncoderChoice, levels: tuple[Level, ...]
    ) -> dict[Level, TuningResult]:
        chosen = self.distortions or self._find_distortions(data, corpus, choice, levels)
        base = data.make_settings(choice).replace(
            cost=self.cost,
            fertility=self.fertility,
            whitening=self.whitening,
            smoothing=self.smoothing,
            problem=self.problem,
            solver=self.solver,
        )
        golds, store = data.get_golds(corpus, "dev"), data.open_store(corpus, "dev", [choice])

        def search(distortions: Iterable[float], parameters: Iterable[float]) -> dict[Level, TuningResult]:
            grid = SearchGrid(
                tuple(parameters), tuple(dict.fromkeys(distortions)), thresholds=self.thresholds
            )
            label = f"{self.name}, {corpus} dev"
            return tune(
                golds,
                store,
                base,
                grid,
                levels,
                journal=data.open_journal(corpus),
                progress=lambda what, done, of: data.progress(f"{label}: {what}", done, of),
            )

        coarse = search(chosen, self.parameters)
        if not self.parameters:
            return coarse
        best = [tuned.settings for tuned in coarse.values()]
        near = sorted({value for settings in best for value in self._list_near(settings)})
        fine = search([settings.distortion for settings in best], near)
        return {level: max(coarse[level], fine[level], key=lambda tuned: tuned.f1) for level in levels}

    def _find_distortions(
        self, data: StudyData, corpus: str, choice: EncoderChoice, levels: tuple[Level, ...]
    ) -> tuple[float, ...]:
        """Return the best distortions of unbalanced transport at the levels, from a coarse search."""
        seeker = replace(
            self,
            problem=Unbalanced(1),
            solver=Entropic(),
            parameters=self.seekers,
            distortions=DISTORTIONS,
            thresholds=THRESHOLDS,
        )
        found = seeker._search(data, corpus, choice, levels)
        return tuple(dict.fromkeys(tuned.settings.distortion for tuned in found.values()))

    def _list_near(self, settings: Settings) -> list[float]:
        """Return multiples of the step near the problem's parameter, within the range of the paper."""
        value = find_spec(settings.problem).get_value(settings.problem)
        assert value is not None
        centre, last = round(value / self.step), round(1 / self.step)
        multiples = range(max(1, centre - self.reach), min(last, centre + self.reach) + 1)
        return [round(k * self.step, 10) for k in multiples]
