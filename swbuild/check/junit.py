"""The results of a check in the XML that Jenkins, GitLab and others read: JUnit's, in its common form."""

from __future__ import annotations

import re  # reads characters of any text that XML forbids
from collections.abc import Sequence
from xml.etree import ElementTree

from swbuild.check.report import explain, explain_cases
from swbuild.check.results import CaseResult, Outcome, RegionResult

__all__ = ["junit_text"]

#: What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_TAGS = {
    Outcome.PASS: None,
    Outcome.SKIP: "skipped",
    Outcome.EXPECTED: "skipped",
    Outcome.INFRA: "error",
    Outcome.USER_ERROR: "error",
}


def junit_text(results: Sequence[RegionResult]) -> str:
    """Return a document with a suite for each region, and in it a test for each set of sizes and mode."""
    root = ElementTree.Element("testsuites", name="swbuild check")
    for result in results:
        root.append(_suite(result))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(result.seconds for result in results):.3f}")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(result: RegionResult) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=_clean(result.region))
    tests = [_case(result, case) for case in result.cases]
    if not tests or result.outcome is Outcome.UNEXPECTED:
        tests.append(_whole(result))
    suite.extend(tests)
    found = [child.tag for test in tests for child in test]
    suite.set("tests", str(len(tests)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(found.count(tag)))
    suite.set("time", f"{result.seconds:.3f}")
    return suite


def _case(result: RegionResult, case: CaseResult) -> ElementTree.Element:
    mode = f" ({case.mode})" if case.mode else ""
    test = _test(result, f"{case.label}{mode}", case.seconds)
    tag = _TAGS.get(case.outcome, "failure")
    expected = tag == "failure" and result.outcome is Outcome.EXPECTED
    if tag is not None:
        message = case.message.partition("\n")[0]
        if expected:
            message = f"fails as expected ({result.expected_failure}): {message}"
        _add(test, "skipped" if expected else tag, case.outcome, message, "\n".join(explain_cases([case])))
    return test


def _whole(result: RegionResult) -> ElementTree.Element:
    """Return a test for a region that has no cases of its own to show."""
    test = _test(result, result.region, result.seconds)
    tag = _TAGS.get(result.outcome, "failure")
    if tag is not None:
        _add(test, tag, result.outcome, result.message.partition("\n")[0], explain(result))
    return test


def _test(result: RegionResult, name: str, seconds: float) -> ElementTree.Element:
    words = {"classname": f"{result.source}.{result.region}", "name": name, "file": result.source}
    return ElementTree.Element(
        "testcase", {key: _clean(text) for key, text in words.items()}, time=f"{seconds:.3f}"
    )


def _add(test: ElementTree.Element, tag: str, outcome: Outcome, message: str, text: str) -> None:
    child = ElementTree.SubElement(test, tag, message=_clean(message or outcome.value))
    if tag != "skipped":
        child.set("type", outcome.value)
        child.text = _clean(text)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
