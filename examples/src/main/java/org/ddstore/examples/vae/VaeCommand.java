// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.sql.SparkSession;
import org.ddstore.examples.EpochLines;
import org.ddstore.examples.ExampleArguments;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Interruption;
import org.ddstore.local.Output;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command {@code ./ddstore example vae}, and the main class for {@code spark-submit}: runs
 * {@link VaeTraining}.
 */
@Command(
    name = "ddstore example vae",
    description = {
      "Trains a variational autoencoder (784-400-20) on images of digits with DJL and PyTorch, on"
          + " all ranks, with checkpoints, and draws images with it.",
      "Exits with 0 if the loss of the last epoch is below that of the first, all ranks have the"
          + " same final parameters, and each epoch delivered every image exactly once and"
          + " unchanged. The first run downloads PyTorch (110 MB; Linux on x86_64 only)."
    })
public final class VaeCommand implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int MAX_RANKS = 1000;
  private static final int ROWS = 7000;
  private static final int MIN_ROWS = 100;
  private static final int MAX_ROWS = 1_000_000;
  private static final int MAX_EPOCHS = 10_000;
  private static final int MAX_BATCH = 1_000_000;
  private static final long SEED = 42;
  private static final int EXECUTOR_MB = 1024;

  @Option(
      names = "--ranks",
      paramLabel = "N",
      description = "Number of ranks; ${DEFAULT-VALUE} by default.")
  private int ranks = 2;

  @Option(
      names = "--epochs",
      paramLabel = "N",
      description = "Number of passes over the training images; ${DEFAULT-VALUE} by default.")
  private int epochs = 5;

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "Images of a step over all ranks; ${DEFAULT-VALUE} by default.")
  private int batch = 64;

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Number of images to generate; 7000 by default.")
  private Integer rows;

  @Option(
      names = "--input",
      paramLabel = "PATH",
      description = {
        "Images to use instead of generated ones: an IDX file, a folder of MNIST's IDX files (also"
            + " .gz), or Parquet with a binary column \"image\" of 784 bytes.",
        "The test images are those of t10k-images.., those with a true column \"test\", or else"
            + " about one seventh."
      })
  private String input;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Folder of the PNGs; ${DEFAULT-VALUE} by default.")
  private Path out = Path.of("target", "vae");

  @Option(
      names = "--checkpoints",
      paramLabel = "DIR",
      description =
          "Folder of checkpoints that all executors reach; a training continues from the last one"
              + " in it, also on another number of ranks. By default a temporary folder, deleted"
              + " at the end; with spark-submit none.")
  private String checkpoints;

  @Option(
      names = "--checkpoint-every",
      paramLabel = "N",
      description =
          "Steps between two checkpoints; ${DEFAULT-VALUE} by default. Another one is saved after"
              + " each epoch.")
  private int checkpointEvery = 50;

  @Mixin private final Output output = new Output();
  @Spec private CommandSpec command;

  /** Exits with 0 if the training is sound, 1 if not, 2 if an argument is illegal. */
  public static void main(String[] arguments) {
    Interruption.exitAfter(() -> ExampleArguments.parser(new VaeCommand()).execute(arguments));
  }

  void checkRanges() {
    ExampleArguments.checkRange(command, "--ranks", ranks, 1, MAX_RANKS);
    ExampleArguments.checkRange(command, "--epochs", epochs, 1, MAX_EPOCHS);
    ExampleArguments.checkRange(command, "--batch", batch, ranks, MAX_BATCH);
    if (rows != null) {
      ExampleArguments.checkRange(command, "--rows", rows, MIN_ROWS, MAX_ROWS);
    }
    if (rows != null && input != null) {
      throw refused("--rows: the number of generated images; leave it out with --input");
    }
    ExampleArguments.checkRange(
        command, "--checkpoint-every", checkpointEvery, 1, Integer.MAX_VALUE);
    checkNotEmpty("--input", input);
    checkNotEmpty("--out", out.toString());
    checkNotEmpty("--checkpoints", checkpoints);
  }

  private void checkNotEmpty(String option, String path) {
    if (path != null && path.isBlank()) {
      throw refused(option + ": the path is empty: give one, or omit the option");
    }
  }

  @Override
  public Integer call() throws IOException {
    checkRanges();
    openOut();
    if (ExampleArguments.isCheckOnly()) {
      return 0;
    }
    try (EmbeddedSpark spark =
        EmbeddedSpark.open("ddstore example vae", ranks, 1, EXECUTOR_MB, EpochLines.settings())) {
      TrainingImages images = images(spark.session());
      VaeOptions options =
          new VaeOptions(epochs, batch, SEED, checkpointFolder(spark), checkpointEvery);
      List<VaeResult> results;
      try (EpochLines lines = new EpochLines(spark.session().sparkContext(), output::line)) {
        results = VaeTraining.train(images, ranks, options, lines.reporter());
      }
      List<Path> pictures = results.get(0).pictures().write(out);
      pictures.forEach(file -> output.line("Drew      " + file));
      VaeReport report = new VaeReport(results);
      report.print(output);
      return report.isSound() ? 0 : FAILED;
    }
  }

  /** Returns the folder of the checkpoints; empty for none. */
  private String checkpointFolder(EmbeddedSpark spark) throws IOException {
    if (checkpoints != null) {
      return checkpoints;
    }
    return EmbeddedSpark.isSubmitted() ? "" : spark.scratch("checkpoints").toUri().toString();
  }

  private void openOut() {
    try {
      Files.createDirectories(out);
      Files.delete(Files.createTempFile(out, "write-", ".test"));
    } catch (IOException e) {
      throw refused(
          "--out: cannot write into the folder %s%s: give a folder that can be created and written"
              .formatted(out, reason(e)));
    }
  }

  private TrainingImages images(SparkSession session) {
    if (input == null) {
      return TrainingImages.generated(session, rows == null ? ROWS : rows);
    }
    try {
      return TrainingImages.of(session, input);
    } catch (IllegalArgumentException e) {
      throw refused("--input: " + e.getMessage());
    } catch (IOException e) {
      throw refused(
          "--input: cannot read %s%s: check the path and its permissions"
              .formatted(input, reason(e)));
    }
  }

  /** Returns the reason in parentheses, on one line; empty if there is none but the path. */
  private static String reason(IOException failure) {
    String reason =
        failure instanceof FileSystemException files ? files.getReason() : failure.getMessage();
    return reason == null ? "" : " (%s)".formatted(reason.lines().findFirst().orElse(""));
  }

  private ParameterException refused(String message) {
    return new ParameterException(command.commandLine(), message);
  }
}
