// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaSparkContext;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.Formats;
import org.ddstore.formats.InputFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class InspectionTest {
  private static final int MORE_THAN_ON_THE_DRIVER = 40;

  /** Open until a task of this JVM has read a first byte. */
  private static final CountDownLatch READING = new CountDownLatch(1);

  @TempDir Path folder;

  /** Spark deletes the configuration of Hadoop when only copies of the files are left. */
  @Test
  void factsOfAJobHoldTheFilesOfTheDriver() throws Exception {
    for (int i = 0; i < MORE_THAN_ON_THE_DRIVER; i++) {
      Files.writeString(folder.resolve(i + ".txt"), "text " + i);
    }
    List<InputFile> files =
        InputFile.matching(folder + "/*.txt", new BroadcastHadoop(FormatSpark.session()));

    List<FileFacts> facts =
        new Inspection(Formats.named("files").orElseThrow(), new FormatOptions(Map.of()))
            .of(files, FormatSpark.session());

    assertThat(facts).hasSize(MORE_THAN_ON_THE_DRIVER);
    for (int i = 0; i < MORE_THAN_ON_THE_DRIVER; i++) {
      assertThat(facts.get(i).file()).isSameAs(files.get(i));
    }
  }

  /** A job of Spark ends without an interrupt of its thread, and the driver by one. */
  @Test
  @Timeout(120)
  void aCancelledReadEnds() throws Exception {
    Path path = Files.writeString(folder.resolve("a.txt"), "text");
    JavaSparkContext context =
        JavaSparkContext.fromSparkContext(FormatSpark.session().sparkContext());
    InputFile file =
        InputFile.matching(path.toString(), new BroadcastHadoop(FormatSpark.session())).get(0);
    Thread canceller =
        new Thread(
            () -> {
              try {
                READING.await();
              } catch (InterruptedException e) {
                return;
              }
              context.cancelJobGroup("endless");
            });
    canceller.start();
    context.setJobGroup("endless", "reads until it is cancelled", false);

    // the task function carries the file: the strict serializer rejects its class as an element
    assertThatThrownBy(() -> context.parallelize(List.of(0), 1).foreach(i -> readOn(file)))
        .isInstanceOf(SparkException.class)
        .hasMessageContaining("cancelled");
    context.clearJobGroup();
    canceller.join();
    while (context.statusTracker().getActiveJobIds().length > 0
        || context.sc().statusTracker().getExecutorInfos()[0].numRunningTasks() > 0) {
      Thread.onSpinWait(); // until the task has seen it
    }

    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> readOn(file)).isInstanceOf(IOException.class);
    assertThat(Thread.interrupted()).isTrue();
  }

  private static void readOn(InputFile file) throws IOException {
    try (InputFile.Content content = file.open()) {
      while (true) {
        content.read(0, ByteBuffer.allocate(2));
        READING.countDown();
      }
    }
  }
}
