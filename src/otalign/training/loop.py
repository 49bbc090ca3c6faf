"""The loop: epoch after epoch, each scored on the dev sets, the best kept; stopped early, or taken up again.

What an epoch draws at random depends on the seed and its number alone, so that a run that was killed and
taken up again is the run that was not.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from otalign.alignment import Level
from otalign.progress import Progress, no_progress
from otalign.training.dev import DevScore, DevSet
from otalign.training.model import Learner
from otalign.training.optimising import WARM_UP, optimiser, schedule
from otalign.training.reading import Split, TrainSet
from otalign.training.recipe import Recipe

GRADIENT_NORM = 1.0  # at most


@dataclass(frozen=True)
class Epoch:
    """What an epoch came to."""

    number: int  # from 1
    loss: float
    dev: dict[str, dict[Level, DevScore]]  # by the name of the dev set
    seconds: float

    @property
    def f1(self) -> float:
        """The mean over dev sets and levels, each at its best threshold; 0 where nothing is chosen."""
        return mean([score.f1 for levels in self.dev.values() for score in levels.values()] or [0.0])

    def to_dict(self) -> dict[str, Any]:
        dev = {name: {level: score._asdict() for level, score in of.items()} for name, of in self.dev.items()}
        return {
            "epoch": self.number,
            "loss": self.loss,
            "dev_f1": self.f1,
            "dev": dev,
            "seconds": self.seconds,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Epoch":
        dev = {name: {k: DevScore(**score) for k, score in of.items()} for name, of in data["dev"].items()}
        return cls(data["epoch"], data["loss"], dev, data["seconds"])


class Checkpoint(NamedTuple):
    """The file from which a run is taken up again, written after an epoch, but no oftener than so."""

    file: Path
    apart: float = 0.0  # seconds, where writing would take as long as learning

    @property
    def part(self) -> Path:
        """What is written before it is whole."""
        return self.file.with_suffix(".part")

    def remove(self) -> None:
        for path in (self.file, self.part):
            path.unlink(missing_ok=True)


class TrainingLoop:
    """A model in training. Where it has a checkpoint, it can be taken up again after the epoch of that.

    `accelerator` is accelerate's `Accelerator`, or `OneProcess`, which is like it.
    `accumulate` is the number of parts in which a batch is read where memory is short; `half` reads in
    bfloat16 what may be read so. `about` names the run: a checkpoint of another one is refused.
    """

    def __init__(
        self,
        model: Learner,
        train: TrainSet,
        dev: Mapping[str, DevSet],
        recipe: Recipe,
        accelerator: Any,
        *,
        half: bool = False,
        accumulate: int = 1,
        checkpoint: Checkpoint | None = None,
        about: str = "",
        progress: Progress = no_progress,
    ):
        self.model, self.train, self.dev, self.recipe = model, train, dev, recipe
        self.accelerator, self.half, self.accumulate = accelerator, half, accumulate
        self.checkpoint, self.about, self.progress = checkpoint, about, progress
        steps = math.ceil(len(train) / recipe.batch_size)  # of an epoch
        self.most = recipe.epochs_of(steps)  # epochs
        self.steps = self.most * steps  # of all of them
        self.average = None
        if recipe.average * self.steps > 1:
            old = 1 - 1 / (recipe.average * self.steps)  # how much of the average is kept at a step
            self.average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(old))
        made = optimiser(model, recipe, fused=accelerator.device.type == "cuda")
        self.schedule = schedule(made, self.steps, recipe)
        self.module, self.optimiser = accelerator.prepare(model, made)
        self.epochs: list[Epoch] = []
        self.best: dict[str, Tensor] = {}
        self.noted = time.perf_counter()

    def __call__(self, heard: Callable[[Epoch], None] = lambda epoch: None) -> list[Epoch]:
        """Train to the end. The model then is what it was after its best epoch, or the last if none is."""
        self._take_up()
        with self.train:
            while not self.over:
                epoch = self._epoch(len(self.epochs) + 1)
                if not self.dev or not self.epochs or epoch.f1 > max(known.f1 for known in self.epochs):
                    self.best = {name: x.detach().clone() for name, x in self.kept.state_dict().items()}
                self.epochs.append(epoch)
                self._note()
                heard(epoch)
        self.model.load_state_dict(self.best)
        return self.epochs

    @property
    def kept(self) -> Learner:
        """What is scored and kept: the average of the weights, once there is one."""
        begun = self.average and self.average.n_averaged > 0
        return cast(Learner, self.average.module) if self.average and begun else self.model

    @property
    def over(self) -> bool:
        """Whether all epochs are done, or too many went by without a better one."""
        best, since = -math.inf, 0
        for epoch in self.epochs:
            best, since = (epoch.f1, 0) if epoch.f1 > best + self.recipe.delta else (best, since + 1)
        impatient = self.recipe.patience is not None and since >= self.recipe.patience
        return impatient or len(self.epochs) >= self.most

    def _epoch(self, number: int) -> Epoch:
        start, what = time.perf_counter(), f"epoch {number}"
        random = np.random.default_rng([self.recipe.seed, number])
        torch.manual_seed(int(random.integers(2**31)))
        self.module.train()
        losses = []
        split = Split(self.accelerator.process_index, self.accelerator.num_processes, self.accumulate)
        for parts in self.train.read(self.recipe.batch_size, (self.recipe.seed, number), random, split):
            losses.append(self._step(parts))
            self.progress(what, len(losses), self.steps // self.most)
        loss = float(torch.stack(losses).mean())
        if not math.isfinite(loss):
            raise ValueError(f"the loss is {loss} in {what}; try a lower learning rate")
        dev = {name: one.scores(self.kept) for name, one in self.dev.items()}
        return Epoch(number, loss, dev, round(time.perf_counter() - start, 2))

    def _step(self, parts: Sequence[Any]) -> Tensor:
        total = torch.zeros((), device=self.accelerator.device)
        for k, batch in enumerate(parts):
            last = k == len(parts) - 1  # gradients go between processes once a step
            with nullcontext() if last else self.accelerator.no_sync(self.module):
                with torch.autocast(total.device.type, torch.bfloat16, enabled=self.half):
                    loss = self.module(self.model.tensors(batch, total.device)) / len(parts)
                self.accelerator.backward(loss)
            total += loss.detach()
        self.accelerator.clip_grad_norm_(self.module.parameters(), GRADIENT_NORM)
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.schedule.step()
        if self.average and self.schedule.last_epoch > WARM_UP * self.steps:
            self.average.update_parameters(self.model)
        return total

    def _note(self) -> None:
        """Write down all that going on from here takes; whole or not at all, and not too often."""
        if not (self.checkpoint and self.accelerator.is_main_process):
            return
        if time.perf_counter() - self.noted < self.checkpoint.apart:
            return
        state = {name: part.state_dict() for name, part in self._stateful()}
        state |= {
            "about": self.about,
            "best": self.best,
            "epochs": [epoch.to_dict() for epoch in self.epochs],
        }
        torch.save(state, self.checkpoint.part)
        self.checkpoint.part.replace(self.checkpoint.file)
        self.noted = time.perf_counter()

    def _take_up(self) -> None:
        if self.checkpoint and self.checkpoint.file.is_file():
            state = torch.load(self.checkpoint.file, map_location=self.accelerator.device, weights_only=True)
            if state["about"] != self.about:
                raise ValueError(
                    f"{self.checkpoint.file} is of a run that was begun otherwise; give the same encoder, "
                    "gold and options as then, or a new folder"
                )
            for name, part in self._stateful():
                part.load_state_dict(state[name])
            self.best, self.epochs = state["best"], [Epoch.from_dict(one) for one in state["epochs"]]

    def _stateful(self) -> Iterator[tuple[str, Any]]:
        yield from (("model", self.model), ("optimiser", self.optimiser), ("schedule", self.schedule))
        if self.average:
            yield "average", self.average
