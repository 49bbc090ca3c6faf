"""The embeddings of a corpus at several layers and pairings, computed on first use and kept in a folder.

One run of the encoder gives all layers of a pairing. The name of a file contains a digest of everything it
depends on (the encoder's files, the words), so that a folder can hold many corpora and encoders.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from otalign.atomic import open_atomic
from otalign.encoders import Embeddings, Encoder, Pairing
from otalign.encoders.chunks import split_into_chunks
from otalign.encoders.embeddings import to_numpy
from otalign.progress import Progress, no_progress

Words = Sequence[str]


class EncoderChoice(NamedTuple):
    """A layer of the encoder and a pairing.

    Attributes:
        layer: Encoder layer; 0 is the embedding layer.
        pairing: Whether the two sentences are encoded together or each alone.

    Example:
        >>> from otalign.tuning import EncoderChoice
        >>> EncoderChoice(layer=8)
        EncoderChoice(layer=8, pairing='joint')
    """

    layer: int
    pairing: Pairing = "joint"


class EmbeddingStore(Mapping[EncoderChoice, Embeddings]):
    """The embeddings of source, target, source, … at each choice of layer and pairing, not centred.

    Args:
        encoder: Encoder that is loaded up to the highest layer of the choices.
        pairs: Words of source and target.
        choices: Layers and pairings.
        folder: Folder that keeps the embeddings.
        progress: Function that is called with a description, the amount done, and the total.

    Raises:
        ValueError: If the pairs have no words.

    Example:
        >>> from otalign import Aligner
        >>> from otalign.tuning import EmbeddingStore, EncoderChoice
        >>> choice, pairs = EncoderChoice(layer=5), [(("he", "ran"), ("he", "left"))]
        >>> store = EmbeddingStore(Aligner.load().encoder, pairs, [choice], "cache")
        >>> store[choice].vectors.shape
        (4, 384)
    """

    def __init__(
        self,
        encoder: Encoder,
        pairs: Sequence[tuple[Words, Words]],
        choices: Iterable[EncoderChoice],
        folder: str | Path,
        progress: Progress = no_progress,
    ) -> None:
        self.encoder = encoder
        self.pairs = pairs
        self.choices = tuple(EncoderChoice(*choice) for choice in choices)
        self.folder = Path(folder)
        self.progress = progress
        self.starts = np.array([0, *accumulate(len(words) for pair in pairs for words in pair)])
        if not self.starts[-1]:
            raise ValueError(f"pairs must contain at least one word, got {len(pairs)} pairs without any")
        self.digest = _compute_digest(encoder, pairs)

    def __getitem__(self, choice: EncoderChoice) -> Embeddings:
        if choice not in self.choices:
            raise KeyError(choice)
        if not self._file(choice).is_file():
            self._make(choice.pairing)
        return Embeddings(np.load(self._file(choice), mmap_mode="r", allow_pickle=False), self.starts)

    def __iter__(self) -> Iterator[EncoderChoice]:
        return iter(self.choices)

    def __len__(self) -> int:
        return len(self.choices)

    def delete(self, choices: Iterable[EncoderChoice]) -> None:
        """Remove the files of these choices; they are computed again if needed.

        Args:
            choices: Layers and pairings.
        """
        for choice in choices:
            self._file(choice).unlink(missing_ok=True)

    def _file(self, choice: EncoderChoice) -> Path:
        return self.folder / f"{self.digest[:24]}-{choice.pairing}-{choice.layer}.npy"

    def _make(self, pairing: Pairing) -> None:
        """Compute all missing layers of a pairing, and write them chunk by chunk."""
        missing = [c for c in self.choices if c.pairing == pairing and not self._file(c).is_file()]
        words, done, name = int(self.starts[-1]), 0, f"embedding, {pairing}"
        self.folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            files = {c.layer: stack.enter_context(open_atomic(self._file(c))) for c in missing}
            self.progress(name, 0, words)
            for chunk in split_into_chunks(self.pairs):
                for layer, embeddings in self.encoder.embed_layers(chunk, pairing, list(files)).items():
                    if not embeddings.words:
                        continue
                    vectors = to_numpy(embeddings.vectors)
                    if not files[layer].tell():
                        _write_header(files[layer], vectors.dtype, (words, vectors.shape[1]))
                    files[layer].write(vectors.tobytes())
                done += sum(len(sentence.spans) for pair in chunk for sentence in pair)
                self.progress(name, done, words)


def _write_header(file: BinaryIO, dtype: np.dtype, shape: tuple[int, int]) -> None:
    """Write the header of a file in NumPy's format, whose values follow row by row."""
    descr = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})


def _compute_digest(encoder: Encoder, pairs: Sequence[tuple[Words, Words]]) -> str:
    """Compute a digest of the encoder's name, the sizes and times of its files, and the words."""
    stats = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in encoder.list_files()]
    digest = sha256(json.dumps([encoder.name, encoder.limit, stats]).encode())
    for source, target in pairs:
        digest.update(json.dumps([list(source), list(target)]).encode())
    return digest.hexdigest()
