// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.ddstore.spark.monitor.ReadSample;
import org.ddstore.spark.types.StoreEvent;

/**
 * The pages below {@code /ddstore/} of Spark's UI, without servlets. All data reaches the browser
 * as JSON, which the script of the page shows as text. Thread-safe.
 */
final class Pages {
  private static final String SHELL =
      """
      <link rel="stylesheet" href="ddstore.css"/><div id="ddstore"><noscript>The page needs \
      JavaScript. The same facts are at api/stores, and at api/store with the parameter name.\
      </noscript></div><script src="ddstore.js"></script>""";

  private final PageSource source;

  Pages(PageSource source) {
    this.source = source;
  }

  /**
   * Answers a request.
   *
   * @param path path below {@code /ddstore}; null or {@code /} for the page itself
   * @param name parameter {@code name}; null without it
   * @param frame function that puts the content of the page into the frame of Spark's pages
   */
  Answer answer(String path, String name, UnaryOperator<String> frame) {
    String asked = Objects.requireNonNullElse(path, "/");
    if (asked.length() > 1 && asked.endsWith("/")) { // history servers redirect so at the first
      asked = asked.substring(0, asked.length() - 1);
    }
    return switch (asked) {
      case "/" -> Answer.html(frame.apply(SHELL));
      case "/ddstore.js" -> Answer.resource("text/javascript", "ddstore.js");
      case "/ddstore.css" -> Answer.resource("text/css", "ddstore.css");
      case "/api/stores" -> Answer.json(overview().toString());
      case "/api/store" -> detail(name);
      case "/metrics" ->
          source
              .metrics()
              .map(Answer::metrics)
              .orElse(Answer.notFound("the application has ended: it has no metrics"));
      case "/grafana.json" -> Answer.resource("application/json", "grafana.json");
      default -> Answer.notFound("no such page");
    };
  }

  private ObjectNode frame() {
    return JsonNodeFactory.instance
        .objectNode()
        .put("nowMs", System.currentTimeMillis())
        .put("isLive", source.isLive());
  }

  private ObjectNode overview() {
    ObjectNode json = frame();
    ArrayNode stores = json.putArray("stores");
    source.stores().forEach(store -> stores.add(summary(store)));
    json.set("events", events(source.events()));
    return json;
  }

  /** Returns the facts of a store without its executors, of which there may be thousands. */
  private static ObjectNode summary(ObjectNode store) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.setAll(store);
    json.remove("executors");
    int holders = store.path("executorsOmitted").asInt();
    int channels = 0;
    for (JsonNode executor : store.path("executors")) {
      holders += executor.path("shards").asInt() > 0 ? 1 : 0;
      for (JsonNode grant : executor.path("outside")) {
        channels += grant.path("channels").asInt();
      }
    }
    json.put("executorCount", holders);
    json.put("outsideChannels", channels);
    return json;
  }

  private Answer detail(String name) {
    Optional<ObjectNode> store = source.store(name);
    if (store.isEmpty()) {
      return Answer.notFound("no store of this name is in memory: api/stores lists them");
    }
    ObjectNode json = frame();
    json.set("store", store.get());
    json.set("samples", samples(source.samples(name)));
    json.set(
        "events", events(source.events().stream().filter(e -> e.store().equals(name)).toList()));
    return Answer.json(json.toString());
  }

  private static ArrayNode samples(List<ReadSample> samples) {
    ArrayNode json = JsonNodeFactory.instance.arrayNode();
    for (ReadSample sample : samples) {
      ObjectNode one = json.addObject().put("timeMs", sample.timeMs());
      put(one, "calls", sample.calls());
      put(one, "rows", sample.rows());
      put(one, "bytes", sample.bytes());
    }
    return json;
  }

  private static void put(ObjectNode json, String key, List<Long> numbers) {
    ArrayNode array = json.putArray(key);
    numbers.forEach(array::add);
  }

  static ArrayNode events(List<StoreEvent> events) {
    ArrayNode json = JsonNodeFactory.instance.arrayNode();
    for (StoreEvent event : events) {
      json.addObject()
          .put("timeMs", event.timeMs())
          .put("store", event.store())
          .put("kind", event.kind().name().toLowerCase(Locale.ROOT))
          .put("text", event.text())
          .put("rows", event.rows())
          .put("bytes", event.bytes())
          .put("millis", event.millis());
    }
    return json;
  }
}
