"""Consumers that are killed while the model is slow, fails and hangs; see ``tests.workers.storm``.

``RETOLD_FULL_STORM=1`` makes it a long one: 150 sessions and a dozen kills.
"""

import random
from threading import Event

from tests.faults import FULL_STORM
from tests.loopback import Fault
from tests.workers.storm import CONFIG, HOPELESS, Weather, damage, storm

SESSIONS, KILLS, DEADLY = (147, 12, 2) if FULL_STORM else (11, 2, 0)
SEED = 7


def test_storm_extracts_each_session_once_or_leaves_a_visible_dead_letter(tmp_path):
    strikes = random.Random(SEED).sample(range(3, 2 * SESSIONS), KILLS)
    weather = Weather(SEED, strikes)
    with storm(tmp_path, weather) as site:
        sessions = [site.told(number) for number in range(SESSIONS)]
        sessions += [site.told(SESSIONS + each, "kill") for each in range(DEADLY)]
        hopeless = site.told(SESSIONS + DEADLY, words=f"a {HOPELESS} tortoise")
        site.rage([*sessions, hopeless], weather, workers=2 if FULL_STORM else 1)

        assert damage(site, [*sessions, hopeless]) == []
        assert site.state(hopeless).error == "invalid_completion"
        assert {site.state(each).error for each in sessions[SESSIONS:]} <= {"attempts_exhausted"}
        extracted = [each for each in sessions if site.state(each).extracted_at is not None]
        assert len(extracted) >= SESSIONS - 2, weather.told


def test_stop_hands_a_session_back_whose_model_does_not_answer(tmp_path):
    asked = Event()

    def silent(exchange):
        asked.set()
        return Fault(way="hang")

    with storm(tmp_path, silent, CONFIG.replace("700", "100000")) as site:
        extraction = site.start("extraction", "--grace", "0.2")
        session_id = site.told(1)
        assert asked.wait(60)

        assert extraction.stop() == 0
        state = site.state(session_id)
        assert (state.token, state.attempts, state.next_at) == (None, 0, None)
        assert site.events(session_id) == []
