// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.TestRoots;
import org.ddstore.fabric.FabricProvider;
import org.ddstore.mpi.Mpi;
import org.ddstore.mpi.MpiTransport;
import org.ddstore.read.GatherKernels;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Builds without a C compiler, and the features of their classes. */
@Tag("system")
class BuildWithoutCompilerTest {
  private static final Path COMPILE = Path.of(System.getProperty("basedir"), "compile");

  private static final List<String> PROGRAMS =
      List.of("bash", "dirname", "readlink", "uname", "mkdir", "rm");

  @TempDir private Path work;

  private String compile(Path classes) throws Exception {
    Path programs = Files.createDirectory(work.resolve("programs"));
    for (String name : PROGRAMS) {
      Files.createSymbolicLink(programs.resolve(name), find(name));
    }
    ProcessBuilder builder =
        new ProcessBuilder(
            programs.resolve("bash").toString(),
            COMPILE.toString(),
            "library",
            System.getProperty("java.home"),
            classes.toString());
    builder.environment().put("PATH", programs.toString());
    builder.environment().remove("CC");
    String said = run(builder);
    for (String name : PROGRAMS) {
      Files.delete(programs.resolve(name)); // else JUnit warns of links that lead elsewhere
    }
    return said;
  }

  private static Path find(String program) {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow();
  }

  private static String run(ProcessBuilder builder) throws IOException, InterruptedException {
    Process process = builder.redirectErrorStream(true).start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("ends in time").isTrue();
      String said = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertThat(process.exitValue()).as(said).isZero();
      return said;
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void buildContinuesAndReportsTheMissingTools() throws Exception {
    Path classes = copyOfClasses();
    assertThat(compile(classes))
        .contains("libddstore.so is not built, all works without it, slower")
        .contains("missing: cmake,a C compiler,make")
        .contains("apt-get install gcc cmake make libfabric-dev libjansson-dev libsodium-dev");
    try (Stream<Path> files = Files.walk(classes.resolve("META-INF/native"))) {
      assertThat(files.filter(Files::isRegularFile).map(file -> file.getFileName().toString()))
          .containsExactly("libddstore.missing");
    }

    List<String> command = new ArrayList<>(ChildJvm.command());
    int last = command.size() - 1;
    command.set(last, command.get(last).replace(ownClasses().toString(), classes.toString()));
    command.add(UsesAStore.class.getName());
    assertThat(run(new ProcessBuilder(command)).lines())
        .filteredOn(line -> !line.startsWith("WARNING"))
        .first()
        .asString()
        .startsWith("rows are right")
        .contains(
            "library: this jar was built without cmake,a C compiler,make: apt-get install gcc")
        .contains("kernel: java (this jar was built without")
        .contains("fabric: ", "mpi: needs libddstore.so")
        .contains("join: MPI is not available: needs libddstore.so", "permanent: true");
  }

  private Path copyOfClasses() throws IOException {
    Path classes = work.resolve("classes");
    try (Stream<Path> all = Files.walk(ownClasses())) {
      for (Path file : all.toList()) {
        Path copy = classes.resolve(ownClasses().relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
      }
    }
    return classes;
  }

  private static Path ownClasses() {
    return Path.of(System.getProperty("basedir"), "target/classes");
  }

  static final class UsesAStore {
    private UsesAStore() {}

    public static void main(String[] arguments) throws Exception {
      Path root = TestRoots.sharedMemory();
      StoreOptions options = StoreOptions.defaults().sharedMemory(root);
      Throwable joined;
      try (Communicator alone = LocalGroup.create(1, Duration.ofSeconds(10)).get(0);
          DDStore store = DDStore.open(alone, options)) {
        store.add("x", Tensor.wrap(new long[] {7, 8, 9}));
        try (Batch batch = store.getBatch("x", 2, 0)) {
          if (!Arrays.equals(batch.field("x").toLongArray(), new long[] {9, 7})) {
            throw new AssertionError("other rows");
          }
        }
        joined = join(alone);
      }
      TestRoots.delete(root);
      System.out.println(
          "rows are right; library: %s; kernel: %s; fabric: %s; mpi: %s; join: %s, permanent: %s"
              .formatted(
                  NativeLibrary.description(),
                  GatherKernels.description(),
                  new FabricProvider().availability().detail(),
                  Mpi.availability().detail(),
                  joined.getMessage(),
                  joined instanceof PermanentFailure));
    }

    private static Throwable join(Communicator alone) {
      try (MpiTransport transport = Mpi.join(alone, 0, null)) {
        throw new AssertionError(transport);
      } catch (DDStoreException e) {
        return e;
      }
    }
  }
}
