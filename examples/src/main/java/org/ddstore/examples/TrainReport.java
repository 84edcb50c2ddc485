// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.types.Plural;

/**
 * The result of a training.
 *
 * @param example name of the example
 * @param ranks results of the ranks, in rank order
 */
record TrainReport(String example, List<Trained> ranks) {
  /**
   * Returns whether the last loss is finite and, if there are several epochs, below the first one.
   */
  private boolean lossFell() {
    List<Double> losses = ranks.get(0).losses();
    double last = losses.get(losses.size() - 1);
    return Double.isFinite(last) && (losses.size() == 1 || last < losses.get(0));
  }

  private boolean sameParameters() {
    return ranks.stream().flatMap(rank -> rank.parameters().stream()).distinct().count() == 1;
  }

  /** Returns whether each epoch delivered each row exactly once, except rows dropped by plan. */
  private boolean exactEpochs() {
    return ranks.stream().allMatch(Trained::isExact);
  }

  boolean isSound() {
    return lossFell() && sameParameters() && exactEpochs();
  }

  /** Returns the result after that of the epochs, which is printed when they end. */
  String toText() {
    Trained any = ranks.get(0);
    return "%s on %s, which ended with %s (CRC-32 by rank: %s)"
        .formatted(
            lossFell() ? "Learned" : "Did not learn",
            Plural.of(ranks.size(), "rank"),
            sameParameters() ? "the same parameters" : "different parameters",
            any.parameters());
  }

  /** Returns one line of JSON, with the keys common to all commands. */
  String toJson() throws JsonProcessingException {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("command", "example " + example);
    object.put("results", ranks);
    object.put("lossFell", lossFell());
    object.put("sameParameters", sameParameters());
    object.put("exactEpochs", exactEpochs());
    return new ObjectMapper().writeValueAsString(object);
  }
}
