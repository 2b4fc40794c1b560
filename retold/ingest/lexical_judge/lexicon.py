"""Closed English word classes that the rules consult.

Every set holds its whole linguistic class as far as everyday English goes (all months, all kinship
terms, all personal pronouns), never single words met in some text.  Words are lower case and
unstemmed; contractions are already split, so ``can't`` is looked up as ``can`` and ``not``.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


PRINCIPAL: Final = _words("i me my mine myself we us our ours ourselves user")
"""First-person pronouns, beside the noun by which claims name the person remembered."""

WE: Final = _words("we us our ours ourselves")
COLLECTIVES: Final = _words(
    "team company group organisation organization family household crew",
)
"""Nouns by which a claim may name whoever a quote calls "we"."""
SECOND_PERSON: Final = _words("you your yours yourself yourselves")
THIRD_PERSON: Final = _words(
    "he him his himself she her hers herself they them their theirs themselves",
)
NEUTER: Final = _words("it its itself this that these those there here")
INDEFINITE: Final = _words(
    "someone somebody something anyone anybody anything everyone everybody everything one ones",
    "nobody nothing people person others",
)
ARTICLES: Final = _words("a an the")
POSSESSIVES: Final = _words("my our your his her its their user's")

BE: Final = _words("be am is are was were been being")
HAVE: Final = _words("have has had having")
DO: Final = _words("do does did doing done")
MODALS: Final = _words("will would shall should can could may might must ought")
AUXILIARIES: Final = BE | HAVE | DO | MODALS

PREPOSITIONS: Final = _words(
    "about above across after against along alongside amid among around as at before behind below",
    "beneath beside besides between beyond by despite down during except for from in inside into",
    "like near of off on onto opposite out outside over past per round since than through",
    "throughout till to toward towards under underneath until unto up upon via versus with within",
)
CONJUNCTIONS: Final = _words(
    "and or but nor so yet because although though while whereas if unless whether that which",
    "who whom whose when where why how what both either then than",
)
DEGREE_ADVERBS: Final = _words(
    "very really quite rather too just also even still already simply actually definitely",
    "absolutely totally basically literally currently now nowadays presently today please",
    "generally usually normally typically mainly mostly primarily particularly especially",
)
LIGHT_VERBS: Final = _words("get gets got gotten getting let lets make makes want wants")
QUANTIFIERS: Final = _words(
    "all every each any some few several many much more most less least enough plenty lot lots",
    "always often sometimes occasionally rarely seldom own other another such same",
    "once twice thrice",
)
INTERJECTIONS: Final = _words("oh ah well yes yeah yep ok okay hi hello hey thanks thank sorry")

FUNCTION_WORDS: Final = (
    PRINCIPAL
    | SECOND_PERSON
    | THIRD_PERSON
    | NEUTER
    | ARTICLES
    | AUXILIARIES
    | PREPOSITIONS
    | CONJUNCTIONS
    | DEGREE_ADVERBS
    | QUANTIFIERS
    | INTERJECTIONS
    | LIGHT_VERBS
) - _words("like past opposite")
"""Words that carry grammar, so that they never count as content.

``like`` is an attitude verb far more often than a preposition in claims about people.
"""

NEGATORS: Final = _words(
    "not no never none nobody nothing nowhere neither nor without hardly barely scarcely non",
    "refuse refuses refused refusing decline declines declined declining unable",
    "forbid forbids forbade forbidden forbidding prohibit prohibits prohibited ban bans banned",
    "disallow disallows disallowed lack lacks lacked lacking",
)

LIKING: Final = _words(
    "like likes liked liking love loves loved loving enjoy enjoys enjoyed enjoying",
    "prefer prefers preferred preferring preference preferences adore adores adored adoring",
    "favor favors favored favoring favour favours favoured favouring",
    "appreciate appreciates appreciated appreciating cherish cherishes cherished",
    "relish relishes relished admire admires admired fancy fancies fancied",
)
DISLIKING: Final = _words(
    "hate hates hated hating dislike dislikes disliked disliking loathe loathes loathed loathing",
    "detest detests detested detesting despise despises despised despising",
    "abhor abhors abhorred abhorring resent resents resented resenting",
    "avoid avoids avoided avoiding dread dreads dreaded dreading fear fears feared fearing",
)
ENDING: Final = _words(
    "stop stops stopped stopping quit quits quitted quitting cancel cancels cancelled canceled",
    "cancelling canceling cease ceases ceased ceasing abandon abandons abandoned abandoning",
    "discontinue discontinues discontinued resign resigns resigned resigning",
    "unsubscribe unsubscribes unsubscribed unsubscribing sell sells sold selling",
    "leave leaves left leaving drop drops dropped dropping end ends ended ending",
    "retire retires retired retiring",
)
"""Verbs that report the end of a state; phrases such as ``gave up`` fold to ``stop``."""

SWITCHING: Final = _words(
    "move moves moved moving switch switches switched switching change changes changed changing",
    "migrate migrates migrated migrating convert converts converted transfer transfers transferred",
    "relocate relocates relocated raise raises raised increase increases increased lower lowered",
    "reduce reduces reduced cut cuts shift shifts shifted postpone postponed reschedule",
    "rescheduled push pushed bring brought upgrade upgraded downgrade downgraded drop dropped",
    "go went",
)
"""Verbs of change: in "moved from X to Y" it is X that ended."""
STATE_VERBS: Final = _words(
    "work works live lives use uses own owns attend attends belong belongs hold holds run runs",
    "play plays do does drive drives study studies practise practises practice practices employed",
    "subscribed subscribes member still rent rents keep keeps serve serves job",
    "active current existing ongoing valid go goes going",
)
"""Verbs that report a lasting state, beside which only the object tells two states apart."""

HYPOTHETICAL: Final = _words(
    "might may maybe perhaps possibly probably could would wonder wonders wondering seem seems",
    "apparently consider considers considered considering wish wishes wishing supposedly",
    "presumably imagine imagines imagining suppose supposing pretend pretends pretending tempted",
    "doubt doubts doubted apply applies applied applying interview interviewed interviewing",
    "audition auditioned visit visits visited visiting",
)
HYPOTHETICAL_LEADS: Final = _words("if unless assuming suppose supposing whether")
PAST_MARKERS: Final = _words("formerly previously former ex erstwhile")

KIN_GROUPS: Final = tuple(
    _words(line)
    for line in (
        "mother mom mum mommy mummy mama ma",
        "father dad daddy papa pa",
        "parent parents folks",
        "sister sisters sis",
        "brother brothers bro",
        "sibling siblings",
        "wife",
        "husband",
        "spouse",
        "partner",
        "girlfriend",
        "boyfriend",
        "fiance fiancé",
        "fiancee fiancée",
        "son sons",
        "daughter daughters",
        "child children kid kids",
        "baby toddler",
        "twin twins",
        "grandmother grandma granny nana",
        "grandfather grandpa granddad",
        "grandparent grandparents",
        "grandson grandsons",
        "granddaughter granddaughters",
        "grandchild grandchildren",
        "aunt aunts auntie",
        "uncle uncles",
        "cousin cousins",
        "niece nieces",
        "nephew nephews",
        "stepmother stepmom stepmum",
        "stepfather stepdad",
        "stepsister",
        "stepbrother",
        "stepson",
        "stepdaughter",
        "godmother",
        "godfather",
        "godchild godson goddaughter",
        "inlaws",
        "ex",
        "friend friends buddy pal mate",
        "colleague colleagues coworker coworkers teammate teammates",
        "boss manager supervisor",
        "employee employees",
        "neighbour neighbor neighbours neighbors",
        "roommate roommates flatmate flatmates housemate housemates",
        "landlord landlady",
        "teacher teachers tutor",
        "doctor dentist therapist",
        "client clients customer customers",
        "classmate classmates",
        "assistant secretary",
        "accountant",
        "lawyer attorney solicitor",
        "trainer instructor",
        "hairdresser barber",
        "plumber electrician mechanic builder",
        "agent broker",
        "nanny babysitter",
        "intern trainee apprentice",
        "contractor freelancer consultant",
        "hire recruit newcomer",
        "student students pupil pupils",
        "professor lecturer",
        "mentor",
        "coach",
        "team",
        "company employer",
        "family",
        "dog dogs puppy",
        "cat cats kitten",
        "pet pets",
    )
)
"""Terms of kinship, acquaintance, household; words of one group name the same relation."""

KIN: Final = {word: min(group) for group in KIN_GROUPS for word in group}

_BROADER = {
    "parent": "mother father",
    "sibling": "sister brother",
    "spouse": "wife husband",
    "partner": "wife husband girlfriend boyfriend fiance fiancee spouse",
    "child": "son daughter baby twin",
    "grandparent": "grandmother grandfather",
    "grandchild": "grandson granddaughter",
    "pet": "dog cat",
}
BROADER_KIN: Final = {
    (KIN[word], KIN[broad]) for broad, line in _BROADER.items() for word in line.split()
}
"""Pairs of relations of which the second holds whenever the first does."""


def names_relation(word: str, relation: str) -> bool:
    """Tell whether a word names a relation of `KIN`, or a narrower one."""
    key = KIN.get(word)
    return key == relation or (key is not None and (key, relation) in BROADER_KIN)


def mention_relation(words: AbstractSet[str], relation: str) -> bool:
    """Tell whether some word names a relation, or "married to spouse" a wife or a husband."""
    if any(names_relation(word, relation) for word in words):
        return True
    married = "spouse" in words and "married" in words
    return married and (relation, KIN["spouse"]) in BROADER_KIN


MALE: Final = _words("man men boy boys male males guy guys gentleman gentlemen lad lads he him his")
FEMALE: Final = _words(
    "woman women girl girls female females lady ladies lass lasses she her hers",
)
PARTNERED: Final = _words("married husband wife spouse")
UNPARTNERED: Final = _words("single divorced unmarried widowed bachelor")

WEEKDAYS: Final = {
    form: number
    for number, line in enumerate(
        (
            "monday mondays mon",
            "tuesday tuesdays tue tues",
            "wednesday wednesdays wed",
            "thursday thursdays thu thur thurs",
            "friday fridays fri",
            "saturday saturdays sat",
            "sunday sundays sun",
        ),
        start=1,
    )
    for form in line.split()
}
MONTHS: Final = {
    form: number
    for number, line in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for form in line.split()
}
AMBIGUOUS_CALENDAR: Final = _words("may march mar sat sun wed mon jan dec")
"""Calendar words that double as other words: a capital letter or a day beside them decides."""

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_TEENS = "fifteen sixteen seventeen eighteen nineteen"
NUMBER_WORDS: Final = {word: n for n, word in enumerate((_ONES + " " + _TEENS).split())}
TENS: Final = {
    word: 10 * n
    for n, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
}
SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
GROUP_NUMBERS: Final = {"dozen": 12}
ORDINALS: Final = {
    word: n
    for n, word in enumerate(
        (
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
        ).split(),
        start=1,
    )
}
UNITS: Final = {
    form: line.split()[0]
    for line in (
        "eur euro euros €",
        "usd dollar dollars $ bucks",
        "gbp pound pounds £ quid",
        "jpy yen ¥",
        "% percent per-cent",
        "km kilometre kilometer kilometres kilometers",
        "mile miles",
        "metre meter metres meters",
        "cm centimetre centimeter centimetres centimeters",
        "kg kilo kilos kilogram kilograms",
        "g gram grams",
        "lb lbs",
        "second seconds sec secs",
        "minute minutes min mins",
        "hour hours hr hrs",
        "day days",
        "week weeks",
        "month months",
        "year years yrs",
        "gb gigabyte gigabytes",
        "mb megabyte megabytes",
        "tb terabyte terabytes",
        "ms millisecond milliseconds",
    )
    for form in line.split()
}

TIME_NOUNS: Final = _words(
    "morning mornings afternoon afternoons evening evenings night nights noon midday midnight",
    "day days week weeks weekend weekends weekday weekdays month months year years hour hours",
    "daily weekly monthly yearly annually tonight tomorrow yesterday",
)
"""Parts of the day and the calendar, which tell how often a state shows, not what it is."""

EVENT_VERBS: Final = _words(
    "scored ran weighed measured bought spent paid visited watched booked met walked slept",
    "finished completed logged tested drove cycled lifted swam hiked read cooked played earned",
    "won lost travelled traveled flew attended",
)
"""Past verbs of single occurrences: two such claims with other numbers are two events."""

REPEATABLE: Final = _words(
    "session sessions sprint sprints routine routines workout workouts reminder reminders",
    "episode episodes chapter chapters phase phases part parts version versions step steps",
    "test tests exam exams quiz race races game games match matches round rounds lesson lessons",
    "trip trips visit visits ticket tickets issue issues invoice invoices order orders",
)
"""Nouns of which one person has many, each with numbers or dates of its own."""

SCHEDULED: Final = _words(
    "deadline due birthday born start starts begin begins end ends expire expires wedding release",
    "launch anniversary move moves moved",
)
"""What happens once, so that another date for it is a contradiction."""

OPPOSITE_DIRECTIONS: Final = tuple(
    (left, right)
    for line in (
        "to from|to out|into out|in out|in off|at away|toward away|towards away",
        "onto off|on off|inside outside|in outside|near far|front behind|through around",
        "above below|over under|up down",
        "before after|since until",
        "with without|for against",
    )
    for left, right in (pair.split() for pair in line.split("|"))
)
DIRECTION_WORDS: Final = frozenset(word for pair in OPPOSITE_DIRECTIONS for word in pair)

SOME: Final = _words("some few several many most certain")
QUANTITY_CLASSES: Final = tuple(
    _words(line)
    for line in (
        "never none no nobody nothing",
        "occasionally sometimes several few some certain",
        "mostly usually often many most majority",
        "always both each every all",
        "only just solely exclusively",
    )
)

PERSON_VERBS: Final = _words(
    "lives live works work prefers prefer likes like loves love hates hate dislikes dislike",
    "enjoys enjoy wants want needs need has have owns own uses use speaks speak studies study",
    "plays play eats eat drinks drink knows know thinks think believes believe drives drive",
    "reads read writes write runs run teaches teach learns learn wears wear keeps keep",
    "takes take goes go is are was were avoids avoid moved works commutes commute resides reside",
    "plans plan hopes hope attends attend follows follow supports support collects collect",
    "smokes smoke sleeps sleep wakes wake travels travel cooks cook trains train manages manage",
    "suffers suffer celebrates celebrate identifies identify practises practices practice",
    "stopped quit started began finished completed bought sold adopted got does do can will",
    "had did used lived worked",
)
"""Verbs whose subject is a person, in the forms that follow a bare or named subject."""

ATTRIBUTE_NOUNS: Final = _words(
    "name nickname surname age birthday birthdate birthplace birth gender sex pronouns job",
    "occupation profession role title employer company workplace office home hometown residence",
    "city town village country state region address street phone number email mail language",
    "tongue nationality citizenship religion diet allergy allergies blood height weight size",
    "hobby hobbies pet pets sport food drink meal breakfast lunch dinner colour color music song",
    "band artist film movie book author series game team player season animal place brand car",
    "editor browser system timezone time zone date day deadline release launch meeting",
    "appointment flight trip wedding project budget salary income goal plan preference favourite",
    "favorite school university degree major subject status partner spouse account username",
    "id password pin key tool framework database stack server branch version style format tone",
    "theme mode order schedule answer answers response responses",
)
"""Common nouns that head a sentence without article in notes ("Name: Jo", "Deadline is 5 May")."""
