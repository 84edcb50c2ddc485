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
import org.ddstore.spark.task.PartitionJob;
import org.ddstore.spark.task.ReceivedBytes;
import org.ddstore.spark.task.Versioned;
import org.ddstore.spark.types.IngestException;
import scala.collection.Iterator;
import scala.collection.Iterator$;

/**
 * A job with one result per partition that is not a barrier job. Spark tries a failed task four
 * times. Therefore a task whose failure is permanent returns the failure as its result, and the
 * first of them ends the job. All other failures are left to Spark. So are all those of a stage
 * before the job's own, which computes rows for a shuffle: its tasks run no code of this class, and
 * whoever submits the job can only cancel it when a listener reports a permanent failure.
 */
public final class TaskResults {
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
    ReceivedBytes received =
        new ReceivedBytes(new Outcomes<>(source, function, RetryPolicy.of(context)));
    AtomicReference<byte[]> failed = new AtomicReference<>();
    String job = UUID.randomUUID().toString();
    context.addJobTag(job);
    try {
      received.receive(
          outcome -> {
            if (TaskOutcome.isFailure(outcome) && failed.compareAndSet(null, outcome)) {
              context.cancelJobsWithTag(job);
            }
          });
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare
      if (failed.get() == null) {
        throw e;
      }
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
    } finally {
      context.removeJobTag(job);
    }
    if (failed.get() != null) {
      throw TaskOutcome.failure(failed.get(), received.sparkClasses());
    }
    List<R> values = new ArrayList<>();
    for (byte[] result : received.results()) {
      @SuppressWarnings("unchecked") // made by TaskFunction<A, R>
      R value = (R) TaskOutcome.value(result, received.sparkClasses());
      values.add(value);
    }
    return values;
  }

  /** The outcomes of the tasks; computes also the elements inside of the task's try block. */
  private static final class Outcomes<A, R> extends RDD<byte[]> {
    private static final long serialVersionUID = 1L;

    private final RDD<A> source;
    private final Versioned<TaskFunction<A, R>> function;
    private final RetryPolicy policy;

    Outcomes(RDD<A> source, TaskFunction<A, R> function, RetryPolicy policy) {
      super(source, ReceivedBytes.BYTES);
      this.source = source;
      this.function = Versioned.of(function);
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
            function.value().apply(partition.index(), source.iterator(partition, context)));
      } catch (Exception | Error e) {
        if (policy.isPermanent(e)) {
          return TaskOutcome.ofFailure(e);
        }
        throw PartitionJob.unchanged(e);
      }
    }
  }
}
