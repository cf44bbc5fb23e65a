"""The options: each on the command line as ``--sw-NAME`` and in the configuration file as ``sw_name``.

Imported in every pytest session of an environment: only pytest is imported here, and named tuples take a
tenth of the time that dataclasses take to be made.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

__all__ = ["OPTIONS", "TARGETS", "Option", "Settings", "add_options", "is_mode", "read_settings"]

TARGETS = ("emulator", "node", "host")


class Option(NamedTuple):
    """One option: ``kind`` is how its text is read."""

    name: str
    kind: str
    default: Any
    help: str
    metavar: str = ""

    @property
    def flag(self) -> str:
        """The spelling on the command line."""
        return f"--sw-{self.name}"

    @property
    def key(self) -> str:
        """The spelling in the configuration file."""
        return "sw_" + self.name.replace("-", "_")


OPTIONS = (
    Option(
        "target",
        "words",
        ("emulator",),
        "where kernels run: emulator, node, host, or several with commas",
        "T[,T]",
    ),
    Option("require", "flag", False, "a target that is not there is an error instead of a skip"),
    Option(
        "dma",
        "words",
        ("late", "eager"),
        "how the emulator completes transfers: eager, late, random:SEED",
        "MODE[,MODE]",
    ),
    Option("checked", "flag", False, "let the emulator diagnose misuse of transfers, memory and barriers"),
    Option("seed", "int", -1, "seed of the input data, instead of the manifest's", "N"),
    Option(
        "launcher",
        "text",
        "local",
        "how jobs start: local, bsub, swrun, srun, slurm, or a template with {exe}",
        "L",
    ),
    Option("queue", "text", "", "the queue or partition that jobs go to", "Q"),
    Option(
        "launcher-options",
        "text",
        "",
        "more options for the launcher, put where its template says {options}",
        "ARGS",
    ),
    Option(
        "batch",
        "text",
        "auto",
        "jobs for a selection: auto (one), off (one per test), or N tests per job",
        "B",
    ),
    Option("queue-timeout", "seconds", 3600.0, "how long a job may wait for its start", "S"),
    Option("timeout", "seconds", 0.0, "how long one run may take, instead of the manifest's limit", "S"),
    Option("timeout-scale", "float", 1.0, "factor on every time limit of a run (a slow machine)", "F"),
    Option("infra-retries", "int", 1, "how often to try again after a failure of the machinery", "N"),
    Option(
        "breaker",
        "int",
        5,
        "skip a target's rest after so many failures of its machinery in a row; 0: never",
        "N",
    ),
    Option("build-only", "flag", False, "generate and compile, run nothing"),
    Option("artifacts", "text", "", "directory for builds, jobs and data; nodes must see it too", "DIR"),
    Option("keep", "text", "failed", "whose data to keep: failed, all or none", "WHOSE"),
    Option("json", "text", "", "write a report for programs to this file", "FILE"),
    Option("html", "text", "", "write a self-contained page to this file", "FILE"),
    Option(
        "annotations",
        "text",
        "",
        "show failures in the CI's own way: gitlab:FILE, github, or github:FILE",
        "WHERE",
    ),
    Option("baseline", "text", "", "compare exact counters with those in this file", "FILE"),
    Option("update-baseline", "flag", False, "write the counters of this run to the baseline file"),
)


class Settings(NamedTuple):
    """The options of a session, read and checked."""

    target: tuple[str, ...]
    require: bool
    dma: tuple[str, ...]
    checked: bool
    seed: int
    launcher: str
    queue: str
    launcher_options: str
    batch: str
    queue_timeout: float
    timeout: float
    timeout_scale: float
    infra_retries: int
    breaker: int
    build_only: bool
    artifacts: str
    keep: str
    json: str
    html: str
    annotations: str
    baseline: str
    update_baseline: bool


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and its twin."""
    group = parser.getgroup("sunway", "Sunway kernels")
    for option in OPTIONS:
        if option.kind == "flag":
            group.addoption(option.flag, action="store_true", default=None, help=option.help)
        else:
            action = "append" if option.kind == "words" else "store"
            group.addoption(
                option.flag, action=action, metavar=option.metavar, default=None, help=option.help
            )
        parser.addini(option.key, f"{option.help} (as {option.flag})", default=None)
    parser.addini("sw_kernels", "manifests to collect (file names or globs)", type="args", default=[])


def read_settings(config: pytest.Config) -> Settings:
    """Return the options; raise ``UsageError`` with everything that is wrong with them."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for option in OPTIONS:
        try:
            values[option.name.replace("-", "_")] = _value(config, option)
        except ValueError as error:
            problems.append(str(error))
    if not problems:
        problems += _problems(values)
    if problems:
        raise pytest.UsageError("\n".join(problems))
    return Settings(**values)


def _value(config: pytest.Config, option: Option) -> Any:
    given = config.getoption(option.flag)
    if given is not None:
        return _read(option, given, option.flag)
    written = config.getini(option.key)
    return option.default if written in (None, "") else _read(option, written, option.key)


def _read(option: Option, given: Any, name: str) -> Any:
    """Return the value of the text; ``name`` is how the user spelled the option."""
    if option.kind == "flag":
        return given if isinstance(given, bool) else _flag(given, name)
    if option.kind == "words":
        texts = given if isinstance(given, list) else [given]
        return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())
    if option.kind == "text":
        return given
    try:
        return int(given) if option.kind == "int" else float(given)
    except ValueError:
        raise ValueError(f"{name}: {given!r} is not a number") from None


def _flag(text: str, name: str) -> bool:
    known = {
        "true": True,
        "1": True,
        "yes": True,
        "on": True,
        "false": False,
        "0": False,
        "no": False,
        "off": False,
    }
    if text.lower() not in known:
        raise ValueError(f"{name}: write true or false, not {text!r}")
    return known[text.lower()]


def _problems(values: dict[str, Any]) -> list[str]:
    found = [f"--sw-target: {name!r} is none of {', '.join(TARGETS)}" for name in values["target"]
             if name not in TARGETS]  # fmt: skip
    found += [f"--sw-dma: {mode!r} is none of eager, late, random:SEED" for mode in values["dma"]
              if not is_mode(mode)]  # fmt: skip
    if values["batch"] not in ("auto", "off") and not (values["batch"].isdigit() and int(values["batch"])):
        found.append(f"--sw-batch: {values['batch']!r} is none of auto, off and a number from 1 on")
    if values["keep"] not in ("failed", "all", "none"):
        found.append(f"--sw-keep: {values['keep']!r} is none of failed, all and none")
    if values["annotations"] and values["annotations"].partition(":")[0] not in ("github", "gitlab"):
        found.append(f"--sw-annotations: {values['annotations']!r} is neither github nor gitlab:FILE")
    if values["annotations"] == "gitlab":
        found.append("--sw-annotations: gitlab needs a file, as in gitlab:gl-code-quality.json")
    if values["update_baseline"] and not values["baseline"]:
        found.append("--sw-update-baseline needs --sw-baseline=FILE")
    for name in ("queue_timeout", "timeout_scale"):
        if values[name] <= 0:
            found.append(f"--sw-{name.replace('_', '-')} must be larger than 0")
    return found


def is_mode(mode: str) -> bool:
    """Return whether the emulator knows this mode of completion."""
    name, _, seed = mode.partition(":")
    return mode in ("eager", "late") or (name == "random" and seed.isdigit())
