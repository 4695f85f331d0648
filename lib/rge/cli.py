"""The command line: each command calls the library, as the notebooks do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rge import __version__
from rge.errors import RgeError

Command = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 wrong usage.

    Errors are one line on stderr; `--debug` shows the traceback.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in given
    arguments = _parser().parse_args([word for word in given if word != "--debug"])
    command: Command = arguments.command
    if debug:
        return command(arguments)
    try:
        return command(arguments)
    except RgeError as error:
        print(f"rge: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("rge: stopped; finished work is kept, run again to go on", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0
    except OSError as error:
        print(f"rge: {error.filename or 'system'}: {error.strerror}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rge", description=__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"rge {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks (at any place)")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _eval(commands)
    _budget(commands)
    _providers(commands)
    _corpus(commands)
    _questions(commands)
    _judge(commands)
    _board(commands)
    _paper(commands)
    _trace(commands)
    return parser


def _add(commands: Any, name: str, command: Command, help_text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=help_text, description=help_text, allow_abbrev=False
    )
    parser.set_defaults(command=command)
    return parser


def _with_profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", default="offline", metavar="PROFILE", help="profile name or YAML file"
    )
    parser.add_argument(
        "-p",
        "--parameter",
        action="append",
        nargs=2,
        default=[],
        metavar=("NAME", "VALUE"),
        help="replace one value of the profile, e.g. -p chunk_size 400",
    )


def _profile(arguments: argparse.Namespace) -> Any:
    from rge.profile import load_profile

    return load_profile(arguments.config, **_overrides(arguments))


def _overrides(arguments: argparse.Namespace) -> dict[str, Any]:
    import yaml

    return {name: yaml.safe_load(value) for name, value in arguments.parameter}


def _eval(commands: Any) -> None:
    group = commands.add_parser("eval", help="run a study").add_subparsers(required=True)
    parser = _add(group, "run", _eval_run, "run the notebooks of a profile in order")
    _with_profile(parser)
    parser.add_argument("--from", dest="first", type=int, default=1, metavar="NN")
    parser.add_argument("--to", dest="last", type=int, default=99, metavar="NN")
    parser.add_argument(
        "--dry-run", action="store_true", help="print plan and cost of paid calls, run nothing"
    )
    parser.add_argument("--json", action="store_true", help="the dry run for machines")
    parser.add_argument(
        "--fresh", action="store_true", help="set this run's stored results aside first"
    )


def _eval_run(arguments: argparse.Namespace) -> int:
    from rge import pipeline

    profile = _profile(arguments)
    if arguments.dry_run:
        return _dry_run(profile, as_json=arguments.json)
    if arguments.fresh:
        pipeline.set_aside(profile)
    pipeline.run(
        profile,
        first=arguments.first,
        last=arguments.last,
        parameters=_overrides(arguments),
    )
    return 0


def _dry_run(profile: Any, *, as_json: bool) -> int:
    """Say what would be done and what it would cost; call nothing."""
    import json

    from rge import pipeline
    from rge.providers import estimate

    items = estimate.estimate(profile)
    if as_json:
        print(json.dumps(estimate.as_json(profile, items), indent=1, ensure_ascii=False))
        return 0
    print(pipeline.plan(profile))
    print(estimate.as_text(profile, items) if items else "no paid calls")
    return 0


def _budget(commands: Any) -> None:
    group = commands.add_parser("budget", help="money spent").add_subparsers(required=True)
    parser = _add(group, "show", _budget_show, "what paid services cost up to now")
    _with_profile(parser)


def _budget_show(arguments: argparse.Namespace) -> int:
    from rge.providers.hosted import ledger_of
    from rge.providers.prices import dollars

    ledger = ledger_of(_profile(arguments))
    accounts = ledger.read()
    for key, entry in sorted(accounts.booked.items()):
        print(f"${dollars(entry.nano):.4f}  {entry.n_settled} requests  {key}")
    for key, held in sorted(accounts.open.items()):
        print(f"${dollars(held.nano):.4f}  reserved for {held.n_requests} {held.mode}  {key}")
    print(
        f"spent ${dollars(accounts.spent):.4f}, under way ${dollars(accounts.reserved):.4f}, "
        f"cap ${dollars(ledger.cap):.2f}"
    )
    return 0


def _providers(commands: Any) -> None:
    group = commands.add_parser("providers", help="paid services").add_subparsers(required=True)
    smoke = _add(group, "smoke", _providers_smoke, "one call and one batch each, for under $1")
    _with_profile(smoke)
    smoke.set_defaults(config="published")


def _providers_smoke(arguments: argparse.Namespace) -> int:
    from rge.providers.smoke import smoke

    for line in smoke(_profile(arguments)):
        print(line, flush=True)
    return 0


def _corpus(commands: Any) -> None:
    group = commands.add_parser("corpus", help="documents and index").add_subparsers(required=True)
    fetch = _add(group, "fetch", _corpus_fetch, "get the documents, from the network or a folder")
    _with_profile(fetch)
    fetch.add_argument(
        "--from-dir", type=Path, metavar="DIR", help="take saved files instead of the network"
    )
    fetch.add_argument("--only", nargs="+", metavar="DOC_ID", help="these documents only")
    build = _add(group, "build", _corpus_build, "write the invented reports, then the index")
    _with_profile(build)
    check = _add(group, "check", _corpus_check, "one row a document: hash, pages, problems")
    _with_profile(check)
    check.add_argument("--json", action="store_true", help="print one JSON object")


def _corpus_fetch(arguments: argparse.Namespace) -> int:
    from rge import corpus_commands

    table, n_failed = corpus_commands.fetch(
        _profile(arguments), from_dir=arguments.from_dir, only=arguments.only
    )
    print(table)
    return 1 if n_failed else 0


def _corpus_build(arguments: argparse.Namespace) -> int:
    from rge import corpus_commands

    print(corpus_commands.build(_profile(arguments)))
    return 0


def _corpus_check(arguments: argparse.Namespace) -> int:
    from rge import corpus_commands

    table, n_problems = corpus_commands.check(_profile(arguments), as_json=arguments.json)
    print(table)
    return 1 if n_problems else 0


def _questions(commands: Any) -> None:
    group = commands.add_parser("questions", help="the question set").add_subparsers(required=True)
    anchor = _add(group, "anchor", _questions_anchor, "resolve gold chunk ids from gold quotes")
    _with_profile(anchor)
    anchor.add_argument("--write", action="store_true", help="replace the file")
    anchor.add_argument(
        "--find-pages", action="store_true", help="move quotes that stand on one other page"
    )
    anchor.add_argument("--file", type=Path, help="another file than the profile's questions")
    check = _add(group, "validate", _questions_validate, "check every question against the index")
    _with_profile(check)
    check.add_argument("--json", action="store_true", help="print one JSON object")
    check.add_argument("--file", type=Path, help="another file than the profile's questions")
    draft = _add(group, "draft", _questions_draft, "check drafts and show what they retrieve")
    _with_profile(draft)
    draft.add_argument("file", type=Path, help="one draft a line, as JSON")
    draft.add_argument("--write", type=Path, metavar="OUT", help="write them with their gold ids")
    draft.add_argument("--against", type=Path, metavar="SET", help="compare with this set instead")


def _questions_anchor(arguments: argparse.Namespace) -> int:
    from rge import question_commands

    return question_commands.anchor(
        _profile(arguments),
        path=arguments.file,
        write=arguments.write,
        find_pages=arguments.find_pages,
    )


def _questions_validate(arguments: argparse.Namespace) -> int:
    from rge import question_commands

    return question_commands.validate(
        _profile(arguments), path=arguments.file, as_json=arguments.json
    )


def _questions_draft(arguments: argparse.Namespace) -> int:
    from rge import question_commands

    profile = _profile(arguments)
    return question_commands.draft(
        profile, arguments.file, write=arguments.write, against=arguments.against
    )


def _judge(commands: Any) -> None:
    group = commands.add_parser("judge", help="measure and use judges").add_subparsers(
        required=True
    )
    test = _add(group, "test", _judge_test, "run the judge unit tests on a judge")
    _with_profile(test)
    test.add_argument("--judge", required=True, metavar="NAME", help="a judge of the profile")
    test.add_argument("--json", action="store_true", help="print one JSON object")
    test.add_argument(
        "--at-least", type=float, metavar="SHARE", help="exit 1 where fewer checks pass (0 to 1)"
    )
    score = _add(group, "answers", _judge_answers, "score the answers of a file")
    _with_profile(score)
    score.add_argument("--judge", required=True, metavar="NAME", help="a judge of the profile")
    score.add_argument("--in", dest="source", type=Path, required=True, metavar="ANSWERS")
    score.add_argument("--out", dest="target", type=Path, required=True, metavar="JUDGEMENTS")


def _judge_test(arguments: argparse.Namespace) -> int:
    from rge.judging import commands

    return commands.measure_command(
        _profile(arguments), arguments.judge, as_json=arguments.json, at_least=arguments.at_least
    )


def _judge_answers(arguments: argparse.Namespace) -> int:
    from rge.judging import commands

    return commands.answers_command(
        _profile(arguments), arguments.judge, arguments.source, arguments.target
    )


def _board(commands: Any) -> None:
    group = commands.add_parser("board", help="the grounding board").add_subparsers(required=True)
    grade = _add(group, "grade", _board_grade, "grade answers by the items' patterns")
    grade.add_argument("--items", type=Path, required=True)
    grade.add_argument("--answers", type=Path, required=True)
    grade.add_argument("--expect-sha256", metavar="HASH")
    grade.add_argument("--json", action="store_true")
    run = _add(group, "run", _board_run, "have a subject answer the items, then grade them")
    _with_profile(run)
    run.add_argument("--items", type=Path, required=True)
    run.add_argument("--subject", required=True)
    run.add_argument("--runs", type=int, default=1)


def _board_grade(arguments: argparse.Namespace) -> int:
    from rge.board import grade_command

    return grade_command(
        arguments.items,
        arguments.answers,
        expect_sha256=arguments.expect_sha256,
        as_json=arguments.json,
    )


def _board_run(arguments: argparse.Namespace) -> int:
    from rge.board import run_command

    return run_command(_profile(arguments), arguments.items, arguments.subject, arguments.runs)


def _paper(commands: Any) -> None:
    parser = _add(commands, "paper", _paper_render, "render the paper to HTML and PDF")
    _with_profile(parser)
    parser.add_argument("--arxiv", action="store_true", help="also write LaTeX sources for arXiv")


def _paper_render(arguments: argparse.Namespace) -> int:
    from rge.paper import arxiv_archive, render

    profile = _profile(arguments)
    paths = render(profile)
    if profile.is_default:
        from rge import readme

        readme.update(profile)
    print(f"HTML  {paths.html}\nPDF   {paths.pdf}")
    if arguments.arxiv:
        print(f"arXiv {arxiv_archive(profile)}")
    return 0


def _trace(commands: Any) -> None:
    parser = _add(commands, "trace", _trace_print, "follow a response to its passages and verdicts")
    _with_profile(parser)
    parser.add_argument("question_id")
    parser.add_argument("subject")
    parser.add_argument("run_index", type=int, nargs="?", default=0)


def _trace_print(arguments: argparse.Namespace) -> int:
    from rge.trace import trace

    key = (arguments.question_id, arguments.subject, arguments.run_index)
    print(trace(_profile(arguments), key))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
