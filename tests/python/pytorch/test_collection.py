# SPDX-License-Identifier: MIT
"""Recording a training. What needs PyTorch is skipped where that is not installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import chakra_core as cc
from chakra_core.cli import main

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")

TRAINING = """
import os, sys
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 16), torch.nn.ReLU(), torch.nn.Linear(16, 8))
if "RANK" in os.environ:
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.Adam(model.parameters())
other = torch.optim.SGD(model.parameters())
def train():
    optimizer.zero_grad()
    model(torch.randn(4, 32)).sum().backward()
    other.step()
    optimizer.step()
"""


def link_all(folder: Path, ranks: int) -> list[Any]:
    """Link what was collected; every id must match."""
    names = {f"{side}.{rank}.json.gz" for rank in range(ranks) for side in ("host", "device")}
    assert {path.name for path in folder.iterdir()} == names, "nothing else stays"
    linked = [cc.link(folder / f"host.{rank}.json.gz", folder / f"device.{rank}.json.gz") for rank in range(ranks)]
    for one in linked:
        coverage = one.report.counts["coverage"]
        assert coverage["host ops"] > 100
        # Annotations of gloo are matched, too, but are no operators.
        assert coverage["matched by record function id"] >= coverage["device trace ops"]
        # The observer notes the process groups at its start, just before the profiler keeps anything.
        assert coverage["host ops"] - coverage["host ops matched"] == (1 if one.process_groups else 0)
        assert cc.replay(cc.convert(one)).start_error_ns["max"] == 0
    return linked


def run(script: str, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(TRAINING + script)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


COLLECTING = """
import chakra_core as cc
class Stop(Exception): pass
with cc.collect("traces", steps=3, wait=1) as step:
    for number in range(8):
        train()
        step()
        if number == int(sys.argv[1]): raise Stop
assert step.done
assert step.calls == 8
"""


@needs_torch
def test_steps_are_recorded(tmp_path: Path) -> None:
    done = run(COLLECTING, tmp_path, sys.executable, "train.py", "99")
    assert done.returncode == 0, done.stderr
    (linked,) = link_all(tmp_path / "traces", 1)
    names = cc.convert(linked).names
    assert sum(name == "Optimizer.step#Adam.step" for name in names) == 3


@needs_torch
def test_what_was_recorded_is_there_when_the_training_raises(tmp_path: Path) -> None:
    done = run(COLLECTING, tmp_path, sys.executable, "train.py", "3")
    assert "Stop" in done.stderr
    (linked,) = link_all(tmp_path / "traces", 1)
    assert sum(name == "Optimizer.step#Adam.step" for name in cc.convert(linked).names) == 2


@needs_torch
def test_too_few_steps_are_told(tmp_path: Path) -> None:
    script = COLLECTING.replace("range(8)", "range(1)")
    done = run(script, tmp_path, sys.executable, "train.py", "99")
    assert "nothing was recorded: the step was called 1 times" in done.stderr
    assert list((tmp_path / "traces").iterdir()) == []


@needs_torch
def test_two_ranks_of_gloo(tmp_path: Path) -> None:
    ranks = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "train.py", "99"]
    done = run(COLLECTING, tmp_path, *ranks)
    assert done.returncode == 0, done.stderr
    linked = link_all(tmp_path / "traces", 2)
    assert [one.rank for one in linked] == [0, 1]
    traces = [cc.convert(one) for one in linked]
    found = cc.check_ranks(traces)
    assert found.ok, found.text
    assert sum(found.collectives.values()) >= 3
    assert cc.recorded_groups(traces).groups == {"0": (0, 1)}


@needs_torch
@pytest.mark.parametrize("ranks", [1, 2])
def test_the_command_records_an_unchanged_program(
    tmp_path: Path, ranks: int, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(TRAINING + "for _ in range(8): train()\nprint('trained', os.environ.get('MARK'))\n")
    Path("sitecustomize.py").write_text("import os\nos.environ['MARK'] = 'own hook'\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    launcher = [] if ranks == 1 else ["-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
    assert main(["collect", "-o", "traces", "--steps", "2", "--", sys.executable, *launcher, "train.py"]) == 0
    output = capfd.readouterr().out
    assert output.count("trained own hook") == ranks
    for rank, one in enumerate(link_all(tmp_path / "traces", ranks)):
        coverage = one.report.counts["coverage"]
        assert f"rank {rank}: " in output
        assert f"{coverage['host ops matched']} of {coverage['host ops']} operators matched" in output
        assert sum(name == "Optimizer.step#Adam.step" for name in cc.convert(one).names) == 2


@needs_torch
def test_the_command_tells_what_was_not_recorded(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(TRAINING + "train()\n")
    assert main(["collect", "--", sys.executable, "train.py"]) == 1
    assert "nothing was recorded" in capfd.readouterr().err


def test_a_program_without_torch_runs_as_it_would(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = "import sys; print('chakra_core' in sys.modules); sys.exit(7)"
    assert main(["collect", "--", sys.executable, "-c", script]) == 7
    captured = capfd.readouterr()
    assert captured.out == "False\n"
    assert "status 7" in captured.err
    assert main(["collect", "--", "no-such-program"]) == 1
    assert "no-such-program" in capfd.readouterr().err


def test_numbers_are_checked(tmp_path: Path) -> None:
    for options in ({"steps": 0}, {"warmup": -1}, {"wait": -1}):
        with pytest.raises(ValueError, match="must be"), cc.collect(tmp_path, **options):
            pass


def test_without_torch_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(cc.ChakraError, match="pip install torch"), cc.collect(tmp_path):
        pass
