"""The same under PySpark, which needs a Java: ``pip install pyspark pyarrow pandas``."""

import json
import os
import sys

from pyspark.sql import SparkSession

from conspectus import Policy
from conspectus.batch import COLUMNS, Compact, report


def session(n: int) -> str:
    turns = [(f"Turn {turn}: what of bed {n}? " + "It rained. " * 60, "So it is. " * 60) for turn in range(12)]
    messages = [m for ask, say in turns for m in ({"role": "user", "content": ask}, {"role": "assistant", "content": say})]
    return json.dumps([*messages, {"role": "user", "content": "And now?"}])


compact = Compact(Policy(trigger=("tokens", 3000), keep=("messages", 4), window=16_000))
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
builder = SparkSession.builder.master("local[2]").appName("compact")
spark = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").getOrCreate()
try:
    spark.sparkContext.setLogLevel("ERROR")
    sessions = spark.createDataFrame([(n, session(n)) for n in range(20)], "id int, messages string")
    # Of files: spark.read.parquet(...), spark.read.json(...); to files: .write.parquet(...).
    compacted = sessions.mapInArrow(compact.batches, compact.spark_schema(sessions.schema)).cache()
    told = report(compacted.select(*COLUMNS).toLocalIterator())
    print(told)
    # What came out goes through as it is.
    again = compacted.mapInArrow(compact.batches, compact.spark_schema(compacted.schema))
    assert sorted(again.collect()) == sorted(compacted.collect())
finally:
    spark.stop()
