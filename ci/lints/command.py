"""The command line of lints: `LINT [ROOT]` or `LINT --self-test`."""
import sys
from pathlib import Path


def run(document, self_test, lint):
    """Run the lint or its self-test, as the arguments say, and return the exit status.

    lint(root) returns the findings, which are printed line by line, and the line that closes the output; `document` is
    printed for wrong arguments.
    """
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) > 1 or arguments and arguments[0].startswith("-"):
        print(document.strip(), file=sys.stderr)
        return 2
    findings, summary = lint(Path(arguments[0] if arguments else Path(__file__).parents[2]).resolve())
    for finding in findings:
        print(finding)
    print(summary)
    return 1 if findings else 0
