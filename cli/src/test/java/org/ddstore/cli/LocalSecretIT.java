// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.deploy.LocalSparkCluster$;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportClientFactory;
import org.apache.spark.network.server.NoOpRpcHandler;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.OneForOneBlockFetcher;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.sql.SparkSession;
import org.ddstore.local.EmbeddedSpark;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import scala.jdk.javaapi.CollectionConverters;

/** What other users of the host get from the application of a command: its ports, files, pages. */
@Tag("system")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class LocalSecretIT {
  private static final long PATIENCE_MS = 60_000;
  private static final int BYTES = 1000;
  private static final String SPARK_LOGGERS = "org.apache.spark";

  @TempDir private Path events;

  @Test
  void clusterKeepsItsSecret() throws Exception {
    Map<String, String> settings = settings();
    settings.put("spark.ui.enabled", "true");
    settings.put("spark.ui.port", "0");
    settings.put("spark.logConf", "true");
    settings.put("spark.eventLog.enabled", "true");
    settings.put("spark.eventLog.compress", "false");
    settings.put("spark.eventLog.dir", events.toUri().toString());
    PrintStream before = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, UTF_8));
    Configurator.setLevel(SPARK_LOGGERS, Level.DEBUG);
    String secret;
    try (EmbeddedSpark spark = EmbeddedSpark.open("secret", 1, 1, 1024, settings)) {
      SparkContext context = spark.session().sparkContext();
      assertThat(context.getConf().get("spark.authenticate.secret")).matches("[0-9a-f]{64}");
      // A local master, which ran before in this JVM, leaves its secret to later applications.
      secret = SparkEnv.get().securityManager().getSecretKey();
      Broadcast<byte[]> rows = broadcast(spark.session());
      ClusterPages cluster = ClusterPages.of(context);

      assertThat(blockManagers(context)).as("driver and executor").hasSize(2);
      blockManagers(context).forEach(address -> assertRefused(address, rows));
      cluster.rpcPorts().forEach(address -> assertRefused(address, rows));

      assertOnlyInEnvironment(secret);
      assertAbsent(secret, Path.of(System.getenv("SPARK_HOME"), "work", context.applicationId()));
      for (String page : cluster.pages()) {
        assertThat(get(page)).as(page).isNotEmpty().doesNotContain(secret);
      }
      cluster.kill(context.applicationId());
      assertThat(cluster.json().get("activeapps")).as("applications").hasSize(1);
    } finally {
      Configurator.setLevel(SPARK_LOGGERS, Level.WARN);
      System.setErr(before);
    }
    assertThat(log.toString(UTF_8))
        .contains("spark.authenticate.secret=", "DEBUG")
        .doesNotContain(secret);
    assertAbsent(secret, events);
  }

  /** As a notebook with this master: the ports of the driver are the only ones. */
  @Test
  void localMasterKeepsItsBlocks() {
    try (EmbeddedSpark spark = local(Map.of())) {
      Broadcast<byte[]> rows = broadcast(spark.session());

      blockManagers(spark.session().sparkContext())
          .forEach(address -> assertRefused(address, rows));
    }
  }

  /** The attack succeeds, so that its failure above proves something. */
  @Test
  void userCanTurnAuthenticationOff() throws Exception {
    try (EmbeddedSpark spark = local(Map.of("spark.authenticate", "false"))) {
      Broadcast<byte[]> rows = broadcast(spark.session());

      String driver = blockManagers(spark.session().sparkContext()).get(0);
      assertThat(fetch(driver, rows)).hasSizeGreaterThan(BYTES);
    }
  }

  private static EmbeddedSpark local(Map<String, String> more) {
    Map<String, String> settings = settings();
    settings.put("spark.master", "local[1]");
    settings.putAll(more);
    return EmbeddedSpark.open("secret", 1, 1, 1024, settings);
  }

  private static Map<String, String> settings() {
    return new HashMap<>(InProcess.settings());
  }

  /** Stores bytes in the driver and in an executor, in the way of tasks that contain a token. */
  private static Broadcast<byte[]> broadcast(SparkSession session) {
    byte[] bytes = new byte[BYTES];
    new Random(1).nextBytes(bytes); // cannot be compressed
    JavaSparkContext context = JavaSparkContext.fromSparkContext(session.sparkContext());
    Broadcast<byte[]> rows = context.broadcast(bytes);
    assertThat(context.parallelize(List.of(1), 1).map(one -> rows.value().length).collect())
        .containsExactly(BYTES);
    return rows;
  }

  private static List<String> blockManagers(SparkContext context) {
    return new ArrayList<>(CollectionConverters.asJava(context.getExecutorMemoryStatus().keySet()));
  }

  private static void assertRefused(String address, Broadcast<byte[]> rows) {
    assertThatExceptionOfType(ExecutionException.class)
        .as(address)
        .isThrownBy(() -> fetch(address, rows))
        .withMessageContaining("SaslMessage");
    assertThatThrownBy(() -> ask(address)).as(address).hasMessageContaining("SaslMessage");
  }

  /** Reads a block as a process of another user can: with the id, and without the secret. */
  private static byte[] fetch(String address, Broadcast<byte[]> rows) throws Exception {
    CompletableFuture<byte[]> block = new CompletableFuture<>();
    BlockFetchingListener listener =
        new BlockFetchingListener() {
          @Override
          public void onBlockFetchSuccess(String id, ManagedBuffer data) {
            try {
              ByteBuffer buffer = data.nioByteBuffer();
              byte[] bytes = new byte[buffer.remaining()];
              buffer.get(bytes);
              block.complete(bytes);
            } catch (IOException e) {
              block.completeExceptionally(e);
            }
          }

          @Override
          public void onBlockFetchFailure(String id, Throwable failure) {
            block.completeExceptionally(failure);
          }
        };
    String[] ids = {"broadcast_%d_piece0".formatted(rows.id())};
    return connected(
        address,
        client -> {
          new OneForOneBlockFetcher(client, "app", "0", ids, listener, conf()).start();
          return block.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
        });
  }

  private static ByteBuffer ask(String address) throws Exception {
    return connected(
        address, client -> client.sendRpcSync(ByteBuffer.wrap(new byte[BYTES]), PATIENCE_MS));
  }

  @FunctionalInterface
  private interface Attack<T> {
    T run(TransportClient client) throws Exception;
  }

  private static <T> T connected(String address, Attack<T> attack) throws Exception {
    URI uri = URI.create("spark://" + address);
    try (TransportContext context = new TransportContext(conf(), new NoOpRpcHandler());
        TransportClientFactory factory = context.createClientFactory();
        TransportClient client = factory.createClient(uri.getHost(), uri.getPort())) {
      return attack.run(client);
    }
  }

  private static TransportConf conf() {
    return new TransportConf("shuffle", MapConfigProvider.EMPTY);
  }

  /** Fails if a command line contains the secret, or others may read the executor's environment. */
  private static void assertOnlyInEnvironment(String secret) throws IOException {
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
      for (Path process : processes) {
        assertThat(text(process.resolve("cmdline"))).as(process.toString()).doesNotContain(secret);
      }
    }
    List<Path> environments =
        ProcessHandle.current()
            .children()
            .map(executor -> Path.of("/proc", Long.toString(executor.pid()), "environ"))
            .toList();
    assertThat(environments)
        .isNotEmpty()
        .allSatisfy(
            environment -> {
              assertThat(text(environment)).contains(secret);
              assertThat(Files.getPosixFilePermissions(environment))
                  .isEqualTo(PosixFilePermissions.fromString("r--------"));
            });
  }

  private static String text(Path file) {
    try {
      return Files.readString(file, ISO_8859_1);
    } catch (IOException e) {
      return ""; // has ended
    }
  }

  private static void assertAbsent(String secret, Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      assertThat(files.filter(Files::isRegularFile))
          .isNotEmpty()
          .allSatisfy(file -> assertThat(text(file)).as(file.toString()).doesNotContain(secret));
    }
  }

  private static String get(String page) throws IOException, InterruptedException {
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(URI.create(page)).build(), BodyHandlers.ofString())
        .body();
  }

  /**
   * The pages of a local cluster, which any user of the host can open.
   *
   * @param rpcPorts addresses of driver, master and worker, HOST:PORT
   */
  private record ClusterPages(String master, List<String> rpcPorts, List<String> pages) {

    static ClusterPages of(SparkContext context) throws IOException, InterruptedException {
      String application = context.applicationId();
      String driver = context.uiWebUrl().get();
      String master =
          "http://127.0.0.1:" + LocalSparkCluster$.MODULE$.get().get().masterWebUIPort();
      JsonNode cluster = json(master);
      JsonNode worker = cluster.get("workers").get(0);
      String workerPages = worker.get("webuiaddress").asText();
      return new ClusterPages(
          master,
          List.of(
              "127.0.0.1:" + context.getConf().get("spark.driver.port"),
              cluster.get("url").asText().substring("spark://".length()),
              "127.0.0.1:" + worker.get("port").asInt()),
          List.of(
              driver + "/environment/",
              driver + "/api/v1/applications/" + application + "/environment",
              master + "/",
              master + "/json/",
              master + "/environment/",
              master + "/app/?appId=" + application,
              workerPages + "/",
              workerPages + "/json/",
              workerPages + "/logPage/?logType=stderr&executorId=0&appId=" + application));
    }

    private static JsonNode json(String master) throws IOException, InterruptedException {
      return new ObjectMapper().readTree(get(master + "/json/"));
    }

    JsonNode json() throws IOException, InterruptedException {
      return json(master);
    }

    /** Asks the master to end an application, as a button of its page does. */
    void kill(String application) throws IOException, InterruptedException {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(master + "/app/kill/"))
              .header("Content-Type", "application/x-www-form-urlencoded")
              .POST(HttpRequest.BodyPublishers.ofString("terminate=true&id=" + application))
              .build();
      HttpClient.newHttpClient().send(request, BodyHandlers.discarding());
    }
  }
}
