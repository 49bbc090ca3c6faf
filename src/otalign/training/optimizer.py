"""The optimizer, and its learning rate over the steps of a training."""

from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from otalign.training.model import Learner
from otalign.training.recipe import Recipe

WARM_UP = 0.1  # share of the steps over which the learning rate rises
WEIGHT_DECAY = 0.01


def make_optimizer(model: Learner, recipe: Recipe, *, fused: bool) -> Optimizer:
    """Make the optimizer of a recipe, with a separate learning rate for weights that are not pretrained."""
    trainable = [weight for weight in model.parameters() if weight.requires_grad]
    in_encoder = {id(weight) for weight in model.encoder.parameters()}
    pretrained = [weight for weight in trainable if id(weight) in in_encoder]
    new = [weight for weight in trainable if id(weight) not in in_encoder]
    groups = [
        {"params": pretrained, "lr": recipe.learning_rate},
        {"params": new, "lr": recipe.learning_rate * recipe.head_lr_multiplier},
    ]
    if recipe.optimizer == "adafactor":
        from transformers.optimization import Adafactor

        return Adafactor(groups, scale_parameter=False, relative_step=False)
    return AdamW(groups, weight_decay=WEIGHT_DECAY, betas=(0.9, 0.98), eps=1e-6, fused=fused)


def make_schedule(optimizer: Optimizer, steps: int, recipe: Recipe) -> LambdaLR:
    """Make the schedule of the learning rate: warm-up and linear decay to 0, or constant without decay."""

    def scale(step: int) -> float:
        if not recipe.decay:
            return 1.0
        return min((step + 1) / (WARM_UP * steps), max(0.0, (steps - step) / ((1 - WARM_UP) * steps)))

    return LambdaLR(optimizer, scale)
