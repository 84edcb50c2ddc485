// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.ddstore.spark.Browser;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The tab "DDStore" of a running application on each release of Spark, in Chromium. */
@Tag("slow")
@Timeout(value = 900, unit = TimeUnit.SECONDS)
class StoresTabIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Path PICTURES =
      Path.of(System.getProperty("ddstore.root"), "examples/target/tab");
  private static final int DESKTOP = 1400;
  private static final int PHONE = 390;

  @TempDir private Path work;

  static List<SparkHome> supported() {
    return SparkHome.supported();
  }

  @ParameterizedTest
  @MethodSource("supported")
  void showsTheStatisticsAndALoss(SparkHome spark) throws Exception {
    Path classes = Path.of(System.getProperty("ddstore.root"), "examples/target/test-classes");
    String executors = SparkHome.RUNTIME_JAR + File.pathSeparator + classes;
    ProcessBuilder builder =
        spark.program(
            work, spark.classPath(SparkHome.RUNTIME_JAR, classes), arguments(spark, executors));
    builder.redirectError(work.resolve("err.txt").toFile());
    Process program = builder.start();
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(program.getInputStream(), UTF_8))) {
      JsonNode handle = JSON.readTree(after(out, "HANDLE "));
      String address = after(out, "UI ");
      checkSecrets(spark, handle, address);
      try (Browser browser = Browser.open(work.resolve("browser"), address + "/ddstore/")) {
        browser.await("document.getElementById('ddstore').dataset.shown > 0");
        assertThat(browser.value("document.title").asText()).contains("Stores");
        assertThat(
                browser
                    .value("document.querySelector('.nav-item a[href$=\"/ddstore/\"]').textContent")
                    .asText())
            .contains("DDStore");
        assertThat(browser.value("document.getElementById('ddstore').textContent").asText())
            .contains("train", "20,000", "complete", "notebook");
        pictures(browser, spark, "overview");

        checkNumbers(program, out, browser, address);
        pictures(browser, spark, "store");
        checkHostileNames(browser);

        long sinceNs = System.nanoTime();
        killExecutor(program);
        browser.await("document.getElementById('ddstore').textContent.includes('rows lost')");
        System.out.printf(
            "Spark %s: a killed executor was shown after %.1f s%n",
            spark.name(), (System.nanoTime() - sinceNs) / 1e9);
        browser.await(
            "[...document.querySelectorAll('td .bad')].some(e => e.textContent === 'loss')");
        pictures(browser, spark, "loss");
      }
      program.getOutputStream().close();
      assertThat(program.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } finally {
      List<ProcessHandle> children = program.descendants().toList();
      program.destroyForcibly().waitFor();
      children.forEach(ProcessHandle::destroyForcibly);
    }
  }

  private static List<String> arguments(SparkHome spark, String executors) {
    List<String> arguments = new ArrayList<>(List.of(TabProgram.class.getName(), executors));
    if (hasJakarta(spark)) {
      arguments.add("spark.acls.enable=true");
      arguments.add("spark.ui.filters=" + UserFilter.class.getName());
    }
    return arguments;
  }

  private static boolean hasJakarta(SparkHome spark) {
    return !spark.name().startsWith("3.");
  }

  /** Checks that no page shows a key of a handle, and that other users see no page. */
  private static void checkSecrets(SparkHome spark, JsonNode handle, String address)
      throws IOException, InterruptedException {
    List<String> keys = new ArrayList<>();
    handle.findValues("key").forEach(key -> keys.add(key.asText()));
    handle.findValues("token").forEach(key -> keys.add(key.asText()));
    assertThat(keys).isNotEmpty().allMatch(key -> key.length() > 20);
    for (String page : List.of("/", "/api/stores", "/api/store?name=train", "/metrics")) {
      assertThat(get(address + "/ddstore" + page)).isNotEmpty().doesNotContain(keys);
      if (hasJakarta(spark)) {
        assertThat(status(address + "/ddstore" + page, "mallory")).as(page).isEqualTo(403);
        assertThat(status(address + "/ddstore" + page, System.getProperty("user.name")))
            .as(page)
            .isEqualTo(200);
      }
    }
  }

  private static int status(String address, String user) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address)).header(UserFilter.HEADER, user).build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode();
  }

  /** Opens the event log of an application with our jar, on a store on disk, and without it. */
  @ParameterizedTest
  @MethodSource("supported")
  void historyServerShowsTheLastStatistics(SparkHome spark) throws Exception {
    Path log = Files.createDirectories(work.resolve("log"));
    Path classes = Path.of(System.getProperty("ddstore.root"), "examples/target/test-classes");
    Process program =
        spark
            .program(
                work,
                spark.classPath(SparkHome.RUNTIME_JAR, classes),
                List.of(
                    TabProgram.class.getName(),
                    SparkHome.RUNTIME_JAR + File.pathSeparator + classes,
                    "spark.eventLog.enabled=true",
                    "spark.eventLog.dir=" + log.toUri()))
            .redirectError(work.resolve("err.txt").toFile())
            .start();
    JsonNode expected;
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(program.getInputStream(), UTF_8))) {
      after(out, "UI ");
      program.getOutputStream().write('\n');
      program.getOutputStream().flush();
      expected = withoutTimes(JSON.readTree(after(out, "STATISTICS ")));
      program.getOutputStream().close();
      assertThat(program.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } finally {
      program.destroyForcibly().waitFor();
    }

    inHistory(
        spark,
        spark.classPath(SparkHome.RUNTIME_JAR),
        application -> {
          JsonNode stores = JSON.readTree(get(application + "/ddstore/api/stores"));
          assertThat(stores.get("isLive").asBoolean()).isFalse();
          assertThat(stores.get("stores")).hasSize(1);
          assertThat(stores.get("events").findValuesAsText("kind"))
              .contains("load", "run", "grant");
          JsonNode store = JSON.readTree(get(application + "/ddstore/api/store?name=train"));
          assertThat(withoutTimes(store.get("store"))).isEqualTo(expected);
          assertThat(get(application + "/ddstore/")).contains("DDStore", "ddstore.js");
          assertThat(get(application + "/jobs/")).contains("/ddstore/");
        });
    inHistory(
        spark,
        spark.classPath(),
        application ->
            assertThat(get(application + "/jobs/"))
                .contains("Spark Jobs")
                .doesNotContain("/ddstore/"));
  }

  private interface Check {
    void of(String application) throws Exception;
  }

  /** Runs a check on the address of the only application of a history server. */
  private void inHistory(SparkHome spark, String classPath, Check check) throws Exception {
    Path store = Files.createTempDirectory(work, "store");
    Process server =
        spark
            .program(
                work,
                classPath,
                List.of(
                    "-Dspark.history.fs.logDirectory=" + work.resolve("log").toUri(),
                    "-Dspark.history.store.path=" + store,
                    "-Dspark.history.ui.port=0",
                    "org.apache.spark.deploy.history.HistoryServer"))
            .redirectErrorStream(true)
            .start();
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(server.getInputStream(), UTF_8))) {
      String address = "";
      while (!address.startsWith("http")) {
        String line = out.readLine();
        assertThat(line).as("the history server has ended").isNotNull();
        address = line.substring(line.lastIndexOf(' ') + 1);
      }
      Thread drain = new Thread(() -> out.lines().forEach(line -> {}), "history-output");
      drain.start();
      String applications = address + "/api/v1/applications";
      try {
        JsonNode all =
            Awaitility.await()
                .atMost(LIMIT)
                .until(() -> JSON.readTree(get(applications)), json -> json.size() == 1);
        check.of(address + "/history/" + all.get(0).get("id").asText());
      } finally {
        server.destroyForcibly().waitFor();
        drain.join();
      }
    } finally {
      server.destroyForcibly().waitFor();
    }
  }

  /** Compares the JSON of the tab, and numbers in the page, with {@code statistics()}. */
  private static void checkNumbers(
      Process program, BufferedReader out, Browser browser, String address) throws Exception {
    program.getOutputStream().write('\n');
    program.getOutputStream().flush();
    JsonNode expected = withoutTimes(JSON.readTree(after(out, "STATISTICS ")));
    Awaitility.await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        withoutTimes(
                            JSON.readTree(get(address + "/ddstore/api/store?name=train"))
                                .get("store")))
                    .isEqualTo(expected));
    browser.value("location.hash = 'train'");
    browser.await("document.getElementById('ddstore').textContent.includes('What a step spends')");
    browser.await("document.querySelectorAll('#ddstore svg').length == 2"); // after two samples
    long rows = 0;
    for (JsonNode executor : expected.get("executors")) {
      for (JsonNode reader : executor.get("readers")) {
        for (JsonNode path : reader.get("reads")) {
          rows += path.get("rows").asLong();
        }
      }
    }
    assertThat(rows).isEqualTo(40L * TabProgram.ROWS);
    assertThat(sumOf("ddstore_read_rows_total", get(address + "/ddstore/metrics"))).isEqualTo(rows);
    String shown =
        browser
            .value(
                "[...document.querySelectorAll('#ddstore table')].find(t => t.textContent.includes('Last report'))"
                    + ".innerText")
            .asText()
            .replace(",", "");
    long inPage = 0;
    for (String line : shown.lines().skip(1).toList()) {
      String[] cells = line.split("\t", -1);
      inPage += Long.parseLong(cells[5]) + Long.parseLong(cells[6]) + Long.parseLong(cells[7]);
    }
    assertThat(inPage).as(shown).isEqualTo(rows);
    assertThat(get(address + "/ddstore/api/store?name=none")).startsWith("no store of this name");
  }

  private static long sumOf(String metric, String page) {
    return page.lines()
        .filter(line -> line.startsWith(metric + "{"))
        .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** Shows a store whose name, owner, host and label are HTML, as the server would send it. */
  private static void checkHostileNames(Browser browser) throws Exception {
    String name =
        "<script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">'&é漢";
    ObjectNode data = JSON.createObjectNode().put("nowMs", 5000).put("isLive", true);
    ObjectNode store = data.putArray("stores").addObject();
    store.put("name", name).put("owner", name).put("createdMs", 1).put("rows", 1).put("bytes", 1);
    store.put("ranks", 1).put("width", 1).put("unreadableRows", 0).put("executorCount", 1);
    store.put("outsideChannels", 0).putArray("lostRanks");
    ObjectNode event = data.putArray("events").addObject();
    event.put("timeMs", 1).put("store", name).put("kind", name).put("text", name);
    browser.value(
        "window.sent = window.fetch; window.fetch = async () => ({ok: true, status: 200, json: async () => (%s)});"
                .formatted(data)
            + "location.hash = location.hash ? '' : '#other'; location.hash = ''");
    browser.await("document.getElementById('ddstore').textContent.includes('onerror=')");
    assertThat(browser.value("document.querySelector('#ddstore td a').textContent").asText())
        .isEqualTo(name);
    assertThat(
            browser
                .value("document.querySelectorAll('#ddstore img, #ddstore script').length")
                .asInt())
        .isZero();
    assertThat(browser.value("document.title").asText()).doesNotContain("broken");
    browser.value("window.fetch = window.sent; location.hash = 'train'");
  }

  private static JsonNode withoutTimes(JsonNode store) {
    store.get("executors").forEach(executor -> ((ObjectNode) executor).remove("answeredMs"));
    return store;
  }

  /** Takes pictures in both themes, where the release has them, on a desktop and on a phone. */
  private static void pictures(Browser browser, SparkHome spark, String page) throws Exception {
    Path folder = PICTURES.resolve(spark.name());
    boolean hasThemes =
        browser.value("document.getElementById('theme-toggle') !== null").asBoolean();
    for (String theme : hasThemes ? List.of("light", "dark") : List.of("light")) {
      if (hasThemes) {
        browser.value(
            "document.documentElement.setAttribute('data-bs-theme', '%s')".formatted(theme));
      }
      browser.picture(DESKTOP, folder.resolve(page + "-" + theme + ".png"));
      browser.picture(PHONE, folder.resolve(page + "-" + theme + "-phone.png"));
      assertThat(
              browser
                  .value("document.getElementById('ddstore').scrollWidth <= innerWidth")
                  .asBoolean())
          .as("%s fits a phone", page)
          .isTrue();
    }
  }

  private static void killExecutor(Process program) {
    ProcessHandle executor =
        program
            .descendants()
            .filter(
                child ->
                    child.info().commandLine().orElse("").contains("CoarseGrainedExecutorBackend"))
            .findAny()
            .orElseThrow();
    executor.destroyForcibly();
  }

  private static String after(BufferedReader out, String prefix) throws IOException {
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith(prefix)) {
        return line.substring(prefix.length());
      }
    }
    throw new IllegalStateException("the program has ended");
  }

  private static String get(String address) throws IOException, InterruptedException {
    return HttpClient.newBuilder()
        .followRedirects(HttpClient.Redirect.NORMAL)
        .build()
        .send(HttpRequest.newBuilder(URI.create(address)).build(), BodyHandlers.ofString())
        .body();
  }
}
