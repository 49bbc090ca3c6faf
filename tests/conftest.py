from hypothesis import settings

# The machine's speed is nobody's bug, and a failure must come again when the test is run again.
settings.register_profile("otalign", deadline=None, derandomize=True)
settings.load_profile("otalign")
