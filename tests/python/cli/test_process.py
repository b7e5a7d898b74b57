# SPDX-License-Identifier: MIT
"""The command line as a process of its own: entry points, interruption, and the bar on a terminal."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import chakra_core as cc
from chakra_core.cli.progress import watch

COMMAND = [sys.executable, "-m", "chakra_core"]


def test_entry_points(folder: Path) -> None:
    done = subprocess.run([*COMMAND, "info", "run.0.et", "--json"], capture_output=True, text=True, check=True)
    assert '"nodes": 3' in done.stdout
    failed = subprocess.run([*COMMAND, "info", "none.et"], capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stdout, failed.stderr) == (1, "", "error: none.et: no such file\n")


def test_cmake_dir_is_beside_the_package() -> None:
    done = subprocess.run([*COMMAND, "--cmake-dir"], capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == Path(cc.__file__).parent / "lib" / "cmake" / "chakra_core"


def test_reader_that_goes_away_is_no_error(folder: Path) -> None:
    for number in range(4, 200):
        (folder / f"run.{number}.et").symlink_to("run.0.et")
    with subprocess.Popen(
        [*COMMAND, "validate", *["run.%d.et"] * 40], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()


SLOW = """
import sys, time
from chakra_core.cli.progress import watch_counts

class Counts:
    done, total, cancelled = 3, 10, False
    def cancel(self):
        self.cancelled = True

counts = Counts()

def work():
    while not counts.cancelled and time.monotonic() < end:
        time.sleep(0.01)
    return "finished"

end = time.monotonic() + float(sys.argv[1])
print("started", flush=True)
try:
    print(watch_counts("working hard", counts, work))
except KeyboardInterrupt:
    print("interrupted, cancelled:", counts.cancelled)
"""


@pytest.mark.usefixtures("heeds_interrupts")
def test_interrupt_stops_the_work() -> None:
    with subprocess.Popen([sys.executable, "-c", SLOW, "60"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted, cancelled: True\n"


def run_on_terminal(code: str, *arguments: str) -> str:
    """Run Python code whose error output is a terminal, and return what was written there."""
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=slave, env=environment
    ) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
        assert process.stdout is not None
        assert b"finished" in process.stdout.read()
    os.close(master)
    return shown.decode()


def test_bar_comes_on_a_terminal_for_long_work_only() -> None:
    shown = run_on_terminal(SLOW, "2")
    assert "working hard" in shown
    assert "3/10" in shown
    assert run_on_terminal(SLOW, "0.1") == ""


def test_watch_hands_on_results_and_errors() -> None:
    assert watch("adding", lambda progress: (progress.done, 3)) == (0, 3)

    def fail(_: cc.Progress) -> None:
        raise cc.ConfigError("wrong")

    with pytest.raises(cc.ConfigError, match="wrong"):
        watch("failing", fail)
