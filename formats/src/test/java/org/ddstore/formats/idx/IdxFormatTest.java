// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.idx;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.Python;
import org.ddstore.formats.ReadBudget;
import org.ddstore.formats.StoredRecords;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** IDX files that NumPy wrote are read as NumPy reads them, compressed or not. */
class IdxFormatTest {
  @TempDir static Path folder;

  @BeforeAll
  static void write() {
    Python.run(
        folder,
        """
        import numpy as np, os, gzip
        rng = np.random.default_rng(5)
        codes = dict(u1=8, i1=9, i2=11, i4=12, f4=13, f8=14)
        def idx(path, a):
            head = bytes([0, 0, codes[a.dtype.str[1:]], a.ndim]) + np.array(a.shape, '>u4').tobytes()
            opened = gzip.open if path.endswith('.gz') else open
            with opened(path, 'wb') as f: f.write(head + a.astype(a.dtype.newbyteorder('>')).tobytes())
        for name in codes:
            a = rng.integers(0, 256, 9 * 2 * 5 * np.dtype(name).itemsize, dtype=np.uint8).view(name)
            if name[0] == 'f': a = np.nan_to_num(a)
            a = a.reshape(9, 2, 5)
            idx(name + '.idx', a); idx(name + '.idx.gz', a); a.tofile(name + '.bin')
        os.mkdir('mnist'); images = []; labels = []
        for name, rows, ending in [('t10k', 7, ''), ('train', 12, '.gz')]:
            image = rng.integers(0, 256, (rows, 28, 28), dtype=np.uint8)
            label = rng.integers(0, 10, rows, dtype=np.uint8)
            idx('mnist/%s-images-idx3-ubyte%s' % (name, ending), image)
            idx('mnist/%s-labels-idx1-ubyte.gz' % name, label)
            for kind, a in [('images-idx3', image), ('labels-idx1', label)]:
                file = '%s-%s-ubyte' % (name, kind)
                os.makedirs('kaggle/' + file); idx('kaggle/%s/%s' % (file, file), a)
            os.makedirs('half/' + file); idx('half/%s/%s' % (file, file), label)
            idx('half/%s-images-idx3-ubyte.gz' % name, image)
            images.append(image); labels.append(label)
        np.concatenate(images).tofile('image.bin'); np.concatenate(labels).tofile('label.bin')
        labels[1].tofile('trainlabels.bin')
        import shutil
        shutil.copytree('kaggle', 'forms')
        for name in ['t10k', 'train']:
            for kind in ['images-idx3', 'labels-idx1']:
                shutil.copy('kaggle/%s-%s-ubyte/%s-%s-ubyte' % (name, kind, name, kind), 'forms/%s-%s-ubyte' % (name, kind.replace('-', '.')))
        os.mkdir('uneven')
        idx('uneven/x-images-idx3-ubyte', images[0]); idx('uneven/x-labels-idx1-ubyte', labels[1])
        os.mkdir('twice')
        idx('twice/x.idx', images[0]); idx('twice/x.idx.gz', images[0])
        import struct
        def claim(path, t, *dims):
            data = bytes([0, 0, t, len(dims)]) + b''.join(struct.pack('>I', d) for d in dims)
            open(path, 'wb').write(gzip.compress(data) if path.endswith('.gz') else data + bytes([0] if dims[0] == 1 else 0))
        claim('claim.idx.gz', 8, 2**31 - 1); claim('bigrow.idx.gz', 8, 1, 2**31 - 1)
        claim('dims.idx', 8, *[1] * 255); claim('over.idx', 14, *[2**31 - 1] * 4)
        small = bytes([0, 0, 8, 1, 0, 0, 0, 90]) + bytes(91)
        open('more.idx.gz', 'wb').write(gzip.compress(small))
        noise = rng.integers(0, 256, (300, 1000), dtype=np.uint8); noise[:, 0] = 1
        noise = bytes([0, 0, 8, 2]) + struct.pack('>II', 300, 1000) + noise.tobytes()
        with open('members.idx.gz', 'wb') as f: # the first member ends where a buffer of 64 KiB does
            part = gzip.compress(noise[:65513], compresslevel=0); assert len(part) == 65536
            f.write(part + gzip.compress(noise[65513:]))
        idx('large.idx.gz', np.arange(3000000, dtype=np.int32).reshape(3000, 1000))
        """);
  }

  private static Dataset<Row> read(String path, String labels) {
    return FormatSpark.read("idx", folder.resolve(path), "labels", labels);
  }

  @ParameterizedTest
  @CsvSource({"u1, uint8", "i1, int8", "i2, int16", "i4, int32", "f4, float32", "f8, float64"})
  void readsAllTypes(String name, String stored) throws IOException {
    for (String suffix : new String[] {".idx", ".idx.gz"}) {
      StoredRecords records = StoredRecords.of(read(name + suffix, "paired"), 2);

      assertThat(records.fields()).isEqualTo(Map.of("value", stored + "[2, 5]"));
      assertThat(records.values().get("value"))
          .as(name + suffix)
          .isEqualTo(Files.readAllBytes(folder.resolve(name + ".bin")));
    }
  }

  @Test
  void pairsImagesAndLabelsForAnyNumberOfRanks() throws IOException {
    StoredRecords one = StoredRecords.ofAnyRanks(read("mnist", "paired"));
    for (String other : List.of("kaggle", "half", "forms/*.idx?-ubyte", "forms/*-ubyte/*")) {
      assertThat(StoredRecords.of(read(other, "paired"), 2)).as(other).isEqualTo(one);
    }

    assertThat(one.fields()).isEqualTo(Map.of("image", "uint8[28, 28]", "label", "uint8"));
    for (String field : one.fields().keySet()) {
      assertThat(one.values().get(field))
          .as(field)
          .isEqualTo(Files.readAllBytes(folder.resolve(field + ".bin")));
    }
    StoredRecords labels = StoredRecords.of(read("mnist/train-labels-idx1-ubyte.gz", "none"), 1);
    assertThat(labels.values().get("value"))
        .isEqualTo(Files.readAllBytes(folder.resolve("trainlabels.bin")));
  }

  @Test
  void decompressesALargeFileInOnePartition() {
    Dataset<Row> large = read("large.idx.gz", "paired");

    assertThat(large.javaRDD().getNumPartitions()).isEqualTo(1);
    assertThat(large.where("value[0] % 1000 = 0 and value[999] = value[0] + 999").count())
        .isEqualTo(3000);
    assertThat(large.selectExpr("max(value[1])").head().getInt(0)).isEqualTo(2_999_001);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "uneven      | paired | x-labels-idx1-ubyte: has 12 labels, but",
        "mnist       | none   | is uint8, but",
        "mnist/train-labels-idx1-ubyte.gz | paired | has the labels of images beside it",
        "twice       | paired | x.idx has the same data: load one of both",
        "forms       | paired | t10k-images-idx3-ubyte has the same data: load one of both",
        "cut.idx     | paired | cut.idx: truncated: the header declares 196 bytes, the file has 190",
        "longer.idx  | paired | longer.idx: not an IDX file: the header declares 196 bytes, the file"
            + " has 200",
        "foreign.idx | paired | foreign.idx: not an IDX file: it begins with 61207465",
        "plain.idx.gz| paired | plain.idx.gz: damaged, or not a gzip file",
        "void.idx    | paired | void.idx: truncated",
        "void.idx.gz | paired | void.idx.gz: truncated",
        "mnist       | some   | option 'labels' is 'some'; legal values: paired, none",
      },
      quoteCharacter = '`')
  void refusesWhatItCannotRead(String path, String labels, String message) throws IOException {
    byte[] whole = Files.readAllBytes(folder.resolve("i2.idx"));
    Files.write(folder.resolve("cut.idx"), Arrays.copyOf(whole, 190));
    Files.write(folder.resolve("longer.idx"), Arrays.copyOf(whole, 200));
    Files.write(folder.resolve("foreign.idx"), "a text".getBytes(UTF_8));
    Files.write(folder.resolve("plain.idx.gz"), whole);
    Files.write(folder.resolve("void.idx"), new byte[0]);
    Files.write(folder.resolve("void.idx.gz"), new byte[0]);

    assertThatThrownBy(() -> read(path, labels)).hasMessageContaining(message.replace('\'', '"'));
    assertThat(read("i2.idx", "paired").count()).isEqualTo(9);
  }

  @Test
  void namesACompressedFileThatIsCutOrDamaged() throws IOException {
    byte[] whole = Files.readAllBytes(folder.resolve("i2.idx.gz"));
    Files.write(folder.resolve("cut.idx.gz"), Arrays.copyOf(whole, whole.length - 30));
    assertThatThrownBy(() -> read("cut.idx.gz", "paired").count())
        .hasMessageContaining("cut.idx.gz: truncated: ");
    whole[whole.length - 6] ^= 1; // of the checksum
    Files.write(folder.resolve("sum.idx.gz"), whole);
    assertThatThrownBy(() -> read("sum.idx.gz", "paired").count())
        .hasMessageContaining("sum.idx.gz: damaged, ");
    Files.write(folder.resolve("cuthead.idx.gz"), Arrays.copyOf(whole, 5));
    assertThatThrownBy(() -> read("cuthead.idx.gz", "paired"))
        .hasMessageEndingWith("cuthead.idx.gz: truncated");
    Path pair = Files.createDirectory(folder.resolve("cutpair"));
    Files.copy(folder.resolve("uneven/x-images-idx3-ubyte"), pair.resolve("x-images-idx3-ubyte"));
    Files.write(pair.resolve("x-labels-idx1-ubyte.gz"), Arrays.copyOf(whole, 20));
    assertThatThrownBy(() -> read("cutpair", "paired"))
        .hasMessageContaining("x-labels-idx1-ubyte.gz: truncated: ");
    assertThat(read("i2.idx.gz", "paired").collectAsList()).hasSize(9);
  }

  @ParameterizedTest
  @Timeout(60)
  @CsvSource(
      delimiter = '|',
      value = {
        "claim.idx.gz  | truncated: the header declares 2,147,483,655 bytes, which 28 compressed",
        "bigrow.idx.gz | truncated: the header declares 2,147,483,659 bytes, which 32 compressed",
        "more.idx.gz   | damaged, or not a gzip file: the decompressed data has more than 98 bytes",
        "dims.idx      | field `value`: 254 dimensions outside [0, 8]",
        "over.idx      | shape [2147483647, 2147483647, 2147483647, 2147483647] is too large",
      })
  void refusesSizesThatTheFileCannotHave(String file, String message) {
    assertThatThrownBy(() -> read(file, "paired").count())
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(file + ": " + message.replace('`', '"'));
  }

  @Test
  void readsAGzipFileOfSeveralMembers() {
    assertThat(read("members.idx.gz", "paired").where("substring(value, 1, 1) = X'01'").count())
        .isEqualTo(300);
  }

  /** The bytes are in the file, so a count is right; one row is more than a task may hold. */
  @Test
  void refusesARowThatIsLargerThanTheBudget() throws IOException {
    long row = Math.min(ReadBudget.heldBytes() / 2 + 1, Integer.MAX_VALUE - 8L);
    Path sparse = folder.resolve("sparse.idx");
    try (RandomAccessFile file = new RandomAccessFile(sparse.toFile(), "rw")) {
      file.write(new byte[] {0, 0, 8, 2});
      file.writeInt(2);
      file.writeInt((int) row);
      file.setLength(12 + 2 * row);
    }

    assertThat(read("sparse.idx", "paired").count()).isEqualTo(2);
    assertThatThrownBy(() -> read("sparse.idx", "paired").collect())
        .hasStackTraceContaining(
            "sparse.idx: column value: a row with a value of uint8[%d]: needs %,d bytes at once"
                .formatted(row, 2 * row));
  }
}
