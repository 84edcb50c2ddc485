// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.failure;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.ddstore.spark.types.IngestException;
import scala.collection.Iterator;
import scala.collection.Iterator$;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;
import scala.runtime.BoxedUnit;

/**
 * A job with one result per partition that is not a barrier job. Spark tries a failed task four
 * times. Therefore a task whose failure is permanent returns the failure as its result, and the
 * first of them ends the job. All other failures are left to Spark. So are all those of a stage
 * before the job's own, which computes rows for a shuffle: its tasks run no code of this class, and
 * whoever submits the job can only cancel it when a listener reports a permanent failure.
 */
public final class TaskResults {
  private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

  private TaskResults() {}

  /** The work of a task on a partition; its result is serializable. */
  @FunctionalInterface
  public interface TaskFunction<A, R> extends Serializable {
    R apply(int partition, Iterator<A> elements) throws Exception;
  }

  /**
   * Runs one task per partition and returns their results by partition. Blocks.
   *
   * @throws TaskFailedException after the first permanent failure of a task
   * @throws IngestException as a task has thrown it
   */
  public static <A, R> List<R> of(RDD<A> source, TaskFunction<A, R> function) {
    SparkContext context = source.sparkContext();
    Outcomes<A, R> outcomes = new Outcomes<>(source, function, RetryPolicy.of(context));
    Received received = new Received(context, source.getNumPartitions());
    context.addJobTag(received.job);
    try {
      context.runJob(outcomes, new Only(), received, BYTES);
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare
      if (received.failed.get() == null) {
        throw e;
      }
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
    } finally {
      context.removeJobTag(received.job);
    }
    byte[] failed = received.failed.get();
    if (failed != null) {
      throw TaskOutcome.failure(failed, received.sparkClasses);
    }
    List<R> values = new ArrayList<>();
    for (byte[] result : received.results) {
      @SuppressWarnings("unchecked") // made by TaskFunction<A, R>
      R value = (R) TaskOutcome.value(result, received.sparkClasses);
      values.add(value);
    }
    return values;
  }

  /** The outcomes that the driver receives, on a thread of Spark. */
  private static final class Received extends AbstractFunction2<Object, byte[], BoxedUnit> {
    private final String job = UUID.randomUUID().toString();
    private final AtomicReference<byte[]> failed = new AtomicReference<>();
    private final SparkContext context;
    private final byte[][] results;
    private ClassLoader sparkClasses;

    Received(SparkContext context, int partitions) {
      this.context = context;
      this.results = new byte[partitions][];
    }

    @Override
    public BoxedUnit apply(Object partition, byte[] outcome) {
      results[(Integer) partition] = outcome;
      sparkClasses = Thread.currentThread().getContextClassLoader();
      if (TaskOutcome.isFailure(outcome) && failed.compareAndSet(null, outcome)) {
        context.cancelJobsWithTag(job);
      }
      return BoxedUnit.UNIT;
    }
  }

  private static final class Only extends AbstractFunction1<Iterator<byte[]>, byte[]>
      implements Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public byte[] apply(Iterator<byte[]> outcomes) {
      return outcomes.next();
    }
  }

  /** The outcomes of the tasks; computes also the elements inside of the task's try block. */
  private static final class Outcomes<A, R> extends RDD<byte[]> {
    private static final long serialVersionUID = 1L;

    private final RDD<A> source;
    private final TaskFunction<A, R> function;
    private final RetryPolicy policy;

    Outcomes(RDD<A> source, TaskFunction<A, R> function, RetryPolicy policy) {
      super(source, BYTES);
      this.source = source;
      this.function = function;
      this.policy = policy;
    }

    @Override
    public Partition[] getPartitions() {
      return source.partitions();
    }

    @Override
    public Iterator<byte[]> compute(Partition partition, TaskContext context) {
      return Iterator$.MODULE$.single(outcome(partition, context));
    }

    private byte[] outcome(Partition partition, TaskContext context) {
      try {
        return TaskOutcome.ofValue(
            function.apply(partition.index(), source.iterator(partition, context)));
      } catch (Exception | Error e) {
        if (policy.isPermanent(e)) {
          return TaskOutcome.ofFailure(e);
        }
        throw unchanged(e);
      }
    }

    /** Throws a checked exception unchanged, because Spark identifies failures by their class. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException unchanged(Throwable e) throws E {
      throw (E) e;
    }
  }
}
