// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.List;

/** The statistics of a store in at most {@value #LIMIT_BYTES} bytes of an event log. */
final class StoreSummary {
  static final int LIMIT_BYTES = 16 << 10;

  /** Bytes of a line besides the JSON text: the names of its class and its properties. */
  private static final int LINE_BYTES = 256;

  private static final int TEXT = 512;

  private StoreSummary() {}

  /**
   * Returns JSON that fits. Drops the readers of all executors first, then their outside readers
   * and ranks, then halves the lists of executors, grants and lost ranks, and counts what is left
   * out: {@code executorsOmitted}.
   *
   * @param json statistics of a store, which this method changes
   */
  static String of(ObjectNode json) {
    for (String text : List.of("owner", "transport")) {
      String value = json.path(text).asText();
      json.put(text, value.length() > TEXT ? value.substring(0, TEXT) + ".." : value);
    }
    if (isTooLong(json)) {
      json.path("executors").forEach(executor -> ((ObjectNode) executor).putArray("readers"));
    }
    if (isTooLong(json)) {
      json.path("executors").forEach(executor -> ((ObjectNode) executor).putArray("outside"));
    }
    if (isTooLong(json)) {
      json.path("executors").forEach(executor -> ((ObjectNode) executor).putArray("ranks"));
    }
    for (String list : List.of("executors", "grants", "lostRanks")) {
      halve(json, list);
    }
    return json.toString();
  }

  private static void halve(ObjectNode json, String list) {
    JsonNode all = json.path(list);
    for (int kept = all.size() / 2; kept > 0 && isTooLong(json); kept /= 2) {
      ArrayNode some = json.putArray(list);
      for (int i = 0; i < kept; i++) {
        some.add(all.get(i));
      }
      json.put(list + "Omitted", all.size() - kept);
    }
  }

  private static boolean isTooLong(ObjectNode json) {
    int bytes = TextNode.valueOf(json.toString()).toString().getBytes(UTF_8).length;
    return bytes + LINE_BYTES > LIMIT_BYTES;
  }
}
