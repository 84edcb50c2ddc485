// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.Needed;

/**
 * Python with the tools of the formats, which write the files of tests and read them as oracles.
 */
public final class Python {
  private static final long SECONDS = 240;

  private Python() {}

  /**
   * Runs a script in a folder. Without Python, or without a module that the script imports, the
   * test is skipped, and fails with {@code CI=true}.
   *
   * @param folder working directory
   * @param script source of the script
   * @return what it prints
   */
  public static String run(Path folder, String script) {
    try {
      Path source = Files.writeString(folder.resolve("fixture.py"), script);
      Path output = folder.resolve("fixture.log");
      Process python;
      try {
        python =
            new ProcessBuilder(Needed.PYTHON, "-B", source.toString())
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
      } catch (IOException e) {
        return missing(Needed.PYTHON + ": " + e.getMessage());
      }
      try {
        if (!python.waitFor(SECONDS, TimeUnit.SECONDS)) {
          return fail(
              "the script did not end within %d s: %s"
                  .formatted(SECONDS, Files.readString(output)));
        }
      } finally {
        python.destroyForcibly();
      }
      String text = Files.readString(output);
      Files.delete(source);
      Files.delete(output);
      if (python.exitValue() != 0) {
        return text.contains("ModuleNotFoundError") ? missing(text.strip()) : fail(text);
      }
      return text;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while Python ran", e);
    }
  }

  private static String missing(String what) {
    Needed.check(
        "python3-numpy, python3-h5py, python3-zarr, python3-pil and python3-anndata",
        false,
        () -> what);
    return what;
  }
}
