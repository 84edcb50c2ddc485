// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.Python;
import org.ddstore.formats.StoredRecords;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Arrays that NumPy wrote are read as NumPy reads them. */
class NpyFormatTest {
  @TempDir static Path folder;

  @BeforeAll
  static void write() {
    Python.run(
        folder,
        """
        import numpy as np, os
        rng = np.random.default_rng(7)
        for name in ['bool','int8','uint8','int16','uint16','int32','uint32','int64','uint64',
                     'float16','float32','float64','complex64','complex128']:
            t = np.dtype(name)
            bits = rng.integers(0, 256, 17 * 3 * 4 * t.itemsize, dtype=np.uint8)
            if t.kind == 'b': bits = bits % 2
            a = bits.view(t).reshape(17, 3, 4)
            if name == 'uint64': a = a >> np.uint64(1)
            if t.kind in 'fc': a = np.nan_to_num(a)
            stored = {'uint16': '<i4', 'uint32': '<i8', 'uint64': '<i8'}.get(name, t.newbyteorder('<'))
            for order, swap in [('C', '<'), ('F', '<'), ('C', '>'), ('F', '>')]:
                kind = 'c' if order == 'C' else 'f'
                path = '%s_%s_%s' % (name, kind, 'le' if swap == '<' else 'be')
                np.save(path + '.npy', np.array(a, dtype=t.newbyteorder(swap), order=order))
                a.astype(stored).tofile(path + '.bin')
        os.mkdir('parts')
        for i, name in enumerate(['b', 'a', 'z', 'Z']):
            np.save('parts/%s.npy' % name, np.arange(i * 1000, i * 1000 + 5 + i, dtype=np.int64))
        os.mkdir('many')
        for i in range(40): np.save('many/%03d.npy' % i, np.full((3, 2), i, dtype=np.float32))
        os.mkdir('mixed')
        np.save('mixed/a.npy', np.zeros((4, 3), np.float32)); np.save('mixed/b.npy', np.zeros((4, 2), np.float32))
        np.save('scalar.npy', np.float32(1)); np.save('object.npy', np.array([1, 'a'], dtype=object))
        np.save('struct.npy', np.zeros(3, dtype=[('x', 'f4')])); np.save('text.npy', np.array(['a']))
        np.save('empty.npy', np.zeros((0, 3), np.float32)); np.save('big.npy', np.array([2**63], np.uint64))
        np.save('hollow.npy', np.zeros((3, 0), np.float32))
        """);
  }

  private static Dataset<Row> read(String path) {
    return FormatSpark.session().read().format("npy").load(folder.resolve(path).toString());
  }

  @ParameterizedTest
  @CsvSource({
    "bool, bool", "int8, int8", "uint8, uint8", "int16, int16", "uint16, int32", "int32, int32",
    "uint32, int64", "int64, int64", "uint64, int64", "float16, float16", "float32, float32",
    "float64, float64", "complex64, 'float32'", "complex128, 'float64'"
  })
  void readsTheBytesOfNumPy(String dtype, String stored) throws IOException {
    for (String kind : List.of("c_le", "f_le", "c_be", "f_be")) {
      String file = dtype + "_" + kind;

      StoredRecords records = StoredRecords.of(read(file + ".npy"), 2);

      String shape = dtype.startsWith("complex") ? "[3, 4, 2]" : "[3, 4]";
      assertThat(records.fields()).as(file).containsEntry("value", stored + shape);
      assertThat(records.values().get("value"))
          .as(file)
          .isEqualTo(Files.readAllBytes(folder.resolve(file + ".bin")));
    }
  }
}
