"""Build the wheel, install it where nothing else is, and align with it far from the repository.

python tests/wheel.py      # says what the wheel and the environment weigh

The wheel is left in dist/, and beside it its bill of materials in CycloneDX: every package of that
environment, and every file of the models inside the wheel with its digest.
"""

import json
import os
import subprocess
import sys
from hashlib import file_digest
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).parent.parent
MODELS = ROOT / "src" / "otalign" / "models"
DIST = ROOT / "dist"
MOST_WHEEL, MOST_INSTALLED = 25, 300  # megabytes
PAIR = ("She gave up smoking last year.", "Last year she quit smoking for good.")
LINKS = "0-2 1-3 2-3 3-4 4-0 5-1 6-7"
SCRIPTS = "Scripts" if os.name == "nt" else "bin"


def size(path: Path) -> float:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if not file.is_symlink()]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def write_bill(wheel: Path, python: Path) -> Path:
    """Write the bill of materials of the wheel in its environment, with the files of the models."""
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--sv", "1.6"]
    bill = json.loads(subprocess.run([*command, python], check=True, capture_output=True, text=True).stdout)
    (ours,) = (component for component in bill["components"] if component["name"] == "otalign")
    ours["externalReferences"][0]["url"] = wheel.name  # not where it lay when it was installed
    bill["metadata"]["component"] = ours
    bill["components"].remove(ours)
    bill["components"] += [describe_file(file) for file in sorted(MODELS.glob("*/*")) if file.is_file()]
    text = json.dumps(bill, indent=2) + "\n"
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    assert error is None, error
    assert "file://" not in text
    path = DIST / f"{wheel.stem}.cdx.json"
    path.write_text(text, encoding="utf-8")
    return path


def describe_file(file: Path) -> dict:
    """Describe a file of a model as a component."""
    with file.open("rb") as stream:
        digest = file_digest(stream, "sha256").hexdigest()
    name = file.relative_to(ROOT / "src").as_posix()
    return {"type": "file", "bom-ref": name, "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}


def main() -> None:
    with TemporaryDirectory() as made:
        place = Path(made)
        subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", made, ROOT], check=True)
        (wheel,) = place.glob("*.whl")
        # Without pip of its own, so that it holds nothing but what the wheel needs.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "env"], check=True)
        python = place / "env" / SCRIPTS / "python"
        install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
        subprocess.run([*install, "--constraint", ROOT / "constraints.txt", wheel], check=True)
        found = subprocess.run(
            [python.with_name("otalign"), "align", *PAIR, "--format", "pharaoh"],
            cwd=made,
            env={
                name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ
            },  # Windows needs it
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        installed = size(place / "env")
        DIST.mkdir(exist_ok=True)
        print(f"{wheel.name}: {size(wheel):.1f} MB; environment {installed:.0f} MB; {found}")
        print(f"{write_bill(wheel, python).relative_to(ROOT)}: CycloneDX 1.6, valid")
        copy(wheel, DIST)
        assert size(wheel) <= MOST_WHEEL
        assert installed <= MOST_INSTALLED
        assert found == LINKS, f"not {LINKS}"


if __name__ == "__main__":
    main()
