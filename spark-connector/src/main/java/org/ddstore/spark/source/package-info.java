/** The data source {@code ddstore}: resident stores as tables of Spark SQL. */
package org.ddstore.spark.source;
