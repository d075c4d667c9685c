"""One spelling for each word, words of every script, and which language a text is in."""

import sys
import types
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.errors import UserError
from linnaeus.text import TfidfVectorizer, fold, fold_with_places, tokenize
from linnaeus.text.languages import NAMES, guess_language, language_shares
from linnaeus.text.segmenters import SEGMENTERS, installed_segmenter, segmenter


@pytest.mark.parametrize(
    "one, other",
    [
        ("Café", "CAFE\u0301"),
        ("Straße", "STRASSE"),
        ("ΟΔΟΣ ΑΘΗΝΑ", "οδός Αθήνα"),
        ("İSTANBUL IŞIK", "istanbul ışık"),
        ("Donau\u00addampfer", "donaudampfer"),
        ("ＡＢＣ１ ｶﾞｽ", "abc1 ガス"),
        ("كِتَـاب", "كتاب"),
        ("می\u200cخواهم", "میخواهم"),
        ("ﬁnden", "finden"),
        ("한국", unicodedata.normalize("NFD", "한국")),
    ],
)
def test_a_word_has_one_spelling(one, other):
    assert fold(one) == fold(other)
    assert len(TfidfVectorizer(token_pattern=r"\S+").fit([one, other]).vocabulary_) == len(
        one.split()
    )


def test_words_that_differ_stay_apart():
    pairs = [("resume", "résumé"), ("schon", "schön"), ("lego™ x", "legotm x"), ("año", "ano")]
    assert all(fold(one) != fold(other) for one, other in pairs)


MANY = "aIßİıﬁΆς\u0301\u0307\u00ad\u200cｶﾞ手हिन्ทีค้ـَﷺ가\u1100\u1161\u11a8 .ẗ"


@given(st.one_of(st.text(MANY), st.text()), st.booleans())
def test_places_are_those_of_the_folded_text(text, lowercase):
    folded, places = fold_with_places(text, lowercase)
    assert folded == fold(text, lowercase) and len(folded) == len(places)
    assert places == sorted(places) and all(0 <= i < j <= len(text) for i, j in places)


@pytest.mark.parametrize(
    "text, words",
    [
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("مرحباً بكم", ["مرحبا", "بكم"]),
        ("x\u0302y z", ["x\u0302y", "z"]),  # a mark that no letter is composed with
    ],
)
def test_marks_are_parts_of_words(text, words):
    assert tokenize(text, r"\w+") == words
    assert tokenize(text, r"(?u)\b\w+\b") == words
    assert set(TfidfVectorizer(token_pattern=r"\w+").fit([text]).vocabulary_) == set(words)


def terms(text, **options):
    return set(TfidfVectorizer(token_pattern=r"\w+", **options).fit([text]).vocabulary_)


def test_scripts_without_blanks_become_runs_of_letters():
    assert terms("iPhone手机") == {"iphone", "手", "机", "手机"}
    assert terms("ที่นี่") == {"ที่", "นี่", "ที่นี่"}  # marks stay with their letters
    assert terms("红色,蓝", analyzer="word") == {"红色", "蓝"}
    assert set(TfidfVectorizer(token_pattern="[^,]+").fit(["红色,蓝"]).vocabulary_) == {
        "红色",
        "蓝",
    }
    assert terms("हिन्", analyzer="letters", ngram_range=(2, 2)) == {"हिन्"}


def test_pieces_of_words():
    found = terms("Hausboot हिन्दी", analyzer="pieces")
    assert {"hausboot", "~_hau", "~haus", "~boot_", "हिन्दी", "~_हिन्दी"} <= found
    assert found == terms("Hausboot", analyzer="pieces") | terms("हिन्दी", analyzer="pieces")


# -- libraries that find words --------------------------------------------------------------


@pytest.fixture
def jieba(monkeypatch):
    """A library that cuts every text in pairs of characters."""
    module = types.ModuleType("jieba")
    module.__spec__ = types.SimpleNamespace(name="jieba")
    module.setLogLevel = lambda level: None
    module.cut = lambda text: (text[i : i + 2] for i in range(0, len(text), 2))
    monkeypatch.setitem(sys.modules, "jieba", module)
    segmenter.cache_clear()
    yield module
    segmenter.cache_clear()


def test_a_library_finds_words_of_its_script(jieba):
    assert installed_segmenter("zh") == "jieba"
    found = TfidfVectorizer(analyzer="jieba", ngram_range=(1, 2)).fit(["app 我爱北京 ก"])
    assert set(found.vocabulary_) == {"app", "我爱", "北京", "app 我爱", "我爱 北京", "ก"}


def test_a_model_says_which_library_it_lacks(jieba, monkeypatch):
    state = TfidfVectorizer(analyzer="jieba").fit(["我爱北京"]).to_state()
    again = TfidfVectorizer.from_state(state)
    monkeypatch.setitem(sys.modules, "jieba", None)
    segmenter.cache_clear()
    with pytest.raises(UserError, match="by the library jieba, which does.*pip install jieba"):
        again.transform(["我爱北京"])


def test_without_libraries_there_is_none(monkeypatch):
    for name in SEGMENTERS:
        monkeypatch.setitem(sys.modules, name, None)
    segmenter.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert [installed_segmenter(code) for code in ("zh", "ja", "th", "en")] == [None] * 4


# -- languages ------------------------------------------------------------------------------

SAID = {
    "en": "The minister said that the new law will help farmers.",
    "de": "Die Gartenmöbel sind wetterfest und leicht.",
    "fr": "Un roman sur la guerre et l'amour",
    "es": "Una novela sobre la guerra",
    "pt": "O cachorro não está em casa com o gato.",
    "it": "Il cane e il gatto sono nella casa.",
    "nl": "De hond en de kat slapen in het huis.",
    "sv": "Hunden och katten sover inte i huset.",
    "da": "Hunden og katten sover ikke i huset efter krigen, som blev lang.",
    "no": "Hunden og katten sover ikke i huset etter krigen, som ble lang.",
    "fi": "Koira ja kissa eivät nuku, mutta se on hyvä.",
    "hu": "A kutya és a macska nem alszik, mert az nagy ház.",
    "pl": "Pies i kot nie śpią w domu, ale są na dworze.",
    "cs": "Pes a kočka nespí v domě, ale jsou na dvoře, protože je teplo.",
    "ro": "Câinele și pisica nu sunt în casă.",
    "tr": "Köpek ve kedi evde değil, ama bir bahçe var.",
    "ru": "Собака и кошка не спят в доме, но это не страшно.",
    "uk": "Собака і кішка не сплять у будинку, але це не страшно.",
    "el": "Η γάτα και ο σκύλος",
    "ar": "القط والكلب في البيت",
    "fa": "گربه و سگ در خانه هستند",
    "hi": "कुत्ता और बिल्ली घर में हैं",
    "ja": "猫と犬は家にいます",
    "zh": "猫和狗在家里",
    "ko": "고양이와 개는 집에 있다",
    "th": "แมวและหมาอยู่ในบ้าน",
    "he": "החתול והכלב בבית",
    "vi": "Con mèo và con chó không ở trong nhà",
    "id": "Kucing dan anjing itu tidak ada di rumah",
}


@pytest.mark.parametrize("code", SAID)
def test_languages_are_guessed(code):
    assert code in NAMES
    assert guess_language(SAID[code]) == code
    assert guess_language(unicodedata.normalize("NFD", SAID[code])) == code


@pytest.mark.parametrize("text", ["", "42", "iPhone 12 Pro 128GB", "ACGTACGTAC", "Berlin", "!?"])
def test_too_little_is_no_language(text):
    assert guess_language(text) is None


def test_shares_of_languages():
    texts = [SAID["en"]] * 300 + ["42"] * 100 + [SAID["de"]] * 100
    assert language_shares(texts) == {"en": 0.75, "de": 0.25}
    assert language_shares(texts, sample=50) == {"en": 0.75, "de": 0.25}  # from all parts
    assert language_shares(iter(texts), sample=50) == {"en": 1.0}
    assert language_shares(["42"]) == {}
