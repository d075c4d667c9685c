"""People, places and organisations of the newsroom. All are invented."""

FIRST_NAMES = (
    "Agnes", "Bartolo", "Cosima", "Dunstan", "Edda", "Fergal", "Griselda", "Hamish", "Imke",
    "Jotham", "Kezia", "Leopold", "Mirembe", "Nils", "Odalys", "Percival", "Quenby", "Ravi",
    "Senna", "Tobiah", "Ursula", "Vashti", "Winifred", "Xanthe", "Yusuf", "Zelda",
)  # fmt: skip

SURNAMES = (
    "Appleyarde", "Brackwater", "Crumhorn", "Dapplecote", "Eelgrave", "Fennimarsh", "Gooseworth",
    "Hobbleton", "Inkpenny", "Jollivant", "Kettleburn", "Larkspindle", "Mumblethorpe",
    "Nightingdale", "Ottershaw", "Pennywhist", "Quillby", "Rumbelow-Finch", "Saltwhistle",
    "Thimblewick", "Underquist", "Vexmoor", "Wobbleday", "Yarrowgate", "Zimmergast",
)  # fmt: skip

PLACES = (
    "Marrowby", "Quillmere", "Upper Tolling", "Port Ansel", "Drizzleham", "Tarrowdale",
    "Bellhaven", "Ostermouth", "Pipwell-on-Sea", "Nether Pudding", "Great Wobbling", "Fennick",
    "Cobblestowe", "Lower Grumble", "Candlewick Bay", "Saint Odd", "Hatherwold", "Mossgate",
    "Thornypool", "East Umber",
)  # fmt: skip

ORGANISATIONS = {
    "politics": (
        "the Harbour Party", "the Orchard League", "the Ministry of Small Matters",
        "the Pellworthy Assembly", "the Wickering Circle",
    ),
    "business": (
        "Bramble & Thrupp", "Lumpkin Freight", "the Marrowby Exchange", "Gannet & Daughters",
        "the Tolling Savings Bank",
    ),
    "science": (
        "the Thistlewick Institute", "Quillmere College", "the Bellhaven Laboratory",
        "the Society for Careful Measurement", "the Fennick Observatory",
    ),
    "health": (
        "the Pellworthy Infirmary", "the Tarrowdale Health Board", "Ostermouth General",
        "the Cobbler Street Clinic", "the Wobbling Hospital Trust",
    ),
    "sport": (
        "Marrowby Wanderers", "the Bellhaven Sporting Club", "Port Ansel Harriers",
        "the Fennick Games Committee", "Drizzleham United",
    ),
    "culture": (
        "the Teasel Playhouse", "the Lantern Street Arts Centre", "the Drizzleham Festival",
        "Hobbleton Hall", "the Umber Academy of Arts",
    ),
    "environment": (
        "the Fenwater Trust", "the Tarrowdale Rangers", "the Friends of the Lower Marsh",
        "the Ostermouth Weather Office", "the Three Rivers Agency",
    ),
}  # fmt: skip

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FEW = ("three", "four", "five", "six", "seven", "eight", "nine")
