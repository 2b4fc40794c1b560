"""Open-class English vocabulary as data: synonyms, opposites, irregular forms, fixed phrases."""

from __future__ import annotations

from typing import Final

SYNONYM_GROUPS: Final = (
    # people
    "man male guy",
    "woman female lady",
    "child kid",
    "mother mom mum",
    "father dad",
    "someone somebody",
    "doctor physician",
    "developer programmer coder",
    # things
    "automobile car",
    "bicycle bike",
    "motorbike motorcycle",
    "ship boat",
    "sofa couch",
    "film movie",
    "telephone phone",
    "stone rock",
    "image picture photo photograph",
    "profession occupation job",
    "answer reply response",
    # doing
    "commence start begin",
    "cease stop quit discontinue",
    "purchase buy",
    "close shut",
    "dwell reside live",
    "talk speak",
    "watch look",
    "slice cut",
    "leap jump",
    "battle fight",
    "organise organize",
    "lefthanded lefthander lefty",
    "righthanded righthander righty",
    "fluent fluently",
    # doing and doer
    "smoke smoker",
    "swim swimmer",
    "hike hiker",
    "ski skier",
    "cycle cyclist",
    "jog jogger",
    # being
    "large big",
    "quick fast rapid",
    "glad happy",
    "brief concise short succinct terse",
    "thorough detailed verbose",
    "favorite favourite",
    "color colour",
    # how, how often
    "quickly fast rapidly",
    "day daily",
    "week weekly",
    "month monthly",
    "year yearly annual annually",
    # having a condition
    "allergy allergic",
    "intolerance intolerant",
    "diabetes diabetic",
    "asthma asthmatic",
    "epilepsy epileptic",
    "dyslexia dyslexic",
    "arthritis arthritic",
    "pregnancy pregnant",
    "depression depressed",
    "anxiety anxious",
    "obesity obese",
)
"""Words that may replace one another in a short claim without changing it."""

_OPPOSITES: Final = {
    "size": "big small|tall short|wide narrow|thick thin|deep shallow|heavy light|high low",
    "touch": "hot cold|hot iced|warm cool|warm cold|wet dry|soft hard|smooth rough",
    "sight": "dark light|bright dim|visible hidden",
    "hearing": "loud quiet|noisy quiet|noisy silent",
    "taste": "sweet sour|sweet savoury|sweet savory|sweet salty|spicy mild",
    "effort": "fast slow|easy hard|easy difficult|simple complex|simple complicated",
    "time": "early late|morning evening|morning night|day night|summer winter|old new|young old"
    "|first last|temporary permanent",
    "quantity": "more less|most least|full empty|maximum minimum|increase decrease|rise fall"
    "|odd even|singular plural",
    "worth": "cheap expensive|rich poor|strong weak|safe dangerous|healthy sick|healthy ill"
    "|clean dirty|true false|positive negative|possible impossible",
    "character": "happy sad|optimistic pessimistic|introvert extrovert|introverted extroverted"
    "|shy outgoing|polite rude|lenient strict|patient impatient|beginner expert|junior senior"
    "|lefthanded righthanded|vegetarian carnivore|smoker nonsmoker",
    "state": "open closed|awake asleep|alive dead|active inactive|online offline"
    "|employed unemployed|alone together|married single|own rent|own lease"
    "|free busy|available busy|available unavailable",
    "deed": "buy sell|lend borrow|push pull|win lose|gain lose|accept reject|approve reject"
    "|allow forbid|pass fail|arrive depart|start stop|enable disable|import export"
    "|improve worsen",
    "style": "formal informal|formal casual|concise detailed|concise long|terse verbose"
    "|uppercase lowercase|ascending descending|metric imperial|optional required",
    "work": "remote onsite|remote office|fulltime parttime|manual automatic|digital analog"
    "|digital analogue|synchronous asynchronous|sync async|public private|internal external",
    "place": "left right|inside outside|indoor outdoor|indoors outdoors|near far|upper lower"
    "|up down|urban rural|domestic foreign|window aisle|horizontal vertical",
}
ANTONYMS: Final = tuple(pair.split() for line in _OPPOSITES.values() for pair in line.split("|"))
"""Pairs of opposite words, gathered by what they describe."""

IRREGULAR: Final = {
    form: base
    for line in (
        "become became|begin began begun|bite bit bitten|blow blew blown|break broke broken",
        "bring brought|build built|buy bought|catch caught|choose chose chosen|come came",
        "deal dealt|dig dug|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten",
        "fall fell fallen|feed fed|feel felt|fight fought|find found|fly flew flown",
        "forget forgot forgotten|freeze froze frozen|give gave given|go went gone goes",
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
    "told thought threw understood woke wore won wrote bore made got was were did had quit".split()
)

PHRASES: Final = {
    tuple(source.split()): tuple(target.split())
    for source, target in (
        ("takes place", "is held"),
        ("take place", "be held"),
        ("taking place", "held"),
        ("took place", "was held"),
        ("likes to be called", "is called"),
        ("likes being called", "is called"),
        ("hates being called", "is not called"),
        ("dislikes being called", "is not called"),
        ("hate being called", "am not called"),
        ("dislike being called", "am not called"),
        ("hates to be called", "is not called"),
        ("wants to be addressed as", "is called"),
        ("am able to", "can"),
        ("is able to", "can"),
        ("are able to", "can"),
        ("am not able to", "can not"),
        ("is not able to", "can not"),
        ("are not able to", "can not"),
        ("know how to", "can"),
        ("knows how to", "can"),
        ("wake up", "wake"),
        ("wakes up", "wakes"),
        ("woke up", "woke"),
        ("get up", "wake"),
        ("gets up", "wakes"),
        ("got up", "woke"),
        ("getting up", "waking"),
        ("waking up", "waking"),
        ("sleeps until", "wakes at"),
        ("sleep until", "wake at"),
        ("sleeps in until", "wakes at"),
        ("employed by", "works for"),
        ("employed at", "works for"),
        ("works at", "works for"),
        ("fluent in", "speaks fluent"),
        ("follows a vegetarian diet", "is vegetarian"),
        ("follow a vegetarian diet", "am vegetarian"),
        ("follows a vegan diet", "is vegan"),
        ("follow a vegan diet", "am vegan"),
        ("an only child", "no siblings"),
        ("do not like", "dislike"),
        ("does not like", "dislikes"),
        ("do not enjoy", "dislike"),
        ("does not enjoy", "dislikes"),
        ("am unable to", "can not"),
        ("is unable to", "can not"),
        ("are unable to", "can not"),
        ("never learned to", "can not"),
        ("never learnt to", "can not"),
        ("a word of", ""),
        ("a single word of", ""),
        ("suffers from", "has"),
        ("suffer from", "have"),
        ("likes to", "likes"),
        ("like to", "like"),
        ("loves to", "loves"),
        ("love to", "love"),
        ("hates to", "hates"),
        ("hate to", "hate"),
        ("can not get enough of", "love"),
        ("can not live without", "love"),
        ("could not live without", "love"),
        ("not get enough of", "love"),
        ("never get enough of", "love"),
        ("know me as", "call me"),
        ("knows me as", "calls me"),
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
        ("a big fan of", "love"),
        ("a fan of", "like"),
        ("a huge fan of", "love"),
        ("fond of", "like"),
        ("keen on", "like"),
        ("crazy about", "love"),
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
        ("afraid of", "fear"),
        ("scared of", "fear"),
        ("terrified of", "fear"),
        ("frightened of", "fear"),
        ("tired of", "dislike"),
        ("sick of", "dislike"),
        ("fed up with", "dislike"),
        ("bored of", "dislike"),
        ("bored with", "dislike"),
        ("passionate about", "love"),
        ("obsessed with", "love"),
        ("in favour of", "like"),
        ("in favor of", "like"),
        ("steer clear of", "avoid"),
        ("stay away from", "avoid"),
        ("end up", ""),
        ("ends up", ""),
        ("ended up", ""),
        ("have yet to", "not"),
        ("has yet to", "not"),
        ("would say", "say"),
        ("not mind", "accept"),
        ("gave up", "stopped"),
        ("give up", "stop"),
        ("gives up", "stop"),
        ("given up", "stopped"),
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
        ("left hander", "lefthanded"),
        ("right hander", "righthanded"),
        ("right handed", "righthanded"),
        ("time zone", "timezone"),
        ("make up", "makeup"),
        ("in laws", "inlaws"),
        ("in law", ""),
        ("supposed to", "suppose"),
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
PHRASE_STARTS: Final = {
    start: frozenset(source[1] if source[1:] else "" for source in PHRASES if source[0] == start)
    for start in {source[0] for source in PHRASES}
}
"""The second words of the expressions by their first word, "" for one that has no other."""
LONGEST_PHRASE: Final = max(len(source) for source in PHRASES)
