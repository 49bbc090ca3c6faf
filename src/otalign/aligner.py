"""The aligner: sentences → words → embeddings → costs and masses → plan → links, for a pair or a stream.

An aligner is an encoder, `Settings` and, if kept, the middle of embeddings to centre on, and a head if it
was trained. Saved, it is a folder: `otalign.json`, `mean.npy`, `stretch.npy` if it whitens,
`head.safetensors`, and the files of the encoder unless its name on the Hugging Face hub is enough.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import otalign
from otalign import encoders, models
from otalign.alignment import Alignment
from otalign.atomic import write_atomic
from otalign.encoders import Embeddings, Encoder, Pairing, Precision
from otalign.encoders import prefetch as ahead
from otalign.encoders.whitening import Centre, centred
from otalign.models import SETTINGS
from otalign.scoring import extraction as extract
from otalign.scoring import heads as heads
from otalign.scoring.extraction import Found, Links
from otalign.scoring.heads import Head, LearnedTransport
from otalign.scoring.strengths import LEARNED, TRANSPORT, Tile, tiles
from otalign.scoring.weights import Array, Weights, weights
from otalign.settings import Learned, Settings
from otalign.text.words import Pair, Text, sentence
from otalign.untrusted import read_array, read_json

CHUNK_PAIRS, CHUNK_WORDS = 1024, 16_384  # at most, embedded together: enough to find pairs of like length
MEAN, STRETCH = "mean.npy", "stretch.npy"
CENTRED_BY = ("layer", "pairing", "centring", "whitening")  # what a kept centre depends on


class Method(Protocol):
    """Whatever aligns pairs: `Aligner` and the baselines, so that who uses one need not know which it is."""

    @property
    def signature(self) -> str:
        """`key:value|…`: all that must be told of a result for it to be got again."""
        ...

    def align(self, source: Text, target: Text) -> Alignment: ...

    def align_many(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Alignment]:
        """The alignments of the pairs, in order, one for each."""
        ...


@dataclass(frozen=True, eq=False)
class Aligner:
    """Aligns the words of two sentences. Nothing in it changes, so many threads may share one.

    Without a kept `centre`, embeddings are centred on the pairs at hand: those given to one call.
    """

    encoder: Encoder
    settings: Settings
    centre: Centre | None = None
    head: Head | None = None

    def __post_init__(self):
        learned = isinstance(self.settings.problem, Learned)
        if learned != isinstance(self.head, LearnedTransport):
            had = "has learned its transport" if self.head else "was not trained for 'learned'"
            raise ValueError(
                f"problem must be one that suits an aligner that {had}, got {self.settings.problem!r}"
            )

    @classmethod
    def load(
        cls,
        model: str | Path | None = None,
        *,
        layer: int | None = None,
        device: str | None = None,
        threads: int | None = None,
        batch_size: int | None = None,
        precision: Precision = "float32",
        **settings: Any,
    ) -> "Aligner":
        """The aligner that comes with the package, by name or the default, or one that is in a folder, or one
        over an encoder: a folder, or a name on the Hugging Face hub.

        `settings` are those of `Settings`, and go before what the folder says. `batch_size` counts the
        subwords, padding included, that the encoder sees at once; None suits the device. `precision` is that
        in which it works: float32, or bfloat16, which a GPU is several times faster in.
        """
        model = _found(model)
        saved = saved_settings(Path(model))
        if saved and not encoders.is_in(Path(model)):
            model, folder = saved.encoder, Path(model)
        else:
            folder = Path(model)
        if saved and layer is None:
            layer = saved.layer
        if saved and saved.trained and layer != saved.layer:
            raise ValueError(f"layer must be {saved.layer}, with which {folder} was trained, got {layer}")
        encoder = encoders.load(
            model, layer, device=device, threads=threads, batch_size=batch_size, precision=precision
        )
        settings["layer"] = encoder.layer
        if saved and isinstance(saved.problem, Learned):
            _check_learned(model, saved, settings)
        chosen = saved.changed(**settings) if saved else Settings(encoder=encoder.name, **settings)
        alike = saved and all(getattr(saved, name) == getattr(chosen, name) for name in CENTRED_BY)
        centre = _saved_centre(folder, encoder.size) if alike else None
        return cls(encoder, chosen, centre, heads.load(folder, encoder.size))

    def save(self, folder: str | Path) -> None:
        """Write a folder that `load` takes."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.encoder.save(folder)
        for name, array in zip((MEAN, STRETCH), _arrays(self.centre), strict=True):
            (folder / name).unlink(missing_ok=True)  # that of another aligner, saved here before
            if array is not None:
                np.save(folder / name, array.astype(np.float32))
        (folder / heads.FILE).unlink(missing_ok=True)
        if self.head:
            self.head.save(folder)
        settings = self.settings.to_dict() | {"version": otalign.__version__}
        text = json.dumps(settings, allow_nan=False, indent=2)
        write_atomic(folder / SETTINGS, text + "\n")

    @property
    def signature(self) -> str:
        """`key:value|…`: all that must be told of a result for it to be got again."""
        return signature(self.settings.fields())

    def centred_on(self, pairs: Iterable[tuple[Text, Text]]) -> "Aligner":
        """The same aligner with the centre of these pairs kept, to align with and to save."""
        stream = embedded(pairs, self.encoder, self.settings.pairing)
        parts = (embeddings for _, embeddings in stream)
        return replace(self, centre=Centre.of(parts, self.settings.whitening))

    def align(self, source: Text, target: Text) -> Alignment:
        """The alignment of one pair: two texts, or two lists of words."""
        (alignment,) = self.align_many([(source, target)])
        return alignment

    def align_many(self, pairs: Iterable[tuple[Text, Text]], *, workers: int = 0) -> Iterator[Alignment]:
        """The alignments of any number of pairs, in order, as they are asked for, a chunk held at a time.

        So many worker processes find words and subwords ahead of a GPU; on a CPU they help nothing.
        """
        for chunk, embeddings in self.embedded(pairs, workers):
            yield from alignments(chunk, embeddings, self.settings, self.head)

    def embedded(
        self, pairs: Iterable[tuple[Text, Text]], workers: int = 0
    ) -> Iterator[tuple[Iterable[Pair], Embeddings]]:
        """The pairs as sentences with their embeddings, a chunk at a time, centred if they are to be."""
        stream = embedded(pairs, self.encoder, self.settings.pairing, workers)
        return centred(stream, self.centre, self.settings.whitening) if self.settings.centring else stream

    def tiles(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[tuple[list[int], Tile, Head | None]]:
        """The words of pairs in tiles, each with the pairs' places among all and the head beside it. A pair
        without words on one side is in none."""
        first = 0
        for _, embeddings in self.embedded(pairs):
            head = self.head and self.head.beside(embeddings.vectors)
            for places, tile in tiles(embeddings):
                yield [first + k for k in places], tile, head
            first += len(embeddings.shapes)


def _found(model: str | Path | None) -> str | Path:
    """The folder of an aligner that comes with the package, unless there is one of this name at hand."""
    if model is None or (model in models.names() and not Path(model).is_dir()):
        model = models.folder(models.DEFAULT if model is None else str(model))
    if Path(model).resolve().parent == models.HOME.resolve():
        models.check_digests(Path(model))
    return model


def _check_learned(model: str | Path, saved: Settings, wanted: Mapping[str, Any]) -> None:
    """That nothing is asked of a trained aligner which its training has decided."""
    for name, value in wanted.items():
        if name not in ("links", "threshold") and value != getattr(saved, name):
            raise ValueError(
                f"{name} must be left out for {model}: it has learned its transport; only links and "
                f"threshold can be chosen. For another {name}, give an encoder that was not trained to align"
            )


def alignments(
    pairs: Iterable[Pair], embeddings: Embeddings, settings: Settings, head: Head | None = None
) -> Iterator[Alignment]:
    """The alignments of pairs whose embeddings are at hand, centred if they are to be."""
    shapes = embeddings.shapes.tolist()
    found: list[tuple[Links, int] | None] = [None] * len(shapes)  # and in which row; a pair may be in no tile
    for places, tile, here in _tiles(embeddings, settings, head):
        links = extract.links(here, tile, settings.threshold)
        for row, k in enumerate(places):
            found[k] = links, row
    for pair, shape, place in zip(pairs, shapes, found, strict=True):
        yield _alignment(pair, place[0].of(place[1]) if place else Found.nothing(*shape))


def weighed(
    pairs: Iterable[Pair], embeddings: Embeddings, settings: Settings, head: Head | None = None
) -> Iterator[tuple[Alignment, Array, bool | None]]:
    """These alignments, each with the weights (n, m) of all its cells, also of those that are no links, and
    whether its transport problem converged; None if it had none."""
    shapes = embeddings.shapes.tolist()
    found: list[tuple[Found, Array, bool | None]] = [
        (Found.nothing(*shape), np.zeros(shape), None) for shape in shapes
    ]
    for places, tile, here in _tiles(embeddings, settings, head):
        links = extract.links(here, tile, settings.threshold)
        converged = [None] * len(places) if here.converged is None else here.converged.tolist()
        for k, of_pair, cells, solved in zip(places, links, here.links, converged, strict=True):
            n, m = shapes[k]
            found[k] = of_pair, cells[:n, :m], solved
    for pair, (links, cells, converged) in zip(pairs, found, strict=True):
        yield _alignment(pair, links), cells, converged


def _tiles(
    embeddings: Embeddings, settings: Settings, head: Head | None
) -> Iterator[tuple[list[int], Tile, Weights]]:
    """The pairs in tiles, with their places and weights."""
    head = head and head.beside(embeddings.vectors)
    most = LEARNED if isinstance(head, LearnedTransport) else TRANSPORT
    for places, tile in tiles(embeddings, most):
        yield places, tile, weights(tile, settings, head)


def _alignment(pair: Pair, found: Found) -> Alignment:
    source, target = pair
    links, nulls = found
    return Alignment.trusted(source.words, target.words, links, source.spans, target.spans, *nulls)


def chunks(pairs: Iterable[tuple[Text, Text]], most_words: int | None = None) -> Iterator[list[Pair]]:
    """The pairs as sentences, so many at a time as are embedded together: those that suit a CPU, or have no
    more than so many words."""
    most_pairs = CHUNK_PAIRS if most_words is None else most_words
    most_words = CHUNK_WORDS if most_words is None else most_words
    chunk, words = [], 0
    for source, target in pairs:
        pair = sentence(source), sentence(target)
        chunk.append(pair)
        words += len(pair[0].spans) + len(pair[1].spans)
        if len(chunk) >= most_pairs or words >= most_words:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk


def embedded(
    pairs: Iterable[tuple[Text, Text]], encoder: Encoder, pairing: Pairing, workers: int = 0
) -> Iterator[tuple[Iterable[Pair], Embeddings]]:
    """The pairs as sentences with their embeddings, a chunk at a time, not centred."""
    if workers:
        at_once = encoder.words_at_once or CHUNK_WORDS
        for chunk, prepared in ahead.prepared(pairs, encoder.reader, pairing, workers, at_once):
            yield chunk, encoder.embed_prepared(prepared)
        return
    for chunk in chunks(pairs, encoder.words_at_once):
        yield chunk, encoder.embed(chunk, pairing)


def signature(told: Mapping[str, object]) -> str:
    """What is told, and the version, on a line."""
    return "|".join(f"{key}:{value}" for key, value in {**told, "version": otalign.__version__}.items())


def _arrays(centre: Centre | None) -> tuple[np.ndarray | None, np.ndarray | None]:
    return (None, None) if centre is None else (centre.mean, centre.stretch)


def _saved_centre(folder: Path, size: int | None) -> Centre | None:
    if not (folder / MEAN).is_file():
        return None
    mean = read_array(folder / MEAN, (size,))
    whitens = (folder / STRETCH).is_file()
    return Centre(mean, read_array(folder / STRETCH, (len(mean), len(mean))) if whitens else None)


def saved_settings(folder: Path) -> Settings | None:
    """Those of the aligner in a folder, if there is one."""
    file = folder / SETTINGS
    if not file.is_file():
        return None
    try:
        data = read_json(file)
        data.pop("version", None)
        return Settings.from_dict(data)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file} is not what Aligner.save writes: {error}") from error
