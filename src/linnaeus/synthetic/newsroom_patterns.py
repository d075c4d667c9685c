"""How newsroom sentences are built. Fields in braces are filled by `newsroom_writer`.

{an_actor}, {event} and {thing} come from the words of the topic ({an_actor2} and so on are
others); {bare} is a thing without its article; {name} and {surname} are the person of the story,
{person} is somebody else; {org} belongs to the desk. Verbs are in the past or after a modal, so
that singular and plural things fit alike. A headline and the first sentence share their fields.
"""

HEADLINES: tuple[str, ...] = (
    "How {an_actor} in {place} {event}",
    "The {actor} who {event}",
    "Meet the {actor} who {event}",
    "Row over {bare} reaches {place}",
    "{place} cannot stop talking about {thing}",
    "Inside {place}'s quarrel over {thing}",
    "{bare} and {bare2}: a week in {place}",
    "Five questions about {thing}, and four answers",
    "{place} {actor} in hot water over {thing}",
    "What {place} learned from {thing}",
    "{bare}: {place} holds its breath",
    '"I would do it again": {an_actor} on {thing}',
    '"Leave {thing} alone", says {place} {actor}',
)

# The first sentence: introduces {name}.
LEADS: tuple[str, ...] = (
    "On {day}, {name}, {an_actor} from {place}, {event}.",
    "{day} began quietly in {place}, until {name}, {an_actor} with {org}, {event}.",
    "Nobody in {place} expected it, yet {name}, {an_actor} with {org}, {event}.",
    "It took {few} attempts, but {name}, {an_actor} from {place}, finally {event}.",
    "There are quieter ways to spend a {day}: {name}, {an_actor} from {place}, {event}.",
    "{name} had been {an_actor} for {n} years without making the front page, "
    "but on {day} {surname} {event}.",
    "Witnesses in {place} agree on one point: on {day} {name}, {an_actor}, {event}.",
    "At {hour} o'clock on {day} {name}, {an_actor} with {org}, {event}; "
    "by evening everyone in {place} had an opinion.",
    "{place} had a busy {day}: {name}, {an_actor}, {event}, and then {an_actor2} {event2}.",
)

# The first sentence about a second topic.
LINKS: tuple[str, ...] = (
    "There was a second side to the story: {an_actor} from {place2} {event}.",
    "The affair soon spread to {thing} when {person}, {an_actor}, {event}.",
    "That alone would have filled the page, but {person}, {an_actor}, {event} as well.",
    "It did not stop there: {an_actor} {event}, and all talk turned to {thing}.",
    "Hours later {person}, {an_actor} with {org}, {event}, and two stories became one.",
    "To make sense of it one has to know about {thing}, and about {an_actor} who {event}.",
)

FOLLOWS: tuple[str, ...] = (
    "Much of the argument concerned {thing}, though {thing2} came up too.",
    "{surname}'s notes mentioned {thing} {few} times and lunch once.",
    "A spokesperson for {org} declined to discuss {thing} but spoke warmly of {thing2}.",
    "{org} promptly set up a working group on {thing}.",
    "Critics pointed to {thing}, admirers pointed to {thing2}, and both pointed at each other.",
    "By {hour} o'clock the conversation in {place} had moved on to {thing}.",
    "{person}, {an_actor2} of {n} years' standing, traced the trouble to {thing}.",
    "Earlier in the week {an_actor2} {event2}.",
    "It was not the first time: last spring {an_actor2} in {place2} {event2}.",
    "Asked about {thing}, {surname} smiled and talked about {thing2} instead.",
    "A {n}-page report on {thing} appeared within hours, with an appendix on {thing2}.",
    "Some {n} people have signed a petition about {thing}.",
    '"Nobody warns you about {thing}," {surname} said.',
    '"Give me {thing} and a quiet afternoon, and I will show you {thing2}," said {person}, '
    "{an_actor2}.",
    '"Everything comes down to {thing} in the end," {surname} said, "and the rest is gossip."',
    '"My grandmother knew more about {thing} than the whole of {org}," said {person}.',
    '"I blame {thing}," said {person}, {an_actor2}, without being asked.',
    '"It was either {thing} or {thing2}, and I had the wrong shoes for {thing2}," {surname} '
    "explained.",
    "Experts now expect {thing} to matter more than {thing2}.",
    "For years {thing} had seemed a private matter; since {day} that time has passed.",
)

# Sentences that only one desk would print.
DESK_FOLLOWS: dict[str, tuple[str, ...]] = {
    "politics": (
        "The chamber fell silent at the mention of {thing}, then made up for it.",
        "The opposition called it a scandal and asked for a debate on {thing}.",
        "A vote is expected next month, unless {thing} should get in the way.",
        "Within the hour the government had distanced itself from {thing}.",
    ),
    "business": (
        "Analysts at {org} lowered their estimates, citing {thing}.",
        "{org} warned investors that {thing} could weigh on earnings.",
        "The sums are modest, but {thing} cost the sector {n} million last year.",
        "Bankers described {thing} as a challenge, which is what they call a loss.",
    ),
    "science": (
        "The paper, signed by {n} authors, devoted a long footnote to {thing}.",
        "Colleagues at {org} are now trying to repeat it without {thing}.",
        "If the finding holds, the textbooks will need a new chapter on {thing}.",
        "The data are public, apart from a column about {thing}.",
    ),
    "health": (
        "Doctors advised patience, fluids and a closer look at {thing}.",
        "Of {n} patients, all but {few} asked about {thing} first.",
        "The wards at {org} were full, and {thing} did not help.",
        "Patients with questions about {thing} should ask a pharmacist, not a neighbour.",
    ),
    "sport": (
        "The crowd went home hoarse, still arguing about {thing}.",
        "The replay showed {thing} from four angles, none of them flattering.",
        "{org} will play the next round without {surname}, but not without {thing}.",
        "After the final whistle nobody wanted to talk about {thing}.",
    ),
    "culture": (
        "The reviews praised {thing} and forgave the rest.",
        "Tickets sold out by {hour} o'clock, largely on the strength of {thing}.",
        "The audience at {org} applauded {thing} for {few} minutes.",
        "One critic called {thing} a triumph; the other had been asleep.",
    ),
    "environment": (
        "Walkers were asked to keep dogs on a lead and an eye on {thing}.",
        "Volunteers from {org} spent the weekend on {thing}.",
        "Long-term records from {org} show how much {thing} can change in {n} years.",
        "Farmers nearby had complained about {thing} since the spring.",
    ),
}

# About another topic altogether: no label follows from these.
DISTRACTORS: tuple[str, ...] = (
    "In other news, {an_actor} {event}.",
    "The announcement had to share the front page with {thing}.",
    "Meanwhile, in {place2}, {an_actor} {event}.",
    "{person}, formerly {an_actor}, was not impressed.",
    "It made a change from {thing}, the talk of the previous week.",
    "The evening bulletin preferred an item on {thing}.",
)

NEUTRAL: tuple[str, ...] = (
    "The bakery across the road had sold out of buns by noon.",
    "No one was available for comment except a cat.",
    "The meeting ended in good time for lunch.",
    "It rained, as it does.",
    "A brass band had been booked for the wrong afternoon.",
    "Nobody was hurt, although several people were late.",
    "The neighbours learned of it from the neighbours.",
    "A plaque is being considered.",
    "{place} has seen stranger things, but not on a {day}.",
    "The full story will have to wait for the memoirs.",
    "Somebody will have to tidy up.",
    "There were sandwiches.",
    "A statement was promised for {day} and arrived the day after.",
    "The telephone at the town hall rang until {hour} o'clock.",
    "{surname} has since gone for a long walk.",
)
