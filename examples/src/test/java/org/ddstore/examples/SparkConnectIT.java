// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stores in an application that serves remote users by Spark Connect. The users are in another JVM,
 * with Connect's client alone, see {@link RemoteUser}; one that disappears has a JVM of its own.
 */
@Tag("system")
@Tag("slow")
@Timeout(value = 900, unit = TimeUnit.SECONDS)
class SparkConnectIT {
  private static final String TOKEN = "not-a-secret";
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final Path CLASSES = ROOT.resolve("examples/target/test-classes");
  private static final Path CONNECTOR_CLASSES = ROOT.resolve("spark-connector/target/test-classes");

  @TempDir private static Path folder;
  private static ConnectServer server;
  private static RemoteUsers users;

  @TempDir private Path work;

  @BeforeAll
  static void start() throws IOException {
    server =
        ConnectServer.start(
            folder,
            List.of(
                "--jars",
                SparkHome.RUNTIME_JAR.toString(),
                "--conf",
                "spark.connect.execute.reattachable.senderMaxStreamDuration=10s",
                "--conf",
                "spark.connect.execute.manager.detachedTimeout=20s",
                "--conf",
                "spark.connect.execute.manager.maintenanceInterval=5s",
                "--class",
                "org.apache.spark.sql.connect.service.SparkConnectServer",
                "spark-internal"));
    users = RemoteUsers.start(folder, program(folder, List.of(RemoteUser.class.getName())));
  }

  @AfterAll
  static void stop() throws IOException, InterruptedException {
    try (ConnectServer lastServer = server;
        RemoteUsers lastUsers = users) {
      if (lastUsers != null) {
        lastUsers.stop();
      }
      if (lastServer != null) {
        lastServer.stop();
      }
    }
  }

  @Test
  void roundTripsEveryTypeModeAndStatement() throws IOException {
    user("alice", "round-trip");
  }

  @Test
  void keepsAStoreForLaterClientsAndOtherUsers() throws IOException {
    user("alice", "load", "shared");
    user("alice", "check", "shared");
    user("bob", "check", "shared");

    List<String> changes =
        statements(
            "bob",
            "SET spark.ddstore.ownerCheck=false",
            "INSERT INTO ddstore.shared SELECT * FROM ddstore.shared",
            "INSERT OVERWRITE ddstore.shared SELECT * FROM ddstore.shared",
            "DROP TABLE ddstore.shared",
            "SHOW TABLES IN ddstore");

    String refused =
        "SparkException: org.ddstore.types.DDStoreException: user \"bob\" cannot %s store \"shared\" of user \"alice\": ask the owner, or start the application with spark.ddstore.ownerCheck=false";
    assertThat(changes)
        .containsExactly(
            "[[spark.ddstore.ownerCheck, false]]",
            refused.formatted("append to"),
            refused.formatted("replace"),
            refused.formatted("drop"),
            "[[, shared, false]]");
    assertThat(statements("alice", "DROP TABLE ddstore.shared", "SHOW TABLES IN ddstore"))
        .containsExactly("[]", "[]");
    server.awaitNoSharedMemory();
  }

  @Test
  void writesByEveryCallOfDataFrames() throws IOException {
    assertThat(user("alice", "writers"))
        .containsExactly(
            "ParseException: [PARSE_EMPTY_STATEMENT] Syntax error, unexpected empty statement. SQLSTATE: 42617",
            "[[-1, [1, 0, 0], 0.00], [1, [1, 2, 0], 1.00], [2, [1, 2, 3], 2.00], [3, [1, 2, 3], 3.00]]");
  }

  @Test
  void sessionsShareAStoreAtOnce() throws IOException {
    user("alice", "sessions", "grown");

    assertThat(
            statements("alice", "SELECT count(*) FROM ddstore.grown", "DROP TABLE ddstore.grown"))
        .containsExactly("[[120]]", "[]");
  }

  @Test
  void sessionWithClassesOfItsOwnSharesStores() throws IOException {
    user("alice", "own-class");
  }

  @Test
  void keptDataFramesFollowTheStore() throws IOException {
    assertThat(user("alice", "kept"))
        .containsExactly(
            "store \"kept\" has the columns STRUCT<id: BIGINT NOT NULL, minus: BIGINT NOT NULL>, not STRUCT<id: BIGINT NOT NULL>: remove the schema, or read the store again");
  }

  @Test
  void clientSeesTheMessages() throws IOException {
    List<String> lines =
        statements(
            "alice",
            "SELECT * FROM ddstore.none",
            "CREATE TEMPORARY VIEW v USING ddstore OPTIONS (name 'none')",
            "CREATE TABLE ddstore.t OPTIONS (rank 1) AS SELECT 1 AS id",
            "SET spark.ddstore.ranks=64",
            "CREATE TABLE ddstore.t AS SELECT 1 AS id",
            "CREATE TABLE ddstore.t OPTIONS (ranks 1) AS SELECT map('a', 1) AS m",
            "CREATE TABLE ddstore.t OPTIONS (ranks 1) AS SELECT CAST(NULL AS INT) AS n");

    assertThat(lines).hasSize(7);
    assertThat(lines.get(0)).contains("no store \"none\" in this application; known stores: []");
    assertThat(lines.get(1))
        .isEqualTo(
            "SparkIllegalArgumentException: no store \"none\" in this application; known stores: []");
    assertThat(lines.get(2))
        .startsWith("SparkIllegalArgumentException: option \"rank\" of format \"ddstore\"");
    assertThat(lines.get(4))
        .contains("cannot run 64 ranks here: - 64 ranks need 64 slots, 4 available");
    assertThat(lines.get(5)).contains("MAP<STRING, INT> cannot be stored; take to_json(m)");
    assertThat(lines.get(6)).contains("column \"n\", row 0: null; set option \"fillNulls.n\"");
  }

  @Test
  void interruptedLoadLeavesNothing() throws IOException {
    List<String> lines = user("alice", "interrupt", server.temporary().toString());

    assertThat(lines).hasSize(2).startsWith("1 interrupted");
    assertThat(lines.get(1)).contains("OPERATION_CANCELED");
    server.awaitNoSharedMemory();
  }

  /** The next load of the name waits for the one without a client, and needs its slots. */
  @Test
  void loadOfAClientThatDisappearsEnds() throws IOException, InterruptedException {
    List<String> program = new ArrayList<>(List.of(RemoteUser.class.getName()));
    program.addAll(arguments(server, "alice", "vanish", server.temporary().toString()));
    Program.run(work, program(work, program)).assertSuccess();

    assertThat(
            statements(
                "alice",
                "CREATE TABLE ddstore.blocked OPTIONS (ranks 4) AS SELECT id FROM range(100)",
                "DROP TABLE ddstore.blocked"))
        .containsExactly("[]", "[]");
    server.awaitNoSharedMemory();
  }

  @Test
  void readsACopyAfterALossAndLoadsAgain() throws IOException {
    statements(
        "alice",
        "CREATE TABLE ddstore.lost OPTIONS (ranks 4) AS SELECT id FROM range(10)",
        "CREATE TABLE ddstore.copied OPTIONS (ranks 4, width 2) AS SELECT id FROM range(10)");
    ProcessHandle executor = server.executors().get(0);
    assertThat(executor.destroyForcibly()).isTrue();
    await("the end of an executor").atMost(Duration.ofMinutes(1)).until(() -> !executor.isAlive());

    List<String> lines =
        statements(
            "alice",
            "SELECT sum(id) FROM ddstore.copied",
            "SELECT sum(id) FROM ddstore.lost",
            "INSERT OVERWRITE ddstore.lost SELECT id FROM range(5)",
            "SELECT sum(id) FROM ddstore.lost",
            "DROP TABLE ddstore.lost",
            "DROP TABLE ddstore.copied");

    assertThat(lines.get(0)).isEqualTo("[[45]]");
    assertThat(lines.get(1)).contains("RankLostException").contains("\"lost\"");
    assertThat(lines.subList(2, lines.size())).containsExactly("[]", "[[10]]", "[]", "[]");
    server.awaitNoSharedMemory();
  }

  /** A program with ranks serves remote users, too, if they know the token. */
  @Test
  void ranksReadWhatARemoteUserWrites() throws IOException, InterruptedException {
    String own = SparkHome.RUNTIME_JAR + File.pathSeparator + CLASSES;
    ConnectServer program =
        ConnectServer.start(
            work,
            List.of(
                "--conf",
                "spark.plugins=org.apache.spark.sql.connect.SparkConnectPlugin",
                "--conf",
                "spark.executor.extraClassPath=" + own,
                "--conf",
                "spark.connect.authenticate.token=" + TOKEN,
                "--class",
                ServingProgram.class.getName(),
                "spark-internal"),
            SparkHome.RUNTIME_JAR,
            CLASSES);

    try (program) {
      assertThat(user(program, "alice", "statements", "SHOW TABLES IN ddstore"))
          .singleElement()
          .asString()
          .endsWith("UNAUTHENTICATED: No authentication token provided");
      assertThat(user(program, "alice;token=" + TOKEN, "ranks")).containsExactly("[[45], [45]]");
      program.stop();
    }
  }

  private static List<String> user(String name, String... arguments) throws IOException {
    return user(server, name, arguments);
  }

  /** Runs a program of a remote user to its end; returns what it prints. */
  private static List<String> user(ConnectServer at, String name, String... arguments)
      throws IOException {
    return users.run(arguments(at, name, arguments));
  }

  private static List<String> arguments(ConnectServer at, String user, String... arguments) {
    List<String> all = new ArrayList<>();
    all.add("%s/;user_id=%s".formatted(at.address(), user));
    all.addAll(List.of(arguments));
    return all;
  }

  private static ProcessBuilder program(Path work, List<String> classAndArguments)
      throws IOException {
    SparkHome client = SparkHome.connectClient();
    return client.program(work, client.classPath(CLASSES, CONNECTOR_CLASSES), classAndArguments);
  }

  private static List<String> statements(String user, String... statements) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("statements"));
    arguments.addAll(List.of(statements));
    return user(user, arguments.toArray(String[]::new));
  }
}
