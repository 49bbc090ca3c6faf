"""The inputs of a study: gold, embeddings, and the journals of tuning, each computed once.

The encoder is loaded when embeddings are first missing, and the embeddings of a split are cached on disk.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from otalign import encoders
from otalign.encoders import Embeddings, Encoder
from otalign.encoders.whitening import Centre
from otalign.gold import Gold
from otalign.io import CORPORA, load
from otalign.progress import Progress, no_progress
from otalign.settings import Settings
from otalign.tuning import EmbeddingStore, EncoderChoice, Journal


@dataclass(frozen=True)
class StudySource:
    """An encoder, a folder of corpora, and the maximum number of pairs of each split."""

    encoder: str
    data: Path | None = None
    limit: int | None = None
    device: str | None = None
    threads: int | None = None
    batch_size: int | None = None


@dataclass(frozen=True, eq=False)
class StudyData:
    """Gold, embeddings and journals, by corpus and split."""

    source: StudySource
    cache: Path
    top_layer: int | None  # highest layer needed; None is the encoder's default
    progress: Progress = no_progress
    _golds: dict[tuple[str, str], tuple[Gold, ...]] = field(default_factory=dict)
    _centred: dict[tuple[str, EncoderChoice, float], Embeddings] = field(default_factory=dict)
    _digests: dict[tuple[str, str], str] = field(default_factory=dict)
    _journals: dict[str, Journal] = field(default_factory=dict)

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, loaded on first use."""
        source = self.source
        options = {"device": source.device, "threads": source.threads, "batch_size": source.batch_size}
        return encoders.load(source.encoder, self.top_layer, **options)

    @cached_property
    def encoder_digest(self) -> str:
        """Digest of the encoder's name and files; the same for a copy in another folder."""
        digest = sha256(f"{self.encoder.name} {self.encoder.limit}".encode())
        for file in self.encoder.list_files():
            with file.open("rb") as content:
                while block := content.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()

    def get_golds(self, corpus: str, split: str) -> tuple[Gold, ...]:
        """Return the pairs of a split, up to the limit; none if the corpus has no such split."""
        if split not in CORPORA[corpus].files:
            return ()
        if (corpus, split) not in self._golds:
            self._golds[corpus, split] = load(corpus, split, self.source.data)[: self.source.limit]
        return self._golds[corpus, split]

    def digest_golds(self, corpus: str, split: str) -> str:
        """Compute a digest of the words and links of a split."""
        if (corpus, split) not in self._digests:
            text = json.dumps([gold.to_dict() for gold in self.get_golds(corpus, split)])
            self._digests[corpus, split] = sha256(text.encode()).hexdigest()
        return self._digests[corpus, split]

    def open_store(self, corpus: str, split: str, choices: Iterable[EncoderChoice]) -> EmbeddingStore:
        """Open the embeddings of a split, by choice of layer and pairing, not centred."""

        def progress(what: str, done: int, of: int | None) -> None:
            self.progress(f"{corpus} {split}: {what}", done, of)

        pairs = [(gold.source, gold.target) for gold in self.get_golds(corpus, split)]
        return EmbeddingStore(self.encoder, pairs, choices, self.cache, progress)

    def get_centred_embeddings(
        self, corpus: str, choice: EncoderChoice, whitening: float = 0.0
    ) -> Embeddings:
        """Return the embeddings of a test set, centred on its mean; they are cached for the next cell."""
        if (corpus, choice, whitening) not in self._centred:
            embeddings = self.open_store(corpus, "test", [choice])[choice]
            centred = Centre.fit([embeddings], whitening).apply(embeddings)
            self._centred[corpus, choice, whitening] = centred
        return self._centred[corpus, choice, whitening]

    def open_journal(self, corpus: str) -> Journal:
        """Open the journal of all tuning on the dev set of a corpus."""
        if corpus not in self._journals:
            file = self.cache / f"tuned-{corpus}.jsonl"
            self._journals[corpus] = Journal(file, self.encoder_digest)
        return self._journals[corpus]

    def make_settings(self, choice: EncoderChoice) -> Settings:
        """Return default settings with a choice of layer and pairing."""
        return Settings(encoder=self.encoder.name, layer=choice.layer, pairing=choice.pairing)
