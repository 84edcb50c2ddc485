// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.ddstore.types.DDStoreException;

/** What the documentation shows of one report: tables, and a chart of one section. */
public final class Publication {
  private static final String BEGIN = "<!-- figures: made by ./ddstore bench publish -->\n";
  private static final String END = "<!-- end of figures -->\n";
  private static final int MAX_OTHERS = 4;
  private static final int ROW_PIXELS = 34;
  private static final int LEFT_PIXELS = 20;
  private static final int BAR_PIXELS = 560;

  private final JsonNode report;

  private Publication(JsonNode report) {
    this.report = report;
  }

  /**
   * Reads a report.
   *
   * @throws DDStoreException if the file is not a report
   */
  public static Publication of(Path file) throws IOException {
    JsonNode report = new ObjectMapper().readTree(file.toFile());
    if (!report.path("figures").isArray() || report.path("figures").isEmpty()) {
      throw new DDStoreException(
          "%s is not a report: it has no figures; use the report.json that bench writes"
              .formatted(file));
    }
    return new Publication(report);
  }

  /**
   * Copies report.json and report.html into a folder, replaces the figures of a page, and writes a
   * chart.
   *
   * @param file the report.json, with report.html beside it
   * @param docs folder of the documentation
   * @param section section of the chart
   * @throws DDStoreException if the page has no place for figures, or the report has no such
   *     section
   */
  public static void write(Path file, Path docs, String section) throws IOException {
    Publication publication = of(file);
    Path page = docs.resolve("performance.md");
    String text = Files.readString(page);
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new DDStoreException(
          "%s has no lines \"%s\" and \"%s\"".formatted(page, BEGIN.strip(), END.strip()));
    }
    String chart = publication.chart(section);
    Path folder = Files.createDirectories(docs.resolve("report"));
    for (String name : List.of("report.json", "report.html")) {
      Files.copy(
          file.resolveSibling(name), folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
    }
    Files.writeString(
        page,
        text.substring(0, begin + BEGIN.length())
            + "\n"
            + publication.markdown()
            + text.substring(end));
    Files.writeString(docs.resolve("images/epoch.svg"), chart);
  }

  private Map<String, Map<String, List<JsonNode>>> bySubject() {
    Map<String, Map<String, List<JsonNode>>> sections = new LinkedHashMap<>();
    for (JsonNode figure : report.path("figures")) {
      sections
          .computeIfAbsent(figure.path("section").asText(), any -> new LinkedHashMap<>())
          .computeIfAbsent(
              Report.subject(figure) + "\n" + figure.path("unit").asText(),
              any -> new ArrayList<>())
          .add(figure);
    }
    return sections;
  }

  /** Returns a table for each section: ours first, then the others from the best to the worst. */
  String markdown() {
    StringBuilder text = new StringBuilder();
    JsonNode machine = report.path("machine");
    text.append(
        "%s run of %s: %s, %d cores, %d GiB, %s, JDK %s; %,d wrong rows. [Page with plots](report/report.html), [raw samples](report/report.json).%n"
            .formatted(
                report.path("mode").asText().equals("quick") ? "Quick" : "Thorough",
                report.path("date").asText().substring(0, 10),
                machine.path("cpu").asText(),
                machine.path("cores").asInt(),
                Math.round(machine.path("memoryBytes").asDouble() / (1 << 30)),
                machine.path("os").asText(),
                machine.path("jdk").asText(),
                report.path("mismatches").asLong()));
    text.append("\n### Where others are faster\n\n");
    for (JsonNode win : report.path("wins")) {
      text.append(
          "- %s: %s, %s: %s of DDStore's%n"
              .formatted(
                  win.path("way").asText(),
                  win.path("section").asText(),
                  win.path("subject").asText(),
                  number(win.path("share").asDouble())));
    }
    if (report.path("wins").isEmpty()) {
      text.append("Nowhere in this run.\n");
    }
    bySubject()
        .forEach(
            (section, subjects) -> {
              text.append("\n### ").append(section).append("\n\n");
              if (subjects.values().stream().flatMap(List::stream).noneMatch(Report::isOurs)) {
                text.append(byWay(subjects));
                return;
              }
              text.append("| case | DDStore | others |\n|---|---|---|\n");
              subjects.forEach(
                  (subject, ways) ->
                      text.append(
                          "| %s | %s | %s |%n"
                              .formatted(
                                  subject.substring(0, subject.indexOf('\n')),
                                  ours(ways),
                                  others(ways))));
            });
    return text.append('\n').toString();
  }

  /**
   * Returns a table with a row for each way and a column for each subject. If some figures are
   * simulated, which add up the others, it has only these.
   */
  private static String byWay(Map<String, List<JsonNode>> subjects) {
    boolean hasSums = subjects.values().stream().flatMap(List::stream).anyMatch(Publication::isSum);
    Set<String> columns = new LinkedHashSet<>();
    Map<String, Map<String, String>> rows = new LinkedHashMap<>();
    for (List<JsonNode> figures : subjects.values()) {
      for (JsonNode figure : figures) {
        String way = figure.path("way").asText();
        if (isSum(figure) || !hasSums) {
          columns.add(figure.path("subject").asText());
          rows.computeIfAbsent(way, any -> new HashMap<>())
              .put(figure.path("subject").asText(), value(figure));
        }
      }
    }
    StringBuilder text = new StringBuilder();
    text.append("| | ").append(String.join(" | ", columns)).append(" |\n|---|");
    text.append("---|".repeat(columns.size())).append('\n');
    rows.forEach(
        (way, cells) -> {
          text.append("| ").append(way);
          columns.forEach(column -> text.append(" | ").append(cells.getOrDefault(column, "")));
          text.append(" |\n");
        });
    return text.toString();
  }

  private static boolean isSum(JsonNode figure) {
    return figure.path("phase").asText().equals(Figure.SIMULATED);
  }

  private static String ours(List<JsonNode> ways) {
    return ways.stream()
        .filter(Report::isOurs)
        .findFirst()
        .map(
            figure ->
                value(figure)
                    + (figure.path("ratio").isNumber()
                        ? ", %s of %s"
                            .formatted(
                                number(figure.path("ratio").asDouble()),
                                figure.path("baseline").asText())
                        : ""))
        .orElse("");
  }

  private static String others(List<JsonNode> ways) {
    List<String> texts =
        ways.stream()
            .filter(figure -> !Report.isOurs(figure))
            .sorted(Comparator.comparingDouble(figure -> figure.path("median").asDouble()))
            .limit(MAX_OTHERS)
            .map(figure -> "%s %s".formatted(figure.path("way").asText(), value(figure)))
            .toList();
    return String.join("; ", texts);
  }

  private static String value(JsonNode figure) {
    double median = figure.path("median").asDouble();
    String unit = figure.path("unit").asText();
    return switch (unit) {
      case "s" -> scaled(median, 1e-9, List.of("ns", "µs", "ms", "s"));
      case "B" -> scaled(median, 1, List.of("B", "kB", "MB", "GB", "TB"));
      default -> number(median) + " " + unit;
    };
  }

  /** Returns a value in the largest unit of which it has at least one. */
  private static String scaled(double value, double first, List<String> units) {
    int unit = 0;
    double inUnit = value / first;
    while (inUnit >= 1000 && unit < units.size() - 1) {
      inUnit /= 1000;
      unit++;
    }
    return number(inUnit) + " " + units.get(unit);
  }

  private static String number(double value) {
    if (value >= 1e6) {
      return String.format(Locale.ROOT, "%.2e", value);
    }
    return String.format(Locale.ROOT, value >= 100 ? "%,.0f" : value >= 1 ? "%.2f" : "%.3f", value);
  }

  /** Returns a picture of the medians of one section on a logarithmic scale. */
  String chart(String section) {
    List<JsonNode> ways = new ArrayList<>();
    report
        .path("figures")
        .forEach(
            figure -> {
              if (figure.path("section").asText().equals(section)
                  && figure.path("median").asDouble() > 0) {
                ways.add(figure);
              }
            });
    if (ways.isEmpty()) {
      throw new DDStoreException("the report has no section \"%s\"".formatted(section));
    }
    ways.sort(Comparator.comparingDouble(figure -> figure.path("median").asDouble()));
    double from = ways.get(0).path("median").asDouble() / 2;
    double to = ways.get(ways.size() - 1).path("median").asDouble();
    int height = ROW_PIXELS * ways.size() + 70;
    StringBuilder svg = new StringBuilder();
    svg.append(
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 %d" role="img" font-family="sans-serif" font-size="14">
          <style>
            .back { fill: #fff } .text { fill: #222 } .soft { fill: #555 } .ours { fill: #0a6ebd } .other { fill: #9e9e9e }
            @media (prefers-color-scheme: dark) {
              .back { fill: #12161c } .text { fill: #e4e9f0 } .soft { fill: #98a4b3 } .ours { fill: #4aa8f0 } .other { fill: #5d6978 }
            }
          </style>
          <title>%s</title>
          <rect class="back" width="720" height="%d" rx="8"/>
          <text class="text" x="20" y="26" font-weight="bold">%s</text>
        """
            .formatted(height, escaped(title(ways)), height, escaped(title(ways))));
    for (int i = 0; i < ways.size(); i++) {
      JsonNode figure = ways.get(i);
      double median = figure.path("median").asDouble();
      int top = 40 + i * ROW_PIXELS;
      int width = (int) Math.max(2, BAR_PIXELS * Math.log(median / from) / Math.log(to / from));
      svg.append(
          """
            <text class="text" x="%d" y="%d">%s</text>
            <rect class="%s" x="%d" y="%d" width="%d" height="12"/>
            <text class="text" x="%d" y="%d" font-weight="bold">%s</text>
          """
              .formatted(
                  LEFT_PIXELS,
                  top + 12,
                  escaped(figure.path("way").asText()),
                  figure.path("way").asText().startsWith(Figure.DDSTORE) ? "ours" : "other",
                  LEFT_PIXELS,
                  top + 17,
                  width,
                  LEFT_PIXELS + width + 6,
                  top + 28,
                  escaped(value(figure))));
    }
    return svg.append(
            """
              <text class="soft" x="20" y="%d" font-size="12">Logarithmic scale. One run of ./ddstore bench, %s, %d cores.</text>
            </svg>
            """
                .formatted(
                    height - 12,
                    report.path("date").asText().substring(0, 10),
                    report.path("machine").path("cores").asInt()))
        .toString();
  }

  private static String title(List<JsonNode> ways) {
    return "A shuffled epoch: " + ways.get(0).path("subject").asText();
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
  }
}
