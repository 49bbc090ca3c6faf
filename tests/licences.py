"""Check the licences of all packages that otalign and its extras require against those that are allowed.

python -m tests.licences            # write docs/licences.md
python -m tests.licences --check    # only check the packages of this environment
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path(__file__).parent.parent / "docs" / "licences.md"
# Each allows use, changes and redistribution in any program; MPL-2.0 requires changes to its own files to be
# open. Packages write them in many ways.
ALLOWED = {
    "Apache-2.0": (
        "Apache Software License",
        "Apache 2.0",
        "Apache 2.0 License",
        "Apache-2.0 WITH LLVM-exception",
    ),
    "BSD": ("BSD License", "BSD-2-Clause", "BSD-3-Clause", "3-Clause BSD License", "0BSD"),
    "ISC": ("ISC License (ISCL)",),
    "MIT": ("MIT License", "MIT-CMU"),
    "MPL-2.0": ("Mozilla Public License 2.0 (MPL 2.0)",),
    "PSF-2.0": ("Python Software Foundation License", "CNRI-Python"),
    "BSL-1.0": (),
    "CC0-1.0": (),
    "Zlib": (),
}
NAMES = {name for licence, others in ALLOWED.items() for name in (licence, *others)}
# The CUDA libraries that torch installs on Linux have NVIDIA's own licence, which users accept with them.
OWN_TERMS = ("nvidia-", "cuda-")
# Docutils is in the public domain or under BSD licences; the GPL is that of an Emacs mode in its sources.
CHECKED = {"docutils": "BSD License; GNU General Public License (GPL); Public Domain"}
TITLE = """# Licences of the dependencies

`make licences` writes this table, and `make lint` refuses a licence that is not in the list of
`tests/licences.py`. The package itself is under MIT, and the weights of the model inside it under Apache-2.0.

On Linux, `torch` from the package index brings NVIDIA's CUDA libraries (`nvidia-*`, `cuda-*`), which are
under NVIDIA's own terms; the CPU build of torch does without them.

| package | licence | comes with |
|---|---|---|
"""


def main() -> int:
    licences = installed_licences()
    refused = {name: licence for name, licence in licences.items() if not is_allowed(name, licence)}
    for name, licence in refused.items():
        print(f"{name} has the licence {licence!r}, which is not in the list of {__file__}", file=sys.stderr)
    if "--check" not in sys.argv[1:]:
        origins = find_origins()
        rows = (f"| {name} | {licence} | {', '.join(origins[name])} |" for name, licence in licences.items())
        PAGE.write_text(TITLE + "\n".join(rows) + "\n", encoding="utf-8")
    return 1 if refused else 0


def installed_licences() -> dict[str, str]:
    """Return the licence of each package of this environment but otalign itself, in order."""
    command = [sys.executable, "-m", "piplicenses", "--from=mixed", "--format=json", "--with-system"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    licences = {canonicalize_name(one["Name"]): one["License"] for one in found}
    return {name: licences[name] for name in sorted(licences.keys() - {"otalign", "pip"})}


def is_allowed(name: str, licence: str) -> bool:
    if name.startswith(OWN_TERMS) or CHECKED.get(name) == licence:
        return True
    return set(re.split(r" AND | OR |; ", licence)) <= NAMES


def find_origins() -> dict[str, list[str]]:
    """Return what requires each package: otalign itself, some of its extras, or development alone."""
    origins = defaultdict(list)
    extras = distribution("otalign").metadata.get_all("Provides-Extra") or []
    for extra in ("", *sorted(extras, key=lambda extra: (extra == "dev", extra))):
        for name in find_dependencies("otalign", extra):
            if not (origins[name] and (extra == "dev" or origins[name] == ["otalign"])):
                origins[name].append(f"`{extra}`" if extra else "otalign")
    return origins


def find_dependencies(package: str, extra: str) -> set[str]:
    """Return all packages that are installed with a package and one of its extras."""
    found, waiting = set(), [(package, extra)]
    while waiting:
        name, extra = waiting.pop()
        try:
            requirements = map(Requirement, distribution(name).requires or ())
        except PackageNotFoundError:  # for another system
            continue
        for one in requirements:
            if one.marker is None or one.marker.evaluate({"extra": extra}):
                wanted = {(canonicalize_name(one.name), inner) for inner in ("", *one.extras)}
                waiting += wanted - found
                found |= wanted
    return {name for name, _ in found}


if __name__ == "__main__":
    sys.exit(main())
