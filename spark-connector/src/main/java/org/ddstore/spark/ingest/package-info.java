/** Brings rows from Spark's formats into segments. */
package org.ddstore.spark.ingest;
