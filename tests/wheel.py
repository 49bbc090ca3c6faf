"""Build the wheels, install them in a clean environment, and align with them outside the repository.

python tests/wheel.py      # prints the sizes of the wheels and the environment

The wheels are that of otalign and, if its weights are here, that of otalign-base. They are left in dist/, and
beside each its bill of materials in CycloneDX: every package of its environment, and every file of its models
with its digest.
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
BASE = ROOT / "packages" / "otalign-base"
DIST = ROOT / "dist"
MOST_WHEEL, MOST_BASE, MOST_INSTALLED = 25, 100, 300  # megabytes; the last without otalign-base
PAIR = ("She gave up smoking last year.", "Last year she quit smoking for good.")
LINKS = "0-2 1-3 2-3 3-4 4-0 5-1 6-7"
SCRIPTS = "Scripts" if os.name == "nt" else "bin"


def size(path: Path) -> float:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if not file.is_symlink()]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def list_model_files(project: Path) -> list[Path]:
    """List the files of the models of a project; a model is in the folder of an otalign.json."""
    folders = [settings.parent for settings in sorted(project.glob("src/**/otalign.json"))]
    return [file for folder in folders for file in sorted(folder.iterdir()) if file.is_file()]


def write_bill(wheel: Path, python: Path, project: Path) -> Path:
    """Write the bill of materials of the wheel in its environment, with the files of its models."""
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--sv", "1.6"]
    bill = json.loads(subprocess.run([*command, python], check=True, capture_output=True, text=True).stdout)
    for component in bill["components"]:
        for reference in component.get("externalReferences", ()):
            if reference["url"].startswith("file://"):  # where a wheel lay when it was installed
                reference["url"] = reference["url"].rpartition("/")[2]
    name = wheel.name.partition("-")[0].replace("_", "-")
    (ours,) = (component for component in bill["components"] if component["name"] == name)
    bill["metadata"]["component"] = ours
    bill["components"].remove(ours)
    bill["components"] += [describe_file(file, project) for file in list_model_files(project)]
    text = json.dumps(bill, indent=2) + "\n"
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    assert error is None, error
    assert "file://" not in text
    path = DIST / f"{wheel.stem}.cdx.json"
    path.write_text(text, encoding="utf-8")
    return path


def describe_file(file: Path, project: Path) -> dict:
    """Describe a file of a model as a component."""
    with file.open("rb") as stream:
        digest = file_digest(stream, "sha256").hexdigest()
    name = file.relative_to(project / "src").as_posix()
    return {"type": "file", "bom-ref": name, "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}


def try_wheel(project: Path, environment: Path, options: list[str], most: float) -> None:
    """Build the wheel of a project, install it, align with its model, and write its bill of materials."""
    python = environment / SCRIPTS / "python"
    built = environment.parent / project.name
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", built, project], check=True)
    (wheel,) = built.glob("*.whl")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    subprocess.run([*install, "--constraint", ROOT / "constraints.txt", wheel], check=True)
    found = subprocess.run(
        [python.with_name("otalign"), "align", *PAIR, *options, "--format", "pharaoh"],
        cwd=environment.parent,
        env={name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},  # Windows needs it
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    print(f"{wheel.name}: {size(wheel):.1f} MB; environment {size(environment):.0f} MB; {found}")
    print(f"{write_bill(wheel, python, project).relative_to(ROOT)}: CycloneDX 1.6, valid")
    copy(wheel, DIST)
    assert size(wheel) <= most
    assert found == LINKS, f"not {LINKS}"


def main() -> None:
    DIST.mkdir(exist_ok=True)
    with TemporaryDirectory() as made:
        environment = Path(made) / "env"
        # Without pip of its own, so that it holds nothing but what the wheels need.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        try_wheel(ROOT, environment, [], MOST_WHEEL)
        assert size(environment) <= MOST_INSTALLED
        if list_model_files(BASE):
            try_wheel(BASE, environment, ["--model", "base"], MOST_BASE)
        else:
            print(f"otalign-base: not built, since {BASE.relative_to(ROOT)} has no weights")


if __name__ == "__main__":
    main()
