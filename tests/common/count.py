# SPDX-License-Identifier: MIT
"""count.py JUNIT_XML STATUS: prints `PASSED FAILED` of a run of `meson test` that ended with STATUS. Skipped tests count as neither.

A program that dies without a word has no failed test in the report; the status tells of it.
"""
import sys
import xml.etree.ElementTree as ET

passed = failed = 0
try:
    for suite in ET.parse(sys.argv[1]).getroot().iter('testsuite'):
        bad = int(suite.get('failures')) + int(suite.get('errors'))
        failed += bad
        passed += int(suite.get('tests')) - bad - int(suite.get('skipped'))
except (OSError, ET.ParseError):
    pass
if int(sys.argv[2]) and not failed:
    failed = 1
print(passed, failed)
