// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.spark.ingest.RowBlocks;
import org.ddstore.types.DDStoreException;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/** A barrier stage over an RDD; the only class that calls Spark's Scala functions for tasks. */
public final class BarrierStage {
  private static final ClassTag<Object> ANY = ClassTag$.MODULE$.apply(Object.class);

  private BarrierStage() {}

  /** The work of a task on the rows of its partition. */
  public interface TaskBody<T> extends Serializable {
    T run(Iterator<InternalRow> rows) throws Exception;
  }

  /**
   * Runs one task per partition, all at the same time, and returns their results by partition.
   * Blocks until all have ended or one has failed.
   */
  public static <T> List<T> run(RDD<InternalRow> rows, TaskBody<T> body) {
    List<T> list = new ArrayList<>();
    for (Object result : (Object[]) stage(rows, body).collect()) {
      @SuppressWarnings("unchecked") // made by TaskFunction<T>
      T typed = (T) result;
      list.add(typed);
    }
    return list;
  }

  private static RDD<Object> stage(RDD<InternalRow> rows, TaskBody<?> body) {
    return rows.barrier().mapPartitions(new TaskFunction<>(body), false, ANY);
  }

  /**
   * Waits until one task per partition can run at the same time.
   *
   * @return false if that was impossible until the timeout, or a task failed
   * @throws DDStoreException if the thread is interrupted
   */
  public static boolean awaitSlots(RDD<InternalRow> partitions, Duration timeout) {
    JavaFutureAction<List<Object>> job =
        new JavaRDD<>(stage(partitions, rows -> rows.hasNext()), ANY).collectAsync();
    try {
      job.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException | ExecutionException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while waiting for slots", e);
    } finally {
      job.cancel(true); // no effect if it has ended
    }
  }

  private static final class TaskFunction<T>
      extends AbstractFunction1<
          scala.collection.Iterator<InternalRow>, scala.collection.Iterator<Object>>
      implements Serializable {
    private static final long serialVersionUID = 1L;

    private final TaskBody<T> body;

    TaskFunction(TaskBody<T> body) {
      this.body = body;
    }

    @Override
    public scala.collection.Iterator<Object> apply(scala.collection.Iterator<InternalRow> rows) {
      try {
        return scala.collection.Iterator$.MODULE$.<Object>single(body.run(RowBlocks.asJava(rows)));
      } catch (Exception e) {
        throw sneaky(e);
      }
    }

    /** Throws a checked exception unchanged, because Spark identifies failures by their class. */
    @SuppressWarnings("unchecked")
    private static <E extends Exception> RuntimeException sneaky(Exception e) throws E {
      throw (E) e;
    }
  }
}
