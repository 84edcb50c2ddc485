package org.ddstore.nativeio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class NativeLibraryTest {
  @Test
  void loadsFromTheClassPathAndLeavesNoFile() throws Exception {
    assumeTrue(NativeLibrary.isLoaded(), NativeLibrary::description);
    assertThat(NativeLibrary.problem()).isEmpty();
    Path path = Path.of(NativeLibrary.path());
    assertThat(path).exists();
    Path file = Path.of(Files.readSymbolicLink(path).toString().replace(" (deleted)", ""));
    assertThat(file.getFileName()).hasToString("libddstore.so");
    assertThat(file).doesNotExist();
    assertThat(file.getParent()).doesNotExist();
  }
}
