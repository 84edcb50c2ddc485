// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.memory.MappedRegion;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.Transport;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A failed export withdraws its completed steps and frees their memory. */
class FailedExportTest {
  private static final Schema SCHEMA = Schema.of(Field.fixed("x", DType.INT64));

  @TempDir private Path root;

  private static final class Nowhere implements Transport {
    private final Set<Segment> exported = new HashSet<>();

    @Override
    public String description() {
      return "nowhere";
    }

    @Override
    public ProcessAddress local() {
      throw new IllegalStateException("no address");
    }

    @Override
    public void export(Segment segment) {
      assertThat(segment.retain()).isTrue();
      exported.add(segment);
    }

    @Override
    public void withdraw(Segment segment) {
      if (exported.remove(segment)) {
        segment.release();
      }
    }

    @Override
    public RemoteReader newReader(Duration timeout) {
      throw new UnsupportedOperationException();
    }
  }

  private StoreOptions options() {
    return StoreOptions.defaults().sharedMemory(root);
  }

  private static long held() {
    return MappedRegion.liveBytes() + OffHeapBuffer.liveBytes();
  }

  @Test
  void freesAShardWithoutAnAddress() {
    long before = held();
    Nowhere nowhere = new Nowhere();
    ShardWriter writer = ShardWriter.create(SCHEMA, options());
    writer.append(1L);
    assertThatThrownBy(() -> Shard.seal(writer, nowhere))
        .isExactlyInstanceOf(IllegalStateException.class)
        .hasMessage("no address");
    assertThat(nowhere.exported).isEmpty();
    assertThat(held()).isEqualTo(before);
    assertThat(root).isEmptyDirectory();
  }

  @Test
  void freesRowsOfAStoreWithoutAnAddress() {
    long before = held();
    Nowhere nowhere = new Nowhere();
    try (Communicator group = LocalGroup.create(1, Duration.ofSeconds(30)).get(0);
        DDStore store = DDStore.open(group, nowhere, options())) {
      assertThatThrownBy(() -> store.add("x", Tensor.wrap(new long[] {1, 2}, 2, 1)))
          .hasStackTraceContaining("no address");
      assertThat(nowhere.exported).isEmpty();
      assertThat(held()).isEqualTo(before);
    }
    assertThat(root).isEmptyDirectory();
  }
}
