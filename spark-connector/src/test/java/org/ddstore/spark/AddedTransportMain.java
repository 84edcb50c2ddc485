// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.time.Duration;
import java.util.List;
import org.ddstore.Reader;
import org.ddstore.spark.report.ClusterReport;
import org.ddstore.spark.report.TransportReport;
import org.ddstore.spark.wire.LogTap;
import org.ddstore.types.ReadPath;

/**
 * A driver whose class path adds a transport by one line in a service file. Runs jobs with it and
 * prints for each a line {@code <name>: <what happened>}. Started by {@link AddedTransportTest}.
 */
final class AddedTransportMain {
  private AddedTransportMain() {}

  public static void main(String[] arguments) throws Exception {
    try (TestCluster cluster = TestCluster.start(2, 1, 1024)) {
      OnTestCluster.cluster = cluster;
      cluster.inEverySlot(rows -> 0); // all executors are there
      print("named", spec().transport("files").run(AddedTransportMain::read));
      print("groups", spec().transport("files").width(1).run(AddedTransportMain::read));
      print("auto", spec().transport("auto").run(AddedTransportMain::read));
      Explanation explanation = spec().transport("files").explain();
      print("explained", explanation.transport());
      print("paths", explanation.paths().stream().map(Explanation.Path::reason).toList());
      print("doctor", names(ClusterReport.of(cluster.session(), Duration.ofSeconds(60))));
      print("illegal", refusal());
      print("resident", resident());
      cluster.assertNothingLeft();
    }
    // Spark's threads must not keep this process.
    System.exit(0);
  }

  private static StoreSpec spec() {
    return DDStores.from(OnTestCluster.numberedRows()).ranks(2).shortcut(false).maxAttempts(1);
  }

  /** Reads and checks all rows; returns how. */
  private static String read(RankContext context) {
    try (Reader reader = context.rows().reader()) {
      long sum = OnTestCluster.readAll(reader);
      boolean isRemote = reader.statistics(ReadPath.REMOTE).rows() == OnTestCluster.ROWS;
      return (sum == OnTestCluster.SUM && isRemote ? "all by " : "not all by ")
          + context.transport();
    }
  }

  private static List<String> names(ClusterReport report) {
    return report.executors().get(0).transports().stream().map(TransportReport::name).toList();
  }

  private static String refusal() {
    try {
      spec().transport("pigeon");
      return "accepted";
    } catch (IllegalArgumentException e) {
      return e.getMessage();
    }
  }

  private static String resident() throws Exception {
    try (LogTap log = LogTap.open()) {
      ResidentStore store = spec().transport("files").load("kept");
      try {
        return store.run(AddedTransportMain::read) + " after " + log.of(StoreLauncher.class);
      } finally {
        store.drop();
      }
    }
  }

  private static void print(String name, Object what) {
    System.out.println(name + ": " + what);
  }
}
