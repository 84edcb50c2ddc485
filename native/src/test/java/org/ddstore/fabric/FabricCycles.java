// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.read.Placement;
import org.ddstore.transport.RemoteReader;

/**
 * Opens transports, reads by them and closes them, {@value #WARM_UP} times and then {@value
 * #CYCLES} times, which must leave nothing. A program for a JVM of its own, whose heap and compiler
 * take no memory meanwhile: {@link #OPTIONS}.
 */
final class FabricCycles {
  static final String[] OPTIONS = {
    "-Xint", "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"
  };

  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int ROWS = 20_000;
  private static final int WARM_UP = 100;
  private static final int CYCLES = 200;

  private static final long MOST_GROWTH_BYTES = 16 << 10;

  private FabricCycles() {}

  public static void main(String[] arguments) throws IOException {
    try (Shard shard = Shard.ragged(10, ROWS)) {
      long liveBytes = OffHeapBuffer.liveBytes();
      cycles(shard, WARM_UP);
      long descriptors = count("/proc/self/fd");
      long threads = count("/proc/self/task");
      long memoryBytes = residentBytes();
      cycles(shard, CYCLES);
      long growthBytes = (residentBytes() - memoryBytes) / CYCLES;
      System.out.printf("%,d bytes of growth of a cycle%n", growthBytes);
      assertThat(growthBytes).as("bytes of growth of a cycle").isLessThan(MOST_GROWTH_BYTES);
      assertThat(count("/proc/self/fd")).as("descriptors").isLessThanOrEqualTo(descriptors);
      assertThat(count("/proc/self/task")).as("threads").isLessThanOrEqualTo(threads);
      assertThat(Registration.live()).as("registrations").isZero();
      assertThat(OffHeapBuffer.liveBytes()).as("bytes off the heap").isEqualTo(liveBytes);
    }
    assertThat(OffHeapBuffer.liveBytes()).as("bytes off the heap").isZero();
  }

  private static void cycles(Shard shard, int count) {
    for (int i = 0; i < count; i++) {
      cycle(shard, i);
    }
  }

  private static void cycle(Shard shard, int number) {
    Processes both = new Processes();
    try (FabricTransport first = both.start(1);
        FabricTransport second = both.start(2)) {
      first.export(shard.segment());
      try (RemoteReader reader = second.newReader(TIMEOUT)) {
        Placement placement = shard.seenFrom(second, first, 1);
        long[] rows = new Random(number).longs(20 + number % 7, 0, ROWS).toArray();
        assertThat(shard.wrong(placement, reader, rows)).as(Arrays.toString(rows)).isEmpty();
      }
      if (number % 2 == 0) {
        first.withdraw(shard.segment());
      }
    }
  }

  private static long count(String directory) throws IOException {
    try (Stream<Path> all = Files.list(Path.of(directory))) {
      return all.count();
    }
  }

  private static long residentBytes() throws IOException {
    String line =
        Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(text -> text.startsWith("RssAnon:"))
            .findFirst()
            .orElseThrow();
    return Long.parseLong(line.replaceAll("\\D", "")) << 10;
  }
}
