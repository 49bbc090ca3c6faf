"""The panels of the help, which group options."""

INPUT, OUTPUT, MODEL, TRANSPORT = "Input", "Output", "Model", "Transport"
SIMALIGN, FAST_ALIGN, HARDWARE, LARGE = "SimAlign", "fast_align", "Hardware", "Large corpora"
SEARCH, SCORING, SERVER, SERVER_LIMITS = "Search", "Scoring", "Server", "Server limits"
PANELS = (  # in the order of the help
    *(INPUT, OUTPUT, SCORING, SEARCH, SERVER, MODEL, TRANSPORT, SIMALIGN, FAST_ALIGN),
    *(HARDWARE, LARGE, SERVER_LIMITS),
)
