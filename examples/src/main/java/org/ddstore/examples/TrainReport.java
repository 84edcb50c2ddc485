package org.ddstore.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a training came to.
 *
 * @param ranks by rank
 */
record TrainReport(List<Trained> ranks) {
  /** True if the last epoch's loss is below the first's; so, too, if there was one only. */
  private boolean lossFell() {
    List<Double> losses = ranks.get(0).losses();
    return losses.size() == 1 || losses.get(losses.size() - 1) < losses.get(0);
  }

  private boolean sameParameters() {
    return ranks.stream().flatMap(rank -> rank.parameters().stream()).distinct().count() == 1;
  }

  /** True if every epoch gave each row once, but for those dropped by plan. */
  private boolean exactEpochs() {
    return ranks.stream().allMatch(Trained::isExact);
  }

  boolean isSound() {
    return lossFell() && sameParameters() && exactEpochs();
  }

  /** Words for people. */
  String toText() {
    Trained any = ranks.get(0);
    StringBuilder text = new StringBuilder();
    for (int epoch = 0; epoch < any.losses().size(); epoch++) {
      text.append(
          "Epoch %2d  loss %.4f; %s%n"
              .formatted(epoch, any.losses().get(epoch), any.receipts().get(epoch)));
    }
    return text.append(lossFell() ? "Learned" : "Did not learn")
        .append(" on %d ranks, which ended with ".formatted(ranks.size()))
        .append(sameParameters() ? "the same parameters" : "different parameters")
        .append(" (CRC-32 by rank: %s)".formatted(any.parameters()))
        .toString();
  }

  /** One line, with the keys that other commands have, too. */
  String toJson() throws JsonProcessingException {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("command", "example train");
    object.put("results", ranks);
    object.put("lossFell", lossFell());
    object.put("sameParameters", sameParameters());
    object.put("exactEpochs", exactEpochs());
    return new ObjectMapper().writeValueAsString(object);
  }
}
