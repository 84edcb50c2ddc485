// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.task;

import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.ddstore.types.DDStoreException;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/**
 * A job with one result per partition of an RDD, which travels as {@link JavaBytes}. Jobs of a
 * plan, whose tasks return permanent failures, too, are run by {@code TaskResults}.
 *
 * @param <R> type of the results, serializable
 */
public final class PartitionJob<R> {
  private final RDD<byte[]> results;

  private PartitionJob(RDD<byte[]> results) {
    this.results = results;
  }

  /** The work of a task on the elements of its partition. */
  @FunctionalInterface
  public interface Body<T, R> extends Serializable {
    R run(Iterator<T> elements) throws Exception;
  }

  /** Returns a job with one task per partition. */
  public static <T, R> PartitionJob<R> of(RDD<T> rdd, Body<T, R> body) {
    return new PartitionJob<>(
        rdd.mapPartitions(new TaskFunction<>(body), false, ReceivedBytes.BYTES));
  }

  /** Returns a job with one task per partition, all at the same time. */
  public static <T, R> PartitionJob<R> barrier(RDD<T> rdd, Body<T, R> body) {
    return new PartitionJob<>(
        rdd.barrier().mapPartitions(new TaskFunction<>(body), false, ReceivedBytes.BYTES));
  }

  /**
   * Returns the results by partition. Blocks until all tasks have ended or one has failed.
   *
   * @throws DDStoreException if the driver cannot read a result
   */
  public List<R> run() {
    ReceivedBytes received = new ReceivedBytes(results);
    received.receive(result -> {});
    return values(received.results(), received.sparkClasses());
  }

  /**
   * Returns the results by partition. Blocks for at most a timeout, and cancels the job then.
   *
   * @throws ExecutionException if a task has failed
   */
  public List<R> run(Duration timeout)
      throws InterruptedException, ExecutionException, TimeoutException {
    JavaFutureAction<List<byte[]>> job = new JavaRDD<>(results, ReceivedBytes.BYTES).collectAsync();
    try {
      List<byte[]> received = job.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      return values(received.toArray(new byte[0][]), PartitionJob.class.getClassLoader());
    } finally {
      job.cancel(true); // no effect if it has ended
    }
  }

  private List<R> values(byte[][] received, ClassLoader sparkClasses) {
    List<R> values = new ArrayList<>();
    for (int task = 0; task < received.length; task++) {
      try {
        @SuppressWarnings("unchecked") // made by TaskFunction<T, R>
        R value = (R) JavaBytes.value(received[task], sparkClasses);
        values.add(value);
      } catch (Exception e) { // ClassNotFoundException is undeclared
        throw new DDStoreException(
            "the driver cannot read the result of task %d: %s".formatted(task, e), e);
      }
      received[task] = null; // large results are not held twice
    }
    return values;
  }

  /** Throws a checked exception unchanged, because Spark identifies failures by their class. */
  @SuppressWarnings("unchecked")
  public static <E extends Throwable> RuntimeException unchanged(Throwable e) throws E {
    throw (E) e;
  }

  private static final class TaskFunction<T, R>
      extends AbstractFunction1<Iterator<T>, Iterator<byte[]>> implements Serializable {
    private static final long serialVersionUID = 1L;

    private final Versioned<Body<T, R>> body;

    TaskFunction(Body<T, R> body) {
      this.body = Versioned.of(body);
    }

    @Override
    public Iterator<byte[]> apply(Iterator<T> elements) {
      try {
        return scala.collection.Iterator$.MODULE$.<byte[]>single(
            JavaBytes.of(body.value().run(elements)));
      } catch (Exception e) {
        throw unchanged(e);
      }
    }
  }
}
