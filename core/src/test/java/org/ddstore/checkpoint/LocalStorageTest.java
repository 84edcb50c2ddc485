// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalStorageTest extends StorageContract {
  @TempDir Path folder;

  @Override
  protected CheckpointStorage storage() {
    return CheckpointStorage.local(folder.resolve("checkpoints"));
  }

  @Test
  void createsNoDirectoryAboveItsOwn() {
    CheckpointStorage storage = CheckpointStorage.local(folder.resolve("mount/checkpoints"));
    assertThatThrownBy(() -> storage.create("a/file"))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessage(folder.resolve("mount").toString());
  }

  @Test
  void rejectsAFileInPlaceOfTheDirectory() throws Exception {
    Files.createFile(folder.resolve("checkpoints"));
    assertThatThrownBy(() -> storage().create("file"))
        .hasMessageContaining(folder.resolve("checkpoints").toString());
  }
}
