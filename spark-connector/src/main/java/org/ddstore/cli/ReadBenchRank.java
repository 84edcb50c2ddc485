package org.ddstore.cli;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.network.sasl.SecretKeyHolder;
import org.ddstore.DDStore;
import org.ddstore.ReadPath;
import org.ddstore.ShardWriter;
import org.ddstore.StoreInfo;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.memory.Segment;
import org.ddstore.spark.TransportChoice;
import org.ddstore.spark.wire.StoreToken;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireOptions;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.transport.OneSidedOptions;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;

/**
 * One rank of {@link ReadBench}, a JVM of its own. It is told what to do by its standard input, and
 * says on its standard output what {@link RankProcesses} reads: its address, then, if it is rank 0,
 * each result.
 */
final class ReadBenchRank {
  static final String ADDRESS = "address ";
  static final String RESULT = "result ";
  private static final String ROWS = "rows";
  private static final Duration PATIENCE = Duration.ofMinutes(30);

  /**
   * What a rank is told.
   *
   * @param host the address at which the others reach it
   * @param secret of Spark's authentication, if the plan wants it
   */
  record Setup(ReadBenchPlan plan, int rank, String host, StoreToken token, String secret)
      implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  private final Setup setup;
  private final ReadBenchPlan plan;
  private final PrintStream out;
  private double streamGbPerSecond;

  private ReadBenchRank(Setup setup, PrintStream out) {
    this.setup = setup;
    this.plan = setup.plan();
    this.out = out;
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    new ReadBenchRank((Setup) decode(in.readLine()), out).play(in);
  }

  private void play(BufferedReader in) throws Exception {
    if (setup.rank() == 0) {
      streamGbPerSecond = StreamCopy.gbPerSecond();
    }
    TransportChoice choice =
        TransportChoice.of(
            plan.transport(),
            setup.rank(),
            new OneSidedOptions("", "", setup.host(), setup.rank()),
            options());
    try (WireSession session = Wire.join(setup.token(), options());
        GroupEndpoint endpoint =
            GroupEndpoint.create(
                session.lanes(ProcessDirectory.SHARED_MEMORY, plan.shortcut()),
                setup.rank(),
                plan.ranks())) {
      out.println(ADDRESS + Base64.getEncoder().encodeToString(endpoint.address()));
      List<byte[]> addresses =
          Stream.of(in.readLine().split(",", -1)).map(Base64.getDecoder()::decode).toList();
      try (Communicator ranks = endpoint.connect(addresses, PATIENCE)) {
        Transport transport = choice.agree(Arrays.asList(ranks.allGather(choice.offer())), session);
        for (int rowBytes : plan.rowBytes()) {
          play(rowBytes, ranks, transport);
        }
      }
    }
  }

  private WireOptions options() {
    SparkConf conf = new SparkConf(false);
    if (!plan.encrypted()) {
      return WireOptions.of(conf, null, setup.host());
    }
    conf.set("spark.authenticate", "true")
        .set("spark.network.crypto.enabled", "true")
        .set("spark.network.crypto.saslFallback", "false");
    return WireOptions.of(
        conf,
        new SecretKeyHolder() {
          @Override
          public String getSaslUser(String application) {
            return "ddstore";
          }

          @Override
          public String getSecretKey(String application) {
            return setup.secret();
          }
        },
        setup.host());
  }

  private void play(int rowBytes, Communicator ranks, Transport transport) throws Exception {
    PatternRows pattern = new PatternRows(rowBytes);
    int shardRows = plan.shardRows(rowBytes);
    StoreOptions options = StoreOptions.defaults().withShortcut(plan.shortcut());
    try (DDStore store = DDStore.open(ranks, transport, options)) {
      ShardWriter writer = ShardWriter.create(pattern.schema(), options);
      pattern.write((long) ranks.rank() * shardRows, shardRows, writer);
      store.add(ROWS, writer);
      if (ranks.rank() == 0) {
        measure(store, transport, pattern, rowBytes);
      }
      ranks.awaitAll("measured", PATIENCE);
    }
  }

  private void measure(DDStore store, Transport remote, PatternRows pattern, int rowBytes)
      throws Exception {
    for (ReadPath path : ReadPath.values()) {
      List<Long> firstRows = new ArrayList<>();
      List<SegmentAddress> copied = new ArrayList<>();
      List<SegmentAddress> addresses = store.catalog().segments(ROWS);
      for (StoreInfo.Extent extent : store.info().variables().get(0).extents()) {
        // Without the shortcut, what rank 0 reads of itself is left out.
        if (extent.path() == path && (plan.shortcut() || extent.rank() != 0)) {
          firstRows.add(extent.firstRow());
          // What memory does not reach is compared with a loop over rows of our own.
          copied.add(addresses.get(path == ReadPath.REMOTE ? 0 : extent.rank()));
        }
      }
      if (!firstRows.isEmpty()) {
        String transport = path == ReadPath.REMOTE ? remote.description() : "memory";
        List<Segment> segments = attach(copied);
        try {
          if (path != ReadPath.REMOTE && plan.batches().contains(1)) {
            measureHotRow(store, path, firstRows.get(0), pattern, rowBytes, segments.get(0));
          }
          measure(store, path, transport, firstRows, pattern, rowBytes, segments);
        } finally {
          segments.forEach(Segment::release);
        }
      }
    }
  }

  /** The memory that the store has already mapped, with a reference to each. */
  private static List<Segment> attach(List<SegmentAddress> addresses) throws IOException {
    List<Segment> segments = new ArrayList<>();
    for (SegmentAddress address : addresses) {
      segments.add(Segment.attach(address.nonce(), address.path()));
    }
    return segments;
  }

  private void measure(
      DDStore store,
      ReadPath path,
      String transport,
      List<Long> firstRows,
      PatternRows pattern,
      int rowBytes,
      List<Segment> segments)
      throws Exception {
    int shardRows = plan.shardRows(rowBytes);
    int shards = firstRows.size();
    for (int batch : plan.batches()) {
      if (!plan.isMeasured(rowBytes, batch)) {
        continue;
      }
      for (int threads : plan.inFlight()) {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        int inRound = ReadMeasurement.roundBatches(rowBytes, batch, 1);
        int held = ReadMeasurement.heldBatches(rowBytes, batch, 1) / inRound * inRound;
        CopyLoop limit = CopyLoop.ofRandomRows(segments, rowBytes, batch, inRound, held);
        ReadMeasurement measurement =
            new ReadMeasurement(
                store.variable(ROWS),
                pattern,
                rowBytes,
                batch,
                threads,
                random -> firstRows.get((int) (random % shards)) + random / shards % shardRows,
                limit);
        measurement.run(plan.seconds(), pool);
        pool.shutdown();
        say(
            result(
                transport,
                path,
                ReadResult.RANDOM,
                rowBytes,
                batch,
                threads,
                measurement.microsPerRow(),
                measurement.p99MicrosPerRow(),
                limit,
                measurement.mismatches()));
        limit.close();
      }
    }
  }

  /** One row of memory that stays in the caches: the first of a segment. */
  private void measureHotRow(
      DDStore store, ReadPath path, long index, PatternRows pattern, int rowBytes, Segment segment)
      throws IOException {
    try (CopyLoop limit = CopyLoop.ofFirstRow(segment, rowBytes)) {
      HotRow hot = new HotRow(store.variable(ROWS), pattern, rowBytes, index, limit);
      hot.run(plan.seconds());
      double micros = hot.microsPerRow();
      double p99Micros = hot.p99MicrosPerRow();
      say(
          result(
              "memory",
              path,
              ReadResult.HOT,
              rowBytes,
              1,
              1,
              micros,
              p99Micros,
              limit,
              hot.mismatches()));
    }
  }

  private ReadResult result(
      String transport,
      ReadPath path,
      String access,
      int rowBytes,
      int batch,
      int threads,
      double micros,
      double p99Micros,
      CopyLoop limit,
      long mismatches) {
    return new ReadResult(
        transport,
        path.toString(),
        access,
        rowBytes,
        batch,
        threads,
        micros,
        p99Micros,
        rowBytes / 1e3 / micros,
        limit.microsPerRow(),
        micros / limit.microsPerRow(),
        CopyLoop.description(),
        streamGbPerSecond,
        mismatches);
  }

  private void say(ReadResult result) throws IOException {
    out.println(RESULT + encode(result));
  }

  static String encode(Serializable object) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
      stream.writeObject(object);
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  static Object decode(String text) throws IOException {
    try (ObjectInputStream stream =
        new ObjectInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(text)))) {
      return stream.readObject();
    } catch (ClassNotFoundException e) {
      throw new IOException(e);
    }
  }
}
