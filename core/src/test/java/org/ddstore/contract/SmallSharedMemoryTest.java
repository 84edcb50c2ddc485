// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.memory.MappedRegion;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A /dev/shm that is too small gives an error that says so, not a SIGBUS. */
@Tag("system")
@Timeout(120)
public class SmallSharedMemoryTest {
  private static final int MIB = 1 << 20;

  /** A subclass elsewhere runs it with what is on its class path. */
  @Test
  public void rejectsAShardLargerThanSharedMemoryAndAcceptsFiles() throws Exception {
    Path disk = TestRoots.onDisk();
    Path log = Files.createTempFile("small-", ".log");
    List<String> command = MountNamespace.of(disk, "size=8m /dev/shm");
    command.addAll(ChildJvm.command());
    command.addAll(List.of(Child.class.getName(), disk.toString()));
    Process child =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    assertThat(child.waitFor(60, TimeUnit.SECONDS)).as("ends in time").isTrue();
    String said = Files.readString(log, StandardCharsets.UTF_8);
    System.out.println(said);
    assertThat(child.exitValue()).as(said).isZero();
    assertThat(said).contains("all checked");
    assertThat(disk).isEmptyDirectory();
    Files.delete(disk);
    Files.delete(log);
  }

  static final class Child {
    private static final Path SHM = Path.of("/dev/shm");

    public static void main(String[] args) {
      assertThat(SHM.toFile().getTotalSpace()).isEqualTo(8L * MIB);
      try (Communicator alone = LocalGroup.create(1, Duration.ofSeconds(10)).get(0);
          DDStore store = DDStore.open(alone, StoreOptions.defaults())) {
        addFails(store, 7);
        store.add("small", Tensor.wrap(new long[] {1, 2, 3}));
        for (int mib = 7; mib <= 12; mib++) {
          addFails(store, mib);
        }
        raggedFails();
        assertThat(store.digest("small")).isNotEmpty();
        long[] got = new long[1];
        store.get("small", Tensor.wrap(got), 2);
        assertThat(got).containsExactly(3);
        inFiles(alone, Path.of(args[0]));
      }
      assertThat(SHM).isEmptyDirectory();
      assertThat(OffHeapBuffer.liveBytes() + MappedRegion.liveBytes()).isZero();
      System.out.println("all checked");
    }

    private static void addFails(DDStore store, int mib) {
      long free = SHM.toFile().getUsableSpace();
      if ((long) mib * MIB < free) {
        return;
      }
      assertThatThrownBy(() -> store.init("large", mib, DType.UINT8, MIB))
          .isInstanceOf(DDStoreException.class)
          .hasMessageContaining("No space left on device")
          .hasMessageContaining("/dev/shm")
          .hasCauseInstanceOf(IOException.class); // by which the connector adds the remedy
      assertThat(SHM.toFile().getUsableSpace()).as("given back").isGreaterThanOrEqualTo(free);
    }

    private static void raggedFails() {
      try (ShardWriter shard =
          ShardWriter.create(Schema.of(Field.bytes("x")), StoreOptions.defaults())) {
        assertThatThrownBy(
                () -> {
                  for (int i = 0; i < 100_000; i++) {
                    shard.append(new byte[100]);
                  }
                })
            .isInstanceOf(DDStoreException.class)
            .hasMessageContaining("No space left on device");
        assertThatThrownBy(() -> shard.append(new byte[100]))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageStartingWith("closed: ");
      }
    }

    private static void inFiles(Communicator alone, Path disk) {
      try (DDStore store = DDStore.open(alone, StoreOptions.defaults().files(disk))) {
        store.init("large", 20, DType.UINT8, MIB);
        byte[] row = new byte[MIB];
        store.get("large", Tensor.wrap(DType.UINT8, row, 1, MIB), 19);
      }
    }
  }
}
