"""Text that an aligner does not know is detected once, and English of any kind is not mistaken for it."""

import os
import subprocess
import sys
import warnings
from urllib.parse import urlencode

import pytest

from otalign import Aligner
from otalign.languages import CHECKED_PAIRS, LanguageCheck, LanguageWarning
from otalign.models import read_languages
from otalign.server.app import make_app
from otalign.text.words import Pair, join_words, tokenize
from tests.server.local_server import run_server

FOREIGN = {
    "German": "Der kleine Hund schläft seit gestern auf dem warmen Dach unseres Nachbarn.",
    "German without umlauts": "gestern haben wir unseren nachbarn im garten besucht und kuchen gegessen",
    "French": "Les habitants du village ont planté des arbres le long de la rivière.",
    "Spanish": "El gobierno anunció nuevas medidas para proteger los bosques del norte.",
    "Italian": "Il vecchio pescatore racconta la storia della sua barca ai bambini del paese.",
    "Portuguese": "As crianças não querem voltar para casa depois da escola.",
    "Dutch": "De oude brug over het kanaal wordt volgend jaar eindelijk gerepareerd.",
    "Swedish": "Hon köpte en gammal cykel och målade den röd innan sommaren började.",
    "Finnish": "Lapset juoksivat rannalla koko aamun ja rakensivat suuren hiekkalinnan.",
    "Polish": "Wczoraj wieczorem spotkaliśmy się z przyjaciółmi w małej restauracji.",
    "Czech": "Staré město leží na kopci, odkud je krásný výhled na řeku.",
    "Hungarian": "A gyerekek egész nap a tóparton játszottak, és estére nagyon elfáradtak.",
    "Turkish": "Çocuklar bütün gün sahilde oynadılar ve akşam çok yoruldular.",
    "Vietnamese": "Hôm qua chúng tôi đã đi thăm bà ngoại ở một ngôi làng nhỏ.",
    "Indonesian": "Anak-anak bermain sepanjang hari di pantai dan pulang setelah matahari terbenam.",
    "Russian": "Вчера вечером мы долго гуляли по набережной.",
    "Greek": "Τα παιδιά παίζουν κάθε απόγευμα στην πλατεία του χωριού.",
    "Chinese": "孩子们昨天在海边玩了一整天。",
    "two Chinese characters": "你好",
    "Japanese": "子どもたちは一日中海辺で遊びました。",
    "Korean": "아이들은 하루 종일 바닷가에서 놀았다.",
    "Arabic": "لعب الأطفال على الشاطئ طوال اليوم.",
    "Hebrew": "הילדים שיחקו כל היום על החוף.",
    "Hindi": "बच्चे पूरे दिन समुद्र तट पर खेलते रहे।",
    "Bengali": "শিশুরা সারাদিন সৈকতে খেলেছে।",
    "Tamil": "குழந்தைகள் நாள் முழுவதும் கடற்கரையில் விளையாடினர்.",
    "Thai": "เด็กๆ เล่นที่ชายหาดทั้งวัน",
    "Russian with a name": "Компания Google открыла новый офис в центре города.",
}
ENGLISH = {
    "plain": "The gardener watered the young trees before sunrise.",
    "a headline": "Apple buys British startup, shares rise sharply",
    "a list": "apples, oranges, plums, cherries, walnuts",
    "names": "Grzegorz Brzęczyszczykiewicz met François Hollande and Xi Jinping in Düsseldorf.",
    "names alone": "Dvořák, Händel, Saint-Saëns, Tchaikovsky, Szymanowski",
    "numbers": "1,234.56 2.5% 10:30 1990–95 $5",
    "emoji": "so happy today 🎉🎉🎉 best birthday ever 😀",
    "emoji alone": "🎉 😀 🚀 🌍 🐕 🍎",
    "code": "def f(x): return np.searchsorted(starts, x, side='right') - 1",
    "an address": "https://example.org/uebersicht?sprache=de and user@beispiel.de",
    "accents": "The naïve fiancée ate crème brûlée at the café.",
    "a quoted phrase": "He said “je ne sais quoi” and left.",
    "a quoted title": "She read “Der Zauberberg” and “Les Misérables” last summer.",
    "a quoted Chinese word": "The word 你好 means hello.",
    "a quoted Russian sentence": "The sign at the old station said «Добро пожаловать», which means welcome.",
    "a formula": "α + β = γ",
    "a formula in a sentence": "Let α and β be the angles, then α + β < π.",
    "jargon": "The electroencephalogram showed generalised epileptiform discharges.",
    "typos": "thsi sentnce contians a lot of speling mistaks and shuold be fixd",
    "few words": "Carpe diem, amice.",
    "a short sentence of rare words": "salvaging shipwrecks was outlawed",
    "capitals": "THE CAT SAT ON THE MAT AND LOOKED AT THE DOG",
    "fancy letters": "𝐇𝐞𝐥𝐥𝐨 to all of you",
    "full-width letters": "Ｔｈｅ ｙｏｕｎｇ ｔｒｅｅｓ ａｒｅ ｔｈｅｒｅ.",
    "nothing": "",
}


def make_pair(text: str) -> Pair:
    sentence = tokenize(text)
    return sentence, sentence


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner.load(threads=1)


@pytest.fixture(scope="module")
def check(aligner) -> LanguageCheck:
    return aligner.language_check


def test_the_model_declares_english_and_an_encoder_declares_nothing(aligner, exported):
    assert aligner.languages == ("English",)
    assert Aligner.load(exported("bert", 3)).languages == ()


@pytest.mark.parametrize("kind", FOREIGN)
def test_other_languages_are_noticed_on_either_side(check, kind):
    text, english = tokenize(FOREIGN[kind]), tokenize(ENGLISH["plain"])
    for pair in ((text, text), (text, english), (english, text)):
        assert "knows English" in (check.check_pair(pair) or "")


@pytest.mark.parametrize("kind", ENGLISH)
def test_english_of_any_kind_is_not_taken_for_another_language(check, kind):
    text = tokenize(ENGLISH[kind])
    assert check.check_pair((text, text)) is None
    if kind == "names alone":  # without capitals they are foreign words
        return
    lowered = join_words([word.lower() for word in text.words])
    assert check.check_pair((lowered, lowered)) is None


def test_a_run_is_judged_by_many_of_its_first_pairs(check):
    foreign, english = (make_pair(text) for text in (FOREIGN["German"], ENGLISH["plain"]))
    assert check.check_pairs([]) is None
    assert check.check_pairs([foreign])
    assert check.check_pairs([english] * 8 + [foreign])
    assert check.check_pairs([english] * 20 + [foreign]) is None
    assert check.check_pairs([english] * CHECKED_PAIRS + [foreign] * 1000) is None


def test_only_aligners_that_declare_english_are_judged_by_language(aligner):
    text = make_pair(FOREIGN["German"])
    for languages in ((), ("German",), ("English", "German")):
        assert LanguageCheck(aligner.encoder, languages).check_pair(text) is None
    assert LanguageCheck(aligner.encoder, ("en",)).check_pair(text)


def test_words_that_the_tokenizer_does_not_know_are_noticed_for_every_encoder(aligner):
    check = LanguageCheck(aligner.encoder)
    for text in (FOREIGN["Tamil"], "ሰላም ለዓለም ሁሉ ይሁን"):  # spelled out, and unknown
        assert "does not know most words" in (check.check_pair(make_pair(text)) or "")
    for text in ("🎉 😀 🚀", ENGLISH["plain"], ENGLISH["accents"], "", "\u200b"):
        assert check.check_pair(make_pair(text)) is None


def test_the_library_warns_once_and_prints_nothing(aligner, capfd):
    pairs = [(FOREIGN["German"], FOREIGN["Dutch"])] * 3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            list(aligner.align_many(pairs))
            aligner.align(*pairs[0])
    assert [warning.category for warning in caught] == [LanguageWarning]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(aligner.align_many([(ENGLISH["plain"], ENGLISH["names"])] * 3))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("more", [(), ("-o", "links/", "--shard-size", "2", "--processes", "2")])
def test_a_command_warns_in_one_line_unless_warnings_are_off(command_server, tmp_path, more):
    row = f"{FOREIGN['German']}\t{ENGLISH['plain']}\n"
    (tmp_path / "pairs.tsv").write_text(row * 5, encoding="utf-8")
    command = [sys.executable, "-m", "otalign", "align", "pairs.tsv", *more]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTALIGN")}

    def run(**variables: str) -> subprocess.CompletedProcess:
        done = command_server.run(command, cwd=tmp_path, env=environment | variables, text=True)
        done.check_returncode()
        return done

    done = run()
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "otalign: this model knows English, but the text seems to be in another language; "
    )
    if more:
        command.append("--resume")  # with nothing left to do
        assert run().stderr == ""
    else:
        silent = run(OTALIGN_NO_WARNINGS="1")
        assert (silent.stdout, silent.stderr) == (done.stdout, "")


def test_the_server_declares_languages_and_marks_the_pairs_that_it_may_not_know(aligner):
    foreign, english = FOREIGN["Russian"], ENGLISH["plain"]
    with run_server(make_app(aligner)) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert server.get("/v1/aligner").json["languages"] == ["English"]
        pairs = [{"source": source, "target": english} for source in (foreign, english)]
        first, second = server.align({"pairs": pairs}).json["alignments"]
        assert "knows English" in first["language_warning"]
        assert "language_warning" not in second
        uot = {"settings": {"problem": "uot"}}
        assert "knows English" in server.align(pairs[0] | uot).json["language_warning"]


def test_the_page_shows_a_notice_and_takes_it_back(aligner, page):
    with run_server(make_app(aligner)) as server:
        page.open(f"{server.url}/#{urlencode({'source': FOREIGN['Arabic'], 'target': ENGLISH['plain']})}")
        page.wait_for("document.querySelector('.notice')?.textContent.includes('knows English')")
        page.evaluate("location.hash = '#source=It+rains+today&target=It+is+raining+now'")
        page.wait_for("document.querySelector('.notice')?.textContent === ''")


def test_the_card_is_read_with_tolerance(tmp_path):
    assert read_languages(tmp_path) == ()
    (tmp_path / "README.md").write_bytes(b"---\nlanguage: [en, de]\n---\n\xff")
    assert read_languages(tmp_path) == ("en", "de")
    (tmp_path / "README.md").write_text("# no front matter\nlanguage: English\n")
    assert read_languages(tmp_path) == ()
