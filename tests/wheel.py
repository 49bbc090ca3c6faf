"""Build the wheel, install it where nothing else is, and align with it far from the repository.

python tests/wheel.py      # says what the wheel and the environment weigh
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
MOST_WHEEL, MOST_INSTALLED = 25, 300  # megabytes
PAIR = ("She gave up smoking last year.", "Last year she quit smoking for good.")
LINKS = "0-2 1-3 2-3 3-4 4-0 5-1 6-7"


def size(path: Path) -> float:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if not file.is_symlink()]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def main() -> None:
    with TemporaryDirectory() as made:
        place = Path(made)
        subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", made, ROOT], check=True)
        (wheel,) = place.glob("*.whl")
        subprocess.run([sys.executable, "-m", "venv", place / "env"], check=True)
        python = place / "env" / "bin" / "python"
        constraints = ["--constraint", ROOT / "constraints.txt"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *constraints, wheel], check=True)
        found = subprocess.run(
            [python.with_name("otalign"), "align", *PAIR, "--format", "pharaoh"],
            cwd=made,
            env={},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        installed = size(place / "env")
        print(f"{wheel.name}: {size(wheel):.1f} MB; environment {installed:.0f} MB; {found}")
        assert size(wheel) <= MOST_WHEEL
        assert installed <= MOST_INSTALLED
        assert found == LINKS, f"not {LINKS}"


if __name__ == "__main__":
    main()
