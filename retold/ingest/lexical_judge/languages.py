"""Closed word classes of the languages written with spaces, beside English.

A class is whole or absent: articles, pronouns, prepositions, auxiliaries, negators, kinship terms,
months, weekdays.  Words are lower case, elided forms without their apostrophe (``j``, ``l``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from retold.ingest.lexical_judge import lexicon

_MONTHS: Final = (
    "january february march april may june july august september october november december"
)
_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday"
_NUMBERS: Final = "two three four five six seven eight nine ten eleven twelve"


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _english(source: str, target: str) -> dict[str, str]:
    return dict(zip(source.split(), target.split(), strict=True))


_LONGEST_PRONOUN: Final = 4
_I: Final = frozenset("je j ich yo io eu ik я".split())


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """What support needs to know of one language; empty sets where a class has no words."""

    language: str
    principal: frozenset[str]
    others: frozenset[str]
    function: frozenset[str]
    negators: frozenset[str]
    kin: frozenset[str]
    liking: frozenset[str]
    disliking: frozenset[str]
    ending: frozenset[str]
    past: frozenset[str]
    hypothetical: frozenset[str]
    splitting: frozenset[str]
    possessives: frozenset[str]
    calendar: dict[str, str] = field(default_factory=dict)
    past_endings: tuple[str, ...] = ()
    joining: str = "and"
    either: str = "or"
    closed_class: frozenset[str] = field(init=False, repr=False)
    sure: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Gather the words by which a language is told, and those that no name is mistaken for."""
        known = self.function | self.principal | self.negators | self.others | self.past
        nouns = frozenset(word for word in self.principal if len(word) > _LONGEST_PRONOUN)
        object.__setattr__(self, "closed_class", known)
        object.__setattr__(self, "sure", (_I & known) | nouns)


ENGLISH: Final = Grammar(
    language="english",
    principal=lexicon.PRINCIPAL,
    others=_set("he she they his her their him them"),
    function=lexicon.FUNCTION_WORDS,
    negators=lexicon.NEGATORS,
    kin=frozenset(lexicon.KIN),
    liking=lexicon.LIKING,
    disliking=lexicon.DISLIKING,
    ending=lexicon.ENDING,
    past=lexicon.PAST_MARKERS,
    hypothetical=lexicon.HYPOTHETICAL,
    splitting=_set("but because so unless if or although though while whereas"),
    possessives=_set("my our the"),
)

FRENCH: Final = Grammar(
    language="french",
    joining="et",
    either="ou",
    past_endings=("ais", "ait", "aient"),
    principal=_set(
        "je j me m moi mon ma mes mien mienne nous notre nos utilisateur utilisatrice utilisateurs",
    ),
    others=_set("il elle ils elles lui leur leurs son sa ses"),
    function=_set(
        "le la les l un une des du de d au aux à en dans sur sous avec sans pour par chez vers "
        "entre depuis pendant avant après contre et ou mais donc or ni car que qu qui quoi dont "
        "où ce cet cette ces c ça cela tu te t toi ton ta tes vous votre vos on se s y est suis "
        "es sommes êtes sont être été était étais étions étiez étaient sera serai seront ai as a "
        "avons avez ont avoir eu avait avais avaient très plus moins bien aussi tout toute tous "
        "toutes même comme si quand faire fait fais"
    ),
    negators=_set("ne n pas jamais aucun aucune rien personne ni sans non"),
    kin=_set(
        "mère maman père papa parents sœur soeur sœurs soeurs frère frères mari femme époux épouse "
        "conjoint conjointe compagnon compagne copain copine fils fille filles enfant enfants bébé "
        "grand-mère grand-père oncle tante cousin cousine neveu nièce ami amie amis collègue "
        "collègues chef patron patronne voisin voisine colocataire chien chat équipe entreprise"
    ),
    liking=_set(
        "aime aimes aimons aimez aiment aimer adore adorer préfère préfères préférer apprécie"
    ),
    disliking=_set("déteste détester hais haïr évite éviter"),
    ending=_set("arrêté arrête quitté cessé vendu abandonné"),
    past=_set("autrefois auparavant jadis avant anciennement ancien ancienne"),
    hypothetical=_set(
        "peut-être si voudrais aimerais pourrais pourrait serais serait envisage espère"
    ),
    splitting=_set("mais car donc parce si ou puisque"),
    possessives=_set("mon ma mes notre nos"),
    calendar=_english(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        _MONTHS,
    )
    | _english("lundi mardi mercredi jeudi vendredi samedi dimanche", _DAYS)
    | _english("deux trois quatre cinq six sept huit neuf dix onze douze", _NUMBERS),
)

GERMAN: Final = Grammar(
    language="german",
    joining="und",
    either="oder",
    past_endings=("te", "ten", "test"),
    principal=_set(
        "ich mich mir mein meine meinen meinem meiner meines wir uns unser unsere unseren "
        "unserem unserer nutzer nutzerin nutzers benutzer benutzerin benutzers anwender "
        "anwenderin anwenders"
    ),
    others=_set("er sie ihn ihm ihr ihre ihren ihrem ihrer sein seine seinen seinem seiner"),
    function=_set(
        "der die das den dem des ein eine einen einem einer eines und oder aber denn sondern in "
        "im an am auf aus bei beim mit nach von vom zu zum zur für gegen ohne um durch über "
        "unter vor hinter neben zwischen seit bis während wegen es man du dich dir dein deine "
        "euch euer ihnen bin bist ist sind seid war warst waren wart sein gewesen habe hast hat "
        "haben habt hatte hatten gehabt werde wirst wird werden wurde wurden worden kann kannst "
        "können muss musst müssen soll sollen will wollen darf dürfen mag auch noch schon sehr "
        "nur so wie als wenn dass weil ob da dort hier jetzt dann immer bitte gern gerne lieber "
        "mehr was wer wo dieser diese dieses"
    ),
    negators=_set(
        "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder"
    ),
    kin=_set(
        "mutter mama vater papa eltern schwester schwestern bruder brüder mann frau ehemann "
        "ehefrau partner partnerin freund freundin freunde sohn tochter kind kinder baby oma opa "
        "großmutter großvater onkel tante cousin cousine neffe nichte kollege kollegin kollegen "
        "chef chefin nachbar nachbarin mitbewohner mitbewohnerin hund katze team firma"
    ),
    liking=_set("mag mögen liebe liebt lieben bevorzuge bevorzugt bevorzugen gern gerne lieber"),
    disliking=_set("hasse hasst hassen verabscheue verabscheut meide meidet vermeide vermeidet"),
    ending=_set("aufgehört gekündigt verkauft aufgegeben beendet verlassen"),
    past=_set("früher damals einst ehemals vormals ehemalige ehemaliger"),
    hypothetical=_set(
        "vielleicht möglicherweise falls wenn würde würden könnte könnten möchte hoffe"
    ),
    splitting=_set("aber weil sondern oder wenn falls denn"),
    possessives=_set("mein meine meiner meinem unser unsere"),
    calendar=_english(
        "januar februar märz april mai juni juli august september oktober november dezember",
        _MONTHS,
    )
    | _english("montag dienstag mittwoch donnerstag freitag samstag sonntag", _DAYS)
    | _english("montags dienstags mittwochs donnerstags freitags samstags sonntags", _DAYS)
    | _english("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf", _NUMBERS),
)

SPANISH: Final = Grammar(
    language="spanish",
    joining="y",
    either="o",
    past_endings=("aba", "abas", "aban", "ía", "ías", "ían", "é", "ó"),
    principal=_set(
        "yo me mi mis mí mío mía conmigo nosotros nosotras nos nuestro nuestra nuestros nuestras "
        "usuario usuaria usuarios"
    ),
    others=_set("él ella ellos ellas le les su sus"),
    function=_set(
        "el la los las lo un una unos unas de del a al en con sin por para sobre entre desde hasta "
        "hacia según y e o u pero sino que quien cual cuando donde como si porque tú te ti tu tus "
        "usted ustedes se soy eres es somos son era eras eran fue fui fueron ser sido estoy estás "
        "está estamos están estar estaba estado he has ha hemos han haber había hay tengo tienes "
        "tiene tenemos tienen tener tenía muy más menos también ya todo toda todos todas este esta "
        "estos estas ese esa eso esto"
    ),
    negators=_set("no nunca jamás nada nadie ningún ninguno ninguna tampoco ni sin"),
    kin=_set(
        "madre mamá padre papá padres hermana hermanas hermano hermanos esposa esposo marido "
        "mujer pareja novio novia hijo hija hijos hijas bebé abuela abuelo abuelos tío tía primo "
        "prima sobrino sobrina amigo amiga amigos compañero compañera colega jefe jefa vecino "
        "vecina perro perra gato gata equipo empresa"
    ),
    liking=_set(
        "gusta gustan encanta encantan amo ama aman prefiero prefiere prefieren adoro adora"
    ),
    disliking=_set("odio odia odian detesto detesta evito evita aborrezco"),
    ending=_set("dejé dejado vendí vendido abandoné cancelé renuncié"),
    past=_set("antes antiguamente anteriormente antiguo antigua ex vivía trabajaba solía"),
    hypothetical=_set("quizás quizá talvez ojalá podría gustaría quisiera sería si espero"),
    splitting=_set("pero porque si sino o"),
    possessives=_set("mi mis nuestro nuestra"),
    calendar=_english(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        _MONTHS,
    )
    | _english("lunes martes miércoles jueves viernes sábado domingo", _DAYS)
    | _english("dos tres cuatro cinco seis siete ocho nueve diez once doce", _NUMBERS),
)

ITALIAN: Final = Grammar(
    language="italian",
    joining="e",
    either="o",
    past_endings=("avo", "evo", "ivo", "ava", "eva", "iva"),
    principal=_set("io mi me mio mia miei mie noi ci nostro nostra nostri nostre utente utenti"),
    others=_set("lui lei loro egli ella suo sua suoi sue"),
    function=_set(
        "il lo la i gli le l un uno una di del dello della dei degli delle d a al allo alla ai "
        "agli alle da dal dalla in nel nella nei con su sul sulla per tra fra e ed o ma se che "
        "chi cui quando dove come perché tu ti te tuo tua voi vi vostro si sono sei è siamo "
        "siete era ero erano essere stato stata ho hai ha abbiamo avete hanno avere aveva molto "
        "più meno anche già tutto tutta tutti tutte questo questa quello quella"
    ),
    negators=_set("non mai niente nulla nessuno nessuna né senza no"),
    kin=_set(
        "madre mamma padre papà genitori sorella sorelle fratello fratelli moglie marito "
        "compagno compagna fidanzato fidanzata figlio figlia figli figlie bambino bambina nonna "
        "nonno zio zia cugino cugina nipote amico amica amici collega colleghi capo vicino "
        "vicina cane gatto squadra azienda"
    ),
    liking=_set("piace piacciono amo ama amano adoro adora preferisco preferisce preferiscono"),
    disliking=_set("odio odia odiano detesto detesta evito evita"),
    ending=_set("smesso lasciato venduto abbandonato"),
    past=_set("prima precedentemente ex vivevo abitavo lavoravo"),
    hypothetical=_set("forse magari potrei potrebbe vorrei sarei sarebbe se spero"),
    splitting=_set("ma perché se o"),
    possessives=_set("mio mia miei mie nostro nostra"),
    calendar=_english(
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
        "dicembre",
        _MONTHS,
    )
    | _english("lunedì martedì mercoledì giovedì venerdì sabato domenica", _DAYS)
    | _english("due tre quattro cinque sei sette otto nove dieci undici dodici", _NUMBERS),
)

PORTUGUESE: Final = Grammar(
    language="portuguese",
    joining="e",
    either="ou",
    past_endings=("ava", "avam", "ia", "iam", "ei", "ou"),
    principal=_set(
        "eu me mim meu minha meus minhas nós nosso nossa nossos nossas usuário usuária utilizador "
        "utilizadora"
    ),
    others=_set("ele ela eles elas lhe lhes seu sua seus suas"),
    function=_set(
        "o a os as um uma uns umas de do da dos das em no na nos nas ao aos à às por pelo pela "
        "para com sem sobre entre desde até e ou mas se que quem qual quando onde como porque tu "
        "te teu tua você vocês sou és é somos são era eram foi fui foram ser sido estou está "
        "estamos estão estar estava tenho tem temos têm ter tinha há muito mais menos também já "
        "todo toda todos todas este esta esse essa isso isto"
    ),
    negators=_set("não nunca jamais nada ninguém nenhum nenhuma nem sem"),
    kin=_set(
        "mãe pai pais irmã irmãs irmão irmãos esposa esposo marido mulher namorado namorada filho "
        "filha filhos filhas bebê avó avô tio tia primo prima sobrinho sobrinha amigo amiga amigos "
        "colega chefe vizinho vizinha cachorro cão gato gata equipe empresa"
    ),
    liking=_set("gosto gosta gostam amo ama amam adoro adora prefiro prefere preferem"),
    disliking=_set("odeio odeia detesto detesta evito evita"),
    ending=_set("parei parou deixei vendi vendeu larguei cancelei"),
    past=_set("antes antigamente anteriormente ex morava trabalhava costumava"),
    hypothetical=_set("talvez poderia gostaria queria seria se espero"),
    splitting=_set("mas porque se ou"),
    possessives=_set("meu minha nosso nossa"),
    calendar=_english(
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        _MONTHS,
    )
    | _english(
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo", _DAYS
    )
    | _english("dois três quatro cinco seis sete oito nove dez onze doze", _NUMBERS),
)

DUTCH: Final = Grammar(
    language="dutch",
    joining="en",
    either="of",
    past_endings=("te", "de", "ten", "den"),
    principal=_set("ik mij me mijn wij we ons onze gebruiker gebruikers"),
    others=_set("hij zij hem haar hun hen"),
    function=_set(
        "de het een en of maar want dus in op aan bij met naar van voor uit tot om over onder "
        "door tegen zonder tussen sinds dat die dit deze wie wat waar wanneer hoe als dan je jij "
        "jou jouw u uw jullie ze er bent is zijn was waren geweest heb hebt heeft hebben had "
        "hadden word wordt worden werd kan kunnen moet moeten zal zullen wil willen mag ook nog "
        "al heel zeer graag liever meer"
    ),
    negators=_set("niet geen nooit niets niemand zonder noch"),
    kin=_set(
        "moeder mama vader papa ouders zus zussen broer broers vrouw man echtgenoot echtgenote "
        "partner vriend vriendin vrienden zoon dochter kind kinderen baby oma opa oom tante neef "
        "nicht collega collega's baas buurman buurvrouw huisgenoot hond kat team bedrijf"
    ),
    liking=_set("hou houdt houden graag liever verkies verkiest"),
    disliking=_set("haat haten verafschuw verafschuwt vermijd vermijdt"),
    ending=_set("gestopt verkocht opgezegd verlaten"),
    past=_set("vroeger voorheen destijds woonde werkte"),
    hypothetical=_set("misschien mogelijk als zou zouden hoop"),
    splitting=_set("maar want omdat als of"),
    possessives=_set("mijn onze ons"),
    calendar=_english(
        "januari februari maart april mei juni juli augustus september oktober november december",
        _MONTHS,
    )
    | _english("maandag dinsdag woensdag donderdag vrijdag zaterdag zondag", _DAYS)
    | _english("twee drie vier vijf zes zeven acht negen tien elf twaalf", _NUMBERS),
)

RUSSIAN: Final = Grammar(
    language="russian",
    joining="и",
    either="или",
    past_endings=("л", "ла", "ли"),
    principal=_set(
        "я меня мне мной мой моя моё мои моего моей моему моих мы нас нам наш наша наше наши "
        "пользователь пользователя пользователю пользователем"
    ),
    others=_set("он она они его её их ему ей им"),
    function=_set(
        "и а но или в во на с со к ко по из за от до у о об для при про без над под между что "
        "чтобы как когда где кто это этот эта эти тот та те был была было были быть есть будет вы "
        "ты тебя тебе вас вам очень уже еще ещё тоже также же ли бы"
    ),
    negators=_set("не нет ни никогда ничего никто без"),
    kin=_set(
        "мать мама отец папа родители сестра сестры брат братья жена муж партнер подруга друг "
        "друзья сын дочь дети ребенок ребёнок бабушка дедушка тетя тётя дядя племянник племянница "
        "коллега коллеги начальник сосед соседка собака кошка команда компания"
    ),
    liking=_set("люблю любит любят нравится нравятся предпочитаю предпочитает обожаю обожает"),
    disliking=_set("ненавижу ненавидит избегаю избегает"),
    ending=_set("бросил бросила перестал перестала уволился уволилась продал продала"),
    past=_set("раньше прежде когда-то бывший бывшая"),
    hypothetical=_set("возможно может если хотел хотела бы наверное"),
    splitting=_set("но потому если или"),
    possessives=_set("мой моя моё мои наш наша"),
    calendar=_english(
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря", _MONTHS
    )
    | _english("понедельник вторник среда четверг пятница суббота воскресенье", _DAYS)
    | _english(
        "два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать", _NUMBERS
    ),
)

GRAMMARS: Final = (
    ENGLISH,
    FRENCH,
    GERMAN,
    SPANISH,
    ITALIAN,
    PORTUGUESE,
    DUTCH,
    RUSSIAN,
)


def hits(words: Sequence[str], grammar: Grammar) -> int:
    """Return how many words, in their written case, are closed-class words of a language.

    Capitalised words count beside others only: Mia, Ella, Dan are names more often than pronouns.
    """
    return _hits(words, [word.lower() for word in words], grammar)


def _hits(words: Sequence[str], lowered: Sequence[str], grammar: Grammar) -> int:
    known = [n for n, word in enumerate(lowered) if word in grammar.closed_class]
    if grammar is ENGLISH or not known:
        return len(known)
    plain = sum(words[n] in grammar.closed_class for n in known)
    capital = sum(not words[n].islower() for n in known)
    sure = plain or not grammar.sure.isdisjoint(lowered)
    return plain + capital if sure else 0


def guess(words: Sequence[str], hint: Grammar) -> tuple[Grammar, int]:
    """Return the language that most of the words are function words of, and how many are.

    The hint wins a tie: related languages share their short words.
    """
    lowered = [word.lower() for word in words]
    best, most = hint, -1
    if words and hint is not ENGLISH:  # a sentence of the language at hand starts with a capital
        words = [lowered[0], *words[1:]] if lowered[0] in hint.closed_class else words
    for grammar in GRAMMARS:
        found = _hits(words, lowered, grammar)
        if found > most or (found == most and grammar is hint and best is not hint):
            best, most = grammar, found
    return best, most
