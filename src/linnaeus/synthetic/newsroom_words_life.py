"""The vocabulary of science, health, sport and culture; see `newsroom_writer.Words`.

who: people, without an article; what: things; did: what people did, in the past tense.
"""

LIFE: dict[str, str] = {
    # -- science ----------------------------------------------------------------------------
    "science": """
        who: professor; laboratory assistant; research fellow; peer reviewer
        what: the laboratory; a control group; peer review; the hypothesis; a research grant
        did: published a result that nobody could repeat; repeated the experiment forty times;
            disproved a favourite theory; won a prize for patience
    """,
    "space": """
        who: astronaut; astronomer; mission controller
        what: the space agency; low orbit; the solar system; zero gravity; the mission
        did: tracked the probe past the Moon; postponed the mission by a decade;
            answered a signal that turned out to be a kettle
    """,
    "planets": """
        who: planetary scientist; rover driver; crater specialist; astronomer
        what: the rings of Saturn; a dust storm on Mars; frozen methane; the icy moons;
            the rover; volcanic craters; an exoplanet
        did: drove the rover into a ditch on Mars; found water under an icy moon;
            named a crater after a cheese; mapped a planet made largely of rain;
            brought home a spoonful of asteroid
    """,
    "rockets": """
        who: launch director; rocket engineer; astronaut; propulsion specialist
        what: the launch pad; the countdown; liquid oxygen; a reusable booster;
            the heat shield; the second stage; the nose cone
        did: stopped the countdown at four; landed the booster on a barge;
            lit the engines for nine seconds; launched a satellite the size of a toaster;
            lost the second stage over the sea
    """,
    "telescopes": """
        who: observatory director; radio astronomer; mirror polisher; stargazer
        what: the main mirror; a distant galaxy; the observatory dome; dark matter;
            a black hole; the radio dish; starlight
        did: photographed the edge of a black hole; polished the mirror for six years;
            caught the light of an exploding star; opened the dome at dusk;
            found a galaxy shaped like a teapot
    """,
    "computing": """
        who: programmer; systems administrator; software engineer
        what: the source code; a software update; the data centre; the server room;
            open-source software
        did: fixed a bug older than the office; rebooted the server room;
            deleted the backups and then found another set
    """,
    "artificial-intelligence": """
        who: machine-learning researcher; data scientist; machine ethicist
        what: neural networks; the training data; the algorithm; a benchmark;
            machine intelligence
        did: trained a network on nursery rhymes; beat the benchmark by a point;
            taught a machine to say no politely
    """,
    "chatbots": """
        who: prompt writer; conversation designer; language modeller; chatbot tester
        what: the language model; a polite refusal; made-up footnotes; the chat window;
            autocomplete; the prompt; machine translation
        did: taught a chatbot to apologise in nine dialects;
            caught the model inventing footnotes; let a chatbot answer the council's letters;
            typed the same prompt four hundred times; switched off the small talk
    """,
    "robots": """
        who: roboticist; drone pilot; automation engineer; robot wrangler
        what: the robot arm; warehouse drones; a self-driving tractor; the gripper;
            humanoid robots; the assembly line; motion sensors
        did: taught a robot to fold towels; replaced the night shift with robot arms;
            raced two vacuum cleaners for charity; built a robot that picks strawberries;
            lost a drone in a plum tree
    """,
    "cybersecurity": """
        who: security researcher; penetration tester; reformed hacker; password auditor
        what: ransomware; a phishing email; stolen passwords; the firewall;
            two-factor codes; a data breach; encryption
        did: guessed the password on the second try; paid the ransom in gift vouchers;
            patched a hole in the firewall; leaked nine million passwords;
            traced the malware to a toaster
    """,
    "chips": """
        who: chip designer; clean-room technician; semiconductor buyer; circuit engineer
        what: the silicon wafer; a quantum processor; transistors; the chip shortage;
            the clean room; graphics cards; nanometre circuits
        did: squeezed another billion transistors onto a wafer;
            cooled a quantum processor to almost nothing;
            opened a chip factory in a former abbey; sneezed in the clean room;
            ended the shortage of graphics cards
    """,
    "life-sciences": """
        who: biologist; field researcher; microscopist
        what: evolution; the microscope; living cells; the tree of life; a new species
        did: described a species of very shy beetle; grew cells in a jam jar;
            drew a new branch on the tree of life
    """,
    "genetics": """
        who: geneticist; genome sequencer; plant breeder; stem-cell biologist
        what: the genome; a single mutation; gene editing; stem cells; inherited traits;
            DNA samples; the chromosome
        did: sequenced the genome of a turnip; edited a gene for bitterness;
            traced a mutation to one village; compared the DNA of forty twins;
            switched off the gene for sneezing
    """,
    "fossils": """
        who: palaeontologist; fossil hunter; quarry worker; bone preparator
        what: the dinosaur skeleton; a trilobite; ancient footprints; the Jurassic cliffs;
            a fly in amber; a jawbone; sediment layers
        did: dug a dinosaur out of a golf course; found a jawbone in a garden wall;
            dated the footprints to the Jurassic; glued four hundred bones together;
            named a trilobite after a dentist
    """,
    "physics": """
        who: particle physicist; theorist; accelerator engineer; laser specialist
        what: the particle accelerator; neutrinos; string theory; the laser;
            gravitational waves; superconductors; a quantum experiment
        did: smashed protons together at record energy; weighed a neutrino;
            detected gravitational waves under the car park; cooled atoms with a laser;
            covered nine blackboards without a mistake
    """,
    # -- health -----------------------------------------------------------------------------
    "health": """
        who: doctor; nurse; pharmacist; patient
        what: the clinic; the waiting room; a check-up; the hospital; the symptoms
        did: walked out of hospital singing; recommended rest and soup;
            waited six hours for a plaster; thanked the night nurses
    """,
    "medicine": """
        who: consultant; ward manager; clinical researcher; anaesthetist
        what: a clinical trial; side effects; the diagnosis; the treatment; the dosage
        did: halved the dose; reported promising results from a clinical trial;
            diagnosed a rare complaint by telephone
    """,
    "vaccines": """
        who: immunologist; vaccinator; virologist; trial volunteer
        what: the booster jab; antibodies; herd immunity; a needle-free vaccine;
            the cold chain; the flu shot; vaccine hesitancy
        did: vaccinated a whole village in a day; rolled up a sleeve for the flu shot;
            kept the doses cold in a fishmonger's van; measured antibodies in milk;
            tested a vaccine that tastes of pears
    """,
    "surgery": """
        who: surgeon; theatre nurse; transplant coordinator; anaesthetist
        what: the operating theatre; keyhole surgery; the scalpel; a hip replacement;
            the donor kidney; the stitches; the recovery ward
        did: replaced both hips before lunch; transplanted a kidney between neighbours;
            operated by torchlight during a power cut; removed a whistle from a referee;
            sewed a finger back on
    """,
    "medical-devices": """
        who: biomedical engineer; prosthetist; imaging technician; device tester
        what: the pacemaker; a bionic hand; the scanner; insulin pumps; wearable sensors;
            diagnostic software; the hearing aid
        did: fitted a bionic hand to a pianist; recalled a faulty pacemaker;
            taught software to read X-rays; shrank the scanner to fit a rucksack;
            updated the insulin pumps by wireless
    """,
    "public-health": """
        who: health visitor; public-health officer; epidemiologist
        what: the health warning; a screening programme; clean water; life expectancy;
            the health survey
        did: issued a health warning about doorknobs; surveyed nine thousand households;
            extended the screening programme
    """,
    "epidemics": """
        who: epidemiologist; virologist; contact tracer; quarantine officer
        what: the outbreak; infection rates; the quarantine; a new strain; face masks;
            the incubation period; measles
        did: traced the outbreak to a christening cake;
            quarantined a cruise ship of magicians; declared the epidemic over;
            mapped the infections street by street; isolated a new strain of flu
    """,
    "nutrition": """
        who: dietitian; school cook; food scientist; nutritionist
        what: saturated fat; the five-a-day rule; vitamin D; school dinners; fermented cabbage;
            salt intake; breakfast cereal
        did: banned crisps from the canteen; cut the sugar in school dinners;
            ate nothing but kale for a month; blamed breakfast cereal;
            published a diet that allows cake on Fridays
    """,
    "mental-health": """
        who: psychologist; counsellor; psychiatrist; helpline volunteer
        what: anxiety; the talking cure; a good night's sleep; loneliness; burnout;
            the helpline; mindfulness classes
        did: opened a helpline for anxious accountants; prescribed gardening for burnout;
            listened for fifty minutes; studied loneliness in lighthouse keepers;
            slept nine hours in the name of research
    """,
    # -- sport ------------------------------------------------------------------------------
    "sport": """
        who: coach; referee; team captain; commentator
        what: the trophy; the scoreboard; the home crowd; the training ground; the medal table
        did: lifted the trophy and dropped it; blew the whistle early;
            lost on home ground again; broke a record that had stood for forty years
    """,
    "football": """
        who: midfielder; goalkeeper; football coach; assistant referee
        what: the pitch; the dressing room; the back four; the travelling fans; the dugout
        did: celebrated in front of the wrong fans; sang in the dressing room;
            painted the goalposts pink
    """,
    "league-football": """
        who: striker; goalkeeper; caretaker manager; centre half
        what: the offside trap; a goalless draw; the penalty shoot-out; stoppage time;
            the league table; relegation; the far post
        did: scored from the halfway line; kept a ninth clean sheet;
            missed two penalties in a minute; headed the winner in stoppage time;
            saved the club from relegation
    """,
    "sports-medicine": """
        who: physiotherapist; team doctor; sports scientist; massage therapist
        what: a torn hamstring; the concussion protocol; ice baths; knee ligaments;
            anti-doping tests; muscle fatigue; rehabilitation
        did: strapped an ankle at half-time; cleared the captain after a concussion test;
            sent the sprinter for a scan; traced a failed doping test to a pudding;
            mended a torn hamstring in six weeks
    """,
    "athletics": """
        who: sprinter; pole vaulter; marathon runner; hurdler
        what: the starting blocks; a false start; the relay baton; the long-jump pit;
            the marathon; the javelin; the final lap
        did: won the marathon in borrowed shoes; dropped the baton on the last bend;
            threw the javelin over the stand; cleared six metres with the pole;
            tripped over the last hurdle and won anyway
    """,
    "winter-sports": """
        who: biathlete; ski-lift operator; figure skater
        what: the ice; fresh snow; the winter games; the podium; the snow cannon
        did: won gold in a blizzard; entered the final in odd socks; waited all week for snow
    """,
    "skiing": """
        who: downhill racer; ski jumper; slalom champion; cross-country skier
        what: the slalom gates; fresh powder; the giant slalom; the ski jump; waxed skis;
            the downhill course; the moguls
        did: won the downhill by a hundredth of a second; missed the last gate;
            flew off the ski jump backwards; waxed the wrong ski; crossed the line on one ski
    """,
    "ice-hockey": """
        who: goaltender; enforcer; hockey coach; fourth-line forward
        what: the puck; a power play; the penalty box; overtime; the face-off; the rink;
            a slap shot
        did: scored a hat-trick in the third period; lost a tooth and won the face-off;
            stopped fifty shots; spent half the game in the penalty box;
            played on through three overtimes
    """,
    "tennis": """
        who: top seed; line judge; doubles player; wild card
        what: the tie-break; a second serve; the grass court; match point; the baseline;
            a drop shot; the umpire's chair
        did: saved four match points; served eleven double faults;
            won the tie-break in the dark; argued with the net cord;
            took the title in straight sets
    """,
    "motor-racing": """
        who: racing driver; pit-crew chief; rally navigator; race engineer
        what: the pit stop; pole position; the chicane; wet tyres; the safety car;
            the final lap; the gearbox
        did: took pole position in the wet; changed four tyres in two seconds;
            overtook three cars at the chicane; retired with a smoking gearbox;
            read the map upside down and won the rally
    """,
    # -- culture ----------------------------------------------------------------------------
    "culture": """
        who: critic; festival director; arts editor; patron
        what: the premiere; the arts festival; the audience; a standing ovation; rave reviews
        did: wept through the premiere; awarded it four stars and a shrug;
            booked the whole front row; cut the ribbon with garden shears
    """,
    "screen": """
        who: director; camera operator; screenwriter
        what: the script; the final cut; the cast; the trailer; the streaming service
        did: rewrote the ending on the last day; cast a neighbour in the lead;
            filmed the whole thing in a lift
    """,
    "film": """
        who: film director; stunt double; projectionist; film editor
        what: the red carpet; the box office; a silent comedy; the director's cut;
            the car chase; the closing credits; the jury prize
        did: opened the festival with a silent comedy; made a western set in a laundrette;
            shot the chase scene on milk floats; won the jury prize;
            cut three hours to ninety minutes
    """,
    "television": """
        who: newsreader; showrunner; soap actor; quiz-show host
        what: the season finale; a detective series; the ratings; the remote control;
            reality shows; the pilot episode; the cliffhanger
        did: ended the series on a cliffhanger; drew nine million viewers;
            read the news with hiccups; killed off the most popular character;
            signed up for a second season
    """,
    "music": """
        who: singer; composer; record producer; sound engineer
        what: the concert; the encore; a standing ovation; the concert hall; rehearsals
        did: played an encore nobody had asked for; cancelled the tour;
            left the score on a tram
    """,
    "classical-music": """
        who: conductor; cellist; concert pianist; second violin
        what: the string quartet; a forgotten symphony; the baton; the slow movement;
            the concerto; chamber music; the oboe section
        did: performed the symphony from memory; broke a string in the slow movement;
            discovered a lost concerto in a biscuit tin;
            tuned the orchestra to a passing tram; played a sonata on a mountain
    """,
    "pop-music": """
        who: pop star; drummer; bass guitarist; disc jockey
        what: the charts; a debut album; the chorus; the drum machine; the sold-out tour;
            guitar solos; the summer hit
        did: topped the charts with a song about soup; smashed a borrowed guitar;
            sold out the arena in nine minutes; dropped a surprise album at midnight;
            left the band over a tambourine
    """,
    "stage": """
        who: stage manager; actor; lighting designer
        what: the footlights; opening night; the curtain; the wings; the box office
        did: missed the cue; took nine curtain calls; opened to a full house
    """,
    "theatre": """
        who: playwright; understudy; leading actor; prop maker
        what: the matinee; a three-act farce; the soliloquy; the revival; the interval drinks;
            the villain's moustache; the ghost scene
        did: forgot the soliloquy and told a joke; played the prince at an hour's notice;
            wrote a farce about tax inspectors; stole the second act;
            revived a tragedy as a pantomime
    """,
    "dance": """
        who: choreographer; principal dancer; tap dancer; ballet master
        what: the pirouette; ballet shoes; the corps de ballet; a tango;
            the rehearsal mirror; a perfect leap; contemporary dance
        did: turned thirty-two times without stopping;
            created a ballet for forklift trucks; danced the tango with a broom;
            leapt into the wings and kept going; wore out four pairs of ballet shoes
    """,
    "opera": """
        who: soprano; tenor; opera director; prompter
        what: the aria; the libretto; the orchestra pit; a high C; the death scene;
            the royal box; the surtitles
        did: held the high C for eleven seconds; fell into the orchestra pit;
            died beautifully in the third act; sang the aria from a ladder;
            moved the tragedy to a supermarket
    """,
    "books": """
        who: author; publisher; librarian; literary agent
        what: the bestseller list; the first edition; the book fair; the blurb;
            a literary prize
        did: signed nine hundred copies; returned a library book after sixty years;
            won the prize and misplaced the cheque
    """,
    "novels": """
        who: novelist; crime writer; ghostwriter; debut author
        what: the opening chapter; an unreliable narrator; the plot twist; the trilogy;
            a country-house murder; the manuscript; the long-awaited sequel
        did: killed the detective in chapter one; finished the trilogy after thirty years;
            wrote a thriller without the letter e; left the manuscript on a bus;
            sold the film rights
    """,
    "poetry": """
        who: poet; poet laureate; sonneteer; spoken-word performer
        what: the sonnet; free verse; a rhyming couplet; the haiku; the anthology;
            mixed metaphors; the final stanza
        did: found a rhyme for orange at last; read a sonnet to the bus queue;
            published a haiku in three volumes; recited an ode to a radiator;
            judged four hundred limericks
    """,
    "museums": """
        who: curator; restorer; gallery attendant; archivist
        what: the east gallery; a stolen portrait; the marble statue; the permanent collection;
            the watercolours; the gift shop; a Roman mosaic
        did: hung the portrait upside down for a month; lent the mosaic to a rival museum;
            cleaned a landscape and found a cow; sent a statue back to its owners;
            drew queues around the block
    """,
    "video-games": """
        who: game designer; speedrunner; level artist; esports champion
        what: the final boss; a pixel-art adventure; the game console; downloadable levels;
            the joystick; multiplayer servers; the high score
        did: finished the game in four minutes; designed a game about queueing;
            beat the final boss with a dance mat; delayed the sequel again;
            crashed the multiplayer servers on launch night
    """,
}
