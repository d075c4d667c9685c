"""The desks, sections and topics of the newsroom: ids, titles, parents, related links."""

from __future__ import annotations

from functools import cache

from linnaeus.taxonomy import Taxonomy

# id: title, parents
NODES: dict[str, tuple[str, tuple[str, ...]]] = {
    "politics": ("Politics", ()),
    "elections": ("Elections", ("politics",)),
    "campaigns": ("On the campaign trail", ("elections",)),
    "opinion-polls": ("Opinion polls", ("elections",)),
    "voting-reform": ("Voting reform", ("elections",)),
    "government": ("Government", ("politics",)),
    "local-councils": ("Local councils", ("government",)),
    "diplomacy": ("Diplomacy", ("politics",)),
    "summits": ("Summits", ("diplomacy",)),
    "business": ("Business", ()),
    "economy": ("Economy", ("business",)),
    "inflation": ("Prices and interest rates", ("economy",)),
    "jobs": ("Jobs and wages", ("economy",)),
    "budget": ("Taxes and the budget", ("government", "economy")),
    "trade-talks": ("Trade talks", ("diplomacy", "economy")),
    "markets": ("Markets", ("business",)),
    "shares": ("Shares", ("markets",)),
    "commodities": ("Commodities", ("markets",)),
    "currencies": ("Currencies", ("markets",)),
    "companies": ("Companies", ("business",)),
    "takeovers": ("Takeovers", ("companies",)),
    "startups": ("Start-ups", ("companies",)),
    "shops": ("Shops", ("companies",)),
    "science": ("Science", ()),
    "space": ("Space", ("science",)),
    "planets": ("Planets", ("space",)),
    "rockets": ("Rockets", ("space",)),
    "telescopes": ("Telescopes", ("space",)),
    "computing": ("Computing", ("science",)),
    "artificial-intelligence": ("Artificial intelligence", ("computing",)),
    "chatbots": ("Chatbots", ("artificial-intelligence",)),
    "robots": ("Robots", ("artificial-intelligence",)),
    "cybersecurity": ("Cybersecurity", ("computing",)),
    "chips": ("Chips", ("computing",)),
    "life-sciences": ("Life sciences", ("science",)),
    "genetics": ("Genetics", ("life-sciences",)),
    "fossils": ("Fossils", ("life-sciences",)),
    "physics": ("Physics", ("science",)),
    "health": ("Health", ()),
    "medicine": ("Medicine", ("health",)),
    "vaccines": ("Vaccines", ("medicine",)),
    "surgery": ("Surgery", ("medicine",)),
    "medical-devices": ("Medical devices", ("medicine", "computing")),
    "public-health": ("Public health", ("health",)),
    "epidemics": ("Epidemics", ("public-health",)),
    "nutrition": ("Nutrition", ("public-health",)),
    "mental-health": ("Mental health", ("public-health",)),
    "health-policy": ("Health policy", ("politics", "health")),
    "sport": ("Sport", ()),
    "football": ("Football", ("sport",)),
    "league-football": ("League football", ("football",)),
    "sports-business": ("Sports business", ("companies", "sport")),
    "transfers": ("Transfers", ("football", "sports-business")),
    "sponsorship": ("Sponsorship", ("sports-business",)),
    "sports-medicine": ("Sports medicine", ("medicine", "sport")),
    "athletics": ("Athletics", ("sport",)),
    "winter-sports": ("Winter sports", ("sport",)),
    "skiing": ("Skiing", ("winter-sports",)),
    "ice-hockey": ("Ice hockey", ("winter-sports",)),
    "tennis": ("Tennis", ("sport",)),
    "motor-racing": ("Motor racing", ("sport",)),
    "culture": ("Culture", ()),
    "screen": ("Screen", ("culture",)),
    "film": ("Film", ("screen",)),
    "television": ("Television", ("screen",)),
    "music": ("Music", ("culture",)),
    "classical-music": ("Classical music", ("music",)),
    "pop-music": ("Pop music", ("music",)),
    "stage": ("Stage", ("culture",)),
    "theatre": ("Theatre", ("stage",)),
    "dance": ("Dance", ("stage",)),
    "opera": ("Opera", ("music", "stage")),
    "books": ("Books", ("culture",)),
    "novels": ("Novels", ("books",)),
    "poetry": ("Poetry", ("books",)),
    "museums": ("Museums", ("culture",)),
    "video-games": ("Video games", ("computing", "culture")),
    "environment": ("Environment", ()),
    "climate-policy": ("Climate policy", ("politics", "environment")),
    "weather": ("Weather", ("environment",)),
    "storms": ("Storms", ("weather",)),
    "drought": ("Drought", ("weather",)),
    "floods": ("Floods", ("weather",)),
    "wildlife": ("Wildlife", ("environment",)),
    "birds": ("Birds", ("wildlife",)),
    "marine-life": ("Marine life", ("wildlife",)),
    "energy": ("Energy", ("business", "environment")),
    "renewables": ("Renewable energy", ("energy",)),
    "oil-and-gas": ("Oil and gas", ("energy",)),
}

RELATED: tuple[tuple[str, str], ...] = (
    ("inflation", "shops"),
    ("vaccines", "epidemics"),
    ("renewables", "climate-policy"),
    ("commodities", "drought"),
    ("commodities", "oil-and-gas"),
    ("film", "novels"),
    ("sponsorship", "motor-racing"),
    ("robots", "surgery"),
    ("robots", "jobs"),
    ("fossils", "museums"),
    ("league-football", "television"),
    ("nutrition", "sports-medicine"),
    ("chips", "video-games"),
    ("classical-music", "dance"),
)


@cache
def newsroom_taxonomy() -> Taxonomy:
    """The taxonomy of the newsroom: four levels, several nodes with two parents.

    >>> newsroom_taxonomy().parents("sports-business")
    ('companies', 'sport')
    """
    edges = [(p, v) for v, (_, above) in NODES.items() for p in (above or (None,))]
    titles = {v: title for v, (title, _) in NODES.items()}
    return Taxonomy.from_edges(edges, related=RELATED, titles=titles)
