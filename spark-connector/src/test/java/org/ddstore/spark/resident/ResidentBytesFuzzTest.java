// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Catalog;
import org.ddstore.LatencyHistogram;
import org.ddstore.contract.Untrusted;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.types.LoaderTimes;
import org.ddstore.spark.types.OutsideStatistics;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadKey;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;
import org.junit.jupiter.params.provider.MethodSource;

/** Handles, which users pass on, and the messages of processes that hold a resident store. */
class ResidentBytesFuzzTest {
  private static final ProcessAddress PROCESS = new ProcessAddress("10.0.0.1", 4000, 7);

  static Stream<byte[]> handles() {
    return Stream.of(
            Schema.of(Field.fixed("x", DType.FLOAT32, 2), Field.string("t")),
            Schema.of(Field.fixed("x", DType.INT64)))
        .map(
            schema -> {
              long bytes = schema.isFixed() ? 80 : 200;
              SegmentAddress segment =
                  new SegmentAddress(
                      new Nonce(1, 2), new BootId(3), "/dev/shm/s", 10, bytes, "7@h", PROCESS);
              return new OutsideHandle(
                  "train",
                  5,
                  10,
                  new StructType().add("x", DataTypes.createArrayType(DataTypes.FloatType)),
                  List.of(new ColumnMapping(List.of("x"), DataTypes.BinaryType, List.of("x"))),
                  List.of(Catalog.of(1, StartedRank.ROWS, schema, List.of(segment))),
                  "00112233445566778899aabbccddeeff",
                  new ReadClaims(new Nonce(4, 5), "nightly", 1_800_000_000_000L),
                  new ReadKey(new byte[ReadKey.BYTES]),
                  "");
            })
        .map(handle -> HandleJson.write(handle).getBytes(UTF_8));
  }

  @MethodSource("handles")
  @FuzzTest
  void handle(byte[] bytes) {
    Untrusted.parse(
            () -> HandleJson.parse(new String(bytes, UTF_8)), IllegalArgumentException.class)
        .ifPresent(
            handle -> {
              String text = HandleJson.write(handle);
              assertThat(HandleJson.write(HandleJson.parse(text))).isEqualTo(text);
            });
  }

  static List<byte[]> messages() {
    ReaderStatistics reader =
        new ReaderStatistics(
            "rank1",
            Arrays.stream(ReadPath.values()).map(path -> new ReadCount(path, 1, 2, 3)).toList(),
            LatencyHistogram.none(),
            LoaderTimes.none());
    return List.of(
        new ExecutorCounters(
                2, 20, 160, 1, 9, List.of(reader), List.of(new OutsideStatistics("l", 1, 2, 3, 4)))
            .encode()
            .array(),
        new VisitRegistration(new Nonce(1, 2), "12", PROCESS).encode().array());
  }

  @MethodSource("messages")
  @FuzzTest
  void message(byte[] bytes) {
    Untrusted.parse(() -> ExecutorCounters.parse(ByteBuffer.wrap(bytes)), DDStoreException.class);
    Untrusted.parse(
        () -> VisitRegistration.parse(ByteBuffer.wrap(bytes)),
        IllegalArgumentException.class,
        BufferUnderflowException.class);
  }
}
