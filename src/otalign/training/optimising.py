"""What moves the weights: the optimiser, and how fast it goes as training goes on."""

from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from otalign.training.model import Learner
from otalign.training.recipe import Recipe

WARM_UP = 0.1  # of the steps, over which the learning rate rises
WEIGHT_DECAY = 0.01


def optimiser(model: Learner, recipe: Recipe, *, fused: bool) -> Optimizer:
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    within = {id(weight) for weight in model.encoder.parameters()}
    pretrained = [weight for weight in learned if id(weight) in within]
    new = [weight for weight in learned if id(weight) not in within]
    groups = [
        {"params": pretrained, "lr": recipe.learning_rate},
        {"params": new, "lr": recipe.learning_rate * recipe.head_pace},
    ]
    if recipe.optimizer == "adafactor":
        from transformers.optimization import Adafactor

        return Adafactor(groups, scale_parameter=False, relative_step=False)
    return AdamW(groups, weight_decay=WEIGHT_DECAY, betas=(0.9, 0.98), eps=1e-6, fused=fused)


def schedule(optimiser: Optimizer, steps: int, recipe: Recipe) -> LambdaLR:
    """The learning rate rises over the first steps and then falls to nothing, or stays as it is."""

    def pace(step: int) -> float:
        if not recipe.decay:
            return 1.0
        return min((step + 1) / (WARM_UP * steps), max(0.0, (steps - step) / ((1 - WARM_UP) * steps)))

    return LambdaLR(optimiser, pace)
