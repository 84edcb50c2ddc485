// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.report;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSession;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.cluster.ClassicSpark;
import org.ddstore.spark.cluster.ClusterFacts;
import org.ddstore.spark.cluster.HostProbe;
import org.ddstore.spark.cluster.LocalDirectory;
import org.ddstore.spark.cluster.MemoryCheck;
import org.ddstore.spark.cluster.Preflight;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.task.JobDescription;
import org.ddstore.spark.task.PartitionJob;
import org.ddstore.spark.types.PreflightException.Problem;
import org.ddstore.types.DDStoreException;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * A report of what a running application offers to a store, by executor.
 *
 * @param executors reports that arrived before the deadline, ordered by executor id
 * @param silent ids of executors that did not answer
 * @param problems problems that prevent a store from running
 */
public record ClusterReport(
    ClusterFacts cluster,
    List<ExecutorReport> executors,
    List<String> silent,
    List<Problem> problems) {

  public ClusterReport {
    executors = List.copyOf(executors);
    silent = List.copyOf(silent);
    problems = List.copyOf(problems);
  }

  /**
   * Collects the report by one short task in each executor. Blocks.
   *
   * @param deadline time limit of the registration of executors, and again of their answers
   */
  public static ClusterReport of(SparkSession session, Duration deadline) {
    ClassicSpark.require(session);
    Settings settings = Settings.of(session).with(Setting.SLOTS_TIMEOUT, deadline);
    SparkContext context = session.sparkContext();
    ClusterFacts cluster =
        ClusterFacts.await(
            context,
            context.resourceProfileManager().defaultResourceProfile(),
            OptionalInt.empty(),
            deadline);
    Path directory = settings.segmentDirectory().orElse(ProcessDirectory.SHARED_MEMORY);

    Map<String, ExecutorReport> answers =
        JobDescription.of(
            context,
            "reports of the executors",
            () -> requestReports(context, cluster, directory, deadline));
    List<String> silent =
        cluster.executors().stream()
            .map(ClusterFacts.Executor::id)
            .filter(id -> !answers.containsKey(id))
            .toList();
    int ranks = settings.ranks().orElse(Math.max(1, cluster.slots()));
    List<Problem> problems =
        new ArrayList<>(
            Preflight.problems(cluster, HostProbe.read(directory), ranks, 0, 0, settings));
    problems.addAll(Preflight.problems(context.getConf()));
    if (!silent.isEmpty()) {
      problems.add(
          new Problem(
              "executors %s did not answer within %d s".formatted(silent, deadline.toSeconds()),
              "look at their logs; other jobs of the application may hold their slots"));
    }
    for (ExecutorReport report : answers.values()) {
      LocalDirectory.problem(report.host()).ifPresent(problems::add);
      problems.addAll(
          MemoryCheck.problems(
              report.host(),
              new MemoryCheck.Need(0, 0, 0, 0, report.executorsUnderLimit()),
              settings));
    }
    return new ClusterReport(
        cluster, List.copyOf(answers.values()), silent, problems.stream().distinct().toList());
  }

  /** Asks all executors, and repeats it for missed ones, because placement is only preferred. */
  private static Map<String, ExecutorReport> requestReports(
      SparkContext context, ClusterFacts cluster, Path directory, Duration deadline) {
    long deadlineNs = System.nanoTime() + deadline.toNanos();
    Map<String, ExecutorReport> answers = new TreeMap<>();
    List<ClusterFacts.Executor> missed = cluster.executors();
    while (!missed.isEmpty() && System.nanoTime() < deadlineNs) {
      for (ExecutorReport report : askOnce(context, missed, directory.toString(), deadlineNs)) {
        answers.put(report.host().executorId(), report);
      }
      missed = missed.stream().filter(executor -> !answers.containsKey(executor.id())).toList();
    }
    return answers;
  }

  private static List<ExecutorReport> askOnce(
      SparkContext context,
      List<ClusterFacts.Executor> executors,
      String directory,
      long deadlineNs) {
    List<Tuple2<String, Seq<String>>> places = new ArrayList<>();
    for (ClusterFacts.Executor executor : executors) {
      String place = "executor_%s_%s".formatted(executor.host(), executor.id());
      places.add(new Tuple2<>(directory, CollectionConverters.asScala(List.of(place)).toList()));
    }
    ClassTag<String> tag = ClassTag$.MODULE$.apply(String.class);
    RDD<String> rdd = context.makeRDD(CollectionConverters.asScala(places).toList(), tag);
    try {
      return PartitionJob.<String, ExecutorReport>of(
              rdd, path -> ExecutorReport.ofThisProcess(Path.of(path.next())))
          .run(Duration.ofNanos(deadlineNs - System.nanoTime()));
    } catch (TimeoutException e) {
      return List.of();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while waiting for the reports of executors", e);
    } catch (ExecutionException e) {
      throw new DDStoreException("the reports of executors failed: " + e.getCause(), e);
    }
  }
}
