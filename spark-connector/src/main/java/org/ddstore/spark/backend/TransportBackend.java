// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.spark.SparkContext;
import org.ddstore.spark.types.PreflightException.Problem;
import org.ddstore.transport.Availability;
import org.ddstore.transport.TransportProvider;

/**
 * A transport in the jobs of Spark: all in which one transport differs from another. An
 * implementation has a public constructor without parameters and a line in {@code
 * META-INF/services/org.ddstore.transport.TransportProvider}.
 *
 * <p>A job calls, in this order: {@link #preflight} and {@link AttemptPolicy#replaceExecutors} on
 * the driver; {@link #offer} on each rank before it loads; after the allGather of the start {@link
 * TransportOffer#refusal} and {@link TransportOffer#open} on each rank; {@link OpenTransport#close}
 * on each rank; the methods of {@link AttemptPolicy} for the result on the driver. If {@code auto}
 * is configured, only those of {@link TransportOffer} and {@link OpenTransport} are called, so a
 * transport with an {@link #autoUse} must not need the others. Its {@link #residentProblem} must be
 * empty, otherwise {@code auto} leaves it out: {@code auto} chooses for resident stores, too.
 */
public interface TransportBackend extends TransportProvider {
  /**
   * Returns whether this process can use the transport with the settings of an application.
   *
   * @param settings names and values of the settings of Spark
   * @param host address at which other processes reach this one
   * @throws IllegalArgumentException if a setting is illegal
   */
  default Availability availability(Map<String, String> settings, String host) {
    return availability();
  }

  /** Returns what hinders the transport on the executors of a job; empty if nothing does. */
  default List<Problem> preflight(int ranks, ExecutorSlots slots) {
    return List.of();
  }

  /**
   * Returns the offer of a rank to use the transport. Local; called before the rank loads rows.
   *
   * @param isAuto whether {@code auto} is configured, so that another transport can be used instead
   * @throws org.ddstore.types.DDStoreException if this rank cannot use the transport; only if
   *     {@code isAuto} is false
   */
  TransportOffer offer(RankPlace place, boolean isAuto);

  /**
   * Notes on the failure of a rank that it had not reached the allGather of the start, so that
   * {@link AttemptPolicy#failed} sees it on the driver.
   */
  default void failedBeforeStart(Throwable failure, int rank) {}

  /**
   * Returns the measures around the attempts of one job. Driver.
   *
   * @param lossWith describes the rows of resident stores that end with executors
   */
  default AttemptPolicy attempts(
      SparkContext context, int ranks, Function<Set<String>, List<String>> lossWith) {
    return AttemptPolicy.NONE;
  }

  /** Returns groups of executors of an application that end together. Driver. */
  default List<SharedLoss> sharedLosses(SparkContext context) {
    return List.of();
  }

  /**
   * Returns the reason why resident stores cannot use the transport, as the rest of a sentence
   * after {@code because}; empty if they can. The rows of a resident store are served after the job
   * that has loaded them, so {@link StoreNetwork#oneSided} must own the transport.
   */
  default Optional<String> residentProblem() {
    return Optional.of("it ends with the job");
  }
}
