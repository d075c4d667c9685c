"""In which language a text is written: by its script, its frequent small words and its letters.

A guess, quick enough for whole collections, and None where the text says too little. In the Latin
and Cyrillic scripts a language gets a point for each of its small words, shared with the languages
that have the same word, and for each letter that few languages have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from linnaeus.text.tokens import tokenize

LONGEST = 2000  # characters of a text that are looked at
ENOUGH, AHEAD = 1.2, 1.2  # points that a guess needs, and how many times those of the next
KNOWN = 0.1  # points for each word that it needs

# The small words of languages in the Latin and Cyrillic scripts
_WORDS = """
en the of and to in is that for it was with on as are be this by at from not have or an but which
   you they his will can
de der die das und in den von zu mit sich des auf für ist im dem nicht ein eine als auch es an
   werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über so zum aber durch
   oder
fr le la les de des et un une du en que est pour qui dans sur pas au avec ce il sont par plus ne
   se aux ou cette mais nous vous ses être leur
es el la de que y en los las del un una por con para es se no al lo como más su sus pero este está
   son esta entre cuando muy sin sobre
pt o a de que e do da em um uma para com não os as no na por se mais dos das ao foi como mas são
   pela pelo seu sua ou também
it il la di che e un una per in del della con non sono è le dei gli da nel alla al più come anche
   si lo ma questo delle dal nella
nl de het een van en in is dat op te zijn met voor niet aan er om ook als door maar naar bij uit
   wordt deze hij tot over zich worden
sv och i att det som en på är av för med den till inte har de ett om var från men vid eller kan
   hade så
da og i at det som en på er af for med den til ikke har de et om var fra men ved eller kan havde
   så efter blev
no og i at det som en på er av for med den til ikke har de et om var fra men ved eller kan hadde
   så etter ble
fi ja on ei se että oli hän mutta ovat kun niin tai myös sen joka mukaan kuin olla hänen sekä jos
   vain ole tämä voi
et ja on ei see et oli ta aga kui nii või ka mis selle kes oma ning seda olid pole välja veel siis
hu a az és hogy nem is egy van volt ez meg de csak mint el ha már még ezt azt lehet vagy után
   között
pl i w na z się do nie to że jest jak o od po za przez dla są ale oraz był tym jego który która
   które
cs a v na se že je s z do o to i ve za jako ale po by jsou pro jeho také který která které nebo
   byl
sk a v na sa že je s z do o to i vo za ako ale po by sú pre jeho tiež ktorý ktorá ktoré alebo bol
sl in je v na se da za so s z ki pa po ne tudi kot bi od do ali bil ter pri
hr i u je na se da za su s od što kao ne po bi koji koja koje će ali ili nije bio te
ro și în de la cu pe nu din că este care mai pentru un o sunt al a fi fost prin sau ale dar
ca el la de que i en els les un una per amb no del és al es com més són aquest però seva
tr ve bir bu da de için ile olarak olan çok daha gibi kadar ne ise ama var değil sonra olduğu her
id yang dan di dengan untuk dari ini itu dalam pada tidak adalah ke oleh juga akan atau sebagai
   telah
vi và của là có trong được cho với không các một những người này khi để về đã ra tại
lt ir yra kad į iš su tai kaip bet ar jo nuo buvo dėl apie už jau taip po
lv un ir no ar par ka uz kas bet lai tas kā pie pēc arī nav bija vai
ru и в не на что с по как это он из за от то но для был его все она так же или
uk і в не на що з та як це він із за від до але для був його всі вона так або є
bg и в не на че с по като това той от за но е да се са със или
sr и у је на се да за су с од што као не по би који која које ће али или
mk и во не на што со како тоа тој од за но е да се се или
be і ў не на што з па як гэта ён з за ад да але для быў яго
"""
_LETTERS = {
    "de": "ßäöü", "fr": "œçèêëàùî", "es": "ñ¿¡", "pt": "ãõç", "da": "æø", "no": "æø", "sv": "äöå",
    "fi": "äö", "et": "õäöü", "hu": "őű", "pl": "łąęśźż", "cs": "řěůčšž", "sk": "ľŕôäčšž",
    "sl": "čšž", "hr": "đćčšž", "ro": "ățșţ", "tr": "ğış", "lt": "ėųįūčšž", "lv": "āēīņķļģ",
    "vi": "ơưđạảấầậắếềểệịọốồộớờợụủứừự", "ca": "ŀçèòà", "ru": "ыэё", "uk": "їєґі", "be": "ўыі",
    "bg": "ъщ", "sr": "ђћјљњ", "mk": "ѓќѕјљњ",
}  # fmt: skip
# Scripts that say the language, or leave few: code, characters
_SCRIPTS = {
    "el": "\u0370-\u03ff\u1f00-\u1fff", "he": "\u0590-\u05ff", "hy": "\u0530-\u058f",
    "ka": "\u10a0-\u10ff", "am": "\u1200-\u137f", "ko": "\u1100-\u11ff\uac00-\ud7a3",
    "ja": "\u3041-\u30ff", "zh": "\u3400-\u9fff\U00020000-\U000323af", "th": "\u0e00-\u0e7f",
    "lo": "\u0e80-\u0eff", "my": "\u1000-\u109f", "km": "\u1780-\u17ff", "bo": "\u0f00-\u0fff",
    "si": "\u0d80-\u0dff", "bn": "\u0980-\u09ff", "pa": "\u0a00-\u0a7f", "gu": "\u0a80-\u0aff",
    "or": "\u0b00-\u0b7f", "ta": "\u0b80-\u0bff", "te": "\u0c00-\u0c7f", "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f", "hi": "\u0900-\u097f", "ar": "\u0600-\u06ff\u0750-\u077f",
}  # fmt: skip
NAMES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "pt": "Portuguese",
    "it": "Italian", "nl": "Dutch", "sv": "Swedish", "da": "Danish", "no": "Norwegian",
    "fi": "Finnish", "et": "Estonian", "hu": "Hungarian", "pl": "Polish", "cs": "Czech",
    "sk": "Slovak", "sl": "Slovene", "hr": "Croatian", "ro": "Romanian", "ca": "Catalan",
    "tr": "Turkish", "id": "Indonesian", "vi": "Vietnamese", "lt": "Lithuanian", "lv": "Latvian",
    "ru": "Russian", "uk": "Ukrainian", "bg": "Bulgarian", "sr": "Serbian", "mk": "Macedonian",
    "be": "Belarusian", "el": "Greek", "he": "Hebrew", "hy": "Armenian", "ka": "Georgian",
    "am": "Amharic", "ko": "Korean", "ja": "Japanese", "zh": "Chinese", "th": "Thai", "lo": "Lao",
    "my": "Burmese", "km": "Khmer", "bo": "Tibetan", "si": "Sinhala", "bn": "Bengali",
    "pa": "Punjabi", "gu": "Gujarati", "or": "Odia", "ta": "Tamil", "te": "Telugu",
    "kn": "Kannada", "ml": "Malayalam", "hi": "Hindi", "mr": "Marathi", "ar": "Arabic",
    "fa": "Persian", "ur": "Urdu",
}  # fmt: skip

_SCRIPT = re.compile("|".join(f"([{letters}]+)" for letters in _SCRIPTS.values()))
_CODES = tuple(_SCRIPTS)
_HOLDERS: dict[str, tuple[str, ...]] = {}  # the languages that a small word or a letter is of
for _entry in re.split(r"\n(?=\S)", _WORDS.strip()):
    _code, *_words = _entry.split()
    for _word in (*dict.fromkeys(_words), *_LETTERS.get(_code, "")):
        _HOLDERS[_word] = (*dict.fromkeys((*_HOLDERS.get(_word, ()), _code)),)
_LETTER = re.compile(f"[{''.join(_LETTERS.values())}]")


def guess_language(text: str) -> str | None:
    """The language that a text is most likely written in.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    str or None
        Code of two letters (ISO 639-1); None if the text says too little.

    Examples
    --------
    >>> guess_language("Der Hund und die Katze schlafen nicht."), guess_language("東京は大きいです")
    ('de', 'ja')
    >>> guess_language("OK 42") is None
    True
    """
    text = text[:LONGEST]
    words = tokenize(text, r"\w+")
    if not text.isascii():
        code = _by_script(text)
        if code:
            return code
    points: dict[str, float] = {}
    letters = [] if text.isascii() else _LETTER.findall(text.casefold())
    for sign in (*words, *letters):
        holders = _HOLDERS.get(sign, ())
        for code in holders:
            points[code] = points.get(code, 0.0) + 1 / len(holders)
    return _clear(points, sum(map(str.isalpha, words)))


def _clear(points: dict[str, float], n_words: int) -> str | None:
    """The language with the most points, if it is clear; ties by the alphabet are none."""
    ranked = sorted(points.items(), key=lambda item: (-item[1], item[0]))[:2]
    if not ranked or ranked[0][1] < max(ENOUGH, KNOWN * n_words):
        return None
    if len(ranked) > 1 and ranked[0][1] < AHEAD * ranked[1][1]:
        return None
    return ranked[0][0]


def _by_script(text: str) -> str | None:
    """The language of most of the letters, where they are of a script that tells."""
    letters: Counter[str] = Counter()
    for found in _SCRIPT.finditer(text):
        letters[_CODES[(found.lastindex or 1) - 1]] += len(found[0])
    if sum(letters.values()) * 2 < sum(map(str.isalpha, text)) or letters.total() < 2:
        return None
    if letters["ja"] and letters["ja"] * 20 >= letters["zh"]:
        return "ja"
    code = max(sorted(letters), key=letters.__getitem__)
    if code == "ar":
        return "ur" if re.search("[ٹڈڑےں]", text) else "fa" if re.search("[پچژگکی]", text) else "ar"
    if code == "hi":
        return "mr" if re.search(r"ळ|\bआहे|\bआणि", text) else "hi"
    return code


def language_shares(
    texts: Iterable[str], sample: int = 2000, of_all: bool = False
) -> dict[str, float]:
    """The languages of a collection, the most frequent first.

    Parameters
    ----------
    texts : iterable of str
        The texts; of a list so many are taken at even distances, of others the first ones.
    sample : int, default=2000
        How many texts are looked at.
    of_all : bool, default=False
        Whether shares are of all texts looked at; without, of those whose language is clear.

    Returns
    -------
    dict of str to float
        Share of each language; empty if no text's language is clear.

    Examples
    --------
    >>> language_shares(["the cat and the dog", "le chat et le chien", "the end of the day"])
    {'en': 0.6666666666666666, 'fr': 0.3333333333333333}
    """
    step = max(1, len(texts) // sample) if isinstance(texts, Sequence) else 1
    found = [guess_language(text) for text in islice(texts, 0, sample * step, step)]
    counts = Counter(code for code in found if code)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    total = len(found) if of_all else counts.total()
    return {code: count / total for code, count in ranked}
