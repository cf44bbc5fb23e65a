"""What programs cost in model time, beside a bound that no program can beat."""

from swbuild.bench.results import Measured
from swbuild.bench.session import BenchSettings, measure_tasks

__all__ = ["BenchSettings", "Measured", "measure_tasks"]
