// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.ChildJvm;
import org.ddstore.formats.Python;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A minute of {@link FormatFuzz} in a small heap. {@code -Dddstore.fuzz.seconds=600
 * -Dddstore.fuzz.seed=N} gives another time and seed.
 */
@Tag("slow")
class FormatFuzzTest {
  private static final String MORE_FILES =
      """
      from PIL import Image
      import gzip, struct, glob, shutil
      a = rng.integers(0, 255, (40, 6, 5)).astype('u1')
      for t in ['<f4', '>i2', '|u1', '<f2', '|b1']:
          np.save('a%s.npy' % t[1:], a.astype(t))
      np.save('fortran.npy', np.asfortranarray(a.astype('f8')))
      np.savez('stored.npz', x=a.astype('f4'), y=np.arange(40))
      np.savez_compressed('deflated.npz', x=a.astype('f4'), y=np.arange(40))
      idx = bytes([0, 0, 8, 3]) + struct.pack('>III', *a.shape) + a.tobytes()
      open('a.idx', 'wb').write(idx); open('b.idx.gz', 'wb').write(gzip.compress(idx))
      open('c-idx3-ubyte', 'wb').write(idx)
      rgb = Image.fromarray(rng.integers(0, 255, (24, 32, 3)).astype('u1'))
      rgb.save('rgb.png'); rgb.convert('P').save('palette.png'); rgb.convert('RGBA').save('alpha.png')
      Image.fromarray(rng.integers(0, 65535, (24, 32)).astype('u2')).save('grey16.png')
      rgb.save('rgb.jpg'); rgb.save('progressive.jpg', progressive=True); rgb.convert('L').save('grey.jpeg')
      rgb.convert('CMYK').save('cmyk.jpg'); rgb.save('444.jpg', subsampling=0, icc_profile=bytes(200))
      for i, c in enumerate(['gzip', None, 'lzf']):
          x = make(53, numbers(53, 17, 'f4')); x.layers['counts'] = sp.csr_matrix(numbers(53, 17, 'i4'))
          x.obsm['X_pca'] = rng.normal(size=(53, 5)).astype('f4'); x.write_h5ad('dense%d.h5ad' % i, compression=c)
          x.X = sp.csr_matrix(x.X); x.write_h5ad('csr%d.h5ad' % i, compression=c)
          if c != 'lzf': x.write_zarr('ann%d.zarr' % i, chunks=(20, 7))
      with h5py.File('latest.h5ad', 'w', libver='latest') as f, h5py.File('dense0.h5ad') as g:
          for k, v in g.attrs.items(): f.attrs[k] = v
          for k in g: g.copy(k, f)
      for pattern in ['v3_*', 'v2_*z*', 'v2_*4*', 'v2_*s*']:
          for p in glob.glob('arrays/' + pattern):
              if os.path.isdir(p): os.rename(p, os.path.basename(p) + '.zarr')
      shutil.rmtree('arrays')
      """;

  private static String script(String resource) throws IOException {
    try (InputStream source =
        FormatFuzzTest.class.getResourceAsStream("/org/ddstore/formats/" + resource)) {
      return new String(source.readAllBytes(), UTF_8);
    }
  }

  private static Path java(String file) {
    return Path.of(System.getProperty("ddstore.root"), "spark-connector/src/main/launcher", file);
  }

  @Test
  void damagedFilesAreReadOrRefused(@TempDir Path folder) throws Exception {
    Path good = Files.createDirectory(folder.resolve("good"));
    Python.run(Files.createDirectory(good.resolve("arrays")), script("zarr/fixtures.py"));
    Python.run(good, script("anndata/functions.py") + MORE_FILES);
    Path copies = Files.createDirectory(folder.resolve("copies"));
    int seconds = Integer.getInteger("ddstore.fuzz.seconds", 60);
    long seed = Long.getLong("ddstore.fuzz.seed", System.nanoTime());
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + java("java-options"));
    command.addAll(ChildJvm.QUICK_START);
    command.addAll(
        List.of(
            "-Xmx256m",
            "-Djava.io.tmpdir=" + folder,
            "-Dlog4j2.configurationFile=" + java("log4j2.properties"),
            "-cp",
            System.getProperty("java.class.path"),
            FormatFuzz.class.getName(),
            good.toString(),
            copies.toString(),
            Integer.toString(seconds),
            Long.toString(seed)));
    Path log = folder.resolve("log");

    Process fuzz =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      assertThat(fuzz.waitFor(seconds + 120L, TimeUnit.SECONDS)).as("the run ended").isTrue();
    } finally {
      fuzz.destroyForcibly();
    }

    String output = Files.readString(log);
    System.out.println(output);
    assertThat(fuzz.exitValue()).as(output).isZero();
    assertThat(output).containsPattern("\\d+ damaged copies: [1-9]\\d* read, refused: \\{.+\\}");
    assertThat(copies).isEmptyDirectory();
  }
}
