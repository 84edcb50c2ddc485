// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** The figures of one run of all benchmarks on one machine, as JSON and as a page. */
public final class Report {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PAGE = "report.html";

  private final Map<String, Object> content = new LinkedHashMap<>();
  private final List<Map<String, Object>> parts = new ArrayList<>();
  private final ObjectNode peers = JSON.createObjectNode();
  private final List<JsonNode> figures = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private final List<String> skipped = new ArrayList<>();
  private long mismatches;

  /**
   * Creates an empty report.
   *
   * @param mode {@code quick} or {@code thorough}
   * @param machine what is known of this machine, written as JSON
   */
  public Report(String mode, Object machine) {
    content.put("mode", mode);
    content.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    String version = Report.class.getPackage().getImplementationVersion();
    content.put("version", version == null ? "not from a jar" : version);
    content.put("machine", machine);
    content.put("mismatches", 0L);
    content.put("peers", peers);
    content.put("parts", parts);
    content.put("failures", failures);
    content.put("skipped", skipped);
    content.put("wins", List.of());
    content.put("figures", figures);
  }

  /**
   * Adds what a command has printed.
   *
   * @param took duration of the command in seconds
   * @param json its object, with {@code mismatches} and {@code figures}, and perhaps {@code peers}
   */
  public void add(String part, String command, double took, JsonNode json) {
    parts.add(part(part, command, took));
    mismatches += json.path("mismatches").asLong();
    json.path("figures").forEach(figures::add);
    if (json.path("peers") instanceof ObjectNode more) {
      peers.setAll(more);
    }
    // Programs of a part that broke off, and those that are not installed.
    json.path("failed")
        .properties()
        .forEach(
            failed ->
                failures.add(
                    "%s, %s: %s".formatted(part, failed.getKey(), failed.getValue().asText())));
    json.path("missing")
        .properties()
        .forEach(
            missing ->
                skipped.add(
                    "%s, %s: %s".formatted(part, missing.getKey(), missing.getValue().asText())));
    content.put("mismatches", mismatches);
    content.put("wins", wins());
  }

  /** Adds a command that has failed. */
  public void failed(String part, String command, double took, String why) {
    Map<String, Object> entry = part(part, command, took);
    entry.put("error", why);
    parts.add(entry);
    failures.add("%s failed: %s".formatted(part, why));
  }

  /** Adds a command that cannot run on this machine, which is no failure. */
  public void skipped(String part, String command, String missing) {
    Map<String, Object> entry = part(part, command, 0);
    entry.put("missing", missing);
    parts.add(entry);
    skipped.add("%s is left out: %s".formatted(part, missing));
  }

  private static Map<String, Object> part(String name, String command, double took) {
    Map<String, Object> part = new LinkedHashMap<>();
    part.put("name", name);
    part.put("command", "./ddstore bench " + command);
    part.put("seconds", Math.round(took));
    return part;
  }

  /** Returns the number of wrong rows or values of all parts. */
  public long mismatches() {
    return mismatches;
  }

  /** Returns a line for each part that has failed. */
  public List<String> failures() {
    return List.copyOf(failures);
  }

  /** Returns the report as an object for JSON. */
  public Map<String, Object> content() {
    return new LinkedHashMap<>(content);
  }

  /** Returns the report as one line of JSON. */
  public String json() {
    try {
      return JSON.writeValueAsString(content);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("cannot write a report", e);
    }
  }

  /** Returns the report as a page without other files. */
  public String html() throws IOException {
    try (InputStream page = Report.class.getResourceAsStream(PAGE)) {
      // No text of a figure ends the element that it stands in.
      String data = json().replace("<", "\\u003c");
      return new String(Objects.requireNonNull(page, PAGE).readAllBytes(), StandardCharsets.UTF_8)
          .replace("@REPORT@", data);
    }
  }

  /** Returns what others do faster, then the ratio of this project's figures, then failures. */
  public List<String> summary() {
    List<String> lines = new ArrayList<>();
    List<Map<String, Object>> wins = wins();
    lines.add(wins.isEmpty() ? "No alternative is faster." : "Faster than DDStore:");
    wins.forEach(
        win ->
            lines.add(
                String.format(
                    Locale.ROOT,
                    "  %s: %s, %s: %.2f of DDStore's",
                    win.get("way"),
                    win.get("section"),
                    win.get("subject"),
                    (Double) win.get("share"))));
    lines.add("DDStore, median ratios to the limit of the same round:");
    figures.stream()
        .filter(Report::isOurs)
        .filter(figure -> figure.path("ratio").isNumber())
        .forEach(
            figure ->
                lines.add(
                    String.format(
                        Locale.ROOT,
                        "  %s, %s: %s %s, %.2f of %s",
                        figure.path("section").asText(),
                        subject(figure),
                        decimal(figure.path("median").asDouble()),
                        figure.path("unit").asText(),
                        figure.path("ratio").asDouble(),
                        figure.path("baseline").asText())));
    lines.addAll(skipped);
    lines.addAll(failures);
    lines.add("%,d mismatches".formatted(mismatches));
    return lines;
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.3f" : "%.1f", value);
  }

  /** Returns the case of a figure, with its phase if that is not warm. */
  static String subject(JsonNode figure) {
    String phase = figure.path("phase").asText();
    String subject = figure.path("subject").asText();
    return phase.equals(Figure.WARM) ? subject : subject + ", " + phase;
  }

  static boolean isOurs(JsonNode figure) {
    return figure.path("way").asText().equals(Figure.DDSTORE);
  }

  /** Returns figures of others with a lower median than ours, which are no limits. */
  private List<Map<String, Object>> wins() {
    List<Map<String, Object>> wins = new ArrayList<>();
    for (JsonNode ours : figures) {
      if (!isOurs(ours)) {
        continue;
      }
      for (JsonNode other : figures) {
        double share = other.path("median").asDouble() / ours.path("median").asDouble();
        if (!other.path("way").asText().startsWith(Figure.DDSTORE) // nor in Java or over ports
            && share < 1
            && !other.path("settings").path(Figure.ROLE).asText().equals(Figure.LIMIT)
            && List.of("section", "subject", "phase", "unit").stream()
                .allMatch(key -> other.path(key).equals(ours.path(key)))) {
          Map<String, Object> win = new LinkedHashMap<>();
          win.put("way", other.path("way").asText());
          win.put("section", other.path("section").asText());
          win.put("subject", subject(other));
          win.put("share", share);
          wins.add(win);
        }
      }
    }
    wins.sort(Comparator.comparingDouble(win -> (double) win.get("share")));
    return wins;
  }
}
