"""Rows by transport, or by a threshold on the costs: tuned by `tuning.tune`, coarsely and then finely.

The coarse search is that of `tune` over the distortions and the parameters (tau or fraction) of the row; the
fine one tries, in steps of 0.02 as in the paper, the parameters around the best. All thresholds are tried
every time.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from experiments.study_data import Material
from experiments.unsupervised.system import Figures, Tuning
from otalign.aligner import Aligner
from otalign.alignment import Alignment, Level
from otalign.encoders.chunks import EmbeddedPairs
from otalign.ot import Entropic, Partial, Problem, Solver, Unbalanced
from otalign.settings import Cost, Fertility, Settings
from otalign.text.words import join_words
from otalign.tuning import THRESHOLDS, EncoderChoice, SearchGrid, TuningResult, tune

DISTORTIONS = tuple(k / 10 for k in range(11))
MASS = (1e-6,)  # a threshold that keeps all mass but rounding errors


@dataclass(frozen=True)
class Transported:
    """A row of transport: problem, solver, cost, fertility. Without distortions it uses the best of UOT."""

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
    step: float = 0.02  # of the fine search, and
    reach: int = 4  # how many steps it goes to either side
    seekers: tuple[float, ...] = (0.06, 0.2, 0.6, 1.0)  # taus at which distortions are sought

    embeds = True

    def tune(
        self, material: Material, corpus: str, choice: EncoderChoice, levels: tuple[Level, ...]
    ) -> dict[Level, Tuning]:
        pairs = len(material.golds(corpus, "dev"))
        found: dict[Level, Tuning] = {}
        for level, best in self._best(material, corpus, choice, levels).items():
            dev = Figures(best.best.precision, best.best.recall, pairs)
            found[level] = Tuning(best.settings.to_dict(), best.settings.signature_fields(), dev)
        return found

    def align(self, material: Material, corpus: str, tuning: Tuning) -> Iterable[Alignment]:
        settings = Settings.from_dict(tuning.settings)
        choice = EncoderChoice(settings.layer, settings.pairing)
        embeddings = material.get_centred_embeddings(corpus, choice, settings.whitening)
        pairs = [
            (join_words(gold.source), join_words(gold.target)) for gold in material.golds(corpus, "test")
        ]
        return Aligner(material.encoder, settings).align_chunk(EmbeddedPairs(pairs, embeddings))

    def _best(
        self, material: Material, corpus: str, choice: EncoderChoice, levels: tuple[Level, ...]
    ) -> dict[Level, TuningResult]:
        sought = self.distortions or self._sought(material, corpus, choice, levels)
        base = material.base(choice).replace(
            cost=self.cost,
            fertility=self.fertility,
            whitening=self.whitening,
            smoothing=self.smoothing,
            problem=self.problem,
            solver=self.solver,
        )
        golds, store = material.golds(corpus, "dev"), material.store(corpus, "dev", [choice])

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
                journal=material.journal(corpus),
                progress=lambda what, done, of: material.progress(f"{label}: {what}", done, of),
            )

        coarse = search(sought, self.parameters)
        if not self.parameters:
            return coarse
        best = [tuned.settings for tuned in coarse.values()]
        near = sorted({value for settings in best for value in self._around(parameter(settings))})
        fine = search([settings.distortion for settings in best], near)
        return {level: max(coarse[level], fine[level], key=lambda tuned: tuned.f1) for level in levels}

    def _sought(
        self, material: Material, corpus: str, choice: EncoderChoice, levels: tuple[Level, ...]
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
        found = seeker._best(material, corpus, choice, levels)
        return tuple(dict.fromkeys(tuned.settings.distortion for tuned in found.values()))

    def _around(self, value: float) -> list[float]:
        """Return multiples of the step near a value, within the range of the paper."""
        centre, last = round(value / self.step), round(1 / self.step)
        places = range(max(1, centre - self.reach), min(last, centre + self.reach) + 1)
        return [round(k * self.step, 10) for k in places]


def parameter(settings: Settings) -> float:
    """Return tau or the fraction of the problem."""
    match settings.problem:
        case Partial(fraction):
            return fraction
        case Unbalanced(tau_source=tau):
            return tau
    raise ValueError(f"problem must be Partial or Unbalanced to have a parameter, got {settings.problem!r}")
