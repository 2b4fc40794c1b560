"""A thousand records of one household and workshop, with questions labelled by hand.

Each of the fifty answered questions names the record that answers it; nothing in the store bears
on the fifty unanswered ones. The rest of the store is a ledger of orders and deliveries.
"""

from __future__ import annotations

from itertools import islice, product

ANSWERED = (
    ("Mara restores antique clocks for a living.", "What does Mara do for work?"),
    ("Mara is allergic to walnuts.", "Which nuts must Mara avoid?"),
    (
        "The workshop alarm code is changed on the first of every month.",
        "When is the alarm code changed?",
    ),
    ("Mara's husband Theo bakes bread every Sunday.", "On which day does Theo bake?"),
    ("The spare key hangs behind the grandfather clock.", "Where is the spare key?"),
    ("Mara prefers invoices as PDF files, never on paper.", "How does Mara want her invoices?"),
    (
        "The insurance policy for the workshop ends on 30 November.",
        "When does the workshop insurance run out?",
    ),
    ("Mara drinks her tea with oat milk.", "What milk goes into Mara's tea?"),
    ("The lathe must be oiled after every ten hours of use.", "How often does the lathe need oil?"),
    ("Mara's daughter Ines studies marine biology in Bergen.", "What is Ines studying?"),
    ("The cat is called Pendulum.", "What is the name of the cat?"),
    (
        "Mara cannot take appointments on Wednesday afternoons.",
        "When is Mara unavailable for appointments?",
    ),
    ("The best supplier for brass gears is Hollins in Sheffield.", "Who supplies the brass gears?"),
    ("Theo is learning to play the accordion.", "Which instrument is Theo learning?"),
    ("Mara wants all measurements in millimetres.", "Which unit of measurement does Mara want?"),
    ("The van needs a new battery before winter.", "What does the van need?"),
    ("Mara's phone number for customers ends in 4417.", "What is the customers' phone number?"),
    (
        "Parcels are collected by the courier at four o'clock.",
        "At what time does the courier collect parcels?",
    ),
    ("Mara gave up smoking in 2016.", "When did Mara stop smoking?"),
    ("The workshop is heated with a wood stove.", "How is the workshop heated?"),
    ("Ines is coming home for the midsummer holiday.", "When is Ines coming home?"),
    ("Mara reads crime novels before going to sleep.", "What kind of books does Mara read?"),
    ("The tax adviser is Ms Okafor.", "Who is the tax adviser?"),
    ("Mara speaks German and Portuguese.", "Which languages does Mara speak?"),
    ("Theo has high blood pressure and avoids salt.", "Why does Theo avoid salt?"),
    (
        "The mainspring of the Lindqvist clock broke in transit.",
        "What happened to the Lindqvist clock?",
    ),
    (
        "Customers have to pay half of the price in advance.",
        "How much do customers pay in advance?",
    ),
    ("Mara's apprentice Jonah starts at seven in the morning.", "When does Jonah start work?"),
    ("The garden shed was painted green last spring.", "What colour is the garden shed?"),
    ("Mara refuses to repair digital watches.", "What does Mara refuse to repair?"),
    (
        "The bank account for the business is with Norden Bank.",
        "At which bank is the business account?",
    ),
    ("Theo works three days a week at the town library.", "Where does Theo work?"),
    (
        "The museum contract is worth eighteen thousand euros.",
        "How much is the museum contract worth?",
    ),
    (
        "Mara goes swimming in the lake every morning in summer.",
        "What sport does Mara do in summer?",
    ),
    ("Jonah is afraid of dogs.", "What is Jonah afraid of?"),
    ("The dentist appointment for Mara is on 9 May.", "When is Mara's dentist appointment?"),
    ("The workshop closes for two weeks in August.", "When is the workshop closed?"),
    ("Mara's mother lives in a nursing home in Uppsala.", "Where does Mara's mother live?"),
    (
        "Glass domes are wrapped in two layers of felt before shipping.",
        "How are glass domes packed?",
    ),
    ("Theo and Mara married in 2003.", "In which year did Theo and Mara marry?"),
    ("The new website is built by a freelancer called Petra.", "Who is building the website?"),
    ("Mara keeps the old repair books in the attic.", "Where are the old repair books kept?"),
    ("Jonah's final examination is in October.", "When is Jonah's examination?"),
    ("The doorbell of the workshop does not work.", "Which thing at the workshop door is broken?"),
    ("Mara signs her letters with M. Lindholm.", "How does Mara sign her letters?"),
    ("Ines has two pet rabbits.", "What pets does Ines have?"),
    (
        "The wood for clock cases is stored in the cellar.",
        "Where is the wood for the cases stored?",
    ),
    ("Mara dislikes being called in the evening.", "When should one not call Mara?"),
    ("The annual clock fair takes place in Basel.", "Where is the clock fair held?"),
    ("Theo's favourite dish is mushroom risotto.", "What is Theo's favourite food?"),
)

UNANSWERED = (
    "How do volcanoes form?",
    "Translate this sentence into Latin.",
    "What is the boiling point of ethanol?",
    "Explain the rules of cricket.",
    "Who wrote the Odyssey?",
    "Sort a list of integers in Haskell.",
    "What is the capital of Mongolia?",
    "Why is the sky blue?",
    "Give me a proof that the square root of two is irrational.",
    "How many moons does Jupiter have?",
    "What causes inflation in an economy?",
    "Summarise the plot of Hamlet.",
    "How does photosynthesis work?",
    "What is a black hole?",
    "Write a regular expression for postal codes.",
    "Which team won the football world cup in 1998?",
    "How do vaccines train the immune system?",
    "What is the difference between TCP and UDP?",
    "Describe the French Revolution in three sentences.",
    "How tall is Mount Kilimanjaro?",
    "What is a monad in functional programming?",
    "Who painted the ceiling of the Sistine Chapel?",
    "How is cheese aged?",
    "What does the enzyme amylase do?",
    "Explain quantum entanglement to a child.",
    "What are the symptoms of malaria?",
    "How does a jet engine produce thrust?",
    "Which elements are noble gases?",
    "What is the GDP of Brazil?",
    "How do I undo the last commit in git?",
    "Why do whales sing?",
    "What is the tallest building in Dubai?",
    "Define the word sesquipedalian.",
    "How do earthquakes cause tsunamis?",
    "What is the chemical formula of glucose?",
    "Who was the first person on the moon?",
    "How does a neural network learn?",
    "What is the longest river in Africa?",
    "Explain the offside rule.",
    "When did the Roman Empire fall?",
    "How do I centre a div with CSS?",
    "What is the Pythagorean theorem?",
    "Why do leaves change colour in autumn?",
    "Which planets have rings?",
    "What is the population of Iceland?",
    "How does blockchain consensus work?",
    "What is a haiku?",
    "Who discovered penicillin?",
    "How do bats navigate in the dark?",
    "What are tectonic plates?",
)

_CUSTOMERS = (
    "Abbott Berg Castell Dahl Egede Farkas Grieg Hansen Ibsen Jensen Kruse Larsen Moser "
    "Nilsson Olsen Pauli Quist Rohde Strand Toller"
).split()
_PIECES = (
    "carriage clock",
    "cuckoo clock",
    "longcase clock",
    "mantel clock",
    "ship's chronometer",
    "skeleton clock",
    "station clock",
    "wall regulator",
)
_EVENTS = (
    "was brought in by the {customer} family with a cracked dial",
    "went back to the {customer} family after a new suspension spring",
    "is waiting for a payment from the {customer} family",
    "was photographed for the {customer} family before cleaning",
    "needs a replacement hand that the {customer} family ordered",
    "was delivered to the {customer} family in a crate",
)


def filler(count: int) -> list[str]:
    """Return that many different ledger entries, always the same ones."""
    entries = product(_EVENTS, _PIECES, _CUSTOMERS)
    return [
        f"The {piece} {event.format(customer=customer)}."
        for event, piece, customer in islice(entries, count)
    ]
