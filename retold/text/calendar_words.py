"""How a handful of languages write months, weekdays and days near today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_MONTH_NAMES: Final = (
    "january jan enero janvier januar jänner janeiro gennaio januari январь января январе",
    "february feb febrero février februar fevereiro febbraio februari февраль февраля феврале",
    "march mar marzo mars märz março maart март марта марте",
    "april apr abril avril aprile апрель апреля апреле",
    "may mayo mai maio maggio mei май мая мае",
    "june jun junio juin juni junho giugno июнь июня июне",
    "july jul julio juillet juli julho luglio июль июля июле",
    "august aug agosto août augustus август августа августе",
    "september sept sep septiembre septembre setembro settembre сентябрь сентября сентябре",
    "october oct octubre octobre oktober outubro ottobre октябрь октября октябре",
    "november nov noviembre novembre novembro ноябрь ноября ноябре",
    "december dec diciembre décembre dezember dezembro dicembre декабрь декабря декабре",
)
MONTHS: Final[Mapping[str, int]] = {
    name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()
}
"""Number of a month by its lower-case name."""

AMBIGUOUS_MONTHS: Final = frozenset("may march mar mars mai jan dec sep".split())
"""Names that are other words too: months only with a capital, or beside a day or a year."""

_WEEKDAY_NAMES: Final = (
    "monday lunes lundi montag lunedì segunda-feira maandag понедельник"
    " 周一 週一 星期一 礼拜一 月曜 월요일 วันจันทร์",
    "tuesday martes mardi dienstag martedì terça-feira dinsdag вторник"
    " 周二 週二 星期二 礼拜二 火曜 화요일 วันอังคาร",
    "wednesday miércoles mercredi mittwoch mercoledì quarta-feira woensdag среду"
    " 周三 週三 星期三 礼拜三 水曜 수요일 วันพุธ",
    "thursday jueves jeudi donnerstag giovedì quinta-feira donderdag четверг"
    " 周四 週四 星期四 礼拜四 木曜 목요일 วันพฤหัสบดี",
    "friday viernes vendredi freitag venerdì sexta-feira vrijdag пятница пятницу"
    " 周五 週五 星期五 礼拜五 金曜 금요일 วันศุกร์",
    "saturday sábado samedi samstag sonnabend sabato zaterdag суббота субботу"
    " 周六 週六 星期六 礼拜六 土曜 토요일 วันเสาร์",
    "sunday domingo dimanche sonntag domenica zondag воскресенье"
    " 周日 週日 星期日 星期天 礼拜天 日曜 일요일 วันอาทิตย์",
)
WEEKDAYS: Final[Mapping[str, int]] = {
    name: number for number, names in enumerate(_WEEKDAY_NAMES) for name in names.split()
}
"""Number of a weekday, Monday 0, by its lower-case name."""

_DAYS_NEAR: Final = {
    -2: "前天, 一昨日, おととい, 그저께, anteayer, avant-hier, vorgestern, anteontem"
    ", eergisteren, позавчера",
    -1: "yesterday, last night, ayer, gestern, ontem, ieri, 昨天, 昨日, 昨晚, きのう, 어제, เมื่อวาน"
    ", gisteren, вчера",
    0: "today, tonight, this morning, this afternoon, this evening, hoy, aujourd'hui, heute, hoje"
    ", oggi, 今天, 今日, 今晚, きょう, 오늘, วันนี้, vandaag, сегодня",
    1: "tomorrow, mañana, demain, morgen, amanhã, domani, 明天, 明日, あした, 내일, พรุ่งนี้, завтра",
    2: "後天, 后天, 明後日, あさって, 모레, après-demain, übermorgen, overmorgen, послезавтра",
}
DAYS_NEAR: Final[Mapping[str, int]] = {
    name: offset for offset, names in _DAYS_NEAR.items() for name in names.split(", ")
}
"""Days between now and the day that a lower-case word names. French "hier" is German for "here"."""

_PERIODS: Final[Mapping[tuple[str, int], str]] = {
    ("week", 1): "下周, 下週, 下个星期, 下個星期, 下星期, 来週, 다음 주, 다음주, สัปดาห์หน้า"
    ", nächste woche, nächster woche, semaine prochaine, próxima semana, proxima semana"
    ", semana que viene, settimana prossima, volgende week, следующей неделе",
    ("week", 0): "这周, 这个星期, 這週, 本周, 本週, 今週, 이번 주, 이번주, สัปดาห์นี้, diese woche"
    ", dieser woche, cette semaine, esta semana, questa settimana, deze week, этой неделе",
    ("week", -1): "上周, 上週, 上个星期, 上個星期, 上星期, 先週, 지난 주, 지난주, สัปดาห์ที่แล้ว"
    ", letzte woche, letzter woche, semaine dernière, semana pasada, semana passada"
    ", settimana scorsa, vorige week, прошлой неделе",
    ("month", 1): "下个月, 下個月, 下月, 来月, 다음 달, 다음달, เดือนหน้า, nächsten monat"
    ", mois prochain, próximo mes, próximo mês, mes que viene, mese prossimo, volgende maand"
    ", следующем месяце",
    ("month", 0): "这个月, 這個月, 本月, 今月, 이번 달, 이번달, เดือนนี้, diesen monat, ce mois"
    ", este mes, este mês, questo mese, deze maand, этом месяце",
    ("month", -1): "上个月, 上個月, 上月, 先月, 지난 달, 지난달, เดือนที่แล้ว, letzten monat"
    ", mois dernier, mes pasado, mês passado, mese scorso, vorige maand, прошлом месяце",
    ("year", 1): "明年, 来年, 내년, ปีหน้า, nächstes jahr, année prochaine, an prochain"
    ", próximo año, año que viene, ano que vem, próximo ano, anno prossimo, volgend jaar"
    ", следующем году",
    ("year", 0): "今年, 올해, ปีนี้, dieses jahr, cette année, este año, este ano, quest'anno"
    ", dit jaar, этом году",
    ("year", -1): "去年, 昨年, 작년, ปีที่แล้ว, letztes jahr, année dernière, an dernier"
    ", año pasado, ano passado, anno scorso, vorig jaar, прошлом году",
}
PERIODS: Final[Mapping[str, tuple[str, int]]] = {
    phrase: period for period, phrases in _PERIODS.items() for phrase in phrases.split(", ")
}
"""A unit and how many of it away, by the lower-case phrase of a language other than English."""

UNIT_DAYS: Final[Mapping[str, int]] = {
    "day": 1,
    "week": 7,
    "fortnight": 14,
    "month": 31,
    "quarter": 92,
    "year": 366,
}
"""Days of a unit, at most."""

_COUNTS: Final = {
    1: "a an one ein eine einem einer un une uno una um uma een één один одну 一",
    2: "two couple zwei deux dos dois duas due twee два две 二 两 兩",
    3: "three drei trois tres três tre drie три 三",
    4: "four vier quatre cuatro quatro quattro четыре 四",
    5: "five few fünf cinq cinco cinque vijf пять 五",
    6: "six sechs seis sei zes шесть 六",
    7: "seven sieben sept siete sete sette zeven семь 七",
    8: "eight acht huit ocho oito otto восемь 八",
    9: "nine neun neuf nueve nove negen девять 九",
    10: "ten zehn dix diez dez dieci tien десять 十",
    11: "eleven elf",
    12: "twelve zwölf",
}
COUNTS: Final[Mapping[str, int]] = {
    word: number for number, words in _COUNTS.items() for word in words.split()
}
"""A small number by its lower-case word."""

_UNITS: Final = {
    "day": "tag tage tagen jour jours día días dia dias giorno giorni dag dagen день дня дней"
    " 天 日 일 วัน",
    "week": "woche wochen semaine semaines semana semanas settimana settimane week weken неделю"
    " недели недель 周 週 週間 个星期 個星期 星期 주 สัปดาห์",
    "month": "monat monate monaten mois mes meses mês mese mesi maand maanden месяц месяца месяцев"
    " 个月 個月 か月 ヶ月 カ月 개월 달 เดือน",
    "year": "jahr jahre jahren an ans année années año años ano anos anno anni jaar год года лет"
    " 年 년 ปี",
}
UNITS: Final[Mapping[str, str]] = {
    word: unit for unit, words in _UNITS.items() for word in words.split()
}
"""The English unit by its lower-case word in another language."""

AGO_BEFORE: Final = ("vor", "il y a", "hace", "há")
AGO_AFTER: Final = ("fa", "geleden", "назад")
AGO_UNSPACED: Final = ("前", "之前", "以前", "전", "ที่แล้ว", "ก่อน")
"""What stands before or after a count and its unit that are gone by, in other languages."""
