"""A training run: epoch after epoch, each scored on the dev sets, until the best is found.

The random numbers of an epoch depend only on the seed and its number, so that an interrupted and continued
run ends like an uninterrupted one.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from otalign.training.accelerator import make_accelerator
from otalign.training.checkpoints import RunKey
from otalign.training.dev import DevSet
from otalign.training.epochs import Epoch, find_best_scores
from otalign.training.model import Learner
from otalign.training.optimizer import WARM_UP, make_optimizer, make_schedule
from otalign.training.options import DEFAULT_OPTIONS, RunOptions
from otalign.training.reading import Split, TrainSet
from otalign.training.recipe import Recipe

MAX_GRADIENT_NORM = 1.0
NO_KEY = RunKey("", "", "")


class TrainingRun:
    """The training of one model.

    Args:
        model: The model to train.
        pairs: Training pairs.
        dev: Dev sets by name. Without any, the model of the last epoch is kept.
        recipe: Recipe of the training.
        options: Hardware, checkpoint and progress.
        key: Digests of everything that determines the run; a checkpoint with another key is refused.
        accelerator: `accelerate.Accelerator` or `OneProcess`; by default that of the options.
    """

    def __init__(
        self,
        model: Learner,
        pairs: TrainSet,
        dev: Mapping[str, DevSet],
        recipe: Recipe,
        options: RunOptions = DEFAULT_OPTIONS,
        *,
        key: RunKey = NO_KEY,
        accelerator: Any = None,
    ) -> None:
        self.model, self.pairs, self.dev, self.recipe = model, pairs, dev, recipe
        self.options, self.key = options, key
        self.accelerator = accelerator or make_accelerator(options.device)
        self.steps = math.ceil(len(pairs) / recipe.batch_size)  # steps per epoch
        self.max_epochs = recipe.count_epochs(self.steps)
        self.total_steps = self.max_epochs * self.steps
        self.ema = None
        if recipe.ema_share * self.total_steps > 1:
            decay = 1 - 1 / (recipe.ema_share * self.total_steps)
            self.ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay))
        optimizer = make_optimizer(model, recipe, fused=self.accelerator.device.type == "cuda")
        self.schedule = make_schedule(optimizer, self.total_steps, recipe)
        self.module, self.optimizer = self.accelerator.prepare(model, optimizer)
        self.epochs: list[Epoch] = []
        self.best: dict[str, Tensor] = {}
        self.saved_at = time.perf_counter()

    def fit(self) -> list[Epoch]:
        """Train to the end, from the checkpoint if there is one.

        Returns:
            All epochs. The model has the weights of the best one, or of the last without dev sets.

        Raises:
            ValueError: If the checkpoint is that of another run, or the loss is not finite.
        """
        if self.options.bf16:
            torch.set_float32_matmul_precision("high")  # the rest is no more precise than that
        self._load_checkpoint()
        with self.pairs:
            while not self.is_finished:
                epoch = self._train_epoch(len(self.epochs) + 1)
                if not self.dev or not self.epochs or epoch.f1 > max(known.f1 for known in self.epochs):
                    state = self.scored_model.state_dict()
                    self.best = {name: x.detach().clone() for name, x in state.items()}
                self.epochs.append(epoch)
                self._save_checkpoint()
                if self.options.on_epoch:
                    self.options.on_epoch(epoch)
        self.model.load_state_dict(self.best)
        return self.epochs

    @property
    def scored_model(self) -> Learner:
        """The model that is scored and kept: the moving average of the weights, once there is one."""
        if self.ema and self.ema.n_averaged > 0:
            return cast(Learner, self.ema.module)
        return self.model

    @property
    def is_finished(self) -> bool:
        """True if all epochs are done, or dev F1 has not improved for as many as the recipe's patience."""
        best, since = -math.inf, 0
        for epoch in self.epochs:
            best, since = (epoch.f1, 0) if epoch.f1 > best + self.recipe.delta else (best, since + 1)
        impatient = self.recipe.patience is not None and since >= self.recipe.patience
        return impatient or len(self.epochs) >= self.max_epochs

    def _train_epoch(self, number: int) -> Epoch:
        start, name = time.perf_counter(), f"epoch {number}"
        random = np.random.default_rng([self.recipe.seed, number])
        torch.manual_seed(int(random.integers(2**31)))
        self.module.train()
        losses = []
        split = Split(self.accelerator.process_index, self.accelerator.num_processes, self.options.accumulate)
        for parts in self.pairs.read(self.recipe.batch_size, (self.recipe.seed, number), random, split):
            losses.append(self._step(parts))
            self.options.progress(name, len(losses), self.steps)
        loss = float(torch.stack(losses).mean())
        if not math.isfinite(loss):
            raise ValueError(f"the loss is {loss} in {name}; try a lower learning rate")
        curves = {name: dev.compute_curves(self.scored_model) for name, dev in self.dev.items()}
        seconds = round(time.perf_counter() - start, 2)
        return Epoch(number, loss, find_best_scores(curves), seconds)

    def _step(self, parts: Sequence[Any]) -> Tensor:
        """Make one step of the optimizer with the parts of a batch, and return its loss."""
        total = torch.zeros((), device=self.accelerator.device)
        for k, batch in enumerate(parts):
            last = k == len(parts) - 1  # processes exchange gradients once a step
            with nullcontext() if last else self.accelerator.no_sync(self.module):
                with torch.autocast(total.device.type, torch.bfloat16, enabled=self.options.bf16):
                    loss = self.module(self.model.to_tensors(batch, total.device)) / len(parts)
                self.accelerator.backward(loss)
            total += loss.detach()
        self.accelerator.clip_grad_norm_(self.module.parameters(), MAX_GRADIENT_NORM)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.schedule.step()
        if self.ema and self.schedule.last_epoch > WARM_UP * self.total_steps:
            self.ema.update_parameters(self.model)
        return total

    def _save_checkpoint(self) -> None:
        checkpoint = self.options.checkpoint
        if not (checkpoint and self.accelerator.is_main_process):
            return
        if time.perf_counter() - self.saved_at < checkpoint.interval:
            return
        state = {name: part.state_dict() for name, part in self._get_stateful_parts()}
        state |= {"best": self.best, "epochs": [epoch.to_dict() for epoch in self.epochs]}
        checkpoint.save(self.key, state)
        self.saved_at = time.perf_counter()

    def _load_checkpoint(self) -> None:
        checkpoint = self.options.checkpoint
        if not (checkpoint and checkpoint.exists()):
            return
        state = checkpoint.load(self.key, self.accelerator.device)
        for name, part in self._get_stateful_parts():
            part.load_state_dict(state[name])
        self.best, self.epochs = state["best"], [Epoch.from_dict(one) for one in state["epochs"]]

    def _get_stateful_parts(self) -> Iterator[tuple[str, Any]]:
        yield from (("model", self.model), ("optimizer", self.optimizer), ("schedule", self.schedule))
        if self.ema:
            yield "ema", self.ema
