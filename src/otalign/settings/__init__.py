"""Settings of an aligner.

`Settings` describes an aligner that solves a transport problem; `LearnedSettings` one whose scores were
learned. Both are frozen values that can be printed, saved and loaded again.
"""

from otalign.settings.file import SETTINGS, AnySettings, load_settings, read_settings, save_settings
from otalign.settings.learned import LEARNED, Learned, LearnedSettings
from otalign.settings.transport import (
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
    SettingsOptions,
)

__all__ = [
    "COMPLETION",
    "DISTORTION",
    "LEARNED",
    "MUTUALITY",
    "ORDER",
    "SETTINGS",
    "SMOOTHING",
    "STRUCTURE",
    "WHITENING",
    "AnySettings",
    "Cost",
    "Fertility",
    "Learned",
    "LearnedSettings",
    "Settings",
    "SettingsOptions",
    "load_settings",
    "read_settings",
    "save_settings",
]
