// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.commons.io.FileUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.LeftOutFiles;
import org.ddstore.formats.Python;
import org.ddstore.formats.StoredRecords;
import org.ddstore.spark.DDStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups and volumes that zarr wrote are read as rows and as boxes. */
class ZarrFormatTest {
  private static final int[] VOLUME = {20, 18, 11};

  /** Metadata of bytes; its arguments are shape and chunks. */
  private static final String ARRAY =
      """
      {"zarr_format": 2, "shape": %s, "chunks": %s, "dtype": "|u1", "order": "C",
       "fill_value": 0, "filters": null, "compressor": null}
      """;

  @TempDir static Path folder;

  @BeforeAll
  static void write() {
    Python.run(
        folder,
        """
        import json, os
        import numpy as np
        import zarr
        from numcodecs import VLenUTF8
        rng = np.random.default_rng(5)
        g = zarr.open_group('train.zarr', 'w')
        g.array('image', rng.integers(0, 256, (103, 6, 5), dtype=np.uint8), chunks=(10, 6, 5))
        g.array('label', np.arange(103, dtype='<i8') % 7, chunks=(4,))
        g.array('meta/weight', rng.random((103, 3)).astype('>f4'), chunks=(5, 2), order='F')
        g.array('name', np.array(['n%03dé' % i for i in range(103)], dtype=object), dtype=object,
                object_codec=VLenUTF8(), chunks=(20,))
        z = zarr.open_group('train.zarr', 'r')
        z['image'][:].tofile('image.bin'); z['label'][:].tofile('label.bin')
        z['meta/weight'][:].astype('<f4').tofile('weight.bin')
        json.dump(list(z['name'][:]), open('name.json', 'w'))

        os.mkdir('parts')
        for i, name in enumerate(['b.zarr', 'a.zarr', 'Z.zarr']):
            p = zarr.open_group('parts/' + name, 'w')
            p.array('x', np.arange(i * 100, i * 100 + 5 + i), chunks=(2,))

        v = np.arange(20 * 18 * 11, dtype='<u2').reshape(20, 18, 11)
        s = zarr.open_group('scan.zarr', 'w')
        s.array('raw', v, chunks=(8, 5, 4)); s.array('seg', (v + 1).astype('>i4'), chunks=(20, 3, 11), order='F')
        s.array('rgb', np.stack([v, v + 1, v + 2], 3).astype('<f4'), chunks=(7, 7, 7, 3))
        def tiles(a, box, stride, shift):
            starts = []
            for n, b, d in zip(a.shape, box, stride):
                axis = list(range(0, n - b + 1, d))
                if shift and axis[-1] < n - b: axis.append(n - b)
                starts.append(axis)
            at = [(i, j, k) for i in starts[0] for j in starts[1] for k in starts[2]]
            return np.array(at, '<i8'), np.array([a[i:i+box[0], j:j+box[1], k:k+box[2]] for i, j, k in at])
        raw, seg, rgb = s['raw'][:].astype('<i4'), s['seg'][:].astype('<i4'), s['rgb'][:]
        for name, box, stride, shift in [('drop', (4, 4, 4), (4, 4, 4), False), ('shift', (4, 5, 6), (3, 5, 4), True)]:
            for array, a in [('raw', raw), ('seg', seg), ('rgb', rgb)]:
                at, boxes = tiles(a, box, stride, shift)
                boxes.tofile('%s_%s.bin' % (name, array))
            at.tofile(name + '_start.bin')
        os.mkdir('scans')
        for name in ['a', 'b']:
            zarr.save_array('scans/%s.zarr' % name, v)

        m = zarr.open_group('mixed.zarr', 'w')
        m.array('x', np.zeros((4, 2))); m.array('y', np.zeros((5, 2))); m.array('scale', np.float64(3))
        m.array('time', np.zeros(4, 'M8[s]')); m.array('words', np.array([['a', 'b']] * 4))
        m.array('hollow', np.zeros((4, 0))); m.array('box_start', np.zeros((4, 2)))
        m.array('big', np.full((4,), 2**63, 'u8'))
        zarr.open_group('none.zarr', 'w')
        """);
  }

  private static Dataset<Row> read(String path, String... options) {
    return FormatSpark.read("zarr", folder.resolve(path), options);
  }

  private static byte[] bytes(String file) throws IOException {
    return Files.readAllBytes(folder.resolve(file));
  }

  @Test
  void readsArraysOfAGroupAsColumns() throws IOException {
    Dataset<Row> rows = read("train.zarr", "partitionBytes", "2048");

    assertThat(rows.columns()).containsExactly("image", "label", "meta/weight", "name");
    assertThat(rows.schema().apply("image").dataType()).isEqualTo(DataTypes.BinaryType);
    assertThat(rows.javaRDD().getNumPartitions()).isEqualTo(5);
    String[] names =
        new ObjectMapper().readValue(folder.resolve("name.json").toFile(), String[].class);
    assertThat(rows.select("name").as(Encoders.STRING()).collectAsList()).containsExactly(names);
    assertThat(rows.where("label = 3").count()).isEqualTo(15);

    StoredRecords stored = StoredRecords.of(rows.drop("name"), 1);
    assertThat(stored.fields())
        .isEqualTo(Map.of("image", "uint8[6, 5]", "label", "int64", "meta/weight", "float32[3]"));
    assertThat(stored.values().get("image")).isEqualTo(bytes("image.bin"));
    assertThat(stored.values().get("label")).isEqualTo(bytes("label.bin"));
    assertThat(stored.values().get("meta/weight")).isEqualTo(bytes("weight.bin"));
    Dataset<Row> selected = read("train.zarr", "arrays", "meta/weight,image,label");
    assertThat(StoredRecords.of(selected, 3)).isEqualTo(stored);
    assertThat(read("train.zarr", "columns", "label").columns()).containsExactly("label");
    assertThat(DDStores.from(selected).ranks(2).explain().toString())
        .contains("columnar batches, in partition order");
  }

  @Test
  void readsFoldersOfGroupsInPathOrder() {
    List<Long> expected = new ArrayList<>();
    for (long group : new long[] {2, 1, 0}) { // Z, a, b
      for (long i = 0; i < 5 + group; i++) {
        expected.add(group * 100 + i);
      }
    }

    assertThat(read("parts").as(Encoders.LONG()).collectAsList()).isEqualTo(expected);
    assertThat(read("parts/[ab].zarr").count()).isEqualTo(11);
    assertThat(read("parts/a.zarr/x").columns()).containsExactly("value");
  }

  @ParameterizedTest
  @CsvSource({"drop, '4,4,4', '4,4,4'", "shift, '4,5,6', '3,5,4'"})
  void readsTilesOfAVolume(String edge, String box, String stride) throws IOException {
    Dataset<Row> tiles =
        read(
            "scan.zarr",
            "box",
            box,
            "stride",
            stride,
            "edge",
            edge,
            "arrays",
            "raw,seg,rgb",
            "partitionBytes",
            "20000");

    assertThat(tiles.javaRDD().getNumPartitions()).isGreaterThan(1);
    StoredRecords stored = StoredRecords.of(tiles, 2);
    String shape = box.replace(",", ", ");
    assertThat(stored.fields())
        .isEqualTo(
            Map.of(
                "raw", "int32[" + shape + "]",
                "seg", "int32[" + shape + "]",
                "rgb", "float32[" + shape + ", 3]",
                "box_start", "int64[3]"));
    for (String array : List.of("raw", "seg", "rgb")) {
      assertThat(stored.values().get(array))
          .as(array)
          .isEqualTo(bytes(edge + "_" + array + ".bin"));
    }
    assertThat(stored.values().get("box_start")).isEqualTo(bytes(edge + "_start.bin"));
  }

  @Test
  void drawsOtherCropsInEachEpochAndVolume() {
    StoredRecords first = crops("5", "0", 1);

    assertThat(crops("5", "0", 3)).isEqualTo(first);
    assertThat(crops("5", "1", 2)).isNotEqualTo(first);
    assertThat(crops("6", "0", 2)).isNotEqualTo(first);
    List<List<Long>> origins = new ArrayList<>();
    ByteBuffer starts = first.buffer("box_start");
    ByteBuffer values = first.buffer("value");
    while (starts.hasRemaining()) {
      long z = starts.getLong();
      long y = starts.getLong();
      long x = starts.getLong();
      origins.add(List.of(z, y, x));
      for (long i = 0; i < 3 * 4 * 5; i++) {
        long index = ((z + i / 20) * VOLUME[1] + y + i / 5 % 4) * VOLUME[2] + x + i % 5;
        assertThat(values.getInt()).isEqualTo((int) index);
      }
    }
    assertThat(origins).hasSize(80);
    assertThat(origins.subList(40, 80)).isNotEqualTo(origins.subList(0, 40)); // b.zarr
    assertThat(origins.stream().distinct().count()).isGreaterThan(70);
  }

  private static StoredRecords crops(String seed, String epoch, int ranks) {
    return StoredRecords.of(
        read("scans", "box", "3,4,5", "crops", "40", "seed", seed, "epoch", epoch), ranks);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "mixed.zarr | arrays | x,y      | mixed.zarr: shapes: the first axes differ in [x[4, 2], y[5, 2]]: select arrays by option \"arrays\"",
        "mixed.zarr | arrays | x,scale  | array scale[]: is one value and has no axis for rows",
        "mixed.zarr | arrays | time     | array time: file:",
        "mixed.zarr | arrays | time     | data type: \"<M8[s]\" is not supported",
        "mixed.zarr | arrays | words    | array words[4, 2]: texts are supported as one text per row only",
        "mixed.zarr | arrays | hollow   | array hollow[4, 0]: column hollow: dimension 0",
        "mixed.zarr | arrays | z        | array z: missing: the arrays of the group are [big, box_start, hollow,",
        "mixed.zarr | columns | z       | array z: missing",
        "mixed.zarr/x | arrays | z      | the folder is one array, whose column is \"value\"",
        "scan.zarr  | box    | 4,4,4,4  | box: [4, 4, 4, 4] has 4 dimensions, raw[20, 18, 11] has fewer",
        "scan.zarr  | box    | 21,4,4   | box: length 21 of dimension 0 outside [1, 20] of raw[20, 18, 11]",
        "scan.zarr  | box    | 4,0      | option \"box\" is \"4,0\", not a shape",
        "scan.zarr  | stride | 4,4      | option \"stride\" needs option \"box\"",
        "scan.zarr  | epoch  | 4        | option \"epoch\" needs option \"crops\"",
        "none.zarr  | arrays | x        | none.zarr: the group has no arrays",
        "a_file.zarr | arrays | x       | a_file.zarr: a file: zarr is a folder",
        "empty      | arrays | x        | no file in",
        "parts      | array  | x        | option \"array\" is unknown to format \"zarr\"; legal options: [arrays, box, columns, crops, edge,",
      })
  void refusesWhatItCannotRead(String path, String key, String value, String message)
      throws IOException {
    Files.writeString(folder.resolve("a_file.zarr"), "no zarr");
    Files.createDirectories(folder.resolve("empty/inner.zarr"));

    assertThatThrownBy(() -> read(path, key, value)).hasMessageContaining(message);
    assertThat(read("parts").count()).isEqualTo(18);
  }

  @Test
  void refusesOptionsThatContradictEachOther() {
    assertThatThrownBy(() -> read("scan.zarr", "box", "4,4", "stride", "4"))
        .hasMessageContaining("option \"stride\" has 1 dimensions, option \"box\" has 2");
    assertThatThrownBy(() -> read("scan.zarr", "box", "4,4", "crops", "5", "stride", "1,1"))
        .hasMessageContaining("options \"crops\" and \"stride\" exclude each other");
    assertThatThrownBy(() -> read("mixed.zarr", "box", "2,2", "arrays", "x,y"))
        .hasMessageContaining("shapes: the first 2 axes differ in [x[4, 2], y[5, 2]]");
    assertThatThrownBy(() -> read("mixed.zarr", "box", "2,2", "arrays", "box_start"))
        .hasMessageContaining("box_start: the name is that of the column of origins");
  }

  @Test
  void namesArraysThatChangeOrVanishAfterThePlan() throws IOException {
    Path zarr = folder.resolve("gone.zarr");
    FileUtils.copyDirectory(folder.resolve("parts/a.zarr").toFile(), zarr.toFile());
    Dataset<Row> planned = read("gone.zarr");
    Files.writeString(
        zarr.resolve("x/.zarray"),
        Files.readString(zarr.resolve("x/.zarray")).replace("<i8", "<f8"));
    assertThatThrownBy(planned::collect)
        .hasStackTraceContaining("gone.zarr/x: the metadata have changed since they were listed");
    FileUtils.deleteDirectory(zarr.toFile());
    assertThatThrownBy(planned::collect)
        .hasStackTraceContaining("gone.zarr: the file is gone since it was listed");
    assertThatThrownBy(() -> StoredRecords.of(planned, 2))
        .hasStackTraceContaining("gone.zarr: the file is gone since it was listed");
    assertThatThrownBy(() -> read("mixed.zarr", "arrays", "big").collect())
        .hasStackTraceContaining("mixed.zarr: column big: uint64 value 9223372036854775808");
    assertThat(read("parts").count()).isEqualTo(18);
  }

  @ParameterizedTest
  @CsvSource({"0.0, 0/0", "1.1, c/1/1", "0.0, c.0.0", "0.0, 00.0", "0.0, 7.0"})
  void refusesChunksThatAreAllUnderOtherKeys(String key, String other) throws IOException {
    Path zarr = folder.resolve("keys.zarr");
    FileUtils.deleteDirectory(zarr.toFile());
    Files.createDirectories(zarr.resolve("x"));
    Files.writeString(zarr.resolve(".zgroup"), "{\"zarr_format\": 2}");
    Files.writeString(zarr.resolve("x/.zarray"), ARRAY.formatted("[4, 4]", "[2, 2]"));
    Files.writeString(zarr.resolve("x/LICENSE"), "no chunk");
    assertThat(read("keys.zarr").count()).as("fill values only").isEqualTo(4);
    Path misplaced = zarr.resolve("x").resolve(other);
    Files.createDirectories(misplaced.getParent());
    Files.write(misplaced, new byte[4]);
    assertThatThrownBy(() -> read("keys.zarr"))
        .hasMessageContaining("keys.zarr/x: no chunk has a key of the metadata, such as 0.0")
        .hasMessageContaining("1 files such as " + other);

    Files.write(zarr.resolve("x").resolve(key), new byte[4]);
    assertThat(LeftOutFiles.of(read("keys.zarr").select("x")))
        .isEqualTo(other.contains("/") ? List.of() : List.of("keys.zarr/x/" + other));
  }

  @Test
  void readsArraysInFoldersWithoutMetadata() throws IOException {
    Path zarr = folder.resolve("implicit.zarr");
    for (String array : List.of("in/deep/x", "z")) {
      Files.createDirectories(zarr.resolve(array));
      Files.writeString(zarr.resolve(array + "/.zarray"), ARRAY.formatted("[3]", "[3]"));
      Files.write(zarr.resolve(array + "/0"), new byte[] {1, 2, (byte) array.length()});
    }
    Files.createDirectories(zarr.resolve("notes/.git"));
    Files.writeString(zarr.resolve("notes/readme"), "no array");
    Files.writeString(zarr.resolve(".zgroup"), "{\"zarr_format\": 2}");

    assertThat(read("implicit.zarr").columns()).containsExactly("in/deep/x", "z");
    assertThat(read("implicit.zarr", "arrays", "in/deep/x").as(Encoders.SHORT()).collectAsList())
        .containsExactly((short) 1, (short) 2, (short) 9);
    ZarrGroup group = ZarrGroup.open(ZarrArrayTest.file(zarr));
    assertThat(group.children()).containsExactly("in", "z");
    assertThat(group.has("in/deep")).isTrue();
    assertThat(group.has("notes")).isFalse();
    assertThat(group.group("in").arrays()).containsExactly("deep/x");
    Files.createSymbolicLink(zarr.resolve("in/_up"), Path.of(".."));
    assertThatThrownBy(() -> read("implicit.zarr"))
        .hasMessageContaining("in/_up: a symbolic link to a folder that contains it");
  }

  @ParameterizedTest
  @ValueSource(strings = {"../parts/a.zarr/x", "/etc", "x/../y", "./x", "", "x//y", "x/"})
  void namesLeadToNothingOutsideOfAGroup(String path) throws IOException {
    ZarrGroup group = ZarrGroup.open(ZarrArrayTest.file(folder.resolve("mixed.zarr")));
    String message = "\"%s\" does not name an array or a group in this folder".formatted(path);

    assertThatThrownBy(() -> group.has(path)).hasMessageContaining(message);
    assertThatThrownBy(() -> group.hasArray(path)).hasMessageContaining(message);
    assertThatThrownBy(() -> group.group(path)).hasMessageContaining(message);
    assertThatThrownBy(() -> group.array(path)).hasMessageContaining(message);
    assertThat(group.has("hdfs:x")).isFalse();
    assertThatThrownBy(() -> read("mixed.zarr", "arrays", "x," + path + ",y"))
        .hasMessageContaining("array " + path + ": missing");
  }

  @Test
  void runsOfHugeArraysAreCounted() throws IOException {
    Path zarr = Files.createDirectories(folder.resolve("huge.zarr"));
    Files.writeString(
        zarr.resolve(".zarray"),
        ARRAY.formatted("[9223372036854775807]", "[2147483639]").replace("|u1", "<f8"));
    assertThatThrownBy(() -> read("huge.zarr")).hasMessageContaining("smaller chunks");
    Files.writeString(
        zarr.resolve(".zarray"), ARRAY.formatted("[9223372036854775807]", "[2147483639]"));
    assertThatThrownBy(() -> read("huge.zarr").count())
        .hasStackTraceContaining("has 9,223,372,036,854,775,807 rows");
    Files.writeString(
        zarr.resolve(".zarray"), ARRAY.formatted("[2, 2147483648]", "[1, 2147483639]"));
    assertThatThrownBy(() -> read("huge.zarr"))
        .hasMessageContaining("value[2, 2147483648]: axis 1 of a row has 2,147,483,648 elements");
    assertThat(read("huge.zarr", "box", "1,1").schema()).isNotNull();
  }
}
