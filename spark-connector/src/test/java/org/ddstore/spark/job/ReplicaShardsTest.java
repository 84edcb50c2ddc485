// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.memory.Segment;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.wire.OwnWire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.Transport;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Copies of shards for replica groups; the ranks are threads. */
@Timeout(120)
class ReplicaShardsTest {
  private static final Duration COLLECTIVES = Duration.ofSeconds(2);
  private static final int RANKS = 4;
  private static final int WIDTH = 2;
  private static final int ROWS_OF_EACH = 100;
  private static final int SLOW_RANK = 3;

  private final StoreToken token = StoreToken.random();
  private final StoreOptions options =
      StoreOptions.defaults().backing(Backing.DIRECT).shortcut(false);

  @Test
  void copyMayOutlastTheCollectiveTimeout() throws Exception {
    List<Communicator> ranks = LocalGroup.create(RANKS, COLLECTIVES);
    List<CompletableFuture<String>> digests =
        IntStream.range(0, RANKS)
            .mapToObj(rank -> CompletableFuture.supplyAsync(() -> digest(ranks.get(rank))))
            .toList();
    String first = digests.get(0).get(1, TimeUnit.MINUTES);
    for (CompletableFuture<String> digest : digests) {
      assertThat(digest.get(1, TimeUnit.MINUTES)).isEqualTo(first);
    }
  }

  private String digest(Communicator ranks) {
    ReplicaGroups groups = new ReplicaGroups(RANKS, WIDTH);
    int rank = ranks.rank();
    try (ranks;
        WireSession session = OwnWire.join(token, wire());
        Communicator group = ranks.split(groups.groupOf(rank));
        DDStore store = DDStore.open(group, session, options);
        ShardWriter writer =
            ShardWriter.create(Schema.of(Field.fixed("id", DType.INT64)), options)) {
      for (long row = 0; groups.loads(rank) && row < ROWS_OF_EACH; row++) {
        writer.append(new long[] {(long) rank * ROWS_OF_EACH + row});
      }
      Transport transport = rank == SLOW_RANK ? new SlowTransport(session) : session;
      ReplicaShards shards =
          new ReplicaShards(groups, ranks, transport, options, Duration.ofMinutes(1));
      shards.add(store, writer);
      String digest = shards.digest(store);
      ranks.awaitAll("end", Duration.ofMinutes(1));
      return digest;
    }
  }

  private static WireOptions wire() {
    return WireOptions.of(new SparkConf(false), null, "127.0.0.1");
  }

  /** Its rows come after other ranks have waited for longer than their timeout. */
  private record SlowTransport(Transport transport) implements Transport {
    @Override
    public RemoteReader newReader(Duration timeout) {
      return new SlowReader(transport.newReader(timeout));
    }

    @Override
    public String description() {
      return transport.description();
    }

    @Override
    public ProcessAddress local() {
      return transport.local();
    }

    @Override
    public void export(Segment segment) {
      transport.export(segment);
    }

    @Override
    public void withdraw(Segment segment) {
      transport.withdraw(segment);
    }
  }

  private record SlowReader(RemoteReader reader) implements RemoteReader {
    @Override
    public void begin() {
      reader.begin();
    }

    @Override
    public void fetch(List<PeerRows> peers) {
      long startNs = System.nanoTime();
      await()
          .atMost(COLLECTIVES.multipliedBy(10))
          .until(() -> System.nanoTime() - startNs > COLLECTIVES.multipliedBy(2).toNanos());
      reader.fetch(peers);
    }

    @Override
    public void close() {
      reader.close();
    }
  }
}
