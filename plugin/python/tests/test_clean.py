"""What is handed to NLWeb is what its host survives: its own code is asked."""

import json
import logging
import random
import unittest
from typing import Any

import bridge_case  # noqa: F401  (finds the bridge)
from nlweb_core.ranked_result import RankedResult
from nlweb_core.ranking import _calculate_age_days, _extract_date_published, _parse_date_published
from nlweb_core.retrieved_item import RetrievedItem
from nlweb_core.utils import trim_json

from siteprovider_nlweb._clean import as_one, clean


def as_nlweb_does(obj: Any) -> str:
    """Do to an object what NLWeb does on the way to an answer, and return the answer."""
    item = RetrievedItem(url="https://a.example/", raw_schema_object=obj, site="a.example")
    str(trim_json(item.schema_object)).encode()
    _calculate_age_days(_parse_date_published(_extract_date_published(item.schema_object)))
    result = RankedResult(item=item, score=90).to_dict()
    if "datePublished" in result:  # a handler of NLWeb's own expects a text
        result["datePublished"].split()
    text = json.dumps(result, allow_nan=False)
    text.encode("ascii")
    json.dumps(result, ensure_ascii=False).encode()
    return text


ODD = [
    b'{"@type":"Product","review":[{"reviewBody":null},{"reviewBody":7},{"reviewBody":true},{"reviewBody":"x"}]}',
    b'{"@graph":["https://a.example/x",null,3,[{"@type":"Thing"}],{"@type":"Recipe","name":"x"}]}',
    b'{"@graph":"x","name":"y"}',
    b'{"@graph":{"@type":"Recipe"}}',
    b'{"@graph":[null]}',
    b'{"@graph":[{"@graph":["x",{"@type":[{"@id":"y"}]}]}]}',
    b'[{"@type":["Recipe",{"@id":"x"},null,["y"]]},{"@type":{"@id":"x"}},"x",null,5,[{"name":"z"}]]',
    b'[{"@type":{"a":1}},{"@type":["Recipe",["x"]]}]',
    b"[null]",
    b'{"n":1e999,"m":-1e999,"k":[1e400]}',
    b'{"n":NaN,"m":Infinity}',
    b'{"n":' + b"9" * 5000 + b"}",
    b'{"name":"\\ud800 half","\\udfff":"\\ud83d\\ude00"}',
    b'{"datePublished":"2026-09-01"}',
    b'{"datePublished":"2026-09-01T10:00:00"}',
    b'{"datePublished":"1 Sep 2026 10:00:00"}',
    b'{"datePublished":"Tue, 01 Sep 2026 10:00:00 -0000"}',
    b'{"datePublished":["2026-09-01","2026-09-02"]}',
    b'{"datePublished":[null]}',
    b'{"datePublished":2026}',
    b'{"datePublished":{"@value":"2026-09-01"}}',
    b'{"datePublished":"0001-01-01T00:00:00+14:00"}',
    b'{"datePublished":"9999-12-31T23:59:59-14:00"}',
    b'{"datePublished":"Mon, 01 Jan 2020 00:00:00 +99999999999999"}',
    b'{"datePublished":""}',
    b'{"datePublished":"soon"}',
    b'[{"@type":"Recipe"},{"datePublished":"2026-09-01"}]',
    b'{"@graph":[{"@type":"Recipe","datePublished":"2026-09-01"}]}',
    b'{"author":null,"image":[null,{"url":null}],"name":[null,"x"]}',
    b'{"@context":"https://schema.org","@type":"Recipe","image":[[[["x"]]]]}',
    b'{"a":' * 199 + b"1" + b"}" * 199,
    b'{"@graph":[' * 99 + b'{"name":"deep"}' + b"]}" * 99,
]


class CleanTest(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)

    def test_nlweb_survives_every_oddity(self) -> None:
        for schema in ODD:
            with self.subTest(schema=schema[:80]):
                objects = clean(schema)
                as_nlweb_does(objects)
                as_nlweb_does(as_one(objects) or "")

    def test_nlweb_survives_random_objects(self) -> None:
        rng = random.Random(4)
        names = "@type @graph @id name review reviewBody datePublished image author url score aggregateRating".split()
        texts = ["", "Recipe", "Person", "WebPage", "2026-09-01", "2026-09-01T00:00:00Z", "\ud800", "7", "[1]", '{"a":null}']

        def value(depth: int) -> Any:
            kind = rng.randrange(8 if depth < 5 else 6)
            if kind < 3:
                return rng.choice(texts)
            if kind < 6:
                return rng.choice([None, True, 0, -1.5, float("nan"), float("inf"), 10**400])
            if kind == 6:
                return [value(depth + 1) for _ in range(rng.randrange(4))]
            return {rng.choice(names): value(depth + 1) for _ in range(rng.randrange(5))}

        for i in range(5000):
            schema = json.dumps(
                rng.choice([value(5), {rng.choice(names): value(0), "review": value(1), "@graph": value(2)}, [value(0)]])
            )
            with self.subTest(i=i, schema=schema):
                objects = clean(schema.encode())
                as_nlweb_does(objects)
                as_nlweb_does(as_one(objects) or "")

    def test_some_oddities_do_break_nlweb(self) -> None:
        """So that these tests would notice if the host were asked the wrong way."""
        for schema in (ODD[0], ODD[1], ODD[6], ODD[13]):
            with self.assertRaises((TypeError, AttributeError, ValueError), msg=schema):
                as_nlweb_does(json.loads(schema))

    def test_what_is_sound_stays_as_it_is(self) -> None:
        whole = {
            "@context": {"@vocab": "https://schema.org/"},
            "@type": ["Recipe", "NewsArticle"],
            "name": "Nudelsuppe mit Ei 🥚",
            "datePublished": "Sun, 01 Oct 2023 16:18:16 +0530",
            "dateModified": "2026-09-01",
            "price": 19.5,
            "count": 3,
            "open": False,
            "nested": [{"@type": "Review", "datePublished": "2020-01-01", "reviewBody": "good"}, []],
        }
        self.assertEqual([whole], clean(json.dumps(whole).encode()))
        self.assertEqual([whole, whole], clean(json.dumps([whole, whole]).encode()))

    def test_dates_without_a_zone_are_utc(self) -> None:
        for date, want in {
            "2026-09-01": "2026-09-01T00:00:00+00:00",
            "2026-09-01T10:00:00.5": "2026-09-01T10:00:00.500000+00:00",
            "2026-09-01T10:00:00Z": "2026-09-01T10:00:00Z",
            "1 Sep 2026 10:00:00": "2026-09-01T10:00:00+00:00",
        }.items():
            schema = json.dumps({"datePublished": date}).encode()
            self.assertEqual([{"datePublished": want}], clean(schema))

    def test_a_document_does_not_speak_for_the_host(self) -> None:
        schema = b'{"name":"x","score":9999,"site":"bank.example","grounding":{"source_urls":["https://evil.example/"]}}'
        result = json.loads(as_nlweb_does(clean(schema)))
        self.assertEqual((90, "a.example"), (result["score"], result["site"]))
        self.assertNotIn("grounding", result)

    def test_what_is_no_json_is_an_error(self) -> None:
        for schema in (b"", b"{", b"\xff", b'{"a":1}x', b"[" * 100000):
            with self.assertRaises(ValueError):
                clean(schema)

    def test_a_list_becomes_one_object(self) -> None:
        self.assertIsNone(as_one(clean(b'["x"]')))
        self.assertEqual({"name": "x"}, as_one(clean(b'[{"name":"x"}]')))
        both = as_one(clean(b'[{"@type":"WebPage"},{"@type":"Recipe","name":"x"}]'))
        self.assertEqual("x", json.loads(as_nlweb_does(both))["name"])


if __name__ == "__main__":
    unittest.main()
