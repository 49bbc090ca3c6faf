"""The aligner: an encoder, a scorer and a threshold.

Sentences become words, words become vectors, vectors become scores, and scores above the threshold become
links. Saved, an aligner is a folder: `otalign.json`, `mean.npy` and `stretch.npy` if embeddings are centred
and whitened, `head.safetensors` if it was trained, and the encoder's files unless a name on the Hugging Face
hub is enough.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar, Unpack

import numpy as np

from otalign import encoders, models
from otalign.alignment import Alignment, Phrase
from otalign.arrays import Array
from otalign.encoders import Embeddings, Encoder, Precision, PreparedPairs
from otalign.encoders.chunks import CHUNK_WORDS, EmbeddedPairs, embed_pairs
from otalign.encoders.embeddings import to_numpy
from otalign.encoders.prefetch import prepare_ahead
from otalign.encoders.whitening import Centre, centre_chunks, load_centre, save_centre
from otalign.languages import LanguageCheck, LanguageWarning
from otalign.link_arrays import LinkArrays, LinkedPairs, PairLinks, make_alignment
from otalign.method import format_signature
from otalign.processes import prefetch, read_ahead
from otalign.scoring import (
    Head,
    LinkScores,
    PairRows,
    Scorer,
    extract_links,
    find_rows,
    group_pairs,
    load_head,
    make_scorer,
)
from otalign.scoring.heads import HEAD_FILE
from otalign.scoring.paragraphs import group_sentences, join_groups, make_group_pair, realign_long_pairs
from otalign.settings import AnySettings, Settings, SettingsOptions, load_settings, save_settings
from otalign.text.words import Pair, Text

CENTRE_SETTINGS = ("layer", "pairing", "centring", "whitening")  # settings that a saved centre depends on


T = TypeVar("T")
_ScoredLinks = tuple[PairLinks, Array, bool | None]  # as in ScoredAlignment


class ScoredAlignment(NamedTuple):
    """An alignment with the scores of all word pairs, not only of its links."""

    alignment: Alignment
    scores: Array  # (n, m)
    converged: bool | None  # whether the transport problem converged; None without one


@dataclass(frozen=True, eq=False, repr=False)
class Aligner:
    """Aligns the words of two sentences.

    It is immutable, so threads may share it, and it can be pickled; an exported encoder is then read again.

    Attributes:
        encoder: Encoder of the words.
        settings: All other settings.
        centre: Mean that embeddings are centred on. If it is None and centring is on, each call centres on
            the mean of its pairs.
        head: Trained layers, if the aligner was trained.
        languages: Languages that it was trained for, as its model card names them; empty if it has none.

    Example:
        >>> aligner = Aligner.load()
        >>> aligner.align("He bought a used car.", "He purchased a car.").pharaoh()
        '0-0 1-1 2-2 4-3 5-4'
    """

    encoder: Encoder
    settings: AnySettings
    centre: Centre | None = None
    head: Head | None = None
    languages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _ = self.scorer  # raises an error if settings and head do not belong together

    def __repr__(self) -> str:
        about = {"encoder": self.encoder.name, "layer": self.encoder.layer, **self.settings.get_options()}
        return f"Aligner({', '.join(f'{name}={value!r}' for name, value in about.items())})"

    @cached_property
    def scorer(self) -> Scorer:
        """Scorer of links and nulls."""
        return make_scorer(self.settings, self.head, self.encoder.int8)

    @property
    def language_check(self) -> LanguageCheck:
        """Check for text in a language that the aligner does not know."""
        return LanguageCheck(self.encoder, self.languages)

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
        **options: Unpack[SettingsOptions],
    ) -> "Aligner":
        """Load an aligner.

        Args:
            model: Name of an installed model (`otalign models` lists them), folder of an aligner, or an
                encoder: its folder, or its name on the Hugging Face hub. The default is the model `small`.
            layer: Encoder layer; 0 is the embedding layer. The default depends on the model.
            device: Device of torch, such as `cuda`. The default is the best that is available.
            threads: Number of CPU threads. The default is all.
            batch_size: Subwords, including padding, that the encoder reads at a time.
            precision: Precision of the encoder; `bfloat16` is several times faster on a GPU.
            **options: Settings that differ from the saved ones or from the defaults; see `Settings`. The
                problem may be given by name, as in `problem="uot", tau=0.4`.

        Returns:
            The aligner.

        Raises:
            ValueError: If the model is not valid, or an option does not apply to it.
            OSError: If the model cannot be read.
        """
        model = models.resolve_model(model)
        folder, saved = Path(model), load_settings(Path(model))
        if saved and not encoders.has_encoder(folder):
            model = saved.encoder
        if saved and layer is None:
            layer = saved.layer
        if saved and saved.trained and layer != saved.layer:
            raise ValueError(
                f"layer must be {saved.layer}, with which {folder.name} was trained, got {layer}; leave it "
                "out, or give model= an encoder that was not trained"
            )
        encoder = encoders.load(
            model, layer, device=device, threads=threads, batch_size=batch_size, precision=precision
        )
        base = saved or Settings(encoder=encoder.name, layer=encoder.layer)
        settings = base.replace(layer=encoder.layer).apply_options(options, str(model))
        same_centre = saved and all(
            getattr(saved, name) == getattr(settings, name) for name in CENTRE_SETTINGS
        )
        centre = load_centre(folder, encoder.size) if same_centre else None
        languages = models.read_languages(folder) if saved else ()
        return cls(encoder, settings, centre, load_head(folder, encoder.size), languages)

    def save(self, folder: str | Path) -> None:
        """Write the aligner to a folder that `load` reads.

        Args:
            folder: The folder; it is created if it does not exist.

        Raises:
            ValueError: If it is a file.
        """
        folder = Path(folder)
        if folder.is_file():
            raise ValueError(f"cannot save an aligner as {folder}: it is a file; give a folder")
        folder.mkdir(parents=True, exist_ok=True)
        self.encoder.save(folder)
        save_centre(self.centre, folder)
        (folder / HEAD_FILE).unlink(missing_ok=True)
        if self.head:
            self.head.save(folder)
        save_settings(self.settings, folder)

    @property
    def signature(self) -> str:
        """All settings that are needed to reproduce a result, as `key:value|…`."""
        return format_signature(self.settings.signature_fields())

    def fit_centre(self, pairs: Iterable[tuple[Text, Text]]) -> "Aligner":
        """Return the aligner with the centre of these pairs, which it aligns with and saves.

        Args:
            pairs: Source and target of each pair.
        """
        stream = embed_pairs(pairs, self.encoder, self.settings.pairing)
        parts = (embeddings for _, embeddings in stream)
        return replace(self, centre=Centre.fit(parts, self.settings.whitening))

    def align(self, source: Text, target: Text) -> Alignment:
        """Align two sentences, or two texts of several sentences.

        Args:
            source: A text, its words, or a `Sentence`.
            target: A text, its words, or a `Sentence`.

        Returns:
            The alignment.
        """
        (alignment,) = self.align_many([(source, target)])
        return alignment

    def align_many(self, pairs: Iterable[tuple[Text, Text]], *, workers: int = 0) -> Iterator[Alignment]:
        """Align any number of sentence pairs, with little memory.

        If the first pairs seem to be in a language that the aligner does not know, it issues a
        `LanguageWarning`.

        Args:
            pairs: Source and target of each pair. They are read lazily.
            workers: Processes that tokenize ahead of a GPU. On a CPU they do not help.

        Yields:
            The alignments, in the order of the pairs.
        """
        for linked in self.link_many(pairs, workers=workers):
            yield from linked.make_alignments()

    def link_many(self, pairs: Iterable[tuple[Text, Text]], *, workers: int = 0) -> Iterator[LinkedPairs]:
        """Find the links of any number of sentence pairs, as arrays, chunk by chunk.

        Args:
            pairs: Source and target of each pair, as in `align_many`.
            workers: Processes that tokenize ahead of a GPU.

        Yields:
            Chunks of pairs with their links, in order.
        """
        if workers < 0:
            raise ValueError(f"workers must be 0 or more, got {workers}")
        for number, linked in enumerate(self._link_ahead(pairs, workers)):
            if number == 0 and (warning := self.language_check.check_pairs(linked.pairs)):
                warnings.warn(warning, LanguageWarning, stacklevel=1)
            yield linked

    def _link_ahead(self, pairs: Iterable[tuple[Text, Text]], workers: int) -> Iterator[LinkedPairs]:
        """Find the links of pairs; a thread computes the next chunk unless that would wait for input."""
        if workers and not (self.settings.centring and self.centre is None):
            reader, pairing = self.encoder.reader, self.settings.pairing
            words = self.encoder.words_at_once or CHUNK_WORDS
            with ThreadPoolExecutor(1) as thread:
                submit = partial(thread.submit, self._link_prepared_pairs)
                yield from prefetch(submit, prepare_ahead(pairs, reader, pairing, workers, words), 1)
            return
        yield from map(self.link_chunk, self.embed(pairs, workers, ahead=isinstance(pairs, Sequence)))

    def _link_prepared_pairs(self, chunk: tuple[Iterable[Pair], PreparedPairs]) -> LinkedPairs:
        pairs, prepared = chunk
        embedded = EmbeddedPairs(pairs, self.encoder.embed_batches(prepared))
        return self.link_chunk(next(self.finish_chunks(iter([embedded]))))

    def embed(
        self, pairs: Iterable[tuple[Text, Text]], workers: int = 0, *, ahead: bool = False
    ) -> Iterator[EmbeddedPairs]:
        """Yield the embeddings of pairs chunk by chunk, as the scorer reads them.

        Args:
            pairs: Source and target of each pair.
            workers: Processes that tokenize ahead of a GPU.
            ahead: Whether to compute the next chunk while one is in use. Pairs are then read before they are
                needed, so their source must not wait for something that may never come, such as a pipe.
        """
        chunks = embed_pairs(pairs, self.encoder, self.settings.pairing, workers, ahead=ahead)
        finished = self.finish_chunks(chunks)
        return read_ahead(finished) if ahead else finished

    def finish_chunks(self, chunks: Iterator[EmbeddedPairs]) -> Iterator[EmbeddedPairs]:
        """Yield the chunks, centred if the settings say so, with the features of words that the scorer reads.

        Args:
            chunks: Pairs with embeddings that are not centred. Their arrays may be changed.
        """
        if self.settings.centring:
            stream = centre_chunks(chunks, self.centre, self.settings.whitening)
            chunks = (EmbeddedPairs(*chunk) for chunk in stream)
        return (chunk.append_features(self.scorer.word_features) for chunk in chunks)

    def align_chunk(self, chunk: EmbeddedPairs) -> Iterator[Alignment]:
        """Yield the alignments of the pairs of a chunk.

        Args:
            chunk: Pairs with their embeddings, as `finish_chunks` yields them.
        """
        return self.link_chunk(chunk).make_alignments()

    def link_chunk(self, chunk: EmbeddedPairs) -> LinkedPairs:
        """Return the pairs of a chunk with their links.

        Args:
            chunk: Pairs with their embeddings, as `finish_chunks` yields them.
        """
        links = self.find_links(chunk.embeddings)
        if self.scorer.splits_paragraphs:
            links = realign_long_pairs(chunk.pairs, links, self._find_group_links)
        return LinkedPairs(chunk.pairs, links)

    def find_links(self, embeddings: Embeddings) -> LinkArrays:
        """Return the links of pairs, without splitting long ones into groups of sentences.

        Args:
            embeddings: Embeddings of source, target, source, target, …, as `finish_chunks` yields them.
        """
        settings = self.settings

        def extract(indices: np.ndarray, rows: PairRows, scores: LinkScores) -> tuple[list[int], LinkArrays]:
            return indices.tolist(), extract_links(scores, rows, settings.threshold, settings.hysteresis)

        return LinkArrays.join(self.score_embeddings(embeddings, extract), embeddings.starts)

    def score_embeddings(
        self, embeddings: Embeddings, use: Callable[[np.ndarray, PairRows, LinkScores], T]
    ) -> Iterator[T]:
        """Score pairs in batches, in parallel if the encoder runs several batches in parallel.

        Args:
            embeddings: Embeddings of source, target, source, target, …
            use: Function of the indices of the pairs of a batch, their rows and their scores.

        Yields:
            The results of the function. A pair with an empty side is in no batch.
        """
        scorer = self.scorer.to_device(embeddings.vectors)

        def score(indices: np.ndarray) -> T:
            rows = find_rows(embeddings, indices, scorer.budget)
            return use(indices, rows, scorer.score_rows(rows))

        groups = group_pairs(embeddings, scorer.budget)
        if self.encoder.at_once == 1:
            return map(score, groups)
        return self.encoder.threads.map(score, groups)

    def find_prepared_links(self, prepared: PreparedPairs, counts: np.ndarray | None = None) -> LinkArrays:
        """Return the links of pairs that another process has prepared, as `find_links` does.

        Args:
            prepared: Pairs as the reader of the encoder prepares them.
            counts: Counts of the features of all words, if the scorer reads any.

        Raises:
            ValueError: If the settings require centring, and the aligner has no centre.
        """
        embeddings = self.encoder.embed_batches(prepared)
        if self.settings.centring:
            if self.centre is None:
                raise ValueError("the aligner must have a centre for prepared pairs; call fit_centre first")
            embeddings = self.centre.apply(embeddings, in_place=True)
        if (features := self.scorer.word_features) and counts is not None:
            embeddings = embeddings.append(features.scale(counts))
        return self.find_links(embeddings)

    def _find_group_links(self, pairs: Sequence[Pair]) -> Iterator[LinkedPairs]:
        for chunk in self.embed(pairs):
            yield LinkedPairs(chunk.pairs, self.find_links(chunk.embeddings))

    def align_with_scores(self, chunk: EmbeddedPairs) -> Iterator[ScoredAlignment]:
        """Yield the alignments of the pairs of a chunk, with the scores of all word pairs.

        Args:
            chunk: Pairs with their embeddings, as `finish_chunks` yields them.
        """
        for pair, (links, scores, converged) in zip(chunk.pairs, self._score_pairs(chunk), strict=True):
            if self.scorer.splits_paragraphs and (groups := group_sentences(pair, links.links)):
                parts = [*chain.from_iterable(map(self._score_pairs, self._embed_groups(pair, groups)))]
                links = join_groups(links, groups, (part for part, *_ in parts))
                scores = np.zeros(scores.shape)
                for group, (_, cells, _) in zip(groups, parts, strict=True):
                    scores[np.ix_(*group)] = to_numpy(cells)
            yield ScoredAlignment(make_alignment(pair, links), scores, converged)

    def _score_pairs(self, chunk: EmbeddedPairs) -> Iterator[_ScoredLinks]:
        """Yield the links of the pairs of a chunk, with the scores of all word pairs."""
        shapes = chunk.embeddings.shapes.tolist()
        results: list[_ScoredLinks] = [(PairLinks.empty(*shape), np.zeros(shape), None) for shape in shapes]

        def extract(indices: np.ndarray, rows: PairRows, scores: LinkScores) -> Iterable[tuple]:
            links = extract_links(scores, rows, self.settings.threshold, self.settings.hysteresis)
            converged = [None] * len(indices) if scores.converged is None else scores.converged.tolist()
            return zip(indices.tolist(), links, scores.matrices, converged, strict=True)

        for k, links, cells, converged in chain.from_iterable(
            self.score_embeddings(chunk.embeddings, extract)
        ):
            n, m = shapes[k]
            results[k] = links, cells[:n, :m], converged
        yield from results

    def _embed_groups(self, pair: Pair, groups: Sequence[Phrase]) -> Iterator[EmbeddedPairs]:
        """Yield the embeddings of the groups of sentences of a pair, each as a pair."""
        return self.embed(make_group_pair(pair, group) for group in groups)
