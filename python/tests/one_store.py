# SPDX-License-Identifier: Apache-2.0
"""Loads a store, reads its rows on two ranks, drops it, and prints the results or the refusal."""

import os

from pyspark.sql import SparkSession

import ddstore.spark

spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .config("spark.jars", os.environ["DDSTORE_JAR"])
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
try:
    store = ddstore.spark.load(spark.range(1000), "ids", ranks=2)
    assert store.to_df().count() == 1000
    results = store.run(lambda rank: (rank.rank, int(rank.store[-1]["id"]) + 1))
    store.drop()
    assert ddstore.spark.list(spark) == []
    print(results)
except RuntimeError as e:
    print(f"{type(e).__name__}: {e}")
finally:
    spark.stop()
