"""Hugging Face encoders: means of hidden states, no superfluous layers, no network."""

import json
import shutil
import socket
import time
from functools import cache

import numpy as np
import pytest

from otalign.encoders import list_layers, load
from otalign.encoders.transformers import Transformers, choose_default_layer
from otalign.text.words import join_words, split
from tests.encoders import tiny

# DeBERTa's module compiles a function when it is imported, in a way that torch advises against.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")

each_kind = pytest.mark.parametrize("kind", tiny.KINDS)
each_pairing = pytest.mark.parametrize("pairing", ["joint", "separate"])

PAIRS = [
    (split(source), split(target))
    for source, target in [
        ("he bought a used car", "he purchased a second-hand car yesterday"),
        ("rain fell", "the rain fell on the hills , and on the town today"),
        ("it", "it"),
        ("", "not public"),
        ("results cannot 😀 \u200b xyz", ""),
        ("", ""),
        ("the findings of the panel", "old cars"),
    ]
]


@cache
def original(folder):
    """The model and the tokeniser as their own library loads them, all blocks in place."""
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder).eval()
    return model.get_encoder() if model.config.is_encoder_decoder else model, AutoTokenizer.from_pretrained(
        folder
    )


@cache
def plain_states(folder, texts: tuple[str, ...]) -> list[np.ndarray]:
    """Compute all hidden states (layers + 1, subwords, D) of one input, without batch and padding."""
    import torch

    model, tokenizer = original(folder)
    encoded = tokenizer(*texts, return_tensors="pt")
    with torch.inference_mode():
        states = model(**encoded, output_hidden_states=True).hidden_states
    return [layer[0].numpy() for layer in states]


def plain_words(folder, sentences, layer: int) -> list[list[np.ndarray]]:
    """Compute the word vectors of each sentence of one input, by loops over letters."""
    _, tokenizer = original(folder)
    texts = tuple(sentence.text for sentence in sentences)
    states = plain_states(folder, texts)[layer]
    encoded = tokenizer(*texts, return_offsets_mapping=True)
    found = []
    for k, sentence in enumerate(sentences):
        vectors = []
        for first, last in sentence.spans:
            parts = []
            for place, (start, end) in enumerate(encoded["offset_mapping"]):
                if encoded.sequence_ids()[place] == k and any(first <= at < last for at in range(start, end)):
                    parts.append(states[place])
            vectors.append(sum(parts) / len(parts))
        found.append(vectors)
    return found


WHOLE = [pair for pair in PAIRS if "\u200b" not in pair[0].text]  # each word has subwords of its own


@cache
def encoder_at(folder, layer: int) -> Transformers:
    return Transformers(str(folder), layer, device="cpu")


@each_pairing
@each_kind
def test_a_word_is_the_mean_of_its_subwords_hidden_states_at_every_layer(tiny_model, kind, pairing):
    folder = tiny_model(kind)
    for layer in range(tiny.LAYERS + 1):
        found = encoder_at(folder, layer).embed(WHOLE, pairing)
        for k, pair in enumerate(WHOLE):
            if pairing == "joint":
                expected = plain_words(folder, pair, layer)
            else:
                expected = [plain_words(folder, [sentence], layer)[0] for sentence in pair]
            for side in (0, 1):
                assert len(found[2 * k + side]) == len(expected[side])
                if expected[side]:
                    np.testing.assert_allclose(found[2 * k + side], expected[side], atol=1e-5, rtol=1e-5)


@each_pairing
@each_kind
def test_embeddings_do_not_depend_on_batch_or_order(tiny_model, kind, pairing):
    encoder = Transformers(str(tiny_model(kind)), 2, device="cpu")
    together = encoder.embed(PAIRS, pairing)
    backwards = encoder.embed(PAIRS[::-1], pairing)
    assert np.isfinite(together.vectors).all()
    encoder.batch_size = 1
    for k, pair in enumerate(PAIRS):
        alone = encoder.embed([pair], pairing)
        for side in (side for side in (0, 1) if pair[side].spans):
            np.testing.assert_allclose(together[2 * k + side], alone[side], atol=1e-5)
            backward = backwards[2 * (len(PAIRS) - 1 - k) + side]
            np.testing.assert_allclose(together[2 * k + side], backward, atol=1e-5)


@each_kind
def test_blocks_after_the_chosen_one_are_neither_run_nor_kept(tiny_model, kind):
    from torch.nn import ModuleList

    whole = sum(weights.numel() for weights in original(tiny_model(kind))[0].parameters())
    for layer in range(tiny.LAYERS):
        encoder = Transformers(str(tiny_model(kind)), layer, device="cpu")
        (blocks,) = (
            module
            for name, module in encoder.model.named_modules()
            if isinstance(module, ModuleList)
            and name in ("encoder.layer", "transformer.layer", "layers", "block")
        )
        assert len(blocks) <= layer + 1
        ran = []
        for k, block in enumerate(blocks):
            block.register_forward_hook(lambda *_, k=k, ran=ran: ran.append(k))
        encoder.embed(PAIRS[:1], "joint")
        assert ran == list(range(layer))
        if layer < tiny.LAYERS - 1:
            assert sum(weights.numel() for weights in encoder.model.parameters()) < whole


def test_an_encoder_decoder_gives_its_encoder(tiny_model):
    encoder = Transformers(str(tiny_model("t5")), device="cpu")
    assert "T5Stack" in type(encoder.model).__name__ or "Encoder" in type(encoder.model).__name__
    assert not any("decoder" in name for name, _ in encoder.model.named_modules())


def test_the_default_layer_is_two_thirds_up(tiny_model):
    assert [choose_default_layer(layers) for layers in (3, 6, 12, 24)] == [2, 4, 8, 16]
    assert Transformers(str(tiny_model("bert")), device="cpu").layer == 2


@pytest.mark.parametrize("layer", [-1, 4])
def test_a_layer_that_is_not_there_is_refused(tiny_model, layer):
    with pytest.raises(ValueError, match=f"layer must be from 0 to 3 .*, got {layer}"):
        Transformers(str(tiny_model("bert")), layer, device="cpu")


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "nonsense:1"])
def test_a_device_that_is_not_there_is_refused(tiny_model, device):
    with pytest.raises(ValueError, match="device must be one that torch can use here, got"):
        Transformers(str(tiny_model("bert")), device=device)


def test_a_batch_without_room_is_refused(tiny_model):
    with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
        load(tiny_model("bert"), device="cpu", batch_size=0)


def test_a_pairing_that_is_not_known_is_refused(tiny_model):
    with pytest.raises(ValueError, match="pairing must be one of joint, separate, canonical, got"):
        load(tiny_model("bert"), device="cpu").embed(PAIRS, "both")  # pyright: ignore[reportArgumentType]


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_, **__):
        raise OSError("no network here")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        monkeypatch.setattr(socket, name, refuse)


@pytest.mark.usefixtures("no_network")
def test_a_folder_needs_no_network(tiny_model):
    for kind in ("bert", "roberta", "t5"):
        encoder = load(tiny_model(kind), 1, device="cpu")
        assert encoder.embed(PAIRS, "joint").words == sum(len(s.spans) for pair in PAIRS for s in pair)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", ["nobody/there-is-no-such-model", "no-such-model", "a/b/c", "./no/folder"])
def test_a_name_that_cannot_be_fetched_says_soon_what_to_do(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    before = time.perf_counter()
    with pytest.raises(ValueError, match=f"no folder {name}, .*hf download"):
        load(name)
    assert time.perf_counter() - before < 10


def test_a_folder_that_is_no_model_is_refused(tiny_model, tmp_path):
    with pytest.raises(ValueError, match="cannot be read as a Hugging Face encoder"):
        load(tmp_path)
    torn = shutil.copytree(tiny_model("bert"), tmp_path / "torn")
    (torn / "model.safetensors").write_bytes((torn / "model.safetensors").read_bytes()[:1000])
    with pytest.raises(ValueError, match="cannot be read as a Hugging Face encoder"):
        load(torn)
    (torn / "model.safetensors").unlink()
    with pytest.raises(ValueError, match="cannot be read as a Hugging Face encoder"):
        load(torn)


def test_weights_that_are_missing_are_not_made_up(tiny_model, tmp_path):
    from safetensors.numpy import load_file, save_file

    torn = shutil.copytree(tiny_model("bert"), tmp_path / "torn")
    weights = load_file(torn / "model.safetensors")
    pooler = [name for name in weights if name.startswith("pooler")]  # is not missed: no word needs it
    for name in pooler:
        del weights[name]
    save_file(weights, torn / "model.safetensors", {"format": "pt"})
    expected = load(tiny_model("bert"), 2, device="cpu").embed(PAIRS, "joint").vectors
    np.testing.assert_array_equal(load(torn, 2, device="cpu").embed(PAIRS, "joint").vectors, expected)
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, torn / "model.safetensors", {"format": "pt"})
    with pytest.raises(ValueError, match=r"has no weights for encoder\.layer\.1\.output\.dense\.weight"):
        load(torn, 2, device="cpu")


def test_weights_in_half_precision_are_worked_with_in_float32(tiny_model, tmp_path):
    from transformers import AutoModel

    half = shutil.copytree(tiny_model("bert"), tmp_path / "half")
    model = AutoModel.from_pretrained(half).half()
    model.save_pretrained(half)
    model.float().save_pretrained(shutil.copytree(half, tmp_path / "whole"))
    found, expected = (
        load(folder, 2, device="cpu").embed(PAIRS, "joint") for folder in (half, tmp_path / "whole")
    )
    assert found.vectors.dtype == np.float32
    np.testing.assert_allclose(found.vectors, expected.vectors, atol=1e-5)


@pytest.mark.parametrize("kind", ["distilbert", "mpnet", "roberta"])
def test_a_tokeniser_that_says_too_much_or_too_little_of_the_inputs_is_no_trouble(tiny_model, tmp_path, kind):
    """A tokenizer that is saved without its class returns types even if the model takes none."""
    folder = tiny_model(kind)
    expected = load(folder, 2, device="cpu").embed(PAIRS, "joint").vectors
    for names in (["input_ids"], ["input_ids", "token_type_ids", "attention_mask"]):
        changed = shutil.copytree(folder, tmp_path / str(len(names)))
        config = json.loads((changed / "tokenizer_config.json").read_text())
        (changed / "tokenizer_config.json").write_text(json.dumps(config | {"model_input_names": names}))
        found = load(changed, 2, device="cpu").embed(PAIRS, "joint").vectors
        np.testing.assert_allclose(found, expected, atol=1e-5)


@each_kind
def test_an_input_as_long_as_the_limit_runs(tiny_model, kind):
    encoder = Transformers(str(tiny_model(kind)), 1, device="cpu")
    assert encoder.limit == (512 if kind == "t5" else tiny.POSITIONS)
    ids = np.full((2, encoder.limit), 7)
    states = encoder.compute_states(ids, np.ones_like(ids), np.zeros_like(ids))
    assert states.shape == (2, encoder.limit, 16)
    if kind in ("bert", "electra", "roberta", "xlm-roberta", "mpnet", "distilbert"):
        ids = np.full((2, encoder.limit + 1), 7)
        with pytest.raises((RuntimeError, IndexError)):
            encoder.compute_states(ids, np.ones_like(ids), np.zeros_like(ids))


def test_the_limit_of_the_tokenizer_takes_precedence_over_that_of_the_model(tiny_model, tmp_path):
    changed = shutil.copytree(tiny_model("bert"), tmp_path / "changed")
    config = json.loads((changed / "tokenizer_config.json").read_text())
    (changed / "tokenizer_config.json").write_text(json.dumps(config | {"model_max_length": 40}))
    assert load(changed, device="cpu").limit == 40


@each_pairing
@each_kind
def test_sentences_longer_than_the_model_are_read_to_the_end(tiny_model, kind, pairing):
    encoder = Transformers(str(tiny_model(kind, 32)), 1, device="cpu")
    encoder.limit = min(encoder.limit, 32)
    rng = np.random.default_rng(0)
    long, other = (join_words(rng.choice(tiny.WORDS, size).tolist()) for size in (300, 280))
    pairs = [
        (long, other),
        (long, split("the car")),
        (join_words([]), long),
        (join_words(["a" * 90, "x"]), other),
    ]
    embeddings = encoder.embed(pairs, pairing)
    assert np.isfinite(embeddings.vectors).all()
    assert (np.abs(embeddings.vectors).sum(axis=1) > 0).all()
    # The last word is read: another in its place gives another vector.
    changed = join_words([*long.words[:-1], "public" if long.words[-1] != "public" else "car"])
    assert not np.allclose(encoder.embed([(changed, other)], pairing)[0][-1], embeddings[0][-1], atol=1e-3)


def test_a_word_seen_in_several_windows_is_the_weighted_mean_of_what_was_seen(tiny_model):
    from otalign.encoders.windows import make_inputs

    encoder = Transformers(str(tiny_model("bert", 32)), 2, device="cpu")
    pair = [join_words((tiny.WORDS * 2)[:70]), join_words(tiny.WORDS[:20])]
    expected = [np.zeros((70, 16)), np.zeros((20, 16))]
    for one in make_inputs(encoder.subword_tokenizer(pair), (0, 1), encoder.subword_tokenizer.pair, 32):
        ids = np.array([one.ids])
        states = encoder.compute_states(ids, np.ones_like(ids), np.array([one.types]))[0]
        for piece in one.pieces:
            for place, word, weight in zip(piece.places, piece.words, piece.weights, strict=True):
                expected[piece.sentence][word] += weight * states[place]
    found = encoder.embed([(pair[0], pair[1])], "joint")
    for side in (0, 1):
        np.testing.assert_allclose(found[side], expected[side], atol=1e-5)


def test_nothing_in_gives_nothing_out(tiny_model, monkeypatch):
    encoder = load(tiny_model("bert"), device="cpu")
    monkeypatch.setattr(encoder, "compute_states", None)  # nothing is read either
    assert encoder.embed([], "joint").words == 0
    assert encoder.embed([(split(""), split(""))], "separate").words == 0


DEEP = '{"a":' * 100_000 + "1" + "}" * 100_000


@pytest.mark.parametrize("text", ["", "[]", "5", '{"model_type": []}', DEEP], ids=lambda text: text[:5])
@pytest.mark.parametrize("read", [load, list_layers])
def test_an_invalid_configuration_is_an_error_of_one_line(tiny_model, tmp_path, read, text):
    spoiled = shutil.copytree(tiny_model("bert"), tmp_path / "spoiled")
    (spoiled / "config.json").write_text(text)
    with pytest.raises(ValueError, match="cannot be read as a Hugging Face encoder") as raised:
        read(spoiled)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "[]", DEEP], ids=lambda text: text[:5])
@pytest.mark.parametrize("file", ["tokenizer_config.json", "tokenizer.json"])
def test_an_invalid_tokenizer_is_an_error_of_one_line(tiny_model, tmp_path, file, text):
    spoiled = shutil.copytree(tiny_model("bert"), tmp_path / "spoiled")
    (spoiled / file).write_text(text)
    with pytest.raises(ValueError, match="cannot be read as a Hugging Face encoder") as raised:
        load(spoiled)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("config.json", {"num_hidden_layers": "three"}),
        ("config.json", {"num_hidden_layers": -1}),
        ("config.json", {"max_position_embeddings": "64"}),
        ("config.json", {"hidden_size": [16]}),
        ("config.json", {"auto_map": 5}),
        ("tokenizer_config.json", {"model_max_length": "many"}),
        ("tokenizer_config.json", {"model_max_length": -3}),
        ("tokenizer_config.json", {"model_input_names": 7}),
        ("tokenizer_config.json", {"tokenizer_class": {}}),
    ],
)
def test_a_mistyped_configuration_is_an_error_of_one_line(tiny_model, tmp_path, file, changes):
    spoiled = shutil.copytree(tiny_model("bert"), tmp_path / "spoiled")
    (spoiled / file).write_text(json.dumps(json.loads((spoiled / file).read_text()) | changes))
    with pytest.raises(ValueError, match="cannot be read as a Hugging Face encoder") as raised:
        load(spoiled, device="cpu")
    assert "\n" not in str(raised.value)


def test_weights_that_are_not_finite_are_an_error(tiny_model, tmp_path):
    from safetensors.numpy import load_file, save_file

    spoiled = shutil.copytree(tiny_model("bert"), tmp_path / "spoiled")
    weights = load_file(spoiled / "model.safetensors")
    for bad in (np.nan, np.inf):
        weights["encoder.layer.1.output.dense.bias"] = np.full(16, bad, dtype=np.float32)
        save_file(weights, spoiled / "model.safetensors", {"format": "pt"})
        with pytest.raises(ValueError, match="returns numbers that are not finite at layer 2"):
            load(spoiled, 2, device="cpu").embed(PAIRS, "joint")


@pytest.mark.parametrize(
    "mix", [np.ones((1, 2)), np.ones(9), np.array([1, 2]), np.array([np.nan, 1]), np.array(["a"]), np.ones(0)]
)
def test_a_mix_that_does_not_fit_is_refused(tiny_model, tmp_path, mix):
    mixed = shutil.copytree(tiny_model("bert"), tmp_path / "mixed")
    np.save(mixed / "mix.npy", mix)
    with pytest.raises(ValueError, match=r"mix\.npy"):
        load(mixed, device="cpu")
