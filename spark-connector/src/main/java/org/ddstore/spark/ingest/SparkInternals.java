// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.Partition;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDDPartition;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.SessionState;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction0;

/** Access to Spark internals that need Scala types or differ between Spark 3.5 and 4.3. */
final class SparkInternals {
  private SparkInternals() {}

  static <T> Seq<T> emptySeq() {
    return CollectionConverters.<T>asScala(List.of()).toSeq();
  }

  static Seq<org.apache.spark.Dependency<?>> noDependencies() {
    return emptySeq();
  }

  static <T> List<T> list(scala.collection.Iterable<T> items) {
    return new ArrayList<>(CollectionConverters.asJava(items.toSeq()));
  }

  /** Runs an action with these settings instead of the session's, which are unchanged. */
  static <T> T withConf(SQLConf conf, Supplier<T> action) {
    return SQLConf.withExistingConf(
        conf,
        new AbstractFunction0<T>() {
          @Override
          public T apply() {
            return action.get();
          }
        });
  }

  static SQLConf conf(Dataset<Row> df) {
    return ((SessionState) call(df.sparkSession(), "sessionState")).conf();
  }

  @SuppressWarnings("unchecked")
  static Dataset<Row> dataFrame(Dataset<Row> sibling, RDD<InternalRow> rows, StructType schema) {
    SparkSession session = sibling.sparkSession();
    return (Dataset<Row>) call(session, "internalCreateDataFrame", rows, schema, false);
  }

  /**
   * Returns the splits read by a partition of a version 2 source: at most one since Spark 4, a list
   * before.
   */
  static List<InputPartition> inputPartitions(DataSourceRDDPartition partition) {
    boolean single = hasMethod(partition, "inputPartition");
    Object found = call(partition, single ? "inputPartition" : "inputPartitions");
    List<InputPartition> inputs = new ArrayList<>();
    if (found instanceof scala.Option<?> option) {
      found = option.toList();
    }
    for (Object input : list((scala.collection.Iterable<?>) found)) {
      inputs.add((InputPartition) input);
    }
    return inputs;
  }

  /** Returns a partition of a version 2 source that reads one split. */
  static Partition partitionOf(int index, InputPartition split) {
    Constructor<?> constructor = DataSourceRDDPartition.class.getConstructors()[0];
    Object input =
        constructor.getParameterTypes()[1] == scala.Option.class
            ? scala.Option.apply(split)
            : CollectionConverters.asScala(List.of(split)).toSeq();
    try {
      return (Partition) constructor.newInstance(index, input);
    } catch (ReflectiveOperationException e) {
      throw unknownSpark(DataSourceRDDPartition.class, "constructor", e);
    }
  }

  /** Returns whether a task has a whole number of CPUs, as up to Spark 4.2. */
  static boolean hasWholeCpus() {
    return TaskContextImpl.class.getConstructors()[0].getParameterTypes()[10] == int.class;
  }

  /** Returns another context of a task, without its listeners, from Spark 4.3 on. */
  static TaskContext newTaskContext(TaskContext task) {
    try {
      return (TaskContext)
          TaskContextImpl.class.getConstructors()[0].newInstance(
              task.stageId(),
              task.stageAttemptNumber(),
              task.partitionId(),
              task.taskAttemptId(),
              task.attemptNumber(),
              task.numPartitions(),
              task.taskMemoryManager(),
              task.getLocalProperties(),
              SparkEnv.get().metricsSystem(),
              task.taskMetrics(),
              call(task, "cpuAmount"),
              task.resources());
    } catch (ReflectiveOperationException e) {
      throw unknownSpark(TaskContextImpl.class, "constructor", e);
    }
  }

  private static boolean hasMethod(Object target, String name) {
    for (Method method : target.getClass().getMethods()) {
      if (method.getName().equals(name)) {
        return true;
      }
    }
    return false;
  }

  private static Object call(Object target, String name, Object... arguments) {
    for (Method method : target.getClass().getMethods()) {
      if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
        try {
          return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
          if (e.getCause() instanceof RuntimeException cause) {
            throw cause;
          }
          throw unknownSpark(target.getClass(), name, e);
        } catch (IllegalAccessException e) {
          throw unknownSpark(target.getClass(), name, e);
        }
      }
    }
    throw unknownSpark(target.getClass(), name, null);
  }

  private static IllegalStateException unknownSpark(Class<?> type, String what, Exception cause) {
    return new IllegalStateException(
        "unknown %s of %s: use Spark 3.5 to 4.3".formatted(what, type.getName()), cause);
  }
}
