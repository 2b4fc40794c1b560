import pytest

from retold.text.inventions import invented_words

TURN = ("what does she prefer?", "Priya met Ana-Sofia on 19 March at O'Neill's, room 12b.")


@pytest.mark.parametrize(
    ("text", "invented"),
    [
        ("Priya's preferred tea", ()),
        ("tea that priya prefers", ()),
        ("Ana Sofia and Ana-Sofia", ()),
        ("O'Neill or O'Neill's", ()),
        ("room 12b on 19 March", ()),
        ("Preferred tea of the second person", ()),
        ("tea of Bob", ("Bob",)),
        ("Bob's tea", ("Bob's",)),
        ("Bob", ("Bob",)),
        ("McDonald likes tea", ("McDonald",)),
        ("what she wanted on 20 March", ("20",)),
        ("what she wanted in april", ("april",)),
        ("room 12", ("12",)),
        ("the NASA plan", ("NASA",)),
        ("プリヤの好み", ("プリヤ",)),
        ("她喜欢什么", ()),
        ("", ()),
    ],
)
def test_names_numbers_and_dates_from_nowhere_are_found(text, invented):
    assert invented_words(text, TURN) == invented


def test_words_among_unspaced_ones_count_alike():
    assert invented_words("Lisbon里的房间", ["我在Lisbon住了3年"]) == ()
    assert invented_words("カメラの値段", ["カメラを買う"]) == ()
    assert invented_words("Porto里的房间", ["我在Lisbon住了3年"]) == ("Porto",)
    assert invented_words("房间在 the Porto", ["我在Lisbon住了3年"]) == ("Porto",)


def test_the_first_word_counts_where_it_is_asked_for():
    assert invented_words("Porto is home", ["Lisbon is home"]) == ()
    assert invented_words("Porto is home", ["Lisbon is home"], counts_first=True) == ("Porto",)
    assert invented_words("Home is Lisbon", ["Lisbon is home"], counts_first=True) == ()
