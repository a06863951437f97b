"""A Dask scheduler and workers as processes of their own, to be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 60.0


class Cluster:
    """A scheduler and workers of one thread; ends them all when left."""

    def __init__(self, folder: Path, workers: int = 3) -> None:
        self.file = folder / f"scheduler-{time.monotonic_ns()}.json"
        self.folder = folder
        self.log = (folder / "cluster.log").open("ab")
        scheduler = ["dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self.scheduler = self._start(*scheduler, "--scheduler-file", str(self.file))
        self.address = self._address()
        self.workers = [self._worker() for _ in range(workers)]

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        source = Path(__import__("gough").__file__).parents[1]
        found = os.environ | {"PYTHONPATH": str(source), "GOUGH_THREADS": "1"}
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
        return subprocess.Popen(
            command, stdout=self.log, stderr=self.log, env=found, cwd=self.folder
        )

    def _worker(self) -> subprocess.Popen[bytes]:
        options = ("--nworkers", "1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
        return self._start(
            "dask_worker", self.address, *options, "--local-directory", str(self.folder)
        )

    def _address(self) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.file.exists() and (text := self.file.read_text()):
                return str(json.loads(text)["address"])
            time.sleep(0.05)
        raise TimeoutError("no scheduler")

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            if process.poll() is None:
                process.kill()
            process.wait()
        self.log.close()
