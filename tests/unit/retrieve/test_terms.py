"""Query terms against a real FTS5 table."""

from collections.abc import Callable

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.retrieve.terms import (
    MAX_ALIAS_NGRAMS,
    MAX_TERM_CHARS,
    MAX_TERMS,
    QueryTerm,
    TermCoverage,
    alias_ngrams,
    phrases_of,
    query_terms,
)
from retold.text import normalize_alias, prepare_fts
from retold.text.token_text import fields_text
from tests.fts_oracle import match_expression

TOKENIZER = "porter unicode61 remove_diacritics 2"


def _tokenizer(connection: apsw.Connection) -> Callable[[str], list[str]]:
    name, *arguments = TOKENIZER.split()
    tokenizer = connection.fts5_tokenizer(name, arguments)

    def tokenize(prepared: str) -> list[str]:
        found = tokenizer(prepared.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None)
        return [token for _, _, *tokens in found for token in tokens]

    return tokenize


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
CONNECTION = apsw.Connection(":memory:")
TOKENIZE = _tokenizer(CONNECTION)


class Index:
    """An FTS5 table of one column over prepared texts; rowids start at 1."""

    def __init__(self, *texts: str) -> None:
        self._connection = apsw.Connection(":memory:")
        self._connection.execute(
            f"create virtual table docs using fts5(text, tokenize='{TOKENIZER}')"
        )
        for text in texts:
            self._connection.execute("insert into docs(text) values (?)", (prepare_fts(text),))

    def search(self, query: str) -> list[int]:
        expression = match_expression(query_terms(query, TOKENIZE))
        return [] if expression is None else self.match(expression)

    def match(self, expression: str) -> list[int]:
        rows = self._connection.execute("select rowid from docs where docs match ?", (expression,))
        return [row[0] for row in rows]


def _values(query: str) -> list[str]:
    return [term.value for term in query_terms(query, TOKENIZE)]


def _coverage(query: str, *fields: str, aliases: tuple[str, ...] = ()):
    tokens = [TOKENIZE(prepare_fts(text)) for text in fields]
    return TermCoverage(query_terms(query, TOKENIZE), aliases).of(fields_text(tokens))


# --- terms ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "values"),
    [
        pytest.param("What's the plan?", ["plan"], id="contraction-and-stop-words"),
        pytest.param("I'm, I’m, what's, don't, don’t, can't, won't", [], id="contractions-vanish"),
        pytest.param("dont im whats isnt", [], id="contractions-without-apostrophe"),
        pytest.param("Aditya’s parents' house", ["aditya", "parents", "house"], id="possessives"),
        pytest.param("shouldn't've gone", ["gone"], id="double-contraction"),
        pytest.param(
            "rock'n'roll o'brien", ["rock'n'roll", "o'brien"], id="inner-apostrophes-stay"
        ),
        pytest.param("a x 7 я", ["я"], id="one-character-terms-dropped-for-latin-only"),
        pytest.param("plan plans PLANS", ["plan"], id="same-stem-is-one-term"),
        pytest.param("see deploy.yml.", ["see", "deploy.yml"], id="full-stop-is-no-part"),
        pytest.param("(draft) [done], “ready”!", ["draft", "done", "ready"], id="punctuation"),
        pytest.param("salt,pepper;oil", ["salt", "pepper", "oil"], id="separators-without-spaces"),
        pytest.param("costs 1,000", ["costs", "1,000"], id="comma-in-a-number"),
        pytest.param("and/or he/she tea/coffee", ["tea", "coffee"], id="slash-compounds"),
        pytest.param("Where does Will live in May?", ["will", "live", "may"], id="names-stay"),
        pytest.param("Will it rain", ["rain"], id="capital-at-the-start-is-no-name"),
        pytest.param("ask IT about it", ["ask", "it"], id="acronym-stays"),
        pytest.param("WHO IS IT", [], id="no-acronyms-where-all-is-capitals"),
        pytest.param("", [], id="empty"),
        pytest.param("* ? ... -- ''", [], id="punctuation-only"),
    ],
)
def test_query_terms_hold_the_words_that_say_something(query, values):
    assert _values(query) == values


@pytest.mark.parametrize(
    "word",
    ["ERR42", "bge-m3", "deploy.yml", "camelCase", "snake_case", "src/app/main", "/etc", ".env",
     "McDonald", "APIs", "10.5", "a@example.com", "https://example.com/x"],
)  # fmt: skip
def test_query_terms_mark_identifiers(word):
    (term,) = query_terms(word, TOKENIZE)

    assert term.is_identifier
    assert term.value == word


@pytest.mark.parametrize(
    "word", ["follow-up", "e-mail", "Follow-Up", "deployment", "Alice", "NASA", "e.g.", "p.m."]
)
def test_query_terms_do_not_mark_plain_words(word):
    assert not any(term.is_identifier for term in query_terms(word, TOKENIZE))


@pytest.mark.parametrize(
    ("query", "values"),
    [
        pytest.param("花生", ["花生"], id="two-characters"),
        pytest.param("茶", ["茶"], id="one-character"),
        pytest.param("我对什么过敏", ["过敏"], id="chinese-function-words"),
        pytest.param("我的 你在", [], id="chinese-function-words-only"),
        pytest.param("猫が好きです", ["猫が", "が好", "好き", "きで"], id="japanese"),
        pytest.param("なか 도로", ["なか", "도로"], id="words-made-of-particles"),
        pytest.param("끝말잇기를", ["끝말", "말잇", "잇기", "기를"], id="korean"),
        pytest.param("나는 우리", [], id="korean-function-words"),
        pytest.param("ที่ และ", [], id="thai-function-words"),
        pytest.param("重跑gen-itgc后", ["重跑", "gen-itgc", "后"], id="mixed-scripts"),
        pytest.param("3月19日", ["月", "19", "日"], id="date"),
    ],
)
def test_query_terms_of_unspaced_scripts_are_bigrams_of_written_characters(query, values):
    assert _values(query) == values


def test_query_terms_keep_thai_vowel_and_tone_signs_with_their_letter():
    assert _values("แพ้ถั่ว") == ["แพ้", "พ้ถั่", "ถั่ว"]


@given(ANY_TEXT)
def test_query_terms_never_fail_and_always_have_tokens(query):
    terms = query_terms(query, TOKENIZE)

    assert len(terms) <= MAX_TERMS
    assert all(term.tokens and term.phrases and term.value for term in terms)
    assert len({term.tokens for term in terms}) == len(terms)


LONG_QUERIES = {
    "one-letter": "x" * 10_000,
    "distinct-words": " ".join(f"word{n}" for n in range(2_000)),
    "one-word": "word " * 300,
    "han": "".join(chr(0x4E00 + n) for n in range(10_000)),
    "thai": "".join(chr(0x0E01 + n * 7 % 46) for n in range(10_000)),
    "quotes": '"' * 10_000,
    "apostrophes": "a'" * 5_000,
    "surrogates": "\ud800" * 10_000,
    "nul": "a\x00" * 5_000,
    "emoji": "🙂" * 10_000,
    "path": "/usr" * 2_500,
}


@pytest.mark.parametrize("query", LONG_QUERIES.values(), ids=LONG_QUERIES)
def test_long_query_is_bounded_and_searchable(query):
    """B47."""
    terms = query_terms(query, TOKENIZE)
    ngrams = alias_ngrams(query, 4)

    assert len(terms) <= MAX_TERMS
    assert all(len(term.value) <= MAX_TERM_CHARS for term in terms)
    assert len(ngrams) <= MAX_ALIAS_NGRAMS
    Index("word1 花").search(query)


def test_query_terms_keep_identifiers_first_when_there_are_too_many():
    query = " ".join(f"plain{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(200)) + " ERR42"

    values = _values(query)

    assert len(values) == MAX_TERMS
    assert values[-1] == "ERR42"


def test_overlong_path_is_cut_at_a_part_and_found():
    path = "/".join(f"part{n}" for n in range(100))

    assert Index(f"see {path} there", "part1 alone").search(path) == [1]


# --- matching ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query"),
    [
        pytest.param("她对花生过敏", "花生", id="chinese-two-characters"),
        pytest.param("她对花生过敏", "敏", id="chinese-one-character"),
        pytest.param("昨日みんなでしりとりをした", "しりとり", id="japanese-kana"),
        pytest.param("ｱﾚﾙｷﾞｰがある", "アレルギー", id="half-width-kana"),
        pytest.param("아이들과 끝말잇기를 했다", "끝말잇기", id="korean"),
        pytest.param("重跑gen-itgc后", "itgc", id="latin-inside-chinese"),
        pytest.param("重跑gen-itgc后", "重跑gen-itgc后", id="mixed-as-written"),
        pytest.param("เขาแพ้ถั่วลิสงมาก", "ถั่วลิสง", id="thai"),
        pytest.param("เขาดื่มน้ำทุกวัน", "น้ำ", id="thai-sara-am"),
        pytest.param("ລາວມັກກິນເຂົ້າໜຽວ", "ເຂົ້າ", id="lao"),
        pytest.param("ខ្ញុំចូលចិត្តកាហ្វេ", "កាហ្វេ", id="khmer"),
        pytest.param("သူလက်ဖက်ရည်ကြိုက်တယ်", "လက်ဖက်ရည်", id="burmese"),
        pytest.param("لديه حساسية من الفول السوداني", "حساسية", id="arabic"),
        pytest.param("اسمه مُحَمَّد", "محمد", id="arabic-vowels-left-out"),
        pytest.param("הוא אלרגי לבוטנים", "לבוטנים", id="hebrew"),
        pytest.param("שָׁלוֹם עולם", "שלום", id="hebrew-points-left-out"),
        pytest.param("\u2067שלום\u2069 hello", "שלום", id="bidirectional-isolates"),
        pytest.param("abc שלום 123 مرحبا", "مرحبا", id="mixed-directions"),
        pytest.param("मुझे हिन्दी पसंद है", "हिन्दी", id="hindi"),
        pytest.param("Он живёт в Москве", "москве", id="russian"),
        pytest.param("great🙂news", "news", id="word-glued-to-emoji"),
        pytest.param("great 🙂 news", "🙂", id="emoji-itself"),
        pytest.param("price ₽500 today", "500", id="number-glued-to-young-symbol"),
        pytest.param("naïve café", "naive cafe", id="accents"),
        pytest.param("cafe\u0301", "café", id="decomposed-accent"),
        pytest.param("databases are fast", "databases", id="stem-that-stems-further"),
        pytest.param("co\u00adoperation", "cooperation", id="soft-hyphen"),
        pytest.param("the bge\u2011m3 model", "bge-m3", id="non-breaking-hyphen"),
        pytest.param("nul\x00word", "word", id="nul"),
        pytest.param("lone \ud800surrogate", "surrogate", id="lone-surrogate"),
        pytest.param("我们去北\u200b京", "北京", id="zero-width-space"),
        pytest.param("他住在𠮷野家", "𠮷野", id="han-beyond-the-basic-plane"),
    ],
)
def test_exact_word_is_found_in_every_script(text, query):
    """B45, B46."""
    index = Index(text, "something else entirely")

    assert index.search(query) == [1]
    assert _coverage(query, text).terms


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("花费生命", "花生"),
        ("ดีมาก", "ข้าว"),
        ("हम घर गए", "हिन्दी"),
        ("bge large, m3 max", "bge-m3"),
        ("an up follow", "follow-up"),
    ],
    ids=["chinese", "thai", "hindi", "parts-apart", "parts-reversed"],
)
def test_other_word_is_not_found(text, query):
    assert Index(text).search(query) == []
    assert _coverage(query, text).terms == ()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("gpt-4o", "we use gpt-4o daily"),
        ("status: done", "status is done"),
        ('say "hi', "say hi"),
        ("foo AND", "foo bar"),
        ("(draft", "draft two"),
        ("what's the plan?", "the plan is set"),
    ],
)
def test_plain_text_that_looks_like_fts_syntax_finds_its_row(query, text):
    """B47."""
    assert Index("unrelated words", text).search(query) == [2]


@given(ANY_TEXT)
def test_text_is_found_by_itself_when_it_has_terms(text):
    terms = query_terms(text, TOKENIZE)
    if terms:
        assert Index(text).search(text) == [1]


@given(st.text(alphabet="花生过敏的他ケーキ끝말ab 1ที่มา", max_size=30))
def test_every_term_of_a_text_is_covered_by_the_text_itself(text):
    match = _coverage(text, text)

    assert len(match.terms) == match.total_terms == len(query_terms(text, TOKENIZE))


def test_phrases_are_the_tokens_of_each_spelling_in_the_order_of_the_query():
    """FTS5 counts "teas" and "tea" twice, so the index in the process does."""
    terms = query_terms("teas with bge-m3 and tea", TOKENIZE)

    assert phrases_of(terms, TOKENIZE) == (("tea",), ("tea",), ("bge", "m3"))
    assert phrases_of(query_terms("what is it", TOKENIZE), TOKENIZE) == ()


# --- coverage ---------------------------------------------------------------------------


def test_coverage_names_matched_terms_out_of_all():
    """B60."""
    match = _coverage("proton bridge password", "proton bridge imap credentials")

    assert [term.value for term in match.terms] == ["proton", "bridge"]
    assert match.total_terms == 3
    assert not any(term.is_identifier for term in match.terms)


def test_coverage_wants_the_parts_of_a_term_in_one_field():
    assert _coverage("bge-m3", "uses bge", "m3 chip").terms == ()
    assert len(_coverage("bge-m3", "title", "the bge-m3 model").terms) == 1


def test_records_that_hold_the_same_of_a_query_share_a_match():
    coverage = TermCoverage(query_terms("proton bridge password", TOKENIZE))
    first, second, other = (
        coverage.of(fields_text([TOKENIZE(text)]))
        for text in ("a proton bridge", "bridge of proton", "proton")
    )

    assert first is second
    assert [term.value for term in other.terms] == ["proton"]


def test_coverage_does_not_join_fields_or_tokens():
    assert _coverage("notebook", "note book").terms == ()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param("花生", "她对花生过敏", id="whole-run"),
        pytest.param("花生吗", "她对花生过敏", id="particle-behind"),
        pytest.param("我对什么过敏", "她对花生过敏", id="core-that-begins-like-a-particle"),
        pytest.param("アレルギーは何ですか", "アレルギーがある", id="japanese"),
        pytest.param("끝말잇기를", "끝말잇기 좋아해", id="korean"),
        pytest.param("แพ้ถั่วไหม", "เขาแพ้ถั่วลิสง", id="thai"),
    ],
)
def test_run_found_in_full_identifies_alone(query, text):
    """B45: a two-character word passes the lexical gate by itself."""
    match = _coverage(query, text)

    assert any(term.is_identifier for term in match.terms)
    assert 2 * len(match.terms) >= match.total_terms


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param("我的", "我的猫在睡觉", id="chinese-particles"),
        pytest.param("他在哪里的", "他在家的", id="chinese-shared-particles"),
        pytest.param("ที่เป็น", "คนที่เป็นครู", id="thai-particles"),
        pytest.param("ではの", "東京ではのんびり", id="japanese-particles"),
    ],
)
def test_shared_particles_do_not_open_the_gate(query, text):
    match = _coverage(query, text)

    assert len(match.terms) < 2
    assert not any(term.is_identifier for term in match.terms)


def test_thai_word_that_differs_in_a_sign_does_not_identify():
    assert not any(term.is_identifier for term in _coverage("ข้าว", "เสื้อสีขาว").terms)


def test_run_found_in_part_does_not_identify():
    match = _coverage("花生过敏", "过敏源清单")

    assert [(term.value, term.is_identifier) for term in match.terms] == [("过敏", False)]
    assert match.total_terms == 3


@pytest.mark.parametrize(
    ("query", "alias", "flagged"),
    [
        pytest.param("Priya's tea", "priya", ["priya"], id="word"),
        pytest.param("visit New York soon", "new york", ["new", "york"], id="two-words"),
        pytest.param("bank account", "bank of america", [], id="part-of-an-alias"),
        pytest.param("王小明喜欢猫", "王小明", ["王小", "小明"], id="chinese"),
        pytest.param("José", "jose", ["josé"], id="accents"),
        pytest.param("ask the who", "the who", [], id="alias-of-stop-words"),
    ],
)
def test_coverage_flags_terms_of_named_aliases(query, alias, flagged):
    text = "priya has new york bank notes josé 王小明喜欢猫 visit soon"

    match = _coverage(query, text, aliases=(alias,))

    assert [term.value for term in match.terms if term.is_entity_alias] == flagged


# --- aliases ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "alias"),
    [
        pytest.param("What is Alice’s plan?", "alice", id="possessive"),
        pytest.param("when's lunch", "when", id="contraction"),
        pytest.param("a McDonald's menu", "mcdonald's", id="possessive-that-belongs"),
        pytest.param("Ask St. John, please", "st. john", id="inner-punctuation"),
        pytest.param("We visit Acme Inc.", "acme inc.", id="final-dot-kept"),
        pytest.param("(Müller)", "muller", id="brackets-and-accents"),
        pytest.param("the  New\tYork office", "new york", id="white-space"),
        pytest.param("王小明喜欢什么", "王小明", id="chinese"),
        pytest.param("我买了小米11手机", "小米11", id="mixed-scripts"),
        pytest.param("找alice问", "alice", id="latin-in-chinese"),
        pytest.param("พี่สมชายชอบอะไร", "สมชาย", id="thai"),
        pytest.param("김철수는 어디", "김철수", id="korean"),
    ],
)
def test_alias_ngrams_hold_the_alias_a_query_names(query, alias):
    assert alias == normalize_alias(alias)
    assert alias in alias_ngrams(query, 4)


def test_alias_ngrams_are_distinct_and_longest_first():
    assert alias_ngrams("one two two", 2) == ("one two", "two two", "one", "two")


def test_alias_ngrams_hold_at_most_the_given_number_of_words():
    assert max(len(ngram.split()) for ngram in alias_ngrams("a b c d e f g", 3)) == 3


@given(ANY_TEXT, st.integers(1, 6))
def test_alias_ngrams_are_normalised_and_bounded(query, max_alias_tokens):
    ngrams = alias_ngrams(query, max_alias_tokens)

    assert "" not in ngrams
    assert len(set(ngrams)) == len(ngrams) <= MAX_ALIAS_NGRAMS
    assert list(ngrams) == sorted(ngrams, key=len, reverse=True)


def test_a_term_keeps_the_words_of_its_query_to_itself():
    shown = repr(
        QueryTerm("secret", ("secret",), ("secret",), runs=(("秘密",),), run_texts=("秘密",))
    )

    assert "secret" not in shown
    assert "秘" not in shown
