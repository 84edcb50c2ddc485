// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;

/**
 * A user's steps on a release of Spark, in one application: every type, mode and SQL statement by
 * the connector's {@code RoundTripProgram}, the quick start, and the demo, which ends the JVM. Only
 * Spark is on the class path at compile time: the runtime jar and the command line are passed by
 * {@code --jars}, the examples are the application.
 */
public final class ReleaseProgram {
  private static final String ROUND_TRIP = "org.ddstore.spark.source.RoundTripProgram";
  private static final String QUICK_START = "org.ddstore.examples.QuickStart";
  private static final String COMMAND_LINE = "org.ddstore.cli.Main";

  private ReleaseProgram() {}

  /**
   * Prints {@code equal}, the means of the quick start and what the demo prints. Arguments: the
   * rows of the round trip, the path and the column of the quick start, those of the command line.
   */
  public static void main(String[] arguments) throws ReflectiveOperationException {
    SparkSession spark = SparkSession.builder().getOrCreate();
    spark.sparkContext().setLogLevel("WARN");
    Method roundTrip = method(ROUND_TRIP, "run", SparkSession.class, long.class);
    roundTrip.invoke(null, spark, Long.parseLong(arguments[0]));
    System.out.println("equal");
    Method means = method(QUICK_START, "means", Dataset.class, String.class);
    System.out.println(means.invoke(null, spark.read().parquet(arguments[1]), arguments[2]));
    String[] command = Arrays.copyOfRange(arguments, 3, arguments.length);
    method(COMMAND_LINE, "main", String[].class).invoke(null, (Object) command);
  }

  /** Finds a method in the program's jars, which the class loader of this class does not see. */
  private static Method method(String type, String name, Class<?>... parameters)
      throws ReflectiveOperationException {
    ClassLoader jars = Thread.currentThread().getContextClassLoader();
    Method method = Class.forName(type, true, jars).getDeclaredMethod(name, parameters);
    method.setAccessible(true);
    return method;
  }
}
