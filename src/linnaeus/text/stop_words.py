"""English words that say little about what a text is about: articles, pronouns, auxiliaries."""

_WORDS = """
a an the this that these those such each every either neither both all any some no none other
another same own few many much more most several
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
it its itself we us our ours ourselves they them their theirs themselves one ones
who whom whose which what whoever whatever when where why how
am is are was were be been being do does did doing done have has had having
can could may might must shall should will would ought cannot
and or but nor so yet if then else than because as while until unless although though whether
of at by for with about against between into through during before after above below to from up
down in out on off over under upon within without among across along around toward towards per
via
again further once here there now ever never always often also too very just only even still
already not quite rather almost perhaps however thus hence therefore
ll ve re don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn
"""

ENGLISH = frozenset(_WORDS.split())
