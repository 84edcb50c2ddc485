// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.ddstore.memory.RowDigest;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.InvalidDumpException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Data files of dumps: their bytes, reads of any range, and damage at every place. */
class DumpFilesTest {
  private static final String FOLDER = "rows-0";
  private static final String NAME = "rank-00000";
  private static final long FIRST = 1_000_000_000_007L;
  private static final Schema FIXED = Schema.of(Field.fixed("x", DType.INT32, 3));
  private static final Schema RAGGED =
      Schema.of(Field.fixed("id", DType.INT64), Field.string("text"), Field.bytes("blob"));

  @TempDir private Path directory;

  private DumpDirectory local() {
    Configuration plain = new Configuration();
    plain.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem"); // no checksums but ours
    plain.setBoolean("fs.file.impl.disable.cache", true);
    return DumpDirectory.of(directory.toUri().toString(), plain);
  }

  private Path file() {
    return directory.resolve(FOLDER).resolve(NAME);
  }

  /** Random packed records, made by hand. */
  private static List<byte[]> records(Schema schema, int count, int maxBytes, Random random) {
    List<byte[]> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int[] lengths = new int[schema.raggedFields()];
      int size = schema.prefixBytes();
      for (int f = 0; f < lengths.length; f++) {
        lengths[f] = random.nextInt(maxBytes);
        size += lengths[f];
      }
      byte[] record = new byte[size];
      random.nextBytes(record);
      ByteBuffer prefix = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
      for (int f = 0; f < lengths.length; f++) {
        prefix.putInt(schema.fixedBytes() + f * Integer.BYTES, lengths[f]);
      }
      records.add(record);
    }
    return records;
  }

  private DumpedFile write(DumpDirectory to, List<byte[]> records) {
    try (DumpWriter writer = new DumpWriter(to, FOLDER, NAME, FIRST)) {
      for (byte[] record : records) {
        writer.append(ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN));
      }
      return writer.finish();
    }
  }

  private static List<byte[]> read(
      DumpDirectory from, DumpedFile file, Schema schema, long first, long end) {
    List<byte[]> records = new ArrayList<>();
    try (DumpReader reader = new DumpReader(from, FOLDER, file, schema)) {
      reader.copy(
          first,
          end,
          record -> {
            if (record.order() != ByteOrder.LITTLE_ENDIAN) {
              throw new AssertionError("byte order of a record");
            }
            byte[] bytes = new byte[record.remaining()];
            record.get(bytes);
            records.add(bytes);
          });
    }
    return records;
  }

  private static void assertSame(List<byte[]> actual, List<byte[]> expected) {
    assertThat(actual).hasSameSizeAs(expected);
    for (int i = 0; i < actual.size(); i++) {
      assertThat(actual.get(i)).as("record %d", i).isEqualTo(expected.get(i));
    }
  }

  @Test
  void bytesAreThoseOfTheDescription() throws IOException {
    List<byte[]> records = records(RAGGED, 500, 40_000, new Random(1));
    DumpedFile file = write(local(), records);
    byte[] bytes = Files.readAllBytes(file());
    assertThat(bytes).hasSize((int) file.bytes());
    assertThat(new String(bytes, 0, 7, StandardCharsets.US_ASCII)).isEqualTo("DDSROWS");
    assertThat(bytes[7]).as("version").isEqualTo((byte) 1);

    ByteBuffer index =
        ByteBuffer.wrap(bytes, bytes.length - 12 * file.blocks(), 12 * file.blocks())
            .order(ByteOrder.LITTLE_ENDIAN);
    int position = 8;
    int row = 0;
    while (index.hasRemaining()) {
      int rows = index.getInt();
      int length = index.getInt();
      CRC32C crc = new CRC32C();
      crc.update(bytes, position, length);
      assertThat(index.getInt()).as("checksum at %d", position).isEqualTo((int) crc.getValue());
      assertThat(length).isLessThanOrEqualTo(4 << 20);
      int end = position + length;
      for (int last = row + rows; row < last; row++) {
        byte[] record = records.get(row);
        assertThat(Arrays.copyOfRange(bytes, position, position + record.length))
            .as("record %d", row)
            .isEqualTo(record);
        position += record.length;
      }
      assertThat(position).isEqualTo(end);
    }
    assertThat(row).isEqualTo(500);
    assertThat(position).isEqualTo(bytes.length - 12 * file.blocks());
    assertThat(file.blocks()).isGreaterThan(2);

    RowDigest digest = new RowDigest();
    for (int i = 0; i < records.size(); i++) {
      ByteBuffer record = ByteBuffer.wrap(records.get(i)).order(ByteOrder.LITTLE_ENDIAN);
      digest.add(FIRST + i, record, 0, record.capacity());
    }
    assertThat(file.digestHigh()).isEqualTo(digest.high());
    assertThat(file.digestLow()).isEqualTo(digest.low());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void readsAnyRangeOfRows(boolean fixed) {
    Schema schema = fixed ? FIXED : RAGGED;
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<byte[]> records = records(schema, fixed ? 800_000 : 300, 60_000, random);
    DumpedFile file = write(local(), records);
    assertThat(file.blocks()).isGreaterThan(2);
    assertThat(file.rows()).isEqualTo(records.size());
    assertThat(file.dataBytes()).isEqualTo(records.stream().mapToLong(r -> r.length).sum());
    for (int i = 0; i < 5; i++) {
      int from = i == 0 ? 0 : random.nextInt(records.size());
      int end = i == 1 ? records.size() : from + random.nextInt(records.size() - from);
      List<byte[]> found = read(local(), file, schema, FIRST + from, FIRST + end);
      assertThat(found).as("seed %d", seed).hasSize(end - from);
      for (int r = from; r < end; r += Math.max(1, (end - from) / 100)) {
        assertThat(found.get(r - from)).as("row %d, seed %d", r, seed).isEqualTo(records.get(r));
      }
    }
  }

  @Test
  void aRecordLargerThanABlockHasItsOwn() {
    List<byte[]> records = records(RAGGED, 3, 1000, new Random(2));
    byte[] large = new byte[RAGGED.prefixBytes() + 3 * DumpWriter.BLOCK_BYTES];
    new Random(3).nextBytes(large);
    ByteBuffer.wrap(large)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(RAGGED.fixedBytes(), 3 * DumpWriter.BLOCK_BYTES)
        .putInt(RAGGED.fixedBytes() + 4, 0);
    records.add(1, large);
    DumpedFile file = write(local(), records);
    assertThat(file.blocks()).isEqualTo(3);
    assertSame(read(local(), file, RAGGED, FIRST, FIRST + 4), records);
  }

  @Test
  void fileWithoutRowsIsReadable() {
    DumpedFile file = write(local(), List.of());
    assertThat(file.rows()).isZero();
    assertThat(read(local(), file, RAGGED, FIRST, FIRST)).isEmpty();
  }

  @Test
  void damageOfAnyByteIsFound() throws IOException {
    DumpDirectory local = local();
    DumpedFile file = write(local, records(RAGGED, 6, 12, new Random(4)));
    byte[] good = Files.readAllBytes(file());
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] = (byte) (bad[i] ^ (1 << (i % 8)));
      Files.write(file(), bad);
      assertDamaged(local, file, "byte " + i);
    }
    for (int length = 0; length < good.length; length++) {
      Files.write(file(), Arrays.copyOf(good, length));
      assertDamaged(local, file, "length " + length);
    }
    Files.delete(file());
    assertDamaged(local, file, "no file");
  }

  private static void assertDamaged(DumpDirectory from, DumpedFile file, String damage) {
    InvalidDumpException thrown =
        catchThrowableOfType(
            InvalidDumpException.class, () -> read(from, file, RAGGED, FIRST, FIRST + 6));
    assertThat(thrown).as(damage).isNotNull();
    assertThat(thrown.problem()).as(damage).isEqualTo(InvalidDumpException.Problem.DAMAGED);
    assertThat(thrown).hasMessageContaining(NAME).hasMessageContaining("dump the store again");
  }

  @Test
  void recordsOfAnotherSchemaAreRefused() {
    DumpedFile file = write(local(), records(FIXED, 10, 1, new Random(5)));
    Schema longer = Schema.of(Field.fixed("x", DType.INT32, 7));
    assertThatThrownBy(() -> read(local(), file, longer, FIRST, FIRST + 10))
        .isInstanceOf(InvalidDumpException.class)
        .hasMessageContaining("records of another schema");
  }

  @Test
  void fullDiskAndRefusedAccessNameTheFile() {
    List<byte[]> records = records(FIXED, 100_000, 1, new Random(6));
    String path = "faulty://" + directory;
    DumpDirectory full = DumpDirectory.of(path, FaultyFileSystem.settings(500_000, ""));
    assertThatThrownBy(() -> write(full, records))
        .isInstanceOf(DumpException.class)
        .hasMessageContaining(NAME)
        .hasMessageContaining("No space left on device")
        .hasMessageEndingWith("free space, or choose another directory");
    DumpDirectory closed =
        DumpDirectory.of(path, FaultyFileSystem.settings(Long.MAX_VALUE, FOLDER));
    assertThatThrownBy(() -> write(closed, records))
        .isInstanceOf(DumpException.class)
        .hasMessageContaining(NAME)
        .hasMessageContaining("Permission denied")
        .hasMessageContaining("give user ");
  }
}
