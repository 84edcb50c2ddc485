// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.ddstore.spark.ResidentStoreTest.checkAll;
import static org.ddstore.spark.ResidentStoreTest.frame;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.ddstore.Variable;
import org.ddstore.spark.monitor.StatisticsJson;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.OutsideStatistics;
import org.ddstore.spark.types.StoreGrant;
import org.ddstore.spark.types.StoreStatistics;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ReadPath;
import org.ddstore.types.StoreGoneException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Handles as texts: reads by memory and over the data ports, grants, and their ends. */
@Tag("system")
@Timeout(600)
class OutsideReadsTest extends OnResidentCluster {
  private static final int ROWS = 400;
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Duration HOUR = Duration.ofHours(1);

  @TempDir private Path folder;

  private static ResidentStore load() {
    return DDStores.from(frame(0, ROWS)).ranks(4).load("outside");
  }

  /** Returns a handle whose rows cannot be mapped. */
  private static String overPorts(String json) throws IOException {
    ObjectNode tree = (ObjectNode) MAPPER.readTree(json);
    for (JsonNode copy : tree.get("copies")) {
      copy.forEach(segment -> ((ObjectNode) segment).putNull("path"));
    }
    return tree.toString();
  }

  private static void checkAllOf(String json, ReadPath path) {
    try (StoreReader reader = StoreHandle.fromJson(json).attach()) {
      checkAll(reader.rows(), ROWS);
      assertThat(reader.rows().statistics())
          .filteredOn(statistics -> statistics.rows() > 0)
          .singleElement()
          .satisfies(statistics -> assertThat(statistics.path()).isEqualTo(path));
    }
  }

  @Test
  void aTextReadsByMemoryAndOverPorts() throws Exception {
    ResidentStore store = load();
    String json = store.handle().toJson();
    checkAllOf(json, ReadPath.SAME_HOST);
    checkAllOf(overPorts(json), ReadPath.REMOTE);
    StoreHandle read = StoreHandle.fromJson(json);
    assertThat(read.name()).isEqualTo("outside");
    assertThat(read.rows()).isEqualTo(ROWS);
    assertThat(read.schema()).isEqualTo(store.schema());
    assertThat(read.sourceSchema()).isEqualTo(store.sourceSchema());
    assertThat(read.digest()).isEqualTo(store.digest());
    assertThat(read.toJson()).isEqualTo(json);
    assertThat(store.grants()).containsExactly(new StoreGrant("handle", Optional.empty(), false));
    String key = json.replaceAll(".*\"key\":\"([0-9a-f]{64})\".*", "$1");
    assertThat(key).hasSize(64);
    StoreStatistics statistics = store.statistics();
    assertThat(store + " " + read + store.explain() + store.grants()).doesNotContain(key);
    assertThat(StatisticsJson.of(statistics)).contains("\"label\":\"handle\"").doesNotContain(key);
    long bytes = 0;
    for (ExecutorStatistics executor : statistics.executors()) {
      assertThat(executor.outside())
          .singleElement()
          .extracting(
              OutsideStatistics::label, OutsideStatistics::rows, OutsideStatistics::requests)
          .containsExactly("handle", executor.rows(), executor.servedRequests());
      bytes += executor.outside().get(0).bytes();
    }
    assertThat(bytes).as("bytes of all records").isPositive().isLessThanOrEqualTo(store.bytes());
    await("the channels are closed")
        .until(() -> refreshed(store).stream().allMatch(e -> e.outside().get(0).channels() == 0));
    checkHeaders(json);
    store.drop();
  }

  /** A program that finds the file of a segment learns which rows these are. */
  private static void checkHeaders(String json) throws IOException {
    JsonNode tree = MAPPER.readTree(json);
    for (JsonNode segment : tree.get("copies").get(0)) {
      try (FileChannel file = FileChannel.open(Path.of(segment.get("path").asText()))) {
        ByteBuffer header = file.map(FileChannel.MapMode.READ_ONLY, 0, 128);
        header.order(ByteOrder.LITTLE_ENDIAN);
        assertThat(header.getLong(88)).isEqualTo(segment.get("firstRow").asLong());
        assertThat(header.getInt(96)).isEqualTo(segment.get("rank").asInt());
        assertThat("%016x%016x".formatted(header.getLong(104), header.getLong(112)))
            .isEqualTo(tree.get("store").asText());
      }
    }
  }

  @Test
  void aGrantEndsByTimeAndByRevocation() throws Exception {
    ResidentStore store = load();
    Instant end = Instant.now().plusSeconds(3);
    String brief = overPorts(store.grant("brief", Duration.ofSeconds(3)).toJson());
    String daily = overPorts(store.grant("daily", HOUR).toJson());
    String other = overPorts(store.grant("other", HOUR).toJson());
    try (StoreReader reader = StoreHandle.fromJson(brief).attach();
        StoreReader revoked = StoreHandle.fromJson(daily).attach();
        StoreReader lasting = StoreHandle.fromJson(other).attach()) {
      for (StoreReader each : List.of(reader, revoked, lasting)) {
        checkAll(each.rows(), ROWS);
      }
      await().until(() -> Instant.now().isAfter(end.plusSeconds(2)));
      assertRefused(reader.rows(), "grant \"brief\" ended at 20");
      assertThat(store.revoke("daily")).isEmpty();
      assertRefused(revoked.rows(), "grant \"daily\" was revoked");
      checkAll(lasting.rows(), ROWS);
    }
    assertThat(store.grants())
        .extracting(StoreGrant::label, StoreGrant::isRevoked)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("brief", false),
            org.assertj.core.groups.Tuple.tuple("daily", true),
            org.assertj.core.groups.Tuple.tuple("other", false));
    assertThatThrownBy(() -> store.grant("daily", HOUR))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("grant \"daily\" was revoked: choose another label");
    assertThatThrownBy(() -> store.revoke("weekly"))
        .hasMessage("no grant \"weekly\": the grants are [brief, daily, other]");
    assertThatThrownBy(() -> store.grant("a b", HOUR)).hasMessageContaining("label \"a b\"");
    assertThatThrownBy(() -> store.grant("x", Duration.ZERO)).hasMessageContaining("positive");
    store.drop();
  }

  private static void assertRefused(Variable rows, String reason) {
    assertThatThrownBy(() -> checkAll(rows, ROWS))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void readersLearnThatTheStoreIsGone() throws Exception {
    ResidentStore store = load();
    ResidentStore another = DDStores.from(frame(0, 4)).ranks(4).load("stays"); // keeps the ports
    String mapped = store.handle().toJson();
    String json = overPorts(mapped);
    try (StoreReader reader = StoreHandle.fromJson(json).attach();
        StoreReader neighbour = StoreHandle.fromJson(mapped).attach();
        StoreReader inside = store.handle().attach()) {
      for (StoreReader each : List.of(reader, neighbour, inside)) {
        checkAll(each.rows(), ROWS);
      }
      store.drop();
      assertThatThrownBy(() -> checkAll(reader.rows(), ROWS))
          .isInstanceOf(StoreGoneException.class);
      for (StoreReader each : List.of(neighbour, inside)) {
        assertThatThrownBy(() -> checkAll(each.rows(), ROWS))
            .isInstanceOf(StoreGoneException.class)
            .hasMessageContaining("because the store was dropped");
      }
    }
    another.drop();
    try (StoreReader reader = StoreHandle.fromJson(json).attach()) {
      assertThatThrownBy(() -> checkAll(reader.rows(), ROWS)).isInstanceOf(DDStoreException.class);
    }
    assertThatThrownBy(() -> store.grant("late", HOUR)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aFollowedFileHasTheRowsThatAreAppended() throws Exception {
    ResidentStore store = load();
    Path followed = folder.resolve("followed.json");
    Path saved = folder.resolve("saved.json");
    store.handle().save(followed, true);
    store.grant("daily", HOUR).save(saved, false);
    store.append(frame(ROWS, 2 * ROWS));
    try (StoreReader reader = StoreHandle.read(followed).attach();
        StoreReader former = StoreHandle.read(saved).attach()) {
      checkAll(reader.rows(), 2 * ROWS);
      checkAll(former.rows(), ROWS);
    }
    String json = Files.readString(followed);
    try (StoreReader reader = StoreHandle.fromJson(overPorts(json)).attach()) {
      checkAll(reader.rows(), 2 * ROWS);
    }
    assertThatThrownBy(() -> StoreHandle.read(saved).save(saved, true))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("in the driver that has the store");
    store.drop();
  }

  @Test
  void aFollowedFileIsRetriedUntilItIsWritten() throws Exception {
    ResidentStore store = load();
    Path mount = Files.createDirectory(folder.resolve("mount"));
    Path followed = mount.resolve("followed.json");
    store.handle().save(followed, true);
    Files.move(mount, folder.resolve("away"));
    store.append(frame(ROWS, 2 * ROWS));
    assertThat(StoreHandle.read(folder.resolve("away/followed.json")).rows()).isEqualTo(ROWS);
    Files.move(folder.resolve("away"), mount);
    await().until(() -> StoreHandle.read(followed).rows() == 2 * ROWS);
    store.drop();
  }

  /** A handle that lies about rows or types cannot make a reader leave the memory of a segment. */
  @Test
  void mapsNothingThatDiffersFromTheHandle() throws Exception {
    ResidentStore store = load();
    String json = store.handle().toJson();
    for (boolean rows : new boolean[] {true, false}) {
      ObjectNode tree = (ObjectNode) MAPPER.readTree(json);
      tree.get("copies").get(0).forEach(segment -> ((ObjectNode) segment).putNull("process"));
      if (rows) {
        ObjectNode last = (ObjectNode) tree.get("copies").get(0).get(3);
        last.put("rows", last.get("rows").longValue() + 1);
        tree.put("rows", ROWS + 1);
      } else {
        ((ObjectNode) tree.get("fields").get(0)).put("dtype", "int32");
      }
      StoreHandle lying = StoreHandle.fromJson(tree.toString());
      assertThatThrownBy(lying::attach)
          .isInstanceOf(DDStoreException.class)
          .hasMessageContaining("it has 100 rows of ");
    }
    store.drop();
  }

  @Test
  void aTaskCannotMakeATextOfItsHandle() {
    ResidentStore store = load();
    StoreHandle handle = store.handle();
    assertThatThrownBy(
            () -> cluster.session().range(1).javaRDD().map(row -> handle.toJson()).collect())
        .hasMessageContaining("StoreHandle.toJson of store \"outside\": call it in the driver");
    store.drop();
  }
}
