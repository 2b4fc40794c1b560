"""Open-class English vocabulary as data: synonyms, opposites, irregular forms, fixed phrases."""

from __future__ import annotations

from typing import Final

SYNONYM_GROUPS: Final = (
    "concise brief short succinct terse",
    "detailed verbose thorough",
    "reply response answer",
    "car automobile",
    "kid child",
    "begin start commence",
    "buy purchase",
    "photo picture photograph image",
    "bike bicycle",
    "movie film",
    "phone telephone",
    "email mail",
    "quick fast rapid",
    "quickly fast rapidly",
    "big large",
    "couch sofa",
    "happy glad",
    "shut close",
    "programmer developer coder",
    "favourite favorite",
    "colour color",
    "mother mom mum",
    "father dad",
    "physician doctor",
    "boat ship",
    "rock stone",
    "speak talk",
    "jump leap",
    "cut slice",
    "fight battle",
    "look watch",
    "weekly week",
    "daily day",
    "monthly month",
    "yearly year annually annual",
    "organise organize",
    "live reside dwell",
    "job profession occupation",
    "call name",
    "motorcycle motorbike",
    "someone somebody",
    "lady woman",
    "guy man",
    "male man",
    "female woman",
    "peanut groundnut",
    "allergic allergy",
    "diabetic diabetes",
    "asthmatic asthma",
    "epileptic epilepsy",
    "intolerant intolerance",
    "dyslexic dyslexia",
    "arthritic arthritis",
    "pregnant pregnancy",
    "depressed depression",
    "anxious anxiety",
    "obese obesity",
)
"""Words that may replace one another in a short claim without changing it."""

ANTONYMS: Final = tuple(
    pair.split()
    for line in (
        "concise detailed|concise long|dark light|metric imperial|remote office|remote site",
        "morning night|morning evening|early late|hot cold|warm cold|warm cool|big small",
        "tall short|high low|fast slow|public private|buy sell|start stop",
        "enable disable|more less|most least",
        "formal informal|formal casual|left right|always never|cheap expensive|open closed",
        "inside outside|indoors outdoors|indoor outdoor|empty full|old new|young old|awake asleep",
        "dry wet|clean dirty|rich poor|easy hard|easy difficult|simple complex|loud quiet",
        "noisy quiet|happy sad|true false|alive dead|accept reject|approve reject",
        "increase decrease|rise fall|up down|win lose|arrive depart|import export",
        "vegetarian carnivore|introvert extrovert|introverted extroverted|fulltime parttime",
        "alone together|employed unemployed|pass fail|allow forbid|safe dangerous|strong weak",
        "soft hard|thick thin|wide narrow|near far|push pull|sweet savoury|sweet savory|sweet sour",
        "lefthanded righthanded|optimistic pessimistic|active inactive|onsite remote",
        "window aisle|upper lower|synchronous asynchronous|sync async|online offline",
        "beginner expert|junior senior|improve worsen|gain lose|summer winter|day night",
        "first last|light heavy|smoker nonsmoker|single married",
        "hot iced|salty sweet|spicy mild|urban rural|domestic foreign|lend borrow|odd even",
        "visible hidden|automatic manual|digital analog|digital analogue|temporary permanent",
        "optional required|possible impossible|healthy sick|healthy ill|plural singular",
        "lowercase uppercase|ascending descending|horizontal vertical|internal external",
        "minimum maximum|positive negative|lenient strict|polite rude|verbose terse",
    )
    for pair in line.split("|")
)

IRREGULAR: Final = {
    form: base
    for line in (
        "become became|begin began begun|bite bit bitten|blow blew blown|break broke broken",
        "bring brought|build built|buy bought|catch caught|choose chose chosen|come came",
        "deal dealt|dig dug|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten",
        "fall fell fallen|feed fed|feel felt|fight fought|find found|fly flew flown",
        "forget forgot forgotten|freeze froze frozen|give gave given|go went gone",
        "grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept",
        "know knew known|lead led|leave left|lend lent|lose lost|mean meant|meet met",
        "pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen",
        "sell sold|send sent|shake shook shaken|shine shone|shoot shot|sing sang sung",
        "sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood",
        "steal stole stolen|stick stuck|strike struck|swear swore sworn|sweep swept",
        "swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told",
        "think thought|throw threw thrown|understand understood|wake woke woken",
        "wear wore worn|win won|write wrote written|child children|person people|man men",
        "woman women|foot feet|tooth teeth|mouse mice|goose geese|lie lying|die dying|tie tying",
        "knife knives|wife wives|life lives|leaf leaves|half halves|wolf wolves|shelf shelves",
        "bear bore born|have has had|make made|get got gotten|do did done",
    )
    for group in line.split("|")
    for base, *forms in [group.split()]
    for form in forms
    if form not in {"lives", "leaves"}
}
"""Irregular past forms, participles, plurals, mapped to their base.

Forms that are also the regular form of a more frequent verb (``lives``, ``leaves``) stay out.
"""

IRREGULAR_PAST: Final = frozenset(
    "became began bit blew broke brought built bought caught chose came dealt dug drew drank drove "
    "ate fell fed felt fought found flew forgot froze gave went grew hung heard hid held kept knew "
    "led left lent lost meant met paid rode rang rose ran said saw sold sent shook shone shot sang "
    "sank sat slept spoke spent stood stole stuck struck swore swept swam swung took taught tore "
    "told thought threw understood woke wore won wrote bore made got was were did had".split()
)

PHRASES: Final = {
    tuple(source.split()): tuple(target.split())
    for source, target in (
        ("can not stand", "hate"),
        ("can not bear", "hate"),
        ("can not wait", "want"),
        ("can not help but", ""),
        ("could not care less about", "dislike"),
        ("not only", "also"),
        ("no longer", "not"),
        ("not any more", "not"),
        ("not anymore", "not"),
        ("anymore", ""),
        ("any more", ""),
        ("any longer", ""),
        ("not a fan of", "dislike"),
        ("not a big fan of", "dislike"),
        ("no fan of", "dislike"),
        ("not into", "dislike"),
        ("not fond of", "dislike"),
        ("not keen on", "dislike"),
        ("a big fan of", "like"),
        ("a fan of", "like"),
        ("a huge fan of", "like"),
        ("fond of", "like"),
        ("keen on", "like"),
        ("crazy about", "like"),
        ("would rather", "prefer"),
        ("would prefer", "prefer"),
        ("would like", "want"),
        ("let is say", "suppose"),
        ("what if", "if"),
        ("as if", "if"),
        ("everything but", "everything except"),
        ("anything but", "everything except"),
        ("all but", "all except"),
        ("apart from", "except"),
        ("other than", "except"),
        ("want to be called", "am called"),
        ("wants to be called", "is called"),
        ("like to be called", "am called"),
        ("prefer to be called", "am called"),
        ("prefers to be called", "is called"),
        ("prefer being called", "am called"),
        ("prefers being called", "is called"),
        ("works as", "is"),
        ("work as", "am"),
        ("working as", ""),
        ("worked as", "was"),
        ("employed as", ""),
        ("in favour of", "like"),
        ("in favor of", "like"),
        ("steer clear of", "avoid"),
        ("stay away from", "avoid"),
        ("gave up", "stop"),
        ("give up", "stop"),
        ("gives up", "stop"),
        ("given up", "stop"),
        ("giving up", "stop"),
        ("got rid of", "stop"),
        ("get rid of", "stop"),
        ("instead of", "over"),
        ("rather than", "over"),
        ("as opposed to", "over"),
        ("a couple of", "2"),
        ("a pair of", "2"),
        ("half a dozen", "6"),
        ("no one", "nobody"),
        ("goes by", "is called"),
        ("go by", "am called"),
        ("mother tongue", "native language"),
        ("first language", "native language"),
        ("part time", "parttime"),
        ("full time", "fulltime"),
        ("on site", "onsite"),
        ("left handed", "lefthanded"),
        ("right handed", "righthanded"),
        ("time zone", "timezone"),
        ("make up", "makeup"),
        ("co worker", "coworker"),
        ("co workers", "coworkers"),
        ("of course", ""),
        ("at the moment", "now"),
        ("these days", "now"),
        ("right now", "now"),
        ("as well", "also"),
        ("a lot of", "many"),
        ("lots of", "many"),
        ("a lot", ""),
    )
}
"""Fixed expressions by the words that replace them, matched longest first on lower-case words."""
PHRASE_STARTS: Final = frozenset(source[0] for source in PHRASES)
LONGEST_PHRASE: Final = max(len(source) for source in PHRASES)
