// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.contract.Untrusted;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.InvalidDumpException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.provider.MethodSource;

/** Manifests of dumps with a right checksum, and their data files. */
class DumpBytesFuzzTest {
  private static final Schema SCHEMA =
      Schema.of(Field.fixed("id", DType.INT64), Field.bytes("blob"));
  private static final String NAME = "rows";

  /** Length of the longest file, 64 GiB, which is sparse. */
  private static final long MAX_FILE_BYTES = 1L << 36;

  @TempDir private static Path directory;

  private static String crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return "%08x".formatted(crc.getValue());
  }

  static List<byte[]> manifests() {
    byte[] manifest =
        new DumpManifest(
                "train",
                "rows-0",
                "00112233445566778899aabbccddeeff",
                SCHEMA,
                new StructType().add("id", DataTypes.LongType).add("blob", DataTypes.BinaryType),
                List.of(new ColumnMapping(List.of("id"), DataTypes.LongType, List.of("id"))),
                IngestOptions.defaults().fillNulls("id", 7L).orderBy("id"),
                List.of(new DumpedFile("rank-00000", 0, 3, 100, 1, 5, 6, 7)))
            .toBytes();
    return List.of(new String(manifest, UTF_8).split("\n", -1)[0].getBytes(UTF_8));
  }

  @MethodSource("manifests")
  @FuzzTest
  void manifest(byte[] line) {
    String text = new String(line, UTF_8).replace("\n", "");
    byte[] bytes = "%s\n%s\n".formatted(text, crc(text.getBytes(UTF_8))).getBytes(UTF_8);
    Untrusted.parse(() -> DumpManifest.parse(bytes), DumpManifest.NotAManifestException.class)
        .ifPresent(manifest -> assertThat(manifest.toBytes()).isNotEmpty());
  }

  /** The index of a data file of two blocks of a record. */
  static List<byte[]> indices() {
    byte[] record = new byte[SCHEMA.prefixBytes() + 2];
    record[Long.BYTES] = 2;
    CRC32C crc = new CRC32C();
    crc.update(record);
    ByteBuffer file = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
    file.put(record).put(record);
    for (int block = 0; block < 2; block++) {
      file.putInt(1).putInt(record.length).putInt((int) crc.getValue());
    }
    return List.of(Arrays.copyOf(file.array(), file.position()));
  }

  /** The described bytes of a data file, how many are there in front of its index, and that. */
  static List<byte[]> sparse() {
    ByteBuffer file = ByteBuffer.allocate(3 * Long.BYTES + DumpedFile.ENTRY_BYTES);
    file.putLong(MAX_FILE_BYTES).putLong(MAX_FILE_BYTES).putLong(1);
    file.order(ByteOrder.LITTLE_ENDIAN).putInt(2).putInt(1 << 10).putInt(0);
    return List.of(file.array());
  }

  /**
   * Data files of zeros, whose manifest and index claim more than they or a block have. Blocks of
   * one row are left out, because they may be large.
   */
  @MethodSource("sparse")
  @FuzzTest
  void sparse(byte[] bytes) throws IOException {
    if (bytes.length < 3 * Long.BYTES) {
      return;
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    long described = in.getLong();
    long present = Math.max(0, Math.min(in.getLong(), MAX_FILE_BYTES));
    int blocks = (int) in.getLong();
    ByteBuffer index = in.slice().order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at <= index.limit() - Integer.BYTES; at += DumpedFile.ENTRY_BYTES) {
      if (index.getInt(at) == 1) {
        return;
      }
    }
    try (RandomAccessFile file = new RandomAccessFile(directory.resolve(NAME).toFile(), "rw")) {
      file.setLength(0);
      file.setLength(present);
      file.writeLong(Long.reverseBytes(DumpedFile.MAGIC));
      file.seek(Math.max(present - index.limit(), DumpedFile.MAGIC_BYTES));
      file.write(bytes, in.position(), index.limit());
    }
    CRC32C crc = new CRC32C();
    crc.update(index);
    long live = OffHeapBuffer.liveBytes();
    try (DumpReader reader =
        reader(new DumpedFile(NAME, 0, 2, described, blocks, (int) crc.getValue(), 0, 0))) {
      Untrusted.parse(() -> copy(reader), DumpException.class);
      assertThat(OffHeapBuffer.liveBytes() - live).isLessThan(2L * DumpWriter.BLOCK_BYTES);
    }
  }

  private static boolean copy(DumpReader reader) {
    reader.copy(0, 2, record -> assertThat(record.remaining()).isPositive());
    return true;
  }

  private static DumpReader reader(DumpedFile file) {
    Configuration plain = new Configuration(false);
    plain.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");
    plain.setBoolean("fs.file.impl.disable.cache", true);
    DumpDirectory parent = DumpDirectory.of(directory.getParent().toUri().toString(), plain);
    return new DumpReader(parent, directory.getFileName().toString(), file, SCHEMA);
  }

  /** Everything after the magic bytes, with the checksum of the index in the manifest. */
  @MethodSource("indices")
  @FuzzTest
  void dataFile(byte[] bytes) throws IOException {
    int blocks = Math.min(2, bytes.length / DumpedFile.ENTRY_BYTES);
    byte[] index =
        Arrays.copyOfRange(bytes, bytes.length - blocks * DumpedFile.ENTRY_BYTES, bytes.length);
    ByteBuffer file = ByteBuffer.allocate(DumpedFile.MAGIC_BYTES + bytes.length);
    file.order(ByteOrder.LITTLE_ENDIAN).putLong(DumpedFile.MAGIC).put(bytes);
    Files.write(directory.resolve(NAME), file.array());
    DumpedFile described =
        new DumpedFile(
            NAME, 0, 2, file.capacity(), blocks, (int) Long.parseLong(crc(index), 16), 0, 0);
    try (DumpReader reader = reader(described)) {
      Untrusted.parse(() -> copy(reader), InvalidDumpException.class);
    }
  }
}
