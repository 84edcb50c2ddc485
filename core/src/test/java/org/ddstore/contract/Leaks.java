// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.ddstore.memory.MappedRegion;
import org.ddstore.memory.OffHeapBuffer;

/** Looks for what stores of this JVM left behind since this was made. */
public final class Leaks {
  private static final String NETWORK_THREAD = "ddstore-(boss|server|client|connect|data|mpi)-.*";

  private static final String NOT_COUNTED = "/(proc|sys)/.*|socket:.*|anon_inode:.*|pipe:.*";

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final List<Path> roots;
  private int descriptors = -1;
  private long known; // so that one leak fails one test

  /**
   * @param root where these stores keep their files; nothing else of this machine is looked at
   */
  public Leaks(Path root) {
    this(List.of(root));
  }

  public Leaks(List<Path> roots) {
    this.roots = List.copyOf(roots);
    this.known = liveBytes();
  }

  private static long liveBytes() {
    return OffHeapBuffer.liveBytes() + MappedRegion.liveBytes();
  }

  public void assertNothingHeld() throws IOException {
    long before = known;
    try {
      await("release of memory") // a thread that has sent a reply releases its buffer after it
          .pollInSameThread()
          .pollDelay(Duration.ZERO)
          .atMost(PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(liveBytes() - before)
                      .as("live bytes off the heap and mapped")
                      .isZero());
    } finally {
      known = liveBytes();
    }
    assertThat(Files.readAllLines(Path.of("/proc/self/maps")))
        .as("mappings under %s", roots)
        .noneMatch(this::isUnderRoots);
    assertThat(Thread.getAllStackTraces().keySet())
        .as("threads")
        .noneMatch(
            thread ->
                thread.getName().startsWith("ddstore")
                    && !thread.getName().matches(NETWORK_THREAD));
    List<String> open = openFiles();
    assertThat(open).as("descriptors under %s", roots).noneMatch(this::isUnderRoots);
    if (descriptors < 0) {
      descriptors = open.size();
    }
    assertThat(open).as("descriptors").hasSizeLessThanOrEqualTo(descriptors);
  }

  public void assertNoFiles() throws IOException {
    for (Path root : roots) {
      try (Stream<Path> files = Files.walk(root)) {
        assertThat(files.filter(file -> !file.equals(root))).as("files under %s", root).isEmpty();
      }
    }
  }

  private boolean isUnderRoots(String text) {
    return roots.stream().anyMatch(root -> text.contains(root.toString()));
  }

  private static List<String> openFiles() throws IOException {
    List<Path> descriptors;
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      descriptors = all.toList();
    }
    List<String> files = new ArrayList<>();
    for (Path descriptor : descriptors) {
      try {
        String file = Files.readSymbolicLink(descriptor).toString();
        if (!file.endsWith(".jar") && !file.matches(NOT_COUNTED)) {
          files.add(file);
        }
      } catch (NoSuchFileException e) {
        // The descriptor of the listing itself.
      }
    }
    return files;
  }
}
