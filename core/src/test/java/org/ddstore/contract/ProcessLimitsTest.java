// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.ddstore.AttachedStore;
import org.ddstore.DDStore;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.memory.BootId;
import org.ddstore.memory.MappedRegion;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Limits of a process other than the space of /dev/shm: each fails with its cause, or works. */
@Tag("system")
@Timeout(120)
class ProcessLimitsTest {
  private static final int MIB = 1 << 20;

  @TempDir private Path directory;

  /** Runs a check in a JVM that a shell starts as {@code "$@"}. */
  private void check(String shell, String check) throws Exception {
    check(List.of("sh", "-c", shell, "sh"), check);
  }

  private void check(List<String> before, String check) throws Exception {
    Path log = directory.resolve("log");
    List<String> command = new ArrayList<>(before);
    command.addAll(ChildJvm.command());
    command.addAll(List.of(Child.class.getName(), check));
    Process child =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      assertThat(child.waitFor(60, TimeUnit.SECONDS)).as("ends in time").isTrue();
    } finally {
      child.destroyForcibly();
    }
    String said = Files.readString(log);
    assertThat(child.exitValue()).as(said).isZero();
    assertThat(said).contains("all checked");
  }

  @Test
  void reportsThatNoDescriptorIsLeft() throws Exception {
    check("ulimit -n 256 && exec \"$@\"", "descriptors");
  }

  @Test
  void reportsThatNoAddressSpaceIsLeft() throws Exception {
    check("ulimit -v 3000000 && exec \"$@\"", "addresses");
  }

  /** As in containers that run as any user. */
  @Test
  void worksWithoutHomeAndForAUserWithoutName() throws Exception {
    Process probe = new ProcessBuilder("unshare", "--user", "--map-user=12345", "true").start();
    Needed.check(
        "a user namespace",
        probe.waitFor(10, TimeUnit.SECONDS) && probe.exitValue() == 0,
        () -> "unshare --user fails for this user");
    check("exec env -u HOME unshare --user --map-user=12345 \"$@\"", "works");
  }

  @Test
  void reportsADirectoryThatIsReadOnly() throws Exception {
    check(MountNamespace.of(directory, "ro /dev/shm"), "readOnly");
  }

  static final class Child {
    private static final long[] ROWS = {1, 2, 3};

    public static void main(String[] args) throws Exception {
      switch (args[0]) {
        case "descriptors" -> descriptors();
        case "addresses" -> addresses();
        case "readOnly" -> readOnly();
        default -> reads();
      }
      reads();
      assertThat(MappedRegion.liveBytes()).isZero();
      System.out.println("all checked");
      System.exit(0);
    }

    private static Communicator alone() {
      return LocalGroup.create(1, Duration.ofSeconds(10)).get(0);
    }

    /** Writes rows, and reads them as a reader of another process does. */
    private static void reads() {
      StoreOptions options =
          Files.isWritable(Path.of("/dev/shm"))
              ? StoreOptions.defaults()
              : StoreOptions.defaults().backing(Backing.DIRECT);
      try (Communicator alone = alone();
          DDStore store = DDStore.open(alone, options)) {
        store.add("x", Tensor.wrap(ROWS));
        long[] got = new long[1];
        try (AttachedStore attached =
            AttachedStore.open(store.catalog(), StoreOptions.defaults())) {
          attached.get("x", Tensor.wrap(got), 2);
        }
        assertThat(got).containsExactly(3);
      }
    }

    private static void descriptors() throws Exception {
      readsTheBootIdLater();
      loadClasses();
      try (Communicator alone = alone();
          DDStore store = DDStore.open(alone, StoreOptions.defaults())) {
        store.add("x", Tensor.wrap(ROWS));
        withoutDescriptors(() -> store.add("y", Tensor.wrap(ROWS)));
        store.add("y", Tensor.wrap(ROWS));
        assertThat(store.digest("y")).isEqualTo(store.digest("x"));
      }
    }

    /** A process that made up another id would be a host of its own until it ends. */
    private static void readsTheBootIdLater() throws IOException {
      BootId none = new BootId(0);
      assertThatThrownBy( // loads classes
              () -> {
                throw new DDStoreException("Too many open files");
              })
          .isInstanceOf(DDStoreException.class)
          .hasMessageContaining("Too many open files");
      withoutDescriptors(BootId::ofThisHost);
      assertThat(BootId.ofThisHost().isThisHost()).isTrue();
      assertThat(none.isThisHost()).isFalse();
    }

    private static void withoutDescriptors(ThrowingCallable call) throws IOException {
      List<InputStream> taken = new ArrayList<>();
      try {
        take(taken);
        assertThatThrownBy(call)
            .isInstanceOf(DDStoreException.class)
            .hasMessageContaining("Too many open files");
      } finally {
        for (InputStream each : taken) {
          each.close();
        }
      }
    }

    /** Loads all classes, because folders of classes need descriptors, unlike the jars of users. */
    private static void loadClasses() throws Exception {
      reads();
      Path root =
          Path.of(DDStore.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      try (Stream<Path> files = Files.walk(root)) {
        for (Path file : files.filter(each -> each.toString().endsWith(".class")).toList()) {
          String name = root.relativize(file).toString().replace(File.separatorChar, '.');
          Class.forName(
              name.substring(0, name.lastIndexOf('.')), false, Child.class.getClassLoader());
        }
      }
    }

    private static void take(List<InputStream> taken) throws IOException {
      while (true) {
        try {
          taken.add(Files.newInputStream(Path.of("/dev/null")));
        } catch (FileSystemException e) {
          return;
        }
      }
    }

    private static void addresses() {
      try (Communicator alone = alone();
          DDStore store = DDStore.open(alone, StoreOptions.defaults().backing(Backing.DIRECT))) {
        assertThatThrownBy(() -> store.init("large", 1 << 10, DType.UINT8, MIB))
            .isInstanceOf(DDStoreException.class)
            .hasMessageContaining("Unable to allocate");
        store.add("x", Tensor.wrap(ROWS));
      }
      try (Communicator alone = alone();
          DDStore store =
              DDStore.open(
                  alone,
                  StoreOptions.defaults().files(Path.of(System.getProperty("java.io.tmpdir"))))) {
        assertThatThrownBy(() -> store.init("large", 1 << 10, DType.UINT8, MIB))
            .isInstanceOf(DDStoreException.class);
        store.add("x", Tensor.wrap(ROWS));
      }
    }

    private static void readOnly() {
      try (Communicator alone = alone();
          DDStore store = DDStore.open(alone, StoreOptions.defaults())) {
        assertThatThrownBy(() -> store.add("x", Tensor.wrap(ROWS)))
            .isInstanceOf(DDStoreException.class)
            .hasMessageContaining("/dev/shm")
            .hasMessageContaining("Read-only file system");
      }
    }
  }
}
