// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.contract.JniChecks;
import org.ddstore.contract.Needed;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Explanation;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.TestCluster;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.spark.wire.FabricBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code fabric} and {@code auto} on executors, with libfabric and without. */
@Tag("system")
@Timeout(300)
class FabricOnExecutorsTest {
  private static final int ROWS = 400;

  private TestCluster cluster;

  private void start(Map<String, String> settings) {
    cluster = TestCluster.start(2, 1, 1024, settings);
  }

  @AfterEach
  void stop() {
    if (cluster != null) {
      try {
        cluster.assertNothingLeft();
      } finally {
        cluster.close();
        cluster = null;
      }
    }
  }

  private StoreSpec numbers() {
    return DDStores.from(
            cluster.session().range(ROWS).selectExpr("id", "concat('number ', id) as text"))
        .ranks(2)
        .shortcut(false)
        .maxAttempts(1);
  }

  /** Reads all rows, checks them and says by what. */
  private static String readAll(RankContext context) {
    try (Reader reader = context.rows().reader()) {
      for (int i = 0; i < ROWS; i += 2) {
        try (Batch batch = reader.getBatch(i + 1, i)) {
          assertThat(batch.string("text", 1)).isEqualTo("number " + i);
          assertThat(batch.field("id").getLong(0)).isEqualTo(i + 1);
        }
      }
    }
    return context.transport();
  }

  @Test
  void readsAllRowsByFabricOnRequest() throws IOException {
    String missing = FabricBackend.missing();
    Needed.check("fabric", missing == null, () -> missing);
    try (JniChecks checks = JniChecks.create()) {
      start(Map.of("spark.executor.extraJavaOptions", String.join(" ", checks.options())));
      readByFabric();
      stop();
      checks.assertSilent(2);
    }
  }

  private void readByFabric() {
    List<String> transports = numbers().transport("fabric").run(FabricOnExecutorsTest::readAll);
    assertThat(transports)
        .hasSize(2)
        .allSatisfy(
            text ->
                assertThat(text)
                    .matches("(?s)fabric, (net|tcp) on lo, not encrypted: .*")
                    .containsPattern("bound to (127\\.0\\.0\\.1|localhost)\\b")
                    .contains("no RDMA hardware"));
    assertThat(numbers().transport("fabric").width(1).run(FabricOnExecutorsTest::readAll))
        .as("two groups, of which one copies the rows of the other")
        .hasSize(2);
    assertThat(numbers().shortcut(true).run(FabricOnExecutorsTest::readAll))
        .as("by memory")
        .hasSize(2);
    Explanation explanation = numbers().transport("auto").explain();
    assertThat(explanation.transport())
        .startsWith(
            "tcp, not encrypted, over data channels: auto takes fabric only with RDMA hardware")
        .contains("rank 0 has none", "no RDMA device");
    assertThat(numbers().transport("fabric").explain().paths())
        .allSatisfy(
            path ->
                assertThat(path.reason())
                    .matches("(?s)fabric, (net|tcp) on lo, not encrypted to .*"));
  }

  @Test
  @Tag("slow")
  void withoutLibfabricFabricFailsAndAutoUsesTcp() {
    start(
        Map.of(
            "spark.executor.extraJavaOptions",
            "-Dddstore.fabric.library=libnowhere.so.1",
            "spark.ddstore.maxAttempts",
            "1"));
    assertThatThrownBy(() -> numbers().transport("fabric").run(FabricOnExecutorsTest::readAll))
        .isInstanceOf(StoreJobException.class)
        .rootCause()
        .hasMessageMatching(
            "(?s).*rank \\d at (127\\.0\\.0\\.1|localhost) cannot read by fabric: .*")
        .hasMessageContaining("spark.ddstore.transport=auto");
    assertThat(numbers().transport("auto").run(FabricOnExecutorsTest::readAll))
        .allSatisfy(
            text ->
                assertThat(text)
                    .startsWith("tcp, not encrypted, over data channels: ")
                    .contains("rank 0 has none"));
  }
}
