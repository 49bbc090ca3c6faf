"""The contrast of two colours, as WCAG defines it."""


def mix(colour: str, back: str, share: float) -> str:
    parts = [(int(colour[k : k + 2], 16), int(back[k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(share * one + (1 - share) * two):02x}" for one, two in parts)


def contrast(one: str, two: str) -> float:
    darker, lighter = sorted(map(luminance, (one, two)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
