// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scale;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.ddstore.AttachedStore;
import org.ddstore.Batch;
import org.ddstore.Catalog;
import org.ddstore.Reader;
import org.ddstore.StoreOptions;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.Segment;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.job.CopyPlacement;
import org.ddstore.spark.job.StartExchange;
import org.ddstore.spark.job.StartMessage;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.Transport;
import org.ddstore.types.ProcessAddress;

/**
 * The work of one process in a start, by the code of its ranks: messages, catalog, placement,
 * copies, index, sampler and the first batch, whose rows a transport without a network computes.
 */
final class ProcessStart {
  static final String MESSAGES = "rank: messages read";
  static final String CATALOG = "process: catalog parsed, once";
  static final String CATALOG_HEAP = "process: catalog in the heap, once";
  static final String PLACEMENT = "rank: placement";
  static final String PLACEMENT_HEAP = "rank: placement in the heap";
  static final String COPIES = "rank: placement of copies";
  static final String LOOKUP = "rank: owner of a row";
  static final String SAMPLER = "rank: first samples";
  static final String BATCH = "rank: first batch without network";
  static final String ASKED = "rank: processes asked by the first batch";

  private static final String ROWS = "rows";
  private static final int SAMPLES = 3;
  private static final int LOOKUPS = 1 << 20;
  private static final int BATCH_ROWS = 1024;
  private static final int CHECKED_RANKS = 64;
  private static final long MIN_HEAP_BYTES = 1 << 20;

  private final SimulatedCluster cluster;
  private final Parts parts;

  ProcessStart(SimulatedCluster cluster, Parts parts) {
    this.cluster = cluster;
    this.parts = parts;
  }

  /**
   * @param packed start messages of all ranks, as a rank receives them
   */
  void measure(byte[] packed) throws Exception {
    Object[] read = new Object[1]; // so that no compiler leaves the work out
    parts.add(
        MESSAGES,
        Parts.SECONDS,
        Parts.cpuSeconds(
            SAMPLES,
            () ->
                read[0] =
                    StartExchange.unpack(packed).stream().map(StartMessage::decode).toList()));
    copies();
    index();
    sampler();
    store();
  }

  private void copies() throws Exception {
    ReplicaGroups groups = new ReplicaGroups(cluster.ranks(), cluster.ranks() / 2);
    List<String> executors = cluster.executors();
    int[][] members = new int[1][];
    double[] seconds =
        Parts.cpuSeconds(SAMPLES, () -> members[0] = CopyPlacement.of(groups, executors));
    long together = 0; // copies on the executor of their original, without need
    for (int rank = groups.width(); rank < cluster.ranks(); rank++) {
      together += executors.get(rank).equals(executors.get(members[0][rank])) ? 1 : 0;
    }
    parts.addChecked(COPIES, Parts.SECONDS, cluster.processes() > 2 ? together : 0, seconds);
  }

  /** Finds the owners of random rows and compares them with the owners by definition. */
  private void index() throws Exception {
    long[] rows = new long[cluster.ranks()];
    for (int rank = 0; rank < rows.length; rank++) {
      rows[rank] = cluster.rowsOf(rank);
    }
    ExtentMap extents = ExtentMap.EMPTY.append(rows);
    long[] wanted = new SplittableRandom(1).longs(LOOKUPS, 0, cluster.rows()).toArray();
    int[] owners = new int[LOOKUPS];
    double[] seconds =
        Parts.cpuSeconds(
            SAMPLES,
            () -> {
              for (int i = 0; i < LOOKUPS; i++) {
                owners[i] = extents.rank(extents.extentOf(wanted[i]));
              }
            });
    long wrong = extents.rows() == cluster.rows() ? 0 : 1;
    for (int i = 0; i < LOOKUPS; i++) {
      boolean isOwner =
          cluster.firstRow(owners[i]) <= wanted[i] && wanted[i] < cluster.firstRow(owners[i] + 1);
      wrong += isOwner ? 0 : 1;
    }
    parts.addChecked(LOOKUP, Parts.SECONDS, wrong, Parts.times(1.0 / LOOKUPS, seconds));
  }

  /** Computes the first batches of some ranks, which must have no row in common. */
  private void sampler() throws Exception {
    int step = Math.max(1, cluster.ranks() / CHECKED_RANKS);
    Set<Long> seen = new HashSet<>();
    long[] samples = new long[BATCH_ROWS];
    long[] counts = new long[1];
    double[] seconds = new double[1];
    for (int rank = 0; rank < cluster.ranks(); rank += step) {
      seconds[0] += Parts.cpuSeconds(1, fill(rank, samples))[0];
      counts[0]++;
      for (long sample : samples) {
        seen.add(sample);
      }
    }
    long lost = counts[0] * BATCH_ROWS - seen.size();
    parts.addChecked(SAMPLER, Parts.SECONDS, lost, seconds[0] / counts[0]);
  }

  private Parts.Work fill(int rank, long... samples) {
    return () -> {
      EpochBatches batches =
          Samplers.shuffled(1)
              .batchSize(BATCH_ROWS)
              .epoch(cluster.rows(), new WorldRank(rank, cluster.ranks()), 0);
      batches.fill(0, samples);
    };
  }

  private void store() throws Exception {
    byte[] bytes =
        Catalog.of(cluster.ranks(), ROWS, SimulatedCluster.schema(), cluster.segments()).toBytes();
    parts.add(CATALOG, Parts.BYTES, bytes.length);
    long before = usedHeap();
    Catalog[] catalog = new Catalog[1];
    double seconds = Parts.cpuSeconds(() -> catalog[0] = Catalog.parse(bytes));
    boolean isHeldOnce = Catalog.parse(bytes.clone()) == catalog[0];
    parts.addChecked(CATALOG, Parts.SECONDS, isHeldOnce ? 0 : 1, seconds);
    long parsed = usedHeap();
    addHeap(CATALOG_HEAP, parsed - before);
    AttachedStore[] store = new AttachedStore[1];
    ComputedRows transport = new ComputedRows();
    parts.add(
        PLACEMENT,
        Parts.SECONDS,
        Parts.cpuSeconds(
            () -> store[0] = AttachedStore.open(catalog[0], transport, StoreOptions.defaults())));
    try (AttachedStore open = store[0]) {
      addHeap(PLACEMENT_HEAP, usedHeap() - parsed);
      firstBatch(open, transport);
    }
  }

  private void firstBatch(AttachedStore store, ComputedRows transport) throws Exception {
    long[] samples = new long[BATCH_ROWS];
    fill(0, samples).run();
    try (Reader reader = store.variable(ROWS).reader();
        Batch batch = reader.getBatch()) {
      double seconds = Parts.cpuSeconds(() -> reader.getBatch(batch, samples));
      long wrong =
          SimulatedCluster.wrongValues(batch.field(SimulatedCluster.FIELD).asByteBuffer(), samples);
      parts.addChecked(BATCH, Parts.SECONDS, wrong, seconds);
      parts.add(ASKED, "processes", transport.asked);
    }
  }

  /** Adds the growth of the heap, unless other changes of the heap hide it. */
  private void addHeap(String part, long bytes) {
    if (bytes >= MIN_HEAP_BYTES) {
      parts.add(part, Parts.BYTES, (double) bytes);
    }
  }

  private static long usedHeap() {
    Runtime runtime = Runtime.getRuntime();
    runtime.gc();
    runtime.gc(); // references that the first has cleared
    return runtime.totalMemory() - runtime.freeMemory();
  }

  /** A transport that computes the rows of the cluster in place of their owners. */
  private final class ComputedRows implements Transport, RemoteReader {
    private int asked;

    @Override
    public String description() {
      return "computed";
    }

    @Override
    public ProcessAddress local() {
      return cluster.process(0);
    }

    @Override
    public void export(Segment segment) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void withdraw(Segment segment) {
      throw new UnsupportedOperationException();
    }

    @Override
    public RemoteReader newReader(Duration timeout) {
      return this;
    }

    @Override
    public void begin() {}

    @Override
    public void fetch(List<PeerRows> peers) {
      asked += peers.size();
      for (PeerRows peer : peers) {
        ByteBuffer staging = peer.reserve().duplicate().order(ByteOrder.nativeOrder());
        for (int run = 0; run < peer.runs(); run++) {
          long row = cluster.firstRow(peer.segment(run).rank()) + peer.firstRow(run);
          for (int slot = peer.firstSlot(run); slot < peer.firstSlot(run + 1); slot++, row++) {
            for (int element = 0; element < SimulatedCluster.ROW_LONGS; element++) {
              staging.putLong(peer.start(slot) + element * Long.BYTES, row + element);
            }
          }
        }
      }
    }

    @Override
    public void close() {}
  }
}
