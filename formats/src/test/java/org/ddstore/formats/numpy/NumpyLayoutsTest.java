// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
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
import org.ddstore.formats.StoredRecords;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Archives, folders of columns, and files of one sample are read as NumPy reads them. */
class NumpyLayoutsTest {
  private static final Map<String, String> FIELDS =
      Map.of(
          "pixels", "uint8[3, 4]",
          "far", "float32[2, 3]",
          "label", "int64",
          "mask", "bool",
          "wave", "float64[2, 2]");

  @TempDir static Path folder;

  @BeforeAll
  static void write() {
    Python.run(
        folder,
        """
        import numpy as np, os, zipfile
        rng = np.random.default_rng(11)
        def arrays(n):
            return dict(
                pixels=rng.integers(0, 256, (n, 3, 4), dtype=np.uint8),
                far=np.asfortranarray(rng.random((n, 2, 3), dtype=np.float32)),
                label=rng.integers(-9, 9, n).astype('>i8'),
                mask=rng.integers(0, 2, n).astype(bool),
                wave=(rng.random((n, 2)) + 1j * rng.random((n, 2))))
        def dump(name, parts):
            for key in parts[0]:
                a = np.concatenate([np.atleast_1d(p[key]) for p in parts])
                a.astype(a.dtype.newbyteorder('<')).tofile('%s.%s.bin' % (name, key))
        a = arrays(11)
        np.savez('stored.npz', **a); dump('stored', [a])
        np.savez_compressed('deflated.npz', **a); dump('deflated', [a])
        os.mkdir('parts'); b = arrays(5); c = arrays(7)
        np.savez_compressed('parts/Z.npz', **c)
        np.savez('parts/a.npz', **dict(reversed(b.items())))
        dump('parts', [c, b])
        os.makedirs('columns/one'); os.makedirs('columns/two')
        for key in a:
            np.save('columns/one/%s.npy' % key, a[key]); np.save('columns/two/%s.npy' % key, b[key])
        dump('columns', [a, b])
        limit = zipfile.ZIP64_LIMIT
        zipfile.ZIP64_LIMIT = 40
        np.savez('long.npz', **a); dump('long', [a])
        np.savez_compressed('longdeflated.npz', **a); dump('longdeflated', [a])
        zipfile.ZIP64_LIMIT = limit

        os.mkdir('samples'); os.mkdir('npysamples'); xs = []; ys = []
        for i in range(6):
            x = rng.random((4, 3)).astype('>f8' if i % 2 else '<f8')
            if i % 3 == 0: x = np.asfortranarray(x)
            y = np.int32(i * i)
            (np.savez if i % 2 else np.savez_compressed)('samples/%d.npz' % i, x=x, y=y)
            np.save('npysamples/%d.npy' % i, x)
            xs.append(x.astype('<f8')); ys.append(y)
        np.stack(xs).tofile('samples.x.bin'); np.array(ys, '<i4').tofile('samples.y.bin')
        np.stack(xs).tofile('npysamples.value.bin')

        large = np.arange(3000 * 1000, dtype=np.float32).reshape(3000, 1000)
        np.savez_compressed('large.npz', even=large, odd=(large + 1).astype('>f4'))

        np.savez('object.npz', good=np.zeros(3), bad=np.array([1, 'a', None], dtype=object))
        np.savez('uneven.npz', x=np.zeros(3), y=np.zeros(4), z=np.zeros(3))
        np.savez('number.npz', x=np.zeros(3), n=np.float32(1), y=np.zeros((3, 2)), w=np.complex64(1), mean=np.zeros(4))
        np.savez('numbers.npz', n=np.float32(1), w=np.complex64(1))
        np.savez('hollow.npz', x=np.zeros((0, 2)))
        with zipfile.ZipFile('notes.npz', 'w') as z: z.writestr('notes.txt', 'no array')
        with zipfile.ZipFile('bzip.npz', 'w', zipfile.ZIP_BZIP2) as z: z.write('columns/one/mask.npy', 'mask.npy')
        import io, struct, zlib
        class Unseekable(io.RawIOBase):
            def __init__(self, f): self.f = f
            def writable(self): return True
            def write(self, b): return self.f.write(b)
        with open('streamed.npz', 'wb') as f, zipfile.ZipFile(Unseekable(f), 'w') as z, np.load('stored.npz') as s:
            for key in s.files:
                with z.open(key + '.npy', 'w') as m: np.lib.format.write_array(m, s[key])
        open('prefixed.npz', 'wb').write(b'#!/bin/sh' + open('stored.npz', 'rb').read())
        def npy(a):
            b = io.BytesIO(); np.save(b, a); return b.getvalue()
        one = npy(np.arange(8.0))
        with zipfile.ZipFile('strange.npz', 'w') as z:
            for name in ['../../a.npy', 'b.c.npy', '/etc/passwd', 'folder/']: z.writestr(name, one)
        def archive(path, members, size=None, start=0):
            body = b''; directory = b''
            for name, method, data, csize, usize, crc, flags, at in members:
                at = len(body) if at is None else at
                head = struct.pack('<IHHHHHIIIHH', 0x04034b50, 45, flags, method, 0, 0, crc, len(data), len(data), len(name), 0) + name
                body += head + data
                extra = struct.pack('<HHQQ', 1, 16, usize, csize)
                directory += struct.pack('<IHHHHHHIIIHHHHHII', 0x02014b50, 45, 45, flags, method, 0, 0, crc,
                    0xffffffff, 0xffffffff, len(name), len(extra), 0, 0, 0, 0, at) + name + extra
            size = len(directory) if size is None else size
            open(path, 'wb').write(body + directory + struct.pack('<IHHHHIIH', 0x06054b50, 0, 0,
                len(members), len(members), size, len(body), 0))
        def member(name=b'a.npy', data=one, method=0, csize=None, usize=None, crc=None, flags=0, at=None):
            return (name, method, data, len(data) if csize is None else csize, len(data) if usize is None else usize,
                zlib.crc32(data) if crc is None else crc, flags, at)
        deflated = zlib.compress(one)[2:-4]
        archive('crc.npz', [member(crc=7)])
        archive('cutdata.npz', [member(data=deflated[:-9], method=8, usize=len(one), crc=zlib.crc32(one))])
        archive('twice.npz', [member(), member()])
        archive('overlap.npz', [member(), member(b'b.npy', at=60)])
        archive('local.npz', [member(b'b.npy', at=0), member(b'a.npy', at=0)][:1] + [member(b'c.txt')])
        raw = bytearray(open('local.npz', 'rb').read()); raw[30:35] = b'a.npy'; open('local.npz', 'wb').write(raw)
        archive('nolocal.npz', [member(data=one[:-8], csize=len(one) - 12, usize=len(one) - 12, at=4)])
        archive('encrypted.npz', [member(flags=1)])
        archive('max.npz', [member(csize=2**63 - 1, usize=2**63 - 1)])
        archive('negative.npz', [member(csize=2**64 - 1, usize=2**63 - 1)])
        archive('claim.npz', [member(usize=2**40 + 4096)])
        big = npy(np.zeros(1, np.uint8)).replace(b'(1,), }' + b' ' * 12, b'(1, 2147483639), }' + b' ')
        archive('bomb.npz', [member(data=bytes(60), method=8, usize=2**31 + 100)])
        archive('bigrow.npz', [member(data=big)])
        archive('directory.npz', [member()], size=5000)
        archive('entry.npz', [member()], size=70)
        with zipfile.ZipFile('many.npz', 'w') as z:
            tiny = npy(np.zeros(1, np.uint8))
            for i in range(20000): z.writestr('c%d.npy' % i, tiny)
        os.mkdir('mixed')
        np.savez('mixed/a.npz', x=np.zeros((2, 3))); np.savez('mixed/b.npz', x=np.zeros((2, 4)))
        os.mkdir('lacking')
        np.savez('lacking/a.npz', x=np.zeros(2), y=np.zeros(2)); np.savez('lacking/b.npz', x=np.zeros(2))
        os.mkdir('unevencolumns')
        np.save('unevencolumns/x.npy', np.zeros(3)); np.save('unevencolumns/y.npy', np.zeros(4))
        """);
  }

  private static Dataset<Row> read(String path, String layout) {
    boolean isArchive = !path.contains("columns") && !path.startsWith("npysamples");
    return FormatSpark.read(isArchive ? "npz" : "npy", folder.resolve(path), "layout", layout);
  }

  private static Dataset<Row> readColumns(String path, String columns) {
    return FormatSpark.read("npz", folder.resolve(path), "columns", columns);
  }

  private static void assertIsDumped(StoredRecords records, String name) throws IOException {
    for (String field : records.fields().keySet()) {
      assertThat(records.values().get(field))
          .as("%s of %s", field, name)
          .isEqualTo(Files.readAllBytes(folder.resolve("%s.%s.bin".formatted(name, field))));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"stored", "deflated", "long", "longdeflated"})
  void readsTheMembersOfArchivesAsColumns(String name) throws IOException {
    StoredRecords records = StoredRecords.of(read(name + ".npz", "rows"), 2);

    assertThat(records.fields()).isEqualTo(FIELDS);
    assertIsDumped(records, name);
  }

  @Test
  void ordersRowsByFileAndIndexForAnyNumberOfRanks() throws IOException {
    for (String name : List.of("parts", "columns")) {
      String layout = name.equals("parts") ? "rows" : "columns";
      StoredRecords records = StoredRecords.ofAnyRanks(read(name, layout));
      assertThat(records.fields()).isEqualTo(FIELDS);
      assertIsDumped(records, name);
    }
  }

  @Test
  void readsEachFileAsOneSample() throws IOException {
    StoredRecords archives = StoredRecords.of(read("samples", "samples"), 3);
    assertThat(archives.fields()).isEqualTo(Map.of("x", "float64[4, 3]", "y", "int32"));
    assertIsDumped(archives, "samples");

    StoredRecords arrays = StoredRecords.of(read("npysamples", "samples"), 2);
    assertThat(arrays.fields()).isEqualTo(Map.of("value", "float64[4, 3]"));
    assertIsDumped(arrays, "npysamples");
  }

  @Test
  void readsCompressedMembersInOnePartitionAndSeveralBlocks() {
    Dataset<Row> large = read("large.npz", "rows").where("even[0] % 7000 <> 0");

    assertThat(large.javaRDD().getNumPartitions()).isEqualTo(1);
    assertThat(large.where("even[999] = even[0] + 999 and odd[500] = even[500] + 1").count())
        .isEqualTo(3000 - 429);
    assertThat(large.selectExpr("odd[0]").tail(1))
        .isEqualTo(large.selectExpr("cast(2999001 as float)").head(1));
  }

  @Test
  void selectsMembersSoThatOthersNeedNotMatch() {
    Dataset<Row> even = readColumns("uneven.npz", "z, x");
    assertThat(even.columns()).containsExactly("z", "x");
    assertThat(even.count()).isEqualTo(3);
    assertThat(readColumns("object.npz", "good").collectAsList()).hasSize(3);
    assertThat(read("hollow.npz", "rows").collectAsList()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "object.npz    | rows    | object.npz: member bad: dtype: \"|O\" is not supported",
        "uneven.npz    | rows    | uneven.npz: column y: has 4 rows, but column x has 3",
        "numbers.npz   | rows    | numbers.npz: member n: shape: the array is one number and has no axis for rows: use a.reshape(1)",
        "notes.npz     | rows    | notes.npz: the archive has no array: members are [notes.txt]",
        "bzip.npz      | rows    | bzip.npz: member mask: compression, method 12 of zip, is not"
            + " supported",
        "cut.npz       | rows    | cut.npz: truncated, or not an archive of NumPy",
        "foreign.npz   | rows    | foreign.npz: truncated, or not an archive of NumPy",
        "void.npz      | rows    | void.npz: truncated, or not an archive of NumPy",
        "mixed         | rows    | b.npz: column x: is float64[4], but",
        "lacking       | rows    | b.npz: column y: missing",
        "stored.npz    | columns | option \"layout\" is \"columns\"; legal values: rows, samples",
        "unevencolumns | columns | unevencolumns: column y: has 4 rows, but column x has 3",
        "columns/one/mask.npy | columns | mask.npy: layout = columns reads folders",
        "columns       | row     | option \"layout\" is \"row\"; legal values: rows, samples, columns",
        "columns/one   | samples | label.npy: column value: is int64[11], but",
      },
      quoteCharacter = '`')
  void refusesWhatItCannotRead(String path, String layout, String message) throws IOException {
    byte[] stored = Files.readAllBytes(folder.resolve("stored.npz"));
    Files.write(folder.resolve("cut.npz"), Arrays.copyOf(stored, stored.length - 40));
    Files.write(
        folder.resolve("foreign.npz"), "a text of more than twenty-two bytes".getBytes(UTF_8));
    Files.write(folder.resolve("void.npz"), new byte[0]);

    assertThatThrownBy(() -> read(path, layout)).hasMessageContaining(message);
    assertThat(read("stored.npz", "rows").count()).isEqualTo(11);
  }

  @Test
  void namesTheOptionsThatReadAnArchiveWithANumber() {
    assertThatThrownBy(() -> read("number.npz", "rows"))
        .hasMessageContaining("number.npz: member n: shape: the array is one number")
        .hasMessageEndingWith(
            "by option \"columns\" = x,y, or read each file as one row by option \"layout\" = samples");
    assertThat(readColumns("number.npz", "x,y").count()).isEqualTo(3);
    Dataset<Row> sample = read("number.npz", "samples");
    assertThat(sample.columns()).containsExactly("x", "n", "y", "w", "mean");
    assertThat(sample.selectExpr("n", "mean[3]").collectAsList()).hasToString("[[1.0,0.0]]");
  }

  @Test
  void namesTheMemberThatIsDamaged() throws IOException {
    for (String name : List.of("large", "stored")) {
      byte[] bytes = Files.readAllBytes(folder.resolve(name + ".npz"));
      bytes[bytes.length / 4] ^= 0x55;
      Files.write(folder.resolve("damaged.npz"), bytes);
      String member = name.equals("large") ? "even" : "far";
      assertThatThrownBy(() -> read("damaged.npz", "rows").count())
          .hasMessageContaining("damaged.npz: member " + member + ": damaged: ");
      String others = name.equals("large") ? "odd" : "label, wave";
      assertThat(readColumns("damaged.npz", others).collectAsList()).as("not read").isNotEmpty();
    }
    assertThat(read("stored.npz", "rows").count()).isEqualTo(11);
  }

  /** Archives that Python writes by other ways, and such that it would not write. */
  @Test
  void readsAnArchiveThatWasStreamedOrHasBytesBefore() throws IOException {
    assertIsDumped(StoredRecords.of(read("streamed.npz", "rows"), 2), "stored");
    assertIsDumped(StoredRecords.of(read("prefixed.npz", "rows"), 2), "stored");
    assertThat(read("strange.npz", "rows").columns()).containsExactly("../../a", "b.c");
  }

  @ParameterizedTest
  @Timeout(60)
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "crc.npz       | member a: damaged: the checksum of 192 bytes is",
        "cutdata.npz   | member a: truncated: Unexpected end of ZLIB input stream",
        "twice.npz     | member a: damaged: the archive has two members of this name",
        "overlap.npz   | member a: damaged: it overlaps member b",
        "local.npz     | member b: damaged: the name at byte 0 is a.npy",
        "nolocal.npz   | member a: damaged: there is no member at byte 4",
        "encrypted.npz | member a: encryption, method 0 of zip, is not supported",
        "max.npz       | member a: truncated: the member is not inside the file",
        "negative.npz  | member a: truncated: the member is not inside the file",
        "claim.npz     | member a: damaged: it declares 1,099,511,631,872 bytes, which 192 stored",
        "bomb.npz      | member a: damaged: it declares 2,147,483,748 bytes, which 60 compressed",
        "bigrow.npz    | member a: truncated: the header declares 2,147,483,",
        "directory.npz | directory.npz: truncated, or not an archive of NumPy: its directory, ",
        "entry.npz     | entry.npz: truncated, or not an archive of NumPy: its directory is damaged",
      })
  void refusesADamagedArchive(String file, String message) {
    assertThatThrownBy(() -> read(file, "rows").count())
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(file + ": ")
        .hasMessageContaining(message);
  }

  @Test
  @Timeout(120)
  void opensManyMembersInLinearTime() {
    assertThat(read("many.npz", "rows").count()).isEqualTo(1);
  }
}
