"""Tokenizers of every family and models of every kind, small enough to be made in a test.

Vocabularies are fixed, since trainers may order tokens of equal counts in any way, and results must be
reproducible.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

TEXT = """cannot the of and to in he she it bought purchased sold a used second hand car cars house big small
    old new yesterday today rain fell on town hills not can will public results findings panel week quick"""
WORDS = TEXT.split()
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789.,'-"
BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())


def vocabulary(pieces: Sequence[str]) -> dict[str, int]:
    return {piece: k for k, piece in enumerate(dict.fromkeys(pieces))}


def list_merges(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the merges that make each word from its letters, from left to right."""
    return list(dict.fromkeys((word[:k], word[k]) for word in words for k in range(1, len(word))))


def bpe(special: Sequence[str], alphabet: Sequence[str], words: Sequence[str], **options) -> models.BPE:
    merges = list_merges(words)
    vocab = vocabulary([*special, *alphabet, *(left + right for left, right in merges)])
    return models.BPE(vocab, merges, **options)


def template(tokenizer: Tokenizer, single: str, pair: str) -> Tokenizer:
    names = {part.split(":")[0] for part in f"{single} {pair}".split()} - {"$A", "$B"}
    special = [(name, tokenizer.token_to_id(name)) for name in sorted(names)]
    tokenizer.add_special_tokens([name for name, _ in special])
    tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=special)
    return tokenizer


BERT_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
FAIRSEQ_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
T5_SPECIAL = ("<pad>", "</s>", "<unk>")


def wordpiece(
    normalizer: normalizers.Normalizer | None = None, special: Sequence[str] = BERT_SPECIAL
) -> Tokenizer:
    pieces = [*special, *ALPHABET, *("##" + letter for letter in ALPHABET), *WORDS, "##ed", "##ing", "京"]
    tokenizer = Tokenizer(
        models.WordPiece(vocabulary(pieces), unk_token="[UNK]", max_input_chars_per_word=100)
    )
    tokenizer.normalizer = normalizer or normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return template(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")


def byte_level(add_prefix_space: bool = False, trim_offsets: bool = True) -> Tokenizer:
    words = [*("Ġ" + word for word in WORDS), *WORDS]
    tokenizer = Tokenizer(bpe(FAIRSEQ_SPECIAL, BYTES, words))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    tokenizer.add_special_tokens(list(FAIRSEQ_SPECIAL))
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=trim_offsets, add_prefix_space=add_prefix_space
    )
    return tokenizer


def nfkc() -> normalizers.Normalizer:
    """Normalise a text like SentencePiece: resolve compatibility forms and drop control characters."""
    return normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex("[\u200b\u200d\ufeff\u0000-\u0008]"), ""),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )


METASPACED = ["▁of▁the", *("▁" + word for word in WORDS), *WORDS]


def unigram(prepend_scheme="always", split: bool = True) -> Tokenizer:
    pieces = dict.fromkeys([*T5_SPECIAL, "▁", *ALPHABET, *METASPACED])
    scores = [(piece, 0.0 if piece in T5_SPECIAL else -8.0 / len(piece)) for piece in pieces]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=2, byte_fallback=False))
    tokenizer.normalizer = nfkc()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=prepend_scheme, split=split)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=prepend_scheme)
    return template(tokenizer, "$A </s>", "$A </s> $B </s>")


def multilingual(words: Sequence[str]) -> Tokenizer:
    """Return a tokenizer like that of XLM-R, which knows these words and, in any script, their letters."""
    letters = sorted(set("".join(words)))
    pieces = dict.fromkeys([*FAIRSEQ_SPECIAL, "▁", *letters, *("▁" + word for word in words)])
    scores = [(piece, 0.0 if piece in FAIRSEQ_SPECIAL else -8.0 / len(piece)) for piece in pieces]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=3, byte_fallback=False))
    tokenizer.normalizer = nfkc()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    return template(tokenizer, "<s> $A </s>", "<s> $A </s> </s> $B </s>")


def metaspace_bpe(prepend_scheme="always", split: bool = True) -> Tokenizer:
    tokenizer = Tokenizer(
        bpe(FAIRSEQ_SPECIAL, ["▁", *ALPHABET], METASPACED, unk_token="<unk>", fuse_unk=True)
    )
    tokenizer.normalizer = nfkc()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=prepend_scheme, split=split)
    return template(tokenizer, "<s> $A </s>", "<s> $A </s> </s> $B </s>")


def byte_fallback() -> Tokenizer:
    alphabet = [f"<0x{byte:02X}>" for byte in range(256)]
    model = bpe(
        FAIRSEQ_SPECIAL,
        [*alphabet, "▁", *ALPHABET],
        METASPACED,
        unk_token="<unk>",
        fuse_unk=True,
        byte_fallback=True,
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return template(tokenizer, "<s> $A", "<s> $A <s> $B:1")


def make_unframed_tokenizer() -> Tokenizer:
    """Return a tokenizer without special tokens and without an unknown token."""
    tokenizer = Tokenizer(bpe((), BYTES, WORDS))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def make_truncating_tokenizer() -> Tokenizer:
    """Return a tokenizer that truncates and pads, as sentence encoders save theirs."""
    tokenizer = wordpiece()
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16, pad_id=0, pad_token="[PAD]")
    return tokenizer


FAMILIES: dict[str, Callable[[], Tokenizer]] = {
    "wordpiece": wordpiece,
    "wordpiece, NFKC": lambda: wordpiece(normalizers.Sequence([nfkc(), normalizers.Lowercase()])),
    "wordpiece that cuts and pads": make_truncating_tokenizer,
    **{
        f"byte-level, add_prefix_space={prefix}, trim_offsets={trim}": (
            lambda prefix=prefix, trim=trim: byte_level(prefix, trim)
        )
        for prefix in (True, False)
        for trim in (True, False)
    },
    **{
        f"{made.__name__}, prepend {scheme}, split={split}": (
            lambda made=made, scheme=scheme, split=split: made(scheme, split)
        )
        for made in (unigram, metaspace_bpe)
        for scheme in ("always", "first", "never")
        for split in (True, False)
    },
    "byte fallback": byte_fallback,
    "unframed": make_unframed_tokenizer,
}

LAYERS, POSITIONS = 3, 64
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}


def config(kind: str, vocab: int, positions: int):
    import transformers as hf

    common = {"vocab_size": vocab, "pad_token_id": 0}
    fairseq = common | {"pad_token_id": 1, "max_position_embeddings": positions + 2}
    limited = {"max_position_embeddings": positions}
    match kind:
        case "bert":
            return hf.BertConfig(**SIZES, **common, **limited)
        case "electra":
            return hf.ElectraConfig(**SIZES, **common, **limited, embedding_size=8)
        case "roberta":
            return hf.RobertaConfig(**SIZES, **fairseq, type_vocab_size=1)
        case "xlm-roberta":
            return hf.XLMRobertaConfig(**SIZES, **fairseq, type_vocab_size=1)
        case "mpnet":
            return hf.MPNetConfig(**SIZES, **fairseq)
        case "distilbert":
            return hf.DistilBertConfig(**common, **limited, dim=16, n_layers=LAYERS, n_heads=2, hidden_dim=32)
        case "deberta-v2":
            return hf.DebertaV2Config(
                **SIZES,
                **common,
                **limited,
                relative_attention=True,
                position_buckets=8,
                pos_att_type=["p2c", "c2p"],
                norm_rel_ebd="layer_norm",
                share_att_key=True,
                position_biased_input=False,
                type_vocab_size=0,
                conv_kernel_size=3,
            )
        case "modernbert":
            return hf.ModernBertConfig(
                **SIZES,
                **limited,
                vocab_size=vocab,
                pad_token_id=0,
                bos_token_id=2,
                eos_token_id=3,
                cls_token_id=2,
                sep_token_id=3,
                local_attention=8,
            )
        case "t5":
            return hf.T5Config(
                vocab_size=vocab,
                d_model=16,
                d_kv=8,
                d_ff=32,
                num_layers=LAYERS,
                num_heads=2,
                pad_token_id=0,
                decoder_start_token_id=0,
            )
    raise ValueError(kind)


TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "bert": wordpiece,
    "electra": wordpiece,
    "roberta": byte_level,
    "xlm-roberta": metaspace_bpe,
    "mpnet": lambda: template(
        wordpiece(
            special=("[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]")
        ),  # padding is 1, positions count from 2
        "[CLS] $A [SEP]",
        "[CLS] $A [SEP] [SEP] $B [SEP]",
    ),
    "distilbert": wordpiece,
    "deberta-v2": wordpiece,
    "modernbert": wordpiece,
    "t5": unigram,
}
KINDS = list(TOKENIZERS)
TYPED = ("bert", "electra")  # whose tokenisers say that the model takes types


def model(
    kind: str, folder: Path, positions: int = POSITIONS, seed: int = 0, tokenizer: Tokenizer | None = None
) -> Path:
    """The folder of a model with seeded weights, and of its tokeniser, as Hugging Face saves them."""
    import torch
    from transformers import AutoModel, PreTrainedTokenizerFast

    tokenizer = tokenizer or TOKENIZERS[kind]()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        made = AutoModel.from_config(config(kind, tokenizer.get_vocab_size(), positions))
        with torch.no_grad():
            # What is new has biases of zero and norms of one, which would hide that they are left out.
            for weights in made.parameters():
                weights += 0.2 * torch.randn_like(weights)
    made.save_pretrained(folder)
    names = ["input_ids", "token_type_ids", "attention_mask"]
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=next(token for token in ("[PAD]", "<pad>") if tokenizer.token_to_id(token) is not None),
        model_input_names=names if kind in TYPED else [name for name in names if name != "token_type_ids"],
        model_max_length=10**9,
    ).save_pretrained(folder)
    return folder
