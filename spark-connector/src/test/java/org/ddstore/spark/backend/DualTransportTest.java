// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.ddstore.Shard;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.memory.MappedRegion;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.transport.Transport;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows that are served in two ways. */
class DualTransportTest {
  private static final Schema SCHEMA = Schema.of(Field.fixed("x", DType.INT64));
  private static final WireOptions WIRE = WireOptions.of(new SparkConf(false), null, "127.0.0.1");

  @TempDir private Path root;

  /** Refuses all memory, as libfabric does when no more may be locked. */
  private static Transport refusing() {
    return (Transport)
        Proxy.newProxyInstance(
            DualTransportTest.class.getClassLoader(),
            new Class<?>[] {Transport.class},
            (proxy, method, arguments) -> {
              throw new DDStoreException(method.getName() + " is refused");
            });
  }

  private ShardWriter filled() {
    ShardWriter writer = ShardWriter.create(SCHEMA, StoreOptions.defaults().sharedMemory(root));
    for (long row = 0; row < 1000; row++) {
      writer.append(row);
    }
    return writer;
  }

  private static long held() {
    return MappedRegion.liveBytes() + OffHeapBuffer.liveBytes();
  }

  @Test
  void freesAShardThatOneTransportCannotExport() {
    long before = held();
    try (WireSession tcp = Wire.join(StoreToken.random(), WIRE)) {
      Transport both = new DualTransport(refusing(), tcp);
      for (int attempt = 0; attempt < 3; attempt++) {
        assertThatThrownBy(() -> Shard.seal(filled(), both))
            .isExactlyInstanceOf(DDStoreException.class)
            .hasMessage("export is refused");
        assertThat(held()).as("bytes after attempt %d", attempt).isEqualTo(before);
      }
      assertThat(root).as("files").isEmptyDirectory();
    }
  }
}
