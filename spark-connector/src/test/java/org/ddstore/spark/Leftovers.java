// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.ddstore.memory.MappedRegion;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.ProcessDirectory;

/**
 * DDStore's resources in a process, none of which may remain when no store is open.
 *
 * @param pid the process
 * @param bufferBytes in live {@link OffHeapBuffer}s
 * @param mappedBytes in live {@link MappedRegion}s
 * @param threads names of threads of ours
 * @param mappings lines of /proc/self/maps that name a file of ours
 * @param descriptors what open descriptors refer to, if it is a file of ours
 */
public record Leftovers(
    long pid,
    long bufferBytes,
    long mappedBytes,
    List<String> threads,
    List<String> mappings,
    List<String> descriptors)
    implements Serializable {
  private static final String OURS = "ddstore-";
  private static final String NETWORK_THREAD = "ddstore-(boss|server|client|connect)-.*";

  /** {@code ddstore-<uid>-<boot id>-<pid>-<random>}. */
  private static final Pattern DIRECTORY =
      Pattern.compile("/ddstore-\\d+-[0-9a-f]{16}-(\\d+)-[0-9a-f]{8}");

  public static Leftovers ofThisProcess() throws IOException {
    List<String> threads =
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith(OURS))
            .toList();
    List<String> mappings;
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      mappings = lines.filter(Leftovers::isSegment).toList();
    }
    return new Leftovers(
        ProcessHandle.current().pid(),
        OffHeapBuffer.liveBytes(),
        MappedRegion.liveBytes(),
        threads,
        mappings,
        openFiles().stream().filter(Leftovers::isSegment).toList());
  }

  /** The same without threads of the network, which Netty ends two seconds after it is told to. */
  Leftovers withoutNetwork() {
    return new Leftovers(
        pid,
        bufferBytes,
        mappedBytes,
        threads.stream().filter(name -> !name.matches(NETWORK_THREAD)).toList(),
        mappings,
        descriptors);
  }

  private static boolean isSegment(String text) {
    return DIRECTORY.matcher(text).find();
  }

  /** Returns the targets of the open descriptors of this process. */
  public static List<String> openFiles() throws IOException {
    List<String> targets = new ArrayList<>();
    try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path link : links) {
        try {
          targets.add(Files.readSymbolicLink(link).toString());
        } catch (NoSuchFileException e) {
          // The descriptor that lists the others.
        }
      }
    }
    return targets;
  }

  public void assertNone() {
    assertThat(bufferBytes).as("live off-heap bytes in process %d", pid).isZero();
    assertThat(mappedBytes).as("live mapped bytes in process %d", pid).isZero();
    assertThat(threads).as("threads of ours in process %d", pid).isEmpty();
    assertThat(mappings).as("mappings of ours in process %d", pid).isEmpty();
    assertThat(descriptors).as("descriptors of ours in process %d", pid).isEmpty();
  }

  /** Others use this machine at the same time: only directories of these processes count. */
  public static void assertNoSharedMemoryOf(Set<Long> pids) {
    assertThat(directoriesOf(pids)).as("directories in /dev/shm of %s", pids).isEmpty();
  }

  /** The directories that these processes have in shared memory. */
  public static List<Path> directoriesOf(Set<Long> pids) {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> all =
        Files.newDirectoryStream(ProcessDirectory.SHARED_MEMORY, OURS + "[0-9]*")) {
      for (Path directory : all) {
        Matcher name = DIRECTORY.matcher(directory.toString());
        if (name.find() && pids.contains(Long.valueOf(name.group(1)))) {
          found.add(directory);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }
}
