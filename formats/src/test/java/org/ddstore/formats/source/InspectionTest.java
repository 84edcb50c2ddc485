// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.Formats;
import org.ddstore.formats.InputFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InspectionTest {
  private static final int MORE_THAN_ON_THE_DRIVER = 40;

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
}
