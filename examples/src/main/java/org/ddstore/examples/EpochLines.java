// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.Serializable;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.util.CollectionAccumulator;
import org.ddstore.local.EmbeddedSpark;
import scala.Tuple4;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The lines about the epochs of a training, which the driver prints while the ranks train: rank 0
 * adds them to an accumulator, whose values come with the heartbeats of its executor, and the
 * others when the training has ended. Each epoch is printed once and in order, also if the ranks
 * start again. Printed by a thread of Spark and by {@link #close()}.
 */
public final class EpochLines implements AutoCloseable {
  /** What an element of the accumulator is: a class of the JDK, which every driver can load. */
  private static final Pattern ELEMENT = Pattern.compile("(?s)(note|epoch) (\\d+) (.*)");

  private final SparkContext context;
  private final CollectionAccumulator<String> reported;
  private final Consumer<String> printer;
  private final Set<String> notes = new HashSet<>();
  private int lastEpoch;

  private final SparkListener heartbeats =
      new SparkListener() {
        @Override
        public void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate update) {
          for (Tuple4<?, ?, ?, scala.collection.immutable.Seq<AccumulableInfo>> task :
              CollectionConverters.asJava(update.accumUpdates())) {
            for (AccumulableInfo each : CollectionConverters.asJava(task._4())) {
              if (each.id() == reported.id() && each.update().isDefined()) {
                print((List<?>) each.update().get());
              }
            }
          }
        }
      };

  /** Opens the lines of a training that is about to start. */
  public EpochLines(SparkContext context, Consumer<String> printer) {
    this(context, new CollectionAccumulator<>(), printer);
    context.register(reported, "lines of epochs");
    context.addSparkListener(heartbeats);
  }

  /** Makes lines without heartbeats. */
  EpochLines(
      SparkContext context, CollectionAccumulator<String> reported, Consumer<String> printer) {
    this.context = context;
    this.reported = reported;
    this.printer = printer;
  }

  /** Returns settings by which the lines of an own Spark come within two seconds. */
  public static Map<String, String> settings() {
    return EmbeddedSpark.isSubmitted()
        ? Map.of()
        : Map.of("spark.executor.heartbeatInterval", "1s");
  }

  /** Returns the part of the ranks. */
  public Reporter reporter() {
    return new Reporter(reported);
  }

  /**
   * The part of the ranks.
   *
   * @param lines accumulator of this task
   */
  public record Reporter(CollectionAccumulator<String> lines) implements Serializable {
    /**
     * Reports the end of an epoch, on rank 0.
     *
     * @param epoch number of the epoch, from 1
     */
    public void epoch(int rank, int epoch, String result) {
      if (rank == 0) {
        lines.add("epoch %d Epoch %2d  %s".formatted(epoch, epoch, result));
      }
    }

    /**
     * Reports something else, on rank 0. It is printed once.
     *
     * @param epochs number of the epochs before it, which are not printed after it
     */
    public void note(int rank, int epochs, String line) {
      if (rank == 0) {
        lines.add("note %d %s".formatted(epochs, line));
      }
    }
  }

  /** Prints what is new in all elements that a task has reported so far. */
  synchronized void print(List<?> elements) {
    for (Object element : elements) {
      Matcher parts = ELEMENT.matcher(element.toString());
      if (!parts.matches()) {
        throw new IllegalArgumentException("not an element: " + element);
      }
      int epoch = Integer.parseInt(parts.group(2));
      boolean isNote = parts.group(1).equals("note");
      if (isNote ? notes.add(parts.group(3)) : epoch > lastEpoch) {
        printer.accept(parts.group(3));
      }
      lastEpoch = Math.max(lastEpoch, epoch);
    }
  }

  /** Prints the lines of the training that no heartbeat has brought. */
  @Override
  public void close() {
    context.removeSparkListener(heartbeats);
    print(reported.value());
  }
}
