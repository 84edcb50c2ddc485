// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;

/** The pages of metrics of a driver whose settings are {@link #SETTINGS}, as clients get them. */
final class DriverPages {
  static final Map<String, String> SETTINGS =
      Map.of(
          "spark.ui.enabled", "true",
          "spark.ui.port", "0",
          "spark.metrics.namespace", "pages",
          "spark.metrics.conf.driver.sink.prometheusServlet.class",
              "org.apache.spark.metrics.sink.PrometheusServlet",
          "spark.metrics.conf.driver.sink.prometheusServlet.path", "/metrics/prometheus");

  private static final Pattern ROW =
      Pattern.compile("metrics_pages_driver_ddstore_(\\w+)_Value\\{type=\"gauges\"} (\\d+)");

  private DriverPages() {}

  static String get(SparkSession session, String path) {
    URI page = URI.create(session.sparkContext().uiWebUrl().get() + path);
    try {
      HttpResponse<String> response =
          HttpClient.newHttpClient()
              .send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString());
      assertThat(response.statusCode()).as(page.toString()).isEqualTo(200);
      return response.body();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(page.toString(), e);
    }
  }

  /** Returns the Prometheus metrics: {@code <store>_<reader>_<path>_<counter>} and the value. */
  static Map<String, Long> scrape(SparkSession session) {
    List<String> lines =
        get(session, "/metrics/prometheus/").lines().filter(l -> l.contains("ddstore")).toList();
    Map<String, Long> values = new TreeMap<>();
    for (String line : lines) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        values.put(row.group(1), Long.valueOf(row.group(2)));
      }
    }
    return values;
  }
}
