"""The vocabulary of politics, business and the environment; see `newsroom_writer.Words`.

who: people, without an article; what: things; did: what people did, in the past tense.
"""

AFFAIRS: dict[str, str] = {
    # -- politics ---------------------------------------------------------------------------
    "politics": """
        who: minister; backbencher; press secretary; party veteran
        what: the coalition; the party line; a vote of confidence; the opposition benches;
            the cabinet reshuffle
        did: resigned and returned before tea; crossed the floor in carpet slippers;
            declined to answer the same question eleven times; announced a listening exercise
    """,
    "elections": """
        who: candidate; returning officer; polling clerk
        what: the ballot box; the turnout; the northern wards; a by-election; the marginal seats
        did: demanded a recount; lost the deposit and kept the hat; conceded by postcard
    """,
    "campaigns": """
        who: canvasser; speechwriter; candidate; campaign manager
        what: the battle bus; the manifesto; a televised debate; the garden placards;
            a stump speech; the slogan; door-to-door leaflets
        did: promised free parking for tractors; kissed the wrong baby;
            launched a manifesto in a car park; knocked on four hundred doors in the rain;
            borrowed a slogan from a soup advertisement
    """,
    "opinion-polls": """
        who: pollster; statistician; focus-group host; election forecaster
        what: the margin of error; undecided voters; the exit poll; a three-point lead;
            the weighted sample; leading questions; the focus group
        did: rang two thousand voters at supper time; published a poll that surprised its sample;
            narrowed the lead to a single point; weighted the sample by hat size;
            mistook the undecided for a landslide
    """,
    "voting-reform": """
        who: reform campaigner; constitutional lawyer; boundary commissioner; polling clerk
        what: proportional representation; postal ballots; the voting age; ranked choices;
            constituency boundaries; the secret ballot; compulsory voting
        did: redrew the boundary through a bakery; argued for ranked choices using ice cream;
            lowered the voting age in a mock referendum; drafted a bill on postal ballots;
            counted every second preference by hand
    """,
    "government": """
        who: permanent secretary; minister; civil servant
        what: a green paper; the select committee; the ministry; red tape; a public inquiry
        did: set up a committee on committees; postponed the reform until the autumn;
            published the white paper by mistake
    """,
    "local-councils": """
        who: town clerk; councillor; mayor; planning officer
        what: bin collections; the potholes on Mill Lane; planning permission;
            the council chamber; parking permits; the library roof; a zebra crossing
        did: approved a roundabout nobody wanted; repaired a pothole with full ceremony;
            voted to keep the bandstand; postponed the bin collections;
            named a street after a goat
    """,
    "budget": """
        who: finance minister; treasury official; fiscal watchdog; tax adviser
        what: the deficit; a tax on biscuits; public spending; the red briefcase;
            income-tax thresholds; the spending review; government borrowing
        did: balanced the books in pencil; froze the duty on cider;
            found a hole in the public finances; raised the tax on second pianos;
            postponed the spending review
    """,
    "diplomacy": """
        who: ambassador; envoy; foreign minister
        what: the embassy; a joint communiqué; back-channel talks; the border question;
            diplomatic immunity
        did: expelled an attaché over a sandwich; flew home for consultations;
            exchanged gifts of unequal size
    """,
    "summits": """
        who: head of state; conference interpreter; chief of protocol; foreign minister
        what: the family photograph; the round table; a closing communiqué; the seating plan;
            the motorcade; bilateral meetings; the host nation
        did: walked out before the family photograph;
            signed the declaration at four in the morning; agreed to meet again and agree again;
            held talks behind closed doors; mistranslated a joke with consequences
    """,
    "trade-talks": """
        who: trade negotiator; customs official; trade envoy; exporter
        what: tariffs on cheese; the customs union; rules of origin; import quotas;
            a free-trade agreement; non-tariff barriers; the export paperwork
        did: lifted the tariff on umbrellas; haggled over rules of origin until dawn;
            walked away from the free-trade agreement; slapped a quota on imported gnomes;
            initialled a deal on cheese
    """,
    "climate-policy": """
        who: climate minister; carbon negotiator; environmental lawyer; green campaigner
        what: the carbon price; net-zero targets; emissions permits; the heating law;
            a levy on flights; the adaptation fund; the climate bill
        did: put a price on carbon; tightened the emissions cap; watered down the climate bill;
            sued the ministry over missed targets; pledged to reach net zero by a Thursday
    """,
    "health-policy": """
        who: health minister; hospital regulator; health economist; patients' advocate
        what: waiting lists; prescription charges; the shortage of nurses; hospital funding;
            the insurance reform; the sugar levy; appointment targets
        did: scrapped prescription charges; pledged to halve the waiting lists;
            merged three hospital trusts; capped the price of medicines;
            closed a ward and opened a consultation
    """,
    # -- business ---------------------------------------------------------------------------
    "business": """
        who: chief executive; analyst; board member; shareholder
        what: the quarterly results; the annual report; the boardroom; profit margins;
            corporate strategy
        did: unveiled a five-year plan in six slides; missed the profit forecast by a whisker;
            blamed the weather for the results; thanked the shareholders twice
    """,
    "economy": """
        who: economist; central banker; treasury adviser
        what: economic growth; the recession; household spending; the growth forecast;
            the central bank
        did: revised the forecast upwards, then sideways; declared the recession over;
            measured growth with a ruler
    """,
    "inflation": """
        who: price statistician; central banker; thrifty shopper; economist
        what: the consumer price index; interest rates; the price of butter;
            the cost of living; energy bills; the inflation target; the basket of goods
        did: raised interest rates by a quarter point; added oat milk to the basket of goods;
            missed the inflation target for the ninth month; blamed rising prices on butter;
            held rates and everybody's breath
    """,
    "jobs": """
        who: union organiser; recruiter; labour economist; apprentice
        what: the unemployment rate; the minimum wage; unfilled vacancies; zero-hours contracts;
            the picket line; apprenticeships; overtime pay
        did: called a strike over biscuits; hired two hundred welders;
            won a pay rise after long talks; handed out redundancy notices;
            filled the last vacancy in the lighthouse
    """,
    "markets": """
        who: trader; fund manager; broker
        what: the trading floor; market volatility; a late rally; hedge funds; the closing bell
        did: sold in May and came back in a taxi; closed higher in nervous trading;
            lost a fortune before lunch
    """,
    "shares": """
        who: stockbroker; fund manager; small investor; equity analyst
        what: the stock index; a dividend; blue chips; the flotation; a bear market;
            the initial offering; share buy-backs
        did: sent the index to a record high; cut the dividend;
            bought shares in a company that made only lids; sold the blue chips;
            rang the opening bell with a spoon
    """,
    "commodities": """
        who: grain merchant; metals trader; warehouse keeper; commodity broker
        what: copper futures; the wheat price; coffee beans; a glut of tin; gold bullion;
            the cocoa crop; palm oil
        did: cornered the market in nutmeg; stockpiled copper in a chapel;
            pushed the wheat price to a ten-year high; dumped a glut of tin;
            hedged the cocoa crop
    """,
    "currencies": """
        who: currency dealer; money changer; central banker; exchange-rate strategist
        what: the exchange rate; foreign reserves; the weak crown; a devaluation;
            the strong florin; currency pegs; the bureau de change
        did: devalued the florin overnight; defended the peg with foreign reserves;
            bet against the crown; swapped crowns for florins at a loss;
            propped up the exchange rate
    """,
    "companies": """
        who: managing director; company secretary; chief executive; auditor
        what: the head office; a restructuring; the supply chain; the payroll; the board
        did: closed the head office; outsourced the tea trolley;
            appointed a director of directors
    """,
    "takeovers": """
        who: corporate raider; merger lawyer; investment banker; majority shareholder
        what: a hostile bid; due diligence; the merger; a poison pill; the buyout;
            the competition regulator; golden parachutes
        did: launched a hostile bid for a biscuit maker; swallowed a smaller rival;
            blocked the merger on competition grounds; raised the offer for the third time;
            signed the buyout on a napkin
    """,
    "startups": """
        who: founder; angel investor; incubator manager; seed-fund partner
        what: seed money; the pitch deck; the beanbag chairs; the burn rate; venture capital;
            a unicorn valuation; the co-working space
        did: raised two million for an app that finds socks; pivoted from drones to dumplings;
            pitched to investors in a lift; ran out of seed money;
            moved the beanbags to a bigger garage
    """,
    "shops": """
        who: shopkeeper; store manager; window dresser; checkout supervisor
        what: the January sales; loyalty cards; the high street; self-checkout tills;
            footfall; the delivery van; empty shelves
        did: opened a shop that sells only left gloves; cut prices before the holidays;
            closed forty branches; queued overnight for the sales;
            replaced the tills with an honesty box
    """,
    "sports-business": """
        who: club accountant; sports agent; stadium owner
        what: the ticket prices; broadcasting rights; the wage bill; the season-ticket holders;
            the stadium lease
        did: sold the corner flags to pay the wages; balanced the books of the club;
            renegotiated the broadcasting deal
    """,
    "transfers": """
        who: football agent; sporting director; football scout; record signing
        what: the release clause; the transfer window; a loan deal; the signing-on fee;
            the medical; deadline day; an undisclosed fee
        did: signed a striker minutes before the window closed; triggered the release clause;
            rejected a bid from abroad; sent the winger out on loan;
            failed the medical and passed the buffet
    """,
    "sponsorship": """
        who: brand manager; kit supplier; marketing director; sponsor
        what: the shirt sponsor; naming rights; a boot deal; the perimeter boards;
            an endorsement; the mascot licence; replica scarves
        did: put a pie company on the shirts; dropped the endorsement;
            renamed the stadium after a mattress; sold nine thousand replica scarves;
            paid for the floodlights in exchange for a logo
    """,
    # -- environment ------------------------------------------------------------------------
    "environment": """
        who: park ranger; environmental scientist; campaigner; river keeper
        what: the nature reserve; air pollution; the recycling centre; a litter pick;
            the green belt
        did: planted nine hundred trees; measured the air on Mill Lane;
            chained a bicycle to a bulldozer; fished a piano out of the river
    """,
    "weather": """
        who: forecaster; meteorologist; weather presenter
        what: the barometer; low pressure; the long-range forecast; a cold front; rain gauges
        did: forecast sunshine from under an umbrella; issued a yellow warning;
            tapped the barometer twice
    """,
    "storms": """
        who: storm chaser; coastguard; lighthouse keeper; forecaster
        what: gale-force winds; fallen trees; a lightning strike; the storm surge; torn roofs;
            hailstones; the eye of the storm
        did: named the storm after an aunt; cleared fallen trees from the road;
            clocked gusts of ninety miles an hour; tied down the bandstand;
            lost a greenhouse to the wind
    """,
    "drought": """
        who: reservoir engineer; hydrologist; wheat farmer; water warden
        what: the hosepipe ban; cracked earth; reservoir levels; parched fields; the heatwave;
            wildfires; water rationing
        did: banned hosepipes until October; recorded the driest June in a century;
            walked across the empty reservoir; rationed the water;
            watched the wheat turn to dust
    """,
    "floods": """
        who: flood warden; drainage engineer; lifeboat volunteer; riverside publican
        what: sandbags; the burst banks; the flood barrier; a flooded cellar;
            the high-water mark; the blocked drains; the swollen river
        did: rowed to work down the High Street; stacked sandbags outside the library;
            rescued eleven sheep by canoe; raised the flood barrier;
            pumped out the cellar for the third time
    """,
    "wildlife": """
        who: zoologist; gamekeeper; naturalist
        what: the habitat; an endangered species; the breeding season; the hedgerow;
            a camera trap
        did: counted badgers by moonlight; tagged a hedgehog called Kevin;
            returned the beavers to the valley
    """,
    "birds": """
        who: birdwatcher; ornithologist; bird ringer; reserve warden
        what: the puffin colony; migrating geese; the dawn chorus; nest boxes;
            a lost albatross; the mudflats; starlings
        did: spotted a rare warbler behind the bus depot; ringed four thousand terns;
            recorded the dawn chorus; guarded an osprey nest;
            followed the geese south on a bicycle
    """,
    "marine-life": """
        who: marine biologist; trawler skipper; scuba diver; whale spotter
        what: the coral reef; plankton; a pod of dolphins; seagrass meadows; jellyfish;
            overfishing; the deep-sea trench
        did: freed a whale from a fishing net; filmed an octopus opening a jar;
            mapped the seagrass meadow; counted seals from a kayak;
            replanted coral with tweezers
    """,
    "energy": """
        who: grid engineer; energy analyst; utility director
        what: the power grid; electricity prices; the power station; the energy mix; pylons
        did: kept the lights on through the night; raised the electricity tariff;
            switched off the last coal boiler
    """,
    "renewables": """
        who: wind-farm engineer; solar installer; tidal engineer; battery maker
        what: wind turbines; solar panels; the tidal lagoon; battery storage; a heat pump;
            offshore wind; rooftop panels
        did: covered the cathedral roof in solar panels; connected a wind farm to the grid;
            stored the sunshine in old car batteries; broke the record for wind power;
            lowered a turbine into the bay
    """,
    "oil-and-gas": """
        who: rig worker; refinery manager; pipeline inspector; oil driller
        what: the pipeline; a barrel of crude; the refinery; gas reserves; drilling licences;
            the oil rig; petrol pumps
        did: struck gas under a cricket pitch; shut the pipeline after a leak;
            pumped the last barrel from the field; cut output to lift the crude price;
            capped a leaking well
    """,
}
