// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.local.Output;
import org.ddstore.types.Plural;

/**
 * The result of a training, as text or JSON.
 *
 * @param ranks results of the ranks, in rank order
 */
record VaeReport(List<VaeResult> ranks) {
  private VaeResult first() {
    return ranks.get(0);
  }

  private List<TrainedEpoch> epochs() {
    return first().epochs();
  }

  private List<Double> losses() {
    return epochs().stream().map(TrainedEpoch::loss).toList();
  }

  private double finalLoss() {
    return losses().get(losses().size() - 1);
  }

  private long mismatches() {
    return epochs().stream().mapToLong(TrainedEpoch::mismatches).sum();
  }

  /**
   * Returns whether the last loss is finite and, if there are several epochs, below the first one.
   */
  private boolean lossFell() {
    return Double.isFinite(finalLoss()) && (losses().size() == 1 || finalLoss() < losses().get(0));
  }

  private boolean sameParameters() {
    return first().parameters().stream().distinct().count() == 1;
  }

  /**
   * Returns whether the loss fell, all ranks ended with the same parameters, and each epoch
   * delivered each image once and unchanged.
   */
  boolean isSound() {
    return lossFell()
        && sameParameters()
        && mismatches() == 0
        && epochs().stream().allMatch(TrainedEpoch::isExact);
  }

  /** Prints what follows the lines of the epochs, which are printed when they end. */
  void print(Output output) {
    output.line(
        "%s on %s, which ended with %s (CRC-32 by rank: %s)"
            .formatted(
                lossFell() ? "Learned" : "Did not learn",
                Plural.of(ranks.size(), "rank"),
                sameParameters() ? "the same parameters" : "different parameters",
                first().parameters()));
    printAttempt(output);
    output.finish(mismatches(), results(), json());
  }

  private void printAttempt(Output output) {
    if (!first().hasTrained()) {
      output.line(
          "Complete  the checkpoint has %s, nothing was left to train: raise --epochs to continue"
              .formatted(Plural.of(epochs().size(), "epoch")));
      return;
    }
    output.line(
        "Speed     %,.0f images/s; utilisation %.0f %%; %s"
            .formatted(
                first().samplesPerSecond(),
                100 * first().utilisation(),
                Plural.of(mismatches(), "mismatch", "mismatches")));
  }

  private List<Map<String, Object>> results() {
    List<Map<String, Object>> results = new ArrayList<>();
    for (VaeResult rank : ranks) {
      Map<String, Object> result = new LinkedHashMap<>();
      result.put("rank", rank.rank());
      result.put("attempt", rank.attempt());
      result.put("resumedAt", rank.resumedAt());
      result.put("parameters", rank.parameters().get(rank.rank()));
      results.add(result);
    }
    return results;
  }

  private Map<String, Object> json() {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("finalLoss", finalLoss());
    object.put("losses", losses());
    object.put("testLosses", epochs().stream().map(TrainedEpoch::testLoss).toList());
    object.put("samplesPerSecond", first().hasTrained() ? first().samplesPerSecond() : null);
    object.put("utilisation", first().hasTrained() ? first().utilisation() : null);
    object.put("coverage", epochs().stream().map(VaeReport::coverage).toList());
    object.put("lossFell", lossFell());
    object.put("sameParameters", sameParameters());
    return object;
  }

  private static Map<String, Object> coverage(TrainedEpoch epoch) {
    Map<String, Object> coverage = new LinkedHashMap<>();
    coverage.put("exact", epoch.isExact());
    coverage.put("training", epoch.receipt());
    coverage.put("test", epoch.testReceipt());
    return coverage;
  }
}
