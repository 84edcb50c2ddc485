# SPDX-License-Identifier: Apache-2.0
"""The program of the kernel for Python: IPython, whose Spark application ends before it does.

Its arguments are a folder for the log of Spark, options of spark-submit up to "pyspark-shell", and those of Jupyter.
"""

import os
import secrets
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import psutil
import pyspark
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp

EXIT_S = 40.0

#: a program whose cells do not show what Java says at each start
SUBMIT = """#!/bin/bash
exec 2> >(exec grep --line-buffered -v -e '^WARNING: Using incubator modules' -e 'Picked up J[A-Z_]*OPTIONS' >&2)
exec {home}/bin/spark-submit "$@"
"""


def prepare(logs: Path, options: list[str]) -> Path:
    """Sets what PySpark reads from the environment; returns the private folder of the files of the application."""
    work = Path(mkdtemp(prefix="python-", dir=Path(os.environ["JUPYTER_PATH"])))
    conf = Path(os.environ.get("SPARK_HOME", work), "conf")
    if conf.is_dir():
        os.environ.setdefault("SPARK_CONF_DIR", str(conf))
    home = Path(pyspark.__file__).parent
    (work / "bin").mkdir()
    for file in (home / "jars", home / "python", *home.glob("bin/*")):
        (work / file.relative_to(home)).symlink_to(file)
    submit = work / "bin/spark-submit"
    submit.unlink()
    submit.write_text(SUBMIT.format(home=shlex.quote(str(home))))
    submit.chmod(0o700)
    log = logs / f"kernel-{os.getpid()}.log"
    print("ddstore: log of Spark:", log, file=sys.stderr)
    scratch = f'-Djava.io.tmpdir="{work}"'
    settings = {
        "spark.sql.warehouse.dir": (work / "warehouse").as_uri(),
        "spark.driver.defaultJavaOptions": f'{scratch} -Dddstore.notebook.log="{log}" '
        f'-Dlog4j2.configurationFile="{os.environ["DDSTORE_NOTEBOOK_LOG4J"]}"',
        "spark.executor.defaultJavaOptions": scratch,
    }
    arguments = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    if "spark.authenticate=true" in options:
        secret = work / "secret.conf"  # no argument, which other users could see
        secret.write_text(f"spark.authenticate.secret {secrets.token_hex(32)}\n")
        arguments += ["--properties-file", str(secret), "--load-spark-defaults"]
    os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join([*arguments, *options])
    os.environ["SPARK_HOME"] = str(work)  # workers of Spark write to its folder "work"
    os.environ["SPARK_LOCAL_DIRS"] = str(work)
    return work


def end_spark() -> None:
    """Stops Spark, and waits for its processes on this machine; kills those that do not end."""
    context, gateway = pyspark.SparkContext._active_spark_context, pyspark.SparkContext._gateway
    if gateway is None:
        return
    with suppress(psutil.NoSuchProcess):
        java = psutil.Process(gateway.proc.pid)
        processes = [java, *java.children(recursive=True)]
        try:
            if context is not None:
                context.stop()
            gateway.shutdown()
            gateway.proc.stdin.close()  # Java ends
        finally:
            for process in psutil.wait_procs(processes, EXIT_S)[1]:
                process.kill()


class Kernel(IPythonKernel):
    work: Path

    async def do_shutdown(self, restart: bool) -> Any:
        try:
            end_spark()
        finally:
            shutil.rmtree(self.work, ignore_errors=True)
        return super().do_shutdown(restart)


if __name__ == "__main__":
    end = sys.argv.index("pyspark-shell") + 1
    Kernel.work = prepare(Path(sys.argv[1]), sys.argv[2:end])
    del sys.path[0]  # this folder
    IPKernelApp.launch_instance(argv=sys.argv[end:], kernel_class=Kernel)
