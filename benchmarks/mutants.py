"""Remove one scope check at a time and see whether the isolation tests notice.

Each mutant is a copy of the package in a temporary folder with a few texts replaced. The property
tests run against it and must fail; a mutant that survives is a check nobody would miss. Where
several layers protect one thing, the layer under test goes together with the shared nets behind
it, and ``behind`` says which, so that each layer is proven by itself and not by the next one.

Fixed scenarios run first and fail for every mutant, every time; the random state machine runs after
them, and ``--fixed`` leaves it out.

    python benchmarks/mutants.py --jobs 2
    python benchmarks/mutants.py --fixed
    python benchmarks/mutants.py --only dense lexical
    python benchmarks/mutants.py --dry-run
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.machine import machine_facts, machine_line

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = "tests/properties/test_isolation_scenarios.py"
FIXED = (SCENARIOS, "tests/properties/test_traces.py")
TESTS = (*FIXED, "tests/properties/test_isolation.py")
FINAL_LOOK_TEST = f"{SCENARIOS}::test_what_was_found_under_a_grant_that_went_is_not_shown"
"""Fails wherever the final look is gone: it proves nothing of a layer that goes along with it."""
TIMEOUT_SECONDS = 600
NOTICED = ("AssertionError", "assert ", "retold.errors.", "Failed: DID NOT RAISE")
"""How the tests notice. A NameError, say, would mean that the mutant itself is broken."""

# A failing example is proof enough: looking for the smallest one would take most of the time.
PROFILE = """
from hypothesis import Phase, settings

settings.register_profile("mutant", phases=(Phase.explicit, Phase.generate))
settings.load_profile("mutant")
"""


@dataclass(frozen=True, slots=True)
class Change:
    """One text of one file, found exactly once, and what stands there instead."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """A check that is gone. ``behind`` names nets that went with it, for the reader."""

    name: str
    what: str
    changes: tuple[Change, ...]
    behind: str = ""


EVERY_SCOPE = "range(1, 999)"

SNAPSHOT_NET = (
    Change(
        "retold/retrieve/snapshot.py",
        'raise StoreError("a generator offered a record of another scope; nothing was returned")',
        "return",
    ),
    Change(
        "retold/retrieve/logged.py",
        "scopes[row.scope_code]",
        "str(row.scope_code)",
    ),
)
FINAL_LOOK = Change(
    "retold/retrieve/final.py",
    "if record.scope in scope_codes\n        and may_be_shown(",
    "if may_be_shown(",
)
NETS = (*SNAPSHOT_NET, FINAL_LOOK)
BOTH_NETS = "the snapshot's refusal of foreign rows; the final look"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "eligibility",
        "the index offers rows of every scope",
        (
            Change(
                "retold/index/columns.py",
                "codes = set(scope_codes)",
                "codes = set(self._postings)",
            ),
            *NETS,
        ),
        BOTH_NETS,
    ),
    Mutant(
        "dense",
        "the dense generator searches all rows",
        (
            Change(
                "retold/retrieve/generators.py",
                "index.search_many(vectors, eligible, limit)",
                f"index.search_many(vectors, index.eligible({EVERY_SCOPE}, now_us=0), limit)",
            ),
            *NETS,
        ),
        BOTH_NETS,
    ),
    Mutant(
        "lexical",
        "the lexical generator searches all rows",
        (
            Change(
                "retold/retrieve/pool.py",
                "self._index.words(tx, eligible)\n            names",
                f"self._index.words(tx, self._index.eligible({EVERY_SCOPE}, now_us=0))"
                "\n            names",
            ),
            *NETS,
        ),
        BOTH_NETS,
    ),
    Mutant(
        "entity",
        "the entity generator finds names and records of every scope",
        (
            Change(
                "retold/retrieve/generators.py",
                "tx.entities.by_alias(norms, scope_codes)",
                f"tx.entities.by_alias(norms, {EVERY_SCOPE})",
            ),
            Change(
                "retold/retrieve/generators.py",
                "mine = eligible.narrowed(keys)",
                f"mine = index.eligible({EVERY_SCOPE}, now_us=0).narrowed(keys)",
            ),
            *NETS,
        ),
        BOTH_NETS,
    ),
    Mutant(
        "final look",
        "results are not held against the grants once more",
        (FINAL_LOOK,),
    ),
    Mutant(
        "conflict pairs",
        "a search pairs a record with a foreign one that disagrees",
        (
            Change(
                "retold/retrieve/snapshot.py",
                "if row.status in ACTIVE_STATUSES and row.scope_code in scope_codes",
                "if row.status in ACTIVE_STATUSES",
            ),
            *NETS,
        ),
        BOTH_NETS,
    ),
    Mutant(
        "explained conflicts",
        "an explanation names a foreign record that disagrees",
        (
            Change(
                "retold/retrieve/snapshot.py",
                "if row.status in ACTIVE_STATUSES and row.scope_code in scope_codes",
                "if row.status in ACTIVE_STATUSES",
            ),
            *SNAPSHOT_NET,
        ),
        "the snapshot's refusal of foreign rows",
    ),
    Mutant(
        "linked entities",
        "results and explanations name entities of other scopes",
        (
            Change(
                "retold/retrieve/lookup.py",
                "entity_ids=tuple(one for one in record.entity_ids if one in entities)",
                "entity_ids=record.entity_ids",
            ),
        ),
    ),
    Mutant(
        "replaced record",
        "a record names the foreign record it replaced",
        (
            Change(
                "retold/retrieve/lookup.py",
                "supersedes_id=record.supersedes_id if record.supersedes_id in earlier else None",
                "supersedes_id=record.supersedes_id",
            ),
        ),
    ),
    Mutant(
        "get",
        "a record is found by its id alone",
        (
            Change(
                "retold/retrieve/lookup.py",
                "    gate = _Gate.open(tx, reader)\n    seqs = gate.seqs(wanted)",
                "    gate = _Gate.open(tx, reader)\n"
                "    found = [tx.records.get(one) for one in wanted]\n"
                "    seqs = {one.id: one.seq for one in found if one is not None}",
            ),
        ),
    ),
    Mutant(
        "look-up by id",
        "the one statement behind every look-up by id ignores scopes",
        (
            Change(
                "retold/store/sql/candidates.sql",
                "join records as r on r.id = wanted.value\n"
                "where r.scope_code in (select value from json_each(:scope_codes))",
                "join records as r on r.id = wanted.value\nwhere :scope_codes is not null",
            ),
        ),
    ),
    Mutant(
        "history",
        "the history of a foreign record is answered unlike that of an unknown one",
        (
            Change(
                "retold/retrieve/lookup.py",
                "seq = gate.seqs([wanted]).get(wanted)",
                "given = tx.records.get(wanted)\n    seq = None if given is None else given.seq",
            ),
        ),
    ),
    Mutant(
        "lineage",
        "a record names versions of other scopes, and its history shows them",
        (
            Change(
                "retold/retrieve/lookup.py",
                "if one.scope_code in self.codes and (until is None",
                "if (until is None",
            ),
        ),
    ),
    Mutant(
        "conflicts by id",
        "a record names foreign ones that disagree",
        (
            Change(
                "retold/retrieve/lookup.py",
                "if row.other_scope_code not in gate.codes:",
                "if row.other_scope_code not in gate.codes and False:",
            ),
        ),
    ),
    Mutant(
        "list",
        "a page holds records of every scope",
        (
            Change(
                "retold/store/sql/records.sql",
                "where r.scope_code in (select value from json_each(:scope_codes))\n"
                "  and case when r.status",
                "where :scope_codes is not null\n  and case when r.status",
            ),
        ),
    ),
    Mutant(
        "status",
        "counts include records of every scope",
        (
            Change(
                "retold/store/sql/records.sql",
                "where r.scope_code in (select value from json_each(:scope_codes))\n"
                "group by standing",
                "where :scope_codes is not null\ngroup by standing",
            ),
        ),
    ),
    Mutant(
        "past moments",
        "a search of the past starts from every scope's rows",
        (
            Change(
                "retold/index/columns.py",
                "return rows[self._scope_table(codes)[self._scope[rows]]]",
                "return rows",
            ),
            Change(
                "retold/retrieve/snapshot.py",
                "                        scope_codes,\n",
                f"                        tuple({EVERY_SCOPE}),\n",
            ),
            *NETS,
        ),
        f"the scopes of the statement that lists a moment's rows; {BOTH_NETS}",
    ),
    Mutant(
        "entity by name",
        "a name is resolved among entities of every scope",
        (
            Change(
                "retold/ingest/entities.py",
                "codes = self._tx.scopes.codes(scopes).values()",
                f"codes = {EVERY_SCOPE} if self._scope not in scopes "
                "else self._tx.scopes.codes(scopes).values()",
            ),
        ),
    ),
    Mutant(
        "entity by id",
        "a foreign entity can be named by its id",
        (
            Change(
                "retold/ingest/entities.py",
                "codes = self._tx.scopes.codes(self._readable).values()",
                f"codes = {EVERY_SCOPE}",
            ),
        ),
    ),
    Mutant(
        "ambiguity details",
        "who may only write into a scope is told which entities share a name there",
        (
            Change(
                "retold/ingest/entities.py",
                "[s for s in self._readable if s == self._scope]",
                "[self._scope]",
            ),
        ),
    ),
    Mutant(
        "comparison",
        "the outcome of a write names records of scopes the caller cannot read",
        (
            Change(
                "retold/ingest/preparation.py",
                "dict.fromkeys(other for other in candidates if other in readable)",
                "dict.fromkeys(candidates)",
            ),
        ),
    ),
    Mutant(
        "write",
        "a claim can be written into any scope",
        (
            Change(
                "retold/ingest/preparation.py",
                "if not is_host and scope not in writable:",
                "if not is_host and scope not in writable and False:",
            ),
            Change(
                "retold/ingest/preparation.py",
                "    if scope not in writable:",
                "    if False:",
            ),
        ),
        "the same look under the write lock",
    ),
    Mutant(
        "revise unreadable",
        "a record can be revised by who may write but not read it",
        (
            Change(
                "retold/ingest/revision.py",
                'both = [scope for scope in allowed_scopes(principal, grants, "read") '
                "if scope in writable]",
                "both = writable",
            ),
        ),
    ),
    Mutant(
        "revise unwritable",
        "a record can be revised by who may read but not write it",
        (
            Change(
                "retold/ingest/revision.py",
                'both = [scope for scope in allowed_scopes(principal, grants, "read") '
                "if scope in writable]",
                'both = allowed_scopes(principal, grants, "read")',
            ),
        ),
    ),
    Mutant(
        "revise by id",
        "a record of any scope can be revised",
        (
            Change(
                "retold/ingest/revision.py",
                "        codes = _codes_of(tx, principal)\n",
                f"        codes = {EVERY_SCOPE}\n",
            ),
        ),
    ),
    Mutant(
        "merge",
        "entities of any scope can be merged",
        (
            Change(
                "retold/ingest/revision.py",
                "readable_entities([entity_id], _codes_of(tx, principal))",
                f"readable_entities([entity_id], {EVERY_SCOPE})",
            ),
        ),
    ),
    Mutant(
        "merged records",
        "a merge names the foreign records it touched",
        (
            Change(
                "retold/ingest/revision.py",
                "return [record.id for record in records if trusted or record.scope in readable]",
                "return [record.id for record in records]",
            ),
        ),
    ),
    Mutant(
        "other user's grant",
        "a grant on another user's scope takes effect",
        (
            Change(
                "retold/policy/grants.py",
                "        and belongs_to(principal, grant.scope)\n",
                "",
            ),
        ),
    ),
    Mutant(
        "write-only grant",
        "a grant to write lets the agent read",
        (
            Change(
                "retold/policy/grants.py",
                '(grant.can_read if right == "read" else grant.can_write)',
                "True",
            ),
        ),
    ),
)


def make_copy(folder: Path) -> None:
    """Copy what the tests need into an empty folder."""
    skipped = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for name in ("retold", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=skipped)
    for name in ("pyproject.toml", "README.md"):
        shutil.copyfile(ROOT / name, folder / name)
    (folder / "mutant_profile.py").write_text(PROFILE, encoding="utf-8")


def mutate(folder: Path, mutant: Mutant) -> None:
    """Apply the changes. Raises ValueError when a text is not found exactly once."""
    for change in mutant.changes:
        path = folder / change.file
        text = path.read_text(encoding="utf-8")
        count = text.count(change.old)
        if count != 1:
            raise ValueError(
                f"mutant {mutant.name!r}: found {count} times in {change.file}, "
                f"not once: {change.old!r}"
            )
        path.write_text(text.replace(change.old, change.new), encoding="utf-8")


def run_tests(folder: Path, tests: Sequence[str], without: Sequence[str] = ()) -> tuple[bool, str]:
    """Return whether the tests pass on a copy, and the first line that says why not."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    where = subprocess.run(
        [sys.executable, "-c", "import retold; print(retold.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env=environment,
    ).stdout.strip()
    if not Path(where).is_relative_to(folder):
        raise RuntimeError("the copy is not what `import retold` finds")
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "mutant_profile", "--tb=short"]
    options += [f"--deselect={test}" for test in without]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode == 0:
        return True, ""
    reason = _reason(done.stdout)
    if done.returncode != 1 or not reason.startswith(NOTICED):
        raise RuntimeError(f"a copy does not run, which proves nothing: {reason}")
    return False, reason


def judge(mutant: Mutant, tests: Sequence[str] = TESTS) -> dict[str, Any]:
    """Make one mutant, run the tests, and say whether they noticed and by what."""
    has_net = FINAL_LOOK in mutant.changes and mutant.changes != (FINAL_LOOK,)
    started = time.perf_counter()
    with TemporaryDirectory(prefix="retold-mutant-") as name:
        folder = Path(name).resolve()
        make_copy(folder)
        mutate(folder, mutant)
        passed, reason = run_tests(folder, tests, [FINAL_LOOK_TEST] if has_net else [])
    return {
        "name": mutant.name,
        "what": mutant.what,
        "behind": mutant.behind,
        "killed": not passed,
        "by": reason,
        "seconds": round(time.perf_counter() - started, 1),
    }


def check_texts(mutants: Sequence[Mutant]) -> None:
    """Raise ValueError for a mutant whose texts are not in the sources exactly once.

    So does a name of the test left out that is none: pytest would deselect nothing and not say so.
    """
    left_out = FINAL_LOOK_TEST.rpartition("::")[2]
    if f"def {left_out}(" not in (ROOT / SCENARIOS).read_text(encoding="utf-8"):
        raise ValueError(f"no test {left_out!r} in {SCENARIOS}")
    for mutant in mutants:
        with TemporaryDirectory(prefix="retold-mutant-") as name:
            folder = Path(name)
            for file in {change.file for change in mutant.changes}:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / file, folder / file)
            mutate(folder, mutant)
            for path in folder.rglob("*.py"):
                compile(path.read_text(encoding="utf-8"), path.name, "exec")


def chosen(names: Sequence[str] | None) -> list[Mutant]:
    """Return the mutants of these names, or all. Raises SystemExit naming the choices."""
    known = {mutant.name: mutant for mutant in MUTANTS}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise SystemExit(f"no mutant {unknown[0]!r}; choose among: {', '.join(known)}")
    return [known[name] for name in names] if names else list(MUTANTS)


def line_of(result: dict[str, Any]) -> str:
    """Return one line of the report."""
    verdict = "killed  " if result["killed"] else "SURVIVED"
    why = result["by"] if result["killed"] else result["what"]
    behind = f" [without {result['behind']}]" if result["behind"] else ""
    return f"{verdict} {result['name']:20} {result['seconds']:6.1f} s  {why}{behind}"


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these mutants")
    parser.add_argument("--jobs", type=int, default=1, help="mutants tested at once (1)")
    parser.add_argument(
        "--skip-unchanged", action="store_true", help="do not run the tests without any mutant"
    )
    parser.add_argument("--fixed", action="store_true", help="without the random state machine")
    parser.add_argument("--dry-run", action="store_true", help="only look for the texts")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the mutants; answer 1 when one survives or the tests fail without any."""
    options = parse_arguments(argv)
    mutants = chosen(options.only)
    check_texts(mutants)
    if options.dry_run:
        print(f"{len(mutants)} mutants, every text found once")
        return 0
    tests = FIXED if options.fixed else TESTS
    whole = None
    if not options.skip_unchanged:
        whole = judge(Mutant("none", "nothing is removed", ()), tests)
    if whole is not None and whole["killed"]:
        print(f"the tests fail on the unchanged package: {whole['by']}", file=sys.stderr)
        return 1
    if not options.json:
        print(machine_line())
        if whole is not None:
            print(f"the unchanged package passes in {whole['seconds']} s", flush=True)
    results = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(partial(judge, tests=tests), mutants):
            results.append(result)
            if not options.json:
                print(line_of(result), flush=True)
    survivors = [result["name"] for result in results if not result["killed"]]
    if options.json:
        document = {"machine": machine_facts(), "unchanged": whole, "mutants": results}
        print(json.dumps({**document, "survived": survivors}))
    else:
        print(f"{len(results) - len(survivors)} of {len(results)} killed")
    return 1 if survivors else 0


def _reason(output: str) -> str:
    """Return the first error line without the addresses and quotes that vary."""
    errors = re.findall(
        r"^(?:E|  \| )\s+((?:\w+\.)*\w*(?:Error|Exception)\b.*|Failed: .*|assert .*)$", output, re.M
    )
    return (errors[0] if errors else _last_line(output))[:140]


def _last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return lines[-1] if lines else "no output"


if __name__ == "__main__":
    raise SystemExit(main())
