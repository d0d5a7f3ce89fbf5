#!/usr/bin/env python3
"""Whether standard input is JUnit XML as continuous integration servers take it.

The form is that of the schema most of them name (junit-10.xsd of Jenkins), checked by hand: which element may hold
which, in which order, with which attributes. Beyond it: the counts of a suite are those of its cases, and no case is
there twice. Exit status: 0 it is.
"""
import re
import sys
import xml.etree.ElementTree

COUNT, TEXT, TIME = re.compile(r"\d+"), re.compile(r"(?s).*"), re.compile(r"\d+(\.\d+)?")
# element: attributes (name, form, required), children in order with ? and *; None: text
FORMS = {
    "testsuites": ([("name", TEXT, 0), ("time", TIME, 0), ("tests", COUNT, 0), ("failures", COUNT, 0),
                    ("disabled", COUNT, 0), ("errors", COUNT, 0)], "(testsuite )*"),
    "testsuite": ([("name", TEXT, 1), ("tests", COUNT, 1), ("failures", COUNT, 0), ("errors", COUNT, 0),
                   ("time", TIME, 0), ("disabled", COUNT, 0), ("skipped", COUNT, 0), ("timestamp", TEXT, 0),
                   ("hostname", TEXT, 0), ("id", TEXT, 0), ("package", TEXT, 0)],
                  "(properties )?(testcase )*(system-out )?(system-err )?"),
    "properties": ([], "(property )*"),
    "property": ([("name", TEXT, 1), ("value", TEXT, 1)], ""),
    "testcase": ([("name", TEXT, 1), ("classname", TEXT, 1), ("time", TIME, 0), ("assertions", COUNT, 0),
                  ("status", TEXT, 0)], "(skipped )?(error )*(failure )*(system-out )*(system-err )*"),
    "failure": ([("type", TEXT, 0), ("message", TEXT, 0)], None),
    "error": ([("type", TEXT, 0), ("message", TEXT, 0)], None),
    "skipped": ([("type", TEXT, 0), ("message", TEXT, 0)], None),
    "system-out": ([], None),
    "system-err": ([], None),
}


def problems(element):
    if element.tag not in FORMS:
        yield f"unknown element {element.tag}"
        return
    attributes, children = FORMS[element.tag]
    forms = {name: form for name, form, _ in attributes}
    for name, value in element.attrib.items():
        if name not in forms:
            yield f"{element.tag} has no attribute {name}"
        elif not forms[name].fullmatch(value):
            yield f"{element.tag} {name}=\"{value}\""
    yield from (f"{element.tag} without {name}" for name, _, needed in attributes if needed and name not in element.attrib)
    tags = "".join(child.tag + " " for child in element)
    if not re.fullmatch(children or "", tags):
        yield f"{element.tag} holds {tags or 'nothing'}"
    if children is not None and (element.text or "").strip():
        yield f"{element.tag} holds text"
    for child in element:
        yield from problems(child)


def counts(suite):
    cases = suite.findall("testcase")
    names = [(c.get("classname"), c.get("name")) for c in cases]
    if len(set(names)) != len(names):
        yield "a case is there twice"
    for attribute, tag in (("tests", None), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        have = sum(tag is None or c.find(tag) is not None for c in cases)
        if suite.get(attribute) is not None and int(suite.get(attribute)) != have:
            yield f"{attribute}=\"{suite.get(attribute)}\", but there are {have}"


def main():
    root = xml.etree.ElementTree.parse(sys.stdin.buffer).getroot()
    wrong = [] if root.tag == "testsuites" else [f"the root is {root.tag}"]
    wrong += problems(root)
    for suite in root.iter("testsuite"):
        wrong += counts(suite)
    for attribute in ("tests", "failures", "errors"):
        total = sum(int(suite.get(attribute, 0)) for suite in root.iter("testsuite"))
        if root.get(attribute) is not None and int(root.get(attribute)) != total:
            wrong.append(f"{attribute} of all suites: {total}")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
