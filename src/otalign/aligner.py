"""The aligner: sentences → words → embeddings → costs and masses → plan → links, for a pair or a stream.

An aligner is an encoder, `Settings` and, if kept, the mean embedding to centre on. Saved, it is a folder:
`otalign.json`, `mean.npy`, and the files of the encoder unless its name on the Hugging Face hub is enough.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import otalign
from otalign import encoders, extract
from otalign.alignment import Alignment
from otalign.centring import centred, mean
from otalign.encoders import BATCH_SIZE, Embeddings, Encoder
from otalign.extract import Found
from otalign.settings import Settings
from otalign.strengths import strengths, tiles
from otalign.words import Sentence, joined, tokenized

Text = str | Sequence[str] | Sentence  # raw text, words, or words with their places in a text
Pair = tuple[Sentence, Sentence]

CHUNK_PAIRS, CHUNK_WORDS = 1024, 16_384  # at most, embedded together: enough to find pairs of like length
SETTINGS, MEAN = "otalign.json", "mean.npy"


@dataclass(frozen=True, eq=False)
class Aligner:
    """Aligns the words of two sentences. Nothing in it changes, so many threads may share one.

    Without a kept `mean`, embeddings are centred on the pairs at hand: those given to one call.
    """

    encoder: Encoder
    settings: Settings
    mean: np.ndarray | None = None  # (D,)

    @classmethod
    def load(
        cls,
        model: str | Path,
        *,
        layer: int | None = None,
        device: str | None = None,
        threads: int | None = None,
        batch_size: int = BATCH_SIZE,
        **settings: Any,
    ) -> "Aligner":
        """The aligner in a folder, or one over an encoder: a folder, or a name on the Hugging Face hub.

        `settings` are those of `Settings`, and go before what the folder says. `batch_size` counts the
        subwords, padding included, that the encoder sees at once.
        """
        saved = _saved_settings(Path(model))
        if saved and not encoders.is_in(Path(model)):
            model, folder = saved.encoder, Path(model)
        else:
            folder = Path(model)
        if saved and layer is None:
            layer = saved.layer
        encoder = encoders.load(model, layer, device=device, threads=threads, batch_size=batch_size)
        settings["layer"] = encoder.layer
        chosen = saved.changed(**settings) if saved else Settings(encoder=encoder.name, **settings)
        kept = saved and (saved.layer, saved.pairing) == (chosen.layer, chosen.pairing) and chosen.centring
        if kept and (folder / MEAN).is_file():
            return cls(encoder, chosen, np.load(folder / MEAN, allow_pickle=False))
        return cls(encoder, chosen)

    def save(self, folder: str | Path) -> None:
        """Write a folder that `load` takes."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.encoder.save(folder)
        (folder / MEAN).unlink(missing_ok=True)  # that of another aligner, saved here before
        if self.mean is not None:
            np.save(folder / MEAN, self.mean)
        text = json.dumps(self.settings.to_dict() | {"version": otalign.__version__}, indent=2)
        (folder / SETTINGS).write_text(text + "\n", encoding="utf-8")

    @property
    def signature(self) -> str:
        """`key:value|…`: all that must be told of a result for it to be got again."""
        told = self.settings.fields() | {"version": otalign.__version__}
        return "|".join(f"{key}:{value}" for key, value in told.items())

    def centred_on(self, pairs: Iterable[tuple[Text, Text]]) -> "Aligner":
        """The same aligner with the mean embedding of these pairs kept, to align with and to save."""
        return replace(self, mean=mean(embeddings for _, embeddings in self._embedded(pairs)))

    def align(self, source: Text, target: Text) -> Alignment:
        """The alignment of one pair: two texts, or two lists of words."""
        (alignment,) = self.align_many([(source, target)])
        return alignment

    def align_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Alignment]:
        """The alignments of any number of pairs, in order, as they are asked for, a chunk held at a time."""
        stream = self._embedded(pairs)
        if self.settings.centring and self.mean is not None:
            stream = ((chunk, embeddings.minus(self.mean)) for chunk, embeddings in stream)
        elif self.settings.centring:
            stream = centred(stream)
        for chunk, embeddings in stream:
            yield from alignments(chunk, embeddings, self.settings)

    def _embedded(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[tuple[list[Pair], Embeddings]]:
        for chunk in chunks(pairs):
            yield chunk, self.encoder.embed(chunk, self.settings.pairing)


def alignments(pairs: Sequence[Pair], embeddings: Embeddings, settings: Settings) -> Iterator[Alignment]:
    """The alignments of pairs whose embeddings are at hand, centred if they are to be."""
    shapes = [(len(source.spans), len(target.spans)) for source, target in pairs]
    found = [Found.nothing(*shape) for shape in shapes]
    for places, tile in tiles(embeddings, shapes):
        strong = strengths(tile, settings)
        for k, links in zip(places, extract.links(strong, tile, settings.threshold), strict=True):
            found[k] = links
    for (source, target), (links, nulls) in zip(pairs, found, strict=True):
        yield Alignment(source.words, target.words, links, source.spans, target.spans, *nulls)


def _sentence(text: Text) -> Sentence:
    match text:
        case Sentence():
            return text
        case str():
            return tokenized(text)
    return joined(text)


def chunks(pairs: Iterable[tuple[Text, Text]]) -> Iterator[list[Pair]]:
    """The pairs as sentences, so many at a time as are embedded together."""
    chunk, words = [], 0
    for source, target in pairs:
        pair = _sentence(source), _sentence(target)
        chunk.append(pair)
        words += len(pair[0].spans) + len(pair[1].spans)
        if len(chunk) >= CHUNK_PAIRS or words >= CHUNK_WORDS:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk


def _saved_settings(folder: Path) -> Settings | None:
    file = folder / SETTINGS
    if not file.is_file():
        return None
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        data.pop("version", None)
        return Settings.from_dict(data)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{file} is not what Aligner.save writes: {error}") from error
