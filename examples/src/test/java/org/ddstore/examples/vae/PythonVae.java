// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.sql.SparkSession;
import org.ddstore.contract.Needed;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.types.DType;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Loads the images of {@link VaeTraining}, and trains on them in Python by vae_ranks.py. */
@Command(name = "python")
public final class PythonVae implements Callable<Integer> {
  private static final int RANKS = 2;

  @Parameters(index = "0")
  private int rows;

  @Parameters(index = "1", description = "Folder of the handle and the checkpoints.")
  private Path work;

  @Parameters(index = "2", description = "Root of the checkout.")
  private Path root;

  @Override
  public Integer call() throws Exception {
    TrainingImages images = TrainingImages.generated(SparkSession.active(), rows);
    Path handle = Files.createDirectories(work).resolve("images.json");
    ResidentStore store =
        DDStores.from(images.frame())
            .field(TrainingImages.IMAGE, DType.UINT8, Layer.SIDE, Layer.SIDE)
            .ranks(RANKS)
            .load("images");
    try {
      store.handle().save(handle, true);
      return python(root.resolve("examples/src/test/python/vae_ranks.py"), handle);
    } finally {
      store.drop();
    }
  }

  private int python(Path program, Path handle) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(Needed.PYTHON, "-B", program.toString());
    builder.command().addAll(List.of(handle.toString(), work.toString()));
    Path library = root.resolve("native/target/c/libddstore_reader.so");
    builder.environment().put("PYTHONPATH", root.resolve("python/src").toString());
    builder.environment().put("DDSTORE_READER_LIBRARY", library.toString());
    return builder.inheritIO().start().waitFor();
  }
}
