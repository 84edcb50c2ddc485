// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.List;
import org.ddstore.contract.Untrusted;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;
import org.junit.jupiter.params.provider.MethodSource;

/** Catalogs and offers of shards, which contain schemas and addresses of segments and processes. */
class StoreBytesFuzzTest {
  private static final Schema SCHEMA =
      Schema.of(Field.fixed("x", DType.FLOAT32, 2, 3), Field.ragged("y", DType.INT64));

  private static SegmentAddress address(String path, ProcessAddress endpoint) {
    return new SegmentAddress(new Nonce(1, 2), new BootId(3), path, 10, 480, "7@here", endpoint);
  }

  static List<byte[]> catalogs() {
    return List.of(
        Catalog.of(
                2,
                "rows",
                SCHEMA,
                List.of(address("/dev/shm/x", null), address(null, new ProcessAddress("h", 80, 5))))
            .toBytes());
  }

  @MethodSource("catalogs")
  @FuzzTest
  void catalog(byte[] bytes) {
    Untrusted.parse(() -> Catalog.parse(bytes), IllegalArgumentException.class)
        .ifPresent(
            catalog -> {
              assertThat(catalog.ranks()).isPositive();
              assertThat(Catalog.parse(catalog.toBytes()).toBytes()).isEqualTo(catalog.toBytes());
            });
  }

  static List<byte[]> offers() {
    return List.of(new ShardOffer(SCHEMA, address("/dev/shm/x", null)).toBytes());
  }

  @MethodSource("offers")
  @FuzzTest
  void offer(byte[] bytes) {
    Untrusted.parse(
        () -> ShardOffer.addresses("fuzz", offers().get(0), bytes),
        IllegalArgumentException.class,
        CollectiveMismatchException.class);
  }
}
