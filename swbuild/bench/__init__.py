"""What programs cost in model time, beside a bound that no program can beat."""

from swbuild.bench.program import measure_program
from swbuild.bench.results import Measured
from swbuild.bench.session import measure_tasks
from swbuild.bench.tasks import BenchSettings

__all__ = ["BenchSettings", "Measured", "measure_program", "measure_tasks"]
