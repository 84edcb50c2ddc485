// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every format reads the same rows through Hadoop as from files of the local host. */
class RemoteFilesTest {
  private static final String IMPLEMENTATION = "fs.remote.impl";

  @TempDir static Path folder;

  /** Files of the local host under a scheme that only Hadoop knows. */
  public static final class RemoteFiles extends RawLocalFileSystem {
    @Override
    public URI getUri() {
      return URI.create("remote:///");
    }

    @Override
    public String getScheme() {
      return "remote";
    }
  }

  @BeforeAll
  static void write() {
    Python.run(
        folder,
        """
        import numpy as np, zarr, anndata, gzip, struct
        from PIL import Image
        a = np.arange(600, dtype=np.float32).reshape(30, 20)
        np.save('a.npy', a)
        np.savez('stored.npz', x=a, y=np.arange(30))
        np.savez_compressed('packed.npz', x=a, y=np.arange(30))
        data = struct.pack('>BBBBII', 0, 0, 13, 2, 30, 20) + a.astype('>f4').tobytes()
        open('a.idx', 'wb').write(data)
        gzip.open('packed.idx.gz', 'wb').write(data)
        for i in range(3): Image.fromarray((a[i:i+8, :8] % 256).astype(np.uint8)).save('%d.png' % i)
        zarr.save('a.zarr', a)
        anndata.AnnData(a, dtype=np.float32).write_h5ad('a.h5ad', compression='gzip')
        """);
    hadoop().set(IMPLEMENTATION, RemoteFiles.class.getName());
  }

  @AfterAll
  static void unregister() {
    hadoop().unset(IMPLEMENTATION);
  }

  private static org.apache.hadoop.conf.Configuration hadoop() {
    return FormatSpark.session().sparkContext().hadoopConfiguration();
  }

  private static Dataset<Row> read(String scheme, String format, String file) {
    SparkSession spark = FormatSpark.session();
    Map<String, String> options = format.equals("images") ? Map.of("size", "8,8") : Map.of();
    return spark.read().format(format).options(options).load(scheme + ":" + folder.resolve(file));
  }

  @ParameterizedTest
  @CsvSource({
    "npy, a.npy",
    "npz, stored.npz",
    "npz, packed.npz",
    "idx, a.idx",
    "idx, packed.idx.gz",
    "images, *.png",
    "zarr, a.zarr",
    "h5ad, a.h5ad",
    "files, *.npz"
  })
  void readsTheSameRows(String format, String file) {
    StoredRecords local = StoredRecords.of(read("file", format, file), 2);

    assertThat(StoredRecords.of(read("remote", format, file), 2)).isEqualTo(local);
    assertThat(local.values()).isNotEmpty();
  }

  @Test
  void namesAFileThatVanishes() throws Exception {
    Files.copy(folder.resolve("a.npy"), folder.resolve("gone.npy"));
    Dataset<Row> rows = read("remote", "npy", "gone.npy");
    Files.delete(folder.resolve("gone.npy"));

    assertThatThrownBy(rows::collect)
        .hasStackTraceContaining("gone.npy: the file is gone since it was listed");
  }
}
