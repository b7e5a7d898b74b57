# SPDX-License-Identifier: MIT
"""Where traces come from and go to, and what is raised when that fails."""

from __future__ import annotations

import errno
import io
import os
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import chakra_core as cc
from chakra_core import proto
from et_records import node_file

FILE = node_file(proto.Node(id=1, name="a"), proto.Node(id=2, data_deps=[1]))


def test_paths_bytes_and_open_files(tmp_path: Path) -> None:
    path = tmp_path / "a.et"
    path.write_bytes(FILE)
    with path.open("rb") as stream:
        from_stream = cc.load(stream)
    sources = [cc.load(str(path)), cc.load(path), from_stream, cc.load(io.BytesIO(FILE)), cc.load(FILE)]
    sources += [cc.load(bytearray(FILE)), cc.load(memoryview(FILE))]
    for trace in sources:
        assert trace.ids.tolist() == [1, 2]
    assert sources[0].source == from_stream.source == str(path)
    assert cc.load(FILE).source == "<bytes>"


def test_buffer_may_change_after_loading() -> None:
    buffer = bytearray(FILE)
    trace = cc.load(buffer)
    buffer[:] = bytes(len(buffer))
    assert trace.names.to_list() == ["a", ""]


def test_buffers_that_are_no_row_of_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        cc.load(memoryview(FILE)[::2])
    with pytest.raises(ValueError, match="contiguous"):
        cc.load(memoryview(np.zeros((2, 3), np.uint8)))


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="on_error"):
        cc.load(FILE, on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="compression"):
        cc.save(cc.load(FILE), tmp_path / "a", compression="zip")  # type: ignore[arg-type]
    with pytest.raises(cc.ChakraError, match="level 0"):
        cc.save(cc.load(FILE), tmp_path / "a.gz", level=0)
    with pytest.raises(cc.ChakraError, match="zstd"):
        cc.save(cc.load(FILE), tmp_path / "a.et.zst", level=99)
    with pytest.raises(TypeError):
        cc.load(3)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda folder: folder / "absent.et", FileNotFoundError),
        (lambda folder: folder, IsADirectoryError),
        (lambda folder: folder / "file" / "a.et", NotADirectoryError),
    ],
)
def test_files_that_cannot_be_opened_are_os_errors(tmp_path: Path, make, error) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "file").write_bytes(b"")
    path = make(tmp_path)
    with pytest.raises(error) as caught:
        cc.load(path)
    assert caught.value.filename == str(path)
    with pytest.raises(error) as caught:
        cc.save(cc.load(FILE), path / "a.et" if error is FileNotFoundError else path)
    assert caught.value.errno == {FileNotFoundError: errno.ENOENT, IsADirectoryError: errno.EISDIR}.get(
        error, errno.ENOTDIR
    )


def test_a_path_that_is_not_utf8(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.et")
    with pytest.raises(FileNotFoundError) as missing:
        cc.load(path)
    assert missing.value.filename == path
    Path(path).write_bytes(FILE + b"\x05")
    with pytest.raises(cc.FormatError) as caught:
        cc.load(path)
    assert caught.value.path == path
    trace = cc.load(path, on_error="recover")
    assert trace.source == path
    assert "2 nodes" in repr(trace)


class TestErrorClasses:
    def test_format_error_says_where(self, tmp_path: Path) -> None:
        path = tmp_path / "a.et"
        path.write_bytes(FILE[:-1])
        with pytest.raises(cc.FormatError) as caught:
            cc.load(path)
        error = caught.value
        assert (error.path, error.record, error.offset) == (str(path), 2, len(node_file(proto.Node(id=1, name="a"))))
        assert str(error).startswith(f"{path}: record 2, byte offset {error.offset}: ")
        assert isinstance(error, (cc.ChakraError, ValueError))

    def test_they_survive_pickling(self) -> None:
        with pytest.raises(cc.FormatError) as caught:
            cc.load(FILE[:-1])
        again = pickle.loads(pickle.dumps(caught.value))
        assert (type(again), str(again), again.record) == (cc.FormatError, str(caught.value), 2)

    def test_made_in_python_they_have_their_attributes(self) -> None:
        assert (cc.FormatError("x").path, cc.FormatError("x").record, cc.FormatError("x").offset) == (None, None, None)
        assert list(cc.DependencyError("x").nodes) == []

    def test_one_hierarchy(self) -> None:
        for name in ("FormatError", "LinkError", "DependencyError", "ConfigError", "SimulationError", "Cancelled"):
            error = getattr(cc, name)
            assert issubclass(error, cc.ChakraError)
            assert error.__module__ == "chakra_core"
            assert error.__doc__
        assert not issubclass(cc.ChakraError, OSError)


def test_validate_takes_what_load_takes_and_recovers(tmp_path: Path) -> None:
    (tmp_path / "a.et").write_bytes(FILE + b"\x7f")
    for source in (tmp_path / "a.et", FILE + b"\x7f"):
        assert cc.validate(source).counts == {"truncated_file": 1}
    report = cc.validate(cc.load(FILE))
    assert (report.ok, len(report), bool(report)) == (True, 0, True)


def test_progress_counts_and_cancels() -> None:
    progress = cc.Progress()
    cc.load(FILE, progress=progress)
    assert progress.done == progress.total == len(FILE)
    progress.cancel()
    with pytest.raises(cc.Cancelled):
        cc.load(FILE, progress=progress)


def test_loading_and_saving_let_other_threads_run(tmp_path: Path) -> None:
    """A thread that holds the interpreter's lock all the time would never see the load begin."""
    big = node_file(*(proto.Node(id=row, name="n" * 50) for row in range(100_000)))
    progress = cc.Progress()
    seen = []
    thread = threading.Thread(target=lambda: seen.append(len(cc.load(big, progress=progress))))
    thread.start()
    while progress.done == 0 and thread.is_alive():
        pass
    was_running = thread.is_alive()
    thread.join()
    assert seen == [100_000]
    assert was_running or progress.done == len(big)
