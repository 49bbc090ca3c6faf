"""The embeddings of a corpus at several layers and pairings, made when first asked for and kept in a folder.

All layers of a pairing come from one run of the encoder. A file is named by a digest of all that it depends
on (the encoder's files, the words), so that a folder may serve many corpora and encoders.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from otalign.aligner import split_into_chunks
from otalign.encoders import Embeddings, Encoder, Pairing
from otalign.encoders.embeddings import to_numpy
from otalign.progress import Progress, no_progress

Words = Sequence[str]


class EncoderChoice(NamedTuple):
    """How words are embedded, given the encoder."""

    layer: int
    pairing: Pairing = "joint"


class EmbeddingStore(Mapping[EncoderChoice, Embeddings]):
    """Choice → the embeddings of source, target, source, …, not centred."""

    def __init__(
        self,
        encoder: Encoder,
        pairs: Sequence[tuple[Words, Words]],
        choices: Iterable[EncoderChoice],
        folder: str | Path,
        progress: Progress = no_progress,
    ):
        """`encoder` is loaded up to the highest layer of the choices, and each pair is two lists of words."""
        self.encoder = encoder
        self.pairs = pairs
        self.choices = tuple(EncoderChoice(*choice) for choice in choices)
        self.folder = Path(folder)
        self.progress = progress
        self.starts = np.array([0, *accumulate(len(words) for pair in pairs for words in pair)])
        if not self.starts[-1]:
            raise ValueError(f"pairs must hold at least one word, got {len(pairs)} pairs without any")
        self.digest = _digest(encoder, pairs)

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

    def forget(self, choices: Iterable[EncoderChoice]) -> None:
        """Remove the files of these choices; asked for again, they are made again."""
        for choice in choices:
            self._file(choice).unlink(missing_ok=True)

    def _file(self, choice: EncoderChoice) -> Path:
        return self.folder / f"{self.digest[:24]}-{choice.pairing}-{choice.layer}.npy"

    def _make(self, pairing: Pairing) -> None:
        """All layers of the pairing that are missing, written chunk by chunk, in place only when whole."""
        missing = [c for c in self.choices if c.pairing == pairing and not self._file(c).is_file()]
        parts = {c.layer: self._file(c).with_suffix(f".part-{os.getpid()}") for c in missing}
        words = int(self.starts[-1])
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            arrays: dict[int, np.memmap] = {}
            done = 0
            self.progress(f"embedding, {pairing}", 0, words)
            for chunk in split_into_chunks(self.pairs):
                embedded = self.encoder.embed_layers(chunk, pairing, list(parts))
                for layer, embeddings in embedded.items():
                    vectors = to_numpy(embeddings.vectors)
                    if not embeddings.words:
                        continue
                    if layer not in arrays:
                        shape = (words, vectors.shape[1])
                        arrays[layer] = np.lib.format.open_memmap(parts[layer], "w+", vectors.dtype, shape)
                    arrays[layer][done : done + len(vectors)] = vectors
                done += sum(len(sentence.spans) for pair in chunk for sentence in pair)
                self.progress(f"embedding, {pairing}", done, words)
            for array in arrays.values():
                array.flush()
            arrays.clear()
            for choice in missing:
                os.replace(parts[choice.layer], self._file(choice))
        finally:
            for part in parts.values():
                part.unlink(missing_ok=True)


def _digest(encoder: Encoder, pairs: Sequence[tuple[Words, Words]]) -> str:
    """Of the encoder's name, the sizes and times of its files, and the words."""
    stats = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in encoder.files()]
    digest = sha256(json.dumps([encoder.name, encoder.limit, stats]).encode())
    for source, target in pairs:
        digest.update(json.dumps([list(source), list(target)]).encode())
    return digest.hexdigest()
