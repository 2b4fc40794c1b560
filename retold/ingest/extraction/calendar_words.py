"""How a handful of languages write months, weekdays and days near today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_MONTH_NAMES: Final = (
    "january jan enero janvier januar jänner janeiro gennaio",
    "february feb febrero février februar fevereiro febbraio",
    "march mar marzo mars märz março",
    "april apr abril avril aprile",
    "may mayo mai maio maggio",
    "june jun junio juin juni junho giugno",
    "july jul julio juillet juli julho luglio",
    "august aug agosto août",
    "september sept sep septiembre septembre setembro settembre",
    "october oct octubre octobre oktober outubro ottobre",
    "november nov noviembre novembre novembro",
    "december dec diciembre décembre dezember dezembro dicembre",
)
MONTHS: Final[Mapping[str, int]] = {
    name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()
}
"""Number of a month by its lower-case name."""

AMBIGUOUS_MONTHS: Final = frozenset("may march mar mars mai jan dec sep".split())
"""Names that are other words too: months only with a capital, or beside a day or a year."""

_WEEKDAY_NAMES: Final = (
    "monday lunes lundi montag lunedì segunda-feira 周一 週一 星期一 礼拜一 月曜 월요일 วันจันทร์",
    "tuesday martes mardi dienstag martedì terça-feira 周二 週二 星期二 礼拜二 火曜 화요일 วันอังคาร",
    "wednesday miércoles mercredi mittwoch mercoledì quarta-feira 周三 週三 星期三 礼拜三 水曜"
    " 수요일 วันพุธ",
    "thursday jueves jeudi donnerstag giovedì quinta-feira 周四 週四 星期四 礼拜四 木曜 목요일"
    " วันพฤหัสบดี",
    "friday viernes vendredi freitag venerdì sexta-feira 周五 週五 星期五 礼拜五 金曜 금요일 วันศุกร์",
    "saturday sábado samedi samstag sonnabend sabato 周六 週六 星期六 礼拜六 土曜 토요일 วันเสาร์",
    "sunday domingo dimanche sonntag domenica 周日 週日 星期日 星期天 礼拜天 日曜 일요일 วันอาทิตย์",
)
WEEKDAYS: Final[Mapping[str, int]] = {
    name: number for number, names in enumerate(_WEEKDAY_NAMES) for name in names.split()
}
"""Number of a weekday, Monday 0, by its lower-case name."""

_DAYS_NEAR: Final = {
    -2: "前天, 一昨日, おととい, 그저께, anteayer, avant-hier, vorgestern, anteontem",
    -1: "yesterday, last night, ayer, gestern, ontem, ieri, 昨天, 昨日, 昨晚, きのう, 어제, เมื่อวาน",
    0: "today, tonight, this morning, this afternoon, this evening, hoy, aujourd'hui, heute, hoje"
    ", oggi, 今天, 今日, 今晚, きょう, 오늘, วันนี้",
    1: "tomorrow, mañana, demain, morgen, amanhã, domani, 明天, 明日, あした, 내일, พรุ่งนี้",
    2: "後天, 后天, 明後日, あさって, 모레, après-demain, übermorgen",
}
DAYS_NEAR: Final[Mapping[str, int]] = {
    name: offset for offset, names in _DAYS_NEAR.items() for name in names.split(", ")
}
"""Days between now and the day that a lower-case word names. French "hier" is German for "here"."""

_PERIODS: Final[Mapping[tuple[str, int], str]] = {
    ("week", 1): "下周, 下週, 下个星期, 下個星期, 下星期, 来週, 다음 주, 다음주, สัปดาห์หน้า"
    ", nächste woche, nächster woche, semaine prochaine, próxima semana, proxima semana"
    ", semana que viene, settimana prossima",
    ("week", 0): "这周, 这个星期, 這週, 本周, 本週, 今週, 이번 주, 이번주, สัปดาห์นี้, diese woche"
    ", dieser woche, cette semaine, esta semana, questa settimana",
    ("week", -1): "上周, 上週, 上个星期, 上個星期, 上星期, 先週, 지난 주, 지난주, สัปดาห์ที่แล้ว"
    ", letzte woche, letzter woche, semaine dernière, semana pasada, semana passada"
    ", settimana scorsa",
    ("month", 1): "下个月, 下個月, 下月, 来月, 다음 달, 다음달, เดือนหน้า, nächsten monat"
    ", mois prochain, próximo mes, próximo mês, mes que viene, mese prossimo",
    ("month", 0): "这个月, 這個月, 本月, 今月, 이번 달, 이번달, เดือนนี้, diesen monat, ce mois"
    ", este mes, este mês, questo mese",
    ("month", -1): "上个月, 上個月, 上月, 先月, 지난 달, 지난달, เดือนที่แล้ว, letzten monat"
    ", mois dernier, mes pasado, mês passado, mese scorso",
    ("year", 1): "明年, 来年, 내년, ปีหน้า, nächstes jahr, année prochaine, an prochain"
    ", próximo año, año que viene, ano que vem, próximo ano, anno prossimo",
    ("year", 0): "今年, 올해, ปีนี้, dieses jahr, cette année, este año, este ano, quest'anno",
    ("year", -1): "去年, 昨年, 작년, ปีที่แล้ว, letztes jahr, année dernière, an dernier"
    ", año pasado, ano passado, anno scorso",
}
PERIODS: Final[Mapping[str, tuple[str, int]]] = {
    phrase: period for period, phrases in _PERIODS.items() for phrase in phrases.split(", ")
}
"""A unit and how many of it away, by the lower-case phrase of a language other than English."""
