// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.task;

import java.io.Serializable;
import java.util.function.Consumer;
import org.apache.spark.rdd.RDD;
import org.ddstore.spark.types.PreflightException;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;
import scala.runtime.BoxedUnit;

/** The results of a job as the driver receives them: a byte array per partition. */
public final class ReceivedBytes {
  public static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

  private final RDD<byte[]> job;
  private final byte[][] results;
  private ClassLoader sparkClasses;

  /**
   * Creates the empty results of a job.
   *
   * @param job RDD with one element per partition
   */
  public ReceivedBytes(RDD<byte[]> job) {
    this.job = job;
    this.results = new byte[job.getNumPartitions()][];
  }

  /**
   * Runs the job. Blocks until all tasks have ended or one has failed.
   *
   * @param onResult called with each result, one at a time, on a thread of Spark
   * @throws PreflightException if an executor has another version of the jar
   */
  public void receive(Consumer<byte[]> onResult) {
    try {
      job.sparkContext().runJob(job, new OnlyElement(), new Receiver(onResult), BYTES);
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare
      if (e.getCause() instanceof PreflightException refused) {
        throw refused;
      }
      throw e;
    }
  }

  /** Returns the results by partition, null for those that were not received; not a copy. */
  public byte[][] results() {
    return results;
  }

  /** Returns the class loader of Spark's thread, which knows the classes of the job. */
  public ClassLoader sparkClasses() {
    return sparkClasses;
  }

  private static final class OnlyElement extends AbstractFunction1<Iterator<byte[]>, byte[]>
      implements Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public byte[] apply(Iterator<byte[]> elements) {
      return elements.next();
    }
  }

  private final class Receiver extends AbstractFunction2<Object, byte[], BoxedUnit> {
    private final Consumer<byte[]> onResult;

    Receiver(Consumer<byte[]> onResult) {
      this.onResult = onResult;
    }

    @Override
    public BoxedUnit apply(Object partition, byte[] result) {
      results[(Integer) partition] = result;
      sparkClasses = Thread.currentThread().getContextClassLoader();
      onResult.accept(result);
      return BoxedUnit.UNIT;
    }
  }
}
