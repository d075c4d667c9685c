"""Default features in languages that plain words fail on, and what is said of the choice."""

import sys
import unicodedata
from random import Random

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from linnaeus.io.collection import Part
from linnaeus.model import choose_features, make_features
from linnaeus.text.segmenters import SEGMENTERS

# Words of four subjects (food, sport, money, weather) and words of all, of our own choice
CHINESE = [
    "米饭 面条 厨房 蔬菜 水果 餐厅 早餐 味道",
    "足球 比赛 球员 冠军 教练 进球 训练 奥运",
    "银行 股票 市场 利率 投资 贷款 经济 货币",
    "下雨 台风 气温 晴天 降雪 雷电 湿度 寒冷",
    "今天 我们 非常 可以 已经 这个 因为 所以 大家 觉得",
]
JAPANESE = [
    "ご飯 台所 野菜 果物 レストラン 朝食 味噌 料理",
    "サッカー 試合 選手 優勝 監督 得点 練習 五輪",
    "銀行 株式 市場 金利 投資 ローン 経済 通貨",
    "雨 台風 気温 晴れ 降雪 雷 湿度 寒波",
    "今日 私たち とても できる もう この から しかし みんな 思う",
]
THAI = [
    "ข้าว ก๋วยเตี๋ยว ครัว ผัก ผลไม้ ร้านอาหาร อาหารเช้า รสชาติ",
    "ฟุตบอล แข่งขัน นักกีฬา แชมป์ โค้ช ประตู ฝึกซ้อม โอลิมปิก",
    "ธนาคาร หุ้น ตลาด ดอกเบี้ย ลงทุน เงินกู้ เศรษฐกิจ สกุลเงิน",
    "ฝน พายุ อุณหภูมิ แดด หิมะ ฟ้าผ่า ความชื้น หนาว",
    "วันนี้ เรา มาก สามารถ แล้ว นี้ เพราะ ดังนั้น ทุกคน รู้สึก",
]
# The same vowel signs, other consonants: cut at the signs, little is left of these
HINDI = [
    "चावल रोटी रसोई सब्ज़ी फल मिठाई नाश्ता स्वाद",
    "क्रिकेट मैच खिलाड़ी विजेता कोच गोल अभ्यास ओलंपिक",
    "बैंक शेयर बाज़ार ब्याज निवेश ऋण अर्थव्यवस्था मुद्रा",
    "बारिश तूफ़ान तापमान धूप बर्फ़ बिजली नमी ठंड",
    "आज हम बहुत सकते पहले यह क्योंकि इसलिए सभी लगता",
]
GERMAN = [
    "gemüse suppe kuchen braten nudel käse zwiebel gewürz",
    "fußball turnier mannschaft trainer stadion sieger torwart sprint",
    "bank aktie kredit zinsen anleihe währung börse steuer",
    "regen sturm schnee gewitter nebel frost hagel sonne",
]
ENDS = "plan buch markt haus zeit arbeit leute tag raum preis stelle form dienst schule kasse amt"
SMALL = "der die das und mit von für nicht ist auf ein eine auch werden"
UNSPACED = {"Chinese": CHINESE, "Japanese": JAPANESE, "Thai": THAI}


def sentences(lists, glue, n=160, seed=0):
    """Texts of five words of all subjects and two of one, with the number of that one."""
    *subjects, common = (line.split() for line in lists)
    rng, texts, y = Random(seed), [], []
    for i in range(n):
        words = rng.sample(subjects[i % 4], 2) + rng.sample(common, 5)
        rng.shuffle(words)
        texts.append(glue.join(words))
        y.append(i % 4)
    return texts, np.array(y)


def compounds(n=400, seed=0):
    """German texts in which the subject is said by a part of one long word, mostly a new one."""
    rng, texts, y = Random(seed), [], []
    for i in range(n):
        a, b = rng.choice(GERMAN[i % 4].split()), rng.choice(GERMAN[i % 4].split())
        ends = rng.sample(ENDS.split(), 3)
        words = [ends[0] + "s" + ends[1], a + ends[1], b + ends[2], *rng.sample(SMALL.split(), 5)]
        rng.shuffle(words)
        texts.append(" ".join(words))
        y.append(i % 4)
    return texts, np.array(y)


def part_of(texts, y):
    return Part([[str(v)] for v in y], [str(i) for i in range(len(y))], texts=list(texts))


def accuracy(features, texts, y):
    """Of a linear machine that learns from the first half, on the second."""
    half = len(y) // 2
    X, X_test = features.fit_transform(texts[:half]), features.transform(texts[half:])
    return LinearSVC(random_state=0).fit(X, y[:half]).score(X_test, y[half:])


@pytest.fixture(autouse=True)
def no_libraries(monkeypatch):
    """As on a machine where no library is installed that finds words."""
    for name in SEGMENTERS:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("linnaeus.text.choosing.installed_segmenter", lambda code: None)


@pytest.mark.parametrize("language", UNSPACED)
def test_scripts_without_blanks(language):
    texts, y = sentences(UNSPACED[language], "")
    choice = choose_features(part_of(texts, y))
    runs = "1 to 4" if language == "Thai" else "1 to 3"
    assert choice.kind == "words"
    assert choice.why == f"the texts are mostly {language}: runs of {runs} characters"
    old = make_features("words", part_of(texts, y), {"analyzer": "word"})
    assert accuracy(choice.features, texts, y) > max(0.9, accuracy(old, texts, y) + 0.05)


def test_words_with_vowel_signs():
    texts, y = sentences(HINDI, " ")
    choice = choose_features(part_of(texts, y))
    terms = set(choice.features.fit(texts).vocabulary_)
    assert terms == {word for line in HINDI for word in map(nfc, line.split())}
    assert accuracy(choice.features, texts, y) > 0.95


def nfc(text):
    return unicodedata.normalize("NFC", text)


def test_the_form_of_accents_does_not_matter():
    texts, y = compounds(80)
    other = [unicodedata.normalize("NFD", text) for text in texts]
    for kind in ("words", "pieces", "characters"):
        features = make_features(kind, part_of(texts, y))
        assert (features.fit_transform(texts) != features.transform(other)).nnz == 0


def test_compounds_are_taken_apart_where_that_helps():
    texts, y = compounds()
    choice = choose_features(part_of(texts, y))
    assert choice.kind == "pieces"
    assert "mostly German; of 100 held-out rows, words and their pieces found" in choice.why
    gain = accuracy(choice.features, texts, y)
    assert gain > accuracy(make_features("words", part_of(texts, y)), texts, y) + 0.05


def test_pieces_are_not_taken_where_they_do_not_help():
    *subjects, common = (*GERMAN, SMALL)
    texts, y = sentences((*subjects, common), " ")
    choice = choose_features(part_of(texts, y))
    assert choice.kind == "words" and "words alone of" in choice.why
    few = choose_features(part_of(texts[:20], y[:20]))
    assert few.kind == "words" and few.why.endswith("too few to try pieces of words")


def test_several_languages_in_one_collection():
    chinese, y = sentences(CHINESE, "")
    hindi, _ = sentences(HINDI, " ")
    both = [
        one if i % 8 < 4 else other
        for i, (one, other) in enumerate(zip(chinese, hindi, strict=True))
    ]
    choice = choose_features(part_of(both, y))
    assert "words, and runs of 1 to 3 characters of the" in choice.why
    assert accuracy(choice.features, both, y) > 0.9


def test_a_few_texts_without_blanks_are_no_sequences():
    text = "ข้าวก๋วยเตี๋ยวครัวผักผลไม้ร้านอาหาร"
    assert choose_features(part_of([text, text[::-1]], [0, 1])).kind == "words"


def test_an_installed_library_is_taken_and_named(monkeypatch):
    monkeypatch.setattr("linnaeus.text.choosing.installed_segmenter", {"zh": "jieba"}.get)
    texts, y = sentences(CHINESE, "", 20)
    choice = choose_features(part_of(texts, y))
    assert choice.why == "the texts are mostly Chinese: words found by jieba"
    assert choice.features.analyzer == "jieba"
    assert make_features("words", part_of(texts, y), {"analyzer": "text"}).analyzer == "text"
